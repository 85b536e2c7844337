"""Gives the whole sentences of a page's running text with the heading above each; knows nothing of their figures, and gives no rows or fragments."""

from __future__ import annotations

from chatbot.answer.quoting.blocks import PARAGRAPH_NUMBER, is_head, read_blocks
from ingestion.language.sentences import is_finished
from ingestion.language.sentences import sentences as cut

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
            prose = " ".join(block.split())
            prose = prose[number.end() :] if (number := PARAGRAPH_NUMBER.match(prose)) else prose
            found += [(sentence, head) for sentence in cut(prose, longest=len(prose) or 1) if is_finished(sentence)]
    return found
