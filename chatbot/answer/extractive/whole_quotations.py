"""Completes an answer in the documents' own words.

Its quotations get their footnotes, and a sentence that goes over a page break is cited on both pages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from chatbot.answer.citations.citation_keys import KEYS_IN_BRACKETS, escape_keys
from chatbot.evidence.footnotes import referred_to
from chatbot.evidence.page import page_of
from chatbot.evidence.page_breaks import AHEAD, BREAK
from chatbot.evidence.word_runs import evened
from chatbot.records import Hit, Prompt
from ingestion.language.terms import content_terms, terms

__all__ = ["whole_quotations"]

# A note with more than this share of the missing words is the answer.
MOST_OF = 0.5
# How a note that was set on a page with a PDF editor begins, and how many words it shares with what it is
# about.
ANNOTATION, IN_COMMON = "[note] ", 2


def whole_quotations(text: str, prompt: Prompt, page: Callable[[Hit, int], Hit]) -> tuple[str, Prompt]:
    """The answer, and the prompt with the pages that it cites beside its own.

    A note comes first that has most of the question's words which the rest of the answer lacks.

    page: gives the page of a hit's document with a number.
    """
    lacking = set(content_terms(prompt.search_query)).difference(terms(text))
    first: list[str] = []
    pieces: list[str] = []
    end = 0
    for found in KEYS_IN_BRACKETS.finditer(text):
        segment, end = text[end : found.start()], found.end()
        if ANNOTATION in segment and evened(segment) in evened("".join(pieces)):
            continue
        hit = prompt.sources.get(found[0].strip("[]"))
        if hit is None:
            pieces.append(f"{segment}{found[0]}")
            continue
        parts = BREAK.split(segment)
        step = -sum(sign != AHEAD for sign in parts[1::2])
        for at, part in enumerate(parts[::2], step):
            key, prompt = prompt.with_source(page(hit, hit.page + at) if at else hit)
            pieces.append(f"{' ' if at > step else ''}{part.rstrip()} [{key}]")
        for note in _notes(segment, hit):
            said = text[:end] if note.startswith(ANNOTATION) else text
            if note not in " ".join([said, *first, *pieces]):
                is_asked = len(lacking.intersection(terms(note))) > MOST_OF * len(lacking)
                (first if is_asked else pieces).append(f" {escape_keys(note)} {found[0]}")
    whole = "".join([*pieces, text[end:]])
    return "".join([*first, " ", whole.lstrip()]).lstrip() if first else whole, prompt


def _notes(segment: str, hit: Hit) -> Sequence[str]:
    """The notes to which a quotation refers, or the heads of a row in it, and those that readers have set on
    its page with words of it."""
    evidence = page_of(hit)
    if not evidence.notes and ANNOTATION not in evidence.body:
        return ()
    said = evened(segment)
    notes = referred_to(said, evidence.notes)
    words = set(terms(said))
    for passage in evidence.passages:
        if passage.notes and evened(passage.text) in said:
            notes += passage.notes
        elif (
            passage.text.startswith(ANNOTATION) and len(words.intersection(terms(passage.text))) >= IN_COMMON
        ):
            notes.append(passage.text)
    return list(dict.fromkeys(notes))
