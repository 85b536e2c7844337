"""Looks in the background for example questions that fit what is in the store."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

import streamlit as st

from chatbot.asking.question import Ask
from chatbot.asking.whole_document import WHICH
from chatbot.errors import ProjectError
from chatbot.records import GUIDE, Answer, DocumentRow
from chatbot.search.sample_questions import (
    CalledDocument,
    Example,
    figure_candidates,
    named,
    row_candidates,
    shared_question,
    spoken_candidates,
    spoken_of,
    summary_candidates,
)
from chatbot.service import Chatbot
from chatbot.ui import session
from chatbot.ui.safe_text import plain_markdown

__all__ = [
    "ANY_QUESTIONS",
    "SAMPLE_QUESTIONS",
    "ExampleQuestions",
    "draw_examples",
    "known_questions",
    "only_samples",
    "suggested",
    "wait_for_examples",
]

log = logging.getLogger(__name__)

WANTED = 5
# Documents that questions are taken from, the newest, and questions of one kind that are tried of each.
MOST_DOCUMENTS, MOST_TRIED = 8, 3
# Choices of documents whose questions are kept.
MOST_KEPT = 16
# Asks for them, so that nobody's own model answers.
NOBODY = "examples"
# Passages of a document that are searched for what it speaks of: some twenty pages.
MOST_PASSAGES = 60
SAMPLE_QUESTIONS = (
    "What is the contingency reserve set at for 2025-26?",
    "By when must the debt anchor be met?",
    "Under what conditions may the rules be suspended?",
)
ANY_QUESTIONS = (
    "What are the main objectives?",
    "What is the total amount of expenditure?",
    "Which risks are named?",
)
# How the names of the sample documents begin, and which of them answer these questions.
OF_SAMPLES = "Valmora_"
ASKED_SAMPLES = {"Valmora_Budget_Book_2025-26.pdf", "Valmora_Fiscal_Policy_Statement_2025.pdf"}
# Seconds after which a waiting page looks again.
LOOK_SECONDS = 0.5

_Key = tuple[tuple[str, str], ...]


class ExampleQuestions:
    """The questions for the current documents. Several threads may use it."""

    def __init__(self, chatbot: Chatbot) -> None:
        self._chatbot = chatbot
        self._lock = threading.Lock()
        self._found: dict[_Key, tuple[str, ...]] = {}
        self._shared: tuple[str, tuple[str, ...]] = ("", ())
        self._looking: _Key | None = None
        self._closing = False

    def of(self, documents: Sequence[DocumentRow]) -> tuple[str, ...] | None:
        """Returns up to five questions that these documents answer, of as many of them as there are; None
        while they are looked for.
        """
        key = tuple(sorted((row.name, row.digest) for row in documents))
        with self._lock:
            if key in self._found or self._closing:
                return self._found.get(key, ())
            if self._looking != key:
                self._looking = key
                threading.Thread(
                    target=self._look, args=(key, list(documents)), name="examples", daemon=True
                ).start()
            return None

    def shared(self, documents: Sequence[DocumentRow]) -> tuple[str, tuple[str, ...]]:
        """Returns a question to several of these documents, and these documents.

        Returns ("", ()) if they have nothing in common, or while the question is looked for.
        """
        if not self.of(documents):
            return "", ()
        there = {row.name for row in documents}
        with self._lock:
            question, names = self._shared
        if there.issuperset(names):
            return (question, names)
        return ("", ())

    def close(self) -> None:
        """Stops looking."""
        self._closing = True

    def _look(self, key: _Key, documents: Sequence[DocumentRow]) -> None:
        found: tuple[str, ...] = ()
        try:
            newest = sorted(documents, key=lambda row: -row.added_at)[:MOST_DOCUMENTS]
            spoken = {row.name: self._spoken(row) for row in newest}
            with self._lock:
                self._shared = shared_question(spoken)
            titles = self._chatbot.titles()
            turns = [
                self._candidates(
                    named(row.name, titles.get(row.name, row.name)),
                    spoken[row.name],
                    at,
                    alone=len(documents) == 1,
                )
                for at, row in enumerate(newest)
            ]
            names = tuple(row.name for row in documents)
            found = self._good(turns, names if len(names) < self._count() else ())
        except ProjectError as error:  # a store that is being closed, or damaged; the chat says so by itself
            log.warning("looking for example questions: %s", error)
        finally:
            with self._lock:
                self._found = {**dict(list(self._found.items())[1 - MOST_KEPT :]), key: found}
                self._looking = None

    def _count(self) -> int:
        return sum(row.removed_at is None for row in self._chatbot.documents())

    def _candidates(
        self, of: CalledDocument, spoken: Mapping[str, tuple[int, int]], at: int, *, alone: bool
    ) -> Iterator[Example]:
        """Yields the questions of one document, the best first. at: its place among the documents."""
        catalog = self._chatbot.library.catalog
        version = catalog.find(of.name)
        year = time.localtime().tm_year
        if version is not None:
            sheet = self._chatbot.key_figures([of.name])
            yield from islice(figure_candidates(of, sheet, year=year, first=at), MOST_TRIED)
            yield from islice(row_candidates(of, catalog.tables(version.id), year=year), MOST_TRIED)
        yield from spoken_candidates(of, spoken, alone=alone)
        yield from summary_candidates(of)

    def _spoken(self, row: DocumentRow) -> dict[str, tuple[int, int]]:
        catalog = self._chatbot.library.catalog
        version = catalog.find(row.name)
        if version is not None:
            chunks = catalog.chunks(version.id, limit=MOST_PASSAGES)
        else:
            chunks = []
        return spoken_of((chunk.page, chunk.text) for chunk in chunks)

    def _good(self, turns: Sequence[Iterator[Example]], names: tuple[str, ...]) -> tuple[str, ...]:
        """Returns the questions that are answered as they should be: one of each document, then a second one.

        names: of the documents that are asked, () for all.
        """
        good: dict[str, Example] = {}
        for _ in range(WANTED):
            for of_document in turns:
                if len(good) == WANTED or self._closing:
                    return tuple(good)
                new = (one for one in of_document if not _is_summed_up(one, good.values()))
                found = next((one for one in new if self._is_found(one, names)), None)
                if found is not None:
                    good.setdefault(found.question, found)
        return tuple(good)

    def _is_found(self, one: Example, names: tuple[str, ...]) -> bool:
        """Tells whether the answer gives the figure, or fits the question, from the right page.

        A chat model is not asked for this: then the search must put the right page first.
        """
        if self._chatbot.models.answering() is None:
            events = self._chatbot.ask(Ask(one.question, names, owner=NOBODY))
            return any(_is_right(one, event) for event in events if isinstance(event, Answer))
        if self._chatbot.settings.rerank:
            return True
        hits = self._chatbot.search(one.question, k=1)
        return bool(hits) and hits[0].document == one.document and one.page in {0, hits[0].page}


def _is_summed_up(one: Example, good: Iterable[Example]) -> bool:
    """Tells whether a question asks for a summary that another one asks for already."""
    return one.whole and any(other.whole and other.document == one.document for other in good)


def _is_right(one: Example, answer: Answer) -> bool:
    first = answer.text.partition("\n\n")[0]
    if not answer.citations or one.figure not in first:
        return False
    cited = answer.citations[0]
    return cited.document == one.document and one.page in {0, cited.page}


def only_samples(documents: Sequence[DocumentRow]) -> bool:
    """Tells whether all documents are the product's own samples, which have their own examples."""
    return all(row.name.startswith(OF_SAMPLES) for row in documents)


