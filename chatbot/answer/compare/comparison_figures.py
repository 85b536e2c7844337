"""Takes from a checked answer the one figure that it gives for a measure and a year.

The figure is the result of a formula, or stands in a row or a sentence. It is taken only where its row or
sentence names what the question asks for and just one value can be meant: a wrong figure in a table is worse
than none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from chatbot.answer.compare.measure_match import (
    EXACT,
    MeasureQuery,
    asks_per_share,
    fits,
    is_own,
    label_names,
    names,
    speaks_of,
)
from chatbot.answer.tables.cell_lookup import stated_unit, states_percent
from chatbot.comparison import Quantity
from chatbot.evidence.page import page_of
from chatbot.evidence.scales_of_cells import governing_mark, passage_scale
from chatbot.records import FINE, Answer, Citation, Hit, NumberCheck
from ingestion.language.currencies import MONEY
from ingestion.language.figure_words import ABOUT, AGAINST
from ingestion.language.numbers import Figure, scale_marks, stated_mark

__all__ = ["Part", "derived_figure", "stated"]

RATES = frozenset({"%", "percentage points", "basis points"})
# Words of a question for what is a rate, though they do not say so.
RATES_BY_NAME = frozenset({"growth", "inflation", "unemployment"})
# Where no limit is asked for, a limit is no value of what it limits: "unemployment was below 4 percent".
BEFORE_LIMIT = re.compile(
    (
        r"\b(?:below|above|under|over|exceed(?:s|ed|ing)?|at (?:least|most)|up to|(?:more|less|fewer|lower"
        r"|higher) than|within|minimum of|maximum of)\s$"
    ),
    re.IGNORECASE,
)
# The row counts things rather than money.
COUNTS = re.compile(
    (
        r"\b(?:shares?|number|employees|headcount|staff|stores|units|customers|subscribers|people|days|years"
        r"|ratio|times|per)\b"
    ),
    re.IGNORECASE,
)
# How much something moved, and from where, is no level.
BEFORE_CHANGE = re.compile(
    rf"\b(?:by|up|down|additional|further|extra)\s(?:(?:{ABOUT}|over)\s)?$", re.IGNORECASE
)
BEFORE_BASE = re.compile(rf"\b(?:from|than|{AGAINST})\s(?:(?:{ABOUT}|the|a)\s)?$", re.IGNORECASE)
# Such words are looked for in this many characters before a figure.
LOOK_BACK = 30
_PER_CENT = re.compile(r"\bper ?cent\b", re.IGNORECASE)
# What ends a row's label: its first figure.
_TO_FIGURE = re.compile(r"[^\w%]{0,3}\d")
_BRACKETS = {")": 1, "(": -1}


_Checked = tuple[Figure, NumberCheck | None]


@dataclass(frozen=True, slots=True)
class Part:
    """What stands before one citation: a sentence or a row.

    text: the sentence or row.
    start: its offset in the answer's text.
    citation: the citation after it.
    figures: its figures with their checks; their offsets are those of the answer's text.
    """

    text: str
    start: int
    citation: Citation | None
    figures: tuple[tuple[Figure, NumberCheck | None], ...]


def derived_figure(
    answer: Answer, parts: Sequence[Part], wanted: MeasureQuery
) -> tuple[Quantity, str, tuple[Citation, ...]] | None:
    """The result of arithmetic that the answer shows for the year, with what its operands are cited from."""
    for paragraph in answer.text.split("\n\n"):
        start = answer.text.find(paragraph)
        end = start + len(paragraph)
        result = _last_result(parts, start, end)
        if result is None or fits(paragraph.partition("=")[0], wanted) == 0:
            continue
        figure, check = result
        behind = answer.text[figure.end : end]
        scale, unit = passage_scale(behind)
        heading = behind.strip(" ,.") if scale != 1 else ""
        quantity = replace(
            _quantity(figure, check, heading=heading),
            scale=figure.scale * scale,
            unit=figure.unit or unit,
            formula=check.formula or "",
        )
        cited = tuple(dict.fromkeys(part.citation for part in parts if part.citation))
        return quantity, paragraph, cited
    return None


def _last_result(parts: Sequence[Part], start: int, end: int) -> tuple[Figure, NumberCheck] | None:
    """The last figure of a paragraph that is the result of a formula. start, end: of the paragraph."""
    last = None
    for part in parts:
        for figure, check in part.figures:
            if not start <= figure.start < end:
                continue
            if check and check.formula and check.formula.endswith(figure.text):
                last = figure, check
    return last


def stated(
    answer: Answer, parts: Sequence[Part], wanted: MeasureQuery
) -> tuple[Quantity, str, tuple[Citation, ...]] | None:
    """The figure of the first row or sentence that names the measure and gives one for the year."""
    undated = None
    for part in parts:
        found = _of_row(answer, part, wanted) if _read_out(part.text) else _of_sentence(part, wanted)
        if found is None or not _is_of_kind(found, wanted):
            continue
        given = found, part.text, ((part.citation,) if part.citation else ())
        if found.dated:
            return given
        undated = undated or given
    return undated


def _is_of_kind(quantity: Quantity, query: MeasureQuery) -> bool:
    """Whether a figure can be a value of the measure.

    An amount is none of a percentage, and a whole number is none for each share: it counts shares.
    """
    if not query.measures:
        return True
    if asks_per_share(query):
        return quantity.decimals > 0 and quantity.unit != "%"
    return query.measures[0].unit != "%" or quantity.unit in RATES


def _read_out(text: str) -> tuple[int, int] | None:
    """(start, end) of the columns that are read out behind a row; None for a sentence.

    "Total revenue 17,606 15,785 (2022: 17,606; 2021: 15,785, in millions)".
    """
    text = text.rstrip()
    if not text.endswith(")"):
        return None
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        depth += _BRACKETS.get(text[at], 0)
        if depth != 0:
            continue
        if ": " in text[at:]:
            return (at + 1, len(text) - 1)
        return None
    return None


def _of_row(answer: Answer, part: Part, query: MeasureQuery) -> Quantity | None:
    """The one figure that a row gives for the year."""
    first, last = _read_out(part.text) or (0, 0)
    label = _label(part.text[: first - 1])
    if not label_names(label, query):
        return None
    read_out = part.text[first:last]
    columns = [(head, at) for head, at in _columns(read_out) if fits(head, query) == EXACT]
    figures = [_figure_from(part, first + at) for _, at in columns]
    values = {found[0].value for found in figures if found}
    if len(values) != 1 or not figures[0]:
        return None
    figure, check = figures[0]
    if asks_per_share(query):
        return _quantity(figure, check)
    quantity = _quantity(figure, check, heading=_heading(columns[0][0], read_out))
    hit, at = _source(answer, part)
    return _with_unit(quantity, hit, at, label)


def _label(text: str) -> str:
    """A row's label, from what stands before its read-out columns."""
    return _TO_FIGURE.split(text.rsplit("\n", 1)[-1].rsplit(":", 1)[-1], maxsplit=1)[0]


