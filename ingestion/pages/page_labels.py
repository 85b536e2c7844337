"""Finds printed page numbers as series that run through the edges of pages, and never guesses."""

from __future__ import annotations

import re
from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, pairwise, product
from typing import NamedTuple

from ingestion.language.currencies import DRAWN_SIGNS
from ingestion.language.months import MONTH_NAME, MONTH_WORDS
from ingestion.language.scales import SCALE_WORD
from ingestion.language.vocabulary import either
from ingestion.pages.margins import (
    EDGES,
    MARKS,
    OF_PAGES,
    PAGE_WORD,
    EdgeRow,
    edge_rows,
    line_shape,
    usual_height,
)
from ingestion.precedence import giving_way
from ingestion.records import Page, Rect

__all__ = ["page_labels", "roman_value"]

# A row longer than this is body text, not a header. A row with more numbers than this is a table's.
LONGEST_EDGE_LINE = 160
MOST_NUMBERS = 5
# How many numbers in step with their pages make a series (two if each says "page"), within how many pages,
# and how far apart its members may be. Numbers are missing on chapter openings, blank backs and charts.
SUPPORT = 3
NAMED_SUPPORT = 2
NEAR = 6
REACH = 20
# How many runs of one step are followed at once. Only rows of tables that count along with the pages make
# more.
MOST_OPEN = 16
# The greatest differences within one place, as shares of the page: half a line of height, the width that two
# more digits take, and printing in register.
SAME_HEIGHT = 0.02
SAME_SIDE = 0.03
IN_REGISTER = 0.008
WIDEST_NUMBER = 0.15
# Numbers in step that could be years are heads of columns, unless there are this many.
YEARS = range(1900, 2101)
YEARS_SUPPORT = 12
# "12", "iv", "A-12", "II-4", "2-15", "B.3", "-12-", but no share, sum, decimal, date, note mark or part of a
# list.
NUMBER = re.compile(
    rf"(?<![\w.,/:;%{DRAWN_SIGNS}+#&'’)(\[-])(?:[-–—]\s?(?=\w{{1,4}}\s?[-–—](?!\w)))?"
    r"((?:[A-Z]{1,3}\d?|[IVXLC]{1,7}|\d{1,3})[-–.]\d{1,4}|[A-GR-SXZ]?\d{1,4}|[ivxlc]{1,8}|[IVXLC]{1,8})"
    r"(?![\w%:;,)\]°]|/(?!\d{1,4}(?![\w/]))|[.'’]\w|\.\s|\.$|[-–]\w)"
)
LETTER = re.compile(r"[^\W\d_]")
BRACKETED = re.compile(r"^[(\[]\s?(\d{1,4}|[ivxlc]{1,8})\s?[)\]]$")
PREFIXED = re.compile(r"^(.*?)(\d{1,4})$")
DASHES = ("-", "–", ".")
PAGE_BEFORE = re.compile(rf"(?i)(?:^|[\s|]){PAGE_WORD}$")
PAGES_AFTER = re.compile(rf"(?i)^{OF_PAGES}\b")
# "continued on page 12" gives no page number, nor does a number that counts something else ("table 12").
REFERENCE = re.compile(r"(?i)\b(?:see|on|from|to|at|over|next|continued|and|or|in|of|this)\.?,?\s\S{1,7}$")
COUNTED = re.compile(
    r"(?i)\b(?:no|nos|number|notes?|tables?|charts?|figures?|fig|schedule|demand|chapter|section|sec|part"
    r"|annex|annexure|appendix|exhibit|box|"
    r"item|article|art|rule|rev|revision|version|ver|v|vol|volume|form|step|question|q|fy|year|quarter|week"
    r"|day|title|clause|paragraph|"
    r"para|phase|tier|level|grade|class|stage|statement|issue|lot|bill|act|line|column|group|series|"
    rf"{either(MONTH_WORDS)})[.:#]?$",
)
# A date, or a quantity.
NO_LABEL_AFTER = re.compile(
    rf"(?i)^(?:{MONTH_NAME}|per ?cent|percentage|basis points?|{SCALE_WORD}|months?|weeks?)\b"
)
TENS, ONES = ("|x|xx|xxx|xl|l|lx|lxx|lxxx|xc".split("|"), "|i|ii|iii|iv|v|vi|vii|viii|ix".split("|"))
ROMAN = {f"{ten}{one}": number for number, (ten, one) in enumerate(product(TENS, ONES))}


