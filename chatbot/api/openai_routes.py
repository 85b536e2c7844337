"""Serves OpenAI's addresses: the chatbot as a model, and the store's embedder."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from fastapi import APIRouter, Request
from fastapi.sse import EventSourceResponse
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response

from chatbot.api.caller import Asks, Caller, Reads, Store, Turn
from chatbot.api.chat_routes import EXTRACTIVE
from chatbot.api.openai_replies import Completion, ModelResponse, with_sources
from chatbot.api.openai_schemas import CompletionIn, EmbeddingsIn, ResponseIn, TalkIn
from chatbot.api.problems import ProblemError, openai_error, problem_of
from chatbot.api.question_routes import begun
from chatbot.api.streaming import EVENTS, answer_of, finished, pieces, run_stoppable
from chatbot.app.app_context import AppContext
from chatbot.app.running_questions import Asking
from chatbot.asking.named_models import OWN_WORDS
from chatbot.asking.question import Ask, checked
from chatbot.asking.schema_answers import in_schema
from chatbot.errors import NotFoundError, ProjectError, UsageError
from chatbot.models.tokens import count_tokens
from chatbot.records import Answer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chatbot.models.embedders import Embedder

__all__ = ["ROUTER"]

MODEL = "finpolicy"
EMBEDDER = "finpolicy-embeddings"
# Texts between two looks whether the client is still there.
EMBEDDED_AT_ONCE = 32
ERROR = {"content": {"application/json": {"schema": {"type": "object"}}}}
ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"description": "An error in OpenAI's form.", **ERROR}
    for status in (400, 401, 403, 404, 413, 422, 429, 502, 503)
}
ROUTER = APIRouter(prefix="/v1", tags=["OpenAI"], responses=ERRORS)
STREAM: dict[int | str, dict[str, Any]] = {200: {**EVENTS, "description": "The answer."}}


Reply = Completion | ModelResponse


class Shaped(Protocol):
    """Makes the text of a reply of an answer, and of what was sent of it."""

    async def __call__(self, answer: Answer, sent: str = "") -> str: ...


@ROUTER.get("/models")
async def models(caller: Reads) -> dict[str, Any]:
    """Lists the models."""
    return {"object": "list", "data": [_model(name) for name in (MODEL, EXTRACTIVE, EMBEDDER)]}


@ROUTER.get("/models/{model}")
async def model(model: str, caller: Reads) -> dict[str, Any]:
    """Describes a model."""
    if model not in (MODEL, EXTRACTIVE, EMBEDDER):
        raise _unknown(model)
    return _model(model)


@ROUTER.post("/chat/completions", responses=STREAM)
async def complete(request: Request, body: CompletionIn, caller: Asks, opened: Store) -> Response:
    """Answers the last message, with the messages before it as the conversation. Nothing is kept."""
    counts = body.stream_options.include_usage
    reply = Completion(body.model, opened, str(request.base_url), counts=counts)
    return await _replied(request, caller, body, reply)


@ROUTER.post("/responses", responses=STREAM)
async def respond(request: Request, body: ResponseIn, caller: Asks, opened: Store) -> Response:
    """Answers the input, or its last message. Nothing is kept."""
    reply = ModelResponse(body.model, opened, str(request.base_url))
    return await _replied(request, caller, body, reply)


@ROUTER.post("/completions")
async def continued(caller: Asks) -> Response:
    """Is refused: no text is continued here, questions are answered."""
    raise UsageError(
        "Texts are not continued here: questions are answered.",
        hint="Use /v1/chat/completions; with LlamaIndex, OpenAILike(is_chat_model=True).",
    )


@ROUTER.post("/embeddings")
async def embeddings(
    request: Request, body: EmbeddingsIn, caller: Reads, opened: Store, turn: Turn
) -> dict[str, Any]:
    """Makes the vectors that the store's pages have, of other texts."""
    embedder = opened.chatbot.library.embedder
    if body.model != EMBEDDER:
        raise _unknown(body.model)
    if body.dimensions not in (0, embedder.dimension):
        raise UsageError(
            f"dimensions is {body.dimensions}.", hint=f"Remove it: vectors have {embedder.dimension}."
        )
    texts = body.texts
    vectors = await run_stoppable(request, _embedded, embedder, texts)
    rows = []
    for index, vector in enumerate(vectors):
        if body.encoding_format == "base64":
            written: Any = base64.b64encode(vector.astype("<f4").tobytes()).decode()
        else:
            written = vector.astype(np.float64).tolist()
        rows.append({"object": "embedding", "index": index, "embedding": written})
    tokens = sum(map(count_tokens, texts))
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return {"object": "list", "data": rows, "model": body.model, "usage": usage}


