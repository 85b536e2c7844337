"""Answers from the cells of a table by the operation that the question asks for, on rows it names in words.

The operations are changes, means, sums, shares and comparisons with a plan or an amount. The answer
shows the formula and every operand. It is empty where a row or a period is in doubt. Measures play no part
here: see table_answers.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from chatbot.answer.tables.cell_lookup import (
    OTHER,
    FoundCell,
    as_amounts,
    by_year,
    cell_of,
    column_of,
    columns_by_year,
    figure_in,
    is_planned,
    latest_year,
    limit_column,
    of_year,
)
from chatbot.answer.tables.table_wording import (
    MEAN_DECIMALS,
    amount,
    decimals_of,
    difference,
    in_a_sentence,
    mean_of,
    moved,
    number_text,
    one_line,
    operand_of,
    owned,
    said,
    short_head,
    stated_value,
    sum_of,
    unit_text,
    worked_out,
)
from chatbot.answer.verdict import by_bound, by_move, by_plan, is_other
from chatbot.calculator import CalculationError, half_digit
from chatbot.question_reading import OF_BOUNDS, Operation, QuestionReading, read_question
from chatbot.records import Hit, Prompt, Understanding
from ingestion.language.figure_words import TOTALS
from ingestion.language.periods import PART_ALONE, WHOLE_YEAR, Period, find_periods, without_periods
from ingestion.language.terms import initials_behind, terms
from ingestion.records import Row, Table

__all__ = ["by_operation", "by_row"]

# Share of a row's words that the question must have, and of the question's words that row, section, caption
# and heads must have.
LEAST_SAID, LEAST_COVERED = 0.6, 0.6
# Words in the section, caption and heads count half as much as the row's own.
ABOVE = 0.5
# A row is in doubt where another row with other figures scores nearly as well.
IN_DOUBT = 0.05
MOST_YEARS = 10
WHOLE = 100  # per cent
# The rows that a total needs at least, and the rounding allowed for each, in units of the last digit.
FEWEST_PARTS, ROUNDED = 2, 1.0
# A head with one of these beside its year does not mean the same as a head that is just a year.
_NOT_OF_A_YEAR = frozenset(
    terms("quarter q1 q2 q3 q4 months weeks half note notes share actual budget forecast estimate change")
)
_OF_TOTALS = TOTALS | frozenset(terms("net annual"))
# "Levies (payable)" are levies.
_IN_BRACKETS = re.compile(r"\([^()]*\)")


def by_operation(prompt: Prompt, asked: Understanding) -> str:
    """The formula with its result, then the rows of its operands, each with its citation key.

    "" where the question asks for no operation or a row is in doubt. All operands come from the document that
    was found first.
    """
    operation = asked.reading.operation
    first = next(iter(prompt.sources.values()), None)
    if operation is None or first is None or asked.form == "reason":
        return ""
    sources = {key: hit for key, hit in prompt.sources.items() if hit.version == first.version}
    found = _operands(operation, asked, sources, _names_of(asked, sources, first))
    if not found:
        return ""
    try:
        times = _times(asked, found[0])
        line, cells = _KINDS[operation.kind](found, times)
        name, colon, rest = "\n\n".join([line, *said(cells)]).partition(":")
        verdict = _verdict(asked.reading, operation.kind, found, times)
    except (_NoCellError, CalculationError):
        return ""
    return f"{verdict} {owned(asked.whose, name)}{colon}{rest}".strip()


def _names_of(asked: Understanding, sources: Mapping[str, Hit], first: Hit) -> frozenset[str]:
    """Words that say whom the document is about.

    A name that a row has too, such as "Greater China", is left out: it says which row is meant.
    """
    printed = _row_terms(table for hit in sources.values() for table in hit.tables)
    named = frozenset(term for name in asked.names for term in terms(name))
    return (named - printed) | frozenset(terms(re.sub(r"[\W_]+", " ", first.document)))


def _operands(
    operation: Operation, asked: Understanding, sources: Mapping[str, Hit], named: frozenset[str]
) -> list[_RowMatch]:
    """The rows that the operation needs; [] where one is in doubt."""
    query = _RowQuery(named, tuple(_periods(asked)))
    found = (
        _part_and_total(operation.topics, sources, query)
        if operation.kind == "part"
        else _rows(operation.topics, sources, query)
    )
    if not found and operation.kind in ("sum", "change"):  # "research and development" is one row
        found = _rows((asked.subject,), sources, query)
    return found


def by_row(key: str, sources: Mapping[str, Hit], table: Table, row: Row, asked: Understanding) -> str:
    """A sentence with the figures of a row, behind yes or no where they decide that, or how they changed.

    "" where the question asks for neither, where they do not decide it, where the row of a decision lacks
    most of the question's words, or where a row that changed is one of several that may be meant. key: of the
    row's page, one of the sources.
    """
    question = asked.reading
    hit = sources[key]
    found = _RowMatch(key, hit, table, row, question.terms)
    try:
        times = _times(asked, found)
        if not _is_about(hit, table, row, asked):
            return ""
        if not question.asks_yes_or_no:
            if not asked.compares or len(times) < 2:
                return ""
            before, after = as_amounts(*_pair([found], times))
            if not _label_terms(row) - _OF_TOTALS or _has_twin(found, sources, times):
                return ""
            return moved(before, after, asked.whose)
        if question.bound is not None and not question.asks_move:
            kind, cells = "bound", [_bound_cell([found], times)]
        else:
            kind, cells = "change", [*reversed(_pair([found], times))]
        verdict = _verdict(question, kind, [found], times)
    except _NoCellError:
        return ""
    figures = [(stated_value(cell), cell.head) for cell in cells]
    sentence = in_a_sentence(row.label, figures, asked.whose)
    return f"{verdict} {sentence}" if verdict and sentence else ""


def _has_twin(found: _RowMatch, sources: Mapping[str, Hit], times: Sequence[Period]) -> bool:
    """Whether the document has another row of this name with other figures, and the question means either.

    It means one where it has a word of its section or caption that the other has not.
    """
    own = _own_terms(found.row).union(terms(found.table.caption))
    pages = [(key, hit) for key, hit in sources.items() if hit.version == found.hit.version]
    tables = [(key, hit, table) for key, hit in pages for table in hit.tables]
    for key, hit, table in tables:
        for row in table.rows:
            twin = replace(found, key=key, hit=hit, table=table, row=row)
            if row.label.casefold() != found.row.label.casefold() or _is_same(twin, found, times):
                continue
            other = _own_terms(row).union(terms(table.caption))
            with suppress(_NoCellError):
                if twin.cells(times) and not own.difference(other).intersection(found.words):
                    return True
    return False


def _is_about(hit: Hit, table: Table, row: Row, asked: Understanding) -> bool:
    """Whether a row and its table have all words of a question that name a figure."""
    document = re.sub(r"[^A-Za-z0-9]+", " ", hit.document)
    topic = asked.reading.undated.topic - OF_BOUNDS - frozenset(terms(f"{asked.whose} {document}"))
    around_row = frozenset(terms(f"{row.label} {row.section} {table.caption}"))
    if not topic <= around_row | frozenset(terms(" ".join(table.heads))) or not topic & around_row:
        return False
    return bool(OTHER.match(row.label)) == asked.reading.asks("other")


def _periods(asked: Understanding) -> list[Period]:
    """The periods asked for, in order, each once. A range of years is each of its years."""
    periods: dict[tuple[int, ...], Period] = {}
    for period in asked.periods:
        span = [period]
        if period.kind == "calendar" and period.end_year > period.start_year:
            span = [of_year(year) for year in range(period.start_year, period.end_year + 1)]
        for one in span:
            periods.setdefault((one.end_year, one.last_month, one.part, one.months), one)
    return [periods[key] for key in sorted(periods)]


def _times(asked: Understanding, found: _RowMatch) -> list[Period]:
    """The periods asked for, in order.

    Where the only one is what another is compared with, the same of the row's newest year is added.
    """
    periods = _periods(asked)
    newest = max(found.years, default=0)
    if periods and asked.is_since and periods[0].end_year < newest:
        periods.append(_later(periods[0], newest - periods[0].end_year))
    return periods


def _later(period: Period, years: int) -> Period:
    """The same period some years later."""
    start, end = period.start_year + years, period.end_year + years
    return replace(period, start_year=start, end_year=end)


class _NoCellError(Exception):
    """A period or a cell is missing or does not go with another."""


@dataclass(frozen=True, slots=True)
class _RowMatch:
    """A row of a table on a page.

    key: citation key of the page.
    hit: the page.
    table: the table.
    row: the row.
    words: terms of the question, which tell columns apart.
    """

    key: str
    hit: Hit
    table: Table
    row: Row
    words: Collection[str]

    @property
    def years(self) -> list[int]:
        """The years that have one column."""
        return sorted(columns_by_year(self.table, self.words))

    def cell(self, period: Period) -> FoundCell:
        """The row's figure of a period. Raises _NoCellError."""
        column = column_of(self.table, period, self.words)
        cell = None if column is None else cell_of(self.key, self.hit, self.table, self.row, column)
        if cell is None or not cell.certain:
            raise _NoCellError
        return cell

    def limit(self) -> FoundCell | None:
        """The figure of the column of limits, where the row is called a limit and there is one."""
        column = limit_column(self.table, self.row)
        if column is None:
            return None
        return cell_of(self.key, self.hit, self.table, self.row, column)

    def cells(self, times: Sequence[Period]) -> list[FoundCell]:
        """The figures of some periods, oldest first; of all years where none is named.

        Raises _NoCellError where one is missing.
        """
        chosen = times or [of_year(year) for year in self.years]
        return [self.cell(period) for period in chosen[-MOST_YEARS:]]


