"""Answers worked out from the cells of a table by the operation that is asked for, of rows by the question's
own words: changes, means, sums, ratios and shares, with the formula and every operand; knows no measures, and
gives nothing where a row or a period is in doubt."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from chatbot.answer.tables.cell_lookup import (
    ASKS_OTHER,
    OTHER,
    FoundCell,
    as_amounts,
    cell_of,
    columns_by_year,
    is_planned,
)
from chatbot.answer.tables.table_wording import (
    amount,
    decimals_of,
    in_a_sentence,
    number_text,
    operand,
    owned,
    said,
    short_head,
    stated_value,
    unit_text,
)
from chatbot.answer.verdict import (
    AGAINST_PLAN,
    asks_move,
    asks_yes_or_no,
    bound_of,
    by_bound,
    by_move,
    by_plan,
    is_other,
)
from chatbot.records import Hit, Prompt, Understanding
from ingestion.language.currencies import CURRENCY_TERMS
from ingestion.language.numbers import find_figures
from ingestion.language.opposites import MOVES, TOLD_LESS, TOLD_MORE
from ingestion.language.periods import find_periods, without_periods
from ingestion.language.scales import SCALE_TERMS
from ingestion.language.terms import content_terms, initials_behind, terms
from ingestion.records import Row, Table

__all__ = ["OF_BOUNDS", "Operation", "asked_operation", "by_operation", "decided_by", "is_compared_with"]

# Share of a row's words that the question must have, and of the question's words that row, section, caption
# and heads must have.
LEAST_SAID, LEAST_COVERED = 0.6, 0.6
# A row's own words count more than those of what stands above it.
ABOVE = 0.5
# Scores nearer than this are in doubt, where the rows differ.
IN_DOUBT = 0.05
MOST_YEARS = 10
MEAN_DECIMALS = 2
WHOLE = 100  # per cent
# Rows that a total is of, and by how much each may be rounded, in units of the last digit.
FEWEST_PARTS, ROUNDED = 2, 1.0
_PERCENT = r"(?:percentage|percent|per cent|%)"
_MOVE = r"(?:change|increase|decrease|growth|rise|fall|decline|drop|difference|increment|reduction)"
_GROWTH = re.compile(
    rf"(?<!\w){_PERCENT}\s*(?:year on year |annual )?(?:\(?{_MOVE}\)?)|\bgrowth rate\b"
    rf"|\b{_MOVE} in {_PERCENT}|\byear on year {_PERCENT}"
    rf"|\bhow (?:many|much) {_PERCENT} .{{0,60}}{_MOVE}"
    rf"|\bby (?:what|how many) {_PERCENT} .{{1,100}}\b(?:grow|rise|fall|drop|decline|shrink|climb|increase"
    rf"|decrease|change)\b",
    re.IGNORECASE,
)
_CHANGE = re.compile(
    rf"\b{_MOVE}\b|\bhow much (?:more|less|higher|lower|did .{{1,60}}(?:rise|fall|grow|increase|decrease"
    rf"|change))\b"
    r"|\b(?:did|has|have) .{1,60}\b(?:rise|risen|fall|fallen|grow|grown|increased?|decreased?"
    r"|changed?)\b.{0,60}\bhow much\b",
    re.IGNORECASE,
)
_HOW_MUCH = re.compile(r"\bhow (?:much|far)\b|\bby what\b|\bdifference\b", re.IGNORECASE)
# The year that another is compared with.
_SINCE = re.compile(
    r"\b(?:compared (?:with|to)|versus|vs\.?|against|since|from|than(?: in)?)\s(?:the )?(?:fiscal |year )?$",
    re.IGNORECASE,
)
_MEAN = re.compile(r"\b(?:average|mean)\b", re.IGNORECASE)
_SUM = re.compile(
    (
        r"\b(?:sum|combined|altogether|in total|together)\b|\btotal\b.{2,80}\b(?:in both|for both|between"
        r"|from)\b.{0,40}\b(?:and|to)\b"
    ),
    re.IGNORECASE,
)
_OF_TWO = (
    ("ratio", re.compile(r"\bratio of (?P<part>.{2,100}?) to (?P<whole>.{2,100})", re.IGNORECASE)),
    (
        "ratio",
        re.compile(r"\bproportion of (?P<part>.{2,100}?) (?:over|to) (?P<whole>.{2,100})", re.IGNORECASE),
    ),
    (
        "share",
        re.compile(
            (
                r"(?P<part>.{2,120}?) as an? (?:proportion|share|percentage|%|percent"
                r"|fraction) of (?P<whole>.{2,100})"
            ),
            re.IGNORECASE,
        ),
    ),
    (
        "share",
        re.compile(
            rf"\b(?:{_PERCENT}|proportion|share)(?: constitution| composition"
            rf"| contribution)? of (?P<part>.{{2,100}}?) "
            r"(?:out of|in|among|amongst|against|over|to|within) (?:the )?(?P<whole>(?:total|all"
            r"|overall)\b.{2,100})",
            re.IGNORECASE,
        ),
    ),
    (
        "share",
        re.compile(
            rf"\bwhat {_PERCENT} of (?:the )?(?P<whole>total\b.{{2,80}}?) (?:is|are|was|were|came|comes)"
            r"(?: (?:made up of|generated from|from|represented by|due to"
            r"|accounted for by))? (?P<part>.{2,100})",
            re.IGNORECASE,
        ),
    ),
)
# "What share of sales came from the north?": of the total above or below the row.
_OF_TOTAL = re.compile(
    rf"\b(?:(?:what|which) (?:{_PERCENT}|proportion|share|part|slice|fraction)"
    rf"|how much) of (?:the )?(?P<whole>.{{2,80}}?) "
    r"(?:is|are|was|were|comes?|came|goes|go|went|stems?|stemmed)"
    r"(?: (?:made up of|generated (?:in|from)|from|represented by|due to|accounted for by|spent on|on|to"
    r"|in))? "
    r"(?P<part>.{2,100})",
    re.IGNORECASE,
)
_NOT = re.compile(r"\b(?:not|other than|except|excluding|without)\b", re.IGNORECASE)
_BETWEEN = re.compile(r"\bdifference between (?P<one>.{2,100}?) and (?P<other>.{2,100})", re.IGNORECASE)
_SUM_OF = re.compile(r"\b(?:sum|total) of (?P<one>.{2,100}?) and (?P<other>.{2,100})", re.IGNORECASE)
# Words that say what is to be done, or go with any figure.
_ASKING = frozenset(
    terms(
        "percentage percent change increase decrease growth rise fall decline drop difference increment "
        "reduction average mean sum total combined altogether ratio "
        "proportion share constitution amount value number year years annual fiscal financial ended end "
        "period both between over respective respectively compared "
        "company recorded reported much many nominal rate level versus grow grown grew rose risen fell "
        "fallen increased decreased declined changed "
        "above below over under least most more less"
    )
)
# What a head says beside its year that another's bare year does not mean.
_NOT_OF_A_YEAR = frozenset(
    terms(
        "quarter q1 q2 q3 q4 months weeks half note notes share actual budget forecast restated "
        "estimate change"
    )
)
# Words of a question that say which way, or how much.
_WITH_ANY = """least most above below over under exceed spend spending spent sell sold hold held have pay paid report reported record earn make made reach stand
    amount come get go total end year"""
OF_BOUNDS = frozenset(
    terms(" ".join((*MOVES[0], *MOVES[1], *TOLD_MORE, *TOLD_LESS, *SCALE_TERMS, *CURRENCY_TERMS, _WITH_ANY)))
)
_TOTALS = frozenset(terms("total totals net annual"))


@dataclass(frozen=True, slots=True)
class Operation:
    """kind: "growth" | "change" | "mean" | "sum" | "ratio" | "share" | "part", a share of the total of a
    row's table | "plan", actual less budget | "bound", one figure that is held against an amount. topics: the
    words of each operand's row."""

    kind: str
    topics: tuple[str, ...]


