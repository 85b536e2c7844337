"""Answers that are figures of tables: the cell that states a measure, or a ratio, change or average worked out from such cells, with the
formula and every operand shown and cited; gives nothing where an operand is missing, or where the question asks for something narrower."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from chatbot.answer.tables.cells import PART_OF_YEAR, TOTALS, Cell, Wanted, find_cell, newest_year
from chatbot.measures import Measure, measure_named, spelled_out
from chatbot.numbers import find_figures
from chatbot.records import Hit, Prompt, Understanding
from chatbot.terms import content_terms, terms
from ingestion.page_kinds import PRIMARY_STATEMENTS

__all__ = ["compute_answer"]

# An average over years; a ratio whose definition has an average of two balances is none.
_AVERAGE = re.compile(
    r"\b(?:\d|two|three|four|five|ten)[ -]years? (?:\w+ )?(?:average|mean)\b|\b(?:average|mean) (?:over|across) (?:the )?(?:\w+ )?years\b"
    r"|^(?:what (?:is|was) (?:the )?)?(?:average|mean)\b",
    re.IGNORECASE,
)
_GROWTH = re.compile(r"\b(?:growth|grow|grew|percent(?:age)? (?:change|increase|decrease)|rate of (?:change|increase))\b|% change", re.IGNORECASE)
_SHARE = re.compile(r"\bas an? (?:%|percent|per cent|percentage|share|proportion|fraction) of\b", re.IGNORECASE)
_CHANGE = re.compile(r"\b(?:change|increase|decrease|drop|decline|fall|rise|difference)\b", re.IGNORECASE)
_PART = re.compile(PART_OF_YEAR.pattern + r"|\b(?:half|first|second|third|fourth)[ -](?:half|quarter)\b|\bH[12]\b|\bmonth", re.IGNORECASE)
_OPERATIONS: dict[type[ast.operator], tuple[Callable[[float, float], float], str]] = {
    ast.Add: (operator.add, "+"),
    ast.Sub: (operator.sub, "-"),
    ast.Mult: (operator.mul, "×"),
    ast.Div: (operator.truediv, "/"),
}
# Years that are stated or worked out one by one at most; more are no question of one statement.
MOST_YEARS = 10
MOST_STATED = 4
# Of a mean, and of a result whose operands are printed in different scales.
MEAN_DECIMALS = 2
# Costs and payments, which statements print with and without brackets: in a formula they are amounts. What taxes in brackets are, cost or
# benefit, their row does not say.
_COSTS = frozenset(
    {"cost of sales", "operating expenses", "interest expense", "depreciation and amortization", "research and development",
     "selling, general and administrative", "capital expenditure", "dividends paid", "share repurchases", "stock-based compensation"}
)  # fmt: skip
# A row of debt beside those that were added up, and what is none.
_DEBT = re.compile(r"\b(?:debts?|borrowings?|loans?|notes|commercial paper|bonds|debentures|overdrafts?|credit facilit(?:y|ies))\b", re.IGNORECASE)
_NO_DEBT = re.compile(r"\b(?:receivables?|securities|issuance|investments?|held|see|accompanying|allowance|deferred)\b", re.IGNORECASE)
_EITHER = frozenset({"income taxes"})
# What a question says beside measure, name and period that makes it ask for nothing narrower.
_PLAIN = frozenset(
    terms(
        "total amount value figure number level size net reported annual yearly fiscal financial year end ended ending period average mean ratio rate "
        "percent percentage "
        "share proportion million billion thousand usd dollar dollars eur euro company business firm group improve improving profile grow growth growing grew "
        "change "
        "increase increased decrease decreased rise fall difference between compared attributable shareholders shareholder define defined definition less calculate "
        "using extract answer statement balance sheet income cash flow flows unadjusted conversion intensive healthy reasonably liquidity based data much many "
        "purchase purchases generate generated paid pay spend spent formerly known consolidated operation operations worth high low positive negative"
    )
)


class _MissingError(Exception):
    """An operand that no table of the pages states."""


@dataclass(frozen=True, slots=True)
class _Worked:
    """A value with how it was worked out, in printed figures; cells: its operands."""

    value: float
    written: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class _Task:
    """What is worked out from which pages. words: of the question."""

    sources: Mapping[str, Hit]
    words: frozenset[str]

    def cell(self, measure: Measure, year: int | None) -> Cell:
        """Raises _MissingError."""
        found = find_cell(Wanted(measure, year, self.words), self.sources)
        if found is None or (found.value < 0 and measure.name in _EITHER) or self._is_one_of_several(found, Wanted(measure, year, self.words)):
            raise _MissingError(measure.name)
        return found

    def _is_one_of_several(self, found: Cell, wanted: Wanted) -> bool:
        """Whether a figure of a statement was found on no such page, while other tables there have rows of the same name with other figures of that
        year: revenue of regions or segments, none of which is the company's."""
        statements = set(wanted.measure.kinds).intersection(PRIMARY_STATEMENTS)
        if not statements or not statements.isdisjoint(self.sources[found.key].kinds):
            return False
        alone = ((key, replace(hit, tables=(table,))) for key, hit in self.sources.items() for table in hit.tables)
        others = [other for key, hit in alone if (other := find_cell(wanted, {key: hit})) is not None and _label(other) == _label(found)]
        return any(abs(other.value) * other.scale != abs(found.value) * found.scale for other in others)


