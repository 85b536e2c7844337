"""Paragraphs, headings and rows of a page's lines."""

import pytest

from chatbot.answer.blocks import is_head, read_blocks

COLUMN = """III.12 During the October 2025 meeting, it
was noted that despite weak global growth,
economic activity in the country was robust with real
GDP registering a growth of 7.8 per cent in
Q1:2025-26. Although tensions and global
Federal risks remained, the projection for
2025-26 was revised upwards by 30 bps to 6.8
per cent, and moderated to 1.7 per cent, even below the 2
per cent lower threshold, with Q2 at 1.8 per cent; and
Q4 at 4.0 per cent. CPI inflation for Q1:2026-27
6.7 and 6.8 per cent, respectively. Concomitantly,
nothing else changed."""


def blocks(text: str) -> list[str]:
    return [block for block, _ in read_blocks(text)]


def rows(text: str) -> list[str]:
    return [block for block, row in read_blocks(text) if row]


def test_prose_of_a_narrow_column_that_is_full_of_figures_stays_one_paragraph() -> None:
    assert rows(COLUMN) == []
    assert blocks(COLUMN) == [" ".join(COLUMN.split("\n"))]


@pytest.mark.parametrize(
    "line",
    [
        "Health 4,120 4,385 4,610",
        "Net cash provided by operating activities $ 3,200 $ (2,900)",
        "16-20 lakh rupees 20 per cent",
        "From ` 4,00,001 to ` 8,00,000 5 per cent",
        "20 lac 2,90,000 2,00,000 90,000 0 90,000 2,00,000",
        "Adjustment (91.5) - 12.0",
        "Balance at end of year — — 8,853",
        "Debt ratio 58.4%",
    ],
)
def test_a_label_with_figures_behind_it_is_a_row(line: str) -> None:
    assert rows(f"Some words before it.\n{line}\nSome words after it.") == [line]


@pytest.mark.parametrize(
    "line",
    [
        "per cent with Q2 at 2.1 per cent; Q3 at 3.1 per",
        "27 were placed at 3.9 per cent and 4.0 per cent,",
        "was raised to 1,700 per month starting 1",
        "moderating to 1.7 per cent, even below the 2",
    ],
)
def test_a_line_of_a_sentence_is_no_row_however_many_figures_it_has(line: str) -> None:
    assert rows(f"The projection of inflation for the year\n{line}\nand nothing else.") == []


def test_a_heading_stands_by_itself() -> None:
    text = "so that savings can grow for all of the people.\nTax Reforms for the Middle Class\nDemocracy and demand are the pillars of a journey.\n"
    assert blocks(text)[1] == "Tax Reforms for the Middle Class"


def test_numbered_paragraphs_and_items_begin_anew() -> None:
    text = "The limit is doubled.\n156. Demand is a pillar of our journey.\n(a) first, the one\n(b) then the other"
    assert blocks(text) == ["The limit is doubled.", "156. Demand is a pillar of our journey.", "(a) first, the one", "(b) then the other"]


def test_entries_of_contents_say_nothing() -> None:
    assert blocks("Fiscal rules . . . . . . . . 12\nThe rule is simple.") == ["The rule is simple."]


@pytest.mark.parametrize(("text", "expected"), [("Fiscal rules", True), ("The Board met in May and", False), ("It ends.", False), ("a), b),", False)])
def test_a_heading_does_not_go_on(text: str, expected: bool) -> None:
    assert is_head(text) is expected


def test_the_time_grows_with_the_page_alone() -> None:
    for hostile in ("words that go on\n" * 50_000, "1 " * 50_000, "a 1\n" * 20_000, ". " * 50_000, "(" * 100_000, "-" * 100_000, "A " * 50_000):
        list(read_blocks(hostile))
