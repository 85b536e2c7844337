"""Decides how figures are written in one place, and rewrites them in the one form that `figures` reads.

"1.234,56" can only be read in one way. "1.234" can be read in two: the other figures of its column decide,
else those of its table, else those of its page. Where they do not, or contradict each other, nothing is
decided.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ingestion.language.language_detection import is_foreign
from ingestion.language.periods import YEAR
from ingestion.language.scales import BARE_LETTER_SCALE, MINUS, SPACE, UNIT_AHEAD
from ingestion.records import Table

__all__ = [
    "BEHIND",
    "CLOSING",
    "DOUBTED",
    "NUMERAL",
    "OPENING",
    "SIDES",
    "SURE",
    "TRIANGLES",
    "UNDECIDED",
    "NumberStyle",
    "cell_in_english",
    "in_english",
    "own_style",
    "page_style",
    "table_styles",
]

# Blanks and apostrophes that always set thousands apart.
_APART = "'’\u00a0\u2007\u2008\u2009\u200a\u202f"
# The digits of one number with their separators; a pattern with named groups.
NUMERAL = (
    rf"(?:(?P<apart>[1-9][0-9]{{0,2}}(?:[{_APART}][0-9]{{3}})++(?:[.,·][0-9]++)?(?![0-9]))"
    r"|(?P<commas>[1-9][0-9]{0,2}(?:,[0-9]{3})++(?:[.·][0-9]++)?(?![0-9]))"
    r"|(?P<points>[1-9][0-9]{0,2}(?:\.[0-9]{3})++(?:,[0-9]++)?(?![0-9]))"
    r"|(?P<lakhs>[1-9][0-9]?(?:,[0-9]{2}(?=,))++,[0-9]{3}(?:\.[0-9]++)?(?![0-9]))"
    r"|(?P<plain>(?:0|[1-9][0-9]*+)(?:[.,·][0-9]++)?))"
)
TRIANGLES = "△▲▽▼"
OPENING, CLOSING = "<‹〈⟨＜", ">›〉⟩＞"
SIDES = r"(?:CR|DR|Cr|Dr)\b\.?"
# How a rewritten text marks a figure: negative for certain, by what stands before or behind it, or of a sign
# that cannot be told. No text has these characters: they are none.
SURE, BEHIND, DOUBTED = "\ufdd0", "\ufdd1", "\ufdd2"

_NO_DIGIT = re.compile("[^0-9]")
_FOUND = re.compile(rf"(?<![0-9])(?<![0-9][.,]){NUMERAL}(?![.,]?[0-9])(?P<ahead>(?={UNIT_AHEAD}))?+")
_SPACED = re.compile(rf"(?<![0-9.,{_APART}])[0-9]{{1,3}}(?: [0-9]{{3}})++(?![0-9])")
_YEAR = re.compile(YEAR)
_BETWEEN = rf"[^\s\d{OPENING}{CLOSING}()\[\]]{{0,4}} ?"  # a currency between a sign and its digits
_TRIANGLE = re.compile(rf"[{TRIANGLES}](?={SPACE}?{_BETWEEN}\.?[0-9])")
_LEGEND = re.compile(
    rf"(?i)[{TRIANGLES}](?!{SPACE}?{_BETWEEN}\.?[0-9])[^.\n]{{0,60}}"
    r"\b(?:loss|negative|minus|deficit|decrease)",
)
_OTHER_MINUS = re.compile(rf"(?<![\w)])(?:[{MINUS}]|\()[0-9]")
_INSIDE = rf"{_BETWEEN}[0-9][0-9.,{_APART} ]*%?"
_IN_ANGLES = re.compile(rf"[{OPENING}](?P<inside>{_INSIDE})[{CLOSING}]")
_IN_SQUARES = re.compile(rf"\s*\[{_INSIDE}\][\s%]*")
_SQUARE_LEGEND = re.compile(r"(?i)\bsquare brackets\b|\[\s*\](?!\()")
_MINUS_BEHIND = re.compile(rf"(?<=[0-9%])[{MINUS}](?=\s*%?\s*\Z)")
_WHOLE_CROWNS = re.compile(r"(?<=[0-9]),[-–—]{1,2}(?!\w)")  # "kr 13 125,-"
# "5.0p" is provisional. "x" and the letters of scales are units.
_MARK_BEHIND = re.compile(rf"(?<=[0-9%])(?!{BARE_LETTER_SCALE}|x)[a-z](?=\s*\Z)")
_SIDE = re.compile(rf"(?<=[0-9) ]){SIDES}")
_DEBIT = re.compile(rf"[0-9]\)?{SPACE}?(?:DR|Dr)\b|\b[Dd]ebits?\b")
_INDIAN = re.compile(r"[₹`]|\b(?:Rs|INR|[Rr]upees?|[Ll]akhs?|[Cc]rores?)\b")
_MAJORITY = 4
_FEWEST = 2  # figures that show by their company alone that a mark sets thousands apart


@dataclass(frozen=True, slots=True)
class NumberStyle:
    """How figures are written in one place.

    decimal: "." or ",", "" where nothing decides.
    spaces: whether plain blanks set thousands apart.
    credits: whether "CR" is a side of an account and no crore.
    squares: whether square brackets make a figure negative.
    arrows: whether triangles say in which direction something went; else they are a minus.
    tables: whether the text has cells side by side that are known.
    cells: (as printed, rewritten) of a page's cells that are not read as its sentences are, longest first.
    """

    decimal: str = ""
    spaces: bool = False
    credits: bool = False
    squares: bool = False
    arrows: bool = False
    tables: bool = False
    cells: tuple[tuple[str, str], ...] = ()


UNDECIDED = NumberStyle()


# ---------------------------------------------------------------- rewriting


def in_english(text: str, style: NumberStyle) -> str:
    """A text of equal length whose figures have commas between thousands and a decimal point, and their
    signs where `figures` looks for them.

    What may be read in two ways stays as it is where the style decides nothing.
    """
    if not style.cells:
        return _rewritten(text, style)
    rewritten = dict(style.cells)
    parts = _cells_pattern(style.cells).split(text)  # every other one is a cell
    return "".join(rewritten[part] if at % 2 else _rewritten(part, style) for at, part in enumerate(parts))


@lru_cache(maxsize=64)
def _cells_pattern(cells: Sequence[tuple[str, str]]) -> re.Pattern[str]:
    either = "|".join(re.escape(printed) for printed, _ in cells)
    return re.compile(rf"(?<![\w.,])({either})(?!\w|[.,][0-9])")


def cell_in_english(text: str, style: NumberStyle) -> str:
    """The same for the text of a cell, which has more ways to write a sign than a sentence."""
    if style.spaces:
        text = _unspaced(text)
    if _IN_SQUARES.fullmatch(text):
        mark, closing = (SURE, BEHIND) if style.squares else (DOUBTED, " ")
        text = text.replace("[", mark).replace("]", closing)
    text = _MARK_BEHIND.sub(" ", text)
    text = _MINUS_BEHIND.sub(BEHIND, text)
    if style.credits:
        # A credit has no sign; a debit may be less than zero or not.
        text = _SIDE.sub(lambda side: (DOUBTED if side[0][0] == "D" else " ").ljust(len(side[0])), text)
    return _rewritten(text, style, cell=True)


def _rewritten(text: str, style: NumberStyle, *, cell: bool = False) -> str:
    text = _IN_ANGLES.sub(rf"{SURE}\g<inside>{BEHIND}", text)
    if not text.isascii():
        up, down = (" ", DOUBTED) if style.arrows else (SURE, SURE)
        text = _TRIANGLE.sub(lambda found: up if found[0] in "△▲" else down, text)
    text = _WHOLE_CROWNS.sub(lambda found: " " * len(found[0]), text)
    return _FOUND.sub(lambda numeral: _numeral(numeral, style.decimal, cell=cell), text)


def _numeral(match: re.Match[str], decimal: str, *, cell: bool) -> str:
    """A numeral with commas between thousands and a decimal point."""
    written = match[0]
    form, last = _form(match)
    if not last or (form == "?" and not decimal):
        return written
    if form == "," and match["plain"] and decimal != ",":
        # "3,4" may be two numbers
        is_one = (cell and not decimal) or match["ahead"] is not None or written[0] == "0"
        if not is_one:
            return written
    whole, _, decimals = written.rpartition(last)
    if last == (decimal if form == "?" else form):
        return f"{_NO_DIGIT.sub(',', whole)}.{decimals}"
    return _NO_DIGIT.sub(",", written)


def _form(match: re.Match[str]) -> tuple[str, str]:
    """(the decimal mark that a numeral must be read with, its last mark).

    The first is "?" where the mark may as well set thousands apart, "" where it shows none.
    """
    marks = _NO_DIGIT.findall(match[0])
    last = marks[-1] if marks else ""
    if last == "·":  # a raised point is a decimal point
        return last, last
    if match["plain"] or match["apart"]:
        return last if last in (".", ",") else "", last
    if len(marks) == 1:
        return "?", last
    return "," if match["points"] else ".", last


# ---------------------------------------------------------------- deciding


def _evidence(texts: Iterable[str], *, cells: bool) -> Counter[str]:
    """How many figures of some texts have each form: "?." and "?," may be read in two ways.

    "3,4" may be two numbers of notes, and "3.4" outside of a cell the number of a section: they are counted
    apart, as "short," and "short.", and in English sentences the former not at all. "3" and "4" count whole
    numbers of three digits and of more.
    """
    found: Counter[str] = Counter()
    for text in texts:
        for match in _FOUND.finditer(text):
            form, last = _form(match)
            length = len(match[0])
            if not last and length >= 3 and not _YEAR.fullmatch(match[0]):
                found["3" if length == 3 else "4"] += 1
            is_short = match["plain"] and length <= 5 and match[0][0] != "0" and match["ahead"] is None
            if is_short and not (cells and form == "."):
                form = f"short{form}"
            found[form + last if form == "?" else form] += 1
        if not cells and found["short,"] and not is_foreign(text):
            del found["short,"]
    return found


def _decided(found: Counter[str]) -> str:
    """The decimal mark that figures show, "" where they show none or contradict each other."""
    points = found["."] + (0 if found["?."] else found["short."])
    commas = found[","] + (0 if found["?,"] else found["short,"])
    if not points and not commas and found["?."] and found["?,"]:
        points, commas = found["?,"], found["?."]
    if points > _MAJORITY * commas:
        return "."
    return "," if commas > _MAJORITY * points else ""


def _by_company(found: Counter[str]) -> str:
    """The decimal mark, where one mark stands only in figures of four digits and more and all others have
    three at most: "1.234" beside "567".
    """
    if not found["3"] or found["4"] or found["."] or found[","]:
        return ""
    if found["?,"] and not found["?."]:
        return "."
    return "," if found["?."] >= _FEWEST and not found["?,"] else ""


@lru_cache(maxsize=256)
def own_style(text: str) -> NumberStyle:
    """The style of a text that stands alone, such as an answer."""
    return NumberStyle(_decided(_evidence([text], cells=False)), arrows=_are_arrows(text))


def page_style(text: str, tables: Sequence[Table] = ()) -> NumberStyle:
    """The style of a page's sentences, with its cells."""
    columns = list[tuple[list[str], NumberStyle]]()
    for table in tables:
        columns += zip(_columns(table), table_styles(table, text), strict=True)
    printed = [cell for texts, _ in columns for cell in texts]
    found = _evidence([text], cells=False) + _evidence(printed, cells=True)
    shown = {style.decimal for _, style in columns if style.decimal}
    rewritten = {cell: cell_in_english(cell, style) for texts, style in columns for cell in texts}
    cells = sorted((pair for pair in rewritten.items() if pair[0] != pair[1]), key=lambda pair: -len(pair[0]))
    return NumberStyle(
        decimal=_decided(found) or (shown.pop() if len(shown) == 1 else _usual(text, found)),
        spaces=any(style.spaces for _, style in columns),
        credits=_DEBIT.search(text) is not None,
        arrows=_are_arrows(text),
        tables=bool(tables),
        cells=tuple(cells),
    )


