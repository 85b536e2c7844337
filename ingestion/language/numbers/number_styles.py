"""Decides how figures are written in one place, and rewrites them in the one form that `figures` reads.

"1.234,56" can only be read in one way. "1.234" can be read in two: the other figures of its column decide,
else those of its table, else those of its page. Where they do not, or contradict each other, nothing is
decided.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from ingestion.language.language_detection import is_foreign
from ingestion.language.periods import YEAR
from ingestion.language.scales import BARE_LETTER_SCALE
from ingestion.language.units import MINUS, SPACE, UNIT_AHEAD
from ingestion.records import Table

__all__ = [
    "BEHIND",
    "DOUBTED",
    "NUMERAL",
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
    rf"(?:(?P<apart>[1-9][0-9]{{0,2}}(?:[{_APART}][0-9]{{3}})++(?:[.,][0-9]++)?(?![0-9]))"
    r"|(?P<commas>[1-9][0-9]{0,2}(?:,[0-9]{3})++(?:\.[0-9]++)?(?![0-9]))"
    r"|(?P<points>[1-9][0-9]{0,2}(?:\.[0-9]{3})++(?:,[0-9]++)?(?![0-9]))"
    r"|(?P<lakhs>[1-9][0-9]?(?:,[0-9]{2}(?=,))++,[0-9]{3}(?:\.[0-9]++)?(?![0-9]))"
    r"|(?P<plain>(?:0|[1-9][0-9]*+)(?:[.,][0-9]++)?))"
)
TRIANGLES = "△▲▽▼"
SIDES = r"(?:CR|DR|Cr|Dr)\b\.?"
# How a rewritten text marks a figure: negative for certain, by what stands before or behind it, or of a sign
# that cannot be told. No text has these characters: they are none.
SURE, BEHIND, DOUBTED = "\ufdd0", "\ufdd1", "\ufdd2"

_FOUND = re.compile(rf"(?<![0-9])(?<![0-9][.,]){NUMERAL}(?![.,]?[0-9])(?P<ahead>(?={UNIT_AHEAD}))?+")
_SPACED = re.compile(rf"(?<![0-9.,{_APART}])[0-9]{{1,3}}(?: [0-9]{{3}})++(?![0-9])")
_YEAR = re.compile(YEAR)
_BETWEEN = r"[^\s\d<>()\[\]]{0,4} ?"  # a currency between a sign and its digits
_TRIANGLE = re.compile(rf"[{TRIANGLES}](?={SPACE}?{_BETWEEN}\.?[0-9])")
_LEGEND = re.compile(
    rf"[{TRIANGLES}](?!{SPACE}?{_BETWEEN}\.?[0-9])[^.\n]{{0,60}}\b(?:loss|negative|minus|deficit|decrease)",
    re.IGNORECASE,
)
_OTHER_MINUS = re.compile(rf"(?<![\w)])(?:[{MINUS}]|\()[0-9]")
_INSIDE = rf"{_BETWEEN}[0-9][0-9.,{_APART} ]*%?"
_IN_ANGLES = re.compile(rf"<(?P<inside>{_INSIDE})>")
_IN_SQUARES = re.compile(rf"\s*\[{_INSIDE}\][\s%]*")
_SQUARE_LEGEND = re.compile(r"\bsquare brackets\b|\[\s*\](?!\()", re.IGNORECASE)
_MINUS_BEHIND = re.compile(rf"(?<=[0-9%])(?P<blank> ?)[{MINUS}](?=\s*%?\s*\Z)")
# "5.0p" is provisional. "x" and the letters of scales are units.
_MARK_BEHIND = re.compile(rf"(?<=[0-9%])(?!{BARE_LETTER_SCALE}|x)[a-z](?=\s*\Z)")
_SIDE = re.compile(rf"(?<=[0-9)])(?P<blank>{SPACE}?)(?P<side>{SIDES})")
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
    cells: (as printed, rewritten) of a page's cells that are not read as its sentences are, longest first.
    """

    decimal: str = ""
    spaces: bool = False
    credits: bool = False
    squares: bool = False
    arrows: bool = False
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
    pieces: list[str] = []
    position = 0
    rewritten = dict(style.cells)
    for match in _cells_pattern(style.cells).finditer(text):
        pieces += [_rewritten(text[position : match.start()], style), rewritten[match[0]]]
        position = match.end()
    return "".join([*pieces, _rewritten(text[position:], style)])


