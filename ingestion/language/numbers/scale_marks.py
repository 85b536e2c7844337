"""Finds the lines and heads that give bare cells their scale and unit, such as "(in millions)"."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from ingestion.language.currencies import (
    CODES,
    CURRENCY,
    CURRENCY_NAME,
    DRAWN_SIGNS,
    LETTERS,
    LOCAL,
    SIGNS,
    currency_of,
)
from ingestion.language.numbers.figures import find_figures
from ingestion.language.numbers.not_amounts import masked
from ingestion.language.scales import MARK_SCALE, SCALE_WORD, TOUCHING_SCALE, WHOLE_SCALE, ZEROS, scale_of
from ingestion.language.vocabulary import either, groups_of, numbered

__all__ = [
    "ScaleMark",
    "scale_marks",
    "stated_mark",
]

_SPACE = "[ \u00a0]"
# "In" before a unit, in the languages of such lines.
_IN = "w|v|ve|u|i|în|di|dalam|på|в|у|на|σε"
# What a scale may touch that is no code: no capitals alone, which make other words ("TBD").
_TOUCHED = [
    *SIGNS,
    "DH",
    *(word for word in LOCAL if len(word) > 1 and not (word.isascii() and word.isupper())),
]
_LOCAL = either(word for word in LOCAL if len(word) > 1)
# Of scripts without blanks between words.
_UNSPACED = either(word for word in LOCAL if "\u0e00" <= word[0] < "\u0e80" or word[0] > "\u2e80")
_SINGLE = either([*LETTERS, *(word for word in LOCAL if len(word) == 1)])
# A letter is a currency where a scale follows it: "Rm", "N’million"; "Km" is a length.
_LETTER = (
    rf"(?:{_SINGLE})(?<!K(?=m\b))"
    rf"(?=['’]|{_SPACE}?\(?(?:(?i:{SCALE_WORD}|(?=\w{{3}})(?:{MARK_SCALE}))\b|['’‘]?000\b)|m\b)"
)
# "Dh." and "Shs.", but no word that ends a sentence.
_SMALL = r"[^\W\d_A-Z]"
_STOP = rf"(?:(?:(?<=\b\w{_SMALL})|(?<=\b\w\w{_SMALL})|(?<=\b\w{{3}}{_SMALL}))\.)?"
_MONEY = (
    rf"(?P<money>{CURRENCY}|(?<![^\W_])(?:(?:{_LOCAL})(?!\.?{_SPACE}?['’]?[tTkKbB]\b)|{_LETTER})"
    rf"|(?i:\b{CURRENCY_NAME})|{_UNSPACED}){_STOP}"
)
_SCALE = rf"(?i:{MARK_SCALE}|['’‘]?000['’]?s?)"
_PLURAL_SCALE = rf"(?i:lakh crores?|{WHOLE_SCALE}s|000['’]?s)"
_OF = rf"(?:(?:of|de|di|da|von){_SPACE}|d['’])?"
_NEW_HEAD = rf"(?<=\b(?:19|20)[0-9]{{2}}{_SPACE})"  # "2024 NOK mill."
_LINE_ENDS = rf"(?=\.?{_SPACE}?\)|\.?{_SPACE}?(?:[\r\n:,]|\Z| > ))"
_NO_LETTER = r"(?![^\W\d_])"
# Between a scale and the currency behind it: "Mio. €", "millions of euros", "'000 (RM)", "thousands, EUR".
_THEN_MONEY = (
    rf"(?:\.?(?:{_SPACE}{_OF}|,{_SPACE}|{_SPACE}?\(|(?<=[.0'’])|(?<=\w|[\u0e00-\u0e7f])"
    rf"(?=[{DRAWN_SIGNS}]|{_UNSPACED})){_MONEY}\)?"
    rf"|{_SPACE}\(?(?P<money>{_SINGLE})(?=[)\]\r\n]|\Z|{_SPACE}unless\b)\)?)"
)
# Between a currency and its scale: "RM million", "$'000", "Rs. (in lakh)".
_THEN_SCALE = (
    rf"(?:{_SPACE}?['’‘]|{_SPACE}?[(\[](?![A-Za-z][)\]])(?:in{_SPACE})?|{_SPACE}"
    rf"|,{_SPACE}(?={_SCALE}{_LINE_ENDS}))?"
)
# What may follow a unit on its line: the heads of columns, a second unit, exceptions.
_UNIT_ENDS = (
    rf"(?={_SPACE}?(?:[)\]\r\n,;:]|\Z|\.?\Z|\.\s| > )"
    rf"|{_SPACE}(?:\(|(?i:unless|except|olarak)\b|(?:19|20)[0-9]{{2}}\b"
    rf"|[A-Z]{{1,2}}[0-9]|[0-9][QHM]|[0-9]{{1,2}}[./]))"
)
# "in millions", "dollars in millions", "in thousands of U.S. dollars", "in RM million", "Rs. in crore"
_IN_SCALE = (
    rf"(?:{_MONEY}(?: and shares)?{_SPACE})?\b(?P<before>[Ii][Nn]|[Ee][Nn]|[Ee][Mm]){_SPACE}"
    rf"(?:{_MONEY}{_SPACE}?)?"
    # "in TN": a state
    rf"(?P<scale>{_PLURAL_SCALE}|(?!TN\b)(?i:{SCALE_WORD}|mm){_LINE_ENDS}"
    rf"|{_SCALE}(?={_THEN_MONEY}))"
    rf"{_NO_LETTER}(?:{_THEN_MONEY}|(?!{_SPACE}of\b))"
)
_MONEY_SCALE = (  # "RM million", "(₹ Lakh crore)", "$m", "US$ bn", "NOK mill.", "$'000", "N’million"
    rf"(?<![0-9])(?:(?<![0-9]{_SPACE})|{_NEW_HEAD}){_MONEY}{_THEN_SCALE}(?P<scale>{_SCALE})"
    # "crowns million, nominal value", but no amount: "Rm 204"
    rf"(?!\.?{_SPACE}?(?!(?<={_SPACE})(?:19|20)[0-9]{{2}}\b(?![.,][0-9]))[0-9])"
    rf"(?![^\W_]|\.[^\W_]|,(?!{_SPACE}[a-z]))"
)
_LETTER_MONEY = (  # "MSEK", "kEUR", "TCHF", "T€", "MMUS$", "eFt"
    rf"(?<![^\W_])(?P<scale>{TOUCHING_SCALE})"
    rf"(?P<money>{either(CODES)}|{either(_TOUCHED)}|[{DRAWN_SIGNS}]|[Kk]r\b)"
    rf"(?![^\W_]|{_SPACE}?[0-9])"
)
_SCALE_MONEY = (  # "(million crowns)", "Millions of dollars" at the start of a line, "Mio. €", "(000s)"
    rf"(?:(?<=[(\[])|(?<=\n)|(?<=> )|{_NEW_HEAD}|(?<=[:;,|/–—-] )|(?<=[:：])|\A"
    rf"|(?<!\w)(?P<before>{_IN}){_SPACE})(?P<scale>{_SCALE}){_THEN_MONEY}"
    rf"{_UNIT_ENDS}|\((?P<scale>(?i:{SCALE_WORD}))\)"
    r"|\((?i:in )?(?P<scale>['’‘]?000['’]?s?)\)"
)
_ONES = r"1(?:[.,'’ \u00a0\u2009\u202f]?000){1,2}"
_ONES_MONEY = rf"(?:{_MONEY}{_SPACE}?(?P<scale>{_ONES})|(?P<scale>{_ONES}){_SPACE}?{_MONEY})"
_THOUSANDS = (  # "NOK 1 000", "Investments (1.000 EUR)", "Amounts in CHF 1'000": no amount in a text
    rf"(?:(?:(?<=\n)|(?<=> )|\A|(?<!\w)(?P<before>[Ii][Nn]|{_IN}){_SPACE}){_ONES_MONEY}{_UNIT_ENDS}"
    rf"|(?<=\(){_ONES_MONEY}(?=\){_SPACE}?(?:[\r\n]|\Z)))"
)
_UNIT_OF = (  # "Unit: 100 million yen"
    rf"(?i:\bunits?:){_SPACE}?(?P<scale>{_SCALE}){_SPACE}{_OF}{_MONEY}"
)
_PERCENT_KIND = (  # "(Per cent)", "(in percent of GDP)", "(y/y, %)", "Variation (Percentage Points)"
    r"\((?:[^()\n0-9%]{0,30}[, \u00a0])??(?:[Ii]n[ \u00a0])?(?:(?P<points>(?i:percentage[ \u00a0]points?"
    r"|ppts?|pp))"
    r"|(?P<basis>(?i:basis[ \u00a0]points?|bps))|(?P<percent>%|(?i:per[ \u00a0]?cent"
    r"|percentage)))(?:[ \u00a0,;][^()\n0-9]{0,40})?\)"
)
_AND_COUNTS = re.compile(r",? and (?:(?!and\b)[a-z]+ ){0,2}?(?P<counted>[a-z]{3,}?)s? ")
_MARK = re.compile(
    numbered(
        "|".join((_UNIT_OF, _THOUSANDS, _IN_SCALE, _MONEY_SCALE, _LETTER_MONEY, _SCALE_MONEY, _PERCENT_KIND))
    )
)

_POINTS = re.compile(r"(?i)(?<![0-9])(?<![0-9] )(?:percentage|per ?cent|%)[\s-]points?|\bppts?\b|\bpp\b")
_BASIS_POINTS = re.compile(r"(?i)(?<![0-9] )\bbasis points?\b|\bbps\b")
_PERCENT = re.compile(r"(?i)(?<![0-9])(?<![0-9] )(?:%|\bper ?cent(?:age)?s?\b)")
_KINDS = (("percentage points", _POINTS), ("basis points", _BASIS_POINTS), ("%", _PERCENT))
# "Population mln", "GDP, bln", "Loans (mln EUR)", "'000 tonnes", "Thousand lines": a name states its scale in
# brackets, at its end, as zeros or before one word. "Dr" and "Cr" are no scales.
_OF_MONEY = rf"\.?\s?(?:of )?(?-i:{_MONEY})(?![^\W\d_])"
_BARE_SCALE = re.compile(
    numbered(
        rf"(?:(?<=[(,\s])|\A)(?-i:(?!TN\b))(?!crs?\b(?!{_OF_MONEY}))"
        rf"(?:(?P<word>{SCALE_WORD})(?=\.?\s?(?:[),;]"
        rf"|\Z|{_OF_MONEY}))|(?P<word>(?<=\(){SCALE_WORD})\b"
        rf"|(?P<word>{WHOLE_SCALE}s)(?= of\b))|(?<![0-9,.]){ZEROS}|\A(?P<word>{WHOLE_SCALE}) [a-z]+\Z"
    ),
    re.IGNORECASE,
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
    marks = list[ScaleMark]()
    read = 0
    for match in _MARK.finditer(text):
        if match.start() < read:
            continue
        read = match.end()
        line, broken, _ = text[read : read + 300].partition("\n")
        until = read + len(line) if broken and re.search("[0-9]", masked(line)) else None
        exceptions = "except" in line[:80].lower()
        mark = ScaleMark(match.start(), read, *_scale_and_unit(match), exceptions, until)
        if marks and marks[-1].unit and (counts := _AND_COUNTS.fullmatch(text, marks[-1].end, match.start())):
            mark = replace(mark, money=marks[-1], counted=counts["counted"])
        marks.append(mark)
        if exceptions:
            # "in millions, except shares, which are in thousands": the second scale is for the exceptions.
            read += len(line.partition(")")[0])
    return marks


def _scale_and_unit(match: re.Match[str]) -> tuple[float, str | None]:
    written = groups_of(match)
    money = written.get("money")
    unit = (currency_of(money) or None) if money else None
    words = written.get("scale", "").replace("\u00a0", " ").strip(" '’‘")
    beside = [money, unit]
    if not re.search(rf"{re.escape(words)}\.", match.string[match.start() : match.end() + 1]):
        scale_first = re.search(rf"\b{re.escape(words)} (?:de )?\S*\Z", match[0])
        beside += [written.get("before"), "before" if scale_first else None]  # what no stop shortens
    if words.startswith("1"):
        scale = float("".join(filter(str.isdigit, words)))
    else:
        scale = scale_of("thousand" if words.startswith("000") else words, *filter(None, beside))
    for kind, group in (("percentage points", "points"), ("basis points", "basis"), ("%", "percent")):
        if group in written:
            return scale, kind
    return scale, unit


def stated_mark(text: str) -> ScaleMark | None:
    """The scale, else the percentage kind, that a head, a label or a line of units states.

    "3.5% notes" and "5 million people" state none.
    """
    scales = [mark for mark in scale_marks(text) if mark.scale > 1] or _bare_scales(text)
    if scales:
        return scales[-1]
    kinds = ((unit, pattern.search(text)) for unit, pattern in _KINDS)
    return next((ScaleMark(*match.span(), 1.0, unit) for unit, match in kinds if match), None)


def _bare_scales(text: str) -> list[ScaleMark]:
    found = list(_BARE_SCALE.finditer(text))
    amounts = find_figures(text) if found else []  # "one million", "30-40 thousand" are amounts of their own
    marks = list[ScaleMark]()
    for match in found:
        if not any(amount.start <= match.start() < amount.end for amount in amounts):
            written = groups_of(match)
            unit = currency_of(written["money"]) if "money" in written else None
            scale = scale_of(written.get("word", "thousand"), *filter(None, [unit]))
            marks.append(ScaleMark(*match.span(), scale, unit or None))
    return marks