@lru_cache(maxsize=256)
def table_styles(table: Table, page_text: str) -> tuple[NumberStyle, ...]:
    """The style of each column of a table."""
    columns = _columns(table)
    texts = [cell for column in columns for cell in column]
    found = [_evidence(map(_unspaced, column), cells=True) for column in columns]
    of_table = sum(found, Counter())
    on_page = of_table + _evidence([page_text], cells=False)
    sides = any(map(_DEBIT.search, texts)) or not _INDIAN.search(page_text)
    squares = _are_minus(texts, page_text)
    arrows = _are_arrows(page_text)
    styles = []
    for column, own in zip(columns, found, strict=True):
        decimal = _decided(own) or _decided(of_table)
        if not decimal:
            decided = _decided(on_page)
            company = _by_company(own) or _by_company(of_table)
            decimal = decided or company or _usual(page_text, on_page)
            if company not in ("", decimal):
                decimal = ""  # the page and the column contradict each other
        grouped = sum(own[f"?{mark}"] for mark in ".," if mark != decimal)
        spaced = sum(_SPACED.search(text) is not None for text in column)
        spaces = spaced > own["4"] and spaced >= grouped
        styles.append(NumberStyle(decimal, spaces, sides, squares, arrows))
    return tuple(styles)


def _usual(text: str, found: Counter[str]) -> str:
    """A point on an English page where nothing speaks against it."""
    return "" if found["?."] or found[","] or is_foreign(text) else "."


