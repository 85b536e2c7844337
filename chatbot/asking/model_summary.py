"""Has a chat model read a whole document in steps, as many as its context asks for, and sum it up.

Each step's sentences are checked, and none that is doubted reaches the next.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace

from chatbot.answer.prompt import Request, build_prompt
from chatbot.answer.source_text import source_text
from chatbot.asking.answering import Answering, PromptedQuestion
from chatbot.asking.whole_document import DocumentPages
from chatbot.models.chat import LLM
from chatbot.models.tokens import count_tokens
from chatbot.records import DOUBTFUL, Answer, Event, Hit, Notice, Prompt, Stage, Understanding, Usage
from chatbot.search.page_search import Finder

__all__ = ["MOST_STEPS", "ModelSummary", "SummaryRequest"]

# A document that needs more is read in part: pages at even distances, and those that begin its sections.
MOST_STEPS = 12
# Tokens of a prompt beside its sources: rules, example, question and form.
OTHER_TOKENS = 700
# Of a page: more is cut. Few pages have more.
MOST_PAGE_TOKENS = 1_500
# Sentences that a step may bring.
POINTS = 6
STEP = (
    "Which are the main points of these pages? They are part of a longer document. Write at most {points} "
    "sentences, each about one point, with its figures and years. They will help to answer: {question}"
)
STOPPED = "You stopped after {done} of {total} steps. This covers what had been read."
IN_PART = "The document has {pages} pages. A sample of {read}, spread evenly, was read."
NO_POINTS = (
    "None of the model's notes from {steps} steps were found on the pages. This answer uses the best "
    "pages for the question instead. The tokens of those steps are not counted."
)
FAILED_STEP = "A step failed, so its pages are missing: {why}"
_KEY = re.compile(r"\s?\[[^\[\]]{1,80}\]")


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """What is asked of a whole document.

    question: as asked.
    room: tokens that a prompt may take.
    cost: gets what the model used and returns what it costs, None without prices.
    """

    question: str
    room: int
    cost: Callable[[Usage], float | None]


class ModelSummary:
    """Reads documents with a chat model. Safe to use from several threads."""

    def __init__(self, finder: Finder, answering: Answering) -> None:
        self._finder, self._answering = finder, answering

    def events(
        self, request: SummaryRequest, document: DocumentPages, model: LLM, stop: Callable[[], bool]
    ) -> Generator[Event, None, Answer | None]:
        """The answer, with a stage for each step on the way; None if no step brought anything.

        Stopped, it gives what the steps before brought. A step that fails is left out, and said.
        """
        hits = self._finder.pages_of(document.version, document.name, document.pages)
        batches = list(_batches(hits, request.room - OTHER_TOKENS))
        if len(batches) > MOST_STEPS:
            hits = list(_evenly(hits, len(hits) * MOST_STEPS // len(batches)))
            batches = list(_batches(hits, request.room - OTHER_TOKENS))[:MOST_STEPS]
            read = sum(map(len, batches))
            yield Notice(IN_PART.format(pages=document.count, read=read))
        if len(batches) < 2:
            return (yield from self._final(request, hits, hits, model, stop))
        points: list[tuple[Hit, str]] = []
        used: Usage | None = None
        for done, batch in enumerate(batches):
            if stop():
                break
            yield Stage("steps", done, len(batches))
            question = STEP.format(points=POINTS, question=request.question)
            step = self._asked(replace(request, question=question), batch, batch)
            answer = _step_answer(self._answering.answer(step, model, stop))
            if answer.error:
                yield Notice(FAILED_STEP.format(why=answer.error))
                continue
            used = used.plus(answer.usage) if used else answer.usage
            points += self._points(answer, batch)
        if not points:
            yield Notice(NO_POINTS.format(steps=len(batches)))
            return None
        if stop():
            yield Notice(STOPPED.format(done=done, total=len(batches)))
            return self._listed(request, points, model, used)
        yield Stage("steps", len(batches), len(batches))
        noted, pages = _as_sources(points)
        answer = yield from self._final(request, noted, pages, model, stop)
        return replace(answer, usage=used.plus(answer.usage) if used else answer.usage)

    def _final(
        self,
        request: SummaryRequest,
        shown: Sequence[Hit],
        pages: Sequence[Hit],
        model: LLM,
        stop: Callable[[], bool],
    ) -> Generator[Event, None, Answer]:
        """The answer from sources. shown: as the prompt has them; pages: as they are checked."""
        return (yield from self._answering.answer(self._asked(request, shown, pages), model, stop))

    def _asked(self, request: SummaryRequest, shown: Sequence[Hit], pages: Sequence[Hit]) -> PromptedQuestion:
        def prompt_of(room: int) -> Prompt:
            nonce = secrets.token_hex(3)
            today = time.strftime("%Y-%m-%d")
            question = request.question
            made = build_prompt(Request(question, question, shown, (), (), nonce, room, today=today))
            return replace(made, sources=dict(zip(made.sources, pages, strict=True)))

        prompt = prompt_of(request.room)
        understanding = Understanding(request.question, request.question, "summary")
        return PromptedQuestion(
            prompt,
            understanding,
            None,
            "",
            lambda _: True,
            sent=prompt,
            shorter=lambda: prompt_of(request.room // 2),
            cost=request.cost,
        )

    def _points(self, answer: Answer, batch: Sequence[Hit]) -> Iterator[tuple[Hit, str]]:
        """The statements of a step that nothing speaks against, each with the first of the pages it cites."""
        prompt = answer.prompt
        assert prompt is not None
        by_key = dict(zip((key.partition("-")[0] for key in prompt.sources), batch, strict=True))
        for statement in answer.statements:
            cited = re.findall(r"S\d+", " ".join(_KEY.findall(statement.text)))
            text = " ".join(_KEY.sub("", statement.text).split())
            if not text or not by_key.keys() >= set(cited) or not cited:
                continue
            if statement.mark not in DOUBTFUL:
                yield by_key[cited[0]], text

    def _listed(
        self, request: SummaryRequest, points: Sequence[tuple[Hit, str]], model: LLM, used: Usage | None
    ) -> Answer:
        """What the steps brought, as a list, checked anew."""
        noted, pages = _as_sources(points)
        prompt = self._asked(request, noted, pages).prompt
        keys = {id(hit): key for key, hit in prompt.sources.items()}
        places = {(hit.version, hit.page): keys[id(hit)] for hit in pages}
        lines = [f"• {text} [{places[hit.version, hit.page]}]" for hit, text in points]
        answer = self._answering.checked(prompt, "\n".join(lines), model.name)
        return replace(answer, sent_to=(model.name, model.host), usage=used)


def _step_answer(events: Generator[Event, None, Answer]) -> Answer:
    """The answer of a step. What it says on the way is not shown: only the whole answer is the reader's."""
    while True:
        try:
            next(events)
        except StopIteration as end:
            answer: Answer = end.value
            return answer