class _Number(NamedTuple):
    """One number at an edge of a page.

    page: 0-based.
    label: the number as printed.
    form: the kind of numeral, or what stands before the value ("A-").
    value: what it counts.
    side, depth: those of its row.
    named: it says that it is a page's.
    around: shapes of what stands before and after it in its row.
    """

    page: int
    label: str
    form: str
    value: int
    side: str
    depth: int
    named: bool
    around: tuple[str, str]
    box: Rect

    @property
    def alone(self) -> bool:
        return self.named or not any(self.around)

    @property
    def words(self) -> set[str]:
        """The shapes around it that are not figures only."""
        return {shape for shape in self.around if LETTER.search(shape)}

    @property
    def step(self) -> int:
        """How far the number is ahead of its page."""
        return self.value - self.page


_Numbers = Sequence[_Number]


def roman_value(text: str) -> int | None:
    """Returns the value of a roman numeral from 1 to 99 in either case, None if `text` is not one."""
    return ROMAN.get(text.casefold()) or None


def page_labels(pages: Sequence[Page], embedded: Sequence[str | None]) -> list[tuple[str | None, str | None]]:
    """Returns (label, source) for each page in physical order.

    source: "printed", "pdf" (the file's own labels) or None.

    A number counts as printed only in a series: in step with the pages, in the same form and in the same
    place. A sheet that shows two facing pages is labelled "14–15". The file's own labels serve
    where nothing is printed, if the printed numbers around confirm them.
    """
    usual = usual_height(pages)
    found = [_numbers_of(index, page, usual) for index, page in enumerate(giving_way(pages))]
    chosen = _chosen(found)
    _add_pairs(chosen, found)
    _add_strays(chosen, found)
    labels = _facing_labels(pages, usual) | {page: number.label for page, number in chosen.items()}
    printed = list(map(labels.get, range(len(pages))))
    return list(map(_label_of, printed, _borne_out(printed, embedded), found))


def _numbers_of(index: int, page: Page, usual: float) -> list[_Number]:
    """Returns what may be a page number on one page."""
    rows = (row for row in edge_rows(page, usual) if row.side in EDGES)
    return [number for row in rows for number in _numbers(index, page.text, row)]


def _facing_labels(pages: Sequence[Page], usual: float) -> dict[int, str]:
    """Returns the labels of sheets that show two pages side by side, by page, if they count on by two.

    One sheet alone is enough in a document of no other pages.
    """
    found: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for index, page in enumerate(pages):
        halves = [_half(page, left=left) for left in (True, False)]
        if not all(halves):
            continue
        numbers, following = (_numbers_of(index, half, usual) for half in halves if half)
        for pair in product(numbers, following):
            if _face(*pair):
                found[pair[0].value - 2 * index].append((index, f"{pair[0].label}–{pair[1].label}"))
    series = max(found.values(), key=len, default=[])
    return dict(series) if len(series) > 1 or len(pages) == 1 else {}


def _half(page: Page, *, left: bool) -> Page | None:
    """Returns a half of a page as a page, None if it is empty or a line stands across both halves."""
    lines = []
    for line in page.lines:
        box = line.box
        if box.x0 < 0.5 < box.x1:
            return None
        if (box.centre < 0.5) is left:
            shift = 0.0 if left else 1.0
            lines.append(replace(line, box=replace(box, x0=2 * box.x0 - shift, x1=2 * box.x1 - shift)))
    return replace(page, lines=tuple(lines)) if lines else None


def _face(first: _Number, second: _Number) -> bool:
    """Whether two numbers are those of facing pages: in succession, each alone, outermost or beside the same
    words."""
    if first.form != second.form or first.value + 1 != second.value or not _same_place(first, second):
        return False
    if not first.around[0] and not second.around[1] and first.value not in YEARS:
        return True
    return (first.alone and second.alone) or not first.words.isdisjoint(second.words)


def _label_of(printed: str | None, own: str | None, numbers: _Numbers) -> tuple[str | None, str | None]:
    """Returns (label, source) of a page.

    The file's own label does not serve if a number on the page says that the page has another.
    """
    if printed:
        return printed, "printed"
    if not own:
        return None, None
    named = {number.label.casefold() for number in numbers if number.named}
    if named - {own.casefold()}:
        return None, None
    return own, "pdf"


