"""Printed page numbers: series of every kind against what only looks like one, and against the file's own
labels.
"""

import time
from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingestion.pages.page_labels import page_labels, roman_value
from ingestion.records import Line, Page, Rect
from tests.case_rows import case_lines, case_rows

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
ROMAN = "i ii iii iv v vi vii viii ix x xi xii".split()


def numbers(first: int, last: int) -> list[str]:
    return [str(number) for number in range(first, last + 1)]


def pages(texts: Sequence[str]) -> list[Page]:
    """Pages whose lines stand from top to bottom."""
    made = []
    for number, text in enumerate(texts, 1):
        lines = list(filter(None, text.split("\n")))
        step = 0.94 / max(1, len(lines) - 1)
        rows = [(0.03 + step * at, 0.1, 0.1 + 0.008 * len(line), line) for at, line in enumerate(lines)]
        made.append(placed(rows, number))
    return made


def labels(texts: list[str]) -> list[str | None]:
    return [label for label, _ in page_labels(pages(texts), [None] * len(texts))]


def placed(rows: Sequence[Row], number: int = 1, height: float = 0.012) -> Page:
    """A page whose text has the rows in the order given, each with its place."""
    text, lines = "", []
    for top, left, right, line in rows:
        box = Rect(left, top, right, top + height)
        lines.append(Line(len(text), len(text) + len(line), box))
        text += line + "\n"
    return Page(number, text, lines=tuple(lines))


def found(*sheets: Sequence[Row], embedded: Sequence[str | None] = ()) -> list[str | None]:
    made = [placed(rows, number) for number, rows in enumerate(sheets, 1)]
    return [label for label, _ in page_labels(made, embedded or [None] * len(made))]


def foot(text: str, left: float = 0.49) -> Row:
    return (0.95, left, left + 0.01 * len(text), text)


def numbered(names: Sequence[str]) -> list[list[Row]]:
    """A page for each name, with that at its foot; "" is a page without one."""
    sheets = []
    for name in names:
        feet = [foot(name)] if name else []
        sheets.append([*TEXT, *feet])
    return sheets


def known(names: Sequence[str]) -> list[str | None]:
    """The labels of pages that are numbered so."""
    return [name or None for name in names]


def test_a_footer_series_beats_wrong_embedded_labels() -> None:
    printed = numbers(5, 10)
    texts = [f"{BODY}2005-06 Budget Paper No. 3 {number} Strategies" for number in printed]
    labelled = page_labels(pages(texts), numbers(1, 6))
    assert labelled == [(number, "printed") for number in printed]


# Pages by their numbers, "." for one without.
NUMBERED = case_lines("""
i ii iii iv 1 2 3 4 5
1 2 3 . 5 6 7
i ii iii iv 1 2 3 4 5 6 7 A-1 A-2 A-3 A-4 1 2 3
1 2 3 4 . 5 6 7 11 12 13 15 19 20 21
# a part of two pages in the place of the series
1 2 3 4 5 6 7 1 2 . . .
""")


@pytest.mark.parametrize("names", NUMBERED)
def test_series_follow_each_other_and_a_page_without_its_number_gets_none(names: str) -> None:
    printed = [name.strip(".") for name in names.split()]
    assert found(*numbered(printed)) == known(printed)


def test_a_constant_number_is_no_series() -> None:
    texts = [f"Annual Report 2026\n{BODY}"] * 6
    assert labels(texts) == [None] * 6


def test_embedded_labels_serve_where_nothing_is_printed() -> None:
    labelled = page_labels(pages([BODY] * 4), ["i", "ii", "1", "2"])
    assert labelled == [("i", "pdf"), ("ii", "pdf"), ("1", "pdf"), ("2", "pdf")]


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


FORMS = case_rows("""
{number}                                       | {number}
Page {number} of 20                            | {number}
{number}/20                                    | {number}
Annual Report 2025-26 {number}                 | {number}
- {number} -                                   | {number}
-{number}-                                     | {number}
A-{number}                                     | A-{number}
F-{number}                                     | F-{number}
B.{number}                                     | B.{number}
2-{number}                                     | 2-{number}
II-{number}                                    | II-{number}
{roman}                                        | {roman}
({roman})                                      | {roman}
May 2008 v1.0 Page {number} of 11              | {number}
2005-06 Budget Paper No. 3 {number} Strategies | {number}
""")
FORMS += [("{number} | Budget Paper No. 1", "{number}")]


@pytest.mark.parametrize(("printed", "label"), FORMS)
def test_every_form_of_a_page_number(printed: str, label: str) -> None:
    sheets, expected = [], []
    for number in range(2, 9):
        roman = ROMAN[number - 1]
        text = printed.format(number=number, roman=roman)
        sheets.append([*TEXT, foot(text, 0.4)])
        expected.append(label.format(number=number, roman=roman))
    assert found(*sheets) == expected


@pytest.mark.parametrize("place", [0, 3, 7])
def test_a_foot_is_at_the_foot_wherever_the_text_has_it(place: int) -> None:
    names = numbers(11, 16)
    sheets = [[*TEXT[:place], foot(name), *TEXT[place:]] for name in names]
    assert found(*sheets) == names


