"""Writes figures of tables, and results worked out from them, in their printed scale and unit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_lowercase

from chatbot.answer.tables.cell_lookup import FoundCell, is_planned
from chatbot.answer.verdict import Amount
from chatbot.calculator import Operand, written_out
from ingestion.language.currencies import CURRENCY, DRAWN_SIGNS, currency_of, sign_of_family
from ingestion.language.measures import Measure
from ingestion.language.periods import find_periods
from ingestion.language.scales import SCALE_NAMES, UNIT_NAMES
from ingestion.language.sentences import within_sentence

__all__ = [
    "MEAN_DECIMALS",
    "Worked",
    "amount",
    "decimals_of",
    "difference",
    "in_a_sentence",
    "mean_of",
    "moved",
    "number_text",
    "one_line",
    "operand",
    "operand_of",
    "owned",
    "printed",
    "result_text",
    "said",
    "scale_text",
    "short_head",
    "stated_value",
    "sum_of",
    "unit_text",
    "with_unit",
    "worked_out",
]

# The letters of a currency's code, which keeps its capitals.
LONGEST_CODE = 3
# Of a mean, and of a result whose operands are printed in different scales.
MEAN_DECIMALS = 2
LONGEST_NAME = 90  # of a row, for a sentence about it
# The marks of "Revenue (1)(2)", and the head of a name: "Earnings" of "Earnings per share".
_MARKS_OF_NOTES = re.compile(r"(?:\s?\(\w{1,2}\))+$")
_HEAD_OF_NAME = re.compile(
    r".+?(?=\s(?:of|per|for|in|to|from|by|on|at|as|attributable|before|after)\b|[,(–—]|$)"
)
# The end of a bracket that begins elsewhere: "2023, amounts))".
_TORN = re.compile(r"(?:(?<=\d),[^()\d]*)\)+\Z")
_SET_APART = re.compile(rf"(?<=[{DRAWN_SIGNS}(])\s+|\s+(?=\))")
_BEFORE_UNIT = re.compile(r"\A(?:(?:amounts|figures) (?:are )?)?in\b", re.IGNORECASE)
_PLURAL = re.compile(r"(?<![su])s\Z|ies\Z|\band\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Worked:
    """A value that was worked out.

    value: the value.
    written: its formula in printed figures.
    cells: its operands.
    """

    value: float
    written: str
    cells: tuple[FoundCell, ...]


def amount(cell: FoundCell) -> Amount:
    """A cell's figure as verdicts take it."""
    unit = None if cell.percent else _currency(cell)
    return Amount(cell.value, cell.scale, cell.percent, unit, is_planned(cell.head))


def _currency(cell: FoundCell) -> str | None:
    """The currency printed with a figure, else that of its table's unit; None without one."""
    if cell.figure.unit:
        return cell.figure.unit
    of_table = re.search(CURRENCY, cell.unit)
    return currency_of(of_table[0]) if of_table else None


def worked_out(formula: str, cells: Sequence[FoundCell]) -> Operand:
    """What a formula of the letters a, b, … comes to with printed figures, and how it is written with them.

    Raises CalculationError.
    """
    return _with_letters(formula, list(map(operand_of, cells)))


def sum_of(cells: Sequence[FoundCell]) -> Operand:
    """The same for the sum of figures."""
    return worked_out(" + ".join(ascii_lowercase[: len(cells)]), cells)


def mean_of(operands: Sequence[Operand]) -> Operand:
    """The same for the mean of operands."""
    count = len(operands)
    return _with_letters(f"({' + '.join(ascii_lowercase[:count])}) / {count}", operands)


def _with_letters(formula: str, operands: Sequence[Operand]) -> Operand:
    return written_out(formula, dict(zip(ascii_lowercase, operands, strict=False)))


def operand_of(cell: FoundCell) -> Operand:
    """A figure as printed, with its value."""
    return cell.value, operand(cell)


