"""How figures of tables, and results worked out from them, are written: as printed, in their operands'
scale and unit; works nothing out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from chatbot.answer.tables.cell_lookup import FoundCell, is_planned
from chatbot.answer.verdict import Amount
from ingestion.language.currencies import CURRENCY, DRAWN_SIGNS, currency_of
from ingestion.language.measures import Measure
from ingestion.language.numbers import find_figures
from ingestion.language.periods import find_periods
from ingestion.language.scales import SCALE_NAMES
from ingestion.language.sentences import within_sentence

__all__ = [
    "MEAN_DECIMALS",
    "Worked",
    "amount",
    "decimals_of",
    "in_a_sentence",
    "number_text",
    "operand",
    "owned",
    "printed",
    "result_text",
    "said",
    "scale_text",
    "short_head",
    "stated_value",
    "unit_text",
    "year_text",
]

# Of a mean, and of a result whose operands are printed in different scales.
# Letters of a currency's code, which keeps its capitals.
LONGEST_CODE = 3
MEAN_DECIMALS = 2
LONGEST_NAME = 90  # of a row, for a sentence about it
# "Revenue (1)(2)", and the words before what a name is of: "earnings" of "Earnings per share".
_MARKS_OF_NOTES = re.compile(r"(?:\s?\(\w{1,2}\))+$")
_HEAD_OF_NAME = re.compile(
    r".+?(?=\s(?:of|per|for|in|to|from|by|on|at|as|attributable|before|after)\b|[,(–—]|$)"
)
# The end of a bracket that begins elsewhere, "2023, amounts))".
_TORN = re.compile(r"(?:(?<=\d),[^()\d]*)\)+\Z")
_SET_APART = re.compile(rf"(?<=[{DRAWN_SIGNS}(])\s+|\s+(?=\))")
_PLURAL = re.compile(r"(?<![su])s\Z|ies\Z|\band\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Worked:
    """A value with how it was worked out, in printed figures; cells: its operands."""

    value: float
    written: str
    cells: tuple[FoundCell, ...]


def amount(cell: FoundCell) -> Amount:
    """What of a cell a verdict is made from."""
    figures = find_figures(cell.text)
    of_table = re.search(CURRENCY, cell.unit)
    if figures:
        printed_unit = figures[0].unit
    else:
        printed_unit = None
    if cell.percent:
        unit = None
    else:
        unit = printed_unit or (currency_of(of_table[0]) if of_table else None)
    return Amount(cell.value, cell.scale, cell.percent, unit, is_planned(cell.head))


def operand(cell: FoundCell) -> str:
    """As printed; with a minus sign in brackets, so that none stands by the sign of the formula: "300 -
    (-80)".
    """
    if cell.value >= 0 or "(" in cell.text:
        return cell.text
    return f"({cell.text})"


def owned(whose: str, label: str) -> str:
    """A label as a sentence begins with it: "Acme's net sales" with a name that it lacks, "Net sales"
    without one.
    """
    if label.isupper() and " " in label.strip():
        label = label.lower()
    if not whose or re.search(rf"\b{re.escape(whose)}\b", label, re.IGNORECASE):
        return f"{label[:1].upper()}{label[1:]}"
    if whose.endswith("s"):
        ending = "'"
    else:
        ending = "'s"
    return f"{whose}{ending} {within_sentence(label)}"


def in_a_sentence(label: str, stated: Sequence[tuple[str, str]], whose: str = "") -> str:
    """A row's label with its figures, "Acme's net sales were $ 19,222 million (2017) and $ 20,628 million
    (2016)."; "" for a label that is no name of anything, and for figures under one head.

    stated: (figure with its unit, its column's head) of each. whose: a name, "" for none."""
    name = _MARKS_OF_NOTES.sub("", " ".join(label.split())).strip(" :.–-")
    if not name or not name[0].isalpha() or len(name) > LONGEST_NAME:
        return ""
    first = _HEAD_OF_NAME.match(name)
    if first and _PLURAL.search(first[0]):
        verb = "were"
    else:
        verb = "was"
    heads = [short_head(head) for _, head in stated]
    if len(set(heads)) < len(heads):
        return ""
    figures = [
        f"{_SET_APART.sub('', figure)} ({head})" for (figure, _), head in zip(stated, heads, strict=True)
    ]
    *others, last = figures
    before = f"{'; '.join(others)}{';' * (len(others) > 1)} and " if others else ""
    return f"{owned(whose, name)} {verb} {before}{last}."


def short_head(head: str) -> str:
    """A column's head: its last line, with those above where that names no period; one that goes on after
    its comma is one line.
    """
    lines = [" ".join(line.strip(", ").split()) for line in head.replace(", > ", ", ").split(" > ")]
    return _TORN.sub("", lines[-1] if find_periods(lines[-1]) else ", ".join(lines))


def stated_value(cell: FoundCell) -> str:
    """A cell's figure with its scale, or its per cent."""
    if cell.percent:
        if "%" in cell.text:
            return cell.text
        return f"{cell.text}%"
    if find_figures(cell.text):
        written = find_figures(cell.text)[0].scale
    else:
        written = 1.0
    if written:
        name = SCALE_NAMES.get(cell.scale / written)
    else:
        name = None
    return f"{cell.text} {name}" if name else cell.text


def said(cells: Sequence[FoundCell]) -> list[str]:
    """Each row once, with what stands under the heads that were used."""
    rows: dict[tuple[str, str], list[FoundCell]] = {}
    for cell in cells:
        rows.setdefault((cell.key, cell.row), []).append(cell)
    return [f"{row} ({_read(of)}) [{key}]" for (key, row), of in rows.items()]


def _read(cells: Sequence[FoundCell]) -> str:
    pairs = dict.fromkeys(f"{cell.head}: {cell.text}" for cell in cells)
    return "; ".join(pairs) + unit_text(cells[0])


def result_text(value: float, measure: Measure) -> str:
    """A ratio in its measure's unit; small ones with four decimals."""
    if measure.unit == "%":
        return f"{value:.1f}%"
    if abs(value) >= 0.01:
        shown = f"{value:.2f}"
    else:
        shown = f"{value:.4f}"
    if measure.unit == "days":
        return f"{shown} days"
    return shown


def printed(one: Worked, measure: Measure) -> str:
    """The value as its operands are printed: a sum keeps their scale."""
    if measure.unit:
        return result_text(one.value, measure)
    alike = len({cell.scale for cell in one.cells}) == 1
    return number_text(one.value / one.cells[0].scale, decimals_of(one.cells) if alike else MEAN_DECIMALS)


def scale_text(one: Worked, measure: Measure) -> str:
    """What follows a result that is no ratio: its operands' unit."""
    if measure.unit:
        return ""
    return unit_text(one.cells[0])


def year_text(cell: FoundCell, year: int) -> str:
    """The year of a cell, as its head has it where that is a fiscal one over two: "2005-06"."""
    spans = [period for period in find_periods(cell.head) if period.end_year > period.start_year]
    if spans:
        return cell.head[spans[0].start : spans[0].end]
    return str(year)


def unit_text(cell: FoundCell) -> str:
    """What follows a cell's figure: its table's unit."""
    unit = re.sub(r"\AIn\b", "in", cell.unit)
    if unit.isupper():  # "IN MILLIONS", but not "USD'000"
        unit = re.sub(
            r"\b[A-Z]{2,}\b",
            lambda word: word[0].lower() if word[0] == "IN" or len(word[0]) > LONGEST_CODE else word[0],
            unit,
        )
    if not unit and not cell.percent and cell.scale in SCALE_NAMES:
        unit = f"in {SCALE_NAMES[cell.scale]}s"
    return f", {unit}" if unit else ""


def decimals_of(cells: Sequence[FoundCell]) -> int:
    """As many as the operands show."""
    return max(figure.decimals for cell in cells for figure in find_figures(cell.text)[:1])


def number_text(value: float, decimals: int) -> str:
    """With thousands set apart, and no decimals where it is whole."""
    if abs(value - round(value)) < 1e-6:
        return f"{value:,.0f}"
    return f"{value:,.{decimals}f}"
