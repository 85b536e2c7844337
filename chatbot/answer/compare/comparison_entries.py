"""Reads the entry of a comparison from a checked answer: its figure, else the nearest passage or pages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from chatbot.answer.citations.citation_keys import KEYS_IN_BRACKETS
from chatbot.answer.compare.comparison_figures import Part, derived_figure, stated
from chatbot.answer.compare.measure_match import EXACT, MeasureQuery, fits, names
from chatbot.comparison import Entry, EntryPlace, Nearest
from chatbot.evidence.page import figures_said, page_of
from chatbot.mark_lines import statement_spans
from chatbot.records import DOUBTFUL, Answer, NumberCheck, Understanding
from ingestion.language.measures import measure_named, words_for
from ingestion.language.numbers import Figure
from ingestion.language.periods import Period, find_periods, periods_agree

__all__ = ["read_entry"]

# At most so many characters of a passage are shown.
LONGEST_PASSAGE = 280
# So many pages are offered where a document does not answer.
NEAREST = 2
# At most so many periods of a passage are named where the year of the question is none of them.
MOST_PERIODS = 3
_KEY_NUMBER = re.compile(r"S\d")
KEY_OR_TEXT = re.compile(rf"({KEYS_IN_BRACKETS.pattern})")
NO_FIGURE = "No single figure answers this. Closest passage:"


def read_entry(answer: Answer, place: EntryPlace) -> Entry:
    """The entry of a table that an answer gives.

    answer: to a question about the place's document and year alone, with its prompt.
    """
    asked = answer.understanding
    if not answer.answered or asked is None:
        reason = answer.text.strip().removeprefix("Not in these documents. ")
        return Entry(place, "absent", nearest=_nearest(answer), reason=reason, model=answer.model)
    query = _query(answer, asked, place)
    parts = list(_parts(answer))
    if asked.form in {"figure", "passage", "yes_no"} and not asked.reading.asks("words"):
        found = derived_figure(answer, parts, query) or stated(answer, parts, query)
        if found is not None:
            quantity, part, cited = found
            undated = "" if quantity.dated else _why_undated(answer)
            return Entry(place, "figure", quantity, _short(part), cited, reason=undated, model=answer.model)
    best = _passage(parts, query, strict=answer.model == "extractive")
    if best is None:
        nearest = _nearest(answer, cited=True)
        return Entry(place, "absent", nearest=nearest, reason=_why_absent(query), model=answer.model)
    cited = (best.citation,) if best.citation else ()
    reason = _why_no_figure(best.text, query)
    return Entry(place, "passage", None, _short(best.text), cited, reason=reason, model=answer.model)


def _query(answer: Answer, asked: Understanding, place: EntryPlace) -> MeasureQuery:
    """The measure and the year that the entry is for."""
    measures = tuple(measure_named(name) for name in asked.measures)
    periods = find_periods(place.year)
    period = periods[0] if periods else None
    own = _own_periods(answer)
    return MeasureQuery(asked, measures, period, own[0] if len(own) == 1 else None)


def _own_periods(answer: Answer) -> list[Period]:
    """The periods that the answer's document is of, as the first page that says so has them."""
    return find_periods(next(filter(None, (hit.facts.period for hit in answer.considered)), ""))


def _why_undated(answer: Answer) -> str:
    """What an entry says where its sentence names no year; "" where the document names none either."""
    own = _own_periods(answer)
    if not own:
        return ""
    return f"The sentence names no year; the document is for {own[0].text}."


def _parts(answer: Answer) -> Iterator[Part]:
    """What stands before each citation; the whole text where there is none."""
    text = _supported_text(answer)
    checked = _checked_figures(answer, text)
    citations = iter(answer.citations)
    start = 0
    for mark in KEYS_IN_BRACKETS.finditer(text):
        end = mark.start()
        cited = [next(citations, None) for _ in _KEY_NUMBER.findall(mark[0])]
        inside = tuple(pair for pair in checked if start <= pair[0].start < end)
        yield Part(text[start:end], start, next(filter(None, cited), None), inside)
        start = mark.end()
    if text[start:].strip(" .\n") and not answer.citations:
        yield Part(text[start:], start, None, tuple(checked))


