"""Splits pages into chunks of 1000/200 with exact spans, and gives each its context; knows no index and no
model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ingestion.invisible_characters import one_line
from ingestion.language.sentences import is_finished, sentences
from ingestion.pages.margins import line_shape, running_lines
from ingestion.records import Chunk, Page

if TYPE_CHECKING:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

__all__ = ["CHUNK_OVERLAP", "CHUNK_SIZE", "chunk_pages", "prepare", "split_page"]

CHUNK_SIZE = 1000
CHUNK_OVERLAP = 200
# Paragraph, line, sentence, clause, word: a chunk ends at the strongest break that fits.
SEPARATORS = ["\n\n", "\n", ". ", "; ", ", ", " ", ""]
# What a context may take of each part, in characters; of all that is embedded the embedder's 48 tokens of
# context.
TITLE_CHARACTERS = 80
HEADING_CHARACTERS = 80
CARRIED_CHARACTERS = 160
TABLE_CHARACTERS = 80
NUMBERED_HEADING = re.compile(
    (
        r"^(?:(?:chapter|part|section|annex|appendix|note|item|article|table|box|chart|figure)\s+[\dIVXA-Z]+"
        r"|\d{1,2}(?:\.\d{1,2}){0,3}\.?)\s+\S"
    ),
    re.I,
)
_splitter: RecursiveCharacterTextSplitter | None = None


def prepare() -> None:
    """Load the splitter ahead of need; its import takes half a second."""
    _load()


def split_page(text: str) -> list[tuple[int, int]]:
    """Spans (start, end) of chunks of at most CHUNK_SIZE characters that together cover every
    non-whitespace character of `text`.
    """
    if not text.strip():
        return []
    if len(text) <= CHUNK_SIZE:
        return [(0, len(text))]
    spans = list(_offsets(text, _load().split_text(text)))
    return [span for span in spans if text[slice(*span)].strip()]


def chunk_pages(pages: Sequence[Page], title: str) -> Iterator[Chunk]:
    """Chunks of all pages in order; none crosses a page. title: the document's, the head of every context."""
    running = running_lines(pages)
    ordinal = 0
    heading = ""
    before = ""
    for page in pages:
        carried = _carried(before, page.text)
        for start, end in split_page(page.text):
            heading = _heading(page.text[:end], running) or heading
            parts = (
                title[:TITLE_CHARACTERS],
                heading,
                _table_above(page, start, end),
                carried if start == 0 else "",
            )
            context = " | ".join(filter(None, map(one_line, parts)))
            yield Chunk(page.number, ordinal, start, end, page.text[start:end], context)
            ordinal += 1
        before = "\n".join(line for line in page.text.split("\n") if line_shape(line) not in running)


def _load() -> RecursiveCharacterTextSplitter:
    global _splitter
    if _splitter is None:
        from langchain_text_splitters import RecursiveCharacterTextSplitter

        _splitter = RecursiveCharacterTextSplitter(
            chunk_size=CHUNK_SIZE,
            chunk_overlap=CHUNK_OVERLAP,
            separators=SEPARATORS,
            strip_whitespace=False,
            keep_separator="end",
        )
    return _splitter


def _offsets(text: str, pieces: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where each piece stands. Of several places in repeated text, the last that leaves no gap is taken: then
    each end is at or beyond the true one, so that the next piece is found too and the whole page is covered
    (langchain's own start index takes the first place, and loses text on pages that repeat themselves)."""
    end = 0
    for piece in pieces:
        start = text.rfind(piece, 0, end + len(piece))
        if start < 0:
            raise AssertionError("the splitter returned text that does not stand on the page")
        end = start + len(piece)
        yield start, end


def _heading(text: str, running: frozenset[str]) -> str:
    """The last line of `text` that looks like a heading: short, no sentence end, numbered or in capitals
    or title case.
    """
    for line in map(str.strip, reversed(text.split("\n"))):
        if (
            4 <= len(line) <= HEADING_CHARACTERS
            and not is_finished(line, also=":;")
            and _is_heading(line)
            and line_shape(line) not in running
        ):
            return line
    return ""


def _is_heading(line: str) -> bool:
    words = [word for word in line.split() if word[0].isalpha()]
    digits = sum(map(str.isdigit, line))
    if not words or digits > len(line) / 4:
        return False
    if NUMBERED_HEADING.match(line):
        return words[0][0].isupper()
    return line.isupper() or (len(words) > 1 and all(word[0].isupper() for word in words if len(word) > 3))


def _table_above(page: Page, start: int, end: int) -> str:
    """Caption and heads of the table whose rows the span begins with or holds, where they stand outside of
    it: above it, or on the page before.
    """
    for table in page.tables:
        if any(start <= row.start < end for row in table.rows):
            said = " ".join(page.text[start:end].split())
            heads = ", ".join(dict.fromkeys(head for head in table.heads if head and head not in said))
            caption = " ".join(table.caption.split())
            return ": ".join(
                part
                for part in (
                    caption[:TABLE_CHARACTERS] if caption not in said else "",
                    heads[:TABLE_CHARACTERS],
                )
                if part
            )
    return ""


def _carried(before: str, text: str) -> str:
    """The unfinished last sentence of the page before, where this page goes on with it."""
    tail = before.rstrip()[-600:]
    head = text.lstrip()[:1]
    if not tail or not head.islower() or is_finished(tail, also=":;"):
        return ""
    return sentences(tail)[-1][-CARRIED_CHARACTERS:].replace("\n", " ").strip()
