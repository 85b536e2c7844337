"""How figures are written is decided by their column, table and page, for every format, sign and scale."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingestion.language.numbers import cell_figure, table_styles
from ingestion.records import Cell, Rect, Row, Table

NOWHERE = Rect(0, 0, 1, 1)
# (between thousands, before decimals)
FORMATS = (
    (",", "."),
    (".", ","),
    (" ", ","),
    (" ", "."),
    ("\u00a0", ","),
    ("\u202f", ","),
    ("\u2009", "."),
    ("\u2007", "."),
    ("'", "."),
    ("’", "."),
    ("’", ","),
    ("lakhs", "."),
    ("", "."),
    ("", ","),
)
MINUSES = (
    "-{}",
    "\u2212{}",
    "–{}",
    "\u2010{}",
    "\u2011{}",
    "\uff0d{}",
    "({})",
    "{}-",
    "{}\u2212",
    "<{}>",
    "△{}",
    "△ {}",
    "▲{}",
    "[{}]",
)
WORDS = "The board approves the budget of the county, and it reports on it."
WORTE = "Der Rat beschließt den Haushalt der Stadt, und er wird mit dem Bericht vorgelegt."


@dataclass(frozen=True)
class Column:
    """Cells as printed, with the value of each."""

    texts: tuple[str, ...]
    values: tuple[float, ...]


def grouped(whole: str, mark: str) -> str:
    if mark == "lakhs":
        return ",".join([*split(whole[:-3], 2), whole[-3:]]) if len(whole) > 3 else whole
    return mark.join(split(whole, 3))


def split(digits: str, size: int) -> list[str]:
    first = len(digits) % size
    parts = [digits[:first], *(digits[at : at + size] for at in range(first, len(digits), size))]
    return [part for part in parts if part]


@st.composite
def columns(draw: st.DrawFn, words: str) -> Column:
    """A column of a page with these words. On an English page nothing tells "1,234" from 1234 where a comma
    stands before three decimals in all figures.
    """
    mark, point = draw(st.sampled_from(FORMATS))
    minus = draw(st.sampled_from(MINUSES))
    decimals = draw(st.integers(0, 2 if point == "," and words != WORTE else 3))
    unit = draw(st.sampled_from(["", "", "", "%"])) if decimals else ""
    texts = []
    values = []
    for _ in range(draw(st.integers(3, 8))):
        whole = draw(st.one_of(st.integers(0, 999), st.integers(1_000, 99_999_999)))
        below = draw(st.integers(0, 10**decimals - 1))
        written = grouped(str(whole), mark)
        if decimals:
            written += f"{point}{below:0{decimals}}"
        negative = draw(st.integers(0, 2)) == 0
        value = float(f"{whole}.{below:0{decimals}}") if decimals else float(whole)
        texts.append((minus.format(written) if negative else written) + unit)
        values.append(-value if negative else value)
    return Column(tuple(texts), tuple(values))


def table_of(*cells: tuple[str, ...]) -> Table:
    """A table of columns."""
    rows = []
    for row in zip(*cells, strict=True):
        rows.append(Row("Row", tuple(Cell(text, 0, 1) for text in row)))
    return Table("", "", tuple("2024" for _ in cells), tuple(rows), NOWHERE)


def page_of(table: Table, words: str) -> str:
    """The text of a page with a table: every separator of words is a plain blank there, as in PDFs."""
    lines = []
    for row in table.rows:
        printed = [cell.text for cell in row.cells if cell]
        lines.append(" ".join([row.label, *printed]))
    return re.sub("[\u00a0\u2007\u2009\u202f]", " ", "\n".join([*lines, words]))


def read(column: Column, words: str) -> tuple[int, int]:
    """How many cells are read, and how many are read wrongly."""
    table = table_of(column.texts)
    (style,) = table_styles(table, page_of(table, words))
    done = wrong = 0
    for text, value in zip(column.texts, column.values, strict=True):
        figure = cell_figure(text, style)
        if figure is None or figure.other is not None:
            continue
        done += 1
        wrong += abs(figure.value - value) > 1e-6
    return done, wrong


def read_all(words: str, examples: int) -> tuple[int, int]:
    """How many cells of drawn columns there are, and how many are read; none may be read wrongly."""
    counts = [0, 0]

    @settings(max_examples=examples, deadline=None)
    @given(columns(words))
    def judge(column: Column) -> None:
        done, wrong = read(column, words)
        assert not wrong
        counts[0] += len(column.texts)
        counts[1] += done

    judge()
    return counts[0], counts[1]


@pytest.mark.parametrize("words", [WORDS, WORTE, ""])
def test_no_value_is_wrong(words: str) -> None:
    read_all(words, 100)


@pytest.mark.long
def test_no_value_of_ten_thousand_columns_is_wrong_and_most_are_read() -> None:
    counts = [read_all(words, 3_400) for words in (WORDS, WORTE, "")]
    cells, done = map(sum, zip(*counts, strict=True))
    assert done >= 0.95 * cells
