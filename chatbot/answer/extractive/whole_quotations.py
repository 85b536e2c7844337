"""Completes an answer in the documents' own words.

Its quotations get their footnotes, and a sentence that goes over a page break is cited on both pages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from chatbot.answer.citations.citation_keys import KEYS_IN_BRACKETS, escape_keys
from chatbot.evidence.footnotes import referred_to
from chatbot.evidence.page import page_of
from chatbot.evidence.page_breaks import AHEAD, BREAK
from chatbot.records import Hit, Prompt
from ingestion.language.terms import content_terms, terms

__all__ = ["whole_quotations"]

# Notes that an answer gets, and the share of the missing words that makes one the answer.
MOST_NOTES, MOST_OF = 4, 0.5


def whole_quotations(text: str, prompt: Prompt, page: Callable[[Hit, int], Hit]) -> tuple[str, Prompt]:
    """The answer, and the prompt with the pages that it cites beside its own.

    A note comes first that has most of the question's words which its sentence or row lacks.

    page: gives the page of a hit's document with a number. Raises KeyError if it was erased meanwhile.
    """
    asked = set(content_terms(prompt.search_query))
    first: list[str] = []
    pieces: list[str] = []
    added: list[str] = []
    end = 0
    for found in KEYS_IN_BRACKETS.finditer(text):
        segment, key = text[end : found.start()], found[0]
        end = found.end()
        hit = prompt.sources.get(key.strip("[]"))
        if hit is None:
            pieces += [segment, key]
            continue
        for part, step in _parted(segment):
            cited, prompt = (key, prompt) if not step else _beside(prompt, hit, step, page)
            pieces += [part, cited]
        for note in _notes(segment, hit):
            if note in text or note in added or len(added) >= MOST_NOTES:
                continue
            added.append(note)
            lacking = asked.difference(terms(segment))
            is_asked = len(lacking.intersection(terms(note))) > MOST_OF * len(lacking)
            (first if is_asked else pieces).append(f" {escape_keys(note)} {key}")
    whole = "".join([*pieces, text[end:]])
    return " ".join([*(note.strip() for note in first), whole.lstrip() if first else whole]), prompt


def _parted(segment: str) -> Iterator[tuple[str, int]]:
    """The parts of a text at page breaks, each with the step to its page from the one that has the key."""
    parts = BREAK.split(segment)
    step = -sum(sign != AHEAD for sign in parts[1::2])
    for at, text in enumerate(parts[::2]):
        yield (
            f"{' ' if at else ''}{text.rstrip() if len(parts) > 1 else text}{' ' if len(parts) > 1 else ''}",
            step,
        )
        step += 1


def _beside(prompt: Prompt, hit: Hit, step: int, page: Callable[[Hit, int], Hit]) -> tuple[str, Prompt]:
    """The key of a page beside another's, in brackets, and the prompt with it."""
    key, prompt = prompt.with_source(page(hit, hit.page + step))
    return f"[{key}]", prompt


def _notes(segment: str, hit: Hit) -> Sequence[str]:
    """The notes to which a quotation refers, or the heads of a row in it."""
    evidence = page_of(hit)
    if not evidence.notes:
        return ()
    said = _evened(segment)
    notes = referred_to(said, evidence.notes)
    for passage in evidence.passages:
        if passage.notes and _evened(passage.text) in said:
            notes += passage.notes
    return list(dict.fromkeys(notes))


def _evened(text: str) -> str:
    return " ".join(text.split())
