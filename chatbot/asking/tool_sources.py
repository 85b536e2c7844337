"""Has a chat model call tools of other servers before it answers; what they reply comes with the question."""

from __future__ import annotations

from collections.abc import Callable, Generator

from chatbot.asking.external_texts import ExternalText
from chatbot.models.tool_calls import ToolUser
from chatbot.records import Event, Notice
from chatbot.tools.tool_rounds import ask_tools
from chatbot.tools.tool_servers import ToolServers

__all__ = ["tool_texts"]

# The notice that tools are wanted where nobody can call them.
NO_TOOLS = "Tools of other servers are called by a chat model, and none answers here."


def tool_texts(
    question: str, model: object, servers: ToolServers, stop: Callable[[], bool]
) -> Generator[Event, None, tuple[ExternalText, ...]]:
    """Yields what is asked of the tools, and returns their replies as texts: cited and checked like pages.

    question: as it stands alone.
    model: the LLM that answers, None for none.
    """
    if not isinstance(model, ToolUser):
        yield Notice(NO_TOOLS, "Choose a chat model, or ask without tools.")
        return ()
    texts = yield from ask_tools(question, model, servers, stop)
    return tuple(ExternalText(text.address, text.title, text.text) for text in texts)