# ---------------------------------------------------------------- rows


@dataclass(frozen=True, slots=True)
class _RowQuery:
    """What is known of a row that is looked for.

    named: words that say whom the document is about.
    periods: those asked for; its table has one of them.
    words: all words of the topic.
    asked: those that name the row.
    others: a row called "other" is meant.
    within: words of its table, empty where any table will do.
    """

    named: frozenset[str]
    periods: tuple[Period, ...]
    words: frozenset[str] = frozenset()
    asked: frozenset[str] = frozenset()
    others: bool = False
    within: frozenset[str] = frozenset()


def _row_terms(tables: Iterable[Table]) -> frozenset[str]:
    """The terms of all labels and sections of some tables."""
    rows = (row for table in tables for row in table.rows)
    return frozenset(terms(" ".join(f"{row.section} {row.label}" for row in rows)))


def _own_terms(row: Row) -> frozenset[str]:
    """The terms of a row's label and section."""
    return frozenset(terms(f"{row.section} {row.label}"))


def _label_terms(row: Row) -> frozenset[str]:
    """The terms of a label that are no numbers."""
    return frozenset(term for term in terms(row.label) if not term[0].isdigit())


def _rows(topics: Sequence[str], sources: Mapping[str, Hit], query: _RowQuery) -> list[_RowMatch]:
    """The row of each topic; [] where one has none, or two have the same."""
    found = [row for topic in topics if (row := _row(topic, sources, query))]
    distinct = {id(operand_row.row) for operand_row in found}
    return found if len(distinct) == len(topics) else []


