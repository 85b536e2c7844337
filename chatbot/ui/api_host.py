"""Runs the API inside this server: over the same store, and for the users that its pages know."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

from chatbot.api.host import ADDRESSES, Host
from chatbot.app.app_context import AppContext
from chatbot.settings import load_settings
from chatbot.ui.guard import OWNER_COOKIE, is_owner
from chatbot.ui.network_exposure import is_open_to_others, opening, signs_in
from chatbot.ui.sign_in import owner_of_cookies

if TYPE_CHECKING:
    from fastapi import FastAPI

    from chatbot.mcp_server.http_door import McpDoor

__all__ = ["ApiRoute", "api", "close_calls"]

# The MCP server of this process, once the API is loaded.
_mcp_doors: list[McpDoor] = []


@cache
def api() -> FastAPI:
    """Returns the API of this process."""
    from chatbot.api.application import build_api
    from chatbot.mcp_server.http_door import add_mcp

    built = build_api(Host(_opened, is_open_to_others, _signed_in, _visitor), load_settings())
    _mcp_doors.append(add_mcp(built))
    return built


async def close_calls() -> None:
    """Ends the calls of MCP clients. To be called when the server stops."""
    for door in _mcp_doors:
        await door.close()


class ApiRoute(BaseRoute):
    """Hands what is at the API's addresses to it, and leaves the rest to the pages."""

    def __init__(self, *, alone: bool = False) -> None:
        """alone: there are no pages, and everything is handed to the API.

        The pages' socket too, which the API refuses: whoever opens it would be given the pages without a key.
        """
        self._alone = alone

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        first, _, _ = scope["path"].removeprefix("/").partition("/")
        ours = self._alone or (scope["type"] == "http" and first in ADDRESSES)
        return Match.FULL if ours else Match.NONE, {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await serve_api(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})


async def serve_api(scope: Scope, receive: Receive, send: Send) -> None:
    """Serves a request to the API, which is loaded with the first one."""
    await api()(scope, receive, send)


def _opened() -> AppContext | None:
    found = opening()
    if found.error is not None:
        raise found.error
    return found.context


def _signed_in(cookies: Mapping[str, str]) -> str:
    return owner_of_cookies(cookies) if signs_in() else ""


def _visitor(cookies: Mapping[str, str]) -> str:
    mark = cookies.get(OWNER_COOKIE, "")
    return mark if is_owner(mark) else ""
