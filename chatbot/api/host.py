"""Defines what the API needs of the server that it runs in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from chatbot.asking.question import Ask
    from chatbot.memory.signals.live_news import LiveNews
    from chatbot.records import Answer, Stage
    from chatbot.service import Chatbot
    from chatbot.settings import Settings
    from chatbot.store.addition_queue import Additions

__all__ = ["ADDRESSES", "READY", "Host", "Opened", "Question", "Questions", "status_of"]

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


class Question(Protocol):
    """A question on its way; see chatbot/app/running_questions.py."""

    @property
    def text(self) -> str: ...

    @property
    def stage(self) -> Stage: ...

    @property
    def finished(self) -> bool: ...

    @property
    def answer(self) -> Answer | None: ...

    @property
    def error(self) -> Exception | None: ...

    def on_news(self, call: Callable[[], None]) -> None: ...

    def stop(self) -> None: ...


class Questions(Protocol):
    """Answers questions in threads, one at a time in a conversation. Both raise BusyError."""

    def admit(self, owner: str) -> None: ...

    def ask(self, ask: Ask) -> Question: ...


class Opened(Protocol):
    """An open store and all that works on it."""

    @property
    def settings(self) -> Settings: ...

    @property
    def chatbot(self) -> Chatbot: ...

    @property
    def additions(self) -> Additions: ...

    @property
    def news(self) -> LiveNews: ...

    @property
    def asked(self) -> Questions: ...

    def restore(self, name: str) -> None: ...

    def erase(self, name: str) -> object: ...


@dataclass(frozen=True, slots=True)
class Host:
    """The server around the API.

    opened: the open store, None while it is being opened. Raises ProjectError if it cannot be.
    is_open_to_others: whether anybody but this machine can reach the server.
    signed_in: the owner whom a request's cookies sign in, "" for nobody.
    visitor: the mark of the browser that a request's cookies name, "" for none.
    """

    opened: Callable[[], Opened | None]
    is_open_to_others: Callable[[], bool]
    signed_in: Callable[[Mapping[str, str]], str]
    visitor: Callable[[Mapping[str, str]], str]


def status_of(opened: Opened | None) -> str:
    """Says in a word whether questions can be asked: "opening", "indexing" or READY."""
    if opened is None:
        return "opening"
    return READY if opened.chatbot.ready else "indexing"