def _part_and_total(topics: Sequence[str], sources: Mapping[str, Hit], query: _RowQuery) -> list[_RowMatch]:
    """The row of the part, and the total of its table that the whole's words name; [] without either.

    The total is a row below that is called so, or else one that the rows of its block add up to.
    """
    whole = read_question(topics[1]).topic
    part = _row(topics[0], sources, replace(query, within=whole))
    if part is None:
        return []
    asked = whole - query.named
    rows = part.table.rows
    at = next(place for place, row in enumerate(rows) if row is part.row)
    below = range(at + 1, len(rows))
    totals = [place for place in below if _is_total_of(rows[place], asked)]
    if not totals:
        totals = [place for place in below if _adds_up(part, at, place)]
    # "Retail revenue" is no total of a table that has a row of retail.
    parts = _terms_of_parts(rows)
    for place in totals:
        total = rows[place]
        own = frozenset(terms(f"{total.label} {total.section} {part.row.section}"))
        if parts.isdisjoint(asked - own):
            return [part, replace(part, row=total)]
    return []


def _terms_of_parts(rows: Sequence[Row]) -> frozenset[str]:
    """The terms of the labels that are called no total."""
    labels = [row.label for row in rows if _OF_TOTALS.isdisjoint(terms(row.label))]
    return frozenset(terms(" ".join(labels)))


def _is_total_of(row: Row, asked: frozenset[str]) -> bool:
    """Whether a row is called a total, of the words asked for or of no others, or by just these words."""
    label = _label_terms(row)
    if not label or not any(row.cells) or OTHER.match(row.label):
        return False
    rest = label - _OF_TOTALS
    if label & _OF_TOTALS and (not rest or not rest.isdisjoint(asked)):
        return True
    return bool(rest) and rest <= asked