def asked_operation(question: str) -> Operation | None:
    """The one operation that a question asks for; None for none, or for one upon another, "the change in
    the average".
    """
    text = without_periods(question)
    if _NOT.search(text) or (_MEAN.search(text) and (_CHANGE.search(text) or _GROWTH.search(text))):
        return None
    if (_HOW_MUCH.search(text) or asks_yes_or_no(question)) and AGAINST_PLAN.search(text):
        return Operation("plan", (AGAINST_PLAN.sub(" ", text),))
    if asks_yes_or_no(question) and (bound_of(text) or asks_move(question)):
        return _decided(text, moves=asks_move(question))
    for kind, pattern in () if _CHANGE.search(text) else (*_OF_TWO, ("part", _OF_TOTAL)):
        if found := pattern.search(text):
            return Operation(kind, (found["part"], found["whole"]))
    if _GROWTH.search(text):
        return Operation("growth", (text,))
    if found := _BETWEEN.search(text):
        one, other = found["one"], found["other"]
        if _topic(one) and _topic(other):
            return Operation("change", (one, other))
    if _CHANGE.search(text):
        return Operation("change", (text,))
    if _MEAN.search(text):
        return Operation("mean", (text,))
    if (found := _SUM_OF.search(text)) and _topic(found["one"]) and _topic(found["other"]):
        return Operation("sum", (found["one"], found["other"]))
    return Operation("sum", (text,)) if _SUM.search(text) else None


