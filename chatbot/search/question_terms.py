"""Understands a question by rules: its subject, measures, periods, statements and the form of its answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, pairwise

from chatbot.question_reading import read_question
from chatbot.records import Understanding
from ingestion.language.currencies import CURRENCY_TERMS
from ingestion.language.measures import Measure, find_measures, find_statements, measure_named, spelled_out
from ingestion.language.months import MONTH
from ingestion.language.periods import FISCAL, PART_ALONE, RELATIVE_YEARS, without_periods
from ingestion.language.sentences import sentences
from ingestion.language.terms import terms

__all__ = ["measures_of", "operands_of", "subject_of", "terms_of", "understand"]

# What people add about how the answer should look, or where it should be taken from, is not searched for.
_ABOUT_THE_ANSWER = re.compile(
    r"\b(?:round (?:your|the|to)\b|answers? in\b|(?:state|give|provide|express|report) (?:your |the "
    r"|an? )?(?:answer|response|reply)\b"
    r"|respond to\b|bas(?:e|ing) your\b|we (?:want|need) to (?:calculate|compute)\b"
    r"|please (?:help|answer|state|explain)\b|answer the following\b|here['’]?s the question\b"
    r"|assum(?:e|ing) the (?:perspective|standpoint|role)\b|is not (?:a )?(?:useful|relevant|meaningful)\b"
    r"|state that\b"
    r"|using only\b|according to the (?:details|information)\b|based (?:primarily "
    r"|only )?on the information\b"
    r"|relying on\b|information provided\b)",
    re.IGNORECASE,
)
# Up to this many characters into a sentence such words lead it; further on they end it.
_LEADS = 30
_SHORTEST_SUBJECT = 12
_HOW_MUCH = re.compile(r"\bhow (?:much|many)\b", re.IGNORECASE)
_FIGURE = re.compile(
    r"\bhow (?:much|many|large|big|high|low|long|far|fast|old)\b"
    r"|\bwhat (?:is|was|were|are|will be|would be) (?:the )?(?:\w+ ){0,6}(?:share|percent\w*|rate|amount"
    r"|level|size|number|value|total|ratio|margin|sum|limit"
    r"|ceiling|threshold|target|cost|price|balance|deficit|surplus|debt|yield|growth|forecast|allocation"
    r"|budget)\b"
    r"|\b(?:what|which) (?:share|percent\w*|proportion|fraction|slice|amount|rate|ratio|level|year|range"
    r"|span)\b"
    r"|\bwhen\b|\bby what year\b|\bsince when\b|\buntil when\b"
    r"|\b(?:percent|per cent|%|average|total|ratio|margin)\b",
    re.IGNORECASE,
)
# Worth 2 of 220 questions, costs 1.
_LIST = re.compile(
    r"^\W*(?:list|name|enumerate)\b|\bwhat are the (?:\w+ ){0,4}\w+s\b"
    r"|\b(?:which|(?:under|in|on) what) (?:\w+ ){0,3}(?:\w+s)\b(?! (?:is|was|has)\b)"
    r"|\b(?:two|three|four|five|six|seven|eight|nine|ten) (?:\w+ ){0,2}"
    r"(?:pillars|principles|objectives|things|risks|measures|priorities|factors|components|conditions"
    r"|reasons|steps|goals|areas|criteria)\b"
    r"|\bwhat (?:kinds|types) of\b",
    re.IGNORECASE,
)
_DEFINITION = re.compile(
    (
        r"\b(?:define(?!d?\b.{0,80}\bas\b)|definition|meaning)\b|\bwhat (?:is|does) .{1,60}\bmean\b"
        r"|\bwhat is meant\b|\bstands? for\b"
    ),
    re.IGNORECASE,
)
_REASON = re.compile(
    (
        r"(?:^\W{0,20}|[^\w\s]\s{1,3})(?:and |so |but )?why\b|\breasons?\b|\bwhat (?:caused|explains|drove"
        r"|led to)\b|\bdue to what\b|^\W*explain (?:the|its|this|how)\b"
    ),
    re.IGNORECASE,
)
# Between two years that bound a range: "FY2017 - FY2019", "from 2016 to 2018". "Between 2021 and 2022" means
# only these two.
_UNTIL = re.compile(r"\s{0,3}(?:-|–|—|to|through|until)\s{0,3}")
MOST_YEARS = 20
# Names that begin with a capital inside a sentence, or are written in capitals; a question's first word may
# have one without being a name.
_NAME = re.compile(
    r"(?<![.?!:] )(?<!^)\b(?:[A-Z][\w&'’.-]*[\w]|[A-Z])(?:[ -](?:(?:of|the|and|&) )?[A-Z][\w&'’.-]*)*"
)
_PERIOD_WORD = re.compile(rf"[\d,.-]+|{FISCAL}|[HQ]|{MONTH}", re.IGNORECASE)
_NAMES_THEM = re.compile(r"\W*(?:list|name|enumerate)\b", re.IGNORECASE)
_NO_NAMES = (
    frozenset("us usa uk eu u.s u.s. i'd fy q1 q2 q3 q4 gdp cpi what which how does is".split())
    | CURRENCY_TERMS
)


def understand(question: str, query: str) -> Understanding:
    """What `question` asks. query: its standalone form, in which a follow-up names what it is about."""
    subject = subject_of(query)
    measures = find_measures(tuple(terms(spelled_out(subject))))
    form = _form(subject_of(question))
    if form == "list" and measures and not _NAMES_THEM.match(question):
        form = "figure"
    if form == "passage" and measures:  # "What is the net working capital?"
        form = "figure"
    relative_years = [shift for pattern, shift in RELATIVE_YEARS if pattern.search(subject)]
    return Understanding(
        query=query,
        subject=subject,
        form=form,
        years=_years(subject),
        relative_years=tuple(relative_years),
        names=_names(subject, measures),
        measures=tuple(measure.name for measure in measures),
        kinds=find_statements(tuple(terms(query))) or _kinds_of(measures),
        compares=read_question(subject).compares,
    )


def _kinds_of(measures: Sequence[Measure]) -> tuple[str, ...]:
    """The kinds of pages on which these measures and their operands stand."""
    kinds: dict[str, None] = {}
    for measure in (*measures, *operands_of(measures)):
        kinds.update(dict.fromkeys(measure.kinds))
    return tuple(kinds)


def subject_of(question: str) -> str:
    """The question without what it says about the answer's form and its sources; the whole question where
    nothing else is left.
    """
    kept = []
    for sentence in sentences(question, also=":"):
        part = _without_lead(sentence)
        if _ABOUT_THE_ANSWER.search(part):
            continue
        if len(part) >= min(_SHORTEST_SUBJECT, len(sentence)):
            kept.append(part)
    return " ".join(kept) or question


def _without_lead(sentence: str) -> str:
    """A sentence without what it says about the answer at its beginning, up to a comma or colon."""
    while "," in sentence or ":" in sentence:
        found = _ABOUT_THE_ANSWER.search(sentence)
        if not found or found.start() >= _LEADS:
            break
        sentence = re.split(r"[,:]", sentence, maxsplit=1)[1].strip()
    return sentence


def measures_of(understanding: Understanding) -> list[Measure]:
    """The measures by their names."""
    return [measure_named(name) for name in understanding.measures]


def operands_of(measures: Sequence[Measure]) -> list[Measure]:
    """The measures that stand printed: each one's operands, or itself where it is no ratio."""
    names = chain.from_iterable(measure.operands or (measure.name,) for measure in measures)
    return [measure_named(name) for name in dict.fromkeys(names)]


