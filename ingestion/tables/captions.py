"""Finds captions and units of tables by their wording and their place above the heads."""

from __future__ import annotations

import re

from ingestion.language.currencies import CURRENCY, CURRENCY_NAME, DRAWN_SIGNS
from ingestion.language.numbers import stated_mark
from ingestion.language.scales import LETTER_SCALE, SCALE_WORD, SHORT_SCALE, WHOLE_SCALE
from ingestion.language.sentences import sentences
from ingestion.tables.columns import row_values
from ingestion.tables.lines import Lines

__all__ = ["CAPTION", "NOTE", "bracketed_units", "caption_of", "is_bare_unit", "is_unit"]

# What is numbered is a caption: "Table 1.2.4", "Annex III", "Schedule B".
CAPTION = re.compile(
    r"(?i:table|chart|figure|exhibit|schedule|annex(?:ure)?|box|statement"
    r"|appendix)\s+(?:[A-Z]{0,3}[.\-–]?\d|[IVXLC]+\b|[A-Z]\b)"
)
NOTE = re.compile(r"(?i)(?:sources?|notes?|memo(?:randum)?)\s*:|\*+\s?\w|\([a-z\d]{1,2}\)\s")
NAVIGATION = re.compile(r"(?i)(?:table of contents|index|contents|back to contents)")
_AMOUNT = (
    rf"(?:{WHOLE_SCALE}s?|{SHORT_SCALE}(?![a-z])|per ?cent(?:age)?s?|basis points|{CURRENCY_NAME}"
    rf"|[a-z]{{0,3}}[{DRAWN_SIGNS}]\s?(?:'?000s?|{LETTER_SCALE}(?![a-z])|{SCALE_WORD})?|{CURRENCY}|'000s?|%"
    r"|percentage points|unless otherwise)"
)
_OF_ALL = rf"(?:all |{CURRENCY_NAME} |currency |tabular )?"
_AMOUNTS = rf"(?:amounts?|figures|values|{CURRENCY_NAME})"
_OPENING = rf"(?:{_OF_ALL}{_AMOUNTS}?\s*(?:are )?(?:expressed |stated |shown |presented )?in\s+)"
OPENING = re.compile(rf"(?i)[(\[]?{_OPENING}")
UNIT = re.compile(
    rf"(?i)[(\[]?\s*(?:unaudited\s*[;,)]\s*[(]?)?(?:{_OPENING}(?:[\w.{DRAWN_SIGNS}'-]+ "
    rf"(?:of )?){{0,2}}?{_AMOUNT}|{_AMOUNT}|as a (?:%|per ?cent))",
)
IN_UNIT = re.compile(rf"(?i)^[(\[].*?\bin (?:[\w.{DRAWN_SIGNS}'-]+ (?:of )?){{0,2}}?{_AMOUNT}(?!\w)")
_BARE = rf"{_AMOUNT}(?: (?:of [\w ]{{2,30}}|(?:in )?{_AMOUNT}))?"
BARE_UNIT = re.compile(rf"(?i){_BARE}\.?|(?:annual|year-on-year) per ?cent(?:age)? changes?")
# A unit on a line of its own may name any currency, and may say more after a comma: "Crowns million", "Per
# cent of GDP, unless stated otherwise". It does not begin with a small letter, as the end of a sentence does:
# "millions, except per share data):".
UNIT_LINE = re.compile(
    rf"(?![^\W\d_A-Z])(?i:{_BARE}|(?:[^\W\d_]+ ){{1,2}}{SCALE_WORD})(?:[,;] [^.:\d]{{2,80}})?"
)
OPENS_UNIT = re.compile(rf"(?i)[(\[]|in\b|{_OF_ALL}{_AMOUNTS}\b")
INTRODUCTION = re.compile(
    r"(?i)\b(?:following|accompanying) (?:table|schedule|statement|chart)|\btable (?:below|that follows)",
)
IN_BRACKETS = re.compile(r"\(([^()]{2,90})\)")
# The widest gaps, in line heights: between heads and caption, between lines of a caption, and between lines
# of a paragraph.
CAPTION_GAP = 3.6
TITLE_GAP = 1.6
PARAGRAPH_GAP = 0.55
# The most lines, words and characters of a caption or a unit.
MOST_CAPTION_LINES = 4
MOST_CAPTION_WORDS = 22
LONGEST_INTRODUCTION = 400
MOST_UNIT_WORDS = 16
LONGEST_BARE_UNIT = 120
LONGEST_UNIT = 160


