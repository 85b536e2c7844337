"""Cuts a page into what can be quoted of it: sentences, list items and table rows, verbatim; knows no question."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from chatbot.records import Hit
from ingestion.records import Row, Table

__all__ = ["BULLET", "ROW_FIGURE", "SENTENCE_ENDS", "YEAR", "Passage", "passages", "verbatim"]

FEWEST_WORDS = 3
LONGEST_ROW = 200
SENTENCE_ENDS = (".", "!", "?", ".”", '."', ".’", ".)", ";", "; and", "; or")
# A table's caption, unit line and column heads are at most this many lines above its rows.
MOST_HEAD_LINES = 3
CAPTION = re.compile(r"(table|chart|figure|box|annex|schedule|exhibit)\s", re.I)
ROW_END = re.compile(r"[\d%)–—-]\s*(?:[a-z*†‡]|\[\d+\])?$")
ROW_FIGURE = re.compile(r"\(?[-−]?[$€£₹]?\s?\d[\d,.]*%?\)?")
YEAR = re.compile(r"\b(?:FY)?(?:19|20)\d{2}(?:\s?[-/–]\s?\d{2,4})?\b")
# A full stop ends a sentence unless what stands before it is an abbreviation or an initial, or a small letter or digit follows.
SENTENCE = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+(?=[\"'“‘(\[]?[A-Z0-9•])")
ABBREVIATION = re.compile(r"(\b(Inc|Mr|Mrs|Ms|Dr|No|Nos|Fig|pp?|cf|vs|etc|e\.g|i\.e|U\.S|Co|Corp|Ltd|St|Art|Sec|Rs|approx|est)|\b[A-Z])\.$")
LEADER = re.compile(r"(?:\. ?){5}|\u2026{2}")
BULLET = re.compile(r"^\s*(?:[•●▪◦‣–-]|\(?[a-z]{1,4}\)|\(?\d{1,2}[.)])\s+")


@dataclass(frozen=True, slots=True)
class Passage:
    """A sentence or a table row of a page, verbatim but for line ends. head: the lines above that say what it is about. at: its place on
    the page, counted. table, row: where it is a row of a table that was read as one."""

    text: str
    head: str
    is_row: bool
    at: int = 0
    table: Table | None = None
    row: Row | None = None


def passages(hit: Hit) -> list[Passage]:
    """The page's sentences, list items and table rows in order; rows of its tables, whose heads are known, last."""
    found: list[Passage] = []
    heading, table, group = "", "", ""
    pending: list[str] = []
    for block, is_row in _blocks(hit.body or hit.page_text):
        if is_row:
            if pending and table and len(pending) == 1 and not CAPTION.match(pending[0]) and not YEAR.search(pending[0]):
                group = pending[0]  # a line within the table that heads the rows below it
            elif pending:
                table, group = " ".join(pending[-MOST_HEAD_LINES:]), ""
            found.append(Passage(block, f"{table} {group}".strip(), True))
        elif _is_head(block):
            pending.append(block)
            continue
        else:
            heading, table = (pending[-1] if pending else heading), ""
            found.extend(Passage(sentence, heading, False) for sentence in _sentences(block))
        pending = []
    rows = [passage for table in hit.tables for passage in _rows_of(table, hit.page_text)]
    known = {_spaceless(passage.text) for passage in rows}
    written = [passage for passage in _with_their_lists(found) if not (passage.is_row and _spaceless(passage.text) in known)]
    return [replace(passage, at=at) for at, passage in enumerate([*written, *rows])]


def _rows_of(table: Table, page_text: str) -> Iterator[Passage]:
    """The rows of a table that have values."""
    for row in table.rows:
        if any(row.cells) and 0 <= row.start < row.end <= len(page_text):
            text = verbatim(row, page_text)
            head = ", ".join(part for part in (table.caption, table.unit, row.section) if part)
            yield Passage(text, " ".join(head.split())[:LONGEST_ROW], True, table=table, row=row)


def verbatim(row: Row, page_text: str) -> str:
    """A row as the page has it, on one line."""
    return " ".join(page_text[row.start : row.end].split())[:LONGEST_ROW]


def _spaceless(text: str) -> str:
    return "".join(text.split())


def _with_their_lists(found: Sequence[Passage]) -> Iterator[Passage]:
    """Sentences that announce a list, taken together with the items that follow."""
    for at, passage in enumerate(found):
        items = list(takewhile(lambda item: not item.is_row and bool(BULLET.match(item.text)), found[at + 1 :]))
        if passage.text.endswith(":") and items:
            yield Passage("\n".join([passage.text, *(item.text for item in items)]), passage.head, False)
        else:
            yield passage


def _blocks(text: str) -> Iterator[tuple[str, bool]]:
    """(paragraph or row, is it a table row): lines of prose joined, rows and headings by themselves."""
    prose: list[str] = []
    for line in map(str.strip, text.split("\n")):
        if LEADER.search(line):  # an entry of a table of contents
            continue
        row, starts = _is_row(line), bool(BULLET.match(line))
        if prose and (not line or row or starts or _ends_block(prose[-1], line)):
            yield " ".join(prose), False
            prose = []
        if row:
            yield line, True
        elif line:
            prose.append(line)
    if prose:
        yield " ".join(prose), False


def _is_row(line: str) -> bool:
    """A line with a label, then figures, and little else; a sentence that holds figures is none, nor a head of years, a caption or a numbered heading."""
    line = YEAR.sub(" ", line).rstrip()
    if not line or len(line) > LONGEST_ROW or line.endswith((".", ";")) or CAPTION.match(line):
        return False
    figures = ROW_FIGURE.findall(line)
    others = ROW_FIGURE.sub(" ", line).split()
    ends_in_figure = bool(figures) and bool(ROW_END.search(line))
    return (ends_in_figure or len(figures) > 1) and len(others) <= 12 and len(figures) >= len(others) / 4


def _ends_block(last: str, line: str) -> bool:
    """Whether a new block begins with `line`: the last one was a heading, or ended its sentence well before the margin."""
    return (_is_head(last) and line[:1].isupper()) or (last.endswith((".", ":", ";")) and len(last) < 60)


def _is_head(text: str) -> bool:
    words = YEAR.sub(" ", text).split()
    return len(words) <= 14 and len(text) <= 110 and not text.endswith((".", ";", ",")) and not BULLET.match(text)


def _sentences(block: str) -> Iterator[str]:
    """The sentences of a block; one of a word or two, such as a glossary's term, goes with the next."""
    start = 0
    for match in SENTENCE.finditer(block):
        before = block[start : match.start()]
        if len(before.split()) > FEWEST_WORDS and not ABBREVIATION.search(before.rstrip("\"'”’)]")):
            yield before.strip()
            start = match.end()
    if block[start:].strip():
        yield block[start:].strip()