def _embedded(embedder: Embedder, texts: list[str], *, stop: Callable[[], bool]) -> list[NDArray[np.float32]]:
    """Returns the vectors of texts, or of the first of them if nobody waits any more."""
    vectors: list[NDArray[np.float32]] = []
    while len(vectors) < len(texts) and not stop():
        vectors.extend(embedder.embed(texts[len(vectors) :][:EMBEDDED_AT_ONCE]))
    return vectors


async def _replied(request: Request, caller: Caller, body: TalkIn, reply: Reply) -> Response:
    body.check()
    opened = reply.opened
    schema, model = body.schema_wanted, _named(opened, body.model)
    ask = Ask(checked(body.question), history=body.history, owner=caller.owner, model=model)
    question = await run_in_threadpool(begun, opened, ask)

    async def shaped(answer: Answer, sent: str = "") -> str:
        """The text of an answer with its sources, or what follows the schema."""
        if schema is None:
            return with_sources(answer, sent)
        return await run_stoppable(request, _shaped, opened, ask, answer, schema)

    if body.stream:
        return EventSourceResponse(_events(request, question, reply, shaped, whole=schema is not None))
    answer = await finished(request, question)
    return JSONResponse(reply.whole(answer, await shaped(answer)))


def _shaped(
    opened: AppContext, ask: Ask, answer: Answer, schema: dict[str, Any], *, stop: Callable[[], bool]
) -> str:
    models = opened.chatbot.side_by_side.asker(ask.model).models
    most = models.answer_tokens(ask.owner)
    return in_schema(answer, schema, models.answering(ask.owner), max_tokens=most, stop=stop)


def _named(opened: AppContext, name: str) -> str:
    """A model as Ask.model has it. Raises NotFoundError for one that nobody serves."""
    if name == MODEL:
        return ""
    if name == EXTRACTIVE:
        return OWN_WORDS
    if ":" not in name and name != opened.settings.chat_model:
        raise _unknown(name)
    return name


def _unknown(name: str) -> NotFoundError:
    return NotFoundError(
        f"There is no model {name[:80]!r}.",
        hint=f"Use {MODEL}, {EXTRACTIVE}, PROVIDER:MODEL, or {EMBEDDER} for vectors.",
    )


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "finpolicy"}


async def _events(
    request: Request, question: Asking, reply: Reply, shaped: Shaped, *, whole: bool
) -> AsyncIterator[bytes]:
    """Yields the events of a reply. whole: its text comes at the end, in one piece."""
    for event in reply.begin():
        yield event
    sent = ""
    async for piece in pieces(request, question):
        if piece.text and not whole:
            # What was sent cannot be taken back.
            break_before = "\n\n" if piece.replaces and sent else ""
            text = f"{break_before}{piece.text}"
            sent += text
            yield reply.piece(text)
    try:
        answer = answer_of(question)
        content = await shaped(answer, sent)
        if len(content) > len(sent):
            yield reply.piece(content[len(sent) :])
        last = reply.end(answer, content)
    except (ProblemError, ProjectError) as error:
        last = reply.failed(openai_error(problem_of(error)))
    for event in last:
        yield event