def _label(cell: Cell) -> frozenset[str]:
    return frozenset(terms(cell.label)) - TOTALS


def compute_answer(prompt: Prompt, asked: Understanding) -> str:
    """The figure that was asked for, then its rows, each with its citation key; "" where the question asks for none or the tables do not state its operands.

    All operands are of the document that was found first.
    """
    measures = [measure_named(name) for name in asked.measures]
    first = next(iter(prompt.sources.values()), None)
    if not measures or first is None or asked.form not in {"figure", "yes_no", "passage"} or _PART.search(asked.subject):
        return ""
    sources = {key: hit for key, hit in prompt.sources.items() if hit.version == first.version}
    if _asks_for_narrower(asked, measures, sources):
        return ""
    try:
        return "\n\n".join(_answer(measures, _years(asked, sources), asked.subject, _Task(sources, frozenset(terms(spelled_out(asked.subject))))))
    except (_MissingError, ZeroDivisionError):
        return ""


def _asks_for_narrower(asked: Understanding, measures: Sequence[Measure], sources: Mapping[str, Hit]) -> bool:
    """Whether the question has a word beside its measures that rows of these tables have too: "deferred" tax assets, "iPhone" revenue."""
    of_measures = {term for measure in measures for phrase in (*measure.asked, *measure.printed) for term in phrase}
    name = re.sub(r"[\W_]", "", next(iter(sources.values())).document.casefold())
    others = {
        term for term in content_terms(spelled_out(asked.subject)) if term not in of_measures | _PLAIN and not term.isdecimal() and term not in name
    }
    rows = [f"{row.section} {row.label}" for hit in sources.values() for table in hit.tables for row in table.rows]
    return not others.isdisjoint(terms(" ".join(rows)))


def _years(asked: Understanding, sources: Mapping[str, Hit]) -> tuple[int, ...]:
    """Those asked for; else steps from the document's own, or its newest."""
    newest = newest_year(tuple(sources.values()))
    if asked.years or newest is None:
        return asked.years
    return tuple(sorted(newest + step for step in asked.relative_years or (0,)))