def test_numbers_alternate_between_the_outer_edges_beside_the_name_of_the_section() -> None:
    sections = ["Overview", "Overview", "Overview", "Debt", "Debt", "Debt", "Risks", "Risks"]
    sheets = []
    for number, section in enumerate(sections, 40):
        even = number % 2 == 0
        title = f"{number} Budget Book" if even else f"{section} {number}"
        width = 0.01 * len(title)
        row = (0.95, 0.1, 0.1 + width, title) if even else (0.95, 0.9 - width, 0.9, title)
        sheets.append([*TEXT, row])
    assert found(*sheets) == numbers(40, 47)


def test_two_pages_are_no_series() -> None:
    assert found(*numbered(["1", "2"])) == [None, None]


def test_two_documents_bound_together() -> None:
    first = numbered(numbers(3, 11))
    second = [[(0.04, 0.8, 0.9, f"Page {number}"), *TEXT] for number in range(1, 7)]
    assert found(*first, *second) == numbers(3, 11) + numbers(1, 6)


def test_a_number_glued_to_the_line_above_it() -> None:
    names = numbers(1, 9)
    made = [placed(rows, number) for number, rows in enumerate(numbered(names), 1)]
    fifth = made[4]
    text = fifth.text.removesuffix("\n5\n") + " 5\n"
    last = fifth.lines[-2]
    box = Rect(last.box.x0, last.box.y0, last.box.x1, 0.962)
    glued = Line(last.start, len(text) - 1, box)
    made[4] = Page(5, text, lines=(*fifth.lines[:-2], glued))
    assert [label for label, _ in page_labels(made, [None] * 9)] == names


def test_a_sheet_set_sideways_has_its_number_in_the_margin() -> None:
    low = [(top + 0.6, left, right, line) for top, left, right, line in TEXT]
    sheets = numbered(numbers(1, 9))
    for number, label in (("6", "6"), ("7", None)):
        sheets[5] = [*TEXT, (0.5, 0.03, 0.05, number), *low]
        assert found(*sheets)[5] == label


def test_numbers_floating_below_pages_of_different_length() -> None:
    sheets = []
    for number in range(1, 12):
        length = number % 4
        sheets.append([*TEXT[: 3 + length], (0.2 + 0.1 * length, 0.49, 0.51, str(number))])
    assert found(*sheets) == numbers(1, 11)


# The name of each, its height, left and right, and its text.
NO_NUMBERS = case_rows("""
years           | 0.05 | 0.8  | 0.84 | {year}
notes           | 0.93 | 0.1  | 0.6  | {number} The act of {letter} was amended by the office of {other}.
paragraphs      | 0.1  | 0.1  | 0.9  | {number}. The committee saw that {letter} had been done.
demands         | 0.05 | 0.4  | 0.6  | DEMAND NO. {number}
chapters        | 0.05 | 0.4  | 0.6  | Chapter {number}
references      | 0.95 | 0.7  | 0.9  | (Continued on page {next})
more references | 0.95 | 0.7  | 0.9  | Continued on page {next}
dates           | 0.05 | 0.4  | 0.6  | {number} May 2025
months          | 0.05 | 0.4  | 0.6  | May {number}
sums            | 0.95 | 0.1  | 0.9  | Total {number},000 {number}.5 {number}%
cells           | 0.95 | 0.1  | 0.9  | {letter} 17 {number} 4
wide rows       | 0.95 | 0.1  | 0.9  | Receipts 17 4 {number} 9 12 31 of all
quarters        | 0.05 | 0.4  | 0.43 | Q{number}
constant        | 0.05 | 0.4  | 0.6  | Report 14
by two          | 0.95 | 0.49 | 0.51 | {double}
""")
PLACES = {kind: (float(top), float(left), float(right)) for kind, top, left, right, _ in NO_NUMBERS}
WORDINGS = {kind: wording for kind, *_, wording in NO_NUMBERS}


def counted(kind: str, number: int) -> Row:
    """A row that counts something on this page, but not the pages."""
    text = WORDINGS[kind].format(
        number=number,
        next=number + 1,
        double=2 * number,
        year=2015 + number,
        letter="abcdefgh"[number],
        other="stuvwxyz"[number],
    )
    return (*PLACES[kind], text)


@pytest.mark.parametrize("kind", WORDINGS)
def test_what_counts_but_not_pages(kind: str) -> None:
    sheets = []
    for number in range(1, 7):
        row = counted(kind, number)
        sheets.append([row, *TEXT] if row[0] < 0.5 else [*TEXT, row])
    assert found(*sheets) == [None] * 6


def test_a_number_in_the_body_counts_no_pages() -> None:
    above = TEXT[:4]
    under = [(top + 0.5, left, right, line) for top, left, right, line in above]
    sheets = [[*above, (0.5, 0.49, 0.51, name), *under] for name in numbers(1, 6)]
    assert found(*sheets) == [None] * 6


