"""Serves one MCP client over a pair of streams, standard input and output by default."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TextIO

from mcp.server.stdio import stdio_server

from chatbot.api.caller import Caller, CallerTurns
from chatbot.mcp_server.protocol import build_mcp_server
from chatbot.mcp_server.tool_work import Visitor
from chatbot.memory.conversations.conversation_names import LOCAL
from chatbot.store.api_keys import SCOPES

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from chatbot.app.app_context import AppContext

__all__ = ["run_stdio"]


def run_stdio(store: AppContext, read: TextIO | None = None, write: TextIO | None = None) -> None:
    """Serves until `read` ends. The client is a program of this machine, and may do everything.

    read, write: text streams in UTF-8, one message a line. By default they are those of this process, whose
        standard output is then kept for the protocol alone: what else is printed goes to standard error.
    """
    asyncio.run(_serve(store, read, write))


async def _serve(store: AppContext, read: TextIO | None, write: TextIO | None) -> None:
    visitor = Visitor(store, Caller(LOCAL, SCOPES[-1]), is_here=True, turns=CallerTurns())

    def visitor_of(_: ServerRequestContext[Any]) -> Visitor:
        return visitor

    server = build_mcp_server(visitor_of)
    lines = _Lines(read, write) if read and write else None
    async with stdio_server(lines, lines) as (incoming, outgoing):  # type: ignore[arg-type]
        await server.run(incoming, outgoing, server.create_initialization_options())


class _Lines:
    """A pair of streams as the package reads and writes them."""

    def __init__(self, read: TextIO, write: TextIO) -> None:
        self._read, self._write = read, write

    def __aiter__(self) -> _Lines:
        return self

    async def __anext__(self) -> str:
        line = await asyncio.to_thread(self._read.readline)
        if not line:
            raise StopAsyncIteration
        return line

    async def write(self, text: str) -> None:
        await asyncio.to_thread(self._write.write, text)

    async def flush(self) -> None:
        await asyncio.to_thread(self._write.flush)
