"""Keeps the sessions of MCP clients over HTTP, each for the caller who began it."""

from __future__ import annotations

import asyncio
from typing import Any

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.context import ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from chatbot.api.caller import Caller, door_of, opened_store
from chatbot.api.problems import ProblemError
from chatbot.mcp_server.protocol import build_mcp_server
from chatbot.mcp_server.tool_list import Visitor

__all__ = ["McpSessions"]

# Sessions that are open at the same time, and the seconds after which an unused one is closed.
MOST_SESSIONS, IDLE_SECONDS = 500, 1_800.0
# Sessions of one caller, so that one does not take all.
MOST_OF_CALLER = 100
# The server's guard checks the host, and `find_caller` which page a call comes from.
NO_SECOND_CHECK = TransportSecuritySettings(enable_dns_rebinding_protection=False)


class McpSessions:
    """The package's sessions, in a task of their own: they must end in the task that began them."""

    def __init__(self) -> None:
        self._manager = StreamableHTTPSessionManager(
            build_mcp_server(_visitor_of),
            security_settings=NO_SECOND_CHECK,
            session_idle_timeout=IDLE_SECONDS,
            max_sessions=MOST_SESSIONS,
        )
        self._ready, self._over = asyncio.Event(), asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        """Gets ready for requests."""
        self._task = asyncio.create_task(self._run(), name="mcp-sessions")
        await self._ready.wait()

    async def serve(self, caller: Caller, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request. Raises ProblemError for a caller who has too many sessions."""
        # A session belongs to who began it.
        name = f"{caller.owner} {caller.key}"
        begins = Request(scope).headers.get("mcp-session-id") is None
        if begins and self._sessions_of(name) >= MOST_OF_CALLER:
            raise ProblemError(
                429,
                f"{MOST_OF_CALLER} sessions of this caller are open.",
                hint=f"End some; an unused one ends after {IDLE_SECONDS / 60:.0f} minutes.",
            )
        owner = AccessToken(token="", client_id=name, scopes=[caller.scope])
        scope["user"] = AuthenticatedUser(owner)
        await self._manager.handle_request(scope, receive, send)

    def _sessions_of(self, name: str) -> int:
        return sum(owner["client_id"] == name for owner in self._manager._session_owners.values())

    async def close(self) -> None:
        """Ends all sessions, and with them the calls that are on their way."""
        self._over.set()
        if self._task is not None:
            await self._task

    async def _run(self) -> None:
        async with self._manager.run():
            self._ready.set()
            await self._over.wait()


def _visitor_of(context: ServerRequestContext[Any]) -> Visitor:
    request = context.request
    assert isinstance(request, Request)
    caller = request.scope["state"]["caller"]
    return Visitor(opened_store(request), caller, is_here=False, turns=door_of(request).turns)
