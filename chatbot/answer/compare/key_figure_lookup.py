"""Finds the key figures of one document in the tables of its pages.

A figure is taken only from a row that is called what the measure is called, on a page of the kind that states
it: a wrong figure in a sheet is worse than none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from chatbot.answer.compare.key_figure_periods import column_periods, day_in
from chatbot.answer.tables.cell_lookup import FoundCell, cell_of
from chatbot.comparison.key_figures import A_DAY, OF_GDP, DocumentFigures, FigurePeriod, KeyFigure
from chatbot.evidence.passages import verbatim
from chatbot.records import Hit
from ingestion.language.currencies import MONEY, short_sign
from ingestion.language.key_figure_names import KeyMeasure, key_measures, plain_label
from ingestion.language.numbers import find_figures, passage_scale, scale_marks
from ingestion.pages.features import fold
from ingestion.pages.statement_terms import STATEMENTS as TITLES
from ingestion.records import Row, Table

__all__ = ["document_figures"]

INCOME, BALANCE, CASH = "income_statement", "balance_sheet", "cash_flow_statement"
STATEMENTS = (INCOME, BALANCE, CASH)
DEBT = "debt on the balance sheet"
PER_SHARE_MEASURE = "diluted earnings per share"
CAPITAL = "capital expenditure"
# Measures that are percentages of nothing else; the others are amounts, or shares of the economy.
RATES = frozenset({"economic growth", "inflation", "unemployment"})
# A page whose title says this has the whole group's statement, or another's.
WHOLE_GROUP = re.compile(r"\bconsolidated\b|\bgroup\b", re.IGNORECASE)
ALONE = re.compile(
    r"\b(?:standalone|stand-alone|parent|separate|unconsolidated|company only)\b", re.IGNORECASE
)
TITLE_CHARACTERS = 300
LONGEST_TITLE = 200
NO_STATEMENT = re.compile(
    r"\b(?:segments?|reconciliation|non-?gaap|pro ?forma|supplemental|notes? to|selected|parent"
    r"|impact|effect)\b"
)
PER_SHARE = re.compile(r"\bper\b.{0,30}\bshare\b", re.IGNORECASE)
CODE_IN_BRACKETS = re.compile(r"\(([A-Z]{3})\)")
LINES_ABOVE = 200
COUNTED = re.compile(r"\b(?:shares? (?:used|outstanding)|weighted|number of)", re.IGNORECASE)
BESIDE_THE_CASH = re.compile(r"\b(?:supplement\w*|non-?cash|accrued|not paid)\b", re.IGNORECASE)
# What would be in a case, or how far from another: no rate that is stated or assumed.
OF_A_CASE = re.compile(
    r"\b(?:deviations?|baseline|peak|shocks?|scenarios?|impact|contributions?|differences?|revisions?|gap)\b",
    re.IGNORECASE,
)
OF_THE_ECONOMY = re.compile(r"(?:of|to|/)\s*(?:the )?(?:nominal )?(?:GDP|GSDP|GSP|GNP)\b", re.IGNORECASE)
GOVERNMENT = re.compile(
    r"(?:annual )?(?:surplus|deficit)\b.*|net financial (?:assets|debt)|excess of revenues? over.*"
)
PUBLIC = re.compile(
    r"\b(?:government|parliament|minist(?:er|ry)|budget|public debt|monetary policy|GDP|fiscal policy)\b",
    re.IGNORECASE,
)
LEAST_PUBLIC = 0.3
SUBJECTS = re.compile(r"\b(?:expenditures?|expenses|spending|outlays?|revenues?|receipts)\b", re.IGNORECASE)
# Rows of what is owed for money borrowed, and those that only sound like it.
OWED = re.compile(
    r"\b(?:debt|borrowings?|notes? payable|loans? payable|commercial paper|mortgages?|senior notes?"
    r"|credit facilit(?:y|ies)|lines? of credit|term loans?|debentures?|bonds? payable|convertible notes?)\b"
)
NOT_OWED = re.compile(
    r"\b(?:receivables?|accounts|trade|securities|issuance|costs?|discount|leases?|preferred|equity"
    r"|investments?|deferred|interest payable|allowance)\b"
)
NO_SUM = re.compile(r"^(?:total|sub ?total)\b")
LIABILITIES = re.compile(r"liabilit", re.IGNORECASE)
# What extraction puts behind a label: the heading of the rows that follow.
CAPITAL_LETTER = re.compile(r"[A-Z(]")


@dataclass(frozen=True, slots=True)
class _RowPlace:
    """A row that may state a measure. rank: of its name, 0 for the best."""

    rank: int
    hit: Hit
    table: Table
    row: Row


def document_figures(document: str, version: int, pages: Sequence[Hit], remark: str = "") -> DocumentFigures:
    """The key figures that a document's tables state.

    pages: all, in order, each with its text, tables and kinds. remark: as in DocumentFigures.
    """
    statements = {kind: _best_first(_statements(pages, kind)) for kind in STATEMENTS}
    families = _families(pages, statements)
    figures: list[KeyFigure] = []
    for measure in key_measures():
        if measure.family not in families or not measure.labels:
            continue
        if "position" in families:
            own = [hit for kind in STATEMENTS if kind in measure.kinds for hit in statements[kind]]
            figures += _of_statements(measure, own)
        else:
            figures += _of_budget(measure, pages)
    figures += _debt(statements[BALANCE])
    return DocumentFigures(document, version, tuple(_in_one_time(figures)), families, remark)


def _statements(pages: Sequence[Hit], kind: str) -> list[Hit]:
    """The pages that are a statement, with what of it goes on over their end.

    Where none is, the tables whose caption is its title.
    """
    found: list[Hit] = []
    for hit in pages:
        goes_on = (
            found and found[-1].page == hit.page - 1 and any(table.continued for table in hit.tables[:1])
        )
        if kind in hit.kinds:
            found.append(hit)
        elif goes_on and not _has_kind(hit, STATEMENTS):
            found.append(replace(hit, kinds=(kind,), tables=hit.tables[:1]))
    if found:
        return found
    for hit in pages:
        titled = tuple(table for table in hit.tables if _is_titled(table, kind))
        if titled:
            found.append(replace(hit, kinds=(kind,), tables=titled))
    return found


def _is_titled(table: Table, kind: str) -> bool:
    """Whether a table's caption is the title of a statement, and of no part or variant of one."""
    caption = fold(table.caption)
    if len(caption) > LONGEST_TITLE or NO_STATEMENT.search(caption):
        return False
    return TITLES[kind].title.search(caption) is not None