def _adds_up(part: _RowMatch, at: int, place: int) -> bool:
    """Whether a row below a part's is the sum of the rows above it, the part's among them.

    The figures are those of the newest year's column, else the first. at, place: of the part and of the row
    below.
    """
    columns = columns_by_year(part.table, part.words)
    column = columns.get(max(columns, default=0), 0)
    rows = part.table.rows[: place + 1]
    figures = [figure_in(part.table, row, column, part.hit.page_text) for row in rows]
    values = [figure.value if figure and figure.other is None else None for figure in figures]
    total = values[place]
    if total is None:
        return False
    for first in range(at, -1, -1):
        block = values[first:place]
        if None in block:
            return False
        if len(block) < FEWEST_PARTS:
            continue
        difference = abs(sum(filter(None, block)) - total)
        if difference <= ROUNDED * len(block):
            return True
    return False


def _row(topic: str, sources: Mapping[str, Hit], query: _RowQuery) -> _RowMatch | None:
    """The row that a topic's words name best.

    None where they name none, or another row with other figures nearly as well.
    """
    operand_asked = read_question(topic)
    words = frozenset(operand_asked.undated.terms)
    asked = operand_asked.topic - query.named or operand_asked.topic
    query = replace(query, words=words, asked=asked, others=operand_asked.asks("other"))
    scored = [
        # "Profit after tax" is not "Profit before tax", which has the same terms.
        (score + 2 * IN_DOUBT * (found.row.label.casefold() in topic.casefold()), found)
        for score, found in _scored_rows(query, sources)
    ]
    scored.sort(key=lambda pair: -pair[0])
    if not scored:
        return None
    best_score, best = scored[0]
    for score, candidate in scored[1:]:
        if score > best_score - IN_DOUBT and not _is_same(candidate, best, query.periods):
            return None
    return best


def _scored_rows(query: _RowQuery, sources: Mapping[str, Hit]) -> Iterator[tuple[float, _RowMatch]]:
    """The rows that may be meant, each with its score."""
    for key, hit in sources.items():
        tables = list(map(by_year, hit.tables))
        labels = _row_terms(tables)
        for table in tables:
            words = query.words | query.within
            named = [column_of(table, period, words) for period in query.periods]
            columns: Collection[int | None] = named or columns_by_year(table, words)
            if not columns or None in columns:
                continue
            around = frozenset(terms(" ".join([table.caption, *table.heads])))
            said = frozenset(terms(_text_above(hit, table)))
            if query.within and query.within.isdisjoint(around | _row_terms([table])):
                continue
            for at, row in enumerate(table.rows):
                found = _RowMatch(key, hit, table, row, words)
                above = around
                if not labels.isdisjoint(query.asked - around - _own_terms(row)):
                    above |= _total_terms(found, at)
                score = _score_among(row, query, above, labels, said)
                if score:
                    yield score, found


def _text_above(hit: Hit, table: Table) -> str:
    """What a page says above the rows of a table, below those of the one before."""
    top = min((row.start for row in table.rows), default=-1)
    ends = [row.end for other in hit.tables for row in other.rows if row.end <= top]
    return hit.page_text[max(ends, default=0) : max(top, 0)]


def _total_terms(found: _RowMatch, at: int) -> frozenset[str]:
    """The terms of the totals below a row, which say what it is a part of: "net cost" of "education"."""
    rows = found.table.rows
    totals = [rows[place].label for place in range(at + 1, len(rows)) if _adds_up(found, at, place)]
    return frozenset(terms(" ".join(totals)))


def _score_among(
    row: Row, query: _RowQuery, around: frozenset[str], labels: frozenset[str], said: frozenset[str]
) -> float:
    """How well a question names a row; 0 where it cannot be the one, or another row has a word it lacks.

    around: terms of the table's caption and heads. labels: terms of all rows of the page. said: those of the
    text above the table.
    """
    first = row.cells[0] if row.cells else None
    if query.within and first and "%" in first.text:
        return 0.0
    if bool(OTHER.match(row.label)) != query.others:
        return 0.0
    if not labels.isdisjoint(query.asked - (_own_terms(row) | around)):
        return 0.0
    return _score(row, query.words, query.asked, around | said)


def _is_same(candidate: _RowMatch, other: _RowMatch, periods: Iterable[Period]) -> bool:
    """Whether two rows state the same figures of some periods, though one may state them rounded."""
    pairs = []
    for period in periods or map(of_year, {*candidate.years} & {*other.years}):
        with suppress(_NoCellError):
            pairs.append((candidate.cell(period), other.cell(period)))
    return bool(pairs) and all(_is_rounded(left, right) for left, right in pairs)


