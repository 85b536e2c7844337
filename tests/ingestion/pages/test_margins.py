"""Running heads and feet: by their places, and by the order of the text where there are none."""

from collections.abc import Sequence
from dataclasses import replace

from ingestion.pages.margins import edge_rows, running_lines, running_spans, usual_height
from ingestion.records import Line, Page, Rect, Table

WORDS = ["reserve", "levy", "grant", "fund", "bond", "duty"]
# A row of a page: height, left, right, text.
Row = tuple[float, float, float, str]


def placed(number: int, *rows: Row) -> Page:
    """A page with its number as label, whose text has the rows in the order given, each with its place."""
    text, lines = "", []
    for top, left, right, line in rows:
        lines.append(
            Line(len(text), len(text) + len(line), Rect(left, top, right, top + 0.012 if top < 1 else top))
        )
        text += line + "\n"
    return Page(number, text, label=str(number), lines=tuple(lines))


def body(number: int, start: float = 0.15) -> list[Row]:
    """Ten lines of text, none like that of another page."""
    return [
        (
            start + 0.016 * row,
            0.1,
            0.9,
            f"The {WORDS[number % 6]} of line {row} is {chr(97 + number)}{chr(97 + row)}.",
        )
        for row in range(10)
    ]


def cut(pages: Sequence[Page]) -> list[str]:
    running = running_lines(pages)
    found = []
    for page in pages:
        found.append("".join(page.text[start:end] for start, end in running_spans(page, running)))
    return found


def test_a_body_is_the_page_without_its_running_lines() -> None:
    bodies = [f"The {word} is used.\nMore about {word}.\n" for word in WORDS[:5]]
    texts = [
        f"BUDGET BOOK 2025\n{body}Budget Book 2025-26 {n}.1 {body[:3]}\n{n}"
        for n, body in enumerate(bodies, 1)
    ]
    gone = cut([Page(number, text) for number, text in enumerate(texts, 1)])
    assert [len(text) - len(lost) for text, lost in zip(texts, gone, strict=True)] == [
        len(body) for body in bodies
    ]
    assert all(body.split()[1] not in lost for body, lost in zip(bodies, gone, strict=True))
    assert running_spans(Page(9, ""), running_lines([])) == ()


def test_a_running_head_is_found_behind_a_footnote() -> None:
    texts = [
        (
            f"{word} first.\n{word} second.\n{word} third.\nStatement of 2025 {word}\n1 {word} "
            f"footnote.\nMinistry {n}"
        )
        for n, word in enumerate(WORDS[:5])
    ]
    assert cut([Page(number, text) for number, text in enumerate(texts, 1)])[1].startswith(
        "Statement of 2025 levy\n"
    )


def test_heads_and_feet_stand_at_the_edges_wherever_the_text_has_them() -> None:
    head, foot = (0.05, 0.4, 0.6, "BUDGET BOOK"), (0.94, 0.1, 0.3, "Ministry of Finance")
    pages = [
        placed(n, *body(n)[:5], head, (0.94, 0.88, 0.9, str(n)), foot, *body(n)[5:]) for n in range(1, 6)
    ]
    assert cut(pages) == [f"BUDGET BOOK\n{n}\nMinistry of Finance\n" for n in range(1, 6)]


def test_the_same_line_in_the_body_is_no_running_line() -> None:
    pages = [placed(n, *body(n), (0.5, 0.1, 0.5, "None."), *body(n, 0.6)) for n in range(1, 6)]
    assert cut(pages) == [""] * 5


def test_the_same_line_on_pages_far_apart_is_no_running_line() -> None:
    pages = [
        placed(n, *([(0.05, 0.1, 0.5, "None of them.")] if n % 10 == 0 else []), *body(n))
        for n in range(1, 41)
    ]
    assert cut(pages) == [""] * 40


def test_notes_that_differ_in_their_numbers_are_no_running_line() -> None:
    pages = [
        placed(n, *body(n), (0.93, 0.1, 0.5, f"Lewis, supra note {40 + 2 * n}, at {300 - 7 * n}."))
        for n in range(1, 6)
    ]
    assert cut(pages) == [""] * 5


def test_heads_of_a_long_table_are_no_running_line() -> None:
    table = [(0.1, 0.1, 0.9, "Particulars Actuals Budget Revised"), (0.116, 0.3, 0.9, "in crore 2024 2025")]
    rows = [
        (0.132 + 0.016 * row, 0.1, 0.9, f"{WORDS[row]} receipts 1,24{row}.3 99{row} 1,300")
        for row in range(6)
    ]
    pages = [placed(n, (0.04, 0.4, 0.6, "BUDGET BOOK"), *table, *rows) for n in range(1, 6)]
    assert cut(pages) == ["BUDGET BOOK\n"] * 5
    columns = [
        (0.1, 0.1 + 0.2 * at, 0.2 + 0.2 * at, name)
        for at, name in enumerate(("Plant", "Place", "Owner", "Share"))
    ]
    assert (
        cut([placed(n, (0.04, 0.4, 0.6, "BUDGET BOOK"), *columns, *body(n)) for n in range(1, 6)])
        == ["BUDGET BOOK\n"] * 5
    )
    caption = [(0.1, 0.1, 0.5, "Table 1. Plants"), (0.13, 0.1, 0.5, "Plant Owner")]
    assert cut([placed(n, *caption, *body(n, 0.2)) for n in range(1, 6)]) == [""] * 5


def test_what_is_in_a_table_that_was_found_is_no_running_line() -> None:
    pages = [placed(n, (0.05, 0.1, 0.5, "Ministry and Department"), *body(n)) for n in range(1, 6)]
    assert cut(pages) == ["Ministry and Department\n"] * 5
    table = Table("", "", (), (), Rect(0.05, 0.04, 0.95, 0.4))
    assert cut([replace(page, tables=(table,)) for page in pages]) == [""] * 5


def test_the_number_of_the_page_goes_but_no_other() -> None:
    pages = [placed(n, *body(n), (0.93, 0.4, 0.41, str(n)), (0.96, 0.4, 0.42, "77")) for n in range(1, 6)]
    assert cut(pages) == [f"{n}\n" for n in range(1, 6)]


def test_text_off_the_sheet_runs() -> None:
    pages = [
        placed(n, *body(n), (1.0, 0.1, 0.5, f"chapter.indd {n} 03/10/2025 7:06 PM")) for n in range(1, 6)
    ]
    assert cut(pages)[2] == "chapter.indd 3 03/10/2025 7:06 PM\n"


def test_rows_are_counted_from_either_edge() -> None:
    page = placed(1, (0.05, 0.1, 0.2, "left"), (0.052, 0.8, 0.9, "right"), *body(1), (0.95, 0.49, 0.51, "7"))
    rows = edge_rows(page, usual_height([page]))
    assert [len(row.pieces) for row in rows if row.side == "head"] == [2, 1, 1]
    assert next(page.text[slice(*row.pieces[0])] for row in rows if row.side == "foot") == "7"