def _answer(measures: Sequence[Measure], years: Sequence[int], question: str, task: _Task) -> Iterator[str]:
    # The ratio rather than the operands that the question spells out beside it.
    measure = max(measures, key=lambda one: len(one.operands))
    if not years:
        raise _MissingError
    if not measure.formula and len(measures) > 1 and (said := _SHARE.search(question)):
        measure = _share(measures, set(terms(spelled_out(question[: said.start()]))))
    if measure.formula and (printed := _printed_as_such(measure, years, task)):
        yield from printed
    elif _AVERAGE.search(question) and len(years) > 1:
        yield from _average(measure, years, task)
    elif measure.formula:
        yield from _formula(
            measure, years, task, changes=bool(_CHANGE.search(question) or re.search(r"improv|better|worse", question, re.IGNORECASE))
        )
    elif len(years) > 1 and (_GROWTH.search(question) or _CHANGE.search(question)):
        yield from _growth(measure, years, task)
    elif _GROWTH.search(question) and (grown := _growth_in(measure, years[0], task)):
        yield from grown
    else:
        yield from _stated(measures, years, task)


def _share(measures: Sequence[Measure], before: set[str]) -> Measure:
    """One measure as a percentage of another: the one that is named before "as a percentage of", of the one after."""
    over = next((one for one in measures if any(set(phrase) <= before for phrase in one.asked)), measures[0])
    under = next(one for one in measures if one is not over)
    return Measure(f"{over.name} as a share of {under.name}", (), (), (), (over.name, under.name), "100 * a / b", "%")


def _printed_as_such(measure: Measure, years: Sequence[int], task: _Task) -> list[str]:
    """A ratio that the document prints itself, under the very name; none where it does not."""
    own = Measure(measure.name, (), measure.asked, ())
    try:
        cells = [task.cell(own, year) for year in years]
    except _MissingError:
        return []
    exact = set(measure.asked)
    return _said(cells) if all(tuple(terms(cell.label)) in exact for cell in cells) else []


def _stated(measures: Sequence[Measure], years: Sequence[int], task: _Task) -> Iterator[str]:
    """Measures as they are printed, year by year."""
    cells = [task.cell(measure, year) for measure in measures[:MOST_STATED] for year in sorted(years, reverse=True)[:MOST_STATED]]
    yield from _said(cells)


def _growth(measure: Measure, years: Sequence[int], task: _Task) -> Iterator[str]:
    first, last = min(years), max(years)
    before, after = task.cell(measure, first), task.cell(measure, last)
    if (before.scale, before.percent) != (after.scale, after.percent):
        raise _MissingError(measure.name)
    change = after.value - before.value
    direction = "rose" if change > 0 else "fell" if change < 0 else "did not change"
    # "The deficit rose from -3.7 to -2.9" says the contrary of its row.
    name = after.label if min(before.value, after.value) < 0 and before.label == after.label else _name(measure)
    text = f"{name} {direction} from {before.text} ({first}) to {after.text} ({last}){_unit(after)}: "
    decimals = _decimals([after, before])
    if after.percent:
        text += f"{_operand(after)} - {_operand(before)} = {change:.{decimals}f} percentage points."
    else:
        text += f"{_operand(after)} - {_operand(before)} = {_number(change, decimals)}"
        # Of a base below zero a percentage says nothing.
        growth = f"; 100 × ({_operand(after)} - {before.text}) / {before.text} = {100 * change / before.value:.1f}%" if before.value > 0 else ""
        text += f"{growth}."
    yield text
    yield from _said([after, before])


def _growth_in(measure: Measure, year: int, task: _Task) -> list[str]:
    """Growth against the year before; none where one of the two is not printed, or the question asks for what is a change itself."""
    if any(_GROWTH.search(" ".join(phrase)) for phrase in (*measure.asked, *measure.printed)):
        return []
    try:
        return list(_growth(measure, (year - 1, year), task))
    except _MissingError:
        return []


def _operand(cell: Cell) -> str:
    """As printed; with a minus sign in brackets, so that none stands by the sign of the formula: "300 - (-80)"."""
    return cell.text if cell.value >= 0 or "(" in cell.text else f"({cell.text})"


