"""Works out a change between two periods from figures that sentences state of each.

The answer shows the formula and the sentence of each figure. It is empty where a figure, its period or its
unit is in doubt. Figures of tables are not used here: see chatbot/answer/tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from chatbot.answer.citations.citation_keys import escape_keys
from chatbot.calculator import written_out
from chatbot.evidence.figure_names import SAME_PERIOD, agreement
from chatbot.evidence.page import page_of
from chatbot.evidence.passages import orders_of
from chatbot.records import Prompt, Understanding
from ingestion.language.currencies import CURRENCY_TERMS
from ingestion.language.numbers import Figure, find_figures, magnitude
from ingestion.language.opposites import MOVES, TOLD_LESS, TOLD_MORE
from ingestion.language.periods import Period, find_periods, without_periods
from ingestion.language.scales import SCALE_TERMS
from ingestion.language.terms import terms

__all__ = ["stated_change"]

# A longer question asks for more than one change; a longer sentence is a table or a list read as one.
LONGEST_QUESTION, LONGEST_SENTENCE = 600, 400
# "By 5 per cent" is a move, and "over 5 per cent" a bound.
_NO_LEVEL = re.compile(
    r"\b(?:by|over|above|under|below|than|least|most|up to|exceed\w*|(?:rise|increase|fall|decline) of)"
    r"\s(?:\w+\s)?\Z",
    re.IGNORECASE,
)
_OR_MORE = re.compile(r"[\w ]{0,20}? or (?:more|less|fewer|above|below|higher|lower)\b", re.IGNORECASE)
_BASE = re.compile(r"\s(of (?:the )?\w+)")
# The word before the first figure, a verb if it says anything.
_LAST_WORD = re.compile(r"(\w+)(?:\s(?:at|to|in|by))?\s*\Z")
_DENIED = re.compile(r"\b(?:not|never|would|could|might|may|if|unless)\b|\?", re.IGNORECASE)
_DIGITS = re.compile(r"\d[\d.,  ]*")
_COMPARED = frozenset(
    terms("change compare compared difference percent percentage per cent much many point points")
)
_SAYS_NOTHING = frozenset(
    {*_COMPARED, *TOLD_MORE, *TOLD_LESS, *SCALE_TERMS, *CURRENCY_TERMS}.union(
        *(terms(word) for way in MOVES for word in way)
    )
)


@dataclass(frozen=True, slots=True)
class _Level:
    """A figure of a sentence. base: what it is a percentage of. key: the citation key of its page."""

    figure: Figure
    base: str
    period: Period
    text: str
    key: str


def stated_change(prompt: Prompt, asked: Understanding) -> str:
    """The change with its formula, then the sentence of each figure with its citation key.

    "" where the question asks for no change between two periods, or where the sentences of the document that
    was found first do not state just one figure of each.
    """
    if len(asked.subject) > LONGEST_QUESTION:
        return ""
    operation, periods = asked.reading.operation, asked.periods
    first = next(iter(prompt.sources.values()), None)
    if operation is None or operation.kind not in {"change", "growth"} or len(periods) != 2 or first is None:
        return ""
    topic = set(asked.reading.undated.terms) - _SAYS_NOTHING
    if not topic or asked.reading.asks("growth that moved"):
        return ""
    levels = [
        level
        for key, hit in prompt.sources.items()
        if hit.version == first.version
        for text in page_of(hit).whole_sentences
        if text[0] not in orders_of(hit)
        for level in _levels(text[0], key, topic)
    ]
    earlier, later = (_of_period(levels, period) for period in sorted(periods, key=_begin))
    if earlier is None or later is None or not _go_together(earlier, later):
        return ""
    quotes = dict.fromkeys((level.text, level.key) for level in (later, earlier))
    return "\n\n".join([_formula(earlier, later), *(f"{escape_keys(text)} [{key}]" for text, key in quotes)])


def _begin(period: Period) -> tuple[int, str]:
    return period.start_year, period.text


def _levels(text: str, key: str, topic: set[str]) -> Iterator[_Level]:
    """The levels of the topic that a sentence states, each with the one period that it is of."""
    figures, periods = find_figures(text), find_periods(text)
    if not figures or not _says_nothing_else(text, figures, topic):
        return
    for figure, following in zip_longest(figures, figures[1:]):
        end = following.start if following else len(text)
        own = [period for period in periods if figure.end <= period.start < end]
        own = own or (periods if len(periods) == 1 else [])
        is_level = figure.value > 0 and figure.other is None and not _NO_LEVEL.search(text[: figure.start])
        base = _BASE.match(text, figure.end)
        if own and is_level and not _OR_MORE.match(text, figure.end):
            yield _Level(figure, base[1] if base else "", own[0], text, key)


def _says_nothing_else(text: str, figures: Sequence[Figure], topic: set[str]) -> bool:
    """Whether a whole sentence has the topic, figures, periods and at most a verb right before the first
    figure: whatever else it says may narrow them, as "on roads" and "debt service" do.
    """
    if len(text) > LONGEST_SENTENCE or not (text[0].isupper() or text[0].isdigit()) or _DENIED.search(text):
        return False
    rest = list(text)
    for figure in figures:
        base = _BASE.match(text, figure.end)
        end = base.end() if base else figure.end
        rest[figure.start : end] = " " * (end - figure.start)
    said = set(terms(without_periods("".join(rest))))
    verb = _LAST_WORD.search(text[: figures[0].start])
    beside = said - topic - _SAYS_NOTHING - set(terms(verb[1]) if verb else ())
    return topic <= said and not beside


def _of_period(levels: list[_Level], period: Period) -> _Level | None:
    """The one figure of a period, None without one or with several."""
    found = [level for level in levels if agreement([period], [level.period]) >= SAME_PERIOD]
    values = {
        (magnitude(level.figure), level.figure.unit, level.figure.percent, level.base) for level in found
    }
    return found[0] if len(values) == 1 else None


def _go_together(*levels: _Level) -> bool:
    units = {(one.figure.unit, one.figure.scale, one.figure.percent, one.base) for one in levels}
    return len(units) == 1


def _formula(earlier: _Level, later: _Level) -> str:
    start, end = earlier.figure, later.figure
    decimals = max(start.decimals, end.decimals)
    levels = [(one.figure.value, f"{one.figure.text} (in {one.period.text})") for one in (later, earlier)]
    change, difference = written_out("a - b", dict(zip("ab", levels, strict=True)))
    if end.percent:
        return f"Change: {difference} = {round(change, decimals) + 0.0:.{decimals}f} percentage points."
    last, base = (_DIGITS.search(one.text)[0].strip() for one in (end, start))  # type: ignore[index]
    result = end.text.replace(last, f"{abs(change):,.{decimals}f}")
    bare = {"a": (end.value, last), "b": (start.value, base)}
    percent, growth = written_out("100 * (a - b) / b", bare)
    return f"Change: {difference} = {'-' if change < 0 else ''}{result}; {growth} = {percent:.1f}%."
