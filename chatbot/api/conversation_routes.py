"""Serves conversations: their exchanges, ratings, audit files and statistics."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from chatbot.api.answer_lines import shown_answer
from chatbot.api.caller import Asks, Reads, door_of, opened_store
from chatbot.api.named_conversations import kept_conversation, kept_exchange, named_conversation
from chatbot.api.problems import declared
from chatbot.api.schemas import ConversationIn, ConversationOut, ExchangeOut, RatingIn
from chatbot.audit.builder import audit_kept
from chatbot.memory.conversations.conversation_names import NAME
from chatbot.memory.conversations.conversation_store import ConversationRow, StoredExchange
from chatbot.serialize import neutral_markdown
from chatbot.service import Chatbot

__all__ = ["ROUTER"]

ROUTER = APIRouter(prefix="/api/v1/conversations", tags=["conversations"])
REFUSALS = declared(404)
WITH_BODY = declared(404, body=True)
TEXT, JSON = {"schema": {"type": "string"}}, {"schema": {"type": "object"}}
Id = Annotated[str, Path(pattern=NAME, description="Up to 64 letters, digits, - and _.")]
Number = Annotated[int, Path(ge=1, le=2**53)]


@ROUTER.get("", responses=declared())
async def conversations(
    request: Request,
    caller: Reads,
    search: Annotated[str, Query(max_length=1_000)] = "",
    deleted: bool = False,
) -> list[ConversationOut]:
    """Lists the caller's conversations, the one that changed last first."""
    kept = opened_store(request).chatbot.conversations
    rows = await run_in_threadpool(kept.listed, caller.owner, search=search, deleted=deleted)
    return [_out(row) for row in rows]


@ROUTER.get("/{conversation}", responses=REFUSALS)
async def conversation(request: Request, conversation: Id, caller: Reads) -> ConversationOut:
    """Describes a conversation."""
    chatbot, found = await named_conversation(request, caller, conversation)
    return _out(await run_in_threadpool(chatbot.conversations.get, found, caller.owner))


@ROUTER.patch("/{conversation}", responses=WITH_BODY)
async def rename(request: Request, conversation: Id, body: ConversationIn, caller: Asks) -> ConversationOut:
    """Renames a conversation; an empty title brings back its first question."""
    chatbot, found = await named_conversation(request, caller, conversation)
    await run_in_threadpool(chatbot.conversations.rename, found, caller.owner, body.title)
    return _out(await run_in_threadpool(chatbot.conversations.get, found, caller.owner))


@ROUTER.delete("/{conversation}", status_code=204, responses=REFUSALS)
async def delete(request: Request, conversation: Id, caller: Asks) -> None:
    """Hides a conversation for 7 days, after which it is erased."""
    chatbot, found = await named_conversation(request, caller, conversation)
    await run_in_threadpool(chatbot.conversations.delete, found, caller.owner)


@ROUTER.post("/{conversation}/restore", responses=REFUSALS)
async def restore(request: Request, conversation: Id, caller: Asks) -> ConversationOut:
    """Brings a deleted conversation back."""
    chatbot, found = await named_conversation(request, caller, conversation)
    await run_in_threadpool(chatbot.conversations.restore, found, caller.owner)
    return _out(await run_in_threadpool(chatbot.conversations.get, found, caller.owner))


@ROUTER.get("/{conversation}/exchanges", responses=REFUSALS)
async def exchanges(request: Request, conversation: Id, caller: Reads) -> list[ExchangeOut]:
    """Lists the questions of a conversation with their answers, the oldest first."""
    chatbot, found = await named_conversation(request, caller, conversation)
    await run_in_threadpool(kept_conversation, chatbot, found, caller.owner)
    said = await run_in_threadpool(chatbot.conversations.said, found, caller.owner)
    return [_exchange(one) for one in said]


@ROUTER.get("/{conversation}/exchanges/{number}", responses=REFUSALS)
async def kept_answer(request: Request, conversation: Id, number: Number, caller: Reads) -> dict[str, Any]:
    """Returns an answer as it was given, with all that was checked; null if only its words are kept."""
    chatbot, found = await named_conversation(request, caller, conversation)
    await run_in_threadpool(kept_exchange, chatbot, found, caller.owner, number)
    answer = await run_in_threadpool(chatbot.memory.answer, found, number, caller.owner)
    opened = opened_store(request)
    return {"answer": shown_answer(opened, answer, str(request.base_url)) if answer else None}


