"""Answers with a ratio or a sum of measures that is worked out from cells of tables.

The answer shows the formula and every operand, each with its citation. It is empty where an operand is
missing or the question asks for something narrower. How one row changed is not worked out here: see
operations. A cell that states a measure itself answers only a question that asks for nothing else: of others
it was wrong more often than right (benchmarks/ablation.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from chatbot.answer.tables.cell_lookup import (
    by_year,
    columns_by_year,
    newest_year,
)
from chatbot.answer.tables.formula_evaluation import MissingError, Task, printed_as_such, work_out
from chatbot.answer.tables.table_wording import (
    in_a_sentence,
    owned,
    printed,
    said,
    scale_text,
    stated_value,
)
from chatbot.calculator import CalculationError
from chatbot.question_reading import AVERAGING, OF_BOUNDS, QuestionReading, read_question
from chatbot.records import Hit, Prompt, Understanding
from ingestion.language.currencies import CURRENCY_TERMS
from ingestion.language.measures import Measure, measure_named
from ingestion.language.scales import SCALE_TERMS
from ingestion.language.sentences import sentence_spans
from ingestion.language.terms import terms
from ingestion.records import Table

__all__ = ["compute_answer", "leaves_average_out"]

# The most years that are stated or worked out one by one.
MOST_STATED = 4
# Words beside measure, name and period that do not make a question ask for something narrower. Of 220
# questions this gains 3 and loses 1; all figures of tables together gain 3.
_PLAIN = frozenset(
    terms(
        "total amount value figure number level size net reported annual yearly fiscal financial year "
        "end ended ending period average mean ratio rate "
        "percent percentage "
        "share proportion company business firm group improve improving profile grow growth growing grew "
        "change develop developed development evolve evolved history trend "
        "increase increased decrease decreased rise fall difference between compared attributable "
        "shareholders shareholder define defined definition less calculate "
        "using extract answer statement balance sheet income cash flow flows unadjusted conversion "
        "intensive healthy reasonably liquidity based data much many "
        "expense expenses "
        "purchase purchases generate generated paid pay spend spent formerly known consolidated operation "
        "operations worth high low positive negative " + " ".join((*SCALE_TERMS, *CURRENCY_TERMS))
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
    if asked.reading.is_of_part or asked.reading.asks("month"):
        return ""
    sources = {key: hit for key, hit in prompt.sources.items() if hit.version == first.version}
    words, others = frozenset(asked.reading.spelled_terms), asked.reading.asks("other")
    task = Task(sources, words, asked.whose, others)
    # A row may lack what else the question asks for, "youth" or "external".
    beside = _beside(asked, measures, first.document) - OF_BOUNDS - set(terms(asked.whose))
    asks_more = len(measures) > 1 or asked.reading.operation or asked.reading.asks("averaging")
    settled = asked.form == "figure" and not (beside or asks_more)
    try:
        paragraphs = _answer(measures, _years(asked, sources), asked.reading, task, settled=settled)
        text = "\n\n".join(paragraphs)
    except (MissingError, CalculationError):
        return ""
    operands = frozenset[str]()
    if any(measure.formula for measure in measures):
        operands = frozenset(terms(" ".join(task.labels)))
    if _asks_for_narrower(asked, measures, sources, operands):
        return ""
    return text


def leaves_average_out(question: str, answer: str) -> bool:
    """Whether a question asks for an average and no sentence of the answer gives that average."""
    asked = read_question(question)
    if not asked.asks("average over years"):
        return False
    topic = {word for word in asked.terms if not (word[0].isdigit() or AVERAGING.match(word))}
    for start, end in sentence_spans(answer):
        if not AVERAGING.search(answer, start, end):
            continue
        if not topic or topic & set(terms(answer[start:end])):
            return False
    return True


def _asks_for_narrower(
    asked: Understanding, measures: _Measures, sources: _Sources, operands: frozenset[str]
) -> bool:
    """Whether a question asks for less than its measures: "deferred" tax assets, "iPhone" revenue.

    It then has a word beside its measures that rows of these tables have too, or that the question or the
    pages put before a measure. operands: the terms of the rows that a ratio was worked out from, which a
    question may spell out.
    """
    others = _beside(asked, measures, next(iter(sources.values())).document) - operands
    rows = (row for table in _tables(sources) for row in table.rows)
    if not others.isdisjoint(terms(" ".join(f"{row.section} {row.label}" for row in rows))):
        return True
    begins = {phrase[0] for phrase in _phrases(measures)}
    narrowing = others - set(terms(asked.whose))
    for before, after in pairwise(asked.reading.text.split()):  # "adjusted cash flow"
        if narrowing.issuperset(terms(before) or [""]) and begins.intersection(terms(after)[:1]):
            return True
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
    rest = {term for term in asked.reading.spelled_terms if term not in ignored and term not in name}
    return {term for term in rest if not term[0].isdigit()}


def _years(asked: Understanding, sources: _Sources) -> tuple[int, ...]:
    """The years asked for, else those that the question counts from the document's own, else its newest."""
    newest = newest_year(tuple(sources.values()))
    if newest is None:
        return _named_years(asked)
    if not asked.years and asked.reading.asks("over years"):
        return _headed_years(sources, newest)
    if asked.is_since:  # "compared with 2021"
        base = asked.years[0]
        return (base, newest) if base < newest else asked.years
    if asked.years:
        return _named_years(asked)
    return tuple(sorted(newest + step for step in (asked.relative_years or (0,))))


