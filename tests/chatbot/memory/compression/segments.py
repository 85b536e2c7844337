"""Chunks to choose from, and what was chosen of them, sentence by sentence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from chatbot.memory.compression.selection import Segment

Chunks = list[Segment]
# For each chunk, which of its sentences stay.
Kept = list[list[bool]]


class Sentence(NamedTuple):
    """A sentence after the choice."""

    size: int
    importance: float
    stays: bool


def segment(importance: float, sentences: list[tuple[int, float]]) -> Segment:
    """A chunk of sentences of these sizes and importances."""
    sizes = tuple(size for size, _ in sentences)
    importances = tuple(worth for _, worth in sentences)
    return Segment(importance, sizes, importances)


def rising(importance: float, sizes: tuple[int, ...]) -> Segment:
    """A chunk each sentence of which is more important than the one before."""
    importances = tuple(map(float, range(len(sizes))))
    return Segment(importance, sizes, importances)


def sentences_of(chunk: Segment, stays: list[bool]) -> list[Sentence]:
    columns = zip(chunk.sizes, chunk.importances, stays, strict=True)
    return [Sentence(*row) for row in columns]


def all_sentences(chunks: Chunks, kept: Kept) -> Iterator[Sentence]:
    for chunk, stays in zip(chunks, kept, strict=True):
        yield from sentences_of(chunk, stays)


def tokens_kept(chunks: Chunks, kept: Kept) -> int:
    return sum(sentence.size for sentence in all_sentences(chunks, kept) if sentence.stays)


def tokens_of(chunks: Chunks) -> int:
    return sum(sum(chunk.sizes) for chunk in chunks)


def longest_of(chunks: Chunks) -> int:
    """Tokens of the longest sentence, 0 where there is none."""
    longest = 0
    for chunk in chunks:
        longest = max(longest, *chunk.sizes, 0)
    return longest


def empty_ones_stay(chunks: Chunks, kept: Kept) -> bool:
    """Whether all sentences of no tokens stay."""
    empty = [sentence for sentence in all_sentences(chunks, kept) if not sentence.size]
    return all(sentence.stays for sentence in empty)
