"""Printed page numbers: series of every kind against what only looks like one, and against the file's own
labels.
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingestion.document import read_document
from ingestion.pages.page_labels import page_labels, roman_value
from ingestion.records import Line, Page, Rect
from tests.case_rows import case_rows

BODY = (
    "\nSome body text that is long enough to be a page and has 17 figures.\nMore of it follows here.\nAnd a "
    "third line.\n"
)
# A row of a page: height, left, right, text.
Row = tuple[float, float, float, str]
TEXT: list[Row] = [
    (0.15 + 0.02 * row, 0.1, 0.9, f"Line {word} of the body says what the office of the treasury has done.")
    for row, word in enumerate(("one", "two", "three", "four", "five", "six", "seven"))
]
ROMAN = ["i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii"]


def pages(texts: list[str]) -> list[Page]:
    return [Page(number, text) for number, text in enumerate(texts, 1)]


def labels(texts: list[str], embedded: list[str | None] | None = None) -> list[str | None]:
    return [label for label, _ in page_labels(pages(texts), embedded or [None] * len(texts))]


def placed(rows: Sequence[Row], number: int = 1, height: float = 0.012) -> Page:
    """A page whose text has the rows in the order given, each with its place."""
    text, lines = "", []
    for top, left, right, line in rows:
        lines.append(Line(len(text), len(text) + len(line), Rect(left, top, right, top + height)))
        text += line + "\n"
    return Page(number, text, lines=tuple(lines))


def found(*sheets: Sequence[Row], embedded: Sequence[str | None] = ()) -> list[str | None]:
    made = [placed(rows, number) for number, rows in enumerate(sheets, 1)]
    return [label for label, _ in page_labels(made, embedded or [None] * len(made))]


def foot(text: str, left: float = 0.49) -> Row:
    return (0.95, left, left + 0.01 * len(text), text)


def test_a_footer_series_beats_wrong_embedded_labels() -> None:
    texts = [f"{BODY}2005-06 Budget Paper No. 3 {number} Strategies" for number in range(5, 11)]
    labelled = page_labels(pages(texts), [str(number) for number in range(1, 7)])
    assert labelled == [(str(number), "printed") for number in range(5, 11)]


def test_roman_front_matter_then_arabic() -> None:
    texts = [f"{BODY}{roman}" for roman in ("i", "ii", "iii", "iv")] + [
        f"{BODY}{number}" for number in range(1, 6)
    ]
    assert labels(texts) == ["i", "ii", "iii", "iv", "1", "2", "3", "4", "5"]


def test_a_page_without_its_number_gets_none_rather_than_a_guess() -> None:
    texts = [BODY + (str(number) if number != 4 else "") for number in range(1, 8)]
    assert labels(texts) == ["1", "2", "3", None, "5", "6", "7"]


def test_no_pages_have_no_labels() -> None:
    assert page_labels([], []) == []


def test_a_constant_number_is_no_series() -> None:
    assert labels([f"Annual Report 2026\n{BODY}" for _ in range(6)]) == [None] * 6


def test_embedded_labels_serve_where_nothing_is_printed() -> None:
    assert page_labels(pages([BODY] * 4), ["i", "ii", "1", "2"]) == [
        ("i", "pdf"),
        ("ii", "pdf"),
        ("1", "pdf"),
        ("2", "pdf"),
    ]


ROMAN_VALUES = case_rows("""
i   | 1
iv  | 4
IX  | 9
xiv | 14
xl  | 40
    | None
