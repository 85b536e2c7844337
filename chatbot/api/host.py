"""Defines what the API needs of the server that it runs in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from chatbot.app.app_context import AppContext

__all__ = ["ADDRESSES", "READY", "Host", "status_of"]

READY = "ready"

# The API's addresses are these and all below them; what is unknown there is no page either.
ADDRESSES = (
    "api",
    "v1",
    "mcp",
    "metrics",
    "get_chat_response",
    "get_mcp_response",
    "get_adv_response",
    "input_webtext",
    "clear_messages",
)


@dataclass(frozen=True, slots=True)
class Host:
    """The server around the API.

    opened: the open store, None while it is being opened. Raises ProjectError if it cannot be.
    is_open_to_others: whether anybody but this machine can reach the server.
    signed_in: the owner whom a request's cookies sign in, "" for nobody.
    visitor: the mark of the browser that a request's cookies name, "" for none.
    """

    opened: Callable[[], AppContext | None]
    is_open_to_others: Callable[[], bool]
    signed_in: Callable[[Mapping[str, str]], str]
    visitor: Callable[[Mapping[str, str]], str]


def status_of(opened: AppContext | None) -> str:
    """Says in a word whether questions can be asked: "opening", "indexing" or READY."""
    if opened is None:
        return "opening"
    return READY if opened.chatbot.ready else "indexing"
