"""Answers that are figures of tables: the cell that states a measure, or a ratio, change or average worked
out from such cells, with the formula and every operand shown and cited; gives nothing where an operand is
missing, or where the question asks for something narrower."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise

from chatbot.answer.tables.cell_lookup import (
    ASKS_OTHER,
    PART_OF_YEAR,
    as_amounts,
    columns_by_year,
    newest_year,
)
from chatbot.answer.tables.formula_evaluation import MissingError, Task, printed_as_such, work_out
from chatbot.answer.tables.operations import OF_BOUNDS, is_compared_with
from chatbot.answer.tables.table_wording import (
    MEAN_DECIMALS,
    amount,
    decimals_of,
    in_a_sentence,
    number_text,
    operand,
    owned,
    printed,
    result_text,
    said,
    scale_text,
    stated_value,
    unit_text,
    year_text,
)
from chatbot.answer.verdict import asks_move, by_bound, by_move, is_other
from chatbot.records import Hit, Prompt, Understanding
from ingestion.language.currencies import CURRENCY_TERMS
from ingestion.language.measures import Measure, measure_named, spelled_out
from ingestion.language.scales import SCALE_TERMS
from ingestion.language.sentences import sentence_spans
from ingestion.language.terms import content_terms, terms

__all__ = ["compute_answer", "leaves_average_out"]

# An average over years; a ratio whose definition has an average of two balances is none.
_AVERAGE = re.compile(
    r"\b(?:\d|two|three|four|five|ten)[ -]years? (?:\w+ )?(?:average|mean)\b|\b(?:average|mean) (?:over"
    r"|across) (?:the )?(?:\w+ )?years\b"
    r"|^(?:what (?:is|was) (?:the )?)?(?:average|mean)\b",
    re.IGNORECASE,
)
_AVERAGED = re.compile(r"\b(?:averag\w*|mean)\b", re.IGNORECASE)
_GROWTH = re.compile(
    (
        r"\b(?:growth|grow|grew|percent(?:age)? (?:change|increase|decrease)|rate of (?:change|increase))\b"
        r"|% change"
    ),
    re.IGNORECASE,
)
_SHARE = re.compile(
    r"\bas an? (?:%|percent|per cent|percentage|share|proportion|fraction) of\b", re.IGNORECASE
)
_CHANGE = re.compile(r"\b(?:change|increase|decrease|drop|decline|fall|rise|difference)\b", re.IGNORECASE)
_OVER_YEARS = re.compile(
    (
        r"\b(?:over (?:the years|time)|through the years|by year|year by year|each year|every year|trend"
        r"|develop(?:ed|ment)?|evol\w+|histor\w+)\b"
    ),
    re.IGNORECASE,
)
_YEAR_END = re.compile(r"\b(?:year|period)[ -]end\b|\b(?:closing|ending) balances?\b", re.IGNORECASE)
_PART = re.compile(
    PART_OF_YEAR.pattern + r"|\b(?:half|first|second|third|fourth)[ -](?:half|quarter)\b|\bH[12]\b|\bmonth",
    re.IGNORECASE,
)
# Years that are stated or worked out one by one at most; more are no question of one statement.
MOST_YEARS = 10
MOST_STATED = 4
# Worth 3 of 220 questions, costs 1; all figures of tables are worth 3.
# What a question says beside measure, name and period that makes it ask for nothing narrower.
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


def compute_answer(prompt: Prompt, asked: Understanding) -> str:
    """The figure that was asked for, then its rows, each with its citation key; "" where the question asks
    for none or the tables do not state its operands.

    All operands are of the document that was found first.
    """
    measures = [measure_named(name) for name in asked.measures]
    first = next(iter(prompt.sources.values()), None)
    if (
        not measures
        or first is None
        or asked.form not in {"figure", "yes_no", "passage"}
        or _PART.search(asked.subject)
    ):
        return ""
    sources = {key: hit for key, hit in prompt.sources.items() if hit.version == first.version}
    # "Youth", "external": what else is asked for may not be in the row, whose figure then settles nothing.
    beside = _beside(asked, measures, first.document) - OF_BOUNDS - set(terms(asked.whose))
    task = Task(
        sources,
        frozenset(terms(spelled_out(asked.subject))),
        asked.whose,
        bool(ASKS_OTHER.search(asked.subject)),
        settles=not beside,
    )
    try:
        text = "\n\n".join(
            _answer(measures, _years(asked, sources), asked.subject, task, strict=asked.form != "figure")
        )
    except (MissingError, ZeroDivisionError):
        return ""
    if any(measure.formula for measure in measures):
        operands = frozenset(terms(" ".join(task.labels)))
    else:
        operands = frozenset[str]()
    if _asks_for_narrower(asked, measures, sources, operands):
        return ""
    return text


def leaves_average_out(question: str, answer: str) -> bool:
    """Whether a question asks for an average and no sentence of the answer has one of what is asked about."""
    if _AVERAGE.search(question) is None:
        return False
    of = {word for word in content_terms(question) if not _AVERAGED.match(word) and not word[0].isdigit()}
    stated = [
        answer[start:end] for start, end in sentence_spans(answer) if _AVERAGED.search(answer, start, end)
    ]
    return not any(not of or of & set(terms(sentence)) for sentence in stated)


def _asks_for_narrower(
    asked: Understanding, measures: Sequence[Measure], sources: Mapping[str, Hit], operands: frozenset[str]
) -> bool:
    """Whether the question has a word beside its measures that rows of these tables have too, or that the
    pages put before a measure: "deferred" tax assets, "iPhone" revenue. operands: the terms of the rows that
    a ratio was worked out from, which a question may spell out."""
    others = _beside(asked, measures, next(iter(sources.values())).document) - operands
    rows = [
        f"{row.section} {row.label}" for hit in sources.values() for table in hit.tables for row in table.rows
    ]
    begins = {phrase[0] for measure in measures for phrase in (*measure.asked, *measure.printed)}
    return not others.isdisjoint(terms(" ".join(rows))) or any(
        word in others - set(terms(asked.whose)) and after in begins
        for hit in sources.values()
        for word, after in pairwise(terms(hit.page_text))
    )


def _beside(asked: Understanding, measures: Sequence[Measure], document: str) -> set[str]:
    """The words of a question beside its measures, the document's name and what makes a measure no
    narrower.
    """
    of_measures = {
        term for measure in measures for phrase in (*measure.asked, *measure.printed) for term in phrase
    }
    name = re.sub(r"[\W_]", "", document.casefold())
    words = content_terms(spelled_out(asked.subject))
    return {
        term
        for term in words
        if term not in of_measures | _PLAIN and not term[0].isdigit() and term not in name
    }


def _years(asked: Understanding, sources: Mapping[str, Hit]) -> tuple[int, ...]:
    """Those asked for, of a fiscal year the one it ends in; else steps from the document's own, or its
    newest.
    """
    newest = newest_year(tuple(sources.values()))
    if newest is not None and not asked.years and _OVER_YEARS.search(asked.subject):
        return tuple(
            sorted(
                {
                    year
                    for hit in sources.values()
                    for table in hit.tables
                    for year in columns_by_year(table)
                    if year <= newest
                }
            )[-MOST_STATED:]
        )
    if newest is not None and is_compared_with(asked):  # "compared with 2021"
        if asked.years[0] < newest:
            return (asked.years[0], newest)
        return asked.years
    if asked.years or newest is None:
        fiscal = [
            period
            for period in asked.periods
            if period.kind == "fiscal" and period.end_year == period.start_year + 1
        ]
        begun = {period.start_year for period in fiscal} - {period.end_year for period in asked.periods}
        return tuple(year for year in asked.years if year not in begun)
    return tuple(sorted(newest + step for step in asked.relative_years or (0,)))


def _answer(
    measures: Sequence[Measure], years: Sequence[int], question: str, task: Task, *, strict: bool
) -> Iterator[str]:
    """strict: all measures must be there, as where a question asks for no figure and hardly means one."""
    # The ratio rather than the operands that the question spells out beside it.
    measure = max(measures, key=lambda one: len(one.operands))
    if not years:
        raise MissingError
    if not measure.formula and len(measures) > 1 and (over := _SHARE.search(question)):
        measure = _share(measures, set(terms(spelled_out(question[: over.start()]))))
    if measure.formula and (cells := printed_as_such(measure, years, task)):
        yield from said(cells)
    elif not measure.formula and _OVER_YEARS.search(question):
        yield from _stated([measure], _of_one_row(measure, years, task), question, task, strict=strict)
    elif _AVERAGE.search(question) and len(years) > 1:
        yield from _average(measure, years, task)
    elif measure.formula:
        if _YEAR_END.search(question):  # rather than the mean of two balances
            measure = replace(measure, formula=re.sub(r"avg\((\w)\)", r"\1", measure.formula))
        yield from _formula(
            measure,
            years,
            task,
            changes=bool(
                _CHANGE.search(question) or re.search(r"improv|better|worse", question, re.IGNORECASE)
            ),
        )
    elif len(years) > 1 and (_GROWTH.search(question) or _CHANGE.search(question) or asks_move(question)):
        yield from _growth(measure, years, question, task)
    elif (_GROWTH.search(question) or _CHANGE.search(question) or asks_move(question)) and (
        grown := _growth_in(measure, years[0], question, task)
    ):
        yield from grown
    else:
        yield from _stated(measures, years, question, task, strict=strict)


def _of_one_row(measure: Measure, years: Sequence[int], task: Task) -> list[int]:
    """The years that the row has which states the newest of them."""
    newest = task.cell(measure, max(years))
    found = [max(years)]
    for year in sorted(years)[:-1]:
        with suppress(MissingError):
            cell = task.cell(measure, year)
            found += [year] if (cell.key, cell.row) == (newest.key, newest.row) else []
    return found


def _share(measures: Sequence[Measure], before: set[str]) -> Measure:
    """One measure as a percentage of another: the one that is named before "as a percentage of", of the
    one after.
    """
    over = next((one for one in measures if any(set(phrase) <= before for phrase in one.asked)), measures[0])
    under = next(one for one in measures if one is not over)
    return Measure(
        f"{over.name} as a share of {under.name}", (), (), (), (over.name, under.name), "100 * a / b", "%"
    )


def _stated(
    measures: Sequence[Measure], years: Sequence[int], question: str, task: Task, *, strict: bool
) -> Iterator[str]:
    """Measures as they are printed, year by year; of those beside the first what is there, for "spend" is a
    measure too. The first begins the answer in a sentence where it is what is asked for, behind yes or no
    where it is held against an amount."""
    newest_first = sorted(years, reverse=True)[:MOST_STATED]
    cells = [task.cell(measures[0], year) for year in newest_first]
    for measure in measures[1:MOST_STATED]:
        with suppress(*([] if strict else [MissingError])):
            cells += [task.cell(measure, year) for year in newest_first]
    of_first = [cell for cell in cells if (cell.key, cell.row) == (cells[0].key, cells[0].row)]
    sentence = in_a_sentence(
        cells[0].label, [(stated_value(cell), cell.head) for cell in of_first], task.whose
    )
    if sentence and not _GROWTH.search(question):
        doubted = len(years) > 1 or not task.settles or is_other(cells[0].label, question)
        if doubted:
            verdict = ""
        else:
            verdict = by_bound(question, amount(cells[0]))
        yield f"{verdict} {sentence} [{cells[0].key}]".strip()
    yield from said(cells)


def _growth(measure: Measure, years: Sequence[int], question: str, task: Task) -> Iterator[str]:
    first = min(years)
    last = max(years)
    before = task.cell(measure, first)
    after = task.cell(measure, last)
    part = [PART_OF_YEAR.search(cell.head) is not None for cell in (before, after)]
    if (before.scale, before.percent) != (after.scale, after.percent) or part[0] != part[1]:
        raise MissingError(measure.name)
    before, after = as_amounts(before, after)
    change = after.value - before.value
    if change > 0:
        direction = "rose"
    else:
        direction = "fell" if change < 0 else "did not change"
    name = owned(task.whose, after.label)
    if not task.settles or is_other(after.label, question):
        verdict = ""
    else:
        verdict = by_move(question, (first, amount(before)), (last, amount(after)))
    text = (
        f"{verdict} {name} {direction} from {before.text} ({year_text(before, first)}) to {after.text} "
        f"({year_text(after, last)}){unit_text(after)}: "
    )
    decimals = decimals_of([after, before])
    if after.percent:
        text += f"{operand(after)} - {operand(before)} = {change:.{decimals}f} percentage points."
    else:
        text += f"{operand(after)} - {operand(before)} = {number_text(change, decimals)}"
        # Of a base below zero a percentage says nothing.
        growth = (
            f"; 100 × ({operand(after)} - {before.text}) / {before.text} = {100 * change / before.value:.1f}%"
            if before.value > 0
            else ""
        )
        text += f"{growth}."
    yield text.strip()
    yield from said([after, before])


def _growth_in(measure: Measure, year: int, question: str, task: Task) -> list[str]:
    """Growth against the year before; none where one of the two is not printed, or the question asks for
    what is a change itself.
    """
    if any(_GROWTH.search(" ".join(phrase)) for phrase in (*measure.asked, *measure.printed)):
        return []
    try:
        return list(_growth(measure, (year - 1, year), question, task))
    except MissingError:
        return []


def _formula(measure: Measure, years: Sequence[int], task: Task, *, changes: bool) -> Iterator[str]:
    """The measure of each year named, of the last one alone where the others only bound a balance, and of the
    year before too where a change is asked for."""
    averages = "avg" in measure.formula or "change" in measure.formula
    if averages and not changes:
        wanted = [max(years)]
    else:
        wanted = sorted(years, reverse=True)[:MOST_STATED]
    if changes and len(wanted) == 1:
        wanted.append(wanted[0] - 1)
    worked = []
    for year in wanted:
        try:
            worked.append((year, work_out(measure, year, task)))
        except MissingError:
            if not worked:
                raise
    for year, one in worked:
        result = printed(one, measure)
        yield (
            f"{owned(task.whose, measure.name)} ({year}) was {result}{scale_text(one, measure)}: "
            f"{one.written} = {result}."
        )
    yield from said([cell for _, one in worked for cell in one.cells])


def _average(measure: Measure, years: Sequence[int], task: Task) -> Iterator[str]:
    chosen = sorted(years)[-MOST_YEARS:]
    worked = [work_out(measure, year, task) for year in chosen]
    if measure.formula:
        each = "; ".join(
            f"{year}: {one.written} = {printed(one, measure)}"
            for year, one in zip(chosen, worked, strict=True)
        )
    else:
        each = ""
    if measure.unit:
        scale = 1.0
    else:
        scale = worked[0].cells[0].scale
    mean = sum(one.value for one in worked) / len(worked) / scale
    terms_ = " + ".join(printed(one, measure) for one in worked)
    if measure.unit:
        result = result_text(mean, measure)
    else:
        result = number_text(mean, MEAN_DECIMALS)
    cells = [cell for one in worked for cell in one.cells]
    label = f"{owned(task.whose, measure.name)}, average of {chosen[0]}-{chosen[-1]}"
    yield (
        f"{label}: ({terms_}) / {len(worked)} = {result}{scale_text(worked[0], measure)}. "
        f"{each}{'.' if each else ''}"
    ).strip()
    yield from said(cells)