def _numbers(page: int, text: str, row: EdgeRow) -> Iterator[_Number]:
    """Yields what may be a page number in one row."""
    pieces = [text[start:end].strip() for start, end in row.pieces]
    if sum(map(len, pieces)) > LONGEST_EDGE_LINE:
        return
    matches = [
        (at, match)
        for at, piece in enumerate(pieces)
        for form in (NUMBER, BRACKETED)
        for match in form.finditer(piece)
    ]
    if len(matches) > MOST_NUMBERS:
        return
    for at, match in matches:
        piece, label = pieces[at], match[1]
        before = " ".join([*pieces[:at], piece[: match.start()]]).rstrip(" –—-")
        after = " ".join([piece[match.end() :], *pieces[at + 1 :]]).lstrip(" –—-")
        kind, value = _read(label)
        # "page 12", "12 of 40"
        named = bool(PAGE_BEFORE.search(before) or (not before and PAGES_AFTER.match(after)))
        counts_another = COUNTED.search(before) or NO_LABEL_AFTER.match(after)
        if not value or counts_another or (named and REFERENCE.search(before)):
            continue
        around = (line_shape(before.strip(MARKS)), line_shape(after.strip(MARKS)))
        # All characters are taken as equally wide.
        box = row.boxes[at]
        left, right = (box.x0 + place * box.width / len(piece) for place in match.span(1))
        box = replace(box, x0=left, x1=right)
        yield _Number(page, label, kind, value, row.side, row.depth, named, around, box)


def _read(token: str) -> tuple[str, int]:
    """Returns (form, value) of a page number as printed; value 0 if it is none."""
    if token.isalpha():
        form = "i" if token.islower() else "I"
        return form, roman_value(token) or 0
    match = PREFIXED.match(token)
    if not match:
        return "", 0
    form, digits = match.groups()
    if digits.startswith("0"):
        form += "0" * len(digits)
    return form, int(digits)


def _chosen(found: Sequence[_Numbers]) -> dict[int, _Number]:
    """Returns the number of each page that is in a series, by page.

    Of several series the one with the most support counts.
    """
    steps: dict[tuple[str, int], list[_Number]] = defaultdict(list)
    for number in chain.from_iterable(found):
        steps[number.form, number.step].append(number)
    candidates = sorted(chain.from_iterable(map(_series, steps.values())), key=_rank)
    chosen = dict[int, _Number]()
    for series in candidates:
        taken = sum(chosen.get(number.page, number).label != number.label for number in series)
        if 3 * taken <= len(series):
            for number in series:
                chosen.setdefault(number.page, number)
    return chosen


def _rank(series: _Numbers) -> tuple[int, bool]:
    """Orders series: by most support, then by standing at the foot."""
    return -sum(2 if number.alone else 1 for number in series), series[0].side != "foot"


def _series(step: _Numbers) -> list[list[_Number]]:
    """Returns the series among numbers of one form and one offset to their pages; step: in page order."""
    runs = list[list[_Number]]()
    near = list[list[_Number]]()
    for number in step:
        near = [run for run in near if number.page - run[-1].page <= REACH][-MOST_OPEN:]
        earlier = (run for run in near if number.page > run[-1].page)
        same = [run for run in earlier if _is_in_a_place(number, run[-2:])]
        if same:
            same[-1].append(number)
        else:
            near.append([number])
            runs.append(near[-1])
    return list(filter(None, map(_kept, runs)))


def _kept(run: _Numbers) -> list[_Number]:
    """Returns the numbers of a run that make a series, none if there are too few of them.

    They stand alone in their rows, or beside words that run too, or exactly as high as such numbers.
    """
    shapes = Counter(chain.from_iterable(number.words for number in run))
    repeated = {shape for shape, times in shapes.items() if times > 1}
    sure = [number for number in run if number.alone or not repeated.isdisjoint(number.words)]
    years = [number for number in sure if number.form == "" and number.value in YEARS]
    if not _is_dense(sure) or len(sure) == len(years) < YEARS_SUPPORT:
        return []
    known = {number.page for number in sure}
    heights = {round(number.box.y1 / IN_REGISTER) for number in sure}
    return [number for number in run if number.page in known or round(number.box.y1 / IN_REGISTER) in heights]


def _is_dense(sure: _Numbers) -> bool:
    """Whether there are enough numbers for a series, near enough to each other."""
    needed = NAMED_SUPPORT if all(number.named for number in sure) else SUPPORT
    ends = zip(sure, sure[needed - 1 :], strict=False)
    return any(last.page - first.page <= NEAR for first, last in ends)


def _same_place(first: _Number, second: _Number) -> bool:
    """Whether two numbers stand in the same place.

    If one page is odd and the other even, one place may mirror the other.
    """
    if first.side != second.side:
        return False
    level = abs(first.box.middle - second.box.middle) <= SAME_HEIGHT
    if not level and not _same_row(first, second):
        return False
    if all(first.around) and all(second.around):
        return not first.words.isdisjoint(second.words)
    facing = replace(second.box, x0=1 - second.box.x1, x1=1 - second.box.x0)
    is_facing = (first.value - second.value) % 2 == 1
    return _aligned(first.box, second.box) or (is_facing and _aligned(first.box, facing))