def _decided(text: str, *, moves: bool) -> Operation:
    """Of a question that yes or no answers: one figure against the amount named, or two of one row."""
    bound = bound_of(text)
    return Operation(
        "bound" if bound and not moves else "change",
        (text[: bound[0].start] + text[bound[0].end :] if bound else text,),
    )


def by_operation(prompt: Prompt, asked: Understanding) -> str:
    """The formula with its result, then the rows of its operands, each with its citation key; "" where
    nothing of the kind is asked for or a row is in doubt.

    All operands are of the document that was found first."""
    operation = asked_operation(asked.subject)
    first = next(iter(prompt.sources.values()), None)
    if operation is None or first is None or asked.form == "reason":
        return ""
    sources = {key: hit for key, hit in prompt.sources.items() if hit.version == first.version}
    printed = frozenset(
        terms(
            " ".join(
                f"{row.section} {row.label}"
                for hit in sources.values()
                for table in hit.tables
                for row in table.rows
            )
        )
    )
    # Whom the document is about; a name that is a row's, "Greater China", says which.
    named = frozenset(term for name in asked.names for term in terms(name)) - printed | frozenset(
        terms(re.sub(r"[\W_]+", " ", first.document))
    )
    if operation.kind == "part":
        found = _part_and_total(operation.topics, sources, named)
    else:
        found = _rows(operation.topics, sources, named)
    if not found and operation.kind in ("sum", "change"):  # "research and development" is one row
        found = _rows((asked.subject,), sources, named)
    if not found:
        return ""
    try:
        years = _years(asked, found)
        name, colon, rest = "\n\n".join(_KINDS[operation.kind](found, years)).partition(":")
        return (
            f"{_verdict(asked.subject, operation.kind, found, years)} {owned(asked.whose, name)}{colon}{rest}"
        ).strip()
    except (_NoCellError, ZeroDivisionError):
        return ""


def decided_by(key: str, hit: Hit, table: Table, row: Row, asked: Understanding) -> str:
    """Yes or no, and the figures of a row that decide it, in a sentence; "" where they do not, or the row
    lacks most of the question's words. key: of its page."""
    topic = (
        _topic(without_periods(asked.subject))
        - OF_BOUNDS
        - frozenset(terms(f"{asked.whose} {re.sub(r'[^A-Za-z0-9]+', ' ', hit.document)}"))
    )
    there = frozenset(terms(f"{row.label} {row.section} {table.caption}"))
    if (
        not topic <= there | frozenset(terms(" ".join(table.heads)))
        or not topic & there
        or bool(OTHER.match(row.label)) != bool(ASKS_OTHER.search(asked.subject))
    ):
        return ""
    found = _Found(key, hit, table, row, columns_by_year(table, content_terms(asked.subject)))
    if bound_of(asked.subject) is not None and not asks_move(asked.subject):
        kind = "bound"
    else:
        kind = "change"
    try:
        years = _years(asked, [found])
        verdict = _verdict(asked.subject, kind, [found], years)
        cells = [found.cell(_one_year([found], years))] if kind == "bound" else _pair([found], years)[::-1]
    except _NoCellError:
        return ""
    said_of = in_a_sentence(row.label, [(stated_value(cell), cell.head) for cell in cells], asked.whose)
    return f"{verdict} {said_of}" if verdict and said_of else ""


