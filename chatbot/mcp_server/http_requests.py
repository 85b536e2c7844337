"""Serves the requests of MCP clients over HTTP, each by itself: the next may reach another server."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Any
from uuid import uuid4

import anyio
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.streamable_http import check_accept_headers
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from chatbot.api.caller import Caller, door_of, opened_store
from chatbot.api.problems import ProblemError
from chatbot.mcp_server.protocol import build_mcp_server
from chatbot.mcp_server.tool_work import Visitor

__all__ = ["McpRequests"]

# The server's guard checks the host, and `find_caller` which page a call comes from.
NO_SECOND_CHECK = TransportSecuritySettings(enable_dns_rebinding_protection=False)
SESSION = "mcp-session-id"
CANCELLED = "notifications/cancelled"


class McpRequests:
    """The package's servers, in a task of their own: they must end in the task that began them.

    A client gets the name of a session, by which it cancels its calls. Nothing else is known of sessions.
    """

    def __init__(self) -> None:
        server = build_mcp_server(_visitor_of)
        server.middleware.append(self._cancellable)
        # Replies are events, or JSON for a client that takes no events.
        self._events, self._json = (
            StreamableHTTPSessionManager(
                server, json_response=is_json, stateless=True, security_settings=NO_SECOND_CHECK
            )
            for is_json in (False, True)
        )
        self._running = dict[tuple[str, str, str], anyio.CancelScope]()
        self._ready, self._over = asyncio.Event(), asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        """Gets ready for requests."""
        self._task = asyncio.create_task(self._run(), name="mcp-requests")
        await self._ready.wait()

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request. Raises ProblemError for one that is not POST."""
        request = Request(scope, receive)
        if request.method != "POST":
            raise ProblemError(405, "Only POST is served: no stream stays open.", headers={"allow": "POST"})
        if "accept" not in request.headers:
            scope["headers"] = [*scope["headers"], (b"accept", b"application/json")]
        session = scope["state"][SESSION] = request.headers.get(SESSION) or uuid4().hex

        async def send_with_session(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)[SESSION] = session
            await send(message)

        takes_json, takes_events = check_accept_headers(Request(scope))
        manager = self._json if takes_json and not takes_events else self._events
        await manager.handle_request(scope, receive, send_with_session)

    async def close(self) -> None:
        """Ends the calls that are on their way."""
        self._over.set()
        if self._task is not None:
            await self._task

    async def _cancellable(self, ctx: ServerRequestContext[Any], call_next: CallNext) -> HandlerResult:
        """Runs a request so that another one can cancel it."""
        assert isinstance(ctx.request, Request)
        state = ctx.request.scope["state"]
        caller: Caller = state["caller"]
        number = ctx.request_id
        if ctx.method == CANCELLED:
            number = (ctx.params or {}).get("requestId")
        key = (f"{caller.owner} {caller.key}", state[SESSION], str(number))
        if ctx.method == CANCELLED and key in self._running:
            self._running[key].cancel()
        if ctx.request_id is None:
            return await call_next(ctx)
        with anyio.CancelScope() as running:
            self._running[key] = running
            try:
                return await call_next(ctx)
            finally:
                self._running.pop(key, None)
        raise MCPError(0, "The request was cancelled.")

    async def _run(self) -> None:
        async with AsyncExitStack() as stack:
            for manager in (self._events, self._json):
                await stack.enter_async_context(manager.run())
            self._ready.set()
            await self._over.wait()


def _visitor_of(context: ServerRequestContext[Any]) -> Visitor:
    request = context.request
    assert isinstance(request, Request)
    caller = request.scope["state"]["caller"]
    return Visitor(opened_store(request), caller, door_of(request).turns)
