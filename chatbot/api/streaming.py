"""Follows an answer while it is written, for clients that read it piece by piece."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from fastapi import Request
from starlette.concurrency import run_in_threadpool

from chatbot.answer.citations.citation_keys import KEY
from chatbot.api.problems import ProblemError
from chatbot.app.running_questions import Asking
from chatbot.records import Answer
from chatbot.serialize import neutral_markdown

__all__ = ["EVENTS", "AnswerPiece", "answer_of", "finished", "news", "pieces", "run_stoppable", "sse"]

Found = TypeVar("Found")

# How a stream of events is declared.
EVENTS: dict[str, Any] = {"content": {"text/event-stream": {"schema": {}}}}

# The end of a text that may go on as a citation key, which is sent whole and as the complete answer shows it.
UNFINISHED = re.compile(r"\[[^\]\n]{0,60}$")
# What a chat model writes for a source while it answers.
NUMBERS = re.compile(r"\[(\d{1,3}(?:[,;] ?\d{1,3}){0,20})\]")
NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class AnswerPiece:
    """What has come of an answer.

    text: Markdown that follows the text before; if `replaces`, it takes the place of all text before.
    stage: the stage that was reached. detail: what is done in it, in words; "" where the stage says it all.
    complete: whether the answer is complete, and may still be read back.
    """

    text: str = ""
    replaces: bool = False
    stage: str = ""
    detail: str = ""
    complete: bool = False


def sse(data: object, name: str = "") -> bytes:
    """Returns a server-sent event."""
    named = f"event: {name}\n" if name else ""
    return f"{named}data: {json.dumps(data)}\n\n".encode()


async def news(
    question: Asking, client: Request | None = None, *, at_end: bool = False
) -> AsyncIterator[None]:
    """Yields whenever there is news of an answer, and once it is finished; stops it if nobody reads on.

    client: who asked, whose end stops it; None where a call is cancelled then.
    at_end: only once it is finished.
    """
    loop = asyncio.get_running_loop()
    changed = asyncio.Event()
    question.on_news(lambda: None if at_end and not question.finished else _tell(loop, changed))
    gone = None if client is None else asyncio.create_task(_gone(client))
    if gone is not None:
        gone.add_done_callback(lambda _: changed.set())
    try:
        while not question.finished:
            await changed.wait()
            changed.clear()
            if gone is not None and gone.done():
                break
            yield
        yield
    finally:
        if gone is not None:
            gone.cancel()
        if not question.finished:
            question.stop()


async def finished(request: Request, question: Asking) -> Answer:
    """Waits for the answer. A client that goes stops the work. Raises ProjectError and ProblemError."""
    async for _ in news(question, request, at_end=True):
        pass
    return answer_of(question)


async def pieces(request: Request, question: Asking) -> AsyncIterator[AnswerPiece]:
    """Yields what comes of an answer, until it is finished. A client that goes stops the work."""
    sent = ""
    stage = ("", "")
    told = False
    async for _ in news(question, request):
        reached = question.stage.name, question.stage.detail
        if reached != stage and not question.finished:
            stage = reached
            yield AnswerPiece(stage=stage[0], detail=stage[1])
        complete = question.answer is not None
        text = neutral_markdown(_shown(question.text, whole=question.finished or complete))
        if text != sent:
            goes_on = text.startswith(sent)
            yield AnswerPiece(text[len(sent) :] if goes_on else text, replaces=not goes_on)
            sent = text
        if complete and not told and not question.finished:
            told = True
            yield AnswerPiece(complete=True)


async def run_stoppable(request: Request, function: Callable[..., Found], *arguments: Any) -> Found:
    """Runs a function in a thread. It gets a keyword `stop`, which turns true when the client goes."""
    stop = threading.Event()
    gone = asyncio.create_task(_gone(request))
    gone.add_done_callback(lambda _: stop.set())
    try:
        return await run_in_threadpool(function, *arguments, stop=stop.is_set)
    finally:
        gone.cancel()
        stop.set()


def answer_of(question: Asking) -> Answer:
    """Returns the answer of a finished question. Raises what it failed with."""
    if question.error is not None:
        raise question.error
    if question.answer is None:
        raise ProblemError(503, "The answer was stopped.", hint="Ask again.")
    return question.answer


async def _gone(client: Request) -> None:
    """Returns when the client has gone."""
    while (await client.receive())["type"] != "http.disconnect":
        pass


def _tell(loop: asyncio.AbstractEventLoop, changed: asyncio.Event) -> None:
    with suppress(RuntimeError):  # the server is being stopped
        loop.call_soon_threadsafe(changed.set)


def _shown(text: str, *, whole: bool) -> str:
    """Returns the text with its keys as the complete answer has them: [1] of a chat model is [S1]."""
    if not whole:
        text = UNFINISHED.sub("", text)
    if KEY.search(text):
        return KEY.sub(lambda key: key[0].partition("-")[0], text)
    return NUMBERS.sub(lambda found: NUMBER.sub(r"S\g<0>", found[0]), text)
