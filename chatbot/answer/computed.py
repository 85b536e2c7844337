"""Answers that are figures of tables: the cell that states a measure, or a ratio, change or average worked out from such cells, with the
formula and every operand shown and cited; gives nothing where an operand is missing."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from chatbot.answer.cells import Cell, find_cell, newest_year
from chatbot.answer.citations import escape_keys
from chatbot.measures import Measure, measure_named
from chatbot.records import Hit, Prompt, Understanding

__all__ = ["compute_answer"]

# An average over years; a ratio whose definition has an average of two balances is none.
_AVERAGE = re.compile(
    r"\b(?:\d|two|three|four|five|ten)[ -]years? (?:\w+ )?(?:average|mean)\b|\b(?:average|mean) (?:over|across) (?:the )?(?:\w+ )?years\b",
    re.IGNORECASE,
)
_GROWTH = re.compile(r"\b(?:growth|grow|grew|percent(?:age)? (?:change|increase|decrease)|rate of (?:change|increase))\b|% change", re.IGNORECASE)
_SHARE = re.compile(
    r"\bas an? (?:%|percent|per cent|percentage|share|proportion|fraction) of\b"
    r"|\b(?:share|percentage|proportion|ratio) of .{1,60} (?:to|in)\b",
    re.IGNORECASE,
)
_CHANGE = re.compile(r"\b(?:change|increase|decrease|drop|decline|fall|rise|difference)\b", re.IGNORECASE)
_OPERATIONS: dict[type[ast.operator], tuple[Callable[[float, float], float], str]] = {
    ast.Add: (operator.add, "+"),
    ast.Sub: (operator.sub, "-"),
    ast.Mult: (operator.mul, "×"),
    ast.Div: (operator.truediv, "/"),
}
# Years of which an average is taken at most; more are no question of one statement.
MOST_YEARS = 10


class _MissingError(Exception):
    """An operand that no table of the pages states."""


@dataclass(frozen=True, slots=True)
class _Worked:
    """A value with how it was worked out, in printed figures; cells: its operands."""

    value: float
    written: str
    cells: tuple[Cell, ...]


def compute_answer(prompt: Prompt, asked: Understanding) -> str:
    """The figure that was asked for, with its rows; "" where the question asks for none or the tables do not state its operands."""
    measures = [measure_named(name) for name in asked.measures]
    if not measures or asked.form not in {"figure", "yes_no", "passage"}:
        return ""
    years = asked.years or tuple(year for year in (newest_year(tuple(prompt.sources.values())),) if year)
    try:
        return "\n\n".join(_answer(measures, years, asked, prompt.sources))
    except (_MissingError, ZeroDivisionError):
        return ""


def _answer(measures: Sequence[Measure], years: Sequence[int], asked: Understanding, sources: Mapping[str, Hit]) -> Iterator[str]:
    # The ratio rather than the operands that the question spells out beside it.
    measure, question = max(measures, key=lambda one: len(one.operands)), asked.subject
    if not years:
        raise _MissingError
    if not measure.formula and len(measures) > 1 and _SHARE.search(question):
        measure = Measure(
            f"{measure.name} as a share of {measures[1].name}", (), (), (), (measure.name, measures[1].name), "100 * abs(a) / abs(b)", "%"
        )
    if _AVERAGE.search(question) and len(years) > 1 and measure.formula:
        yield from _average(measure, years, sources)
    elif measure.formula:
        yield from _formula(measure, years, sources, changes=asked.compares)
    elif len(years) > 1 and (_GROWTH.search(question) or _CHANGE.search(question)):
        yield from _growth(measure, years, sources)
    else:
        yield from _stated(measure, years, sources)


def _stated(measure: Measure, years: Sequence[int], sources: Mapping[str, Hit]) -> Iterator[str]:
    """The measure as it is printed, year by year."""
    cells = [_found(measure, year, sources) for year in sorted(years, reverse=True)[:3]]
    yield from (_said(cell) for cell in _distinct(cells))


def _growth(measure: Measure, years: Sequence[int], sources: Mapping[str, Hit]) -> Iterator[str]:
    first, last = min(years), max(years)
    before, after = _found(measure, first, sources), _found(measure, last, sources)
    change = after.value - before.value
    percent = 100 * change / abs(before.value)
    direction = "rose" if change > 0 else "fell" if change < 0 else "did not change"
    text = f"{measure.name.capitalize()} {direction} from {before.text} ({first}) to {after.text} ({last}){_unit(after)}: "
    text += f"{after.text} - {before.text} = {_number(change)}; 100 × ({after.text} - {before.text}) / {before.text} = {percent:.1f}%."
    yield f"{text} [{after.key}]"
    yield from (_said(cell) for cell in _distinct([after, before]))


def _formula(measure: Measure, years: Sequence[int], sources: Mapping[str, Hit], *, changes: bool) -> Iterator[str]:
    """The measure of the last year, and of the first too where a change is asked for."""
    wanted = [max(years)]
    if changes:
        wanted.append(min(years) if len(set(years)) > 1 else max(years) - 1)
    worked = []
    for year in dict.fromkeys(wanted):
        try:
            worked.append((year, _work_out(measure, year, sources)))
        except _MissingError:
            if not worked:
                raise
    for year, one in worked:
        yield f"{_name(measure)} ({year}) = {one.written} = {_printed(one, measure)}{_scale_of(one, measure)}. {_keys(one.cells)}"
    yield from (_said(cell) for cell in _distinct([cell for _, one in worked for cell in one.cells])[:4])


def _average(measure: Measure, years: Sequence[int], sources: Mapping[str, Hit]) -> Iterator[str]:
    chosen = [_work_out(measure, year, sources) for year in sorted(years)[:MOST_YEARS]]
    mean = sum(one.value for one in chosen) / len(chosen)
    each = "; ".join(f"{year}: {one.written} = {_result(one.value, measure)}" for year, one in zip(sorted(years), chosen, strict=False))
    terms = " + ".join(_result(one.value, measure) for one in chosen)
    cells = _distinct([cell for one in chosen for cell in one.cells])
    yield f"{_name(measure)}, average of {min(years)}-{max(years)}: ({terms}) / {len(chosen)} = {_result(mean, measure)}. {each}. {_keys(cells)}"
    yield from (_said(cell) for cell in cells[:3])


def _work_out(measure: Measure, year: int, sources: Mapping[str, Hit]) -> _Worked:
    operands = dict(zip("abcdef", (measure_named(name) for name in measure.operands), strict=False))
    cells: list[Cell] = []

    def cell(name: str, at: int) -> Cell:
        found = _found(operands[name], at, sources)
        cells.append(found)
        return found

    value, written = _evaluate(ast.parse(measure.formula, mode="eval").body, cell, year)
    return _Worked(value, written, tuple(cells))


def _evaluate(node: ast.expr, cell: Callable[[str, int], Cell], year: int) -> tuple[float, str]:
    """(value, as written in printed figures) of a formula; values carry their tables' scales, so that pages of different scales agree."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return float(node.value), str(node.value)
    if isinstance(node, ast.Name):
        found = cell(node.id, year)
        return found.value * found.scale, found.text
    if isinstance(node, ast.BinOp):
        (left, left_text), (right, right_text) = _evaluate(node.left, cell, year), _evaluate(node.right, cell, year)
        apply, sign = _OPERATIONS[type(node.op)]
        if sign in "×/" and isinstance(node.right, ast.BinOp):
            right_text = f"({right_text})"
        if sign in "×/" and isinstance(node.left, ast.BinOp) and isinstance(node.left.op, ast.Add | ast.Sub):
            left_text = f"({left_text})"
        return apply(left, right), f"{left_text} {sign} {right_text}"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and isinstance(node.args[0], ast.Name):
        return _called(node.func.id, node.args[0].id, cell, year)
    raise ValueError(f"no formula has {ast.dump(node)}")