@ROUTER.put("/{conversation}/exchanges/{number}/rating", status_code=204, responses=WITH_BODY)
async def rate(request: Request, conversation: Id, number: Number, body: RatingIn, caller: Asks) -> None:
    """Remembers whether an answer was helpful: similar questions follow it or avoid it."""
    chatbot, found = await named_conversation(request, caller, conversation)
    await run_in_threadpool(kept_exchange, chatbot, found, caller.owner, number)
    await run_in_threadpool(chatbot.rate, found, number, caller.owner, helpful=body.helpful, word=body.reason)


@ROUTER.get(
    "/{conversation}/exchanges/{number}/audit",
    response_class=Response,
    responses=REFUSALS | {200: {"content": {"text/html": TEXT}, "description": "The audit file."}},
)
async def audit(request: Request, conversation: Id, number: Number, caller: Reads) -> Response:
    """Returns an answer with all it rests on as one HTML file, for `finpolicy verify`."""
    chatbot, found = await named_conversation(request, caller, conversation)
    await run_in_threadpool(kept_exchange, chatbot, found, caller.owner, number)
    async with door_of(request).turns.of(caller.owner):
        data = await run_in_threadpool(audit_kept, chatbot, found, number, caller.owner)
    headers = {"content-disposition": f"attachment; filename=audit-{number}.html"}
    return Response(data, media_type="text/html; charset=utf-8", headers=headers)


@ROUTER.get("/{conversation}/stats", responses=REFUSALS)
async def stats(request: Request, conversation: Id, caller: Reads) -> dict[str, Any]:
    """Says how long a conversation is, what shortening it for the model has saved, and what models used."""
    chatbot, found = await named_conversation(request, caller, conversation)
    return await run_in_threadpool(_stats, chatbot, found, caller.owner)


@ROUTER.get(
    "/{conversation}/export",
    response_class=Response,
    responses=REFUSALS
    | {
        200: {
            "content": {"text/markdown": TEXT, "application/json": JSON},
            "description": "The conversation.",
        }
    },
)
async def export(
    request: Request, conversation: Id, caller: Reads, form: Literal["markdown", "json"] = "markdown"
) -> Response:
    """Returns the whole conversation as Markdown to read, or as JSON with all that was checked."""
    chatbot, found = await named_conversation(request, caller, conversation)
    async with door_of(request).turns.of(caller.owner):
        text = await run_in_threadpool(_exported, chatbot, found, caller.owner, form)
    mime = "text/markdown" if form == "markdown" else "application/json"
    return Response(text, media_type=f"{mime}; charset=utf-8")


def _stats(chatbot: Chatbot, conversation: str, owner: str) -> dict[str, Any]:
    kept_conversation(chatbot, conversation, owner)
    answers, usage = chatbot.conversations.spent(conversation, owner)
    return {
        **dataclasses.asdict(chatbot.memory.stats(conversation, owner)),
        "model_answers": answers,
        "usage": dataclasses.asdict(usage) if usage else None,
    }


def _exported(chatbot: Chatbot, conversation: str, owner: str, form: str) -> str:
    from chatbot.memory.conversations.export import export_conversation

    row = kept_conversation(chatbot, conversation, owner)
    said = chatbot.conversations.said(conversation, owner)
    answers = [chatbot.memory.answer(conversation, one.number, owner) for one in said]
    return export_conversation(row, said, answers, form)


def _out(row: ConversationRow) -> ConversationOut:
    return ConversationOut(
        id=row.name,
        title=row.title,
        begun_at=row.begun_at,
        changed_at=row.changed_at,
        exchanges=row.exchanges,
        deleted_at=row.deleted_at,
    )


def _exchange(said: StoredExchange) -> ExchangeOut:
    return ExchangeOut(
        number=said.number,
        question=said.user,
        answer=neutral_markdown(said.assistant),
        state=said.state,
        at=said.at,
    )
