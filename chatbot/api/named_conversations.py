"""Finds the conversation that a caller names, and says what is wrong with the name."""

from __future__ import annotations

from fastapi import Request
from starlette.concurrency import run_in_threadpool

from chatbot.api.caller import Caller, opened_store
from chatbot.errors import NotFoundError
from chatbot.memory.conversations.conversation_names import id_of
from chatbot.memory.conversations.conversation_store import ConversationRow
from chatbot.service import Chatbot

__all__ = ["check_not_deleted", "kept_conversation", "kept_exchange", "named_conversation"]


async def named_conversation(request: Request, caller: Caller, name: str) -> tuple[Chatbot, str]:
    """Returns the chatbot, and the id of the caller's conversation of this name, begun or not."""
    chatbot = opened_store(request).chatbot
    return chatbot, await run_in_threadpool(id_of, chatbot.conversations, caller.owner, name)


def kept_conversation(chatbot: Chatbot, conversation: str, owner: str) -> ConversationRow:
    """Returns a conversation. Raises NotFoundError, also for one that is deleted."""
    row = chatbot.conversations.get(conversation, owner)
    check_not_deleted(row)
    return row


def kept_exchange(chatbot: Chatbot, conversation: str, owner: str, number: int) -> None:
    """Raises NotFoundError if the conversation is not kept, or has no exchange of this number."""
    row = kept_conversation(chatbot, conversation, owner)
    last = chatbot.conversations.said(conversation, owner, last=1)
    if not last or number > last[0].number:
        raise NotFoundError(
            f"The conversation {row.name!r} has no exchange {number:,}.",
            hint=f"Its last is {last[0].number:,}." if last else "Nothing was asked in it.",
        )


def check_not_deleted(row: ConversationRow) -> None:
    """Raises NotFoundError for a deleted conversation."""
    if row.deleted_at is not None:
        raise NotFoundError(
            f"The conversation {row.name!r} is deleted.",
            hint=f"Restore it: POST /api/v1/conversations/{row.name}/restore",
        )
