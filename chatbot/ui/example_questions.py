"""Makes example questions from the titles and headings of what is in the store."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import PurePath

from chatbot.asking.whole_document import WHICH
from chatbot.records import GUIDE, Answer, DocumentRow
from chatbot.search.sections import Section, document_sections
from chatbot.store.library import Library
from chatbot.ui import session
from chatbot.ui.page_parts import draw_button, draw_quiet
from chatbot.ui.safe_text import plain_markdown
from ingestion.language.periods import YEAR
from ingestion.prompt_injection.injections import find_instructions

__all__ = [
    "ANY_QUESTIONS",
    "about_parts",
    "draw_examples",
    "example_questions",
    "is_sample",
    "lowered",
    "reads_as_name",
    "spoken_title",
    "suggested",
]

WANTED, MOST_ASKED_ABOUT = 3, 4
# The most documents whose summary is offered.
MOST_SUMMARIES = 5
# Words of a heading that is asked about: one word, such as "Introduction", says too little.
FEWEST_WORDS, MOST_PLAIN_WORDS, MOST_WORDS = 2, 4, 7
# Words and characters of a title that is said in a question; letters of a word that a title may write small.
MOST_TITLE_WORDS, LONGEST_SAID, SHORT_WORD = 12, 90, 3
# "Debt", "U.S.", "People's", "medium-term", "Q3"; "2025", "2025-26".
LETTER = r"[^\W\d_]"
WORD = re.compile(
    rf"{LETTER}+(?:['’.-]{LETTER}+)*['’]?|(?:{LETTER}\.){{2,}}|{LETTER}{{2,}}\.|{LETTER}{{1,2}}[0-9]{{1,4}}"
)
YEARS = re.compile(rf"{YEAR}(?:[-–/][0-9]{{2,4}})?")
ANY_QUESTIONS = ("What are the main objectives?", "Which risks are named?")
# How the names of the sample documents begin.
OF_SAMPLES = "Valmora_"


def is_sample(name: str) -> bool:
    """Tells whether a document is one of the product's own samples."""
    return name.startswith(OF_SAMPLES)


def example_questions(
    documents: Sequence[DocumentRow], library: Library, titles: Mapping[str, str]
) -> tuple[str, ...]:
    """Returns up to three questions: for a summary of the newest document, and about headings of the newest
    few. Documents without a name that can be said are left out.

    titles: of the documents, by name.
    """
    newest = sorted(documents, key=lambda row: -row.added_at)[:MOST_ASKED_ABOUT]
    called = {row.name: said for row in newest if (said := _called(row.name, titles))}
    parts = [list(about_parts(_parts(name, library), said)) for name, said in called.items()]
    summaries = [f"Summarise {said}" for said in called.values()]
    found = chain(summaries[:1], *(of[:1] for of in parts[1:]), *parts[:1], ANY_QUESTIONS)
    return tuple(dict.fromkeys(found))[:WANTED]


def _called(name: str, titles: Mapping[str, str]) -> str:
    """Returns what a document is called within a question, "" if nothing short can be said.

    It is the title where that has the form of one, else the file's plain name.
    """
    title, plain = titles.get(name, name), PurePath(name).stem
    if len(title) <= LONGEST_SAID and reads_as_name(title.replace(",", "", 1), MOST_TITLE_WORDS):
        return spoken_title(title, titles.values())
    return plain if len(plain) <= LONGEST_SAID else ""


def reads_as_name(text: str, most: int) -> bool:
    """Tells by its form whether a text reads as the name of something: at most so many words and years,
    nothing that parts clauses, and neither cut nor begun with a number.
    """
    letters = "".join(letter for letter in text if unicodedata.category(letter)[0] != "M")
    words = letters.split()
    forms = [WORD.fullmatch(word) or YEARS.fullmatch(word) for word in words if word != "&"]
    return 0 < len(words) <= most and all(forms) and WORD.fullmatch(words[0]) is not None


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


def _parts(name: str, library: Library) -> list[Section]:
    version = library.catalog.find(name)
    return document_sections(library, version.id) if version else []


def about_parts(parts: Iterable[Section], called: str) -> Iterator[str]:
    """Yields a question about each part whose heading reads as a name and says enough, the longest first.

    called: the document.
    """
    for part in sorted(parts, key=lambda part: part.page - part.last):
        words = part.name.split()
        # What is longer and not written as a title may be a sentence.
        is_title = all(word[0] == word[0].upper() for word in words if len(word) > SHORT_WORD)
        if (
            len(words) >= FEWEST_WORDS
            and reads_as_name(part.name, MOST_WORDS if is_title else MOST_PLAIN_WORDS)
            and part.name.casefold() not in called.casefold()
            and not find_instructions(part.title)
        ):
            yield f"What does {called} say about {lowered(part.name)}?"


def lowered(heading: str) -> str:
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
    form = given.understanding.form if given.understanding and given.model == GUIDE and documents else ""
    if form == WHICH:
        called = (_called(row.name, titles) for row in documents[:MOST_SUMMARIES])
        return [f"Summarise {said}" for said in called if said]
    if form not in {"greeting", "help", "documents"}:
        return ()
    return example_questions(documents, library, titles)


def draw_examples(questions: Sequence[str], *, number: int = 0) -> None:
    """Draws buttons that ask. number: of the exchange above them, 0 if there is none yet."""
    if questions:
        draw_quiet("Try asking")
    for index, question in enumerate(questions):
        key = f"example-{number}-{index}" if number else f"example-{index}"
        draw_button(plain_markdown(question), key, session.ask_again, question)