def _batches(hits: Sequence[Hit], room: int) -> Iterator[list[Hit]]:
    """The pages in order, as many at a time as have room."""
    batch: list[Hit] = []
    left = room
    for hit in hits:
        size = min(count_tokens(source_text(hit)), MOST_PAGE_TOKENS) + 40
        if batch and size > left:
            yield batch
            batch, left = [], room
        batch.append(hit)
        left -= size
    if batch:
        yield batch


def _evenly(hits: Sequence[Hit], count: int) -> Iterator[Hit]:
    """So many of the pages, at even distances."""
    for at in range(min(count, len(hits))):
        yield hits[at * len(hits) // count]


def _as_sources(points: Sequence[tuple[Hit, str]]) -> tuple[list[Hit], list[Hit]]:
    """(the pages with what was noted of them in the place of their text, the pages themselves)."""
    notes: dict[tuple[int, int], list[str]] = {}
    pages: dict[tuple[int, int], Hit] = {}
    for hit, text in points:
        place = hit.version, hit.page
        pages[place] = hit
        notes.setdefault(place, []).append(text)
    noted = []
    for place, hit in pages.items():
        text = "\n".join(notes[place])
        noted.append(replace(hit, text=text, page_text=text, body=text, tables=()))
    return noted, list(pages.values())
