"""Blanks out what only looks like an amount: years, dates, references, list numbers, notes and keys."""

from __future__ import annotations

import re

from ingestion.language.currencies import DRAWN_SIGNS
from ingestion.language.list_items import NUMBERED_ITEM
from ingestion.language.months import MONTH
from ingestion.language.periods import YEAR, find_periods
from ingestion.language.scales import UNIT_AHEAD
from ingestion.language.sentences import PLACES
from ingestion.language.vocabulary import either
from ingestion.reading.formats import SUFFIXES

__all__ = ["masked"]

_LIST_IN_BRACKETS = r"(?m)^[ \t>]{0,20}+\([0-9]{1,2}\)[ \t]{1,5}+(?=[A-Z][a-z])"
_WHOLE = r"[0-9]{1,4}(?:\.[0-9]{1,3}){0,4}+[A-Za-z]?(?![0-9,.]*[0-9])"
_MORE = (
    rf"(?:[-–][0-9]{{1,4}}+(?![.,]?[0-9])|(?:\s(?:and|to|&)\s)[0-9]{{1,4}}+(?!{UNIT_AHEAD})"
    rf"| of [0-9]{{1,4}}+)?"
)
_REFERENCE = (
    r"\b(?i:tables?|pages?|pp?\.|notes?|sections?|sub-?sections?|articles?|chapters?|box(?:es)?|charts?"
    r"|figures?|paragraphs?|paras?"
    rf"|footnotes?|(?<![.'’])(?:{either(PLACES)})\.|annex(?:ure)?(?:es)?|appendix|schedules?|clauses?"
    rf"|exhibits?|items?|volume)"
    r"(?: No\.)?[ \u00a0]?[(#]?"
    rf"{_WHOLE}{_MORE}(?!{UNIT_AHEAD})"
)
_NAMED_THING = (  # with a capital only: "a group 3 times as large" names nothing
    r"\b(?:Act|Rule|Level|Group|Phase|Stage|Tier|Part|Line|Form|Goal|Step|Basel|SDG|IFRS|IAS|AS|ASC|ASU"
    r"|Topic|Regulation|No\.?|Nos\.|Grade|Class)"
    rf"[ \u00a0][0-9]{{1,4}}(?:-[0-9]{{1,3}})?(?![0-9,.]*[0-9])(?!{UNIT_AHEAD})"
)
_NOT_AMOUNTS = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?:https?://|www\.)\S++|(?<![\w.+-])[\w.+-]++@[\w.-]++",
        rf"(?<![\w.-])[\w.-]+(?i:{either(SUFFIXES)})\b",
        # citation keys, footnote marks
        (
            r"[\[⟦] ?S[0-9]{1,4}(?:-[0-9A-Za-z]{1,12})?(?:[,;] ?S[0-9]{1,4}"
            r"(?:-[0-9A-Za-z]{1,12})?){0,20}+ ?[\]⟧]|\bS[0-9]{1,4}-[0-9a-f]{4,8}\b"
        ),
        r"\[[0-9]{1,3}(?:[,–-] ?[0-9]{1,3}){0,9}+\]",
        rf"(?<=[0-9])\([0-9]{{1,2}}\)(?!{UNIT_AHEAD})",  # "12(1)": a cell and the mark of its note
        # "in May 2016.1 The rate": a sentence's end and the mark of its note
        rf"(?<![0-9.,{DRAWN_SIGNS}]){YEAR}\.[0-9]{{1,2}}(?=\s+[A-Z(“]|\s*\Z)",
        (
            r"(?m)^[ \t]{0,20}[0-9]{1,2} (?=(?:This|These|The|See|In|For|As|It|Includ(?:es|ing)"
            r"|Exclud(?:es|ing)|Data|Based|Sources?|Notes?|Figures|Under|On|At"
            r"|From|After|Before|Since|While|Although|Such|Unless|However|According) [a-z])"
        ),  # the note itself
        # dates, ordinals, section numbers
        (
            rf"\b{MONTH}\.?[ \u00a0]{{1,2}}[0-9]{{1,2}}(?:st|nd|rd|th)?(?:[-–][0-9]{{1,2}})?(?![0-9]"
            rf"|[.,][0-9])(?!{UNIT_AHEAD})"
        ),
        (
            rf"(?<![0-9.,$])[0-3]?[0-9](?:[-–][0-3]?[0-9])?(?:st|nd|rd|th)?[ \u00a0]{{1,2}}{MONTH}"
            rf"|[0-3]?[0-9]-{MONTH}-(?:20)?[0-9]{{2}}"
        ),
        (
            rf"(?<![0-9./-]){YEAR}-[01][0-9]-[0-3][0-9](?![0-9])"
            rf"|(?<![0-9./])[0-9]{{1,2}}([/.])[0-9]{{1,2}}\1(?:19|20)?[0-9]{{2}}(?![0-9])"
        ),
        r"(?<![0-9.,])[0-9]{1,4}(?:st|nd|rd|th)\b",
        # the second year of "2022-2021", the head of a change
        rf"(?<=\b{YEAR})[-–]{YEAR}(?![0-9%]|[.,][0-9])",
        r"(?<![0-9.])[0-9]{1,3}(?:\.[0-9]{1,3}){2,6}+\.?(?![0-9])",
        # list numbers, "10-K", times of day, "COVID-19"
        _LIST_IN_BRACKETS,
        rf"{NUMBERED_ITEM}|(?<=: )[0-9]{{1,3}}\. (?=[A-Z])",
        r"(?<![0-9])[0-9]{1,2}-[A-Z]\b|(?<![0-9:.,])[0-9]{1,2}:[0-5][0-9](?![0-9])",
        rf"(?<=[A-Za-z])[-\u2011][0-9]{{1,4}}+(?![.,]?[0-9])(?!{UNIT_AHEAD})",
        _REFERENCE,
        _NAMED_THING,
    )
)


def masked(text: str) -> str:
    """The text, at equal length, with everything that only looks like an amount blanked out."""
    periods = find_periods(text)
    for pattern in _NOT_AMOUNTS:
        text = pattern.sub(lambda match: "\0" * len(match[0]), text)
    characters = list(text)
    for period in periods:
        characters[period.start : period.end] = "\0" * (period.end - period.start)
    return "".join(characters)
