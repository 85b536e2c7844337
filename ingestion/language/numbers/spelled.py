"""Finds amounts written in words: "four per cent", "seven billion crowns", "three fifths"."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

from ingestion.language.currencies import CURRENCY_NAME
from ingestion.language.scales import BASIS, GAP, PERCENT, POINTS, SCALE_WORD
from ingestion.language.vocabulary import either

__all__ = ["NUMBER_WORDS", "Spelled", "find_spelled"]

_SMALL = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen eighteen nineteen"
).split()
_ONES, _TEENS = _SMALL[:9], _SMALL[9:]
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_PART_WORDS = "half third quarter fifth sixth seventh eighth ninth tenth".split()
_PARTS = {word: number for number, word in enumerate(_PART_WORDS, 2)}
NUMBER_WORDS = {
    **{word: number for number, word in enumerate(_SMALL, 1)},
    **{word: 10 * number for number, word in enumerate(_TENS, 2)},
    "hundred": 100,
}

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
    rf"(?i)(?<![\w-])(?P<number>(?P<half>half|(?:a|one)[- ]quarter"
    rf"|three[- ]quarters)(?: of)?(?= (?:an? )?(?:per ?cent|percent))(?: an?)?"
    rf"|(?P<cardinal>{_CARDINAL})(?: (?P<and>{_PART_OF_ONE}))?)"
    rf"(?:(?=(?:(?: to | or | and |-){_CARDINAL})?(?:{GAP}|-){_UNIT})|(?P<duration>(?<!\bone){_DURATION}))",
)
_FRACTION = re.compile(
    rf"(?i)(?<![\w-])(?:(?:{either(_ONES)})[- ](?:(?:{either(set(_PARTS) - {'quarter'})})s?|halves)\b"
    r"|three[- ]quarters(?= of (?:the|all|its|their|an?)\b)"
    r"|(?:(?<!first )(?<!second )(?<!latter )(?<!other )(?<!last )half"
    rf"|an?[- ](?:{either(_PARTS)}))(?= of (?:the|all|its|their)\b))",
)


class Spelled(NamedTuple):
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
        part = match["and"] or match["half"]
        value = _value(match["cardinal"] or "") + (_fraction(part) if part else 0.0)
        measured = match["duration"] is None
        yield Spelled(match.start(), match.end("number"), value, measured, 2 if part else 0)
    for match in _FRACTION.finditer(text):
        following = bisect_left(amounts, (match.end(),))
        overlaps = following > 0 and amounts[following - 1][1] > match.start()
        if not overlaps:
            yield Spelled(match.start(), match.end(), _fraction(match[0]), False, 2)


def _fraction(words: str) -> float:
    """The value of "half", "a quarter", "and three quarters" or "two fifths"."""
    above, _, part = words.lower().replace("-", " ").rpartition(" ")
    below = part.replace("halves", "half").removesuffix("s")
    return (_value(above) or 1.0) / _PARTS[below]


def _value(words: str) -> float:
    """The value of a cardinal, 125 for "a hundred and twenty-five"; 0 without a number."""
    value = 0.0
    for word in re.split("[- ]", words.lower()):
        if word == "hundred":
            value = 100 * (value or 1)
        else:
            value += NUMBER_WORDS.get(word, 0)
    return value
