"""Finds amounts written in words: "four per cent", "seven billion crowns", "three fifths"."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from ingestion.language.currencies import CURRENCY_NAME
from ingestion.language.scales import SCALE_WORD
from ingestion.language.units import BASIS, GAP, PERCENT, POINTS
from ingestion.language.vocabulary import either

__all__ = ["NUMBER_WORDS", "Spelled", "find_spelled"]

_ONES = dict(zip("one two three four five six seven eight nine".split(), range(1, 10), strict=True))
_TEEN_WORDS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
_TEENS = dict(zip(_TEEN_WORDS, range(10, 20), strict=True))
_TEN_WORDS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_TENS = dict(zip(_TEN_WORDS, range(20, 100, 10), strict=True))
_PARTS = {
    "half": 2,
    "halves": 2,
    "third": 3,
    "thirds": 3,
    "quarter": 4,
    "quarters": 4,
    "fifth": 5,
    "fifths": 5,
    "sixth": 6,
    "sixths": 6,
    "seventh": 7,
    "sevenths": 7,
    "eighth": 8,
    "eighths": 8,
    "ninth": 9,
    "ninths": 9,
    "tenth": 10,
    "tenths": 10,
}
NUMBER_WORDS = {**_ONES, **_TEENS, **_TENS, "hundred": 100}

_BELOW_HUNDRED = rf"(?:(?:{either(_TENS)})(?:[- ](?:{either(_ONES)}))?|{either(_TEENS)}|{either(_ONES)})"
_CARDINAL = rf"(?:(?:an?|{either(_ONES)})[- ]hundred(?:[- ](?:and[- ])?{_BELOW_HUNDRED})?|{_BELOW_HUNDRED})"
_PART_OF_ONE = r"(?:and (?:a half|a quarter|three[- ]quarters))"
_UNIT = rf"(?:{POINTS}|{BASIS}|{PERCENT}|(?:{SCALE_WORD})\b|{CURRENCY_NAME}(?<=s)\b)"
# What makes a number in words an amount or a duration: bare ones count anything ("the two pillars"), and
# "one" is also a pronoun.
_DURATION = (
    r"(?:[- ](?:working|business|calendar|consecutive|fiscal|financial))?[- ](?:days?|weeks?|months?"
    r"|years?)\b"
)
_AMOUNT = re.compile(
    rf"(?<![\w-])(?P<number>(?P<half>half|(?:a|one)[- ]quarter"
    rf"|three[- ]quarters)(?: of)?(?= (?:an? )?(?:per ?cent|percent))(?: an?)?"
    rf"|(?P<cardinal>{_CARDINAL})(?: (?P<and>{_PART_OF_ONE}))?)"
    rf"(?:(?=(?:(?: to | or | and |-){_CARDINAL})?(?:{GAP}|-){_UNIT})|(?P<duration>(?<!\bone){_DURATION}))",
    re.IGNORECASE,
)
_FRACTION = re.compile(
    rf"(?<![\w-])(?:(?P<above>{either(_ONES)})[- ]"
    rf"(?P<below>{either(part for part in _PARTS if not part.startswith('quarter'))})\b"
    r"|three[- ](?P<quarters>quarters)(?= of (?:the|all|its|their|an?)\b)"
    r"|(?:(?<!first )(?<!second )(?<!latter )(?<!other )(?<!last )(?P<half>half)"
    rf"|an?[- ](?P<one>{either(part for part in _PARTS if not part.endswith('s'))}))(?= of (?:the|all|its"
    rf"|their)\b))",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Spelled:
    """A number in words: text[start:end].

    value: without scale.
    measured: whether a unit, a scale or a currency follows; it is not in the span.
    decimals: digits after the point that the value may have.
    """

    start: int
    end: int
    value: float
    measured: bool
    decimals: int = 0


def find_spelled(text: str) -> Iterator[Spelled]:
    """Amounts, durations and fractions in words, in no order, without overlap.

    Bare counts ("the two pillars") and ordinals are left out.
    """
    amounts: list[tuple[int, int]] = []  # spans, in order and apart
    for match in _AMOUNT.finditer(text):
        amounts.append(match.span())
        yield _amount(match)
    for match in _FRACTION.finditer(text):
        following = bisect_left(amounts, (match.end(),))
        overlaps = following > 0 and amounts[following - 1][1] > match.start()
        if not overlaps:
            yield Spelled(match.start(), match.end(), _fraction(match), False, 2)


def _amount(match: re.Match[str]) -> Spelled:
    if match["cardinal"]:
        whole = _value(match["cardinal"])
    else:
        whole = 0.0
    part = _part_of_one(match["and"] or match["half"] or "")
    decimals = 2 if part else 0
    return Spelled(match.start(), match.end("number"), whole + part, match["duration"] is None, decimals)


def _fraction(match: re.Match[str]) -> float:
    if match["quarters"]:
        above = 3
    elif match["above"]:
        above = _ONES[match["above"].lower()]
    else:
        above = 1
    below = match["below"] or match["quarters"] or match["half"] or match["one"]
    return above / _PARTS[below.lower()]


def _value(words: str) -> float:
    """The value of a cardinal: 125 for "a hundred and twenty-five"."""
    found = [word for word in re.split(r"[- ]", words.lower()) if word != "and"]
    if "hundred" not in found:
        return float(sum(NUMBER_WORDS[word] for word in found))
    rest = sum(NUMBER_WORDS[word] for word in found[2:])
    return float(100 * _ONES.get(found[0], 1) + rest)


def _part_of_one(words: str) -> float:
    words = words.lower()
    if "three" in words:
        return 0.75
    if "quarter" in words:
        return 0.25
    return 0.5 if "half" in words else 0.0
