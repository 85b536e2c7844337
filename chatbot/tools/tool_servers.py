"""Keeps the connections to other MCP servers, in a thread with an event loop of its own."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from chatbot.errors import SettingsError
from chatbot.settings import Settings
from chatbot.tools.server_connection import ServerConnection, ToolError
from chatbot.tools.server_file import FILE, ServerEntry, read_servers
from chatbot.tools.tool_texts import ServerTool

__all__ = ["OfferedTools", "ToolServers"]

log = logging.getLogger(__name__)
Found = TypeVar("Found")

# Seconds for all servers to end.
CLOSE_SECONDS = 8.0
TICK_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class OfferedTools:
    """The tools that can be called now, by the names that a model gets, and why others cannot."""

    tools: Mapping[str, ServerTool]
    problems: tuple[ToolError, ...] = ()


class ToolServers:
    """The servers that the user's file names. Any thread may use it.

    Each is connected when a question first may use it, and stays so until `close`.
    """

    def __init__(self, settings: Settings, folder: Path) -> None:
        """folder: holds the file, and is where servers are started."""
        self._settings, self._folder = settings, folder
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._connections: dict[str, ServerConnection] = {}
        self._closed = False

    @property
    def file(self) -> Path:
        """The file that names the servers, whether it is there or not."""
        return self._folder / FILE

    def names(self) -> tuple[str, ...]:
        """Returns the names of the servers, () without a file or if it is wrong."""
        try:
            return tuple(entry.name for entry in read_servers(self._folder))
        except SettingsError:
            return ()

    def offered(self, stop: Callable[[], bool]) -> OfferedTools:
        """Connects to the servers that the file names now, and returns their tools."""
        try:
            entries = read_servers(self._folder)
        except SettingsError as error:
            return OfferedTools({}, (ToolError(error.message, hint=error.hint),))
        if not entries:
            return OfferedTools({})
        found = self._run(stop, self._offered, entries)
        return found if found is not None else OfferedTools({})

    def call(self, tool: ServerTool, arguments: Mapping[str, Any], stop: Callable[[], bool]) -> str:
        """Calls a tool. Returns the text of its reply, "" after a stop. Raises ToolError."""
        return self._run(stop, self._call, tool, arguments) or ""

    def close(self) -> None:
        """Ends all connections, and the servers that were started."""
        with self._lock:
            self._closed = True
            loop, thread = self._loop, self._thread
        if loop is None or thread is None:
            return
        ending = asyncio.run_coroutine_threadsafe(self._end(), loop)
        try:
            ending.result(CLOSE_SECONDS)
        except Exception as error:
            log.warning("servers of tools did not end: %s", type(error).__name__)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(CLOSE_SECONDS)
        if not thread.is_alive():
            loop.close()

    def _run(
        self,
        stop: Callable[[], bool],
        work: Callable[..., Coroutine[Any, Any, Found]],
        *arguments: object,
    ) -> Found | None:
        """Runs work in the loop. Returns None after a stop."""
        with self._lock:
            if self._closed:
                return None
            if self._loop is None:
                import_module("mcp")  # which takes a second, and is not to hold up the loop
                # Its log would repeat what servers send.
                logging.getLogger("mcp.client").setLevel(logging.CRITICAL)
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="tools", daemon=True)
                self._thread.start()
            future: Future[Found] = asyncio.run_coroutine_threadsafe(work(*arguments), self._loop)
        while not wait([future], TICK_SECONDS).done:
            if stop():
                future.cancel()
                return None
        return None if future.cancelled() else future.result()

    async def _offered(self, entries: tuple[ServerEntry, ...]) -> OfferedTools:
        wanted = {entry.name: entry for entry in entries}
        for name, connection in list(self._connections.items()):
            if wanted.get(name) != connection.entry:  # the file has changed
                del self._connections[name]
                await connection.close()
        for name, entry in wanted.items():
            if name not in self._connections:
                self._connections[name] = ServerConnection(entry, self._settings, self._folder)
        connections = [self._connections[name] for name in wanted]
        found = await asyncio.gather(*(one.tools() for one in connections), return_exceptions=True)
        tools: dict[str, ServerTool] = {}
        problems = []
        for one in found:
            if isinstance(one, ToolError):
                problems.append(one)
            elif isinstance(one, BaseException):
                raise one
            else:
                tools = {tool.offered.name: tool for tool in one} | tools
        for connection in connections:
            problems += connection.complaints()
        return OfferedTools(tools, tuple(problems))

    async def _call(self, tool: ServerTool, arguments: Mapping[str, Any]) -> str:
        connection = self._connections.get(tool.server)
        if connection is None:
            raise ToolError(f"{tool.server} is not in {FILE} any more.")
        return await connection.call(tool, arguments)

    async def _end(self) -> None:
        await asyncio.gather(
            *(connection.close() for connection in self._connections.values()), return_exceptions=True
        )
        self._connections.clear()