def _is_rounded(left: FoundCell, right: FoundCell) -> bool:
    """Whether two figures differ by no more than half of the last digit of either."""
    if left.percent != right.percent:
        return False
    difference = abs(left.value * left.scale - right.value * right.scale)
    return difference <= max(half_digit(cell.figure.decimals) * cell.scale for cell in (left, right))


def _score(row: Row, words: frozenset[str], asked: frozenset[str], around: frozenset[str]) -> float:
    """How well a question's words name a row, 0 where too few do."""
    label = _label_terms(row)
    own = frozenset(terms(_IN_BRACKETS.sub(" ", row.label))) & label - _OF_TOTALS or label
    for initials in initials_behind(row.label):
        short = frozenset(terms(initials))
        if short and short <= words:
            own = short
            break
    if not own or not any(cell is not None for cell in row.cells):
        return 0.0
    share_of_row = len(own & words) / len(own)
    if share_of_row < LEAST_SAID:
        return 0.0
    total = 0.1 * (bool(label & _OF_TOTALS) == bool(words & _OF_TOTALS))
    if not asked:
        return share_of_row + total
    section = frozenset(terms(row.section))
    named = asked & label
    reached = len(asked & (label | section | around)) / len(asked)
    if reached < LEAST_COVERED or 2 * len(named) < len(asked - section - around):
        return 0.0
    covered = len(named) + ABOVE * len((asked - label) & (section | around))
    return share_of_row + covered / len(asked) + total


# ---------------------------------------------------------------- operations

# A sentence, and the cells of its operands.
_WorkedOut = tuple[str, Sequence[FoundCell]]


def _pair(rows: Sequence[_RowMatch], times: Sequence[Period]) -> tuple[FoundCell, FoundCell]:
    """(earlier, later) of one row, or (subtrahend, minuend) of two in one period."""
    if len(rows) == 2:
        minuend, subtrahend = _cells_of_one_period(rows, times)
        return subtrahend, minuend
    if len(times) == 1:  # against the year before
        times = [_later(times[0], -1), times[0]]
    elif not times:
        times = [of_year(year) for year in rows[0].years[-2:]]
    if len(times) < 2:
        raise _NoCellError
    before, after = rows[0].cells([times[0], times[-1]])
    _check_alike(before, after, asked=times)
    return before, after


def _bound_cell(rows: Sequence[_RowMatch], times: Sequence[Period]) -> FoundCell:
    """The first row's figure that is held against an amount. Raises _NoCellError."""
    return rows[0].limit() or _cells_of_one_period(rows, times)[0]


def _cells_of_one_period(rows: Sequence[_RowMatch], times: Sequence[Period]) -> list[FoundCell]:
    """The figure of each row in the one period. Raises _NoCellError, also where they do not go together."""
    years = set.intersection(*(set(row.years) for row in rows))
    if len(times) > 1 or not (times or years):
        raise _NoCellError
    period = times[0] if times else of_year(max(years))
    cells = [row.cell(period) for row in rows]
    _check_alike(*cells)
    return cells


def _check_alike(*cells: FoundCell, asked: Sequence[Period] = ()) -> None:
    """Raises _NoCellError where figures do not go together.

    They differ in scale, kind or currency, or a head says more than another year: "June 30, 2018" beside
    "Dec 31, 2019", "Budget 2018" beside "2019", unless that is asked for.
    """
    kinds = {(cell.scale, cell.percent) for cell in cells}
    currencies = {cell.figure.unit for cell in cells} - {None}
    if len(kinds) > 1 or len(currencies) > 1:
        raise _NoCellError
    if any(period.basis for period in asked):
        return
    dated = any(period.months != WHOLE_YEAR for period in asked)
    heads = {_head_terms(cell, dated=dated) for cell in cells}
    if len(heads - {frozenset()}) > 1 or len({is_planned(cell.head) for cell in cells}) > 1:
        raise _NoCellError
    if frozenset() in heads and any(_NOT_OF_A_YEAR & head for head in heads):
        raise _NoCellError


def _head_terms(cell: FoundCell, *, dated: bool) -> frozenset[str]:
    """The terms of a figure's head beside its period, and its month or part of the year unless `dated`."""
    head = short_head(cell.head)
    rest = without_periods(head)
    if dated:
        return frozenset(terms(PART_ALONE.sub(" ", rest)))
    months = [str(period.month) for period in find_periods(head) if period.month]
    return frozenset((*months, *terms(rest)))


def _change(rows: Sequence[_RowMatch], times: Sequence[Period]) -> _WorkedOut:
    before, after = as_amounts(*_pair(rows, times))
    if len(rows) == 1:
        line = moved(before, after)
    else:
        line = difference(f"{after.label} less {before.label}, {short_head(after.head)}", before, after)
    return line, [after, before]