vx  | None
mix | None
""")


@pytest.mark.parametrize(("text", "value"), ROMAN_VALUES)
def test_roman_values(text: str, value: str) -> None:
    assert str(roman_value(text)) == value


@pytest.mark.parametrize(
    ("printed", "label"),
    [
        (lambda n: f"{n}", lambda n: f"{n}"),
        (lambda n: f"Page {n} of 20", lambda n: f"{n}"),
        (lambda n: f"{n}/20", lambda n: f"{n}"),
        (lambda n: f"{n} | Budget Paper No. 1", lambda n: f"{n}"),
        (lambda n: f"Annual Report 2025-26 {n}", lambda n: f"{n}"),
        (lambda n: f"- {n} -", lambda n: f"{n}"),
        (lambda n: f"-{n}-", lambda n: f"{n}"),
        (lambda n: f"A-{n}", lambda n: f"A-{n}"),
        (lambda n: f"F-{n}", lambda n: f"F-{n}"),
        (lambda n: f"B.{n}", lambda n: f"B.{n}"),
        (lambda n: f"2-{n}", lambda n: f"2-{n}"),
        (lambda n: f"II-{n}", lambda n: f"II-{n}"),
        (lambda n: ROMAN[n - 1], lambda n: ROMAN[n - 1]),
        (lambda n: f"({ROMAN[n - 1]})", lambda n: ROMAN[n - 1]),
        (lambda n: f"May 2008 v1.0 Page {n} of 11", lambda n: f"{n}"),
        (lambda n: f"2005-06 Budget Paper No. 3 {n} Strategies", lambda n: f"{n}"),
    ],
)
def test_every_form_of_a_page_number(printed: Callable[[int], str], label: Callable[[int], str]) -> None:
    sheets = [[*TEXT, foot(printed(number), 0.4)] for number in range(2, 9)]
    assert found(*sheets) == [label(number) for number in range(2, 9)]


@pytest.mark.parametrize("place", [0, 3, 7])
def test_a_foot_is_at_the_foot_wherever_the_text_has_it(place: int) -> None:
    sheets = [[*TEXT[:place], foot(str(number)), *TEXT[place:]] for number in range(11, 17)]
    assert found(*sheets) == [str(number) for number in range(11, 17)]


def test_numbers_alternate_between_the_outer_edges_beside_the_name_of_the_section() -> None:
    sections = ["Overview", "Overview", "Overview", "Debt", "Debt", "Debt", "Risks", "Risks"]
    sheets = []
    for number, section in enumerate(sections, 40):
        even = number % 2 == 0
        title = f"{number} Budget Book" if even else f"{section} {number}"
        sheets.append(
            [
                *TEXT,
                (0.95, 0.1, 0.1 + 0.01 * len(title), title)
                if even
                else (0.95, 0.9 - 0.01 * len(title), 0.9, title),
            ]
        )
    assert found(*sheets) == [str(number) for number in range(40, 48)]


def test_many_series_in_one_document() -> None:
    names = [*ROMAN[:4], *map(str, range(1, 8)), *(f"A-{n}" for n in range(1, 5)), *map(str, range(1, 4))]
    assert found(*([*TEXT, foot(name)] for name in names)) == names


def test_pages_left_out_and_put_in() -> None:
    names = ["1", "2", "3", "4", "", "5", "6", "7", "11", "12", "13", "15", "19", "20", "21"]
    assert found(*([*TEXT, *([foot(name)] if name else [])] for name in names)) == [
        name or None for name in names
    ]


def test_a_part_of_two_pages_in_the_place_of_the_series() -> None:
    names = [*map(str, range(1, 8)), "1", "2", "", "", ""]
    assert found(*([*TEXT, *([foot(name)] if name else [])] for name in names)) == [
        name or None for name in names
    ]
    assert found(*([*TEXT, foot(name)] for name in ("1", "2"))) == [None, None]


def test_two_documents_bound_together() -> None:
    first = [[*TEXT, foot(str(number))] for number in range(3, 12)]
    second = [[(0.04, 0.8, 0.9, f"Page {number}"), *TEXT] for number in range(1, 7)]
    assert found(*first, *second) == [*map(str, range(3, 12)), *map(str, range(1, 7))]


def test_a_number_glued_to_the_line_above_it() -> None:
    sheets = [[*TEXT, foot(str(number))] for number in range(1, 10)]
    made = [placed(rows, number) for number, rows in enumerate(sheets, 1)]
    text = made[4].text.removesuffix("\n5\n") + " 5\n"
    last = made[4].lines[-2]
    glued = Line(last.start, len(text) - 1, Rect(last.box.x0, last.box.y0, last.box.x1, 0.962))
    made[4] = Page(5, text, lines=(*made[4].lines[:-2], glued))
    assert [label for label, _ in page_labels(made, [None] * 9)] == [*map(str, range(1, 10))]


def test_a_sheet_set_sideways_has_its_number_in_the_margin() -> None:
    sheets = [[*TEXT, foot(str(number))] for number in range(1, 10)]
    sheets[5][-1] = (0.5, 0.03, 0.05, "6")
    assert found(*sheets)[5] == "6"
    sheets[5][-1] = (0.5, 0.03, 0.05, "7")
    assert found(*sheets)[5] is None


def test_numbers_floating_below_pages_of_different_length() -> None:
    sheets = [
        [*TEXT[: 3 + number % 4], (0.2 + 0.1 * (number % 4), 0.49, 0.51, str(number))]
        for number in range(1, 12)
    ]
    assert found(*sheets) == [*map(str, range(1, 12))]


NO_NUMBERS: dict[str, Callable[[int], list[Row]]] = {
    "years": lambda n: [(0.05, 0.8, 0.84, str(2015 + n)), *TEXT],
    "notes": lambda n: [
        *TEXT,
        (0.93, 0.1, 0.6, f"{n} The act of {'abcdefgh'[n]} was amended by the office of {'stuvwxyz'[n]}."),
    ],
    "paragraphs": lambda n: [
        (0.1, 0.1, 0.9, f"{n}. The committee saw that {'abcdefgh'[n]} had been done."),
        *TEXT,
    ],
    "demands": lambda n: [(0.05, 0.4, 0.6, f"DEMAND NO. {n}"), *TEXT],
    "chapters": lambda n: [(0.05, 0.4, 0.6, f"Chapter {n}"), *TEXT],
    "references": lambda n: [*TEXT, (0.95, 0.7, 0.9, f"(Continued on page {n + 1})")],
    "more references": lambda n: [*TEXT, (0.95, 0.7, 0.9, f"Continued on page {n + 1}")],
    "dates": lambda n: [(0.05, 0.4, 0.6, f"{n} May 2025"), *TEXT],
    "months": lambda n: [(0.05, 0.4, 0.6, f"May {n}"), *TEXT],
    "sums": lambda n: [*TEXT, (0.95, 0.1, 0.9, f"Total {n},000 {n}.5 {n}%")],
    "cells": lambda n: [*TEXT, (0.95, 0.1, 0.9, f"{'abcdefgh'[n]} 17 {n} 4")],
    "wide rows": lambda n: [*TEXT, (0.95, 0.1, 0.9, f"Receipts 17 4 {n} 9 12 31 of all")],
    "quarters": lambda n: [(0.05, 0.4, 0.43, f"Q{n}"), *TEXT],
    "in the body": lambda n: [
        *TEXT[:4],
        (0.5, 0.49, 0.51, str(n)),
        *((row[0] + 0.5, *row[1:]) for row in TEXT[:4]),
    ],
    "constant": lambda n: [(0.05, 0.4, 0.6, "Report 14"), *TEXT],
    "by two": lambda n: [*TEXT, foot(str(2 * n))],
}


@pytest.mark.parametrize("kind", NO_NUMBERS)
def test_what_counts_but_not_pages(kind: str) -> None:
    assert found(*(NO_NUMBERS[kind](n) for n in range(1, 7))) == [None] * 6


def test_the_printed_series_is_told_from_notes_and_demands_beside_it() -> None:
    sheets = [
        [*NO_NUMBERS["demands"](n), *NO_NUMBERS["notes"](n)[-1:], foot(str(n + 30))] for n in range(1, 7)
    ]
    assert found(*sheets) == [str(n + 30) for n in range(1, 7)]


def test_a_weaker_series_does_not_fill_the_gaps_of_a_stronger_one() -> None:
    sheets = [
        [*([(0.05, 0.1, 0.12, str(n))] if n < 7 else []), *TEXT, *([foot(str(n + 30))] if n != 4 else [])]
        for n in range(1, 11)
    ]
    assert found(*sheets) == [str(n + 30) if n != 4 else None for n in range(1, 11)]


def test_numbers_now_at_the_head_and_now_at_the_foot_are_no_series() -> None:
    assert found(*([*TEXT, (0.95 if n % 2 else 0.05, 0.49, 0.51, str(n))] for n in range(1, 5))) == [None] * 4


def test_the_next_number_in_another_place_needs_a_series_on_either_side() -> None:
    sheets = [[*TEXT, foot(str(n))] for n in range(1, 7)] + [[(0.05, 0.1, 0.12, "7"), *TEXT]]
    assert found(*sheets) == [*map(str, range(1, 7)), None]


def test_the_files_own_labels_are_judged_stretch_by_stretch() -> None:
    printed = ["i", "", "iii", "iv", "v", "", "2", "3", "4", "", "6"]
    embedded = ["i", "ii", "iii", "iv", "v", *(str(n) for n in range(6, 12))]
    sheets = [[*TEXT, *([foot(name)] if name else [])] for name in printed]
    assert found(*sheets, embedded=embedded) == ["i", "ii", "iii", "iv", "v", None, "2", "3", "4", None, "6"]


def test_the_files_own_labels_are_judged_by_the_nearest_numbers() -> None:
    printed = [*map(str, range(1, 31)), "", "30", "31", "32"]
    sheets = [[*TEXT, *([foot(name)] if name else [])] for name in printed]
    assert found(*sheets, embedded=[str(n) for n in range(1, 35)])[30] is None


def test_a_page_that_names_another_number_does_not_get_the_files_own() -> None:
    sheets = [[*TEXT, foot(str(number))] for number in range(1, 9)] + [[*TEXT, (0.9, 0.1, 0.2, "Page 2")]]
    assert found(*sheets, embedded=[str(n) for n in range(1, 10)])[8] is None


NOISE = [
    "{}",
    "Table {}",
    "Total {} {}",
    "{}% of revenue",
    "Revenue {}",
    "{} Note",
    "${}",
    "FY {}",
    "Q{}",
    "({})",
]
HEIGHTS = [0.03, 0.05, 0.08, 0.11, 0.3, 0.7, 0.9, 0.93, 0.97]


@settings(max_examples=200)
@given(st.integers(0, 2**32))
def test_no_page_gets_a_wrong_label(seed: int) -> None:
    """Random series with numbers missing, among random figures: every label is the printed one, or none."""
    chance = Random(seed)
    sheets, truth = [], []
    for form in chance.choices(["", "A-", "roman", "F-", "none"], k=chance.randint(1, 5)):
        first = chance.randint(1, 30)
        for at in range(chance.randint(1, 12)):
            name = (
                {"roman": ROMAN[at], "none": ""}.get(form, f"{form}{first + at}")
                if chance.random() < 0.85
                else ""
            )
            figures = [
                chance.choice([chance.randint(50, 90), chance.randint(1990, 2030)])
                for _ in range(chance.randint(0, 4))
            ]
            lefts = [chance.choice([0.05, 0.1, 0.3, 0.49, 0.8]) for _ in figures]
            noise = [
                (chance.choice(HEIGHTS), left, left + 0.1, chance.choice(NOISE).format(figure, figure))
                for left, figure in zip(lefts, figures, strict=True)
            ]
            sheets.append([*noise, *TEXT, *([foot(name)] if name else [])])
            truth.append(name or None)
    wrong = [
        (label, name) for label, name in zip(found(*sheets), truth, strict=True) if label not in {name, None}
    ]
    assert not wrong


@pytest.mark.timed
def test_dense_pages_of_figures_take_no_time() -> None:
    made = []
    for number in range(1, 301):
        figures = " ".join([str(number)] * 5)
        sheet = [(0.015 * row, 0.1, 0.9, figures) for row in range(60)]
        made.append(placed(sheet, number))
    started = time.process_time()
    page_labels([*made, Page(301, "1 " * 50_000 + "\n" + "A-" * 50_000)], [None] * 301)
    assert time.process_time() - started < 5


def test_a_speech_with_its_numbers_at_the_head(shared: Path) -> None:
    read = read_document(shared / "policy" / "india_budget_speech_2025-26.pdf").pages
    assert [page.label for page in read] == [None] * 5 + [str(number) for number in range(2, 57)]


def test_a_quantity_in_the_first_line_that_rises_with_the_pages_is_no_label() -> None:
    assert (
        labels(
            [
                f"In this case the deficit ceiling is {number + 2} percent of output{BODY}"
                for number in range(1, 9)
            ]
        )
        == [None] * 8
    )
    assert (
        labels([f"Spending came to {number + 2} million crowns{BODY}" for number in range(1, 9)])
        == [None] * 8
    )
