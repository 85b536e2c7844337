"""Knows which of a table's texts gives a cell its scale or percentage kind: the nearest that states one;
knows no page and no answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ingestion.language.numbers.figures import find_figures
from ingestion.language.numbers.scale_marks import ScaleMark, scale_marks
from ingestion.language.scales import SCALE_WORD, WHOLE_SCALE, ZEROS, scale_of
from ingestion.records import Row, Table

__all__ = ["for_row", "mark_beside", "mark_of_table", "stated_mark"]

_KINDS = (
    (
        "percentage points",
        re.compile(
            r"(?<![0-9])(?<![0-9] )(?:percentage|per ?cent|%)[\s-]points?|\bppts?\b|\bpp\b", re.IGNORECASE
        ),
    ),
    ("basis points", re.compile(r"(?<![0-9] )\bbasis points?\b|\bbps\b", re.IGNORECASE)),
    ("%", re.compile(r"(?<![0-9])(?<![0-9] )(?:%|\bper ?cent(?:age)?s?\b)", re.IGNORECASE)),
)
# "Population mln", "GDP, bln", "Loans (mln EUR)", "'000 tonnes": a name says its scale in brackets, at its
# end or in noughts. "Dr", "Cr" are no scales.
_RUPEES = r"\.?\s?(?:of )?(?:₹|rs\b|inr\b|(?:indian )?rupees?\b)"
_BARE_SCALE = re.compile(
    rf"(?:(?<=[(,\s])|\A)(?-i:(?!TN\b))(?!crs?\b(?!{_RUPEES}))(?:(?P<word>{SCALE_WORD})(?=\.?\s?(?:[),;]"
    rf"|\Z|{_RUPEES}))|(?P<inside>(?<=\(){SCALE_WORD})\b"
    rf"|(?P<of>{WHOLE_SCALE}s)(?= of\b))|(?<![0-9,.])(?P<zeros>{ZEROS})",
    re.IGNORECASE,
)
_CRORES = re.compile(
    r"(?:(?<=[(,\s])|\A)crs?(?=\.?\s?(?:[),;]|\Z))", re.IGNORECASE
)  # in a line of units, where no debits and credits stand
Reader = Callable[[str], ScaleMark | None]


def stated_mark(text: str) -> ScaleMark | None:
    """The scale, else the percentage kind, that a head, a label or a line of units states; "3.5% notes"
    and "5 million people" state none.
    """
    scales = [mark for mark in scale_marks(text) if mark.scale > 1] or _bare_scales(text)
    if scales:
        return scales[-1]
    kinds = ((unit, match) for unit, pattern in _KINDS if (match := pattern.search(text)))
    return next((ScaleMark(match.start(), match.end(), 1.0, unit) for unit, match in kinds), None)


def mark_beside(head: str, row: Row, read: Reader = stated_mark) -> ScaleMark | None:
    """What a cell's own head, its row's label or a section above it states, the innermost first; it goes
    before what the table says of all.
    """
    texts = (*reversed(head.split(" > ")), row.label, *reversed(row.section.split(" > ")))
    return next((mark for text in texts if text and (mark := read(text))), None)


def mark_of_table(table: Table, row: Row, read: Reader = stated_mark) -> ScaleMark | None:
    """What a table's line of units states of the cells of a row, else its caption, in which a percentage
    kind stands in brackets, as in prose.
    """
    if mark := (read(table.unit) or _crores(table.unit)) if table.unit else None:
        return for_row(mark, row)
    return for_row(
        max(reversed(scale_marks(table.caption)), key=lambda mark: mark.scale > 1, default=None), row
    )


def for_row(mark: ScaleMark | None, row: Row) -> ScaleMark | None:
    """The mark of a line that has one for money and one for what is counted: the former, unless label or
    section names what is counted.
    """
    if mark is None or mark.money is None or mark.counted in f"{row.section} {row.label}".casefold():
        return mark
    return mark.money


def _crores(unit: str) -> ScaleMark | None:
    found = _CRORES.search(unit)
    if found:
        return ScaleMark(*found.span(), scale_of("cr"), None)
    return None


def _bare_scales(text: str) -> list[ScaleMark]:
    found = list(_BARE_SCALE.finditer(text))
    if not found:
        return []
    amounts = find_figures(text)  # "one million", "30-40 thousand" are amounts of their own
    apart = [
        match for match in found if not any(amount.start <= match.start() < amount.end for amount in amounts)
    ]
    return [
        ScaleMark(
            *match.span(),
            1e3 if match["zeros"] else scale_of(match["word"] or match["inside"] or match["of"]),
            None,
        )
        for match in apart
    ]
