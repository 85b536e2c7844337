"""Works a measure out by its formula from table cells that are all there and go together."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from chatbot.answer.tables.cell_lookup import NO_NARROWER, CellQuery, FoundCell, figure_in, find_cell
from chatbot.answer.tables.table_wording import Worked, operand
from chatbot.calculator import Operand, written_out
from chatbot.records import Hit
from ingestion.language.measures import Measure, measure_named
from ingestion.language.terms import terms

__all__ = ["MissingError", "Task", "printed_as_such", "work_out"]

# Of a formula: the mean of this year's and last year's figure, its change, what is added up, and an operand.
# A capital letter stands for the figure of the year before.
_MEAN = re.compile(r"\bavg\((\w)\)")
_CHANGE = re.compile(r"\bchange\((\w)\)")
_SUM = re.compile(r"sum\((.*)\)")
_LETTER = re.compile(r"\b[A-Za-z]\b")
# Costs and payments. Statements print them with or without brackets; in a formula they are amounts.
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
# A row of debt beside those that were added up, and what makes a row none.
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
# In brackets these are a cost or a benefit; the row does not say which.
_EITHER = frozenset({"income taxes"})


class MissingError(Exception):
    """An operand that no table of the pages states, or not so that its value can be told."""


@dataclass(frozen=True, slots=True)
class Task:
    """What is worked out, from which pages.

    sources: citation key to page.
    words: of the question.
    whose: as in Understanding.
    others: the question asks for "other" revenue and the like.
    labels: receives the labels of the rows that were used.
    """

    sources: Mapping[str, Hit]
    words: frozenset[str]
    whose: str = ""
    others: bool = False
    labels: list[str] = field(default_factory=list)

    def cell(self, measure: Measure, year: int | None) -> FoundCell:
        """The cell that states a measure. Raises MissingError."""
        query = CellQuery(measure, year, self.words, self.others)
        found = find_cell(query, self.sources)
        if found is None or (found.value < 0 and measure.name in _EITHER):
            raise MissingError(measure.name)
        if self._is_one_of_several(found, query):
            raise MissingError(measure.name)
        self.labels.append(found.label)
        return found

    def operand(self, measure: Measure, year: int) -> FoundCell:
        """The same for a figure that something is worked out from. Raises MissingError."""
        found = self.cell(measure, year)
        if not found.certain:
            raise MissingError(measure.name)
        return found

    def _is_one_of_several(self, found: FoundCell, query: CellQuery) -> bool:
        """Whether a figure may be just a region's or a segment's: none of several is the company's.

        That is so where a figure of a statement was found on another page, and other tables have rows of the
        same name with other figures of that year.
        """
        statements = set(query.measure.kinds)
        if not statements or not statements.isdisjoint(self.sources[found.key].kinds):
            return False
        own = _label_and_size(found)
        for key, hit in self.sources.items():
            for table in hit.tables:
                other = find_cell(query, {key: replace(hit, tables=(table,))})
                label, size = _label_and_size(other) if other else own
                if label == own[0] and size != own[1]:
                    return True
        return False


def _label_and_size(cell: FoundCell) -> tuple[frozenset[str], float]:
    return frozenset(terms(cell.label)) - NO_NARROWER, abs(cell.value) * cell.scale


def printed_as_such(measure: Measure, years: Sequence[int], task: Task) -> list[FoundCell]:
    """The cells, one a year, of a ratio that the document itself prints under just that name; else []."""
    own = Measure(measure.name, (), measure.asked, ())
    tried = replace(task, labels=[])  # a row of another name, "adjusted", leaves no word behind
    try:
        cells = [tried.cell(own, year) for year in years]
    except MissingError:
        return []
    exact = set(measure.asked)
    if all(tuple(terms(cell.label)) in exact for cell in cells):
        task.labels.extend(tried.labels)
        return cells
    return []


def work_out(measure: Measure, year: int, task: Task) -> Worked:
    """A measure's value in a year.

    Raises MissingError where an operand is missing, or the scale of one of several is not known.
    """
    if not measure.formula:
        stated = task.operand(measure, year)
        return Worked(stated.value * stated.scale, stated.text, (stated,))
    operands = _Operands(measure, task)
    value, written = written_out(*operands.of(year))
    cells = operands.cells
    scales = {cell.scale for cell in cells}
    if len(scales) > 1 and 1.0 in scales:
        raise MissingError(measure.name)
    if len({cell.percent for cell in cells}) > 1:
        raise MissingError(measure.name)
    if measure.formula.startswith("sum("):
        _check_whole(cells, task)
    return Worked(value, written, tuple(cells))


class _Operands:
    """Gets the operands of a measure's formula, and keeps the cells that state them."""

    def __init__(self, measure: Measure, task: Task) -> None:
        measures = [measure_named(name) for name in measure.operands]
        self._measures = dict(zip("abcdef", measures, strict=False))
        self._formula = measure.formula
        self._task = task
        self._letters: dict[FoundCell, str] = {}
        self.cells: list[FoundCell] = []

    def of(self, year: int) -> tuple[str, dict[str, Operand]]:
        """The formula of single letters, and what they stand for in a year. Raises MissingError."""
        if summed := _SUM.fullmatch(self._formula):
            first, *others = summed[1].split(", ")
            found = {first: self._fetch(first, year)}
            for letter in others:
                with suppress(MissingError):
                    found[letter] = self._fetch(letter, year)
            if len(found) == 1:
                raise MissingError(first)
            return " + ".join(found), found
        formula = _MEAN.sub(lambda of: f"(({of[1]} + {of[1].upper()}) / 2)", self._formula)
        formula = _CHANGE.sub(lambda of: f"({of[1]} - {of[1].upper()})", formula)
        letters = _LETTER.findall(formula)
        return formula, {one: self._fetch(one.lower(), year - one.isupper()) for one in letters}

    def _fetch(self, letter: str, year: int) -> Operand:
        """The operand that a letter of the formula stands for. Raises MissingError."""
        measure = self._measures[letter]
        if measure.formula and not printed_as_such(measure, [year], self._task):
            worked = work_out(measure, year, self._task)
            self.cells.extend(worked.cells)
            return worked.value, f"({worked.written})"
        found = self._task.operand(measure, year)
        # One row is never two measures: "Income before income taxes" is not also the taxes.
        if self._letters.setdefault(found, letter) != letter:
            raise MissingError(letter)
        self.cells.append(found)
        if measure.name not in _COSTS:
            return found.scale * found.value, operand(found)
        return found.scale * abs(found.value), found.text.replace("(", "").replace(")", "")


def _check_whole(cells: Sequence[FoundCell], task: Task) -> None:
    """Raises MissingError unless the parts of a debt are all of it.

    They must be different cells of one column of one page, whose tables have no other row of debt there.
    """
    first = cells[0]
    used = {(cell.label, cell.text) for cell in cells}
    page = task.sources[first.key]
    for table in page.tables:
        if all(row.label != first.label for row in table.rows):
            continue
        for row in table.rows:
            if not _DEBT.search(row.label) or _NO_DEBT.search(row.label):
                continue
            for column, cell in enumerate(row.cells):
                if cell is None or table.heads[column] != first.head or (row.label, cell.text) in used:
                    continue
                if figure_in(table, row, column, page.page_text):
                    raise MissingError(row.label)
    if len(used) < len(cells):
        raise MissingError(first.label)
    if len({(cell.key, cell.head) for cell in cells}) > 1:
        raise MissingError(first.label)
