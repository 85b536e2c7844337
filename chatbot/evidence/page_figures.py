"""Knows the figures of a page, each with the readings that its surroundings allow; knows no answer."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from chatbot.evidence.table_cells import CellPlace, TablesOfPage
from chatbot.evidence.word_runs import Words
from ingestion.language.currencies import LETTERS
from ingestion.language.numbers import Figure, ScaleMark, find_figures, governing_mark, scale_marks
from ingestion.language.numbers.spelled import NUMBER_WORDS
from ingestion.language.periods import YEAR
from ingestion.language.units import MINUS
from ingestion.language.vocabulary import either

__all__ = ["FiguresOfPage", "OnPage", "Placed", "digits_of", "read_figures", "words_around"]

NEAR_WORDS = 12  # words kept on each side of a figure, enough to see six in a row on either
LONGEST_LINE = 300  # characters of a line that are looked at before a figure
_PERCENT_SAID = re.compile(r"%|per ?cent|percent|\brates?\b|\bratio|\bmargin|\bshare", re.IGNORECASE)
_SPACED_RUN = re.compile(r"(?<![0-9.,])[0-9]{1,3}(?: [0-9]{3}){1,40}+(?![0-9])")
_LETTER_MONEY = re.compile(
    rf"(?<![A-Za-z0-9.,])(?P<letter>{either(LETTERS)})(?P<whole>[0-9]{{2,6}}+)(?:\."
    rf"(?P<cents>[0-9]{{1,2}}+))?(?![A-Za-z0-9.,]*[0-9A-Za-z])"
)
_SPACED_DASH = re.compile(f"[{MINUS}] ")
_YEAR_CELL = re.compile(rf"(?<![\w.,/-]){YEAR}(?![\w/-]|[.,][0-9])")
_WORD_NUMBER = re.compile(rf"\b(?:{either(NUMBER_WORDS)})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Placed:
    """A figure among its words. readings: as written, and as the scale marks around it would have it read."""

    figure: Figure
    readings: tuple[Figure, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OnPage(Placed):
    """counts: it is followed by a word, "24 municipalities". cell: nothing but figures follow on its line.
    percent: it may be a percentage.

    line: where its line starts; on_line: words before it there. place: its cell, None where it stands in none
    that is known.
    """

    mark: ScaleMark | None
    counts: bool
    cell: bool
    percent: bool
    line: int
    on_line: int
    place: CellPlace | None


@dataclass(frozen=True, slots=True)
class FiguresOfPage:
    """A page's figures in order; by their significant digits, with what else can be read as a figure; and
    by the words next to them.
    """

    all: tuple[OnPage, ...]
    by_digits: dict[str, list[OnPage]]
    by_neighbour: dict[str, list[OnPage]]


class _Marks(NamedTuple):
    """A page's marks of scale and of percent kind, and the scale that its context states."""

    scales: list[ScaleMark]
    kinds: list[ScaleMark]
    default: ScaleMark | None

    def at(
        self, figure: Figure, tables: TablesOfPage, place: CellPlace | None
    ) -> tuple[ScaleMark | None, ScaleMark | None]:
        """Those for one figure: what its table says, else the nearest on the page."""
        if place is not None and tables.per_piece(place):
            return None, governing_mark(self.kinds, figure.start)
        if place is not None and any(found := tables.marks_of(place)):
            return found
        return governing_mark(self.scales, figure.start) or self.default, governing_mark(
            self.kinds, figure.start
        )