def _years(asked: Understanding, found: Sequence[_Found]) -> list[int]:
    """Those asked for; where the only one is what another is compared with, with the newest of the row."""
    years = sorted(set(asked.years))
    newest = max(found[0].columns, default=0)
    if is_compared_with(asked) and years[0] < newest:
        return [*years, newest]
    return years


def is_compared_with(asked: Understanding) -> bool:
    """Whether the only year that a question names is what another is compared with: "since 2021"."""
    if len(asked.years) == 1:
        first = asked.subject.find(str(asked.years[0]))
    else:
        first = -1
    return first >= 0 and _SINCE.search(asked.subject[:first]) is not None


class _NoCellError(Exception):
    """A period or a cell is not there, or does not go with another."""


@dataclass(frozen=True, slots=True)
class _Found:
    """A row of a page's table. columns: year -> column."""

    key: str
    hit: Hit
    table: Table
    row: Row
    columns: Mapping[int, int]

    def cell(self, year: int) -> FoundCell:
        """Its figure of a year. Raises _NoCellError."""
        if year in self.columns:
            cell = cell_of(self.key, self.hit, self.table, self.row, self.columns[year])
        else:
            cell = None
        if cell is None:
            raise _NoCellError
        return cell

    def cells(self, years: Sequence[int]) -> list[FoundCell]:
        """Those of some years, of all that it has where none is named; the oldest first."""
        if years:
            wanted = [year for year in years if year in self.columns]
        else:
            wanted = sorted(self.columns)
        if years and len(wanted) < len(years):
            raise _NoCellError
        return [self.cell(year) for year in wanted[-MOST_YEARS:]]


# ---------------------------------------------------------------- rows


def _topic(text: str) -> frozenset[str]:
    return frozenset(term for term in content_terms(text) if term not in _ASKING and not term[0].isdigit())


def _rows(topics: Sequence[str], sources: Mapping[str, Hit], named: frozenset[str]) -> list[_Found]:
    """The row of each topic; [] where one has none, or two have the same."""
    found = [row for topic in topics if (row := _row(topic, sources, named))]
    if len({id(one.row) for one in found}) == len(topics):
        return found
    return []


def _part_and_total(topics: Sequence[str], sources: Mapping[str, Hit], named: frozenset[str]) -> list[_Found]:
    """The row of the part, and the total of its table that the whole's words name: a row that is called
    so, or what the rows of its block add up to.
    """
    part = _row(topics[0], sources, named, within=_topic(topics[1]))
    if part is None:
        return []
    rows = part.table.rows
    at = next(place for place, row in enumerate(rows) if row is part.row)
    asked = _topic(topics[1]) - named
    # "Retail revenue" is no total of a table that has a row of retail.
    parts = frozenset(terms(" ".join(row.label for row in rows if not frozenset(terms(row.label)) & _TOTALS)))
    totals = [place for place, row in enumerate(rows) if place != at and _is_total_of(row, asked)]
    totals = [place for place in totals if place > at] or [
        place for place in range(at + 1, len(rows)) if _adds_up(part, at, place)
    ]
    totals = [
        place
        for place in totals
        if parts.isdisjoint(
            asked - frozenset(terms(f"{rows[place].label} {rows[place].section} {part.row.section}"))
        )
    ]
    nearest = min(totals, key=lambda place: abs(place - at), default=None)
    if nearest is None:
        return []
    return [part, _Found(part.key, part.hit, part.table, rows[nearest], part.columns)]


def _is_total_of(row: Row, asked: frozenset[str]) -> bool:
    """Whether a row is called a total, of the words asked for or of no others, or by just these words."""
    label = frozenset(term for term in terms(row.label) if not term[0].isdigit())
    rest = label - _TOTALS
    if not label or not any(row.cells) or OTHER.match(row.label):
        return False
    return (bool(label & _TOTALS) and (not rest or not rest.isdisjoint(asked))) or (
        bool(rest) and rest <= asked
    )


