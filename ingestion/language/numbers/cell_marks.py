"""Finds the text of a table that gives a cell its scale or percentage kind: the nearest that states one."""

from __future__ import annotations

import re
from collections.abc import Callable

from ingestion.language.numbers.figures import find_figures
from ingestion.language.numbers.scale_marks import ScaleMark, scale_marks
from ingestion.language.scales import SCALE_WORD, WHOLE_SCALE, ZEROS, scale_of
from ingestion.records import Row, Table

__all__ = ["for_row", "mark_beside", "mark_of_table", "stated_mark"]

_POINTS = re.compile(
    r"(?<![0-9])(?<![0-9] )(?:percentage|per ?cent|%)[\s-]points?|\bppts?\b|\bpp\b", re.IGNORECASE
)
_BASIS_POINTS = re.compile(r"(?<![0-9] )\bbasis points?\b|\bbps\b", re.IGNORECASE)
_PERCENT = re.compile(r"(?<![0-9])(?<![0-9] )(?:%|\bper ?cent(?:age)?s?\b)", re.IGNORECASE)
_KINDS = (("percentage points", _POINTS), ("basis points", _BASIS_POINTS), ("%", _PERCENT))
# "Population mln", "GDP, bln", "Loans (mln EUR)", "'000 tonnes": a name states its scale in brackets, at its
# end or as zeros. "Dr" and "Cr" are no scales.
_RUPEES = r"\.?\s?(?:of )?(?:₹|rs\b|inr\b|(?:indian )?rupees?\b)"
_BARE_SCALE = re.compile(
    rf"(?:(?<=[(,\s])|\A)(?-i:(?!TN\b))(?!crs?\b(?!{_RUPEES}))(?:(?P<word>{SCALE_WORD})(?=\.?\s?(?:[),;]"
    rf"|\Z|{_RUPEES}))|(?P<inside>(?<=\(){SCALE_WORD})\b"
    rf"|(?P<of>{WHOLE_SCALE}s)(?= of\b))|(?<![0-9,.])(?P<zeros>{ZEROS})",
    re.IGNORECASE,
)
# "Cr" in a line of units, where no debits and credits stand.
_CRORES = re.compile(r"(?:(?<=[(,\s])|\A)crs?(?=\.?\s?(?:[),;]|\Z))", re.IGNORECASE)
Reader = Callable[[str], ScaleMark | None]


def stated_mark(text: str) -> ScaleMark | None:
    """The scale, else the percentage kind, that a head, a label or a line of units states.

    "3.5% notes" and "5 million people" state none.
    """
    scales = [mark for mark in scale_marks(text) if mark.scale > 1] or _bare_scales(text)
    if scales:
        return scales[-1]
    for unit, pattern in _KINDS:
        match = pattern.search(text)
        if match:
            return ScaleMark(match.start(), match.end(), 1.0, unit)
    return None


def mark_beside(head: str, row: Row, read: Reader = stated_mark) -> ScaleMark | None:
    """What a cell's own head, its row's label or a section above it states, the innermost first.

    It takes precedence over what the table states for all cells.
    """
    for text in (*reversed(head.split(" > ")), row.label, *reversed(row.section.split(" > "))):
        mark = read(text) if text else None
        if mark:
            return mark
    return None


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


def _bare_scales(text: str) -> list[ScaleMark]:
    found = list(_BARE_SCALE.finditer(text))
    amounts = find_figures(text) if found else []  # "one million", "30-40 thousand" are amounts of their own
    marks: list[ScaleMark] = []
    for match in found:
        if not any(amount.start <= match.start() < amount.end for amount in amounts):
            word = match["word"] or match["inside"] or match["of"] or "thousand"
            marks.append(ScaleMark(*match.span(), scale_of(word), None))
    return marks
