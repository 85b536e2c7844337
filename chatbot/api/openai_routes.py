"""Serves OpenAI's addresses: the chatbot as a model, and the store's embedder."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator
from typing import Any

import numpy as np
from fastapi import APIRouter, Request
from fastapi.sse import EventSourceResponse
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response

from chatbot.api.caller import Asks, Caller, Reads, door_of, opened_store
from chatbot.api.chat_routes import EXTRACTIVE
from chatbot.api.host import Opened, Question
from chatbot.api.openai_replies import Completion, with_sources
from chatbot.api.openai_schemas import CompletionIn, EmbeddingsIn
from chatbot.api.problems import ProblemError, hint_of, openai_error, status_of
from chatbot.api.question_routes import begun
from chatbot.api.streaming import answer_of, finished, pieces
from chatbot.asking.question import Ask, checked
from chatbot.asking.side_by_side import OWN_WORDS
from chatbot.errors import NotFoundError, ProjectError, UsageError
from chatbot.models.tokens import count_tokens

__all__ = ["ROUTER"]

ROUTER = APIRouter(prefix="/v1", tags=["OpenAI"])
MODEL = "finpolicy"
EMBEDDER = "finpolicy-embeddings"
ERROR = {"content": {"application/json": {"schema": {"type": "object"}}}}
ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"description": "An error in OpenAI's form.", **ERROR}
    for status in (400, 401, 403, 404, 413, 422, 429, 502, 503)
}
STREAM: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}, "description": "The answer."}
}


@ROUTER.get("/models", responses=ERRORS)
async def models(request: Request, caller: Reads) -> dict[str, Any]:
    """Lists the models."""
    return {"object": "list", "data": [_model(name) for name in (MODEL, EXTRACTIVE, EMBEDDER)]}


@ROUTER.get("/models/{model}", responses=ERRORS)
async def model(request: Request, model: str, caller: Reads) -> dict[str, Any]:
    """Describes a model."""
    if model not in (MODEL, EXTRACTIVE, EMBEDDER):
        raise _unknown(model)
    return _model(model)


@ROUTER.post("/chat/completions", responses=ERRORS | STREAM)
async def complete(request: Request, body: CompletionIn, caller: Asks) -> Response:
    """Answers the last message, with the messages before it as the conversation. Nothing is kept."""
    opened = opened_store(request)
    body.check()
    question = await run_in_threadpool(_begun, opened, caller, body)
    completion = Completion(body.model, opened, str(request.base_url))
    if body.stream:
        counts = body.stream_options is not None and body.stream_options.include_usage
        return EventSourceResponse(_events(request, question, completion, counts=counts))
    return JSONResponse(completion.whole(await finished(request, question)))


@ROUTER.post("/embeddings", responses=ERRORS)
async def embeddings(request: Request, body: EmbeddingsIn, caller: Reads) -> dict[str, Any]:
    """Makes the vectors that the store's pages have, of other texts."""
    embedder = opened_store(request).chatbot.library.embedder
    if body.model != EMBEDDER:
        raise _unknown(body.model)
    if body.dimensions not in (None, embedder.dimension):
        raise UsageError(
            f"dimensions is {body.dimensions}.", hint=f"Remove it: vectors have {embedder.dimension}."
        )
    texts = body.texts
    async with door_of(request).turns.of(caller.owner):
        vectors = await run_in_threadpool(embedder.embed, texts)
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


def _begun(opened: Opened, caller: Caller, body: CompletionIn) -> Question:
    ask = Ask(
        checked(body.question),
        history=body.history,
        owner=caller.owner,
        model=_named(opened, body.model),
    )
    return begun(opened, ask)


def _named(opened: Opened, name: str) -> str:
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
    request: Request, question: Question, completion: Completion, *, counts: bool
) -> AsyncIterator[bytes]:
    yield _event(completion.event({"role": "assistant", "content": ""}))
    sent = ""
    async for piece in pieces(request, question):
        if piece.text:
            # What was sent cannot be taken back.
            break_before = "\n\n" if piece.replaces and sent else ""
            text = f"{break_before}{piece.text}"
            sent += text
            yield _event(completion.event({"content": text}))
    try:
        answer = answer_of(question)
    except ProblemError as error:
        yield _event(openai_error(error.status, error.detail, error.hint))
    except ProjectError as error:
        yield _event(openai_error(status_of(error), error.message, hint_of(error)))
    else:
        whole = with_sources(answer, sent)
        if len(whole) > len(sent):
            yield _event(completion.event({"content": whole[len(sent) :]}))
        yield _event(completion.last(answer, whole))
        if counts:
            yield _event(completion.counted(answer))
    yield b"data: [DONE]\n\n"


def _event(data: object) -> bytes:
    return f"data: {json.dumps(data)}\n\n".encode()
