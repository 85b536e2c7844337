"""Running heads and feet, by their places."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from ingestion.pages.margins import is_number_line, opening_words, running_lines, running_spans
from ingestion.records import Line, Page, Rect, Table

WORDS = ["reserve", "levy", "grant", "fund", "bond", "duty"]
# A row of a page: height, left, right, text.
Row = tuple[float, float, float, str]


def placed(number: int, *rows: Row) -> Page:
    """A page with its number as label, whose text has the rows in the order given, each with its place."""
    text, lines = "", []
    for top, left, right, line in rows:
        bottom = top + 0.012 if top < 1 else top
        box = Rect(left, top, right, bottom)
        lines.append(Line(len(text), len(text) + len(line), box))
        text += line + "\n"
    return Page(number, text, label=str(number), lines=tuple(lines))


def body(number: int, start: float = 0.15) -> list[Row]:
    """Ten lines of text, none like that of another page."""
    word, letter = WORDS[number % 6], chr(97 + number)
    rows = list[Row]()
    for row in range(10):
        text = f"The {word} of line {row} is {letter}{chr(97 + row)}."
        rows.append((start + 0.016 * row, 0.1, 0.9, text))
    return rows


def cut(pages: Sequence[Page]) -> list[str]:
    running = running_lines(pages)
    found = []
    for page in pages:
        spans = running_spans(page, running)
        found.append("".join(page.text[start:end] for start, end in spans))
    return found


def headed(*above: Row, start: float = 0.15) -> list[Page]:
    """Five pages with these rows above their text."""
    return [placed(number, *above, *body(number, start)) for number in range(1, 6)]


HEAD: Row = (0.05, 0.4, 0.6, "BUDGET BOOK")


def test_a_body_is_the_page_without_its_running_lines() -> None:
    pages, bodies = [], []
    for number in range(1, 6):
        rows = body(number)
        foot = (0.93, 0.1, 0.6, f"Budget Book 2025-26 {number}.1 The")
        pages.append(placed(number, HEAD, *rows, foot, (0.96, 0.5, 0.52, str(number))))
        bodies.append([line for *_, line in rows])
    for page, lines, lost in zip(pages, bodies, cut(pages), strict=True):
        assert len(page.text) - len(lost) == sum(len(line) + 1 for line in lines)
        assert not any(line in lost for line in lines)
    assert running_spans(Page(9, ""), running_lines([])) == ()


def test_a_running_foot_is_found_behind_a_footnote() -> None:
    pages = []
    for number, word in enumerate(WORDS[:5], 1):
        note = (0.92, 0.1, 0.5, f"1 {word} footnote.")
        pages.append(placed(number, *body(number), (0.89, 0.1, 0.5, "Statement of 2025"), note))
    assert cut(pages)[1].startswith("Statement of 2025\n")


def test_heads_and_feet_stand_at_the_edges_wherever_the_text_has_them() -> None:
    foot = (0.94, 0.1, 0.3, "Ministry of Finance")
    pages, expected = [], []
    for number in range(1, 6):
        label = (0.94, 0.88, 0.9, str(number))
        rows = body(number)
        pages.append(placed(number, *rows[:5], HEAD, label, foot, *rows[5:]))
        expected.append(f"BUDGET BOOK\n{number}\nMinistry of Finance\n")
    assert cut(pages) == expected


def test_the_same_line_in_the_body_is_no_running_line() -> None:
    none = (0.5, 0.1, 0.5, "None.")
    pages = [placed(number, *body(number), none, *body(number, 0.6)) for number in range(1, 6)]
    assert cut(pages) == [""] * 5


def test_the_same_line_on_pages_far_apart_is_no_running_line() -> None:
    pages = []
    for number in range(1, 41):
        heads = [] if number % 10 else [(0.05, 0.1, 0.5, "None of them.")]
        pages.append(placed(number, *heads, *body(number)))
    assert cut(pages) == [""] * 40


def test_notes_that_differ_in_their_numbers_are_no_running_line() -> None:
    pages = []
    for number in range(1, 6):
        note = f"Lewis, supra note {40 + 2 * number}, at {300 - 7 * number}."
        pages.append(placed(number, *body(number), (0.93, 0.1, 0.5, note)))
    assert cut(pages) == [""] * 5


def test_heads_of_a_long_table_are_no_running_line() -> None:
    title = (0.04, 0.4, 0.6, "BUDGET BOOK")
    table: list[Row] = [(0.1, 0.1, 0.9, "Particulars Actuals Budget Revised")]
    table.append((0.116, 0.3, 0.9, "in crore 2024 2025"))
    for row, word in enumerate(WORDS):
        table.append((0.132 + 0.016 * row, 0.1, 0.9, f"{word} receipts 1,24{row}.3 99{row} 1,300"))
    pages = [placed(number, title, *table) for number in range(1, 6)]
    assert cut(pages) == ["BUDGET BOOK\n"] * 5
    columns = [
        (0.1, 0.1, 0.2, "Plant"),
        (0.1, 0.3, 0.4, "Place"),
        (0.1, 0.5, 0.6, "Owner"),
        (0.1, 0.7, 0.8, "Share"),
    ]
    assert cut(headed(title, *columns)) == ["BUDGET BOOK\n"] * 5
    caption, head = (0.1, 0.1, 0.5, "Table 1. Plants"), (0.13, 0.1, 0.5, "Plant Owner")
    assert cut(headed(caption, head, start=0.2)) == [""] * 5


def test_what_is_in_a_table_that_was_found_is_no_running_line() -> None:
    pages = headed((0.05, 0.1, 0.5, "Ministry and Department"))
    assert cut(pages) == ["Ministry and Department\n"] * 5
    table = Table("", "", (), (), Rect(0.05, 0.04, 0.95, 0.4))
    with_table = [replace(page, tables=(table,)) for page in pages]
    assert cut(with_table) == [""] * 5


def test_the_number_of_the_page_goes_but_no_other() -> None:
    other = (0.96, 0.4, 0.42, "77")
    pages, expected = [], []
    for number in range(1, 6):
        own = (0.93, 0.4, 0.41, str(number))
        pages.append(placed(number, *body(number), own, other))
        expected.append(f"{number}\n")
    assert cut(pages) == expected


@pytest.mark.parametrize(
    "line",
    [
        "Page 1 of 2",
        "Seite 1 von 2",
        "1 / 2",
        "1 of 2",
        "- 1 -",
        "County | Rules 2024 | 1",
        "1 | Rules",
        "p. 1",
    ],
)
def test_a_number_of_the_page_goes_in_any_form_on_one_page_alone(line: str) -> None:
    page = replace(placed(1, *body(1), (0.95, 0.4, 0.6, line)), label=None)
    assert [page.text[slice(*span)] for span in running_spans(page, frozenset())] == [f"{line}\n"]


@pytest.mark.parametrize("line", ["Rules 1", "3 of 4 members", "7 / 9", "| 12", "Total | 7", "(1)", "1"])
def test_what_is_no_number_of_the_page_stays(line: str) -> None:
    assert not is_number_line(line, {"1"})


def test_a_head_that_names_the_document_again_goes_on_its_second_page() -> None:
    first = placed(
        1, (0.06, 0.1, 0.4, "County of Harrow"), (0.1, 0.1, 0.6, "Reserve Policy 2024"), *body(1, 0.2)
    )
    opening = opening_words(first)
    for line, gone in (("County of Harrow | Reserve Policy 2024", 1), ("The reserve policy ends in May.", 0)):
        second = placed(2, (0.05, 0.1, 0.6, line), *body(2))
        assert len(running_spans(second, frozenset(), opening)) == gone