def _adds_up(part: _Found, at: int, place: int) -> bool:
    """Whether a row below a part's is what the rows from it or before it to there come to, in the newest
    column.
    """
    column = part.columns[max(part.columns)]
    values = [_value(row, column) for row in part.table.rows[: place + 1]]
    total = values[place]
    if total is None:
        return False
    for first in range(at, -1, -1):
        block = values[first:place]
        if None in block:
            return False
        if len(block) >= FEWEST_PARTS and abs(sum(filter(None, block)) - total) <= ROUNDED * len(block):
            return True
    return False


def _value(row: Row, column: int) -> float | None:
    if 0 <= column < len(row.cells):
        cell = row.cells[column]
    else:
        cell = None
    if cell:
        figures = find_figures(cell.text)
    else:
        figures = []
    if figures:
        return figures[0].value
    return None


def _row(
    topic: str, sources: Mapping[str, Hit], named: frozenset[str], *, within: frozenset[str] = frozenset()
) -> _Found | None:
    """The row that a topic's words name best; None where none does, or another with other figures does as
    well. within: words of its table.
    """
    words = frozenset(content_terms(without_periods(topic)))
    asked = _topic(topic) - named or _topic(topic)
    others = bool(ASKS_OTHER.search(topic))
    scored: list[tuple[float, _Found]] = []
    for key, hit in sources.items():
        labels = frozenset(
            terms(" ".join(f"{row.section} {row.label}" for table in hit.tables for row in table.rows))
        )
        for table in hit.tables:
            columns = columns_by_year(table, words | within)
            if columns:
                around = frozenset(terms(" ".join([table.caption, *table.heads])))
            else:
                around = frozenset[str]()
            if within and within.isdisjoint(
                around | frozenset(terms(" ".join(f"{row.section} {row.label}" for row in table.rows)))
            ):
                continue
            for row in table.rows if columns else ():
                if (within and any("%" in cell.text for cell in row.cells[:1] if cell)) or bool(
                    OTHER.match(row.label)
                ) != others:
                    continue
                own = frozenset(terms(f"{row.label} {row.section}")) | around
                if labels.isdisjoint(asked - own) and (
                    score := _score(row, words, asked, around)
                ):  # no other row is named by what this one lacks
                    scored.append((score, _Found(key, hit, table, row, columns)))
    scored.sort(key=lambda one: -one[0])
    if not scored:
        return None
    best = scored[0]
    rivals = [one for score, one in scored[1:] if score > best[0] - IN_DOUBT and not _is_same(one, best[1])]
    if rivals:
        return None
    return best[1]


def _is_same(one: _Found, other: _Found) -> bool:
    """Whether two rows state the same figures, or the one those of the other rounded."""
    if _figures(one.row) == _figures(other.row):
        return True
    pairs = []
    for year in one.columns.keys() & other.columns.keys():
        with suppress(_NoCellError):
            pairs.append((one.cell(year), other.cell(year)))
    return bool(pairs) and all(
        a.percent == b.percent
        and abs(a.value * a.scale - b.value * b.scale)
        <= max(0.5 * 10.0 ** -decimals_of([cell]) * cell.scale for cell in (a, b))
        for a, b in pairs
    )


def _score(row: Row, words: frozenset[str], asked: frozenset[str], around: frozenset[str]) -> float:
    """How well a question's words name a row, 0 where too few do."""
    label = frozenset(term for term in terms(row.label) if not term[0].isdigit())
    own = label - _TOTALS or label
    short = [frozenset(terms(found)) for found in initials_behind(row.label)]
    own = next((one for one in short if one and one <= words), own)
    if not own or not any(cell is not None for cell in row.cells):
        return 0.0
    section = frozenset(terms(row.section))
    told = len(own & words) / len(own)
    covered = len(asked & label) + ABOVE * len((asked - label) & (section | around))
    if asked:
        reached = len(asked & (label | section | around)) / len(asked)
    else:
        reached = told
    if told < LEAST_SAID or reached < LEAST_COVERED or 2 * len(asked & label) < len(asked - section):
        return 0.0
    total = 0.1 * (bool(label & _TOTALS) == bool(words & _TOTALS))
    return told + (covered / len(asked) if asked else 0.0) + total


def _figures(row: Row) -> tuple[str, ...]:
    """A row's figures without the currency that only some tables print beside them."""
    return tuple(re.sub(r"[^\d.,()%-]", "", cell.text) if cell else "" for cell in row.cells)


