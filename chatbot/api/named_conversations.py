"""Finds the conversation that a caller names, and says what is wrong with the name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Path, Request

from chatbot.api.caller import caller_of, opened_store
from chatbot.errors import NotFoundError
from chatbot.memory.conversations.conversation_names import NAME, id_of
from chatbot.memory.conversations.conversation_store import ConversationRow
from chatbot.service import Chatbot

__all__ = ["Named", "NamedConversation", "check_not_deleted"]

Id = Annotated[str, Path(pattern=NAME, description="Up to 64 letters, digits, - and _.")]


@dataclass(frozen=True, slots=True)
class NamedConversation:
    """A conversation of the caller's, begun or not. id: by which the store knows it."""

    chatbot: Chatbot
    id: str
    owner: str

    def row(self) -> ConversationRow:
        """Returns it as listed. Raises NotFoundError."""
        return self.chatbot.conversations.get(self.id, self.owner)

    def kept(self) -> ConversationRow:
        """Returns it as listed. Raises NotFoundError, also if it is deleted."""
        row = self.row()
        check_not_deleted(row)
        return row

    def check_exchange(self, number: int) -> None:
        """Raises NotFoundError if it is not kept, or has no exchange of this number."""
        row = self.kept()
        last = self.chatbot.conversations.said(self.id, self.owner, last=1)
        if not last or number > last[0].number:
            raise NotFoundError(
                f"The conversation {row.name!r} has no exchange {number:,}.",
                hint=f"Its last is {last[0].number:,}." if last else "Nothing was asked in it.",
            )


def _named(request: Request, conversation: Id) -> NamedConversation:
    chatbot, owner = opened_store(request).chatbot, caller_of(request).owner
    return NamedConversation(chatbot, id_of(chatbot.conversations, owner, conversation), owner)


# Comes after the caller.
Named = Annotated[NamedConversation, Depends(_named)]


def check_not_deleted(row: ConversationRow) -> None:
    """Raises NotFoundError for a deleted conversation."""
    if row.deleted_at is not None:
        raise NotFoundError(
            f"The conversation {row.name!r} is deleted.",
            hint=f"Restore it: POST /api/v1/conversations/{row.name}/restore",
        )
