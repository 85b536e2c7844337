"""Serves questions and searches."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator

from fastapi import APIRouter, Request
from fastapi.sse import EventSourceResponse
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response

from chatbot.api.answer_lines import shown_answer
from chatbot.api.caller import Asks, Caller, Reads, door_of, opened_store
from chatbot.api.host import Opened, Question
from chatbot.api.named_conversations import check_not_deleted
from chatbot.api.problems import ProblemError, declared, hint_of, status_of
from chatbot.api.schemas import AnswerOut, AskIn, SearchIn, SearchOut
from chatbot.api.streaming import answer_of, finished, pieces
from chatbot.asking.question import Ask, checked
from chatbot.errors import NotFoundError, ProjectError
from chatbot.memory.conversations.conversation_names import id_of
from chatbot.search.page_search import Find
from chatbot.serialize import hit_line, neutral_markdown

__all__ = ["ROUTER", "begun", "started"]

ROUTER = APIRouter(prefix="/api/v1", tags=["questions"])


@ROUTER.post("/search", responses=declared(404, body=True))
async def search(request: Request, body: SearchIn, caller: Reads) -> SearchOut:
    """Finds the pages for a query."""
    chatbot = opened_store(request).chatbot
    find = Find(body.query, tuple(body.documents), body.mode, body.k, strategy=body.strategy)
    async with door_of(request).turns.of(caller.owner):
        hits = await run_in_threadpool(chatbot.find, find)
    return SearchOut.model_validate({"hits": [hit_line(rank, hit) for rank, hit in enumerate(hits, 1)]})


@ROUTER.post(
    "/ask",
    response_model=AnswerOut,
    responses=declared(404, 502, body=True)
    | {200: {"content": {"text/event-stream": {"schema": {}}}, "description": "The answer."}},
)
async def ask(request: Request, body: AskIn, caller: Asks) -> Response:
    """Answers a question.

    With `stream`, the events are `token` ({"text"}), `stage` ({"stage"}, and
    "detail" where a model looks further), and last `answer` or `problem`.
    A `token` event with "replace": true takes the place of all before it: such a one comes last if the check
    has changed what was sent. Where a model reads the answer back, `answer` comes at once, and `marks`, the
    same answer with the marks of the reading, last.
    """
    opened = opened_store(request)
    question = await started(opened, caller, body)
    if body.stream:
        return EventSourceResponse(_events(request, opened, question))
    return JSONResponse(shown_answer(opened, await finished(request, question), str(request.base_url)))


async def started(opened: Opened, caller: Caller, body: AskIn) -> Question:
    """Begins to answer. Raises ProjectError for a question that cannot be asked."""
    conversation = body.conversation and await run_in_threadpool(
        id_of, opened.chatbot.conversations, caller.owner, body.conversation
    )
    wanted = Ask(
        checked(body.question),
        tuple(body.documents),
        conversation,
        owner=caller.owner,
        model=body.model or "",
        tools=body.tools,
        compression=body.compression,
        strategy=body.strategy or "",
        verify=body.verify,
    )
    return await run_in_threadpool(begun, opened, wanted)


def begun(opened: Opened, ask: Ask) -> Question:
    """Begins to answer. Raises ProjectError for a question that cannot be asked.

    A document or a model that is not there is an error now, not in the middle of a stream.
    """
    opened.asked.admit(ask.owner)
    opened.chatbot.library.scope(ask.names)
    opened.chatbot.side_by_side.asker(ask.model)
    if ask.conversation:
        conversations = opened.chatbot.conversations
        try:
            conversations.begin(ask.owner, ask.conversation)
        except NotFoundError:
            check_not_deleted(conversations.get(ask.conversation, ask.owner))
            raise
    return opened.asked.ask(ask)


async def _events(request: Request, opened: Opened, question: Question) -> AsyncIterator[bytes]:
    sent = ""
    given = False
    async for piece in pieces(request, question):
        if piece.stage:
            detail = {"detail": piece.detail} if piece.detail else {}
            yield _event("stage", {"stage": piece.stage, **detail})
        elif piece.complete:
            given = True
            for event in _answer_events(request, opened, question, sent):
                yield event
        elif piece.replaces:
            sent = piece.text
            yield _event("token", {"text": sent, "replace": True})
        else:
            sent += piece.text
            yield _event("token", {"text": piece.text})
    try:
        if not given:
            for event in _answer_events(request, opened, question, sent):
                yield event
        answer = answer_of(question)
        if given or answer.reading is not None:
            yield _event("marks", shown_answer(opened, answer, str(request.base_url)))
    except ProblemError as error:
        yield _event("problem", {"status": error.status, "detail": error.detail, "hint": error.hint})
    except ProjectError as error:
        yield _event("problem", {"status": status_of(error), "detail": error.message, "hint": hint_of(error)})


def _answer_events(request: Request, opened: Opened, question: Question, sent: str) -> Iterator[bytes]:
    """The complete answer. sent: the text that was sent. Raises what it failed with."""
    answer = answer_of(question)
    whole = neutral_markdown(answer.text)
    if whole != sent:  # the check has changed it
        yield _event("token", {"text": whole, "replace": True})
    yield _event("answer", shown_answer(opened, answer, str(request.base_url)))


def _event(name: str, data: object) -> bytes:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n".encode()