def _figure_from(part: Part, at: int) -> _Checked | None:
    """The first figure of a part from a place on."""
    start = part.start + at
    return next((found for found in part.figures if found[0].start >= start), None)


def _heading(head: str, read_out: str) -> str:
    """The words that scale a figure: of its column's head, else the last ones of the columns read out."""
    own = stated_mark(head)
    if own:
        return head[own.start : own.end]
    last_words = read_out.rpartition(", ")[2]
    if passage_scale(last_words) == (1.0, None):
        return ""
    return last_words


def _columns(text: str) -> Iterator[tuple[str, int]]:
    """(head, where its figure begins) of "2022: 17,606; Years Ended > December 3, 2021: 15,785"."""
    at = 0
    for column in text.split("; "):
        head, mark, _ = column.rpartition(": ")
        if mark:
            yield head, at + len(head) + len(mark)
        at += len(column) + 2


def _with_unit(quantity: Quantity, hit: Hit | None, at: int, label: str) -> Quantity:
    """A row's figure with the scale and unit that its table or its page states. hit, at: see _source."""
    if _is_percentage(quantity, hit, at, label):
        return replace(quantity, unit="%")
    own = stated_mark(quantity.heading)
    scale = own.scale if own else 1.0
    if COUNTS.search(label):
        if quantity.heading:
            return replace(quantity, scale=quantity.scale * scale)
        return quantity
    unit = own.unit if own else None
    heading = quantity.heading
    mark = None
    if hit and at >= 0 and not heading and quantity.scale == 1.0:
        # The line of the page that scales the cited row.
        mark = governing_mark(scale_marks(hit.page_text), at)
    if hit and mark is not None:
        scale, unit = mark.scale, mark.unit
        heading = hit.page_text[mark.start : mark.end]
    unit = quantity.unit or unit
    if unit is None and hit is not None:
        unit = _page_currency(hit)
    return replace(quantity, scale=quantity.scale * scale, unit=unit, heading=heading)


