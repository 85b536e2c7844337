"""Finds a page's sentences: by their words as they are searched, and the whole ones of its running text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from chatbot.evidence.text_blocks import PARAGRAPH_NUMBER, is_head, read_blocks
from ingestion.language.sentences import is_finished, sentences
from ingestion.language.terms import content_terms

__all__ = ["NEAR", "Stems", "parted", "read_stems", "stems_of", "whole_sentences"]

# "short-term" is two words, "co-operative" one.
_HYPHEN = re.compile(r"(?<=[^\W\d_]{3})-(?=[^\W\d_]{3})")
# "non-resident" and "nonresident" are one, and no "resident".
_NEGATED = re.compile(r"\b(non)-(?=[^\W\d_]{3})", re.I)
# Characters around a place that speak of the same thing.
NEAR = 300


@dataclass(frozen=True, slots=True)
class Stems:
    """The terms of a page, with those of its headings and its document's name.

    sentences: of each sentence.
    around: of the text around each sentence.
    all: of all of it.
    """

    sentences: tuple[frozenset[str], ...]
    around: tuple[frozenset[str], ...]
    all: frozenset[str]


def stems_of(text: str) -> frozenset[str]:
    """The terms of a text that are not figures."""
    return frozenset(term for term in content_terms(text) if not term[0].isdigit())


def parted(text: str) -> str:
    """A text with compounds as several words ("short-term"), and "non-resident" as one.

    A reader who uses them need not know how a page writes them.
    """
    return _HYPHEN.sub(" ", _NEGATED.sub(r"\1", text))


def _both_ways(text: str) -> str:
    separated = parted(text)
    if separated != text:
        return f"{text} {separated}"
    return text


def read_stems(text: str, named: str, spans: Sequence[tuple[int, int]]) -> Stems:
    """The terms of a page. named: the document's name and its headings. spans: of the sentences."""
    names = stems_of(named)
    of_each = tuple(stems_of(_both_ways(text[start:end])) | names for start, end in spans)
    around = tuple(
        stems_of(_both_ways(text[max(0, start - NEAR) : end + NEAR])) | names for start, end in spans
    )
    return Stems(of_each, around, stems_of(_both_ways(text)) | names)


def whole_sentences(text: str) -> list[tuple[str, str]]:
    """(whole sentence, heading above it), in order; without the numbers of paragraphs."""
    found: list[tuple[str, str]] = []
    head = ""
    for block, is_row in read_blocks(text):
        if is_row:
            continue
        if is_head(block):
            head = block
        else:
            prose = " ".join(block.split())
            if number := PARAGRAPH_NUMBER.match(prose):
                prose = prose[number.end() :]
            else:
                prose = prose
            found += [
                (sentence, head)
                for sentence in sentences(prose, longest=len(prose) or 1)
                if is_finished(sentence)
            ]
    return found
