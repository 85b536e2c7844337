"""Answers with a ratio or a sum of measures that is worked out from cells of tables.

The answer shows the formula and every operand, each with its citation. It is empty where an operand is
missing or the question asks for something narrower. What one row states, and how it changed, is not worked
out here: see operations.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from chatbot.answer.tables.cell_lookup import (
    ASKS_OTHER,
    asks_part,
    by_year,
    columns_by_year,
    newest_year,
)
from chatbot.answer.tables.formula_evaluation import MissingError, Task, printed_as_such, work_out
from chatbot.answer.tables.operations import CHANGE, is_compared_with
from chatbot.answer.tables.table_wording import (
    owned,
    printed,
    said,
    scale_text,
)
from chatbot.calculator import CalculationError
from chatbot.records import Hit, Prompt, Understanding
from ingestion.language.currencies import CURRENCY_TERMS
from ingestion.language.figure_words import EMPTY
from ingestion.language.measures import Measure, measure_named, spelled_out
from ingestion.language.scales import SCALE_TERMS
from ingestion.language.sentences import sentence_spans
from ingestion.language.terms import content_terms, terms
from ingestion.records import Table

__all__ = ["compute_answer", "leaves_average_out"]

# An average over years. A ratio is none, even if its definition has the average of two balances.
_AVERAGE = re.compile(
    r"\b(?:\d|two|three|four|five|ten)[ -]years? (?:\w+ )?(?:average|mean)\b|\b(?:average|mean) (?:over"
    r"|across) (?:the )?(?:\w+ )?years\b"
    r"|^(?:what (?:is|was) (?:the )?)?(?:average|mean)\b",
    re.IGNORECASE,
)
_AVERAGED = re.compile(r"\b(?:averag\w*|mean)\b", re.IGNORECASE)
_AS_SHARE = re.compile(
    r"\bas an? (?:%|percent|per cent|percentage|share|proportion|fraction) of\b", re.IGNORECASE
)
_OVER_YEARS = re.compile(
    (
        r"\b(?:over (?:the years|time)|through the years|by year|year by year|each year|every year|trend"
        r"|develop(?:ed|ment)?|evol\w+|histor\w+)\b"
    ),
    re.IGNORECASE,
)
_BETTER_OR_WORSE = re.compile(r"improv|better|worse", re.IGNORECASE)
_YEAR_END = re.compile(r"\b(?:year|period)[ -]end\b|\b(?:closing|ending) balances?\b", re.IGNORECASE)
_MONTH = re.compile(r"\bmonth", re.IGNORECASE)
# The most years that are worked out one by one.
MOST_STATED = 4
# Words beside measure, name and period that do not make a question ask for something narrower. Of 220
# questions this gains 3 and loses 1; all figures of tables together gain 3.
_PLAIN = EMPTY | frozenset(
    terms(
        "company business firm group improve improving profile history trend evolve evolved attributable "
        "shareholders shareholder define defined definition calculate using extract answer statement "
        "balance sheet income cash flow flows unadjusted conversion intensive healthy reasonably liquidity "
        "based data expense expenses purchase purchases generate generated paid pay spend spent formerly "
        "known operation operations worth high low positive negative "
        + " ".join((*SCALE_TERMS, *CURRENCY_TERMS))
    )
)


# Citation key to page.
_Sources = Mapping[str, Hit]
_Measures = Sequence[Measure]


def compute_answer(prompt: Prompt, asked: Understanding) -> str:
    """The result that the question asks for, then its rows, each with its citation key.

    "" where the question asks for no such result or the tables do not state its operands. All operands come
    from the document that was found first.
    """
    measures = [measure_named(name) for name in asked.measures]
    first = next(iter(prompt.sources.values()), None)
    if not measures or first is None:
        return ""
    if asked.form not in {"figure", "yes_no", "passage"}:
        return ""
    if asks_part(asked.subject) or _MONTH.search(asked.subject):
        return ""
    sources = {key: hit for key, hit in prompt.sources.items() if hit.version == first.version}
    words = frozenset(terms(spelled_out(asked.subject)))
    task = Task(sources, words, asked.whose, bool(ASKS_OTHER.search(asked.subject)))
    try:
        years = _years(asked, sources)
        text = "\n\n".join(_answer(measures, years, asked.subject, task))
    except (MissingError, CalculationError):
        return ""
    operands = frozenset(terms(" ".join(task.labels)))
    if not text or _asks_for_narrower(asked, measures, sources, operands):
        return ""
    return text


def leaves_average_out(question: str, answer: str) -> bool:
    """Whether a question asks for an average and no sentence of the answer gives that average."""
    if _AVERAGE.search(question) is None:
        return False
    words = [word for word in content_terms(question) if not word[0].isdigit()]
    topic = {word for word in words if not _AVERAGED.match(word)}
    for start, end in sentence_spans(answer):
        if not _AVERAGED.search(answer, start, end):
            continue
        if not topic or topic & set(terms(answer[start:end])):
            return False
    return True


def _asks_for_narrower(
    asked: Understanding, measures: _Measures, sources: _Sources, operands: frozenset[str]
) -> bool:
    """Whether a question asks for less than its measures: "deferred" tax assets, "iPhone" revenue.

    It then has a word beside its measures that rows of these tables have too, or that the pages put before a
    measure. operands: the terms of the rows that a ratio was worked out from, which a question may spell out.
    """
    first = next(iter(sources.values()))
    others = _beside(asked, measures, first.document) - operands
    rows = (row for table in _tables(sources) for row in table.rows)
    printed_rows = " ".join(f"{row.section} {row.label}" for row in rows)
    if not others.isdisjoint(terms(printed_rows)):
        return True
    begins = {phrase[0] for phrase in _phrases(measures)}
    narrowing = others - set(terms(asked.whose))
    for hit in sources.values():
        words = terms(hit.page_text)
        if any(word in narrowing and after in begins for word, after in pairwise(words)):
            return True
    return False


def _tables(sources: _Sources) -> Iterator[Table]:
    for hit in sources.values():
        yield from map(by_year, hit.tables)


def _phrases(measures: Iterable[Measure]) -> Iterator[tuple[str, ...]]:
    """All that questions and documents call some measures, as terms."""
    for measure in measures:
        yield from measure.asked
        yield from measure.printed


def _beside(asked: Understanding, measures: _Measures, document: str) -> set[str]:
    """The words of a question that may narrow a measure.

    They are not of its measures or the document's name, and no plain words.
    """
    ignored = {term for phrase in _phrases(measures) for term in phrase} | _PLAIN
    name = re.sub(r"[\W_]", "", document.casefold())
    words = content_terms(spelled_out(asked.subject))
    rest = {term for term in words if term not in ignored and term not in name}
    return {term for term in rest if not term[0].isdigit()}


def _years(asked: Understanding, sources: _Sources) -> tuple[int, ...]:
    """The years asked for, else those that the question counts from the document's own, else its newest."""
    newest = newest_year(tuple(sources.values()))
    if newest is None:
        return _named_years(asked)
    if not asked.years and _OVER_YEARS.search(asked.subject):
        return _headed_years(sources, newest)
    if is_compared_with(asked):  # "compared with 2021"
        base = asked.years[0]
        return (base, newest) if base < newest else asked.years
    if asked.years:
        return _named_years(asked)
    steps = asked.relative_years or (0,)
    return tuple(sorted(newest + step for step in steps))