def _families(pages: Sequence[Hit], statements: Mapping[str, Sequence[Hit]]) -> frozenset[str]:
    """Which rows apply: a company's accounts, a government's accounts, or a budget."""
    if not any(statements.values()):
        public = sum(PUBLIC.search(hit.page_text) is not None for hit in pages)
        return frozenset({"budget"}) if public >= LEAST_PUBLIC * len(pages) > 0 else frozenset()
    tables = [table for hit in statements[INCOME] for table in hit.tables]
    labels = [plain_label(row.label) for table in tables for row in table.rows]
    if any(map(GOVERNMENT.fullmatch, labels)):
        return frozenset({"position", "budget"})
    return frozenset({"accounts", "position"})


def _has_kind(hit: Hit, kinds: Sequence[str]) -> bool:
    return not set(kinds).isdisjoint(hit.kinds)


# --- which row
# ------------------------------------------------------------------------------------------------------------


def _of_statements(measure: KeyMeasure, statements: Sequence[Hit]) -> list[KeyFigure]:
    """A measure in the times of the row of a statement that states it best.

    Further pages add only what is of another length of time: a year behind a quarter.
    """
    found: dict[FigurePeriod, KeyFigure] = {}
    for hit in statements:
        figures = _best_row(measure, list(_rows(measure, hit)), share=False)
        lengths = {period.months for period in found}
        for figure in figures:
            if figure.period.months not in lengths:
                found[figure.period] = figure
    return list(found.values())


def _of_budget(measure: KeyMeasure, pages: Sequence[Hit]) -> list[KeyFigure]:
    """A measure as amounts, and as shares of the economy, each from the row that states it best.

    A page of the measure's kind goes before others.
    """
    places: list[_RowPlace] = []
    for hit in pages:
        other = 0 if _has_kind(hit, measure.kinds) else len(measure.labels)
        places += [replace(place, rank=place.rank + other) for place in _rows(measure, hit)]
    amounts = _best_row(measure, places, share=False)
    if measure.name in RATES:
        return amounts
    return amounts + _best_row(measure, places, share=True)


