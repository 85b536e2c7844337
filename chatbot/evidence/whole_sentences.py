"""Gives the whole sentences of a page's running text with the heading above each; knows nothing of their figures, and gives no rows or fragments."""

from __future__ import annotations

from chatbot.evidence.blocks import PARAGRAPH_NUMBER, is_head, read_blocks
from ingestion.language.sentences import is_finished, sentences

__all__ = ["whole_sentences"]


def whole_sentences(text: str) -> list[tuple[str, str]]:
    """(whole sentence, heading above it) in order; a paragraph's number goes with none."""
    found: list[tuple[str, str]] = []
    head = ""
    for block, is_row in read_blocks(text):
        if is_row:
            continue
        if is_head(block):
            head = block
        else:
            prose = " ".join(block.split())
            prose = prose[number.end() :] if (number := PARAGRAPH_NUMBER.match(prose)) else prose
            found += [(sentence, head) for sentence in sentences(prose, longest=len(prose) or 1) if is_finished(sentence)]
    return found