def _headed_years(sources: _Sources, newest: int) -> tuple[int, ...]:
    """The last years that head a column, up to the newest."""
    years: set[int] = set()
    for table in _tables(sources):
        years.update(columns_by_year(table))
    own = sorted(year for year in years if year <= newest)
    return tuple(own[-MOST_STATED:])


def _named_years(asked: Understanding) -> tuple[int, ...]:
    """The years that a question names; of a fiscal year over two, the one it ends in."""
    periods = asked.periods
    ends = {period.end_year for period in periods}
    begun = set()
    for period in periods:
        if period.kind == "fiscal" and period.end_year == period.start_year + 1:
            begun.add(period.start_year)
    return tuple(year for year in asked.years if year not in begun - ends)


def _answer(measures: _Measures, years: Sequence[int], question: str, task: Task) -> Iterator[str]:
    """The paragraphs of the answer; none where no measure has a formula. Raises MissingError."""
    # A ratio goes before the operands that the question spells out beside it.
    measure = max(measures, key=lambda candidate: len(candidate.operands))
    if not years:
        raise MissingError
    as_share = _AS_SHARE.search(question)
    if not measure.formula and len(measures) > 1 and as_share:
        measure = _share(measures, set(terms(spelled_out(question[: as_share.start()]))))
    if measure.formula and not printed_as_such(measure, years, task):
        yield from _formula(measure, years, question, task)


def _share(measures: _Measures, before: set[str]) -> Measure:
    """A measure that is one measure as a percentage of another.

    before: terms that stand before "as a percentage of"; they name the part.
    """
    part = measures[0]
    for candidate in measures:
        if any(set(phrase) <= before for phrase in candidate.asked):
            part = candidate
            break
    whole = next(candidate for candidate in measures if candidate is not part)
    name = f"{part.name} as a share of {whole.name}"
    operands = (part.name, whole.name)
    return Measure(name, (), (), (), operands, "100 * a / b", "%")


def _formula(measure: Measure, years: Sequence[int], question: str, task: Task) -> Iterator[str]:
    """The measure of each year named, worked out.

    Of the last year alone where the others only bound a balance; of the year before too where the question
    asks for a change.
    """
    if _YEAR_END.search(question):  # the balance at the end rather than the mean of two
        at_year_end = re.sub(r"avg\((\w)\)", r"\1", measure.formula)
        measure = replace(measure, formula=at_year_end)
    changes = bool(CHANGE.search(question) or _BETTER_OR_WORSE.search(question))
    of_two_years = "avg" in measure.formula or "change" in measure.formula
    if of_two_years and not changes:
        chosen = [max(years)]
    else:
        chosen = sorted(years, reverse=True)[:MOST_STATED]
    if changes and len(chosen) == 1:
        chosen.append(chosen[0] - 1)
    worked = []
    for year in chosen:
        try:
            worked.append((year, work_out(measure, year, task)))
        except MissingError:
            if not worked:
                raise
    name = owned(task.whose, measure.name)
    for year, value in worked:
        result = printed(value, measure)
        scale = scale_text(value, measure)
        yield f"{name} ({year}) was {result}{scale}: {value.written} = {result}."
    yield from said([cell for _, value in worked for cell in value.cells])