# ---------------------------------------------------------------- operations


def _pair(rows: Sequence[_Found], years: Sequence[int]) -> tuple[FoundCell, FoundCell]:
    """(earlier, later) of one row, or (subtrahend, minuend) of two in one year."""
    if len(rows) == 2:
        year = _one_year(rows, years)
        one, other = (row.cell(year) for row in rows)
        _check_alike(one, other)
        return other, one
    cells = rows[0].cells(sorted({min(years), max(years)}) if len(years) > 1 else ())
    if len(years) == 1:  # against the year before
        cells = rows[0].cells([years[0] - 1, years[0]])
    if len(cells) < 2:
        raise _NoCellError
    pair = cells[-2] if not years else cells[0], cells[-1]
    _check_alike(*pair)
    return pair


def _one_year(rows: Sequence[_Found], years: Sequence[int]) -> int:
    common = set.intersection(*(set(row.columns) for row in rows))
    if years:
        wanted = [year for year in years if year in common]
    else:
        wanted = sorted(common)
    if not wanted or (years and len(years) > 1):
        raise _NoCellError
    return wanted[-1]


def _check_alike(*cells: FoundCell) -> None:
    """Raises _NoCellError where figures are of different scales, kinds or currencies, or heads say more
    than another year: "Q4 2018" beside "2019".
    """
    currencies = {figure.unit for cell in cells for figure in find_figures(cell.text)[:1]} - {None}
    heads = {
        frozenset(term for term in terms(short_head(cell.head)) if not term[0].isdigit()) for cell in cells
    }
    if (
        len({(cell.scale, cell.percent) for cell in cells}) > 1
        or len(currencies) > 1
        or len(heads - {frozenset()}) > 1
    ):
        raise _NoCellError
    if frozenset() in heads and any(_NOT_OF_A_YEAR & head for head in heads):
        raise _NoCellError


def _change(rows: Sequence[_Found], years: Sequence[int]) -> Iterator[str]:
    before, after = as_amounts(*_pair(rows, years))
    change = after.value - before.value
    decimals = decimals_of([after, before])
    result = (
        f"{change:.{decimals}f} percentage points"
        if after.percent
        else f"{number_text(change, decimals)}{unit_text(after)}"
    )
    if len(rows) == 1:
        name = f"{after.label}, {short_head(before.head)} to {short_head(after.head)}"
    else:
        name = f"{after.label} less {before.label}, {short_head(after.head)}"
    yield f"{_line(name)}: {operand(after)} - {operand(before)} = {result}."
    yield from said([after, before])


def _verdict(question: str, kind: str, rows: Sequence[_Found], years: Sequence[int]) -> str:
    """Yes or no, where it is asked whether a row's figure rose or fell, or is above an amount."""
    if is_other(rows[0].row.label, question):
        return ""
    if kind == "bound":
        return by_bound(question, amount(rows[0].cell(_one_year(rows, years))))
    if kind == "plan":
        return by_plan(question, *(cell.value for cell in _planned_and_actual(rows[0], years)))
    if kind not in ("change", "growth") or len(rows) != 1:
        return ""
    pair = as_amounts(*_pair(rows, years))
    at = {rows[0].table.heads[column]: year for year, column in rows[0].columns.items()}
    before, after = ((at.get(cell.head, 0), amount(cell)) for cell in pair)
    return by_move(question, before, after)


def _stated(rows: Sequence[_Found], years: Sequence[int]) -> Iterator[str]:
    cell = rows[0].cell(_one_year(rows, years))
    yield f"{in_a_sentence(cell.label, [(stated_value(cell), cell.head)])} [{cell.key}]"
    yield from said([cell])


def _planned_and_actual(found: _Found, years: Sequence[int]) -> tuple[FoundCell, FoundCell]:
    """A row's figures of a year, as they were meant to be and as they were. Raises _NoCellError."""
    if years:
        year = years[-1]
    else:
        year = max(found.columns)
    planned = [
        at
        for at, head in enumerate(found.table.heads)
        if is_planned(head) and any(one.start_year == year for one in find_periods(head))
    ]
    if len(planned) == 1:
        plan = cell_of(found.key, found.hit, found.table, found.row, planned[0])
    else:
        plan = None
    actual = found.cell(year)
    if (
        plan is None
        or (plan.scale, plan.percent) != (actual.scale, actual.percent)
        or plan.head == actual.head
    ):
        raise _NoCellError
    return plan, actual


