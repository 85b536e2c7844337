"""Reads from a checked answer the entry of a comparison's table: its figure, else the passage that comes
nearest, else the nearest pages; asks nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from chatbot.answer.citations.citation_keys import KEYS_IN_BRACKETS
from chatbot.answer.compare.comparison_figures import Part, stated, worked_out
from chatbot.answer.compare.measure_match import EXACT, MeasureQuery, fits, names
from chatbot.comparison import Entry, EntryPlace, Nearest
from chatbot.records import MODEL_TEXT, Answer, NumberCheck
from ingestion.language.measures import measure_named
from ingestion.language.numbers import find_figures
from ingestion.language.periods import find_periods, periods_agree

__all__ = ["read_entry"]

# Characters of a passage that are shown.
LONGEST_PASSAGE = 280
# Pages that are offered where a document does not answer.
NEAREST = 2
# Periods of a passage that are named where the one asked for is none of them.
MOST_PERIODS = 3
# A question for what is said asks for no figure.
ASKS_WORDS = re.compile(
    (
        r"\b(?:says?|said|mention(?:s|ed)?|describe[sd]?|discuss(?:es|ed)?|explain(?:s|ed)?|view|opinion"
        r"|stance)\b"
    ),
    re.IGNORECASE,
)
KEY_OR_TEXT = re.compile(rf"({KEYS_IN_BRACKETS.pattern})")
NO_FIGURE = "No single figure is stated; this passage comes nearest."


def read_entry(answer: Answer, place: EntryPlace) -> Entry:
    """The entry of a table that an answer gives. answer: to a question that was asked of the place's
    document and year alone, with its prompt.
    """
    asked = answer.understanding
    if not answer.answered or asked is None:
        reason = answer.text.partition(MODEL_TEXT)[0].strip().removeprefix("Not in these documents. ")
        return Entry(place, "absent", nearest=_nearest(answer), reason=reason, model=answer.model)
    measures = tuple(measure_named(name) for name in asked.measures)
    own = find_periods(next((hit.facts.period for hit in answer.considered if hit.facts.period), ""))
    period = find_periods(place.year)
    wanted = MeasureQuery(asked, measures, period[0] if period else None, own[0] if len(own) == 1 else None)
    parts = list(_parts(answer))
    if asked.form in {"figure", "passage", "yes_no"} and not ASKS_WORDS.search(asked.subject):
        found = worked_out(answer, parts, wanted) or stated(answer, parts, wanted)
        if found is not None:
            quantity, part, cited = found
            if own and not quantity.dated:
                undated = f"The sentence names no year; the document is of {own[0].text}."
            else:
                undated = ""
            return Entry(place, "figure", quantity, _short(part), cited, reason=undated, model=answer.model)
    best = _passage(parts, wanted, strict=answer.model == "extractive")
    if best is None:
        return Entry(
            place,
            "absent",
            nearest=_nearest(answer, cited=True),
            reason=_why_absent(wanted),
            model=answer.model,
        )
    cited = tuple(filter(None, [best.citation]))
    return Entry(
        place,
        "passage",
        None,
        _short(best.text),
        cited,
        reason=_why_no_figure(best.text, wanted),
        model=answer.model,
    )


def _parts(answer: Answer) -> Iterator[Part]:
    figures = find_figures(answer.text)
    checks: list[NumberCheck | None]
    if len(figures) == len(answer.numbers):
        checks = list(answer.numbers)
    else:
        checks = [None] * len(figures)
    text = _supported_text(answer)
    checked = [
        (figure, check)
        for figure, check in zip(figures, checks, strict=True)
        if text[figure.start : figure.end].strip()
    ]
    citations = iter(answer.citations)
    start = 0
    for mark in KEYS_IN_BRACKETS.finditer(text):
        cited = [next(citations, None) for _ in re.findall(r"S\d", mark[0])]
        inside = tuple(one for one in checked if start <= one[0].start < mark.start())
        yield Part(text[start : mark.start()], start, next(filter(None, cited), None), inside)
        start = mark.end()
    if text[start:].strip(" .\n") and not answer.citations:
        yield Part(text[start:], start, None, tuple(checked))


def _supported_text(answer: Answer) -> str:
    """The answer's text with what nothing supports blanked out at equal length: no entry shows it."""
    text, position = answer.text, 0
    for one in answer.statements:
        at = text.find(one.text, position)
        if at >= 0:
            position = at + len(one.text)
        else:
            position = position
        if at >= 0 and one.status == "unsupported":
            # Keys stay, for the n-th of them belongs to the n-th citation.
            blanked = "".join(
                piece if KEYS_IN_BRACKETS.fullmatch(piece) else " " * len(piece)
                for piece in KEY_OR_TEXT.split(one.text)
            )
            text = text[:at] + blanked + text[position:]
    return text


def _wants_figure(wanted: MeasureQuery) -> bool:
    return wanted.understanding.form == "figure"


def _why_no_figure(text: str, wanted: MeasureQuery) -> str:
    """Why a passage stands in the place of a figure, and which of its periods the year asked for may mean;
    "" where no figure was asked for.
    """
    asked = wanted.period
    if not _wants_figure(wanted) or asked is None:
        if _wants_figure(wanted):
            return NO_FIGURE
        return ""
    near = list(
        dict.fromkeys(one.text for one in find_periods(text) if 0 < periods_agree(asked, one) < EXACT)
    )[:MOST_PERIODS]
    return (
        f"It has figures of {' and '.join(near)}, not of {asked.text} as such: ask for one of these."
        if near
        else NO_FIGURE
    )


def _passage(parts: Sequence[Part], wanted: MeasureQuery, *, strict: bool) -> Part | None:
    """The first part that names what is asked for and the year; with `strict` none where no part names
    them, else the first.
    """
    spoken = [part for part in parts if part.text.strip(" .\n")]
    if strict and _wants_figure(wanted) and wanted.measures:
        spoken = [part for part in spoken if names(part.text, wanted)]
    if wanted.period:
        ranked = sorted(spoken, key=lambda part: -fits(part.text, wanted))
    else:
        ranked = spoken
    if not ranked or (strict and wanted.period and not fits(ranked[0].text, wanted) and not _covers(wanted)):
        return None
    return ranked[0]


def _covers(wanted: MeasureQuery) -> bool:
    """Whether the year asked for lies in the document's own period, or it does not say its period."""
    return wanted.period is None or wanted.own is None or periods_agree(wanted.period, wanted.own) > 0


def _why_absent(wanted: MeasureQuery) -> str:
    what = f"“{wanted.measures[0].name}”" if wanted.measures else "what is asked"
    return f"No page found names {what}{f' together with {wanted.period.text}' if wanted.period else ''}."


def _nearest(answer: Answer, *, cited: bool = False) -> tuple[Nearest, ...]:
    if cited:
        pages = [(citation.version, citation.page) for citation in answer.citations]
    else:
        pages = [(None, page.page) for page in answer.nearest]
    found = [
        hit
        for version, page in pages
        for hit in answer.considered
        if hit.page == page and version in (None, hit.version)
    ]
    found = found or list(answer.considered)
    return tuple(
        dict.fromkeys(Nearest(hit.document, hit.version, hit.page, hit.page_label) for hit in found)
    )[:NEAREST]


def _short(text: str) -> str:
    line = " ".join(text.split()).lstrip(".,;: ")
    if len(line) <= LONGEST_PASSAGE:
        return line
    return f"{line[: LONGEST_PASSAGE - 2].rstrip()} …"
