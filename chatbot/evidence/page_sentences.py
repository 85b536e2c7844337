"""Finds the whole sentences of a page's running text."""

from __future__ import annotations

from chatbot.evidence.text_blocks import PARAGRAPH_NUMBER, is_head, read_blocks
from ingestion.language.sentences import is_finished, sentences

__all__ = ["whole_sentences"]


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
            found += [
                (sentence, head)
                for sentence in sentences(prose, longest=len(prose) or 1)
                if is_finished(sentence)
            ]
    return found