def known_questions(documents: Sequence[DocumentRow]) -> Sequence[str]:
    """Returns the questions for the product's own samples; nothing for other documents."""
    names = {row.name for row in documents}
    return SAMPLE_QUESTIONS if only_samples(documents) and names >= ASKED_SAMPLES else ()


def suggested(
    given: Answer,
    examples: ExampleQuestions,
    documents: Sequence[DocumentRow],
    titles: Mapping[str, str],
) -> Sequence[str]:
    """Returns what to click below an answer that needed no search.

    These are questions that the documents answer, or a summary of each of some documents. Other answers have
    none. titles: of the documents, by name.
    """
    if given.understanding and given.model == GUIDE and documents:
        form = given.understanding.form
    else:
        form = ""
    if form == WHICH:
        return [f"Summarise {titles.get(row.name, row.name)}" for row in documents[:WANTED]]
    if form not in {"greeting", "help", "documents"}:
        return ()
    return known_questions(documents) or examples.of(documents) or ANY_QUESTIONS


def draw_examples(questions: Sequence[str], *, number: int = 0) -> None:
    """Draws buttons that ask. number: of the exchange above them, 0 if there is none yet."""
    if questions:
        st.caption("For example:")
    for index, question in enumerate(questions):
        key = f"example-{number}-{index}" if number else f"example-{index}"
        st.button(plain_markdown(question), key=key, on_click=session.ask_again, args=(question,))


def wait_for_examples(examples: ExampleQuestions, documents: Sequence[DocumentRow]) -> None:
    """Says that examples are looked for, and draws the page again once they are found."""
    st.fragment(_look, run_every=LOOK_SECONDS)(examples, documents)


def _look(examples: ExampleQuestions, documents: Sequence[DocumentRow]) -> None:
    st.caption("Looking for questions that these documents answer …")
    if examples.of(documents) is not None:
        st.rerun()
