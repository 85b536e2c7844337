"""Finds the figures of a page and the readings that their surroundings allow."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from chatbot.evidence.scales_of_cells import governing_mark
from chatbot.evidence.table_cells import CellPlace, TablesOfPage
from chatbot.evidence.word_runs import Words
from ingestion.language.currencies import LETTERS
from ingestion.language.numbers import Figure, NumberStyle, ScaleMark, cell_figure, find_figures, scale_marks
from ingestion.language.numbers.spelled import NUMBER_WORDS
from ingestion.language.periods import YEAR
from ingestion.language.scales import MINUS
from ingestion.language.vocabulary import either

__all__ = ["FiguresOfPage", "OnPage", "digits_of", "in_doubt", "read_figures"]

NEAR_WORDS = 12  # words kept on each side of a figure, enough to see six in a row on either side
LONGEST_LINE = 300  # characters of a line that are read before a figure
_COUNTED = re.compile(r"[ \u00a0-]?[a-z]")  # "24 municipalities"
_DIGITS = re.compile("[0-9]++")
_SPACED_RUN = re.compile(r"(?<![0-9.,])[0-9]{1,3}(?: [0-9]{3}){1,40}+(?![0-9])")
_LETTER_MONEY = re.compile(
    rf"(?<![A-Za-z0-9.,])(?P<letter>{either(LETTERS)})(?P<amount>[0-9]{{2,6}}+(?:\.[0-9]{{1,2}}+)?)"
    r"(?![A-Za-z0-9.,]*[0-9A-Za-z])"
)
_SIGN_BEFORE = re.compile(rf"[{MINUS}(] ?\Z")
_SPACED = NumberStyle(".", spaces=True)
_SPACED_DASH = re.compile(f"[{MINUS}] ")
_YEAR_CELL = re.compile(rf"(?<![\w.,/-]){YEAR}(?![\w/-]|[.,][0-9])")
_WORD_NUMBER = re.compile(rf"\b(?:{either(NUMBER_WORDS)})\b", re.IGNORECASE)


def in_doubt(page: int, then: str) -> str:
    """Says that a page has figures that may be read in two ways, and what follows from it."""
    return f"page {page} has figures that can be read in two ways, so {then}"


@dataclass(frozen=True, slots=True)
class OnPage:
    """A figure on a page.

    figure: as written.
    readings: the figure as written, and as the scale marks around it would have it read.
    before, after: the words on either side.
    mark: the scale mark that governs it, if it has no scale of its own.
    line: where its line starts.
    place: its cell; None if it is in no known cell.
    """

    figure: Figure
    readings: tuple[Figure, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    mark: ScaleMark | None
    line: int
    place: CellPlace | None


@dataclass(frozen=True, slots=True)
class FiguresOfPage:
    """A page's figures.

    all: in order.
    by_digits: by their significant digits, with everything else that can be read as a figure.
    """

    all: tuple[OnPage, ...]
    by_digits: dict[str, list[OnPage]]


class _Marks(NamedTuple):
    """A page's marks.

    scales: of scale.
    kinds: of percent kind.
    default: the scale that the page's context states.
    """

    scales: list[ScaleMark]
    kinds: list[ScaleMark]
    default: ScaleMark | None

    def at(
        self, figure: Figure, tables: TablesOfPage, place: CellPlace | None
    ) -> tuple[ScaleMark | None, ScaleMark | None]:
        """The marks of scale and kind for one figure: those of its table, else the nearest on the page."""
        if place is not None:
            if tables.per_piece(place):
                return None, governing_mark(self.kinds, figure.start)
            found = tables.marks_of(place)
            if any(found):
                return found
        scale = governing_mark(self.scales, figure.start) or self.default
        return scale, governing_mark(self.kinds, figure.start)


def _words_around(words: Words, figure: Figure) -> tuple[tuple[str, ...], tuple[str, ...]]:
    at = bisect_left(words.starts, figure.start)
    beyond = bisect_left(words.starts, figure.end)
    return words.texts[max(0, at - NEAR_WORDS) : at], words.texts[beyond : beyond + NEAR_WORDS]


def digits_of(figure: Figure) -> str:
    """The significant digits, the same for one value at every decimal scale.

    There are 15 of them, because a 16th of 9.12 would be noise.
    """
    return f"{abs(figure.value):.14e}".split("e")[0].replace(".", "").rstrip("0")


def read_figures(
    text: str, context: str, words: Words, tables: TablesOfPage, style: NumberStyle
) -> FiguresOfPage:
    """The figures of a page. context: what is above it in its document. words, tables, style: the page's."""
    found = scale_marks(text)
    scales = [mark for mark in found if mark.scale > 1]
    kinds = [mark for mark in found if mark.scale == 1]
    default = next((mark for mark in reversed(scale_marks(context)) if mark.scale > 1), None)
    marks = _Marks(scales, kinds, default)
    figures = find_figures(text, style)
    others = [figure for figure in _other_readings(text, figures) if _can_be_figure(figure, tables)]
    placed = [_on_page(text, words, figure, marks, tables) for figure in (*figures, *others)]
    by_digits: dict[str, list[OnPage]] = defaultdict(list)
    for on_page in placed:
        by_digits[digits_of(on_page.figure)].append(on_page)
    return FiguresOfPage(tuple(placed[: len(figures)]), dict(by_digits))


