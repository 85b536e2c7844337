"""Knows a page's sentences by their words as they are searched; knows no figures and no clauses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ingestion.language.terms import content_terms

__all__ = ["NEAR", "Stems", "read_stems", "stems_of"]

# Characters around a place that speak of the same thing.
NEAR = 300


@dataclass(frozen=True, slots=True)
class Stems:
    """The terms of a page: of each sentence, of what stands around each, and of all of it, with those of its headings and its document's name."""

    sentences: tuple[frozenset[str], ...]
    around: tuple[frozenset[str], ...]
    all: frozenset[str]


def stems_of(text: str) -> frozenset[str]:
    """The terms of a text that are no figures."""
    return frozenset(term for term in content_terms(text) if not term[0].isdigit())


def read_stems(text: str, named: str, spans: Sequence[tuple[int, int]]) -> Stems:
    """named: the document's name and its headings. spans: of the sentences."""
    names = stems_of(named)
    sentences = tuple(stems_of(text[start:end]) | names for start, end in spans)
    around = tuple(stems_of(text[max(0, start - NEAR) : end + NEAR]) | names for start, end in spans)
    return Stems(sentences, around, stems_of(text) | names)