def operand(cell: FoundCell) -> str:
    """A figure as printed, in brackets where it has a minus sign: "300 - (-80)"."""
    if cell.value >= 0 or "(" in cell.text:
        return cell.text
    return f"({cell.text})"


def owned(whose: str, label: str) -> str:
    """A label as the beginning of a sentence: "Acme's net sales".

    "Net sales" without a name, or where the label has it.
    """
    if label.isupper() and " " in label.strip():
        label = label.lower()
    if not whose or re.search(rf"\b{re.escape(whose)}\b", label, re.IGNORECASE):
        return f"{label[:1].upper()}{label[1:]}"
    ending = "'" if whose.endswith("s") else "'s"
    return f"{whose}{ending} {within_sentence(label)}"


def in_a_sentence(label: str, stated: Sequence[tuple[str, str]], whose: str = "") -> str:
    """A row's label with its figures.

    "Acme's net sales were $ 19,222 million (2017) and $ 20,628 million (2016)." The result is "" for a label
    that names nothing, and where two figures stand under one head.

    stated: (figure with its unit, its column's head) of each.
    whose: a name, "" for none.
    """
    name = _MARKS_OF_NOTES.sub("", " ".join(label.split())).strip(" :.–-")
    if not name or not name[0].isalpha() or len(name) > LONGEST_NAME:
        return ""
    first = _HEAD_OF_NAME.match(name)
    verb = "were" if first and _PLURAL.search(first[0]) else "was"
    heads = set()
    figures = []
    for figure, head in stated:
        short = short_head(head)
        heads.add(short)
        figures.append(f"{_SET_APART.sub('', figure)} ({short})")
    if len(heads) < len(figures):
        return ""
    # A head without a period does not say when it was: "Deficit ceiling (of GDP): 3.0% (Limit)."
    is_dated = all(find_periods(head) for head in heads)
    return f"{owned(whose, name)}{f' {verb}' if is_dated else ':'} {_listed(figures)}."


def _listed(figures: Sequence[str]) -> str:
    """ "a", "a and b", "a; b; and c"."""
    *others, last = figures
    if not others:
        return last
    if len(others) == 1:
        return f"{others[0]} and {last}"
    return f"{'; '.join(others)}; and {last}"


def short_head(head: str) -> str:
    """A column's head: its last line, with those above where it names no period.

    A line that goes on after its comma is one line with the next.
    """
    start = head.rfind(" > ") + 1
    start = min([start, *(period.start for period in find_periods(head)[-1:] if period.end > start)])
    short = head[start:] if find_periods(head[start:]) else head
    lines = [" ".join(line.strip(", ").split()) for line in short.replace(", > ", ", ").split(" > ")]
    return _TORN.sub("", ", ".join(lines).strip(" >"))


def stated_value(cell: FoundCell) -> str:
    """A cell's figure with its scale, or its per cent."""
    if cell.percent:
        return cell.text if "%" in cell.text else f"{cell.text}%"
    return with_unit(cell.text, cell.scale / cell.figure.scale)


def with_unit(figure: str, scale: float, currency: str | None = None) -> str:
    """A printed figure with the scale, and the currency, that are stated elsewhere; "EUR 5 million".

    Dollars are just that, "$5 million": the word and the sign do not say whose.
    """
    name = SCALE_NAMES.get(scale) or UNIT_NAMES.get(scale)
    if name is None:
        return figure
    if not currency or figure[0] in DRAWN_SIGNS:
        return f"{figure} {name}"
    if sign := sign_of_family(currency):
        return f"{sign}{figure} {name}"
    return f"{currency} {figure} {name}" if currency.isupper() else f"{figure} {name} {currency}"


def said(cells: Sequence[FoundCell]) -> list[str]:
    """Each row once, with its figures under the heads that were used, and its citation key."""
    rows: dict[tuple[str, str], list[FoundCell]] = {}
    for cell in cells:
        rows.setdefault((cell.key, cell.row), []).append(cell)
    return [f"{row} ({_read_out(of_row)}) [{key}]" for (key, row), of_row in rows.items()]