def is_unit(text: str) -> bool:
    """Whether a text says in what unit the figures are given: "(in millions)", "Per cent", "$m"."""
    if not OPENS_UNIT.match(text):
        return is_bare_unit(text)
    if len(text.split()) > MOST_UNIT_WORDS:
        return False
    if UNIT.match(text):
        return True
    if text.strip("()'’‘s") == "000":
        return False  # it may be of a single column: "Shares bought (000's)"
    return bool(IN_UNIT.search(text[:LONGEST_UNIT])) or _is_mark(text)


def is_bare_unit(text: str) -> bool:
    """Whether a text is nothing but a unit, which may be the head of a single column: "Per cent", "$m"."""
    if len(text) > LONGEST_BARE_UNIT:
        return False
    if BARE_UNIT.fullmatch(text) or UNIT_LINE.fullmatch(text):
        return True
    return not OPENS_UNIT.match(text) and _is_mark(text)


def _is_mark(text: str) -> bool:
    """Whether all of a text is a mark of a scale, or what follows its opening: "Figures in MMUS$"."""
    mark = stated_mark(text)
    if mark is None:
        return False
    opening = OPENS_UNIT.match(text) and OPENING.match(text)
    if opening and mark.start <= opening.end() < mark.end:
        return True
    return mark.end - mark.start >= len(text.strip("()[] ."))


def caption_of(lines: Lines, top: int, floor: int) -> tuple[str, list[str], int]:
    """Returns the caption above the heads of a table, its units, and the number of its first line.

    The units stand in lines of their own or in brackets.

    top: number of the first line of the heads.
    floor: number of the first line that may belong to the caption.
    """
    texts = list[str]()
    units = list[str]()
    start = top
    while start > floor and top - start < MOST_CAPTION_LINES + 1:
        line = lines[start - 1]
        text = line.text
        widest = TITLE_GAP if texts else CAPTION_GAP
        if lines[start].y0 - line.y1 > widest * line.height or NAVIGATION.fullmatch(text):
            break
        if row_values(line):
            break
        sentence, begun = _introduction(lines, start, floor) if text.endswith((":", ".")) else ("", start)
        if is_unit(text):
            units.insert(0, text)
        elif not texts and (text.endswith(":") or INTRODUCTION.search(sentence)):
            return sentence, [*units, *bracketed_units(sentence)], begun
        elif _is_prose(text) or (texts and text.endswith(":")) or len(texts) == MOST_CAPTION_LINES:
            break
        else:
            texts.insert(0, text)
        start -= 1
        if CAPTION.match(text):
            break
    caption = " ".join(texts)
    last = caption.rpartition(", ")[2]  # "Main aggregates, per cent of GDP"
    return caption, [*units, *bracketed_units(caption), *filter(is_bare_unit, [last])], start


def _is_prose(text: str) -> bool:
    is_sentence = text.endswith((".", ";")) and not CAPTION.match(text)
    return is_sentence or len(text.split()) > MOST_CAPTION_WORDS


def _introduction(lines: Lines, start: int, floor: int) -> tuple[str, int]:
    """Returns the sentence that ends above lines[start], and the number of its first line."""
    text = ""
    while start > floor and len(text) < LONGEST_INTRODUCTION:
        line = lines[start - 1]
        if text and lines[start].y0 - line.y1 > PARAGRAPH_GAP * line.height:
            break
        text = f"{line.text} {text}".strip()
        start -= 1
        *before, sentence = sentences(text) or [text]
        if before:
            return sentence, start
    return text, start


def bracketed_units(text: str) -> list[str]:
    """Returns the units that stand in brackets in a text: "From (per cent)"."""
    bracketed = [match.group() for match in IN_BRACKETS.finditer(text)]
    return list(filter(is_unit, bracketed))
