"""Turns pages into plain JSON values and back, and writes such values to a pipe."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Sequence
from dataclasses import astuple, fields
from functools import partial
from typing import IO, Any

from ingestion.invisible_characters import one_line
from ingestion.records import Cell, Line, Page, Rect, Row, Table, Word

__all__ = [
    "AWAITED",
    "box_to",
    "page_from",
    "page_to",
    "tables_from",
    "tables_to",
    "words_from",
    "words_to",
    "write_message",
]

Values = dict[str, Any]
# The word given to a reading process whose answer someone waits for.
AWAITED = "awaited"
# Digits after the point: a hundred-thousandth of a page is finer than a pixel at 1,000 dpi.
DIGITS = 5
# Characters of a caption, a head or a label; a table's introduction may be a whole sentence.
LONGEST_NAME = 1_000
NOT_PLAIN = {"words", "lines", "tables", "running", "kinds", "instructions", "remarks"}
PLAIN = [field.name for field in fields(Page) if field.name not in NOT_PLAIN]


def write_message(pipe: IO[bytes], message: Values) -> None:
    """Send a message: four bytes of length, big-endian, and JSON."""
    data = json.dumps(message).encode()
    pipe.write(struct.pack(">I", len(data)) + data)
    pipe.flush()


def page_to(page: Page) -> Values:
    """A page as JSON values."""
    values: Values = {name: getattr(page, name) for name in PLAIN}
    values["running"] = page.running
    values["kinds"] = page.kinds
    values["instructions"] = page.instructions
    values["remarks"] = page.remarks
    values["words"] = words_to(page.words)
    values["lines"] = [(line.start, line.end, *box_to(line.box)) for line in page.lines]
    values["tables"] = tables_to(page.tables)
    return values


def page_from(values: Values) -> Page:
    """The page of page_to. Raises KeyError, TypeError or ValueError where the values are no page."""
    made: Values = {name: values[name] for name in PLAIN}
    made["running"] = _spans_from(values["running"])
    made["kinds"] = tuple(values["kinds"])
    made["instructions"] = _spans_from(values["instructions"])
    made["remarks"] = tuple(map(str, values["remarks"]))
    made["words"] = words_from(values["words"])
    made["lines"] = tuple(Line(start, end, Rect(*box)) for start, end, *box in values["lines"])
    made["tables"] = tables_from(values["tables"])
    return Page(**made)


def _spans_from(values: Iterable[Sequence[int]]) -> tuple[tuple[int, int], ...]:
    return tuple((start, end) for start, end in values)


def words_to(words: Iterable[Word]) -> list[list[Any]]:
    """Words as JSON values."""
    return list(map(_word_to, words))


def _word_to(word: Word) -> list[Any]:
    return [word.text, *box_to(word.box), word.confidence, word.start, word.end]


def words_from(values: Iterable[Sequence[Any]]) -> tuple[Word, ...]:
    """The words of words_to."""
    return tuple(map(_word_from, values))


def _word_from(values: Sequence[Any]) -> Word:
    text, x0, y0, x1, y1, confidence, start, end = values
    return Word(text, Rect(x0, y0, x1, y1), confidence, start, end)


def tables_to(tables: Iterable[Table]) -> list[Values]:
    """Tables as JSON values."""
    return list(map(_table_to, tables))


def _table_to(table: Table) -> Values:
    return {
        "caption": table.caption,
        "unit": table.unit,
        "heads": table.heads,
        "rows": list(map(astuple, table.rows)),
        "box": box_to(table.box),
        "continued": table.continued,
    }


_name = partial(one_line, most=LONGEST_NAME)


def tables_from(values: Iterable[Values]) -> tuple[Table, ...]:
    """The tables of tables_to, their captions, units, heads, labels and sections each on one line."""
    return tuple(map(_table_from, values))


def _table_from(values: Values) -> Table:
    caption = _name(values["caption"])
    unit = _name(values["unit"])
    heads = tuple(map(_name, values["heads"]))
    rows = tuple(map(_row_from, values["rows"]))
    return Table(caption, unit, heads, rows, Rect(*values["box"]), values["continued"])


def _row_from(values: Sequence[Any]) -> Row:
    label, cells, section, start, end = values
    made = tuple(cell and Cell(*cell) for cell in cells)
    return Row(_name(label), made, _name(section), start, end)


def box_to(box: Rect) -> list[float]:
    """The sides of a box, rounded to DIGITS."""
    return [round(side, DIGITS) for side in astuple(box)]