def _columns(table: Table) -> list[list[str]]:
    """The texts of each column."""
    columns: list[list[str]] = [[] for _ in table.heads]
    for row in table.rows:
        for texts, cell in zip(columns, row.cells, strict=False):
            texts += [cell.text] if cell else []
    return columns


def _unspaced(text: str) -> str:
    return _SPACED.sub(lambda run: run[0].replace(" ", "\u00a0"), text)


def _are_arrows(text: str) -> bool:
    """Whether triangles show a direction: some point down, or a black one is not the only minus."""
    if text.isascii() or _LEGEND.search(text):
        return False
    marks = set("".join(_TRIANGLE.findall(text)))
    if not marks.isdisjoint("▼▽"):
        return True
    return "▲" in marks and _OTHER_MINUS.search(text) is not None


def _are_minus(texts: Sequence[str], page_text: str) -> bool:
    """Whether cells in square brackets are negative: the page says so, or some are no marks of notes and no
    cell has another minus.
    """
    in_squares = [text for text in texts if _IN_SQUARES.fullmatch(text)]
    if not in_squares:
        return False
    if _SQUARE_LEGEND.search(page_text):
        return True
    amounts = any(sum(map(str.isdigit, text)) > 2 for text in in_squares)
    return amounts and not any(_OTHER_MINUS.match(text) or _MINUS_BEHIND.search(text) for text in texts)