def _best_row(measure: KeyMeasure, places: Sequence[_RowPlace], *, share: bool) -> list[KeyFigure]:
    """The figures of the first row, by its name and place, that has any."""
    for place in sorted(places, key=lambda place: place.rank):
        figures = _of_row(measure, place, share=share)
        if figures:
            return figures
    return []


def _best_first(pages: Sequence[Hit]) -> list[Hit]:
    """Statements of the whole group first, of a part or of the parent last, else in order."""
    return sorted(pages, key=_standing)


def _standing(hit: Hit) -> int:
    title = " ".join([hit.page_text[:TITLE_CHARACTERS], *(table.caption for table in hit.tables)])
    if ALONE.search(title):
        return 2
    return 0 if WHOLE_GROUP.search(title) else 1


def _rows(measure: KeyMeasure, hit: Hit) -> Iterator[_RowPlace]:
    """The rows of a page that are called what the measure is called."""
    for table in hit.tables:
        for row in table.rows:
            rank = _rank(measure, row, table, hit)
            if rank is not None and _is_of_kind(measure, row, hit):
                yield _RowPlace(rank, hit, table, row)


def _rank(measure: KeyMeasure, row: Row, table: Table, hit: Hit) -> int | None:
    rank = measure.rank(plain_label(row.label))
    if measure.name == PER_SHARE_MEASURE and rank is None and row.label.startswith("Net "):
        rank = measure.rank(plain_label(row.section.split(" > ")[-1]))
    if measure.family == "budget" and rank is None and plain_label(row.label) == "total":
        rank = measure.rank(f"total {_subject(table)}")
    if rank is not None or not any(row.cells):
        return rank
    return measure.rank(plain_label(_own_label(row, hit)))


def _subject(table: Table) -> str:
    """The one word of a caption that says what its amounts are, "" where it has none or several."""
    found = {word.casefold() for word in SUBJECTS.findall(table.caption)}
    return found.pop() if len(found) == 1 else ""


def _own_label(row: Row, hit: Hit) -> str:
    """What stands before a row's first figure, where the rest of its label is the heading of what follows."""
    first = next(cell for cell in row.cells if cell is not None)
    label = " ".join(hit.page_text[max(0, row.start) : max(0, first.start)].split())
    rest = row.label.removeprefix(label).strip()
    if label and rest and rest != row.label and CAPITAL_LETTER.match(rest):
        return label
    return ""


def _is_of_kind(measure: KeyMeasure, row: Row, hit: Hit) -> bool:
    """Whether the section of a row lets it be the measure."""
    if measure.name == PER_SHARE_MEASURE:
        return _is_per_share(row, hit)
    if measure.name == CAPITAL and BESIDE_THE_CASH.search(row.section):
        return False
    if measure.name in RATES and OF_A_CASE.search(row.label):
        return False
    return PER_SHARE.search(f"{row.section} {row.label}") is None


def _is_per_share(row: Row, hit: Hit) -> bool:
    """Whether the label of a row, its section or else the lines above it say that it is for each share."""
    named = f"{row.section} {row.label}"
    if COUNTED.search(named):
        return False
    if PER_SHARE.search(named):
        return True
    above = hit.page_text[max(0, row.start - LINES_ABOVE) : max(0, row.start)]
    said = [found.end() for found in PER_SHARE.finditer(above)]
    counted = [found.end() for found in COUNTED.finditer(above)]
    return max(said, default=0) > max(counted, default=0)


# --- which cells
# ------------------------------------------------------------------------------------------------------------


def _of_row(measure: KeyMeasure, place: _RowPlace, *, share: bool) -> list[KeyFigure]:
    """The figures of a row by time. share: as shares of the economy."""
    table, row, hit = place.table, place.row, place.hit
    rates = share or measure.name in RATES
    day = BALANCE in measure.kinds and _has_kind(hit, (BALANCE,))
    figures: dict[FigurePeriod, KeyFigure] = {}
    twice: set[FigurePeriod] = set()
    for column, period in column_periods(table, hit.page_text, day=day, shares=rates).items():
        cell = cell_of("", hit, table, row, column)
        if cell is None or not _fits(measure, cell, place, share=share):
            continue
        if period in figures:
            twice.add(period)
        name = measure.name + OF_GDP if share else measure.name
        figures[period] = _figure(name, period, cell, place, column)
    return [figure for period, figure in figures.items() if period not in twice]


