"""Writes an answer as the API returns it: the fields of `finpolicy ask --json`, for its caller."""

from __future__ import annotations

from typing import Any

from chatbot.memory.conversations.conversation_names import name_of
from chatbot.records import Answer
from chatbot.serialize import answer_line

__all__ = ["shown_answer"]


def shown_answer(answer: Answer) -> dict[str, Any]:
    """Returns the fields of an answer. The conversation has the name that its caller chose."""
    line = answer_line(answer)
    return {**line, "conversation": answer.conversation and name_of(answer.conversation)}
