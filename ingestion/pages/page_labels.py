"""Finds printed page numbers as series that run through the edges of pages; knows text and places there
only, and never guesses.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ingestion.language.currencies import DRAWN_SIGNS
from ingestion.language.months import MONTH_NAME, MONTH_WORDS
from ingestion.language.scales import SCALE_WORD
from ingestion.language.vocabulary import either
from ingestion.pages.margins import EDGES, MARKS, EdgeRow, edge_rows, line_shape, usual_height
from ingestion.records import Page, Rect

__all__ = ["page_labels", "roman_value"]

# A row longer than this is body text, not a header; one with more numbers is a row of a table.
LONGEST_EDGE_LINE = 160
MOST_NUMBERS = 5
# Numbers in step with their pages that make a series (two where each says "page"), within how many pages, and
# how far apart its members may be: numbers are missing on chapter openings, blank backs and charts.
SUPPORT = 3
NAMED_SUPPORT = 2
NEAR = 6
REACH = 20
# Places followed at once in one step: more only where rows of tables count along with the pages.
MOST_OPEN = 16
# Differences within one place, as shares of the page: half a line of height; the width that two more digits
# take; printing in register.
SAME_HEIGHT = 0.02
SAME_SIDE = 0.03
IN_REGISTER = 0.008
WIDEST_NUMBER = 0.15
# Numbers in step that could be years are heads of columns unless so many run.
YEARS = range(1900, 2101)
YEARS_SUPPORT = 12
# Below this share of agreement with the printed numbers, the file's own labels are taken to be wrong.
AGREEMENT = 0.8
# "12", "iv", "A-12", "II-4", "2-15", "B.3", "-12-"; no share, sum, decimal, date, note mark or one of
# several.
NUMBER = re.compile(
    rf"(?<![\w.,/:;%{DRAWN_SIGNS}+#&'’)(\[-])(?:[-–—]\s?(?=\w{{1,4}}\s?[-–—](?!\w)))?"
    r"((?:[A-Z]{1,3}\d?|[IVXLC]{1,7}|\d{1,3})[-–.]\d{1,4}|[A-GR-SXZ]?\d{1,4}|[ivxlc]{1,8}|[IVXLC]{1,8})"
    r"(?![\w%:;,)\]°]|/(?!\d{1,4}(?![\w/]))|[.'’]\w|\.\s|\.$|[-–]\w)"
)
LETTER = re.compile(r"[^\W\d_]")
BRACKETED = re.compile(r"^[(\[]\s?(\d{1,4}|[ivxlc]{1,8})\s?[)\]]$")
PREFIXED = re.compile(r"^(.*?)(\d{1,4})$")
DASHES = ("-", "–", ".")
PAGE_BEFORE = re.compile(
    r"(?:^|[\s|])(?:page|pg|p|pag|página|pagina|seite|sheet|slide|folio)[.:]?\s?(?:no\.?)?\s?[-–]?$", re.I
)
PAGES_AFTER = re.compile(r"^(?:of|/|von|de|sur)\s?\d{1,4}\b", re.I)
# "continued on page 12" is no page number, nor is what a number after the other words counts.
REFERENCE = re.compile(r"\b(?:see|on|from|to|at|over|next|continued|and|or|in|of|this)\.?,?\s\S{1,7}$", re.I)
COUNTED = re.compile(
    r"\b(?:no|nos|number|notes?|tables?|charts?|figures?|fig|schedule|demand|chapter|section|sec|part"
    r"|annex|annexure|appendix|exhibit|box|"
    r"item|article|art|rule|rev|revision|version|ver|v|vol|volume|form|step|question|q|fy|year|quarter|week"
    r"|day|title|clause|paragraph|"
    r"para|phase|tier|level|grade|class|stage|statement|issue|lot|bill|act|line|column|group|series|"
    rf"{either(MONTH_WORDS)})[.:#]?$",
    re.I,
)
# A date, or a quantity.
NO_LABEL_AFTER = re.compile(
    rf"^(?:{MONTH_NAME}|per ?cent|percentage|basis points?|{SCALE_WORD}|months?|weeks?)\b", re.I
)
ROMAN = re.compile(r"^(xc|xl|l?x{0,3})(ix|iv|v?i{0,3})$")
ROMAN_DIGITS = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


@dataclass(frozen=True, slots=True)
class _Number:
    """One number at an edge of a page. page: 0-based. form: kind of numeral, or what is before the value
    ("A-"). named: it says that it is a page's. around: shapes of what stands before and after it in its row.
    box: None where it is not known."""

    page: int
    label: str
    form: str
    value: int
    side: str
    depth: int
    named: bool
    around: tuple[str, str]
    box: Rect | None

    @property
    def alone(self) -> bool:
        return self.named or not any(self.around)

    @property
    def words(self) -> set[str]:
        """What is around it and not figures only."""
        return {shape for shape in self.around if LETTER.search(shape)}


def roman_value(text: str) -> int | None:
    """Value of a roman numeral from 1 to 99 in either case, None where `text` is not one."""
    lower = text.casefold()
    if not lower or not ROMAN.match(lower):
        return None
    digits = [ROMAN_DIGITS[letter] for letter in lower]
    return sum(
        -value if any(later > value for later in digits[i + 1 : i + 2]) else value
        for i, value in enumerate(digits)
    )


def page_labels(pages: Sequence[Page], embedded: Sequence[str | None]) -> list[tuple[str | None, str | None]]:
    """(label, source) for each page in physical order; source "printed", "pdf" (the file's own labels) or
    None.

    A number counts as printed only in a series: in step with the pages, in the same form and in the same
    place. The file's own labels serve where nothing is printed and the printed numbers around bear them out.
    """
    usual = usual_height(pages)
    found = [
        [
            number
            for row in edge_rows(page, usual)
            if row.side in EDGES
            for number in _numbers(index, page.text, row)
        ]
        for index, page in enumerate(pages)
    ]
    chosen = _chosen(found)
    _add_pairs(chosen, found)
    _add_strays(chosen, found)
    printed = [chosen[index].label if index in chosen else None for index in range(len(pages))]
    others = [{number.label.casefold() for number in numbers if number.named} for numbers in found]
    own = [
        spare if spare and not other - {spare.casefold()} else None
        for spare, other in zip(_borne_out(printed, embedded), others, strict=True)
    ]
    return [
        (label, "printed") if label else (spare, "pdf") if spare else (None, None)
        for label, spare in zip(printed, own, strict=True)
    ]


def _numbers(page: int, text: str, row: EdgeRow) -> Iterator[_Number]:
    """What may be a page number in one row."""
    pieces = [text[start:end].strip() for start, end in row.pieces]
    if sum(map(len, pieces)) > LONGEST_EDGE_LINE:
        return
    matches = [
        (at, match)
        for at, piece in enumerate(pieces)
        for match in [*NUMBER.finditer(piece), *BRACKETED.finditer(piece)]
    ]
    for at, match in matches if len(matches) <= MOST_NUMBERS else ():
        before = " ".join([*pieces[:at], pieces[at][: match.start()]]).rstrip(" –—-")
        after = " ".join([pieces[at][match.end() :], *pieces[at + 1 :]]).lstrip(" –—-")
        form, value = _read(match.group(1))
        named = bool(PAGE_BEFORE.search(before) or (PAGES_AFTER.match(after) and not before))
        if (
            not value
            or COUNTED.search(before)
            or NO_LABEL_AFTER.match(after)
            or (named and REFERENCE.search(before))
        ):
            continue
        around = (line_shape(before.strip(MARKS)), line_shape(after.strip(MARKS)))
        if row.boxes:
            box = _box_of(row.boxes[at], pieces[at], match)
        else:
            box = None
        yield _Number(page, match.group(1), form, value, row.side, row.depth, named, around, box)


def _read(token: str) -> tuple[str, int]:
    """(form, value) of a page number as printed; value 0 where it is none."""
    if token.isalpha():
        return "i" if token.islower() else "I", roman_value(token) or 0
    match = PREFIXED.match(token)
    if match:
        form, digits = match.groups()
    else:
        form, digits = ("", "0")
    return form + ("0" * len(digits) if digits.startswith("0") else ""), int(digits)


def _box_of(line: Rect, piece: str, match: re.Match[str]) -> Rect:
    """About where the number is in its line, all characters taken as equally wide."""
    width = line.width / len(piece)
    return Rect(line.x0 + match.start(1) * width, line.y0, line.x0 + match.end(1) * width, line.y1)


def _chosen(found: Sequence[Sequence[_Number]]) -> dict[int, _Number]:
    """The number of each page that is in a series, by page; of several series the one with most behind it."""
    steps: dict[tuple[str, int], list[_Number]] = defaultdict(list)
    for numbers in found:
        for number in numbers:
            steps[number.form, number.value - number.page].append(number)
    chosen: dict[int, _Number] = {}
    for series in sorted((series for step in steps.values() for series in _series(step)), key=_rank):
        taken = sum(number.page in chosen and chosen[number.page].label != number.label for number in series)
        if 3 * taken <= len(series):
            for number in series:
                chosen.setdefault(number.page, number)
    return chosen


def _rank(series: Sequence[_Number]) -> tuple[int, float, bool]:
    """What puts one series before another: how much is behind it; then that it stands farther out; then
    that it is at the foot.
    """
    weight = sum(2 if number.alone else 1 for number in series)
    return -weight, sum(number.depth for number in series) / len(series), series[0].side != "foot"


def _series(step: Sequence[_Number]) -> list[list[_Number]]:
    """The series among numbers of one form and one offset to their pages, which are in order."""
    runs = list[list[_Number]]()
    near = list[list[_Number]]()
    for number in step:
        near = [run for run in near if number.page - run[-1].page <= REACH][-MOST_OPEN:]
        same = [
            run
            for run in near
            if number.page > run[-1].page and any(_same_place(number, other) for other in run[-2:])
        ]
        if same:
            same[-1].append(number)
            continue
        near.append([number])
        runs.append(near[-1])
    return [kept for run in runs if (kept := _kept(run))]


def _kept(run: Sequence[_Number]) -> list[_Number]:
    """The numbers of a run that make a series: alone in their rows or beside words that run too, or exactly
    where those are; none where there are too few of them."""
    shapes = Counter(shape for number in run for shape in number.words)
    sure = [number for number in run if number.alone or any(shapes[shape] > 1 for shape in number.words)]
    if sure and all(number.named for number in sure):
        needed = NAMED_SUPPORT
    else:
        needed = SUPPORT
    dense = len(sure) >= 2 * SUPPORT or any(
        last.page - first.page <= NEAR for first, last in zip(sure, sure[needed - 1 :], strict=False)
    )
    if not dense or (
        all(number.form == "" and number.value in YEARS for number in sure) and len(sure) < YEARS_SUPPORT
    ):
        return []
    heights = [number.box.y1 for number in sure if number.box]
    exact = {round(height / IN_REGISTER) + near for height in heights for near in (-1, 0, 1)}
    known = set(map(id, sure))
    return [
        number
        for number in run
        if id(number) in known or (number.box and round(number.box.y1 / IN_REGISTER) in exact)
    ]


def _same_place(one: _Number, other: _Number) -> bool:
    """They stand in the same place, one being the mirror of the other where one page is odd and the other
    even.
    """
    if one.side != other.side:
        return False
    if one.box is None or other.box is None:
        return True
    level = abs(one.box.middle - other.box.middle) <= SAME_HEIGHT
    if not level and (
        one.side == "side"
        or one.depth != other.depth
        or (one.around != other.around and not (one.alone and other.alone))
    ):
        return False
    if all(one.around) and all(other.around):
        return not one.words.isdisjoint(other.words)
    mirrored = Rect(1 - other.box.x1, other.box.y0, 1 - other.box.x0, other.box.y1)
    return _aligned(one.box, other.box) or (
        (one.value - other.value) % 2 == 1 and _aligned(one.box, mirrored)
    )


def _aligned(one: Rect, other: Rect) -> bool:
    """They begin, end or centre alike; for boxes too wide for a number, whose place in them is not known,
    that they overlap.
    """
    if max(one.width, other.width) > WIDEST_NUMBER:
        return one.overlap(other) >= 0
    left = one.x0 - other.x0
    right = one.x1 - other.x1
    return min(abs(left), abs(right), abs(left + right) / 2) <= SAME_SIDE


def _add_pairs(chosen: dict[int, _Number], found: Sequence[Sequence[_Number]]) -> None:
    """Add two numbers alone on two pages on end, the second the next after the first, where numbers of the
    series before or after them stand: parts of two pages with numbers of their own."""
    for page in range(len(found) - 1):
        firsts = {
            (number.form, number.value + 1): number
            for number in found[page]
            if number.alone and page not in chosen
        }
        seconds = [
            number
            for number in found[page + 1]
            if number.alone and (number.form, number.value) in firsts and page + 1 not in chosen
        ]
        pairs = [(firsts[second.form, second.value], second) for second in seconds]
        if pairs:
            near = [chosen[other] for other in range(page - REACH, page + REACH) if other in chosen]
        else:
            near = []
        fitting = [
            pair
            for pair in pairs
            if _same_place(*pair) and any(_same_place(pair[0], other) for other in near)
        ]
        if len({second.label for _, second in fitting}) == 1:
            chosen[page], chosen[page + 1] = fitting[0]


def _add_strays(chosen: dict[int, _Number], found: Sequence[Sequence[_Number]]) -> None:
    """Add what the series before or after make it and stands alone or beside what stands beside theirs: the
    next number in another place of the page (a sheet set sideways), or a number between theirs in their place
    (pages left out, or put in)."""
    before, after = _around(chosen, len(found))
    running = {shape for number in chosen.values() for shape in number.words}
    for page, numbers in enumerate(found):
        beside = [
            other
            for other in (before[page], after[page])
            if other and page not in chosen and abs(other.page - page) <= REACH
        ]
        sure = [
            number
            for number in numbers
            if number.alone or number.side == "side" or not running.isdisjoint(number.words)
        ]
        fitting = [number for number in sure if _fits(number, beside)]
        if len({number.label for number in fitting}) == 1:
            chosen[page] = fitting[0]


def _around(chosen: Mapping[int, _Number], count: int) -> tuple[list[_Number | None], list[_Number | None]]:
    """For each page the last number chosen before it and the first one after it."""
    before = list[_Number | None]([None])
    after = list[_Number | None]([None])
    for page in range(count - 1):
        before.append(chosen.get(page, before[-1]))
        after.append(chosen.get(count - 1 - page, after[-1]))
    return before, after[::-1]


def _fits(number: _Number, beside: Sequence[_Number]) -> bool:
    """It is what both beside it make it (one, where it says it is a page's); or is in the place of one and
    what that makes it, or as surely a page number; or counts on between the two in their place."""
    alike = [other for other in beside if other.form == number.form]
    steps = [other for other in alike if other.value - other.page == number.value - number.page]
    there = [other for other in beside if _same_place(number, other)]
    if len(steps) > (not number.named) or any(
        other in steps or _says_as_much(number, other) for other in there
    ):
        return True
    return (
        len(alike) == 2
        and alike[0].value < number.value < alike[1].value
        and all(other in there for other in alike)
    )


def _says_as_much(number: _Number, other: _Number) -> bool:
    """Both say that they are page numbers, by a word or by naming their part."""
    return (number.named and other.named) or (
        number.alone and number.form.endswith(DASHES) and other.form.endswith(DASHES)
    )


def _borne_out(printed: Sequence[str | None], embedded: Sequence[str | None]) -> list[str | None]:
    """The file's own labels, None where the printed numbers speak against them: those nearest and most of
    those in the same stretch of labels, or where that has none, most of all pages."""
    agree = [
        label.casefold() == own.casefold() if label and own else None
        for label, own in zip(printed, embedded, strict=True)
    ]
    borne: list[str | None] = []
    for start, end in _stretches(embedded):
        known = [index for index in range(start, end) if agree[index] is not None]
        share = [bool(agree[index]) for index in known] or [bool(same) for same in agree if same is not None]
        trusted = sum(share) >= AGREEMENT * len(share)
        for index in range(start, end):
            place = bisect(known, index)
            near = all(agree[beside] for beside in known[max(0, place - 1) : place + 1])
            borne.append(embedded[index] if trusted and near else None)
    return borne


def _stretches(embedded: Sequence[str | None]) -> list[tuple[int, int]]:
    """(start, end) of labels that count on in one form; what is no number belongs to what is before it."""
    starts = [0] if embedded else []
    last = None
    for index, label in enumerate(embedded):
        form, value = _read(label or "")
        step = (form, value - index) if value else last
        if last is not None and step != last:
            starts.append(index)
        last = step
    return list(zip(starts, [*starts[1:], len(embedded)], strict=True))