def _verdict(question: QuestionReading, kind: str, rows: Sequence[_RowMatch], times: Sequence[Period]) -> str:
    """Yes or no, where the question asks whether a row's figure rose or fell, or is above an amount."""
    first = rows[0]
    if is_other(first.row.label, question):
        return ""
    if kind == "bound":
        return by_bound(question, amount(_bound_cell(rows, times)))
    if kind == "plan":
        plan, actual = _planned_and_actual(first, times)
        return by_plan(question, plan.value, actual.value)
    if kind not in ("change", "growth") or len(rows) != 1:
        return ""
    cells = as_amounts(*_pair(rows, times))
    earlier, later = ((latest_year(cell.head), amount(cell)) for cell in cells)
    return by_move(question, earlier, later)


def _stated(rows: Sequence[_RowMatch], times: Sequence[Period]) -> _WorkedOut:
    cell = _bound_cell(rows, times)
    sentence = in_a_sentence(cell.label, [(stated_value(cell), cell.head)])
    return f"{sentence} [{cell.key}]", [cell]


def _planned_and_actual(found: _RowMatch, times: Sequence[Period]) -> tuple[FoundCell, FoundCell]:
    """A row's figures of a period, as they were meant to be and as they were. Raises _NoCellError."""
    period = replace(times[-1], basis="") if times else of_year(max(found.years))
    heads = enumerate(found.table.heads)
    year = period.end_year
    planned = [column for column, head in heads if is_planned(head) and latest_year(head) == year]
    actual = found.cell(period)
    if len(planned) != 1:
        raise _NoCellError
    plan = cell_of(found.key, found.hit, found.table, found.row, planned[0])
    if plan is None or not plan.certain or plan.head == actual.head:
        raise _NoCellError
    if (plan.scale, plan.percent) != (actual.scale, actual.percent):
        raise _NoCellError
    return plan, actual


def _plan(rows: Sequence[_RowMatch], times: Sequence[Period]) -> _WorkedOut:
    plan, actual = _planned_and_actual(rows[0], times)
    name = f"{actual.label}, {short_head(actual.head)} less {short_head(plan.head)}"
    return difference(name, plan, actual), [actual, plan]


def _growth(rows: Sequence[_RowMatch], times: Sequence[Period]) -> _WorkedOut:
    change = _change(rows, times)
    if not change[0].endswith("%."):
        raise _NoCellError
    return change


def _mean(rows: Sequence[_RowMatch], times: Sequence[Period]) -> _WorkedOut:
    span = range(times[0].end_year, times[-1].end_year + 1) if times else ()
    cells = _several(rows[0].cells([of_year(year) for year in span]))
    mean, formula = mean_of(list(map(operand_of, cells)))
    unit = "%" if cells[0].percent else unit_text(cells[0])
    name = one_line(f"{cells[0].label}, average")
    return f"{name}: {formula} = {number_text(mean, MEAN_DECIMALS)}{unit}.", cells


def _sum(rows: Sequence[_RowMatch], times: Sequence[Period]) -> _WorkedOut:
    if len(rows) == 2:
        cells = _cells_of_one_period(rows, times)
    else:
        cells = _several(rows[0].cells(times) if len(times) > 1 else [])
    if cells[0].percent:
        raise _NoCellError
    total, formula = sum_of(cells)
    return f"Total: {formula} = {number_text(total, decimals_of(cells))}{unit_text(cells[0])}.", cells


def _several(cells: list[FoundCell]) -> list[FoundCell]:
    """Figures of one row. Raises _NoCellError where there is but one, or they do not go together."""
    if len(cells) < 2:
        raise _NoCellError
    _check_alike(*cells)
    return cells


def _share(rows: Sequence[_RowMatch], times: Sequence[Period]) -> _WorkedOut:
    cells = part, whole = _cells_of_one_period(rows, times)
    share, formula = worked_out("100 * a / b", cells)
    if part.percent or not 0 <= share <= WHOLE:
        raise _NoCellError
    name = one_line(f"{part.label} as a share of {whole.label}, {short_head(part.head)}")
    return f"{name}: {formula} = {share:.1f}%.", cells


_KINDS = {
    "growth": _growth,
    "change": _change,
    "mean": _mean,
    "sum": _sum,
    "share": _share,
    "part": _share,
    "plan": _plan,
    "bound": _stated,
}
