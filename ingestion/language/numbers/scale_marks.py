"""Finds the lines that give a table's bare cells their scale and unit, such as "(in millions)"."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from dataclasses import dataclass, replace

from ingestion.language.currencies import CURRENCY, CURRENCY_NAME, currency_of
from ingestion.language.numbers.not_amounts import masked
from ingestion.language.scales import LETTER_SCALE, LETTER_SCALES, SCALE_WORD, WHOLE_SCALE, scale_of

__all__ = ["ScaleMark", "governing_mark", "passage_scale", "scale_marks"]

_MARK_MONEY = rf"(?:{CURRENCY}|(?i:\b{CURRENCY_NAME}))"
_MARK_SCALE = rf"(?i:lakh crores?|{SCALE_WORD})"
_ENDS = r"(?=\.?[ \u00a0]?\)|[ \u00a0]?(?:[\r\n:,]|\Z))"
_PLURAL_SCALE = rf"(?i:lakh crores?|{WHOLE_SCALE}s|000['’]?s)"
# "in millions", "dollars in millions", "in thousands of U.S. dollars", "in RM million", "Rs. in crore"
_IN_SCALE = (
    rf"(?:(?P<m1>{_MARK_MONEY})(?: and shares)?[ \u00a0])?\b[Ii][Nn][ \u00a0](?:(?P<m2>{_MARK_MONEY})"
    rf"[ \u00a0]?)?"
    # "in TN": a state
    rf"(?P<s1>{_PLURAL_SCALE}|(?!TN\b)(?i:{SCALE_WORD})(?:{_ENDS}"
    rf"|(?=[ \u00a0](?:of[ \u00a0])?{_MARK_MONEY})))(?![A-Za-z])"
    rf"(?:[ \u00a0](?:of[ \u00a0])?(?P<m3>{_MARK_MONEY})|(?![ \u00a0]of\b))"
)
_MONEY_SCALE = (  # "RM million", "(₹ Lakh crore)", "$m", "US$ bn", "crowns million", "$'000"
    rf"(?<![0-9])(?<![0-9][ \u00a0])(?P<m4>{_MARK_MONEY})[ \u00a0]?(?:(?P<s2>{_MARK_SCALE})"
    rf"|(?P<letter>{LETTER_SCALE}|M)|(?P<zeros>['’‘]?000s?))"
    r"(?![A-Za-z0-9.]|,(?![ \u00a0][a-z]))"  # "crowns million, nominal value"
)
_SCALE_MONEY = (  # "(million crowns)", "Millions of dollars" at the start of a line, "(Thousands)", "(000s)"
    rf"(?:(?<=\()|(?<=\n)|\A)(?P<s3>{_MARK_SCALE})[ \u00a0](?:of[ \u00a0])?(?P<m5>{_MARK_MONEY})"
    rf"(?=[ \u00a0]?[)\r\n,])|\((?P<s4>{_MARK_SCALE})\)"
    r"|(?P<thousands>\((?i:in )?['’‘]?000['’]?s?\))"
)
_PERCENT_KIND = (  # "(Per cent)", "(in percent of GDP)", "(y/y, %)", "Variation (Percentage Points)"
    r"\((?:[^()\n0-9%]{0,30}[, \u00a0])??(?:[Ii]n[ \u00a0])?(?:(?P<points>(?i:percentage[ \u00a0]points?"
    r"|ppts?|pp))"
    r"|(?P<basis>(?i:basis[ \u00a0]points?|bps))|(?P<percent>%|(?i:per[ \u00a0]?cent"
    r"|percentage)))(?:[ \u00a0,;][^()\n0-9]{0,40})?\)"
)
_LOOK_BACK = 50  # marks: no table has so many in succession that hold for a single row
_AND_COUNTS = re.compile(r",? and (?:(?!and\b)[a-z]+ ){0,2}?(?P<counted>[a-z]{3,}?)s? ")
_MARK = re.compile("|".join((_IN_SCALE, _MONEY_SCALE, _SCALE_MONEY, _PERCENT_KIND)))


@dataclass(frozen=True, slots=True)
class ScaleMark:
    """A line such as "(in millions)" or "(Per cent)", at text[start:end].

    unit: as in Figure.
    exceptions: whether it says "except …".
    until: the position where it stops governing, None where only the next mark ends it.
    money: the other mark of a line such as "dollars in millions and units in thousands", which governs all
        but what this mark counts.
    counted: what this mark counts, here "unit".
    """

    start: int
    end: int
    scale: float
    unit: str | None
    exceptions: bool = False
    until: int | None = None
    money: ScaleMark | None = None
    counted: str = ""


def scale_marks(text: str) -> list[ScaleMark]:
    """Lines and heads that give bare cells their scale or unit, in order: "(in millions)", "₹ crore",
    "$m", "RM'000", "(Per cent)".
    """
    marks: list[ScaleMark] = []
    read = 0
    for match in _MARK.finditer(text):
        if match.start() < read:
            continue
        line_end = text.find("\n", match.end(), match.end() + 300)
        line = text[match.end() : line_end if line_end >= 0 else match.end() + 300]
        if line_end >= 0 and re.search("[0-9]", masked(line)):
            local = line_end
        else:
            local = None
        exceptions = "except" in line[:80].lower()
        if marks and marks[-1].unit:
            counts = _AND_COUNTS.fullmatch(text, marks[-1].end, match.start())
        else:
            counts = None
        scale = _mark_scale(match)
        mark = ScaleMark(match.start(), match.end(), scale, _mark_unit(match), exceptions, local)
        if counts:
            mark = replace(mark, money=marks[-1], counted=counts["counted"])
        marks.append(mark)
        read = match.end()
        if exceptions:
            # "in millions, except shares, which are in thousands": the second scale is for the exceptions.
            read += len(line.partition(")")[0])
    return marks


def passage_scale(text: str) -> tuple[float, str | None]:
    """Scale and unit of the passage's bare cells; (1.0, None) where no mark gives them.

    Marks with a scale come before others, and then those that govern more than a line; the first is taken.
    """
    marks = sorted(scale_marks(text), key=_without_scale_or_local)
    if marks:
        return (marks[0].scale, marks[0].unit)
    return (1.0, None)


def _without_scale_or_local(mark: ScaleMark) -> tuple[bool, bool]:
    return mark.scale == 1.0, mark.until is not None


def governing_mark(marks: list[ScaleMark], position: int) -> ScaleMark | None:
    """The nearest mark before a position that still governs there. marks: in the order of scale_marks."""
    before = bisect_left(marks, position, key=lambda mark: mark.end)
    for mark in reversed(marks[max(0, before - _LOOK_BACK) : before]):
        if mark.until is None or position < mark.until:
            return mark
    return None


def _mark_scale(match: re.Match[str]) -> float:
    if match["thousands"] or match["zeros"]:
        return 1e3
    if match["letter"]:
        return LETTER_SCALES[match["letter"].lower()]
    written = match["s1"] or match["s2"] or match["s3"] or match["s4"] or ""
    words = written.lower().replace("\u00a0", " ")
    if words.startswith("000"):
        return 1e3
    return math.prod((scale_of(word) for word in words.split()), start=1.0)


def _mark_unit(match: re.Match[str]) -> str | None:
    if match["points"]:
        return "percentage points"
    if match["basis"]:
        return "basis points"
    if match["percent"]:
        return "%"
    money = match["m1"] or match["m2"] or match["m3"] or match["m4"] or match["m5"]
    if money:
        return currency_of(money)
    return None
