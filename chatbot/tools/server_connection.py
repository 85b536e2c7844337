"""Connects to one MCP server, calls its tools, and gives it up for a while when it fails."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from chatbot.errors import ModelError, ProjectError
from chatbot.settings import Settings
from chatbot.tools.server_file import FILE, ServerEntry
from chatbot.tools.tool_texts import MOST_TOOLS, ServerTool, offered_tools, reply_text
from ingestion.invisible_characters import one_line

if TYPE_CHECKING:
    from mcp import Client
    from mcp.types import Tool

__all__ = ["ServerConnection", "ToolError"]

# Seconds to connect and list the tools, and for one call.
CONNECT_SECONDS, CALL_SECONDS = 20.0, 20.0
# Seconds in which a server that failed is not tried again, so that not every question waits for it.
PAUSE_SECONDS = 60.0
# Seconds for a server to end.
END_SECONDS = 5.0
# Parts of a server's list of tools.
MOST_PARTS = 5


class ToolError(ProjectError):
    """A server of tools failed, or lied. The message names it."""


class ServerConnection:
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
            await self._open()
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
            await self._fail(f"{tool.label} failed: {_reason(error)}.")
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
            await self._fail(f"{self.entry.name} cannot be used: {_reason(error)}.")
        found = {tool.offered.name: tool for tool in offered_tools(self.entry.name, listed)}
        self._first = self._first or found
        self._changed = {name: tool for name, tool in self._first.items() if found.get(name) != tool}

    async def _live(self, ready: asyncio.Future[list[Tool]]) -> None:
        from mcp import Client

        try:
            async with Client(self._streams(), cache=None) as client:
                client.session.validate_tool_result = _unchecked  # type: ignore[method-assign]
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

    def _streams(self) -> AbstractAsyncContextManager[Any]:
        from chatbot.tools.server_streams import called_server, started_server

        if self.entry.url:
            return called_server(self.entry, self._settings)
        return started_server(self.entry, self._folder)

    async def _fail(self, message: str) -> NoReturn:
        """Gives the server up for a while. Raises ToolError."""
        await self.close()
        self._failed, self._failed_at = ToolError(message, hint=self._hint), time.monotonic()
        raise self._failed


async def _unchecked(name: str, result: object) -> None:
    """Takes the place of the package's check of a reply against the schema that the server declares for it.

    Nothing here relies on that. A pattern in it could keep all servers waiting for ever, beyond any time
    limit.
    """


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


REASONS = {
    "ConnectError": "nothing answers at its url",
    "ConnectTimeout": "nothing answers at its url",
    "ReadTimeout": "it did not answer in time",
    "HTTPStatusError": "it refused the connection; see its url and headers",
    "PermissionError": "its command may not be run",
    "JSONDecodeError": "it does not send JSON",
    "MCPError": "it ended, or refused the connection",
}


def _reason(error: BaseException) -> str:
    """Says why a server failed, without repeating what it says."""
    cause = _cause(error)
    return REASONS.get(type(cause).__name__, f"it does not speak MCP as expected ({type(cause).__name__})")