def _called(function: str, name: str, cell: Callable[[str, int], Cell], year: int) -> tuple[float, str]:
    now = cell(name, year)
    if function == "abs":
        return abs(now.value * now.scale), now.text.strip("()")
    before = cell(name, year - 1)
    if function == "avg":
        return (now.value * now.scale + before.value * before.scale) / 2, f"(({now.text} + {before.text}) / 2)"
    return now.value * now.scale - before.value * before.scale, f"({now.text} - {before.text})"


def _found(measure: Measure, year: int, sources: Mapping[str, Hit]) -> Cell:
    cell = find_cell(measure, year, sources)
    if cell is None:
        raise _MissingError(measure.name)
    return cell


def _said(cell: Cell) -> str:
    unit = f", {cell.unit.strip('() ')}" if cell.unit else ""
    return f"{escape_keys(f'{cell.row} ({cell.head}: {cell.text}{unit})')} [{cell.key}]"


def _distinct(cells: Sequence[Cell]) -> list[Cell]:
    return list({(cell.key, cell.row): cell for cell in reversed(cells)}.values())[::-1]


def _keys(cells: Sequence[Cell]) -> str:
    return "".join(f"[{key}]" for key in dict.fromkeys(cell.key for cell in cells))


def _name(measure: Measure) -> str:
    return measure.name[:1].upper() + measure.name[1:]


def _result(value: float, measure: Measure) -> str:
    if measure.unit == "%":
        return f"{value:.1f}%"
    return f"{value:.2f} days" if measure.unit == "days" else f"{value:.2f}"


def _printed(one: _Worked, measure: Measure) -> str:
    """The value as its operands are printed: a sum keeps their scale."""
    return _result(one.value, measure) if measure.unit else _number(one.value / one.cells[0].scale)


def _scale_of(one: _Worked, measure: Measure) -> str:
    return "" if measure.unit else _unit(one.cells[0])


def _unit(cell: Cell) -> str:
    return f", {cell.unit.strip('() ')}" if cell.unit else ""


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:,.2f}"
