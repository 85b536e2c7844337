"""How figures are written is decided by their column, table and page, for every format, sign and scale."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from ingestion.language.numbers import cell_figure, find_figures, own_style, page_style, table_styles
from ingestion.language.scales import scale_of
from ingestion.records import Cell, Rect, Row, Table
from ingestion.tables import word_kinds
from tests.case_rows import case_rows

NOWHERE = Rect(0, 0, 1, 1)
# (between thousands, before decimals)
FORMATS = [
    *map(tuple, (",.", ".,", " ,", " .", "\u00a0,", "\u202f,", "\u2009.", "\u2007.", "'.", "’.", "’,")),
    *(("lakhs", "."), ("", "."), ("", ",")),
]
MINUSES = "-{}|−{}|–{}|‐{}|‑{}|－{}|({})|{}-|{}−|<{}>|‹{}›|〈{}〉|△{}|△ {}|▲{}|[{}]".split("|")
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


def read_all(words: str, examples: int, part: int = 0) -> tuple[int, int]:
    """How many cells of drawn columns there are, and how many are read; none may be read wrongly.

    part: which columns are drawn.
    """
    counts = [0, 0]

    @seed(part)
    @settings(max_examples=examples, derandomize=False, database=None)
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


@settings(max_examples=100)
@given(columns(WORDS), st.sampled_from(["million", "billion", "crore", "thousand"]))
def test_a_sentence_that_copies_a_cell_reads_it_alike(column: Column, scale: str) -> None:
    table = table_of(column.texts)
    style = page_style(page_of(table, WORDS), (table,))
    (of_cells,) = table_styles(table, page_of(table, WORDS))
    for text in column.texts:
        figure = cell_figure(text, of_cells)
        if figure is None or figure.other is not None or figure.unit:
            continue
        said = find_figures(f"It was {text} {scale} in all.", style)
        assert [(one.value, one.scale) for one in said] == [(figure.value, scale_of(scale))]


@pytest.mark.long
@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("words", [WORDS, WORTE, ""])
def test_no_value_of_ten_thousand_columns_is_wrong_and_most_are_read(words: str, part: int) -> None:
    cells, done = read_all(words, 850, part)
    assert done >= 0.95 * cells


ALONE = case_rows("""
Revenue was 1.234,5 million.             | 1234.5
Sales were 12,34,567 rupees.             | 1234567
Sales were 1.234.567 euros.              | 1234567
It cost 1'234.50 francs.                 | 1234.5
There was a loss of △1,240 thousand.     | -1240
There was a loss of <1,240> in the year. | -1240
There was a loss of ‹1,240› in the year. | -1240
There was a loss of －12.5 million.       | -12.5
Fees are less than <1% of it.            | 1
It was 1 234,5 million.                  | 1234.5
About 0,5 % of it.                       | 0.5
A rate of 2.500 and one of 3.5%.         | 2.5, 3.5
""")


@pytest.mark.parametrize(("text", "values"), ALONE)
def test_a_sentence_may_decide_alone(text: str, values: str) -> None:
    figures = find_figures(text)
    assert [figure.value for figure in figures] == [float(value) for value in values.split(", ")]


UNTOLD = case_rows("""
It rose to 1.234 units.   | 1.234 | 1234
It rose to 1,234 units.   | 1234  | 1.234
It fell to -1.234 units.  | -1.234 | -1234
""")


@pytest.mark.parametrize(("text", "value", "other"), UNTOLD)
def test_what_a_sentence_does_not_decide_has_two_values(text: str, value: str, other: str) -> None:
    (figure,) = find_figures(text)
    assert (figure.value, figure.other) == (float(value), float(other))


# cells of a column | what stands on the page too | value of the first cell, "?" where it cannot be told
DECIDED = case_rows("""
1.234; 12,5       | -                             | 1234
1.234; 12.5       | -                             | 1.234
1.234; 5.678      | -                             | ?
1.234; 5.678; 732 | -                             | 1234
1.234; 5.678; 732 | The rate was 4.5% of 1,000.   | ?
1.234; 5.678      | Es sind 12,5 % der Steuer.    | 1234
1,234; 310        | -                             | 1234
1,234; 5,678      | -                             | 1234
1,234; 5,678      | Das ist der Haushalt der Stadt, und er ist es. | ?
1,234; 5,678      | Note 3,4 and note 5,6         | 1234
1 234; 5 678      | -                             | 1234
1 234; 5678       | -                             | ?
1 234; 5,678      | -                             | 1234
1.234; 5.678      | Note 3,4 and note 5,6         | ?
1,240-; 310       | -                             | -1240
△ 415; 220        | -                             | -415
▲ 415; ▼ 220      | -                             | 415
▼ 415; ▲ 220      | -                             | ?
▲ 415; -220       | -                             | 415
▲ 415; -220       | ▲ denotes a loss.             | -415
[1,240]; [310]    | -                             | -1240
[1,240]; -310     | -                             | ?
[12]; 310         | -                             | ?
[12]; 310         | Losses are in square brackets | -12
<1,240>; 310      | -                             | -1240
730 CR; 655 CR    | -                             | 730
730 DR; 655 CR    | -                             | ?
730 Cr; 655 Cr    | Amounts in rupees             | 730 crore
5.0p; 4.2         | -                             | 5
2.5m; 4.2m        | -                             | 2.5 million
""")
SCALES = {"": 1.0, "crore": 1e7, "million": 1e6}


@pytest.mark.parametrize(("cells", "words", "expected"), DECIDED)
def test_column_and_page_decide(cells: str, words: str, expected: str) -> None:
    texts = tuple(cells.split("; "))
    table = table_of(texts)
    page = page_of(table, words.strip("-"))
    figure = cell_figure(texts[0], table_styles(table, page)[0])
    assert figure is not None
    if expected == "?":
        assert figure.other is not None
        return
    value, _, scale = expected.partition(" ")
    assert (figure.value, figure.scale, figure.other) == (float(value), SCALES[scale], None)


def test_a_page_reads_its_cells_as_their_columns_do() -> None:
    table = table_of(("18 410", "(1 240)"), ("1,240-", "310"))
    page = page_of(table, WORDS)
    figures = find_figures(page, page_style(page, (table,)))
    assert [figure.value for figure in figures] == [18_410, -1_240, -1_240, 310]
    assert [figure.text for figure in figures] == ["18 410", "1,240-", "(1 240)", "310"]


def test_a_row_of_small_cells_is_not_one_number_beside_numbers_with_blanks() -> None:
    table = table_of(("692", "16 944"), ("729", "17 637"), ("778", "18 349"))
    page = f"{page_of(table, '')}\nIt rose from 16 944 to 17 637."
    figures = find_figures(page, page_style(page, (table,)))
    assert [figure.value for figure in figures] == [692, 729, 778, 16_944, 17_637, 18_349, 16_944, 17_637]


@given(st.from_regex(word_kinds.FIGURE, fullmatch=True))
def test_what_a_table_takes_for_a_value_is_read(text: str) -> None:
    is_taken = word_kinds.words_kind(text) == "v" and not word_kinds.is_period(text)
    if is_taken and not word_kinds.GROUP.fullmatch(text):
        assert cell_figure(text, own_style("")) is not None