def _read_out(cells: Sequence[FoundCell]) -> str:
    """Heads and figures of a row, with their unit."""
    pairs = dict.fromkeys(f"{cell.head}: {cell.text}" for cell in cells)
    return "; ".join(pairs) + unit_text(cells[0])


def result_text(value: float, measure: Measure) -> str:
    """A ratio in its measure's unit, with four decimals where it is small."""
    if measure.unit == "%":
        return f"{value:.1f}%"
    shown = f"{value:.2f}" if abs(value) >= 0.01 else f"{value:.4f}"
    return f"{shown} days" if measure.unit == "days" else shown


def printed(one: Worked, measure: Measure) -> str:
    """The value as its operands are printed: a sum keeps their scale."""
    if measure.unit:
        return result_text(one.value, measure)
    scales = {cell.scale for cell in one.cells}
    decimals = decimals_of(one.cells) if len(scales) == 1 else MEAN_DECIMALS
    return number_text(one.value / one.cells[0].scale, decimals)


def scale_text(one: Worked, measure: Measure) -> str:
    """What follows a result: its operands' unit, nothing for a ratio."""
    if measure.unit:
        return ""
    return unit_text(one.cells[0])


def one_line(text: str) -> str:
    """A name without colons, for the first colon ends it."""
    return " ".join(text.replace(":", " ").split())


def moved(before: FoundCell, after: FoundCell, whose: str = "") -> str:
    """How the figure of a row moved, with the formula.

    Of amounts below zero just the formula: whether a loss of 3 "rose" to one of 5 is a matter of words.
    """
    change = after.value - before.value
    if not after.percent and before.value < 0 > after.value:
        name = f"{owned(whose, after.label)}, {short_head(after.head)} less {short_head(before.head)}"
        return difference(name, before, after)
    way = ("fell", "rose")[change > 0] if change else "did not change"
    start, end = (f"{cell.text} ({short_head(cell.head)})" for cell in (before, after))
    return difference(f"{owned(whose, after.label)} {way} from {start} to {end}", before, after)


def difference(name: str, before: FoundCell, after: FoundCell) -> str:
    """The formula of a change behind its name, with that of the percentage where there is one."""
    cells = after, before
    decimals = decimals_of(cells)
    change, formula = worked_out("a - b", cells)
    head = f"{one_line(name)}{unit_text(after)}: {formula}"
    if after.percent:
        return f"{head} = {change:.{decimals}f} percentage points."
    growth = ""
    if before.value > 0 <= after.value:  # a percentage means nothing below zero
        percent, formula = worked_out("100 * (a - b) / b", cells)
        growth = f"; {formula} = {percent:.1f}%"
    return f"{head} = {number_text(change, decimals)}{growth}."


def unit_text(cell: FoundCell) -> str:
    """What follows a cell's figure: its table's unit."""
    unit = _BEFORE_UNIT.sub("in", cell.unit).rstrip(".")
    if unit.isupper():  # "IN MILLIONS", but not "USD'000"
        unit = re.sub(r"\b[A-Z]{2,}\b", _small, unit)
    if not unit and not cell.percent and cell.scale in SCALE_NAMES:
        unit = f"in {SCALE_NAMES[cell.scale]}s"
    return f", {unit}" if unit else ""


def _small(word: re.Match[str]) -> str:
    """A word in small letters, unless it is a currency's code."""
    text = word[0]
    if text == "IN" or len(text) > LONGEST_CODE:
        return text.lower()
    return text


def decimals_of(cells: Sequence[FoundCell]) -> int:
    """As many decimals as the operands show."""
    return max(cell.figure.decimals for cell in cells)


def number_text(value: float, decimals: int) -> str:
    """A number with thousands set apart, without decimals where it is whole."""
    if abs(value - round(value)) < 1e-6:
        return f"{value:,.0f}"
    return f"{value:,.{decimals}f}"