@lru_cache(maxsize=64)
def _cells_pattern(cells: Sequence[tuple[str, str]]) -> re.Pattern[str]:
    either = "|".join(re.escape(printed) for printed, _ in cells)
    return re.compile(rf"(?<![\w.,])(?:{either})(?![\w]|[.,][0-9])")


def cell_in_english(text: str, style: NumberStyle) -> str:
    """The same for the text of a cell, which has more ways to write a sign than a sentence."""
    if style.spaces:
        text = _SPACED.sub(lambda run: run[0].replace(" ", "\u00a0"), text)
    squares = _IN_SQUARES.fullmatch(text)
    if squares:
        mark = SURE if style.squares else DOUBTED
        text = text.replace("[", mark, 1).replace("]", BEHIND if style.squares else " ", 1)
    text = _MARK_BEHIND.sub(" ", text)
    text = _MINUS_BEHIND.sub(rf"{BEHIND}\g<blank>", text)
    if style.credits:
        text = _SIDE.sub(_side, text)
    return _rewritten(text, replace(style, cells=()), cell=True)


def _side(match: re.Match[str]) -> str:
    """What stands for a side of an account: nothing for a credit. A debit may be less than zero or not."""
    mark = DOUBTED if match["side"][0] == "D" else " "
    return mark.ljust(len(match[0]))


def _rewritten(text: str, style: NumberStyle, *, cell: bool = False) -> str:
    if "<" in text:
        text = _IN_ANGLES.sub(rf"{SURE}\g<inside>{BEHIND}", text)
    if not text.isascii():
        text = _TRIANGLE.sub(lambda found: _triangle(found[0], style), text)
    return _FOUND.sub(lambda numeral: _numeral(numeral, style.decimal, cell=cell), text)


def _triangle(mark: str, style: NumberStyle) -> str:
    if style.arrows:
        return " " if mark in "△▲" else DOUBTED
    return SURE


def _numeral(match: re.Match[str], decimal: str, *, cell: bool) -> str:
    """A numeral with commas between thousands and a decimal point."""
    written = match[0]
    form = _form(match)
    if form.startswith("?"):
        if not decimal:
            return written
        form = decimal
    elif form == "," and match["plain"] and decimal != ",":
        # "3,4" may be two numbers
        is_one = (cell and not decimal) or match["ahead"] is not None or written[0] == "0"
        if not is_one:
            return written
    marks = re.sub("[0-9]", "", written)
    whole = re.sub("[^0-9]", ",", written)
    if not marks or marks[-1] != form:
        return whole
    point = whole.rindex(",")
    return f"{whole[:point]}.{whole[point + 1 :]}"


def _form(match: re.Match[str]) -> str:
    """The decimal mark that a numeral must be read with; "?" and its only mark where it may be read in two
    ways; "" where it has none and shows none.
    """
    written = match[0]
    marks = re.sub("[0-9]", "", written)
    if not marks:
        return ""
    if match["plain"]:
        return marks
    if match["apart"]:
        return marks[-1] if marks[-1] in ".," else ""
    if len(marks) == 1:
        return f"?{marks}"
    return "," if match["points"] else "."


# ---------------------------------------------------------------- deciding


def _evidence(texts: Iterable[str], *, cells: bool) -> Counter[str]:
    """How many figures of some texts have each form.

    "3,4" may be two numbers of notes, and "3.4" outside of a cell the number of a section: they are counted
    apart, as "short," and "short.". "3" and "4" count whole numbers of three digits and of more.
    """
    found: Counter[str] = Counter()
    for text in texts:
        for match in _FOUND.finditer(text):
            form = _form(match)
            written = match[0]
            if not form and len(written) >= 3 and written.isdigit():
                found["3" if len(written) == 3 else "" if _YEAR.fullmatch(written) else "4"] += 1
            elif len(form) == 1 and len(written) <= 5 and written[0] != "0" and match["ahead"] is None:
                found[form if cells and form == "." else f"short{form}"] += 1
            else:
                found[form] += 1
    return found


def _decided(found: Counter[str]) -> str:
    """The decimal mark that figures show, "" where they show none or contradict each other."""
    points = found["."] + (0 if found["?."] else found["short."])
    commas = found[","] + (0 if found["?,"] else found["short,"])
    if points or commas:
        if points > _MAJORITY * commas:
            return "."
        return "," if commas > _MAJORITY * points else ""
    points, commas = found["?,"], found["?."]
    if points and commas:
        return "." if points > _MAJORITY * commas else "," if commas > _MAJORITY * points else ""
    return ""


