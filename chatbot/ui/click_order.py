"""Passes a page's clicks to Streamlit one after another, so that none is lost on a busy machine."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field

import streamlit as st
from starlette.datastructures import Headers
from starlette.websockets import WebSocketDisconnected
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from chatbot.ui.guard import App, Message, Receive, Scope, Send

__all__ = ["ClickOrder", "taken"]

# Tells sockets apart. The page's script knows it too.
KEY = "sec-websocket-key"
# How long a click waits for the one before it: longer than a page takes to see a click even on a busy
# machine, and bearable if it waits in vain, as behind a click on a page that is working.
LONGEST_SECONDS = 2.0


@dataclass(slots=True)
class _Turn:
    """The turn of one socket. free: nothing that was passed on still waits to be seen by the page."""

    loop: asyncio.AbstractEventLoop
    free: asyncio.Event = field(default_factory=asyncio.Event)

    async def take(self) -> None:
        """Waits until the turn is free, and takes it."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.free.wait(), LONGEST_SECONDS)
        self.free.clear()


_turns: dict[str, _Turn] = {}


def taken() -> None:
    """Notes that the current run has seen the click it was begun for, so that the next click may interrupt
    it.

    Called by pages whose runs take long.
    """
    turn = _turns.get(st.context.headers.get(KEY) or "")
    if turn is not None:
        turn.loop.call_soon_threadsafe(turn.free.set)


class ClickOrder:
    """ASGI middleware before Streamlit.

    Streamlit 1.67 interrupts the run of a click when another comes, even if it has not called the click's
    callback, which is then never called. Here the other click waits until the run has ended, or may be
    interrupted.
    """

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        key = Headers(scope=scope).get(KEY, "") if scope["type"] == "websocket" else ""
        if not key:
            await self._app(scope, receive, send)
            return
        turn = _turns[key] = _Turn(asyncio.get_running_loop())
        turn.free.set()

        async def in_turn() -> Message:
            message = await receive()
            if message["type"] == "websocket.receive" and _begins_run(message.get("bytes") or b""):
                await turn.take()
            return message

        async def seen(message: Message) -> None:
            if (
                not turn.free.is_set()
                and message["type"] == "websocket.send"
                and _ends_run(message.get("bytes") or b"")
            ):
                turn.free.set()
            await send(message)

        try:
            # A page that leaves while its click waits gets two disconnect messages: first for what could not
            # be sent to it.
            with suppress(WebSocketDisconnected):
                await self._app(scope, in_turn, seen)
        finally:
            if _turns.get(key) is turn:  # a client may give two sockets one key
                del _turns[key]


def _begins_run(data: bytes) -> bool:
    """Tells whether a message comes from a user's action rather than from a timer."""
    try:
        said = BackMsg.FromString(data)
    except Exception:  # no message of a page; Streamlit says so
        return False
    return bool(said.WhichOneof("type") == "rerun_script" and not said.rerun_script.is_auto_rerun)


def _ends_run(data: bytes) -> bool:
    """Tells whether a run has ended, except one that gave way to the next, which is still to come."""
    said = ForwardMsg.FromString(data)
    return bool(
        said.WhichOneof("type") == "script_finished"
        and said.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN
    )