def test_the_printed_series_is_told_from_notes_and_demands_beside_it() -> None:
    sheets = []
    for number in range(1, 7):
        demand, note = counted("demands", number), counted("notes", number)
        sheets.append([demand, *TEXT, note, foot(str(number + 30))])
    assert found(*sheets) == numbers(31, 36)


def test_a_weaker_series_does_not_fill_the_gaps_of_a_stronger_one() -> None:
    names = numbers(31, 40)
    names[3] = ""
    sheets = numbered(names)
    for number, sheet in enumerate(sheets[:6], 1):
        sheet.insert(0, (0.05, 0.1, 0.12, str(number)))
    assert found(*sheets) == known(names)


def test_numbers_now_at_the_head_and_now_at_the_foot_are_no_series() -> None:
    sheets = []
    for number in range(1, 5):
        top = 0.95 if number % 2 else 0.05
        sheets.append([*TEXT, (top, 0.49, 0.51, str(number))])
    assert found(*sheets) == [None] * 4


def test_the_next_number_in_another_place_needs_a_series_on_either_side() -> None:
    last: list[Row] = [(0.05, 0.1, 0.12, "7"), *TEXT]
    names = numbers(1, 6)
    assert found(*numbered(names), last) == [*names, None]


def test_the_files_own_labels_are_judged_stretch_by_stretch() -> None:
    printed = ["i", "", "iii", "iv", "v", "", "2", "3", "4", "", "6"]
    embedded = [*ROMAN[:5], *numbers(6, 11)]
    given = found(*numbered(printed), embedded=embedded)
    assert given == ["i", "ii", "iii", "iv", "v", None, "2", "3", "4", None, "6"]


def test_the_files_own_labels_are_judged_by_the_nearest_numbers() -> None:
    printed = [*numbers(1, 30), "", "30", "31", "32"]
    given = found(*numbered(printed), embedded=numbers(1, 34))
    assert given[30] is None


def test_a_page_that_names_another_number_does_not_get_the_files_own() -> None:
    last: list[Row] = [*TEXT, (0.9, 0.1, 0.2, "Page 2")]
    given = found(*numbered(numbers(1, 8)), last, embedded=numbers(1, 9))
    assert given[8] is None


NOISE = "{}|Table {}|Total {} {}|{}% of revenue|Revenue {}|{} Note|${}|FY {}|Q{}|({})".split("|")
HEIGHTS = [0.03, 0.05, 0.08, 0.11, 0.3, 0.7, 0.9, 0.93, 0.97]
LEFTS = [0.05, 0.1, 0.3, 0.49, 0.8]
SERIES = ["", "A-", "roman", "F-", "none"]


def noise(chance: Random) -> list[Row]:
    """Up to four figures in words of all kinds, anywhere on the page."""
    rows = list[Row]()
    for _ in range(chance.randint(0, 4)):
        figure = chance.choice([chance.randint(50, 90), chance.randint(1990, 2030)])
        left = chance.choice(LEFTS)
        text = chance.choice(NOISE).format(figure, figure)
        rows.append((chance.choice(HEIGHTS), left, left + 0.1, text))
    return rows


def stretch(chance: Random) -> list[str]:
    """Up to twelve numbers of a series, some of them missing."""
    form, first = chance.choice(SERIES), chance.randint(1, 30)
    names = []
    for place in range(chance.randint(1, 12)):
        special = {"roman": ROMAN[place], "none": ""}
        name = special.get(form, f"{form}{first + place}")
        names.append(name if chance.random() < 0.85 else "")
    return names


@settings(max_examples=200)
@given(st.integers(0, 2**32))
def test_no_page_gets_a_wrong_label(seed: int) -> None:
    """Random series with numbers missing, among random figures: every label is the printed one, or none."""
    chance = Random(seed)
    names = list[str]()
    for _ in range(chance.randint(1, 5)):
        names += stretch(chance)
    sheets = [[*noise(chance), *sheet] for sheet in numbered(names)]
    pairs = zip(found(*sheets), known(names), strict=True)
    wrong = [(label, name) for label, name in pairs if label not in {name, None}]
    assert not wrong


@pytest.mark.timed
def test_dense_pages_of_figures_take_no_time() -> None:
    made = []
    for number in range(1, 301):
        figures = " ".join([str(number)] * 5)
        sheet = [(0.015 * row, 0.1, 0.9, figures) for row in range(60)]
        made.append(placed(sheet, number))
    longest = Page(301, "1 " * 50_000 + "\n" + "A-" * 50_000)
    started = time.process_time()
    page_labels([*made, longest], [None] * 301)
    assert time.process_time() - started < 5


def test_a_quantity_in_the_first_line_that_rises_with_the_pages_is_no_label() -> None:
    rising = numbers(3, 10)
    ceilings = [f"In this case the deficit ceiling is {number} percent of output{BODY}" for number in rising]
    assert labels(ceilings) == [None] * 8
    costs = [f"Spending came to {number} million crowns{BODY}" for number in rising]
    assert labels(costs) == [None] * 8