def words_around(
    words: Words, figure: Figure, first: int, last: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    here = bisect_left(words.starts, figure.start)
    beyond = bisect_left(words.starts, figure.end)
    return words.texts[max(first, here - NEAR_WORDS) : here], words.texts[
        beyond : min(last, beyond + NEAR_WORDS)
    ]


def digits_of(figure: Figure) -> str:
    """The significant digits, equal for one value at every decimal scale: 15 of them, as a 16th of 9.12
    would be noise.
    """
    return f"{abs(figure.value):.14e}".split("e")[0].replace(".", "").rstrip("0")


def read_figures(text: str, context: str, words: Words, tables: TablesOfPage) -> FiguresOfPage:
    """The figures of a page. context: what stands above it in its document; words: the page's."""
    found = scale_marks(text)
    default = next((mark for mark in reversed(scale_marks(context)) if mark.scale > 1), None)
    marks = _Marks(
        [mark for mark in found if mark.scale > 1], [mark for mark in found if mark.scale == 1], default
    )
    percent_said = _PERCENT_SAID.search(text) is not None
    figures = find_figures(text)
    others = [
        figure
        for figure in _other_readings(text, figures)
        if not (
            tables.views
            and _YEAR_CELL.fullmatch(figure.text)
            and tables.place_of(figure.start, figure.end) is None
        )
        and not tables.are_several(figure.start, figure.end)
    ]
    placed = [_on_page(text, words, figure, (marks, tables), percent_said) for figure in (*figures, *others)]
    by_digits: dict[str, list[OnPage]] = defaultdict(list)
    by_neighbour: dict[str, list[OnPage]] = defaultdict(list)
    for one in placed:
        by_digits[digits_of(one.figure)].append(one)
    for one in placed[: len(figures)]:
        for word in {*one.before[-1:], *one.after[:1]}:
            by_neighbour[word].append(one)
    return FiguresOfPage(tuple(placed[: len(figures)]), dict(by_digits), dict(by_neighbour))


def _on_page(
    text: str, words: Words, figure: Figure, marks: tuple[_Marks, TablesOfPage], percent_said: bool
) -> OnPage:
    """The page's figure with its words and readings."""
    place = marks[1].place_of(figure.start, figure.end)
    scale, kind = marks[0].at(figure, marks[1], place)
    line = text.rfind("\n", max(0, figure.start - LONGEST_LINE), figure.start) + 1 or max(
        0, figure.start - LONGEST_LINE
    )
    rest = text[figure.end : figure.end + 40].split("\n")[0]
    counts = re.match(r"[ \u00a0-]?[a-z]", rest) is not None
    readings = [figure]
    if figure.bare and scale and not (counts and figure.unit is None):
        money = scale.money
        if money is None or figure.unit is None:
            readings.append(replace(figure, scale=scale.scale, unit=figure.unit or scale.unit))
        if money is not None:
            readings.append(replace(figure, scale=money.scale, unit=figure.unit or money.unit))
    if figure.bare and kind and figure.unit is None:
        readings.append(replace(figure, unit=kind.unit, percent="percent" if kind.unit == "%" else "points"))
    if (
        place is not None
        and _SPACED_DASH.match(figure.text)
        and not marks[1].views[place.table].digits(place.row, place.column).startswith("-")
    ):
        readings += [
            replace(reading, value=-reading.value) for reading in readings
        ]  # "2,200 - 1,400" with an empty cell between
    percent = figure.bare and figure.unit is None and not counts and (kind is None or kind.unit == "%")
    if percent:
        if scale:
            percent = _PERCENT_SAID.search(text[line : figure.end] + rest) is not None
        else:
            percent = percent_said
    before, after = words_around(words, figure, 0, len(words.texts))
    on_line = bisect_left(words.starts, figure.start) - bisect_left(words.starts, line)
    cell = not any(character.isalpha() for character in rest)
    return OnPage(
        figure,
        tuple(readings),
        before,
        after,
        scale if figure.bare else None,
        counts,
        cell,
        percent,
        line,
        on_line,
        place,
    )


def _other_readings(text: str, figures: Sequence[Figure]) -> list[Figure]:
    """What find_figures does not claim but a page can mean: "9 905" as 9905, a year-like cell "2042", "R560",
    "twelve". May overlap.

    figures: those it claims, in order.
    """
    found = [_plain(text, start, end) for start, end in _spaced_windows(text)]
    found += [_plain(text, match.start(), match.end()) for match in _YEAR_CELL.finditer(text)]
    for match in _LETTER_MONEY.finditer(text):
        value = float(f"{match['whole']}.{match['cents'] or 0}")
        found.append(
            Figure(
                match[0],
                match.start(),
                match.end(),
                value,
                LETTERS[match["letter"]],
                decimals=len(match["cents"] or ""),
            )
        )
    ends = [figure.end for figure in figures]
    for match in _WORD_NUMBER.finditer(text):
        claimed = bisect_left(ends, match.end())
        if claimed == len(figures) or figures[claimed].start > match.start():
            found.append(Figure(match[0], match.start(), match.end(), float(NUMBER_WORDS[match[0].lower()])))
    return found


def _plain(text: str, start: int, end: int) -> Figure:
    written = text[start:end]
    negative = text[max(0, start - 2) : start].rstrip(" ")[-1:] in ("-", "\u2212", "(")
    return Figure(written, start, end, float(written.replace(" ", "")) * (-1 if negative else 1))


def _spaced_windows(text: str) -> Iterator[tuple[int, int]]:
    """Every two, three or four neighbouring groups of a run such as "9 905 410 205"."""
    for run in _SPACED_RUN.finditer(text):
        groups = [
            (match.start(), match.end())
            for match in re.compile("[0-9]++").finditer(text, run.start(), run.end())
        ]
        for first in range(len(groups)):
            yield from (
                (groups[first][0], groups[last][1]) for last in range(first + 1, min(first + 4, len(groups)))
            )
