"""Cuts a page into what can be quoted of it: sentences, list items and table rows, verbatim; knows no question."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise, takewhile

from chatbot.answer.quoting.blocks import BULLET, CAPTION, SPEAKER, YEAR, is_head, read_blocks
from chatbot.records import Hit
from ingestion.records import Row, Table

__all__ = ["SENTENCE_ENDS", "Passage", "orders_of", "passages", "verbatim"]

FEWEST_WORDS = 3
LONGEST_ROW = 200
# A question ends the turn of who asks it, or has a word of thanks behind it.
LAST_OF_TURN = 2
SENTENCE_ENDS = (".", "!", "?", ".”", '."', ".’", ".)", ";", "; and", "; or")
# A table's caption, unit line and column heads are at most this many lines above its rows.
MOST_HEAD_LINES = 3
# Rows that a sentence announces and that are quoted with it; more are a table, of which one row is.
MOST_LISTED_ROWS = 12
# Items of a list that are quoted with what announces it.
MOST_ITEMS = 40
# Rows of the page's tables that a sentence may repeat word for word; what has more is their text without its columns. Of fewer characters than
# these a row is a figure or two, which any sentence can have.
MOST_ROWS_IN_PROSE, SHORTEST_REPEATED = 1, 12
# A full stop ends a sentence unless what stands before it is an abbreviation or an initial, or a small letter or digit follows.
SENTENCE = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+(?=[\"'“‘(\[]?[A-Z0-9•])")
ABBREVIATION = re.compile(r"(\b(Inc|Mr|Mrs|Ms|Dr|No|Nos|Fig|pp?|cf|vs|etc|e\.g|i\.e|U\.S|Co|Corp|Ltd|St|Art|Sec|Rs|approx|est)|\b[A-Z])\.$")


@dataclass(frozen=True, slots=True)
class Passage:
    """A sentence or a table row of a page, verbatim but for line ends. head: the lines above that say what it is about. at: its place on
    the page, counted. table, row: where it is a row of a table that was read as one. asks: it is of a speaker's turn that ends in a question."""

    text: str
    head: str
    is_row: bool
    at: int = 0
    table: Table | None = None
    row: Row | None = None
    asks: bool = False


def passages(hit: Hit) -> list[Passage]:
    """The page's sentences, list items and table rows in order; rows of its tables, whose heads are known, last."""
    found: list[Passage] = []
    heading, table, group = "", "", ""
    pending: list[str] = []
    for block, is_row in read_blocks(hit.body or hit.page_text):
        if is_row:
            if pending and table and len(pending) == 1 and not CAPTION.match(pending[0]) and not YEAR.search(pending[0]):
                group = pending[0]  # a line within the table that heads the rows below it
            elif pending:
                table, group = " ".join(pending[-MOST_HEAD_LINES:]), ""
            elif not table and found and found[-1].text.endswith(":"):
                table = found[-1].text[-LONGEST_ROW:]  # the sentence that announces the rows
            found.append(Passage(block, f"{table} {group}".strip(), True))
        elif is_head(block):
            pending.append(block)
            continue
        else:
            heading, table = (pending[-1] if pending else heading), ""
            found.extend(Passage(sentence, heading, False) for sentence in _sentences(block))
        pending = []
    rows = [passage for table in hit.tables for passage in _rows_of(table, hit.page_text)]
    known = {_spaceless(passage.text) for passage in rows}
    beginning: dict[str, list[str]] = {}
    for row in known:
        if len(row) >= SHORTEST_REPEATED:
            beginning.setdefault(row[:SHORTEST_REPEATED], []).append(row)
    prose = [passage for passage in found if passage.is_row or not _runs_through(passage.text, beginning)]
    written = [passage for passage in _with_their_lists(_with_who_asks(prose)) if not (passage.is_row and _spaceless(passage.text) in known)]
    return [replace(passage, at=at) for at, passage in enumerate([*written, *rows])]


def _rows_of(table: Table, page_text: str) -> Iterator[Passage]:
    """The rows of a table that have values."""
    for row in table.rows:
        if any(row.cells) and 0 <= row.start < row.end <= len(page_text):
            text = verbatim(row, page_text)
            unit = "" if table.unit in table.caption else table.unit
            head = ", ".join(filter(None, (table.caption.strip(" :•"), unit, row.section.strip(" :"))))
            yield Passage(text, _cut(" ".join(head.split())), True, table=table, row=row)


def orders_of(hit: Hit) -> str:
    """What on the page addresses its reader as a machine, on one line."""
    return " ".join(" ".join(hit.page_text[start:end].split()) for start, end in hit.instructions)


def verbatim(row: Row, page_text: str) -> str:
    """A row as the page has it, on one line, a long one to the last whole word that has room."""
    return _cut(" ".join(page_text[row.start : row.end].split()))


def _cut(line: str) -> str:
    return line if len(line) <= LONGEST_ROW else line[: LONGEST_ROW + 1].rpartition(" ")[0] or line[:LONGEST_ROW]


def _runs_through(text: str, rows: Mapping[str, Collection[str]]) -> bool:
    """Whether a text is a table's, read line after line: it has several of its rows. rows: without their spaces, by how they begin."""
    joined = _spaceless(text) if rows else ""
    places = range(len(joined) - SHORTEST_REPEATED + 1)
    return len({row for at in places for row in rows.get(joined[at : at + SHORTEST_REPEATED], ()) if joined.startswith(row, at)}) > MOST_ROWS_IN_PROSE


def _spaceless(text: str) -> str:
    return "".join(text.split())


def _with_who_asks(found: Sequence[Passage]) -> list[Passage]:
    """The passages of a transcript with those marked that lead up to a question; others as they are."""
    starts = [at for at, passage in enumerate(found) if SPEAKER.match(passage.text)]
    if not starts:
        return list(found)
    marked: list[Passage] = []
    for first, last in pairwise([0, *starts, len(found)]):
        turn = found[first:last]
        asks = any(passage.text.endswith("?") for passage in turn[-LAST_OF_TURN:])
        marked += [replace(passage, asks=asks) for passage in turn]
    return marked


def _with_their_lists(found: Sequence[Passage]) -> Iterator[Passage]:
    """Sentences that announce a list or a short table, taken together with the items or rows that follow; an item announces nothing itself."""
    taken = 0
    for at, passage in enumerate(found):
        items: list[Passage] = []
        if at >= taken and passage.text.endswith(":") and not passage.is_row:
            rows = at + 1 < len(found) and found[at + 1].is_row
            belongs = _is_labelled if rows else _is_item
            items = list(takewhile(belongs, islice(found, at + 1, at + 2 + (MOST_LISTED_ROWS if rows else MOST_ITEMS))))
            items = [] if rows and len(items) > MOST_LISTED_ROWS else items[:MOST_ITEMS]
        taken = max(taken, at + 1 + len(items))
        yield replace(passage, text="\n".join([passage.text, *(item.text for item in items)])) if items else passage


def _is_labelled(passage: Passage) -> bool:
    """A row that has a word; a figure alone is a mark of a chart's axis."""
    return passage.is_row and any(map(str.isalpha, passage.text))


def _is_item(passage: Passage) -> bool:
    return not passage.is_row and BULLET.match(passage.text) is not None


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