def _fits(measure: KeyMeasure, cell: FoundCell, place: _RowPlace, *, share: bool) -> bool:
    """Whether a cell's unit can be the measure's."""
    if measure.name in RATES:
        return cell.percent
    if not share:
        return not cell.percent
    table = place.table
    said = " ".join((cell.label, cell.head, cell.unit, place.row.section, table.unit, table.caption))
    return cell.percent and OF_THE_ECONOMY.search(said) is not None


def _figure(name: str, period: FigurePeriod, cell: FoundCell, place: _RowPlace, column: int) -> KeyFigure:
    figure = find_figures(cell.text)[0]
    hit, row = place.hit, place.row
    unit = "%" if cell.percent else _money(cell, place)
    if name == PER_SHARE_MEASURE:
        cell = replace(cell, scale=1.0, unit="")
    return KeyFigure(
        name,
        period,
        cell.text,
        cell.value,
        unit,
        cell.scale,
        figure.decimals,
        cell.label,
        cell.head,
        cell.unit,
        hit.page,
        hit.page_label,
        verbatim(row, hit.page_text),
        row.start,
    )


def _money(cell: FoundCell, place: _RowPlace) -> str | None:
    """The currency of a cell as a sign: its own, its unit's, that of other cells of its table, its page's."""
    table = place.table
    own = find_figures(cell.text)[0].unit
    if own in MONEY:
        return short_sign(own)
    for text in (cell.head, cell.label, cell.unit, table.unit, table.caption):
        marked = [mark.unit for mark in scale_marks(text) if mark.unit in MONEY]
        if marked:
            return short_sign(marked[-1])
        code = CODE_IN_BRACKETS.search(text)
        if code:
            return code[1]
    for row in table.rows:
        for other in filter(None, row.cells):
            units = [figure.unit for figure in find_figures(other.text) if figure.unit in MONEY]
            if units:
                return short_sign(units[0])
    unit = passage_scale(place.hit.page_text)[1]
    return short_sign(unit) if unit in MONEY else None


# --- debt and times
# ------------------------------------------------------------------------------------------------------------


def _debt(balance_sheets: Sequence[Hit]) -> list[KeyFigure]:
    """The rows of a balance sheet that name debt, added up."""
    for hit in balance_sheets:
        for table in hit.tables:
            rows = _rows_of_debt(table)
            if rows:
                return _sums(hit, table, rows)
    return []


def _rows_of_debt(table: Table) -> list[Row]:
    """The rows of debt among the liabilities; none where a subtotal among them would count twice."""
    rows = []
    is_below = False
    for row in table.rows:
        label = plain_label(row.label)
        is_below = is_below or label == "total assets" or LIABILITIES.search(row.section) is not None
        if not is_below or not OWED.search(label) or NOT_OWED.search(label):
            continue
        if NO_SUM.match(label):
            return []
        rows.append(row)
    return rows


def _sums(hit: Hit, table: Table, rows: Sequence[Row]) -> list[KeyFigure]:
    figures: list[KeyFigure] = []
    periods = column_periods(table, hit.page_text, day=True)
    for column, period in periods.items():
        if list(periods.values()).count(period) > 1:
            continue
        parts = []
        for row in rows:
            cell = cell_of("", hit, table, row, column)
            if cell is not None and not cell.percent:
                parts.append(_figure(DEBT, period, cell, _RowPlace(0, hit, table, row), column))
        if parts:
            figures.append(_sum_of(parts, period))
    return figures


def _sum_of(parts: Sequence[KeyFigure], period: FigurePeriod) -> KeyFigure:
    first = parts[0]
    value = sum(part.value for part in parts)
    decimals = max(part.decimals for part in parts)
    text = f"{value:,.{decimals}f}"
    written = " + ".join(f"{part.value:,.{part.decimals}f}" for part in parts)
    formula = f"{written} = {text}" if len(parts) > 1 else f"{first.text}, the only row of debt"
    return KeyFigure(
        DEBT,
        period,
        text,
        value,
        first.unit,
        first.scale,
        decimals,
        unit_line=first.unit_line,
        formula=formula,
        operands=tuple(parts),
    )


def _in_one_time(figures: Sequence[KeyFigure]) -> list[KeyFigure]:
    """The figures of days under the year, or the part of one, that ends with the day."""
    flows = [figure.period for figure in figures if figure.period.months != A_DAY]
    found = []
    for figure in figures:
        period = figure.period
        if period.months == A_DAY:
            period = day_in(period, flows)
        found.append(replace(figure, period=period))
    return found