def _same_row(first: _Number, second: _Number) -> bool:
    """Whether numbers at different heights stand in the same row from the edge, in the same company."""
    alike = first.around == second.around or (first.alone and second.alone)
    return first.side != "side" and first.depth == second.depth and alike


def _aligned(first: Rect, second: Rect) -> bool:
    """Whether two boxes begin, end or centre alike.

    Boxes too wide for a number need only overlap: where the number is in them is not known.
    """
    if max(first.width, second.width) > WIDEST_NUMBER:
        return first.overlap(second) >= 0
    left = first.x0 - second.x0
    right = first.x1 - second.x1
    return min(abs(left), abs(right), abs(left + right) / 2) <= SAME_SIDE


def _add_pairs(chosen: dict[int, _Number], found: Sequence[_Numbers]) -> None:
    """Adds numbers alone on two successive pages, the second the next after the first.

    Numbers of the series before or after them must stand in their place. Such pages are parts of two pages
    with numbers of their own.
    """
    for page, following in enumerate(pairwise(found)):
        if not chosen.keys().isdisjoint({page, page + 1}):
            continue
        near = [chosen[other] for other in range(page - REACH, page + REACH) if other in chosen]
        pairs = [
            (first, second)
            for first, second in product(*following)
            if first.alone
            and second.alone
            and (first.form, first.step) == (second.form, second.step)
            and _same_place(first, second)
            and _is_in_a_place(first, near)
        ]
        if len({second.label for _, second in pairs}) == 1:
            chosen[page], chosen[page + 1] = pairs[0]


def _is_in_a_place(number: _Number, near: _Numbers) -> bool:
    """Whether a number stands in the place of one of those near it."""
    return any(_same_place(number, other) for other in near)


def _add_strays(chosen: dict[int, _Number], found: Sequence[_Numbers]) -> None:
    """Adds numbers that fit the series before or after them.

    Each stands alone, at a side, or beside what stands beside theirs. It is the next number in another place
    of the page (a sheet set sideways), or a number between theirs in their place (pages left out, or put in).
    """
    pages = sorted(chosen)
    running = {shape for number in chosen.values() for shape in number.words}
    for page, numbers in enumerate(found):
        if page in chosen:
            continue
        beside = [chosen[other] for other in _nearest(pages, page) if abs(other - page) <= REACH]
        sure = (
            number
            for number in numbers
            if number.alone or number.side == "side" or not running.isdisjoint(number.words)
        )
        fitting = [number for number in sure if _fits(number, beside)]
        if len({number.label for number in fitting}) == 1:
            chosen[page] = fitting[0]


def _nearest(known: Sequence[int], page: int) -> Sequence[int]:
    """Returns the last of the known pages before a page or that itself, and the first one after it."""
    place = bisect(known, page)
    return known[max(0, place - 1) : place + 1]


def _fits(number: _Number, beside: _Numbers) -> bool:
    """Whether a number fits the one or two chosen numbers beside it.

    It is what both make it (or one, if it says that it is a page's). Or it stands in the place of one, and is
    what that makes it or as surely a page number. Or it counts on between the two in their place.
    """
    alike = [other for other in beside if other.form == number.form]
    in_step = [other for other in alike if other.step == number.step]
    if len(in_step) > (not number.named):
        return True
    there = [other for other in beside if _same_place(number, other)]
    if any(other in in_step or _says_as_much(number, other) for other in there):
        return True
    if len(alike) != 2 or not all(other in there for other in alike):
        return False
    return alike[0].value < number.value < alike[1].value


def _says_as_much(number: _Number, other: _Number) -> bool:
    """Whether both say that they are page numbers, by a word or by naming their part."""
    in_part = number.alone and number.form.endswith(DASHES) and other.form.endswith(DASHES)
    return (number.named and other.named) or in_part


def _borne_out(printed: Sequence[str | None], embedded: Sequence[str | None]) -> list[str | None]:
    """Returns the file's own labels, None where the nearest printed numbers speak against them."""
    both = list(zip(printed, embedded, strict=True))
    known = [page for page, (label, own) in enumerate(both) if label and own]
    borne = []
    for page, own in enumerate(embedded):
        nearest = [both[other] for other in _nearest(known, page)]
        agree = all(label and other and label.casefold() == other.casefold() for label, other in nearest)
        borne.append(own if agree else None)
    return borne
