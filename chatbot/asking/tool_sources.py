"""Has a chat model call tools of other servers before it answers; what they reply becomes sources."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence

from chatbot.models.tool_calls import ToolUser
from chatbot.records import Event, Hit, Notice
from chatbot.tools.tool_rounds import ToolText, ask_tools
from chatbot.tools.tool_servers import ToolServers

__all__ = ["tool_sources"]

# The notice that tools are wanted where nobody can call them.
NO_TOOLS = "Tools of other servers are called by a chat model, and none answers here."


def tool_sources(
    question: str, model: object, servers: ToolServers, stop: Callable[[], bool]
) -> Generator[Event, None, tuple[Hit, ...]]:
    """Yields what is asked of the tools, and returns their replies as sources: cited and checked like pages.

    question: as it stands alone.
    model: the LLM that answers, None for none.
    """
    if not isinstance(model, ToolUser):
        yield Notice(NO_TOOLS, "Choose a chat model, or ask without tools.")
        return ()
    texts = yield from ask_tools(question, model, servers, stop)
    return as_sources(texts)


def as_sources(texts: Sequence[ToolText]) -> tuple[Hit, ...]:
    """Returns each text as a source of one page, in no version that the store has."""
    return tuple(
        Hit(
            text.address,
            -number,
            1,
            None,
            None,
            "text",
            None,
            f"{text.address}#{number}",
            text.text,
            text.text,
            text.text,
        )
        for number, text in enumerate(texts, 1)
    )
