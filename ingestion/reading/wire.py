"""Turns pages into plain JSON values and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from functools import partial
from typing import Any

from ingestion.invisible_characters import one_line
from ingestion.records import Cell, Line, Page, Rect, Row, Table, Word

__all__ = ["Json", "box_to", "page_from", "page_to", "tables_from", "tables_to", "words_from", "words_to"]

Json = dict[str, Any]
# Digits after the point: a hundred-thousandth of a page is finer than a pixel at 1,000 dpi.
DIGITS = 5
# Characters of a caption, a head or a label; a table's introduction may be a whole sentence.
LONGEST_NAME = 1_000
_name = partial(one_line, most=LONGEST_NAME)


def _values(record: Any) -> Json:
    return {field.name: getattr(record, field.name) for field in fields(record)}


def page_to(page: Page) -> Json:
    """A page as JSON values."""
    lines = [(line.start, line.end, *box_to(line.box)) for line in page.lines]
    return {**_values(page), "words": words_to(page.words), "lines": lines, "tables": tables_to(page.tables)}


def page_from(values: Json) -> Page:
    """The page of page_to. Raises KeyError, TypeError or ValueError where the values are no page."""
    made = {
        **values,
        "running": tuple(map(tuple, values["running"])),
        "kinds": tuple(values["kinds"]),
        "instructions": tuple(map(tuple, values["instructions"])),
        "remarks": tuple(map(str, values["remarks"])),
        "words": words_from(values["words"]),
        "lines": tuple(Line(start, end, Rect(*box)) for start, end, *box in values["lines"]),
        "tables": tables_from(values["tables"]),
    }
    return Page(**made)


def words_to(words: Iterable[Word]) -> list[list[Any]]:
    """Words as JSON values."""
    return [[word.text, *box_to(word.box), word.confidence, word.start, word.end] for word in words]


def words_from(values: Iterable[Sequence[Any]]) -> tuple[Word, ...]:
    """The words of words_to."""
    return tuple(Word(value[0], Rect(*value[1:5]), *value[5:]) for value in values)


def tables_to(tables: Iterable[Table]) -> list[Json]:
    """Tables as JSON values."""
    return [
        {**_values(table), "rows": list(map(_row_to, table.rows)), "box": box_to(table.box)}
        for table in tables
    ]


def _row_to(row: Row) -> tuple[Any, ...]:
    cells = [cell and tuple(_values(cell).values()) for cell in row.cells]
    return row.label, cells, row.section, row.start, row.end


def tables_from(values: Iterable[Json]) -> tuple[Table, ...]:
    """The tables of tables_to, their captions, units, heads, labels and sections each on one line."""
    return tuple(map(_table_from, values))


def _table_from(values: Json) -> Table:
    made = {
        **values,
        "caption": _name(values["caption"]),
        "unit": _name(values["unit"]),
        "heads": tuple(map(_name, values["heads"])),
        "rows": tuple(map(_row_from, values["rows"])),
        "box": Rect(*values["box"]),
    }
    return Table(**made)


def _row_from(values: Sequence[Any]) -> Row:
    label, cells, section, start, end = values
    made = tuple(cell and Cell(*cell) for cell in cells)
    return Row(_name(label), made, _name(section), start, end)


def box_to(box: Rect) -> list[float]:
    """The sides of a box, rounded to DIGITS."""
    return [round(side, DIGITS) for side in (box.x0, box.y0, box.x1, box.y1)]
