"""Works a measure out by its formula from cells of tables, whose operands are all there and go together;
knows no question beyond its words.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from chatbot.answer.tables.cell_lookup import TOTALS, CellQuery, FoundCell, find_cell
from chatbot.answer.tables.table_wording import Worked, operand
from chatbot.records import Hit
from ingestion.language.measures import Measure, measure_named
from ingestion.language.numbers import find_figures
from ingestion.language.terms import terms
from ingestion.pages.kinds import PRIMARY_STATEMENTS

__all__ = ["MissingError", "Task", "printed_as_such", "work_out"]

_OPERATIONS: dict[type[ast.operator], tuple[Callable[[float, float], float], str]] = {
    ast.Add: (operator.add, "+"),
    ast.Sub: (operator.sub, "-"),
    ast.Mult: (operator.mul, "×"),
    ast.Div: (operator.truediv, "/"),
}
# Costs and payments, which statements print with and without brackets: in a formula they are amounts. What
# taxes in brackets are, cost or benefit, their row does not say.
_COSTS = frozenset(
    {
        "cost of sales",
        "operating expenses",
        "interest expense",
        "depreciation and amortization",
        "research and development",
        "selling, general and administrative",
        "capital expenditure",
        "dividends paid",
        "share repurchases",
        "stock-based compensation",
    }
)
# A row of debt beside those that were added up, and what is none.
_DEBT = re.compile(
    (
        r"\b(?:debts?|borrowings?|loans?|notes|commercial paper|bonds|debentures|overdrafts?"
        r"|credit facilit(?:y|ies))\b"
    ),
    re.IGNORECASE,
)
_NO_DEBT = re.compile(
    r"\b(?:receivables?|securities|issuance|investments?|held|see|accompanying|allowance|deferred)\b",
    re.IGNORECASE,
)
_EITHER = frozenset({"income taxes"})


class MissingError(Exception):
    """An operand that no table of the pages states."""


@dataclass(frozen=True, slots=True)
class Task:
    """What is worked out from which pages. words: of the question. whose: as in Understanding. others:
    "other" revenue is asked for. settles: a figure of the measure may answer by yes or no. labels: gets those
    of the rows that were used."""

    sources: Mapping[str, Hit]
    words: frozenset[str]
    whose: str = ""
    others: bool = False
    settles: bool = True
    labels: list[str] = field(default_factory=list)

    def cell(self, measure: Measure, year: int | None) -> FoundCell:
        """Raises MissingError."""
        wanted = CellQuery(measure, year, self.words, self.others)
        found = find_cell(wanted, self.sources)
        if (
            found is None
            or (found.value < 0 and measure.name in _EITHER)
            or self._is_one_of_several(found, wanted)
        ):
            raise MissingError(measure.name)
        self.labels.append(found.label)
        return found

    def _is_one_of_several(self, found: FoundCell, wanted: CellQuery) -> bool:
        """Whether a figure of a statement was found on no such page, while other tables there have rows of
        the same name with other figures of that year: revenue of regions or segments, none of which is the
        company's."""
        statements = set(wanted.measure.kinds).intersection(PRIMARY_STATEMENTS)
        if not statements or not statements.isdisjoint(self.sources[found.key].kinds):
            return False
        alone = (
            (key, replace(hit, tables=(table,))) for key, hit in self.sources.items() for table in hit.tables
        )
        others = [
            other
            for key, hit in alone
            if (other := find_cell(wanted, {key: hit})) is not None and _label(other) == _label(found)
        ]
        return any(abs(other.value) * other.scale != abs(found.value) * found.scale for other in others)


def _label(cell: FoundCell) -> frozenset[str]:
    return frozenset(terms(cell.label)) - TOTALS