def _checked_figures(answer: Answer, text: str) -> list[tuple[Figure, NumberCheck | None]]:
    """The answer's figures that are not blanked out, each with its check. text: as _supported_text has it."""
    figures = figures_said(answer.text, [page_of(hit) for hit in answer.considered])
    checks: Sequence[NumberCheck | None] = answer.numbers
    if len(figures) != len(checks):
        checks = [None] * len(figures)
    pairs = zip(figures, checks, strict=True)
    return [(figure, check) for figure, check in pairs if text[figure.start : figure.end].strip()]


def _supported_text(answer: Answer) -> str:
    """The answer's text in which blanks stand for all that nothing supports: no entry shows it.

    The text keeps its length.
    """
    text = answer.text
    for start, end, statement in statement_spans(answer.text, answer.statements):
        if statement.mark in DOUBTFUL:
            text = text[:start] + _blanked(statement.text) + text[end:]
    return text


def _blanked(text: str) -> str:
    """Blanks for all but the keys, for the n-th key belongs to the n-th citation."""
    pieces = KEY_OR_TEXT.split(text)
    return "".join(piece if KEYS_IN_BRACKETS.fullmatch(piece) else " " * len(piece) for piece in pieces)


def _wants_figure(query: MeasureQuery) -> bool:
    return query.understanding.form == "figure"


def _why_no_figure(text: str, query: MeasureQuery) -> str:
    """Why a passage stands in the place of a figure, and which of its periods the year may mean.

    "" where the question asks for no figure.
    """
    if not _wants_figure(query):
        return ""
    asked = query.period
    if asked is None:
        return NO_FIGURE
    near = [period.text for period in find_periods(text) if 0 < periods_agree(asked, period) < EXACT]
    if not near:
        return NO_FIGURE
    distinct = list(dict.fromkeys(near))[:MOST_PERIODS]
    return (
        f"It has figures for {' and '.join(distinct)}, but not for {asked.text} itself. Ask for one of these."
    )


def _passage(parts: Sequence[Part], query: MeasureQuery, *, strict: bool) -> Part | None:
    """The part that best names the year, else the first; None where there is none.

    strict: it must name the measure, and the year unless the document is of that year.
    """
    spoken = [part for part in parts if part.text.strip(" .\n")]
    if strict and query.measures and _wants_figure(query):
        spoken = [part for part in spoken if names(part.text, query)]
    if query.period:
        spoken.sort(key=lambda part: -fits(part.text, query))
    if not spoken:
        return None
    best = spoken[0]
    if strict and query.period and not fits(best.text, query) and not _covers(query):
        return None
    return best


def _covers(query: MeasureQuery) -> bool:
    """Whether the year lies in the document's own period, or the document does not say its period."""
    return query.period is None or query.own is None or periods_agree(query.period, query.own) > 0


def _why_absent(query: MeasureQuery) -> str:
    what = "what is asked"
    if query.measures:
        what = f"“{words_for(query.measures[0], query.understanding.subject)}”"
    when = f" together with {query.period.text}" if query.period else ""
    return f"No page found mentions {what}{when}."


def _nearest(answer: Answer, *, cited: bool = False) -> tuple[Nearest, ...]:
    """The pages that come nearest to an answer. cited: those that it cites."""
    pages: list[tuple[int | None, int | None]] = [(None, page.page) for page in answer.nearest]
    if cited:
        pages = [(citation.version, citation.page) for citation in answer.citations]
    found = [
        hit
        for version, page in pages
        for hit in answer.considered
        if hit.page == page and version in (None, hit.version)
    ]
    nearest = (
        Nearest(hit.document, hit.version, hit.page, hit.page_label) for hit in found or answer.considered
    )
    return tuple(dict.fromkeys(nearest))[:NEAREST]


def _short(text: str) -> str:
    """A passage on one line, cut to the length that is shown."""
    line = " ".join(text.split()).lstrip(".,;: ")
    if len(line) <= LONGEST_PASSAGE:
        return line
    return f"{line[: LONGEST_PASSAGE - 2].rstrip()} …"
