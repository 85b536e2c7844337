"""Gives the whole sentences of a page's running text with the heading above each; knows nothing of their figures, and gives no rows or fragments."""

from __future__ import annotations

from collections.abc import Iterator

from chatbot.answer.quoting.blocks import is_head, read_blocks
from chatbot.answer.quoting.passages import ABBREVIATION, SENTENCE

__all__ = ["sentences"]


def sentences(text: str) -> list[tuple[str, str]]:
    """(whole sentence, heading above it) in order; a paragraph's number goes with none."""
    found: list[tuple[str, str]] = []
    head = ""
    for block, is_row in read_blocks(text):
        if is_row:
            continue
        if is_head(block):
            head = block
        else:
            found += [(sentence, head) for sentence in _cut(" ".join(block.split()))]
    return found


def _cut(prose: str) -> Iterator[str]:
    start = 0
    for match in SENTENCE.finditer(prose):
        before = prose[start : match.start()].rstrip("\"'”’)]")
        if not ABBREVIATION.search(before):
            if any(map(str.isalpha, before)):
                yield prose[start : match.end()].strip()
            start = match.end()
    if prose[start:].rstrip("\"'”’)]").endswith((".", "!", "?")):
        yield prose[start:].strip()