def _formula(measure: Measure, years: Sequence[int], task: _Task, *, changes: bool) -> Iterator[str]:
    """The measure of each year named, of the last one alone where the others only bound a balance, and of the year before too where a
    change is asked for."""
    averages = "avg" in measure.formula or "change" in measure.formula
    wanted = [max(years)] if averages and not changes else sorted(years, reverse=True)[:MOST_STATED]
    if changes and len(wanted) == 1:
        wanted.append(wanted[0] - 1)
    worked = []
    for year in wanted:
        try:
            worked.append((year, _work_out(measure, year, task)))
        except _MissingError:
            if not worked:
                raise
    for year, one in worked:
        yield f"{_name(measure)} ({year}) = {one.written} = {_printed(one, measure)}{_scale_of(one, measure)}."
    yield from _said([cell for _, one in worked for cell in one.cells])


def _average(measure: Measure, years: Sequence[int], task: _Task) -> Iterator[str]:
    chosen = sorted(years)[-MOST_YEARS:]
    worked = [_work_out(measure, year, task) for year in chosen]
    each = "; ".join(f"{year}: {one.written} = {_printed(one, measure)}" for year, one in zip(chosen, worked, strict=True)) if measure.formula else ""
    scale = 1.0 if measure.unit else worked[0].cells[0].scale
    mean = sum(one.value for one in worked) / len(worked) / scale
    terms_ = " + ".join(_printed(one, measure) for one in worked)
    result = _result(mean, measure) if measure.unit else _number(mean, MEAN_DECIMALS)
    cells = [cell for one in worked for cell in one.cells]
    label = f"{_name(measure)}, average of {chosen[0]}-{chosen[-1]}"
    yield f"{label}: ({terms_}) / {len(worked)} = {result}{_scale_of(worked[0], measure)}. {each}{'.' if each else ''}".strip()
    yield from _said(cells)


def _work_out(measure: Measure, year: int, task: _Task) -> _Worked:
    """Raises _MissingError where an operand is missing, or the scale of one of several is not known."""
    if not measure.formula:
        stated = task.cell(measure, year)
        return _Worked(stated.value * stated.scale, stated.text, (stated,))
    operands = dict(zip("abcdef", (measure_named(name) for name in measure.operands), strict=False))
    cells: list[Cell] = []
    taken: dict[Cell, str] = {}

    def cell(name: str, at: int) -> tuple[float, str]:
        if operands[name].formula and not _printed_as_such(operands[name], [at], task):
            worked = _work_out(operands[name], at, task)
            cells.extend(worked.cells)
            return worked.value, f"({worked.written})"
        found = task.cell(operands[name], at)
        if taken.setdefault(found, name) != name:  # one row is never two measures: "Income before income taxes" is not also the taxes
            raise _MissingError(name)
        cells.append(found)
        cost = operands[name].name in _COSTS
        return found.scale * (abs(found.value) if cost else found.value), found.text.replace("(", "").replace(")", "") if cost else _operand(found)

    value, written = _evaluate(ast.parse(measure.formula, mode="eval").body, cell, year)
    scales = {one.scale for one in cells}
    if (len(scales) > 1 and 1.0 in scales) or len({one.percent for one in cells}) > 1:
        raise _MissingError(measure.name)
    if measure.formula.startswith("sum("):
        _check_whole(cells, task)
    return _Worked(value, written, tuple(cells))


def _check_whole(cells: Sequence[Cell], task: _Task) -> None:
    """Raises _MissingError unless the parts of a debt stand in one table that has no other row of debt in that column."""
    first, used = cells[0], {(cell.label, cell.text) for cell in cells}
    tables = [table for table in task.sources[first.key].tables if any(row.label == first.label for row in table.rows)]
    for table in tables:
        for row in table.rows:
            texts = {cell.text for at, cell in enumerate(row.cells) if cell and table.heads[at] == first.head}
            if (
                _DEBT.search(row.label)
                and not _NO_DEBT.search(row.label)
                and any(find_figures(text) and (row.label, text) not in used for text in texts)
            ):
                raise _MissingError(row.label)
    if any((cell.key, cell.head) != (first.key, first.head) for cell in cells) or len(used) < len(cells):
        raise _MissingError(first.label)


