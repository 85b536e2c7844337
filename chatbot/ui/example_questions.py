"""Looks in the background for example questions that fit what is in the store."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence

import streamlit as st

from chatbot.asking.whole_document import WHICH
from chatbot.errors import ProjectError
from chatbot.records import GUIDE, Answer, DocumentRow
from chatbot.search.sample_questions import (
    Example,
    candidates,
    in_turn,
    shared_question,
    spoken_candidates,
    spoken_of,
)
from chatbot.service import Chatbot
from chatbot.ui import session
from chatbot.ui.safe_text import plain_markdown

__all__ = [
    "ANY_QUESTIONS",
    "SAMPLE_QUESTIONS",
    "ExampleQuestions",
    "draw_examples",
    "only_samples",
    "suggested",
    "wait_for_examples",
]

log = logging.getLogger(__name__)

WANTED = 5
# Documents that questions are taken from, the newest, and candidates that are tried. Five are found
# within two seconds.
MOST_DOCUMENTS, MOST_TRIED = 8, 24
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
# How the names of the sample documents begin.
OF_SAMPLES = "Valmora_"
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
        """Returns up to three questions that these documents answer; None while they are looked for.

        Documents without figures to ask about give none.
        """
        key = tuple(sorted((row.name, row.id) for row in documents))
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
            found = self._good(
                [[*self._candidates(row), *spoken_candidates(row.name, spoken[row.name])] for row in newest]
            )
        except ProjectError as error:  # a store that is being closed, or damaged; the chat says so by itself
            log.warning("looking for example questions: %s", error)
        finally:
            with self._lock:
                self._found, self._looking = {key: found}, None

    def _candidates(self, row: DocumentRow) -> Sequence[Example]:
        catalog = self._chatbot.library.catalog
        version = catalog.find(row.name)
        if version is not None:
            return list(candidates(row.name, catalog.tables(version.id)))
        return []

    def _spoken(self, row: DocumentRow) -> dict[str, tuple[int, int]]:
        catalog = self._chatbot.library.catalog
        version = catalog.find(row.name)
        if version is not None:
            chunks = catalog.chunks(version.id, limit=MOST_PASSAGES)
        else:
            chunks = []
        return spoken_of((chunk.page, chunk.text) for chunk in chunks)

    def _good(self, documents: Sequence[Sequence[Example]]) -> tuple[str, ...]:
        good: list[str] = []
        for tried, one in enumerate(in_turn(documents)):
            if len(good) == WANTED or tried == MOST_TRIED or self._closing:
                break
            if self._is_found(one):
                good.append(one.question)
        return tuple(good)

    def _is_found(self, one: Example) -> bool:
        """Tells whether the search puts the row's own page first, or the document that speaks of it.

        A chat model that orders the pages is not asked for this.
        """
        if self._chatbot.settings.rerank:
            return True
        hits = self._chatbot.search(one.question, k=1)
        return bool(hits) and hits[0].document == one.document and one.page in {0, hits[0].page}


def only_samples(documents: Sequence[DocumentRow]) -> bool:
    """Tells whether all documents are the product's own samples, which have their own examples."""
    return all(row.name.startswith(OF_SAMPLES) for row in documents)


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
    if only_samples(documents):
        return SAMPLE_QUESTIONS
    return examples.of(documents) or ANY_QUESTIONS


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
