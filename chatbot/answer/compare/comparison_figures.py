"""Takes from a checked answer the one figure that it gives for a measure and a year: worked out, of a row, or
of a sentence; computes nothing.

A figure is taken only where its row or sentence names what was asked for and one value alone is meant: a
wrong figure in a table is worse than none.
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
from chatbot.records import FINE, Answer, Citation, Hit, NumberCheck
from ingestion.language.currencies import MONEY
from ingestion.language.numbers import (
    Figure,
    find_figures,
    governing_mark,
    passage_scale,
    scale_marks,
    stated_mark,
)

__all__ = ["Part", "stated", "worked_out"]

RATES = frozenset({"%", "percentage points", "basis points"})
# A figure that is asked for as a share or a rate.
ASKS_RATE = re.compile(
    (
        r"\b(?:share|percent\w*|per cent|rates?|ratio|margin|yield|growth|inflation|unemployment)\b|%"
        r"|\bas an? \w+ of\b"
    ),
    re.IGNORECASE,
)
ASKS_POINTS = re.compile(r"\bpoints?\b", re.IGNORECASE)
# A limit is asked for by such words; without them one is no value of what it limits: "unemployment was below
# 4 percent".
ASKS_LIMIT = re.compile(
    r"\b(?:limit|ceiling|floor|cap|threshold|anchor|target|most|least|maximum|minimum|exceed|above|below)\b",
    re.IGNORECASE,
)
BEFORE_LIMIT = re.compile(
    (
        r"\b(?:below|above|under|over|exceed(?:s|ed|ing)?|at (?:least|most)|up to|(?:more|less|fewer|lower"
        r"|higher) than|within|minimum of|maximum of)\s$"
    ),
    re.IGNORECASE,
)
# What a row counts rather than values in money.
COUNTS = re.compile(
    (
        r"\b(?:shares?|number|employees|headcount|staff|stores|units|customers|subscribers|people|days|years"
        r"|ratio|times|per)\b"
    ),
    re.IGNORECASE,
)
# By how much, and from where, are no levels.
BEFORE_CHANGE = re.compile(
    r"\b(?:by|up|down|additional|further|extra)\s(?:about |around |nearly |some |over )?$", re.IGNORECASE
)
BEFORE_BASE = re.compile(
    r"\b(?:from|than|against|versus|compared (?:with|to))\s(?:about |around |nearly |the |a )?$",
    re.IGNORECASE,
)
# Characters before a figure in which such words stand.
LOOK_BACK = 30


@dataclass(frozen=True, slots=True)
class Part:
    """What stands before one citation: a sentence or a row. figures: with their checks, offsets as in the
    answer's text. start: of the part there.
    """

    text: str
    start: int
    citation: Citation | None
    figures: tuple[tuple[Figure, NumberCheck | None], ...]


def worked_out(
    answer: Answer, parts: Sequence[Part], wanted: MeasureQuery
) -> tuple[Quantity, str, tuple[Citation, ...]] | None:
    """The result of arithmetic that the answer shows for the year, with what its operands are cited from."""
    for paragraph in answer.text.split("\n\n"):
        start = answer.text.find(paragraph)
        inside = [
            pair for part in parts for pair in part.figures if start <= pair[0].start < start + len(paragraph)
        ]
        results = [
            (figure, check)
            for figure, check in inside
            if check and check.formula and check.formula.endswith(figure.text)
        ]
        if not results or fits(paragraph.partition("=")[0], wanted) == 0:
            continue
        figure, check = results[-1]
        assert check is not None
        scale, unit = passage_scale(answer.text[figure.end : start + len(paragraph)])
        quantity = _quantity(
            figure,
            check,
            heading=answer.text[figure.end : start + len(paragraph)].strip(" ,.") if scale != 1 else "",
        )
        quantity = replace(
            quantity, scale=figure.scale * scale, unit=figure.unit or unit, formula=check.formula or ""
        )
        cited = tuple(dict.fromkeys(part.citation for part in parts if part.citation))
        return quantity, paragraph, cited
    return None


def stated(
    answer: Answer, parts: Sequence[Part], wanted: MeasureQuery
) -> tuple[Quantity, str, tuple[Citation, ...]] | None:
    """The figure of the first row or sentence that names the measure and gives one for the year."""
    undated = None
    for part in parts:
        if _read_out(part.text):
            found = _of_row(answer, part, wanted)
        else:
            found = _of_sentence(part, wanted)
        if found is None or not _is_of_kind(found, wanted):
            continue
        given = found, part.text, (part.citation,) if part.citation else ()
        if found.dated:
            return given
        undated = undated or given
    return undated


def _is_of_kind(quantity: Quantity, wanted: MeasureQuery) -> bool:
    """A measure that is a percentage is not given by an amount, nor one for each share by a whole number,
    which counts shares.
    """
    if not wanted.measures:
        return True
    if asks_per_share(wanted):
        return quantity.decimals > 0 and quantity.unit != "%"
    return wanted.measures[0].unit != "%" or quantity.unit in RATES


def _read_out(text: str) -> tuple[int, int] | None:
    """Where a row's columns are read out behind it, "Total revenue 17,606 15,785 (2022: 17,606; 2021:
    15,785, in millions)"; None for a sentence.
    """
    text = text.rstrip()
    if not text.endswith(")"):
        return None
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(text[at], 0)
        if depth == 0:
            if ": " in text[at:]:
                return (at + 1, len(text) - 1)
            return None
    return None


def _of_row(answer: Answer, part: Part, wanted: MeasureQuery) -> Quantity | None:
    first, last = _read_out(part.text) or (0, 0)
    label = re.split(
        r"[^\w%]{0,3}\d", part.text[: first - 1].rsplit("\n", 1)[-1].rsplit(":", 1)[-1], maxsplit=1
    )[0]
    if not label_names(label, wanted):
        return None
    columns = [(head, at + first) for head, at in _columns(part.text[first:last])]
    chosen = [(head, at) for head, at in columns if fits(head, wanted) == EXACT]
    figures = [
        next((pair for pair in part.figures if pair[0].start >= part.start + at), None) for _, at in chosen
    ]
    if len({figure.value for figure, _ in filter(None, figures)}) != 1 or not figures[0]:
        return None
    figure, check = figures[0]
    last_words = part.text[first:last].rpartition(", ")[2]
    own = stated_mark(chosen[0][0])
    if own:
        heading = chosen[0][0][own.start : own.end]
    else:
        if passage_scale(last_words) != (1.0, None):
            heading = last_words
        else:
            heading = ""
    if asks_per_share(wanted):
        return _quantity(figure, check)
    return _with_unit(_quantity(figure, check, heading=heading), *_source(answer, part), label)


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
    if quantity.unit == "%" or "%" in label or re.search(r"\bper ?cent\b", label, re.IGNORECASE):
        return replace(quantity, unit="%")
    if quantity.scale == 1.0 and not quantity.unit and states_percent(_unit_of_row(hit, at)):
        return replace(quantity, unit="%")
    own = stated_mark(quantity.heading)
    if own:
        scale = own.scale
        unit = own.unit
    else:
        scale, unit = (1.0, None)
    # The line of the page that scales the cited row.
    scaled = at >= 0 and not quantity.heading and quantity.scale == 1.0
    if hit and scaled:
        mark = governing_mark(scale_marks(hit.page_text), at)
    else:
        mark = None
    if COUNTS.search(label):
        if quantity.heading:
            return replace(quantity, scale=quantity.scale * scale)
        return quantity
    if mark is not None:
        scale = mark.scale
        unit = mark.unit
    unit = quantity.unit or unit
    if unit is None and hit is not None:
        unit = _page_currency(hit)
    return replace(
        quantity,
        scale=quantity.scale * scale,
        unit=unit,
        heading=quantity.heading or (hit.page_text[mark.start : mark.end] if hit and mark else ""),
    )


def _unit_of_row(hit: Hit | None, at: int) -> str:
    """What the table of the cited row says of its unit; "" for nothing."""
    tables = hit.tables if hit else ()
    return next(
        (stated_unit(table, row) for table in tables for row in table.rows if row.start <= at < row.end), ""
    )


def _page_currency(hit: Hit) -> str | None:
    """The one currency of the page's amounts, None where there are several or none: tables write it in
    their first row only.
    """
    units = {figure.unit for figure in find_figures(hit.page_text) if figure.unit in MONEY}
    units |= {mark.unit for mark in scale_marks(hit.page_text) if mark.unit in MONEY}
    if len(units) == 1:
        return units.pop()
    return None


def _source(answer: Answer, part: Part) -> tuple[Hit | None, int]:
    """The cited page, None where none is known, and where the citation begins there, -1 where it was not
    found.
    """
    cited = part.citation
    if cited is None:
        return None, -1
    return next(
        (hit for hit in answer.considered if (hit.version, hit.page) == (cited.version, cited.page)), None
    ), cited.start


def _of_sentence(part: Part, wanted: MeasureQuery) -> Quantity | None:
    """The one figure that a sentence gives; None where it names something else, or may mean several."""
    if not names(part.text, wanted):
        return None
    kept = [pair for pair in part.figures if _is_meant(pair[0], part, wanted)]
    rates = [pair for pair in kept if pair[0].percent]
    amounts = [
        pair
        for pair in kept
        if not pair[0].percent and (pair[0].unit or pair[0].scale > 1 or not wanted.measures)
    ]
    # "11,760 million crowns, or 2.6 per cent of output": the share goes beside the amount, unless it is asked
    # for.
    if ASKS_RATE.search(wanted.understanding.subject):
        kept = rates
    else:
        kept = amounts or rates
    chosen = [pair for pair in kept if wanted.period is None or fits(pair[0].period or "", wanted) == EXACT]
    is_dated = bool(chosen)
    if not chosen and is_own(wanted):
        chosen = [pair for pair in kept if not pair[0].period]
    if len({(figure.value, figure.scale) for figure, _ in chosen}) != 1:
        return None
    return replace(_quantity(*chosen[0]), dated=is_dated)


def _is_meant(figure: Figure, part: Part, wanted: MeasureQuery) -> bool:
    """Whether a figure may be the value of what is asked for: not of another measure, no limit, no change,
    not where a change began.
    """
    asked = wanted.understanding
    at = figure.start - part.start
    before = part.text[max(0, at - LOOK_BACK) : at]
    if not speaks_of(part.text[:at], wanted) or (
        BEFORE_LIMIT.search(before) and not ASKS_LIMIT.search(asked.subject)
    ):
        return False
    if figure.percent == "points" and not ASKS_POINTS.search(asked.subject):
        return False
    if BEFORE_BASE.search(before) and (wanted.period is None or fits(figure.period or "", wanted) != EXACT):
        return False
    return not BEFORE_CHANGE.search(before) or (asked.compares and not wanted.measures)


def _quantity(figure: Figure, check: NumberCheck | None, *, heading: str = "") -> Quantity:
    status = check.status if check else "unsupported"
    if check and status not in FINE:
        doubt = check.reason or ""
    else:
        doubt = ""
    return Quantity(
        figure.text, figure.value, figure.unit, figure.scale, figure.decimals, heading, status, doubt
    )