def _evaluate(node: ast.expr, cell: Callable[[str, int], tuple[float, str]], year: int) -> tuple[float, str]:
    """(value, as written in printed figures) of a formula; values carry their tables' scales, so that pages of different scales agree."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return float(node.value), str(node.value)
    if isinstance(node, ast.Name):
        return cell(node.id, year)
    if isinstance(node, ast.BinOp):
        (left, left_text), (right, right_text) = _evaluate(node.left, cell, year), _evaluate(node.right, cell, year)
        apply, sign = _OPERATIONS[type(node.op)]
        if sign in "×/" and isinstance(node.right, ast.BinOp):
            right_text = f"({right_text})"
        if sign in "×/" and isinstance(node.left, ast.BinOp) and isinstance(node.left.op, ast.Add | ast.Sub):
            left_text = f"({left_text})"
        return apply(left, right), f"{left_text} {sign} {right_text}"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "sum":
        return _sum([one.id for one in node.args if isinstance(one, ast.Name)], cell, year)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and isinstance(node.args[0], ast.Name):
        return _called(node.func.id, node.args[0].id, cell, year)
    raise ValueError(f"no formula has {ast.dump(node)}")


def _sum(names: Sequence[str], cell: Callable[[str, int], tuple[float, str]], year: int) -> tuple[float, str]:
    """The first with those of the others that are printed. Raises _MissingError where none of them is."""
    found = [cell(names[0], year)]
    for name in names[1:]:
        try:
            found.append(cell(name, year))
        except _MissingError:
            continue
    if len(found) == 1:
        raise _MissingError(names[0])
    return sum(value for value, _ in found), " + ".join(text for _, text in found)


def _called(function: str, name: str, cell: Callable[[str, int], tuple[float, str]], year: int) -> tuple[float, str]:
    (now, now_text), (before, before_text) = cell(name, year), cell(name, year - 1)
    if function == "avg":
        return (now + before) / 2, f"(({now_text} + {before_text}) / 2)"
    return now - before, f"({now_text} - {before_text})"


def _said(cells: Sequence[Cell]) -> list[str]:
    """Each row once, with what stands under the heads that were used."""
    rows: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        rows.setdefault((cell.key, cell.row), []).append(cell)
    return [f"{row} ({_read(of)}) [{key}]" for (key, row), of in rows.items()]


def _read(cells: Sequence[Cell]) -> str:
    pairs = dict.fromkeys(f"{cell.head}: {cell.text}" for cell in cells)
    return "; ".join(pairs) + _unit(cells[0])


def _name(measure: Measure) -> str:
    return measure.name[:1].upper() + measure.name[1:]


def _result(value: float, measure: Measure) -> str:
    if measure.unit == "%":
        return f"{value:.1f}%"
    shown = f"{value:.2f}" if abs(value) >= 0.01 else f"{value:.4f}"
    return f"{shown} days" if measure.unit == "days" else shown


def _printed(one: _Worked, measure: Measure) -> str:
    """The value as its operands are printed: a sum keeps their scale."""
    if measure.unit:
        return _result(one.value, measure)
    alike = len({cell.scale for cell in one.cells}) == 1
    return _number(one.value / one.cells[0].scale, _decimals(one.cells) if alike else MEAN_DECIMALS)


def _scale_of(one: _Worked, measure: Measure) -> str:
    return "" if measure.unit else _unit(one.cells[0])


def _unit(cell: Cell) -> str:
    return f", {cell.unit}" if cell.unit else ""


def _decimals(cells: Sequence[Cell]) -> int:
    """As many as the operands show."""
    return max(figure.decimals for cell in cells for figure in find_figures(cell.text)[:1])


def _number(value: float, decimals: int) -> str:
    return f"{value:,.0f}" if abs(value - round(value)) < 1e-6 else f"{value:,.{decimals}f}"