def _headed_years(sources: _Sources, newest: int) -> tuple[int, ...]:
    """The last years that head a column, up to the newest."""
    years: set[int] = set()
    for table in _tables(sources):
        years.update(columns_by_year(table))
    return tuple(sorted(year for year in years if year <= newest)[-MOST_STATED:])


def _named_years(asked: Understanding) -> tuple[int, ...]:
    """The years that a question names; of a fiscal year over two, the one it ends in."""
    periods = asked.periods
    ends = {period.end_year for period in periods}
    begun = {
        period.start_year
        for period in periods
        if period.kind == "fiscal" and period.end_year == period.start_year + 1
    }
    return tuple(year for year in asked.years if year not in begun - ends)


def _answer(
    measures: _Measures, years: Sequence[int], question: QuestionReading, task: Task, *, settled: bool
) -> Iterator[str]:
    """The paragraphs of the answer. Raises MissingError.

    settled: whether a figure that is printed is all that the question asks for.
    """
    # A ratio goes before the operands that the question spells out beside it.
    measure = max(measures, key=lambda candidate: len(candidate.operands))
    if not years:
        raise MissingError
    if measure.formula and printed_as_such(measure, years, task):
        measure = replace(measure, printed=measure.asked, operands=(), formula="")
    if measure.formula:
        yield from _formula(measure, years, question, task)
    elif settled:
        yield from _stated(measure, years, task)


def _stated(measure: Measure, years: Sequence[int], task: Task) -> Iterator[str]:
    """A measure as it is printed, the newest year first. Raises MissingError."""
    cells = [task.cell(measure, year) for year in sorted(years, reverse=True)[:MOST_STATED]]
    first = cells[0]
    figures = [
        (stated_value(cell), cell.head) for cell in cells if (cell.key, cell.row) == (first.key, first.row)
    ]
    if sentence := in_a_sentence(first.label, figures, task.whose):
        yield f"{sentence} [{first.key}]"
    yield from said(cells)


def _formula(measure: Measure, years: Sequence[int], question: QuestionReading, task: Task) -> Iterator[str]:
    """The measure of each year named, worked out.

    Of the last year alone where the others only bound a balance; of the year before too where the question
    asks for a change.
    """
    if question.asks("balance at year-end"):  # the balance at the end rather than the mean of two
        measure = replace(measure, formula=re.sub(r"avg\((\w)\)", r"\1", measure.formula))
    changes = question.asks("change") or question.asks("better or worse")
    of_two_years = "avg" in measure.formula or "change" in measure.formula
    chosen = [max(years)] if of_two_years and not changes else sorted(years, reverse=True)[:MOST_STATED]
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
