"""Decides who may send files to the server, how much, and until when it holds them.

Keeps Streamlit's own store of files within limits.
"""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain

import streamlit as st
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse
from streamlit.typing import UploadedFile

from chatbot.settings import Settings
from chatbot.ui.guard import App, Message, Receive, Scope, Send
from chatbot.ui.streamlit_internals import end_session, is_open, runs, this_session, uploaded_files

__all__ = ["Uploads", "admit", "let_go", "turn_away"]

# Streamlit's own address for files: .../_stcore/upload_file/<session>/<file>.
UPLOAD = re.compile(r"/_stcore/upload_file/([^/]*)")
# The code of a socket whose page was closed, left or loaded again. A lost connection has another.
GOING_AWAY = 1001
# More files than anybody chooses. Each takes memory beside its bytes.
MOST_FILES, MOST_FILES_OF_ALL = 1_000, 10_000
MIB = 2**20
# Seconds without a byte after which a file is given up, and between two checks whether its page is still
# open.
LONGEST_PAUSE, LOOK_SECONDS = 30.0, 2.0
# The least bytes a second, once an upload takes longer than such a pause.
SLOWEST = 4_096
NOT_ADMITTED = "You can only upload from an open page of this server. Reload the page."
NOT_READY = "The documents are still loading. Try again in a minute."
TOO_MUCH = (
    "This page takes up to {:,} MiB of files at a time. Add or remove some, then upload this one again."
)
TOO_MANY = "This page takes up to {:,} files at a time. Add or remove some, then upload this one again."
TOO_SLOW = "The upload was too slow. Upload it again, or copy it into the documents folder."
FULL = "Other uploads are using all the space. Try again in a minute."

_admitted: set[str] = set()
_lock = threading.Lock()


def admit() -> None:
    """Accepts files from the session whose page is being drawn, until it ends."""
    _note(_admitted.add)


def turn_away() -> None:
    """Accepts no files from the session whose page is being drawn, as nobody is signed in."""
    _note(_admitted.discard)


def _note(change: Callable[[str], None]) -> None:
    if session := this_session():
        with _lock:
            change(session)


def let_go(files: Iterable[UploadedFile]) -> None:
    """Releases what the session sent and what was taken from it, or is not wanted."""
    session = this_session()
    if session and runs():
        for file in files:
            uploaded_files().remove_file(session, file.file_id)


@dataclass(slots=True)
class _Coming:
    """A file on its way. came: bytes so far. An announced size takes no room, as it may never come."""

    session: str
    came: int = 0


