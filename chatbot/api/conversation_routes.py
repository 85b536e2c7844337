"""Serves conversations: their exchanges, ratings, audit files and statistics."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query, Request
from starlette.responses import Response

from chatbot.api.answer_lines import shown_answer
from chatbot.api.caller import Asks, Reads, Store, TheChatbot, Turn, caller_of, opened_store
from chatbot.api.problems import declared
from chatbot.api.schemas import ConversationIn, ConversationOut, ExchangeOut, RatingIn
from chatbot.audit.builder import audit_kept
from chatbot.errors import NotFoundError
from chatbot.memory.conversations.conversation_names import NAME, id_of
from chatbot.memory.conversations.conversation_store import ConversationRow
from chatbot.serialize import neutral_markdown
from chatbot.service import Chatbot

__all__ = ["ROUTER", "check_not_deleted"]

ROUTER = APIRouter(prefix="/api/v1/conversations", tags=["conversations"])
REFUSALS = declared(404)
WITH_BODY = declared(404, body=True)
TEXT, JSON = {"schema": {"type": "string"}}, {"schema": {"type": "object"}}
Id = Annotated[str, Path(pattern=NAME, description="Up to 64 letters, digits, - and _.")]
Number = Annotated[int, Path(ge=1, le=2**53)]


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


@ROUTER.get("")
def conversations(
    caller: Reads,
    chatbot: TheChatbot,
    search: Annotated[str, Query(max_length=1_000)] = "",
    deleted: bool = False,
) -> list[ConversationOut]:
    """Lists the caller's conversations, the one that changed last first."""
    return list(map(_out, chatbot.conversations.listed(caller.owner, search=search, deleted=deleted)))


@ROUTER.get("/{conversation}", responses=REFUSALS)
def conversation(caller: Reads, named: Named) -> ConversationOut:
    """Describes a conversation."""
    return _out(named.row())


@ROUTER.patch("/{conversation}", responses=WITH_BODY)
def rename(body: ConversationIn, caller: Asks, named: Named) -> ConversationOut:
    """Renames a conversation; an empty title brings back its first question."""
    named.chatbot.conversations.rename(named.id, named.owner, body.title)
    return _out(named.row())


@ROUTER.delete("/{conversation}", status_code=204, responses=REFUSALS)
def delete(caller: Asks, named: Named) -> None:
    """Hides a conversation for 7 days, after which it is erased."""
    named.chatbot.conversations.delete(named.id, named.owner)


@ROUTER.post("/{conversation}/restore", responses=REFUSALS)
def restore(caller: Asks, named: Named) -> ConversationOut:
    """Brings a deleted conversation back."""
    named.chatbot.conversations.restore(named.id, named.owner)
    return _out(named.row())


@ROUTER.get("/{conversation}/exchanges", responses=REFUSALS)
def exchanges(caller: Reads, named: Named) -> list[ExchangeOut]:
    """Lists the questions of a conversation with their answers, the oldest first."""
    named.kept()
    return [
        ExchangeOut(
            number=said.number,
            question=said.user,
            answer=neutral_markdown(said.assistant),
            state=said.state,
            at=said.at,
        )
        for said in named.chatbot.conversations.said(named.id, named.owner)
    ]


@ROUTER.get("/{conversation}/exchanges/{number}", responses=REFUSALS)
def kept_answer(
    request: Request, caller: Reads, opened: Store, named: Named, number: Number
) -> dict[str, Any]:
    """Returns an answer as it was given, with all that was checked; null if only its words are kept."""
    named.check_exchange(number)
    answer = named.chatbot.memory.answer(named.id, number, named.owner)
    return {"answer": answer and shown_answer(opened, answer, str(request.base_url))}


@ROUTER.put("/{conversation}/exchanges/{number}/rating", status_code=204, responses=WITH_BODY)
def rate(body: RatingIn, caller: Asks, named: Named, number: Number) -> None:
    """Remembers whether an answer was helpful: similar questions follow it or avoid it."""
    named.check_exchange(number)
    named.chatbot.rate(named.id, number, named.owner, helpful=body.helpful, word=body.reason)


@ROUTER.get(
    "/{conversation}/exchanges/{number}/audit",
    response_class=Response,
    responses=REFUSALS | {200: {"content": {"text/html": TEXT}, "description": "The audit file."}},
)
def audit(caller: Reads, named: Named, number: Number, turn: Turn) -> Response:
    """Returns an answer with all it rests on as one HTML file, for `finpolicy verify`."""
    named.check_exchange(number)
    data = audit_kept(named.chatbot, named.id, number, named.owner)
    headers = {"content-disposition": f"attachment; filename=audit-{number}.html"}
    return Response(data, media_type="text/html; charset=utf-8", headers=headers)


@ROUTER.get("/{conversation}/stats", responses=REFUSALS)
def stats(caller: Reads, named: Named) -> dict[str, Any]:
    """Says how long a conversation is, what shortening it for the model has saved, and what models used."""
    named.kept()
    answers, usage = named.chatbot.conversations.spent(named.id, named.owner)
    told = asdict(named.chatbot.memory.stats(named.id, named.owner))
    return {**told, "model_answers": answers, "usage": usage and asdict(usage)}


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
def export(
    caller: Reads, named: Named, turn: Turn, form: Literal["markdown", "json"] = "markdown"
) -> Response:
    """Returns the whole conversation as Markdown to read, or as JSON with all that was checked."""
    from chatbot.memory.conversations.export import export_conversation

    row = named.kept()
    said = named.chatbot.conversations.said(named.id, named.owner)
    answers = [named.chatbot.memory.answer(named.id, one.number, named.owner) for one in said]
    mime = "text/markdown" if form == "markdown" else "application/json"
    text = export_conversation(row, said, answers, form)
    return Response(text, media_type=f"{mime}; charset=utf-8")


def _out(row: ConversationRow) -> ConversationOut:
    return ConversationOut.model_validate({**asdict(row), "id": row.name})