def _plan(rows: Sequence[_Found], years: Sequence[int]) -> Iterator[str]:
    plan, actual = _planned_and_actual(rows[0], years)
    over = actual.value - plan.value
    difference = f"{operand(actual)} - {operand(plan)}"
    if actual.percent:
        unit = " percentage points"
    else:
        unit = unit_text(actual)
    if plan.value > 0 and not actual.percent:
        share = f"; 100 × ({difference}) / {operand(plan)} = {100 * over / plan.value:.1f}%"
    else:
        share = ""
    name = _line(f"{actual.label}, {short_head(actual.head)} less {short_head(plan.head)}")
    yield f"{name}: {difference} = {number_text(over, decimals_of([actual, plan]))}{unit}{share}."
    yield from said([actual, plan])


def _growth(rows: Sequence[_Found], years: Sequence[int]) -> Iterator[str]:
    before, after = _pair(rows, years)
    if (
        after.value * before.value < 0 or not before.value
    ):  # of a base on the other side of nought a percentage says nothing
        raise _NoCellError
    growth = 100 * (after.value - before.value) / before.value
    name = f"{after.label}, {short_head(before.head)} to {short_head(after.head)}"
    yield f"{_line(name)}: 100 × ({operand(after)} - {operand(before)}) / {operand(before)} = {growth:.1f}%."
    yield from said([after, before])


def _mean(rows: Sequence[_Found], years: Sequence[int]) -> Iterator[str]:
    cells = rows[0].cells(list(range(min(years), max(years) + 1)) if years else ())
    if len(cells) < 2:
        raise _NoCellError
    _check_alike(*cells)
    mean = sum(cell.value for cell in cells) / len(cells)
    if cells[0].percent:
        unit = "%"
    else:
        unit = unit_text(cells[0])
    yield (
        f"{_line(f'{cells[0].label}, average')}: ({' + '.join(map(operand, cells))}) / {len(cells)} = "
        f"{number_text(mean, MEAN_DECIMALS)}{unit}."
    )
    yield from said(cells)


def _sum(rows: Sequence[_Found], years: Sequence[int]) -> Iterator[str]:
    if len(rows) == 2:
        year = _one_year(rows, years)
        cells = [row.cell(year) for row in rows]
    else:
        if len(years) > 1:
            cells = rows[0].cells(years)
        else:
            cells = []
    if len(cells) < 2 or cells[0].percent:
        raise _NoCellError
    _check_alike(*cells)
    total = sum(cell.value for cell in cells)
    yield (
        f"Total: {' + '.join(map(operand, cells))} = "
        f"{number_text(total, decimals_of(cells))}{unit_text(cells[0])}."
    )
    yield from said(cells)


def _ratio(rows: Sequence[_Found], years: Sequence[int]) -> Iterator[str]:
    year = _one_year(rows, years)
    part, whole = (row.cell(year) for row in rows)
    _check_alike(part, whole)
    yield (
        f"{_line(f'{part.label} to {whole.label}, {short_head(part.head)}')}: {operand(part)} / "
        f"{operand(whole)} = {part.value / whole.value:.2f}."
    )
    yield from said([part, whole])


def _share(rows: Sequence[_Found], years: Sequence[int]) -> Iterator[str]:
    year = _one_year(rows, years)
    part, whole = (row.cell(year) for row in rows)
    _check_alike(part, whole)
    share = 100 * part.value / whole.value
    if part.percent or not 0 <= share <= WHOLE:
        raise _NoCellError
    yield (
        f"{_line(f'{part.label} as a share of {whole.label}, {short_head(part.head)}')}: 100 × "
        f"{operand(part)} / {operand(whole)} = {share:.1f}%."
    )
    yield from said([part, whole])


def _line(text: str) -> str:
    return " ".join(text.replace(":", " ").split())


_KINDS = {
    "growth": _growth,
    "change": _change,
    "mean": _mean,
    "sum": _sum,
    "ratio": _ratio,
    "share": _share,
    "part": _share,
    "plan": _plan,
    "bound": _stated,
}
