"""Lets MCP clients in over streamable HTTP: the same callers as the API's."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING

from fastapi import FastAPI
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from chatbot.api.caller import BEARER, needs

if TYPE_CHECKING:
    from chatbot.mcp_server.http_requests import McpRequests

__all__ = ["McpDoor", "add_mcp"]

_find_caller = needs("read")


class McpDoor:
    """The application at one address. What it needs is loaded with the first request."""

    path = "/mcp"

    def __init__(self) -> None:
        self._requests: McpRequests | None = None
        self._opening = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request. Raises ProblemError for a caller who may not."""
        scope["route"] = self  # for the log
        request = Request(scope, receive)
        await _find_caller(request, await BEARER(request))
        requests = await self._opened()
        await requests.serve(scope, receive, send)

    async def close(self) -> None:
        """Ends all calls. The next request begins anew."""
        requests, self._requests = self._requests, None
        if requests is not None:
            await requests.close()

    async def _opened(self) -> McpRequests:
        async with self._opening:
            if self._requests is None:
                loaded = await asyncio.to_thread(import_module, "chatbot.mcp_server.http_requests")
                requests: McpRequests = loaded.McpRequests()
                await requests.begin()
                self._requests = requests
            return self._requests


def add_mcp(api: FastAPI) -> McpDoor:
    """Adds the MCP server to the API. Whoever runs the API closes what this returns, in the same loop."""
    door = McpDoor()
    api.router.routes.append(Route(door.path, endpoint=door))
    return door
