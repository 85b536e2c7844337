"""Makes example questions from the titles and headings of what is in the store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

import streamlit as st

from chatbot.asking.whole_document import WHICH
from chatbot.records import GUIDE, Answer, DocumentRow
from chatbot.search.sections import Section, document_sections
from chatbot.store.library import Library
from chatbot.ui import session
from chatbot.ui.safe_text import plain_markdown, quiet_html
from ingestion.prompt_injection.injections import find_instructions

__all__ = [
    "ANY_QUESTIONS",
    "about_parts",
    "draw_examples",
    "example_questions",
    "is_sample",
    "spoken_title",
    "suggested",
]

WANTED, MOST_ASKED_ABOUT = 3, 4
# The most documents whose summary is offered.
MOST_SUMMARIES = 5
# Words of a heading that is asked about: one word, such as "Introduction", says too little.
FEWEST_WORDS, MOST_WORDS = 2, 7
ANY_QUESTIONS = ("What are the main objectives?", "Which risks are named?")
# How the names of the sample documents begin.
OF_SAMPLES = "Valmora_"


def is_sample(name: str) -> bool:
    """Tells whether a document is one of the product's own samples."""
    return name.startswith(OF_SAMPLES)


def example_questions(
    documents: Sequence[DocumentRow], library: Library, titles: Mapping[str, str]
) -> tuple[str, ...]:
    """Returns three questions: for a summary of the newest document, and about headings of the newest few.

    titles: of the documents, by name.
    """
    newest = sorted(documents, key=lambda row: -row.added_at)[:MOST_ASKED_ABOUT]
    called = [spoken_title(titles.get(row.name, row.name), titles.values()) for row in newest]
    first, *others = (
        list(about_parts(_parts(row, library), title)) for row, title in zip(newest, called, strict=True)
    )
    found = chain([f"Summarise {called[0]}"], *(of[:1] for of in others), first, ANY_QUESTIONS)
    return tuple(dict.fromkeys(found))[:WANTED]


def spoken_title(title: str, others: Iterable[str]) -> str:
    """Returns a title as one says it: "Adobe's annual report 2022", "the Budget Book 2025-26".

    others: the titles of all documents; where two end alike, the whole title is said.
    """
    issuer, _, thing = title.partition(", ")
    if thing[:1].islower():
        return f"{issuer}'s {thing}"
    if thing and sum(other.endswith(f", {thing}") for other in others) == 1:
        return f"the {thing}"
    return title


def _parts(row: DocumentRow, library: Library) -> list[Section]:
    version = library.catalog.find(row.name)
    return document_sections(library, version.id) if version else []


def about_parts(parts: Iterable[Section], called: str) -> Iterator[str]:
    """Yields a question about each part whose heading says enough, the longest part first. called: the
    document.
    """
    for part in sorted(parts, key=lambda part: part.page - part.last):
        words = part.name.split()
        says_enough = FEWEST_WORDS <= len(words) <= MOST_WORDS and words[0].isalpha()
        if (
            says_enough
            and part.name.casefold() not in called.casefold()
            and not find_instructions(part.title)
        ):
            yield f"What does {called} say about {_lowered(part.name)}?"


def _lowered(heading: str) -> str:
    """A heading within a sentence: "tax revenue", "real GDP growth"."""
    if heading.isupper():
        return heading.lower()
    return " ".join(word.lower() if word[1:].islower() else word for word in heading.split())


def suggested(
    given: Answer, documents: Sequence[DocumentRow], library: Library, titles: Mapping[str, str]
) -> Sequence[str]:
    """Returns what to click below an answer that needed no search.

    These are examples, or a summary of each of some documents. Other answers have none. titles: of the
    documents, by name.
    """
    if given.understanding and given.model == GUIDE and documents:
        form = given.understanding.form
    else:
        form = ""
    if form == WHICH:
        called = [titles.get(row.name, row.name) for row in documents[:MOST_SUMMARIES]]
        return [f"Summarise {spoken_title(title, titles.values())}" for title in called]
    if form not in {"greeting", "help", "documents"}:
        return ()
    return example_questions(documents, library, titles)


def draw_examples(questions: Sequence[str], *, number: int = 0) -> None:
    """Draws buttons that ask. number: of the exchange above them, 0 if there is none yet."""
    if questions:
        st.html(quiet_html("Try asking"))
    for index, question in enumerate(questions):
        key = f"example-{number}-{index}" if number else f"example-{index}"
        st.button(plain_markdown(question), key=key, on_click=session.ask_again, args=(question,))
