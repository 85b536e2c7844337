"""Finds the lines that give a table's bare cells their scale and unit, such as "(in millions)"."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ingestion.language.currencies import CODES, CURRENCY, CURRENCY_NAME, DRAWN_SIGNS, LETTERS, currency_of
from ingestion.language.numbers.not_amounts import masked
from ingestion.language.scales import MARK_SCALE, MARK_SCALES, SCALE_WORD, WHOLE_SCALE, scale_of
from ingestion.language.vocabulary import either, groups_of, numbered

__all__ = ["ScaleMark", "governing_mark", "passage_scale", "scale_marks"]

# A letter is a currency where a scale follows it: "Rm", "N’million".
_LETTER = rf"(?<![A-Za-z])(?:{either(LETTERS)})(?=['’]|[ \u00a0]?(?i:{SCALE_WORD})\b|m\b)"
_MONEY = rf"(?P<money>{CURRENCY}|(?i:\b{CURRENCY_NAME})|{_LETTER})"
_SCALE = rf"(?i:lakh crores?|{MARK_SCALE}|['’‘]?000['’]?s?)"
_PLURAL_SCALE = rf"(?i:lakh crores?|{WHOLE_SCALE}s|000['’]?s)"
_SPACE = r"[ \u00a0]"
_OF = rf"(?:(?:of|de|di){_SPACE}|d['’])?"
_NEW_HEAD = rf"(?<=\b(?:19|20)[0-9]{{2}}{_SPACE})"  # "2024 NOK mill."
_LINE_ENDS = rf"(?=\.?{_SPACE}?\)|\.?{_SPACE}?(?:[\r\n:,]|\Z| > ))"
# "in millions", "dollars in millions", "in thousands of U.S. dollars", "in RM million", "Rs. in crore"
_IN_SCALE = (
    rf"(?:{_MONEY}(?: and shares)?{_SPACE})?\b(?:[Ii][Nn]|[Ee][Nn]|[Ee][Mm]){_SPACE}(?:{_MONEY}{_SPACE}?)?"
    # "in TN": a state
    rf"(?P<scale>{_PLURAL_SCALE}|(?!TN\b)(?i:{SCALE_WORD}|mm){_LINE_ENDS}"
    rf"|{_SCALE}(?=\.?{_SPACE}{_OF}{_MONEY}))"
    rf"(?![A-Za-z])(?:\.?{_SPACE}{_OF}{_MONEY}|(?!{_SPACE}of\b))"
)
_MONEY_SCALE = (  # "RM million", "(₹ Lakh crore)", "$m", "US$ bn", "NOK mill.", "$'000", "N’million"
    rf"(?<![0-9])(?:(?<![0-9]{_SPACE})|{_NEW_HEAD}){_MONEY}(?:{_SPACE}?['’]|{_SPACE})?(?P<scale>{_SCALE})"
    # "crowns million, nominal value", but no amount: "Rm 204"
    rf"(?!\.?{_SPACE}?[0-9])(?![A-Za-z0-9]|\.[A-Za-z0-9]|,(?!{_SPACE}[a-z]))"
)
_LETTER_MONEY = (  # "MSEK", "kEUR", "TCHF", "T€", "M$"
    rf"(?<![A-Za-z0-9])(?P<scale>MM|[kKmMT]|Md)(?P<money>{either(CODES)}|[{DRAWN_SIGNS}])"
    rf"(?![A-Za-z0-9]|{_SPACE}?[0-9])|\b(?P<scale>(?i:[mt]|mn))(?P<money>kr)\b"
)
_SCALE_MONEY = (  # "(million crowns)", "Millions of dollars" at the start of a line, "Mio. €", "(000s)"
    rf"(?:(?<=\()|(?<=\n)|(?<=> )|{_NEW_HEAD}|\A)(?P<scale>{_SCALE})\.?{_SPACE}{_OF}{_MONEY}"
    rf"(?={_SPACE}?(?:[)\r\n,]|\Z| > ))|\((?P<scale>(?i:{SCALE_WORD}))\)"
    r"|\((?i:in )?(?P<scale>['’‘]?000['’]?s?)\)"
)
_UNIT_OF = (  # "Unit: 100 million yen"
    rf"(?i:\bunits?:){_SPACE}?(?P<scale>(?:100{_SPACE})?{_SCALE}){_SPACE}{_OF}{_MONEY}"
)
_PERCENT_KIND = (  # "(Per cent)", "(in percent of GDP)", "(y/y, %)", "Variation (Percentage Points)"
    r"\((?:[^()\n0-9%]{0,30}[, \u00a0])??(?:[Ii]n[ \u00a0])?(?:(?P<points>(?i:percentage[ \u00a0]points?"
    r"|ppts?|pp))"
    r"|(?P<basis>(?i:basis[ \u00a0]points?|bps))|(?P<percent>%|(?i:per[ \u00a0]?cent"
    r"|percentage)))(?:[ \u00a0,;][^()\n0-9]{0,40})?\)"
)
_LOOK_BACK = 50  # marks: no table has so many in succession that hold for a single row
_AND_COUNTS = re.compile(r",? and (?:(?!and\b)[a-z]+ ){0,2}?(?P<counted>[a-z]{3,}?)s? ")
_MARK = re.compile(
    numbered("|".join((_UNIT_OF, _IN_SCALE, _MONEY_SCALE, _LETTER_MONEY, _SCALE_MONEY, _PERCENT_KIND)))
)


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
        written = groups_of(match)
        scale = _mark_scale(written)
        mark = ScaleMark(match.start(), match.end(), scale, _mark_unit(written), exceptions, local)
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


def _mark_scale(written: Mapping[str, str]) -> float:
    words = written.get("scale", "").lower().replace("\u00a0", " ").strip("'’‘")
    if words.startswith("000"):
        return 1e3
    scales = (MARK_SCALES.get(word) or scale_of(word) for word in words.removeprefix("100 ").split())
    return math.prod(scales, start=100.0 if words.startswith("100 ") else 1.0)


def _mark_unit(written: Mapping[str, str]) -> str | None:
    for unit, group in (("percentage points", "points"), ("basis points", "basis"), ("%", "percent")):
        if group in written:
            return unit
    return currency_of(written["money"]) if "money" in written else None
