"""Keeps the connections to other MCP servers, in a thread with an event loop of its own."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future, wait
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from chatbot.errors import ModelError, ProjectError, SettingsError
from chatbot.settings import Settings
from chatbot.tools.server_file import FILE, ServerEntry, read_servers
from chatbot.tools.tool_texts import MOST_TOOLS, ServerTool, offered_tools, reply_text
from ingestion.invisible_characters import one_line

if TYPE_CHECKING:
    from mcp import Client
    from mcp.client._transport import TransportStreams
    from mcp.types import Tool

__all__ = ["OfferedTools", "ToolError", "ToolServers"]

log = logging.getLogger(__name__)
Found = TypeVar("Found")

# Seconds to connect and list the tools, and for one call.
CONNECT_SECONDS, CALL_SECONDS = 20.0, 20.0
# Seconds in which a server that failed is not tried again, so that not every question waits for it.
PAUSE_SECONDS = 60.0
# Seconds for a server to end, and for all of them.
END_SECONDS, CLOSE_SECONDS = 5.0, 8.0
TICK_SECONDS = 0.1
# Parts of a server's list of tools.
MOST_PARTS = 5


class ToolError(ProjectError):
    """A server of tools failed, or lied. The message names it."""


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
        self._connections: dict[str, _Connection] = {}
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
                self._connections[name] = _Connection(entry, self._settings, self._folder)
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


class _Connection:
    """The connection to one server, in a task: what opens it must close it."""

    def __init__(self, entry: ServerEntry, settings: Settings, folder: Path) -> None:
        self.entry = entry
        self._settings, self._folder = settings, folder
        self._client: Client | None = None
        self._task: asyncio.Task[None] | None = None
        self._over = asyncio.Event()
        self._opening = asyncio.Lock()
        self._failed: ToolError | None = None
        self._failed_at = 0.0
        # The tools as they were listed first: a server cannot change afterwards what the user has seen.
        self._first: dict[str, ServerTool] = {}
        self._changed: dict[str, ServerTool] = {}

    async def tools(self) -> list[ServerTool]:
        """Returns the server's tools, connecting first if need be. Raises ToolError."""
        async with self._opening:
            if self._client is not None:
                return self._unchanged
            if self._failed is not None and time.monotonic() < self._failed_at + PAUSE_SECONDS:
                raise self._failed
            try:
                await self._open()
            except ToolError as error:
                self._failed, self._failed_at = error, time.monotonic()
                raise
            return self._unchanged

    def complaints(self) -> list[ToolError]:
        """Returns a problem for tools that the server has changed."""
        if not self._changed:
            return []
        names = one_line(", ".join(tool.name for tool in self._changed.values()), 200)
        return [
            ToolError(
                f"{self.entry.name} has changed what it says of {names}: not used.",
                hint="Restart Finpolicy if you trust the change.",
            )
        ]

    async def call(self, tool: ServerTool, arguments: Mapping[str, Any]) -> str:
        """Calls a tool and returns the text of its reply. Raises ToolError."""
        client = self._client
        if client is None:
            raise ToolError(f"{self.entry.name} has ended.", hint=self._hint)
        try:
            result = await asyncio.wait_for(client.call_tool(tool.name, dict(arguments)), CALL_SECONDS)
        except TimeoutError:
            await self._fail(f"{tool.label} did not reply within {CALL_SECONDS:.0f} s.")
        except Exception as error:
            if _is_refusal(error):  # of this call alone
                raise ToolError(f"{tool.label} refused the call.", hint=self._hint) from None
            await self._fail(f"{tool.label} failed ({_kind(error)}).")
        text = reply_text(result)
        if result.is_error:
            raise ToolError(f"{tool.label} reports an error: {one_line(text, 200)}", hint=self._hint)
        if not text:
            raise ToolError(f"{tool.label} replied without text.", hint=self._hint)
        return text

    async def close(self) -> None:
        """Ends the connection, and the server if it was started."""
        self._client = None
        self._over.set()
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=END_SECONDS)
            self._task.cancel()
            self._task = None

    @property
    def _unchanged(self) -> list[ServerTool]:
        return [tool for name, tool in self._first.items() if name not in self._changed]

    @property
    def _hint(self) -> str:
        return f"Check {self.entry.name} in {FILE}."

    async def _open(self) -> None:
        await self.close()
        self._over = asyncio.Event()
        ready: asyncio.Future[list[Tool]] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._live(ready))
        try:
            listed = await asyncio.wait_for(ready, CONNECT_SECONDS)
        except TimeoutError:
            self._task.cancel()
            await self._fail(f"{self.entry.name} did not answer within {CONNECT_SECONDS:.0f} s.")
        except ModelError as error:
            message = error.message.replace("OPENAI_BASE_URL", f"The url of {self.entry.name}")
            await self._fail(message)
        except FileNotFoundError:
            await self._fail(f"{self.entry.name} cannot be started: there is no such command.")
        except Exception as error:
            await self._fail(f"{self.entry.name} cannot be used ({_kind(error)}).")
        found = {tool.offered.name: tool for tool in offered_tools(self.entry.name, listed)}
        self._first = self._first or found
        self._changed = {name: tool for name, tool in self._first.items() if found.get(name) != tool}

    async def _live(self, ready: asyncio.Future[list[Tool]]) -> None:
        from mcp import Client

        try:
            async with Client(self._streams(), cache=None) as client:
                listed = await _listed(client)
                self._client = client
                if not ready.done():
                    ready.set_result(listed)
                await self._over.wait()
        except Exception as error:
            if not ready.done():
                ready.set_exception(_cause(error))
        finally:
            self._client = None
            if not ready.done():
                ready.cancel()

    def _streams(self) -> AbstractAsyncContextManager[TransportStreams]:
        from chatbot.tools.called_server import called_server
        from chatbot.tools.started_server import started_server

        if self.entry.url:
            return called_server(self.entry, self._settings)
        return started_server(self.entry, self._folder)

    async def _fail(self, message: str) -> NoReturn:
        """Gives the server up for a while. Raises ToolError."""
        await self.close()
        self._failed, self._failed_at = ToolError(message, hint=self._hint), time.monotonic()
        raise self._failed


async def _listed(client: Client) -> list[Tool]:
    """Returns the tools of a server, whose list may come in parts."""
    found: list[Tool] = []
    cursor: str | None = None
    for _ in range(MOST_PARTS):
        part = await client.list_tools(cursor=cursor)
        found += part.tools
        cursor = part.next_cursor
        if not cursor or len(found) >= MOST_TOOLS:
            break
    return found


def _is_refusal(error: Exception) -> bool:
    """Tells whether a server answered a call with an error, and goes on."""
    from mcp.shared.exceptions import MCPError
    from mcp.types import CONNECTION_CLOSED

    return isinstance(error, MCPError) and error.code != CONNECTION_CLOSED


def _cause(error: BaseException) -> BaseException:
    """Returns the first error of a group of them."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _kind(error: BaseException) -> str:
    """Names an error without repeating what the server says."""
    return type(_cause(error)).__name__
