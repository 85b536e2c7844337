"""Splits pages into chunks of 1000 characters that overlap by 200, with exact spans and a context each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from ingestion.invisible_characters import one_line
from ingestion.language.sentences import is_finished, sentences
from ingestion.pages.margins import line_shape, running_lines
from ingestion.precedence import giving_way
from ingestion.records import Chunk, Page, Span

if TYPE_CHECKING:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

__all__ = ["CHUNK_OVERLAP", "CHUNK_SIZE", "chunk_pages", "prepare", "split_page"]

CHUNK_SIZE = 1000
CHUNK_OVERLAP = 200
# Paragraph, line, sentence, clause, word: a chunk ends at the strongest break that fits.
SEPARATORS = ["\n\n", "\n", ". ", "; ", ", ", " ", ""]
# What a context may take of each part, in characters. Of the whole context 48 tokens are embedded.
TITLE_CHARACTERS = 80
HEADING_CHARACTERS = 80
CARRIED_CHARACTERS = 160
TABLE_CHARACTERS = 80
NUMBERED_HEADING = re.compile(
    r"(?i)^(?:(?:chapter|part|section|annex|appendix|note|item|article|table|box|chart|figure)\s+[\dIVXA-Z]+"
    r"|\d{1,2}(?:\.\d{1,2}){0,3}\.?)\s+\S",
)


def prepare() -> None:
    """Load the splitter before it is needed; its import takes half a second."""
    _splitter()


def split_page(text: str) -> list[Span]:
    """Spans (start, end) of chunks of at most CHUNK_SIZE characters.

    Together they cover every character of `text` that is not white space.
    """
    if not text.strip():
        return []
    if len(text) <= CHUNK_SIZE:
        return [(0, len(text))]
    spans = list(_offsets(text, _splitter().split_text(text)))
    return [span for span in spans if text[slice(*span)].strip()]


def chunk_pages(pages: Sequence[Page], title: str) -> Iterator[Chunk]:
    """Chunks of all pages in order; none crosses a page. title: the document's, it begins every context."""
    running = running_lines(pages)
    ordinal = 0
    heading = ""
    before = ""
    for page in giving_way(pages):
        carried = _carried(before, page.text)
        for start, end in split_page(page.text):
            heading = _heading(page.text[:end], running) or heading
            table = _table_above(page, start, end)
            parts = [title[:TITLE_CHARACTERS], heading, table]
            if start == 0:
                parts.append(carried)
            context = " | ".join(filter(None, map(one_line, parts)))
            yield Chunk(page.number, ordinal, start, end, page.text[start:end], context)
            ordinal += 1
        lines = page.text.split("\n")
        before = "\n".join(line for line in lines if line_shape(line) not in running)


@cache
def _splitter() -> RecursiveCharacterTextSplitter:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    return RecursiveCharacterTextSplitter(
        chunk_size=CHUNK_SIZE,
        chunk_overlap=CHUNK_OVERLAP,
        separators=SEPARATORS,
        strip_whitespace=False,
        keep_separator="end",
    )


def _offsets(text: str, pieces: Sequence[str]) -> Iterator[Span]:
    """Where each piece stands.

    Of several places in repeated text, the last that leaves no gap is taken. So each end is at or beyond the
    true end, the next piece is found too, and the whole page is covered. (langchain's own start index takes
    the first place, and loses text on pages that repeat themselves.)
    """
    end = 0
    for piece in pieces:
        start = text.rfind(piece, 0, end + len(piece))
        if start < 0:
            raise AssertionError("the splitter returned text that is not on the page")
        end = start + len(piece)
        yield start, end


def _heading(text: str, running: frozenset[str]) -> str:
    """The last line of `text` that looks like a heading and is no running line.

    A heading is short, does not end a sentence, and is numbered or in capitals or title case.
    """
    for line in map(str.strip, reversed(text.split("\n"))):
        looks = 4 <= len(line) <= HEADING_CHARACTERS and _is_heading(line)
        if looks and not is_finished(line, also=":;") and line_shape(line) not in running:
            return line
    return ""


def _is_heading(line: str) -> bool:
    words = [word for word in line.split() if word[0].isalpha()]
    digits = sum(map(str.isdigit, line))
    if not words or digits > len(line) / 4:
        return False
    if NUMBERED_HEADING.match(line):
        return words[0][0].isupper()
    if line.isupper():
        return True
    return len(words) > 1 and all(word[0].isupper() for word in words if len(word) > 3)


def _table_above(page: Page, start: int, end: int) -> str:
    """Caption and heads of the table of which the span holds rows, where they stand outside the span.

    They may stand above it or on the page before.
    """
    for table in page.tables:
        if any(start <= row.start < end for row in table.rows):
            text = " ".join(page.text[start:end].split())
            missing = (head for head in table.heads if head and head not in text)
            heads = ", ".join(dict.fromkeys(missing))
            caption = " ".join(table.caption.split())
            if caption in text:
                caption = ""
            parts = (caption[:TABLE_CHARACTERS], heads[:TABLE_CHARACTERS])
            return ": ".join(filter(None, parts))
    return ""


def _carried(before: str, text: str) -> str:
    """The unfinished last sentence of the page before, where this page goes on with it."""
    tail = before.rstrip()[-600:]
    head = text.lstrip()[:1]
    if not tail or not head.islower() or is_finished(tail, also=":;"):
        return ""
    last = sentences(tail)[-1]
    return last[-CARRIED_CHARACTERS:].replace("\n", " ").strip()