class Uploads:
    """ASGI middleware before Streamlit.

    It refuses files except from accepted sessions and within the limits, and releases them when their page is
    closed. A page that only lost its connection may come back to its files as long as Streamlit keeps its
    session (server.disconnectedSessionTTL).
    """

    def __init__(self, app: App, *, settings: Callable[[], Settings | None]) -> None:
        """settings: the limits in MiB; None while they are not known, when nothing is accepted."""
        self._app, self._settings = app, settings
        self._coming: list[_Coming] = []
        # Sessions that lost their connection, and when Streamlit gives them up, in seconds of the monotonic
        # clock.
        self._away: dict[str, float] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sent_to = UPLOAD.search(scope["path"]) if scope["type"] == "http" else None
        if sent_to is not None and scope["method"] != "OPTIONS":
            await self._take(sent_to[1], scope, receive, send)
        elif scope["type"] == "websocket":
            await self._connect(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    # --- a file on its way
    # ------------------------------------------------------------------------------------------------------

    async def _take(self, session: str, scope: Scope, receive: Receive, send: Send) -> None:
        if session not in _admitted or not is_open(session):
            await PlainTextResponse(NOT_ADMITTED, 403)(scope, receive, send)
            return
        if scope["method"] != "PUT":
            await self._app(scope, receive, send)
            return
        announced = Headers(scope=scope).get("content-length", "")
        coming = _Coming(session)
        self._coming.append(coming)
        begun = time.monotonic()

        async def counted() -> Message:
            message = await _soon(receive, session)
            if message["type"] == "http.request":
                coming.came += len(message.get("body", b""))
                self._check(coming, coming.came)
                if coming.came < SLOWEST * (time.monotonic() - begun - LONGEST_PAUSE):
                    raise HTTPException(408, TOO_SLOW)
            return message

        try:
            self._check(coming, int(announced) if announced.isdecimal() and len(announced) < 18 else 0)
            await self._app(scope, counted, send)
        except HTTPException as refused:
            await PlainTextResponse(refused.detail, refused.status_code, headers={"connection": "close"})(
                scope, receive, send
            )
        except ClientDisconnect:
            pass  # interrupted by the sender
        finally:
            self._coming.remove(coming)
            if not is_open(session):  # closed meanwhile
                uploaded_files().remove_session_files(session)

    def _check(self, coming: _Coming, size: int) -> None:
        """Raises HTTPException if there is no room for a file of this size beside the others."""
        settings = self._settings()
        if settings is None:
            raise HTTPException(503, NOT_READY)
        held: dict[str, list[int]] = {}
        for session, files in list(uploaded_files().file_storage.items()):
            held[session] = [len(file.data) for file in list(files.values())]
        others = [other for other in self._coming if other is not coming]
        own = [
            *held.get(coming.session, []),
            *(other.came for other in others if other.session == coming.session),
            size,
        ]
        if sum(own) > settings.session_uploads_mb * MIB:
            raise HTTPException(413, TOO_MUCH.format(settings.session_uploads_mb))
        if len(own) > MOST_FILES:
            raise HTTPException(413, TOO_MANY.format(MOST_FILES))
        everything = [*chain.from_iterable(held.values()), *(other.came for other in others), size]
        if sum(everything) > settings.server_uploads_mb * MIB or len(everything) > MOST_FILES_OF_ALL:
            raise HTTPException(503, FULL)

    # --- a page that is closed
    # --------------------------------------------------------------------------------------------------

    async def _connect(self, scope: Scope, receive: Receive, send: Send) -> None:
        code = 0

        async def noted() -> Message:
            nonlocal code
            message = await receive()
            if message["type"] == "websocket.disconnect":
                code = message.get("code") or 0
            return message

        try:
            await self._app(scope, noted, send)
        finally:
            self._leave(closed=code == GOING_AWAY)

    def _leave(self, *, closed: bool) -> None:
        """Notes that a socket has ended: its session is the one that is not connected any more.

        closed: its page will not come back.
        """
        with _lock:
            absent = {session for session in _admitted if not is_open(session)}
        self._away = {session: until for session, until in self._away.items() if session in absent}
        patience = 0 if closed else st.get_option("server.disconnectedSessionTTL")
        for session in absent - self._away.keys():
            self._away[session] = time.monotonic() + patience
            if closed:
                self._end(session)
            else:
                asyncio.get_running_loop().call_later(patience + 1, partial(self._end, session))

    def _end(self, session: str) -> None:
        """Ends a session that has not come back in time, with all that it holds."""
        until = self._away.get(session)
        if until is None or until > time.monotonic() or is_open(session):
            return
        del self._away[session]
        with _lock:
            _admitted.discard(session)
        end_session(session)


async def _soon(receive: Receive, session: str) -> Message:
    """Returns the next part of a file.

    Raises HTTPException if none comes for a while, or if the session ends meanwhile.
    """
    end = time.monotonic() + LONGEST_PAUSE
    while time.monotonic() < end:
        with suppress(TimeoutError):
            return await asyncio.wait_for(receive(), LOOK_SECONDS)
        if not is_open(session):
            raise HTTPException(403, NOT_ADMITTED)
    raise HTTPException(408, TOO_SLOW)
