"""Serves questions and searches."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

from fastapi import APIRouter, Request
from fastapi.sse import EventSourceResponse
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response

from chatbot.api.answer_lines import shown_answer
from chatbot.api.caller import Asks, Caller, Reads, Store, TheChatbot, Turn
from chatbot.api.conversation_routes import check_not_deleted
from chatbot.api.problems import ProblemError, declared, problem_of
from chatbot.api.schemas import AnswerOut, AskIn, SearchIn, SearchOut
from chatbot.api.streaming import EVENTS, answer_of, finished, pieces, sse
from chatbot.app.app_context import AppContext
from chatbot.app.running_questions import Asking
from chatbot.asking.question import Ask, checked
from chatbot.errors import NotFoundError, ProjectError
from chatbot.memory.conversations.conversation_names import id_of
from chatbot.search.page_search import Find
from chatbot.serialize import hit_line, neutral_markdown

__all__ = ["ROUTER", "begun", "started"]

ROUTER = APIRouter(prefix="/api/v1", tags=["questions"])


@ROUTER.post("/search", responses=declared(404, body=True))
def search(body: SearchIn, caller: Reads, chatbot: TheChatbot, turn: Turn) -> SearchOut:
    """Finds the pages for a query."""
    hits = chatbot.find(Find(body.query, tuple(body.documents), body.mode, body.k, strategy=body.strategy))
    return SearchOut.model_validate({"hits": [hit_line(rank, hit) for rank, hit in enumerate(hits, 1)]})


@ROUTER.post(
    "/ask",
    response_model=AnswerOut,
    responses=declared(404, 502, body=True) | {200: {**EVENTS, "description": "The answer."}},
)
async def ask(request: Request, body: AskIn, caller: Asks, opened: Store) -> Response:
    """Answers a question.

    With `stream`, the events are `token` ({"text"}), `stage` ({"stage"}, and
    "detail" where a model looks further), and last `answer` or `problem`.
    A `token` event with "replace": true takes the place of all before it: such a one comes last if the check
    has changed what was sent. Where a model reads the answer back, `answer` comes at once, and `marks`, the
    same answer with the marks of the reading, last.
    """
    question = await run_in_threadpool(started, opened, caller, body)
    if body.stream:
        return EventSourceResponse(_events(request, opened, question))
    return JSONResponse(shown_answer(opened, await finished(request, question), str(request.base_url)))


def started(opened: AppContext, caller: Caller, body: AskIn) -> Asking:
    """Begins to answer. Raises ProjectError for a question that cannot be asked."""
    conversation = body.conversation and id_of(opened.chatbot.conversations, caller.owner, body.conversation)
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
    return begun(opened, wanted)


def begun(opened: AppContext, ask: Ask) -> Asking:
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


async def _events(request: Request, opened: AppContext, question: Asking) -> AsyncIterator[bytes]:
    sent = ""
    given = False
    async for piece in pieces(request, question):
        if piece.stage:
            detail = {"detail": piece.detail} if piece.detail else {}
            yield sse({"stage": piece.stage, **detail}, "stage")
        elif piece.complete:
            given = True
            for event in _answer_events(request, opened, question, sent):
                yield event
        elif piece.replaces:
            sent = piece.text
            yield sse({"text": sent, "replace": True}, "token")
        else:
            sent += piece.text
            yield sse({"text": piece.text}, "token")
    try:
        if not given:
            for event in _answer_events(request, opened, question, sent):
                yield event
        answer = answer_of(question)
        if given or answer.reading is not None:
            yield sse(shown_answer(opened, answer, str(request.base_url)), "marks")
    except (ProblemError, ProjectError) as error:
        problem = problem_of(error)
        told = {"status": problem.status_code, "detail": problem.detail, "hint": problem.hint}
        yield sse(told, "problem")


def _answer_events(request: Request, opened: AppContext, question: Asking, sent: str) -> Iterator[bytes]:
    """The complete answer. sent: the text that was sent. Raises what it failed with."""
    answer = answer_of(question)
    whole = neutral_markdown(answer.text)
    if whole != sent:  # the check has changed it
        yield sse({"text": whole, "replace": True}, "token")
    yield sse(shown_answer(opened, answer, str(request.base_url)), "answer")