def _by_company(found: Counter[str]) -> str:
    """The decimal mark, where one mark stands only in figures of four digits and more and all others have
    three at most: "1.234" beside "567".
    """
    if not found["3"] or found["4"] or found["."] or found[","]:
        return ""
    if found["?,"] and not found["?."]:
        return "."
    return "," if found["?."] >= _FEWEST and not found["?,"] else ""


def own_style(text: str) -> NumberStyle:
    """The style of a text that stands alone, such as an answer."""
    return NumberStyle(_decided(_evidence([text], cells=False)), arrows=_are_arrows(text))


def page_style(text: str, tables: Sequence[Table] = ()) -> NumberStyle:
    """The style of a page's sentences, with its cells."""
    styles = [table_styles(table, text) for table in tables]
    flat = [style for of_table in styles for style in of_table]
    pooled = _evidence([text], cells=False)
    for table in tables:
        pooled += _evidence(_texts(table), cells=True)
    decimal = _decided(pooled)
    shown = {style.decimal for style in flat if style.decimal}
    if not decimal and len(shown) == 1:
        decimal = shown.pop()
    decimal = decimal or _usual(text, pooled)
    spaces = any(style.spaces for style in flat)
    style = NumberStyle(decimal, spaces, _has_sides(text, cell=False), arrows=_are_arrows(text))
    rewritten: dict[str, str] = {}
    for table, of_table in zip(tables, styles, strict=True):
        for row in table.rows:
            for cell, own in zip(row.cells, of_table, strict=False):
                printed = cell.text.strip() if cell else ""
                if len(printed) < 2 or not any(map(str.isdigit, printed)):
                    continue
                new = cell_in_english(printed, own)
                if new != printed:
                    rewritten.setdefault(printed, new)
    cells = sorted(rewritten.items(), key=lambda pair: -len(pair[0]))
    return replace(style, cells=tuple(cells))


@lru_cache(maxsize=256)
def table_styles(table: Table, page_text: str) -> tuple[NumberStyle, ...]:
    """The style of each column of a table."""
    columns = [_texts(table, column) for column in range(len(table.heads))]
    found = [_evidence(map(_unspaced, texts), cells=True) for texts in columns]
    of_table = sum(found, Counter())
    on_page = of_table + _evidence([page_text], cells=False)
    texts = _texts(table)
    squares = _are_minus(texts, page_text)
    sides = _has_sides("\n".join(texts), cell=True, around=page_text)
    arrows = _are_arrows(page_text)
    styles = []
    for column, own in zip(columns, found, strict=True):
        decimal = _decimal(own, of_table, on_page, page_text)
        otherwise = own["4"] + sum(own[f"?{mark}"] for mark in ".," if mark != decimal)
        spaces = not otherwise and any(map(_SPACED.search, column))
        styles.append(NumberStyle(decimal, spaces, sides, squares, arrows))
    return tuple(styles)


def _decimal(own: Counter[str], of_table: Counter[str], on_page: Counter[str], page_text: str) -> str:
    """The decimal mark of a column. own, of_table, on_page: the evidence."""
    nearest = _decided(own) or _decided(of_table)
    if nearest:
        return nearest
    decided = _decided(on_page)
    company = _by_company(own) or _by_company(of_table)
    if company and decided:
        return company if company == decided else ""
    return decided or company or _usual(page_text, on_page)


def _usual(text: str, found: Counter[str]) -> str:
    """A point on an English page where nothing speaks against it."""
    if found["?."] or found[","] or found["short,"] or is_foreign(text):
        return ""
    return "."


def _texts(table: Table, column: int | None = None) -> list[str]:
    """The texts of a column's cells, of all cells without one."""
    found = []
    for row in table.rows:
        cells = row.cells if column is None else row.cells[column : column + 1]
        found += [cell.text for cell in cells if cell is not None]
    return found


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


def _has_sides(text: str, *, cell: bool, around: str = "") -> bool:
    """Whether "CR" and "DR" are sides of an account, and no crores: debits stand there, or, in cells,
    nothing on the page is of India.
    """
    if "r" not in text.casefold():
        return False
    if _DEBIT.search(text):
        return True
    return cell and not _INDIAN.search(around)