def printed_as_such(measure: Measure, years: Sequence[int], task: Task) -> list[FoundCell]:
    """The cells, one a year, of a ratio that the document prints itself, under the very name; none where
    it does not.
    """
    own = Measure(measure.name, (), measure.asked, ())
    try:
        cells = [task.cell(own, year) for year in years]
    except MissingError:
        return []
    exact = set(measure.asked)
    if all(tuple(terms(cell.label)) in exact for cell in cells):
        return cells
    return []


def work_out(measure: Measure, year: int, task: Task) -> Worked:
    """Raises MissingError where an operand is missing, or the scale of one of several is not known."""
    if not measure.formula:
        stated = task.cell(measure, year)
        return Worked(stated.value * stated.scale, stated.text, (stated,))
    operands = dict(zip("abcdef", (measure_named(name) for name in measure.operands), strict=False))
    cells: list[FoundCell] = []
    taken: dict[FoundCell, str] = {}

    def cell(name: str, at: int) -> tuple[float, str]:
        if operands[name].formula and not printed_as_such(operands[name], [at], task):
            worked = work_out(operands[name], at, task)
            cells.extend(worked.cells)
            return worked.value, f"({worked.written})"
        found = task.cell(operands[name], at)
        if (
            taken.setdefault(found, name) != name
        ):  # one row is never two measures: "Income before income taxes" is not also the taxes
            raise MissingError(name)
        cells.append(found)
        cost = operands[name].name in _COSTS
        return found.scale * (abs(found.value) if cost else found.value), found.text.replace("(", "").replace(
            ")", ""
        ) if cost else operand(found)

    value, written = _evaluate(ast.parse(measure.formula, mode="eval").body, cell, year)
    scales = {one.scale for one in cells}
    if (len(scales) > 1 and 1.0 in scales) or len({one.percent for one in cells}) > 1:
        raise MissingError(measure.name)
    if measure.formula.startswith("sum("):
        _check_whole(cells, task)
    return Worked(value, written, tuple(cells))


def _check_whole(cells: Sequence[FoundCell], task: Task) -> None:
    """Raises MissingError unless the parts of a debt stand in one table that has no other row of debt in
    that column.
    """
    first = cells[0]
    used = {(cell.label, cell.text) for cell in cells}
    tables = [
        table
        for table in task.sources[first.key].tables
        if any(row.label == first.label for row in table.rows)
    ]
    for table in tables:
        for row in table.rows:
            texts = {cell.text for at, cell in enumerate(row.cells) if cell and table.heads[at] == first.head}
            if (
                _DEBT.search(row.label)
                and not _NO_DEBT.search(row.label)
                and any(find_figures(text) and (row.label, text) not in used for text in texts)
            ):
                raise MissingError(row.label)
    if any((cell.key, cell.head) != (first.key, first.head) for cell in cells) or len(used) < len(cells):
        raise MissingError(first.label)


def _evaluate(node: ast.expr, cell: Callable[[str, int], tuple[float, str]], year: int) -> tuple[float, str]:
    """(value, as written in printed figures) of a formula; values carry their tables' scales, so that
    pages of different scales agree.
    """
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return float(node.value), str(node.value)
    if isinstance(node, ast.Name):
        return cell(node.id, year)
    if isinstance(node, ast.BinOp):
        (left, left_text), (right, right_text) = (
            _evaluate(node.left, cell, year),
            _evaluate(node.right, cell, year),
        )
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
    """The first with those of the others that are printed. Raises MissingError where none of them is."""
    found = [cell(names[0], year)]
    for name in names[1:]:
        try:
            found.append(cell(name, year))
        except MissingError:
            continue
    if len(found) == 1:
        raise MissingError(names[0])
    return sum(value for value, _ in found), " + ".join(text for _, text in found)


def _called(
    function: str, name: str, cell: Callable[[str, int], tuple[float, str]], year: int
) -> tuple[float, str]:
    (now, now_text), (before, before_text) = cell(name, year), cell(name, year - 1)
    if function == "avg":
        return (now + before) / 2, f"(({now_text} + {before_text}) / 2)"
    return now - before, f"({now_text} - {before_text})"