def _can_be_figure(figure: Figure, tables: TablesOfPage) -> bool:
    """Whether another reading can be a figure.

    A year outside of the cells of a page with tables cannot, nor can several cells side by side.
    """
    is_year = tables.views and _YEAR_CELL.fullmatch(figure.text)
    if is_year and tables.place_of(figure.start, figure.end) is None:
        return False
    return not tables.are_several(figure.start, figure.end)


def _on_page(text: str, words: Words, figure: Figure, marks: _Marks, tables: TablesOfPage) -> OnPage:
    """The page's figure with its words and readings."""
    place = tables.place_of(figure.start, figure.end)
    dashed = place is not None and _is_spaced_dash(figure, tables, place)
    if dashed and tables.place_of(figure.start, figure.start + 1) not in {None, place}:
        # "2,200 - 1,400" with the dash of a cell of its own
        figure = replace(figure, text=figure.text[2:], start=figure.start + 2, value=-figure.value)
        dashed = False
    scale, kind = marks.at(figure, tables, place)
    earliest = max(0, figure.start - LONGEST_LINE)
    line = text.rfind("\n", earliest, figure.start) + 1 or earliest
    readings = _readings(figure, scale, kind, counts=_COUNTED.match(text, figure.end) is not None)
    if dashed:  # its cell may be empty, or have been read without its minus
        readings += [replace(reading, value=-reading.value) for reading in readings]
    before, after = _words_around(words, figure)
    return OnPage(figure, tuple(readings), before, after, scale if figure.bare else None, line, place)


def _readings(
    figure: Figure, scale: ScaleMark | None, kind: ScaleMark | None, *, counts: bool
) -> list[Figure]:
    """The figure as written, and as the marks would have it read. counts: a word follows it."""
    readings = [figure]
    if not figure.bare:
        return readings
    unit = figure.unit
    if scale and not (counts and unit is None):
        money = scale.money
        if money is None or unit is None:
            readings.append(replace(figure, scale=scale.scale, unit=unit or scale.unit))
        if money is not None:
            readings.append(replace(figure, scale=money.scale, unit=unit or money.unit))
    if kind and unit is None:
        percent = "percent" if kind.unit == "%" else "points"
        readings.append(replace(figure, unit=kind.unit, percent=percent))
    return readings


def _is_spaced_dash(figure: Figure, tables: TablesOfPage, place: CellPlace) -> bool:
    """Whether a figure begins with a dash and a blank, and its cell has no minus."""
    if not _SPACED_DASH.match(figure.text):
        return False
    return not tables.views[place.table].is_negative(place.row, place.column)


def _other_readings(text: str, figures: Sequence[Figure]) -> list[Figure]:
    """What find_figures does not claim but a page can mean.

    That is "9 905" as 9905, a year-like cell "2042", "R560" and "twelve". They may overlap. figures: those it
    claims, in order.
    """
    found = list(filter(None, (_read_alone(text, *window) for window in _spaced_windows(text))))
    for match in _YEAR_CELL.finditer(text):
        found.append(Figure(match[0], match.start(), match.end(), float(match[0])))
    for match in _LETTER_MONEY.finditer(text):
        amount = _read_alone(text, *match.span("amount"))
        if amount:
            unit = LETTERS[match["letter"]]
            found.append(replace(amount, text=match[0], start=match.start(), unit=unit))
    ends = [figure.end for figure in figures]
    for match in _WORD_NUMBER.finditer(text):
        claimed = bisect_left(ends, match.end())
        if claimed == len(figures) or figures[claimed].start > match.start():
            value = float(NUMBER_WORDS[match[0].lower()])
            found.append(Figure(match[0], match.start(), match.end(), value))
    return found


def _read_alone(text: str, start: int, end: int) -> Figure | None:
    """The figure of these digits with the sign before them, whatever stands around them."""
    sign = _SIGN_BEFORE.search(text, max(0, start - 2), start)
    figure = cell_figure(text[start:end], _SPACED)
    if figure is None:
        return None
    return replace(figure, start=start, end=end, value=-figure.value if sign else figure.value)


def _spaced_windows(text: str) -> Iterator[tuple[int, int]]:
    """Every two, three or four neighbouring groups of a run such as "9 905 410 205"."""
    for run in _SPACED_RUN.finditer(text):
        groups = [match.span() for match in _DIGITS.finditer(text, run.start(), run.end())]
        for first, (start, _) in enumerate(groups):
            for _, end in groups[first + 1 : first + 4]:
                yield start, end
