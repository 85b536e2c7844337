"""Tells which line, head or label gives a cell its scale or percentage kind: the nearest that states one."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable

from ingestion.language.numbers import ScaleMark, scale_marks, stated_mark
from ingestion.language.scales import scale_of
from ingestion.records import Row, Table

__all__ = ["for_row", "governing_mark", "is_counted", "mark_beside", "mark_of_table", "passage_scale"]

_LOOK_BACK = 50  # marks: no table has so many in succession that hold for a single row
# "Cr" in a line of units, where no debits and credits stand.
_CRORES = re.compile(r"(?i)(?:(?<=[(,\s])|\A)crs?(?=\.?\s?(?:[),;]|\Z))")
# "Number of frauds", beside amounts in crores.
COUNTED = re.compile(r"(?i)\b(?:number|count|no\.) of\b")

Reader = Callable[[str], ScaleMark | None]


def passage_scale(text: str) -> tuple[float, str | None]:
    """Scale and unit of the passage's bare cells; (1.0, None) where no mark gives them.

    Marks with a scale come before others, and then those that govern more than a line; the first is taken.
    """
    marks = sorted(scale_marks(text), key=lambda mark: (mark.scale == 1.0, mark.until is not None))
    return (marks[0].scale, marks[0].unit) if marks else (1.0, None)


def governing_mark(marks: list[ScaleMark], position: int) -> ScaleMark | None:
    """The nearest mark before a position that still governs there. marks: in the order of scale_marks."""
    before = bisect_left(marks, position, key=lambda mark: mark.end)
    nearest = reversed(marks[max(0, before - _LOOK_BACK) : before])
    return next((mark for mark in nearest if mark.until is None or position < mark.until), None)


def is_counted(head: str, row: Row) -> bool:
    """Whether a column or row counts things, so that a scale or currency of its table is not of it."""
    return COUNTED.search(f"{head} > {row.section} > {row.label}") is not None


def mark_beside(head: str, row: Row, read: Reader = stated_mark) -> ScaleMark | None:
    """What a cell's own head, its row's label or a section above it states, the innermost first.

    It takes precedence over what the table states for all cells.
    """
    texts = (*reversed(head.split(" > ")), row.label, *reversed(row.section.split(" > ")))
    return next(filter(None, map(read, filter(None, texts))), None)


def mark_of_table(table: Table, row: Row, read: Reader = stated_mark) -> ScaleMark | None:
    """What a table's line of units, else its caption, states for the cells of a row.

    In a caption a percentage kind stands in brackets, as in prose.
    """
    if table.unit:
        crores = _CRORES.search(table.unit)
        mark = read(table.unit) or (crores and ScaleMark(*crores.span(), scale_of("cr"), None))
        if mark:
            return for_row(mark, row)
    stated = reversed(scale_marks(table.caption))
    return for_row(max(stated, key=lambda mark: mark.scale > 1, default=None), row)


def for_row(mark: ScaleMark | None, row: Row) -> ScaleMark | None:
    """The mark that applies to a row, of a line with one mark for money and one for what is counted.

    That is the mark for money, unless the row's label or section names what is counted.
    """
    if mark is None or mark.counted in f"{row.section} {row.label}".casefold():
        return mark
    return mark.money