def _is_percentage(quantity: Quantity, hit: Hit | None, at: int, label: str) -> bool:
    """Whether a row's figure is a percentage by its own sign, its label or the unit of its row."""
    if quantity.unit == "%" or "%" in label or _PER_CENT.search(label):
        return True
    if quantity.unit or quantity.scale != 1.0:
        return False
    return states_percent(_unit_of_row(hit, at))


def _unit_of_row(hit: Hit | None, at: int) -> str:
    """What the table of the cited row says of its unit; "" for nothing."""
    for table in hit.tables if hit else ():
        for row in table.rows:
            if row.start <= at < row.end:
                return stated_unit(table, row)
    return ""


def _page_currency(hit: Hit) -> str | None:
    """The one currency of the page's amounts, None where there are several or none.

    Tables write it in their first row only.
    """
    units = {placed.figure.unit for placed in page_of(hit).figures.all}
    units |= {mark.unit for mark in scale_marks(hit.page_text)}
    currencies = [unit for unit in units if unit in MONEY]
    return currencies[0] if len(currencies) == 1 else None


def _source(answer: Answer, part: Part) -> tuple[Hit | None, int]:
    """The cited page, None where none is known, and where the citation begins there, -1 where it was not
    found.
    """
    cited = part.citation
    if cited is None:
        return None, -1
    for hit in answer.considered:
        if hit.version == cited.version and hit.page == cited.page:
            return hit, cited.start
    return None, cited.start


def _of_sentence(part: Part, query: MeasureQuery) -> Quantity | None:
    """The one figure that a sentence gives; None where it names something else, or may mean several."""
    if not names(part.text, query):
        return None
    meant = [checked for checked in part.figures if _is_meant(checked[0], part, query)]
    kept = [checked for checked in meant if checked[0].percent]
    # "11,760 million crowns, or 2.6 per cent of output": the share only stands beside the amount, unless the
    # question asks for a rate.
    asked = query.understanding.reading
    if not (asked.asks("share") or asked.words & RATES_BY_NAME):
        amounts = [checked for checked in meant if _is_amount(checked[0], query)]
        kept = amounts or kept
    chosen = [checked for checked in kept if query.period is None or _is_of_period(checked[0], query)]
    is_dated = bool(chosen)
    if not chosen and is_own(query):
        chosen = [checked for checked in kept if not checked[0].period]
    if len({(figure.value, figure.scale) for figure, _ in chosen}) != 1:
        return None
    figure, check = chosen[0]
    return replace(_quantity(figure, check), dated=is_dated)


def _is_amount(figure: Figure, query: MeasureQuery) -> bool:
    """Whether a figure has a unit or scale of its own, which only a known measure needs."""
    if figure.percent:
        return False
    return bool(figure.unit) or figure.scale > 1 or not query.measures


def _is_of_period(figure: Figure, query: MeasureQuery) -> bool:
    """Whether a figure's own period is the one that the question asks for, if it asks for one."""
    return query.period is not None and fits(figure.period or "", query) == EXACT


def _is_meant(figure: Figure, part: Part, query: MeasureQuery) -> bool:
    """Whether a figure may be the value that the question asks for.

    It may not where it is of another measure, a limit, a change, or what a change began from.
    """
    asked = query.understanding
    at = figure.start - part.start
    if not speaks_of(part.text[:at], query):
        return False
    before = part.text[max(0, at - LOOK_BACK) : at]
    if BEFORE_LIMIT.search(before) and not asked.reading.asks("limit"):
        return False
    if figure.percent == "points" and not asked.reading.asks("points"):
        return False
    if BEFORE_BASE.search(before) and not _is_of_period(figure, query):
        return False
    if not BEFORE_CHANGE.search(before):
        return True
    return asked.compares and not query.measures


def _quantity(figure: Figure, check: NumberCheck | None, *, heading: str = "") -> Quantity:
    status = check.status if check else "unsupported"
    doubt = ""
    if check and status not in FINE:
        doubt = check.reason or ""
    text, value, unit = figure.text, figure.value, figure.unit
    return Quantity(text, value, unit, figure.scale, figure.decimals, heading, status, doubt)