def terms_of(measures: Sequence[Measure]) -> frozenset[str]:
    """The terms by which these measures are asked for and printed."""
    found = set[str]()
    for measure in measures:
        for phrase in (*measure.asked, *measure.printed):
            found.update(phrase)
    return frozenset(found)


def _form(question: str) -> str:
    """The form of answer that a question asks for, see Understanding."""
    for form, pattern in (("definition", _DEFINITION), ("reason", _REASON)):
        if pattern.search(question):
            return form
    if _LIST.search(question) and not _HOW_MUCH.search(question):
        return "list"
    if _FIGURE.search(question):
        return "figure"
    if read_question(question).asks_yes_or_no:
        return "yes_no"
    return "passage"


def _years(subject: str) -> tuple[int, ...]:
    """The years it names, ranges with all years between."""
    periods = read_question(subject).periods
    years = set[int]()
    for period in periods:
        end = min(period.end_year, period.start_year + MOST_YEARS)
        years.update(range(period.start_year, end + 1))
    for first, last in pairwise(periods):
        if not _UNTIL.fullmatch(subject[first.end : last.start]):
            continue
        if first.end_year < last.start_year <= first.end_year + MOST_YEARS:
            years.update(range(first.end_year, last.start_year))
    return tuple(sorted(years))


def _is_period(name: str) -> bool:
    return all(map(_PERIOD_WORD.fullmatch, PART_ALONE.sub(" ", without_periods(name)).split()))


def _names(subject: str, measures: Sequence[Measure]) -> tuple[str, ...]:
    """Names as written, without those of measures ("EBITDA") and of periods ("H1", "FY24-25")."""
    of_measures = terms_of(measures)
    names = []
    for match in _NAME.finditer(subject):
        name = match[0].removesuffix("'s").removesuffix("’s")
        if name.casefold() in _NO_NAMES or _is_period(name):
            continue
        if not of_measures.issuperset(terms(spelled_out(name))):
            names.append(name)
    return tuple(dict.fromkeys(names))
