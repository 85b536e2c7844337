"""Paragraphs, headings and rows of a page's lines."""

import pytest

from chatbot.evidence.text_blocks import is_head, read_blocks
from tests.case_rows import case_lines

COLUMN = """IV.3 At its spring review the Council
heard that trade with the neighbours was slow,
that output of the region had been firm with
GDP of the province up by 5.4 per cent in
Q3:2031-32. While prices of timber and of
Fish rose in the ports, the estimate of output for
2031-32 was lifted once more by 45 bps to 5.9
per cent, and sank to 1.3 per cent, far below the 3
per cent floor, with Q3 at 1.4 per cent; and
Q4 at 2.7 per cent. Retail prices in Q1:2032-33
5.2 and 5.6 per cent, as before. Furthermore,
nothing was altered."""


def blocks(text: str) -> list[str]:
    return [block for block, _ in read_blocks(text)]


def rows(text: str) -> list[str]:
    return [block for block, row in read_blocks(text) if row]


def test_prose_of_a_narrow_column_that_is_full_of_figures_stays_one_paragraph() -> None:
    assert rows(COLUMN) == []
    assert blocks(COLUMN) == [" ".join(COLUMN.split("\n"))]


ROWS = """
Health 4,120 4,385 4,610
Net cash provided by operating activities $ 3,200 $ (2,900)
30-40 thousand crowns 15 per cent
From ` 3,50,001 to ` 6,50,000 7 per cent
35 lac 3,10,000 2,40,000 70,000 0 70,000 2,40,000
Adjustment (91.5) - 12.0
Balance at end of year — — 8,853
Debt ratio 58.4%
"""


@pytest.mark.parametrize("line", case_lines(ROWS))
def test_a_label_with_figures_behind_it_is_a_row(line: str) -> None:
    assert rows(f"Some words before it.\n{line}\nSome words after it.") == [line]


NO_ROWS = """
cent with Q1 at 4.4 per cent; Q2 at 4.7 per
33 were put at 4.6 per cent and 4.8 per cent,
was lifted to 1,450 a week from 1
sinking to 1.3 per cent, far below the 3
Costs in the years to March 2019, 2018 and 2017 included $211,000, $207,000
Balance Sheet January 3, 2020 December 28, 2018
"""


@pytest.mark.parametrize("line", case_lines(NO_ROWS))
def test_a_line_of_a_sentence_is_no_row_however_many_figures_it_has(line: str) -> None:
    assert rows(f"The projection of inflation for the year\n{line}\nand nothing else.") == []


def test_a_line_that_goes_on_in_the_next_is_no_row() -> None:
    assert rows("Goals for the decade\nTop 30\nlargest economy\nTop 12\nin global competitiveness") == []
    assert rows("Loans 450\nof which: abroad 75") == ["Loans 450", "of which: abroad 75"]


def test_a_heading_stands_by_itself() -> None:
    text = """so that savings can grow for all of the people.
Duties on Timber and Fish
Forests and ports are what the hills and the coast live by.
"""
    assert blocks(text)[1] == "Duties on Timber and Fish"


NUMBERED = """The limit is doubled.
87. Timber is the wealth of our hills.
(a) first, the one
(b) then the other"""


def test_numbered_paragraphs_and_items_begin_anew() -> None:
    assert blocks(NUMBERED) == NUMBERED.splitlines()


def test_entries_of_contents_say_nothing() -> None:
    assert blocks("Fiscal rules . . . . . . . . 12\nThe rule is simple.") == ["The rule is simple."]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("Fiscal rules", True), ("The Board met in May and", False), ("It ends.", False), ("a), b),", False)],
)
def test_a_heading_does_not_go_on(text: str, expected: bool) -> None:
    assert is_head(text) is expected


def test_the_time_grows_with_the_page_alone() -> None:
    for hostile in (
        "words that go on\n" * 50_000,
        "1 " * 50_000,
        "a 1\n" * 20_000,
        ". " * 50_000,
        "(" * 100_000,
        "-" * 100_000,
        "A " * 50_000,
    ):
        list(read_blocks(hostile))
