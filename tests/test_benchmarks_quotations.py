"""The judge of quotations judges right: what is quoted of a page, where it is cut, and what a mark covers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.quotation_judging import Sheet, Shown, plain, shown_parts
from benchmarks.tatqa_pages import load_tatqa
from ingestion.reading.pdf import PdfFile
from ingestion.records import Rect
from tests.case_rows import case_rows
from tests.commands import usage_of
from tests.pdfs import make_pdf

PAGE = """Revenue fell by 2 per cent. Costs rose, as wages did,
and the loss came to 4 million.
Assets 2024 2023
Cash 12 11
Loans 40 44
Cash and loans are at fair value."""
REVENUE = "Revenue fell by 2 per cent"
COSTS = "Costs rose, as wages did, and the loss came to 4 million"
LOANS = "Loans 40 44"


@pytest.fixture(scope="module")
def sheet(tmp_path_factory: pytest.TempPathFactory) -> Sheet:
    path = make_pdf(tmp_path_factory.mktemp("sheet") / "a.pdf", [PAGE])
    _, _, words = PdfFile(path).words(1)
    return Sheet(words)


def span(text: str) -> tuple[int, int]:
    letters = plain(text)
    start = plain(PAGE).index(letters)
    return start, start + len(letters)


def full_stops(text: str) -> list[int]:
    """Ends of sentences, for texts without abbreviations."""
    return [at + 1 for at, letter in enumerate(text) if letter == "."]


def test_the_script_says_how_it_is_used() -> None:
    usage = usage_of("benchmarks/quotations.py")
    assert usage.startswith("usage:")


@pytest.mark.parametrize(
    ("shown", "runs", "whole", "headed"),
    [
        ("Costs rose, as wages did, and the loss came to 4 million.", [COSTS], True, False),
        ("Assets: Loans 40 44 (2024: 40; 2023: 44 (restated))", [LOANS], True, True),
        ("Revenue fell by 2 per cent. … Loans 40 44", [REVENUE, LOANS], True, False),
        ("Revenue fell by 2 per cent.\nLoans 40 44", [REVENUE, LOANS], False, False),
    ],
)
def test_what_is_quoted_is_found_with_its_gaps(
    sheet: Sheet, shown: str, runs: list[str], whole: bool, headed: bool
) -> None:
    found = shown_parts(shown, sheet.letters, 0)
    spans = tuple(map(span, runs))
    assert found == Shown(spans, whole, headed)


def test_a_head_alone_and_words_of_no_page_are_not_found(sheet: Sheet) -> None:
    assert shown_parts("Assets 2024 2023: Gold 3 4", sheet.letters, 0) is None


def test_of_equal_words_the_nearest_are_meant(sheet: Sheet) -> None:
    letters = plain(PAGE)
    first = shown_parts("Cash", sheet.letters, 0)
    last = shown_parts("Cash", sheet.letters, len(sheet.letters))
    assert first
    assert last
    assert first.runs[0][0] == letters.index("cash")
    assert last.runs[0][0] == letters.rindex("cash")


@pytest.mark.parametrize(
    ("quoted", "cut"),
    case_rows(
        """
        Revenue fell by 2 per cent. |
        Costs rose, as wages did, and the loss came to 4 million. |
        Costs rose, as wages did, | ends
        and the loss came to 4 million. | begins
        """
    ),
)
def test_sentences_that_are_cut_are_told(sheet: Sheet, quoted: str, cut: str) -> None:
    cuts = sheet.cuts(span(quoted), full_stops)
    assert cuts == tuple(cut.split())


def test_rows_are_whole_lines_with_a_figure(sheet: Sheet) -> None:
    assert sheet.is_row(span(LOANS))
    assert not sheet.is_row(span("Loans 40"))
    assert not sheet.is_row(span("Cash and loans are at fair value"))


def test_a_mark_misses_words_or_covers_another_line(sheet: Sheet) -> None:
    lines = {}
    for line in sheet.lines:
        words = [word.text for word in sheet.words[line.first : line.last + 1]]
        lines[plain(" ".join(words))] = line.box
    row, other = lines["loans4044"], lines["cash1211"]
    both = Rect(row.x0, other.y0, 1.0, row.y1)
    quoted = span(LOANS)
    assert sheet.missed(quoted, [row]) == []
    assert sheet.foreign([quoted], [row]) == []
    assert sheet.missed(quoted, [other]) == ["Loans", "40", "44"]
    assert sheet.foreign([quoted], [both]) == ["Cash 12 11"]


def test_contexts_are_laid_out_as_pages(tmp_path: Path) -> None:
    rows = [["", "2019", "2018"], ["Total sales", "$1,496.5", "$1,202.9"]]
    context = {
        "table": {"uid": "ab-cd-ef-0123", "table": rows},
        "paragraphs": [{"order": 2, "text": "It rose & rose."}, {"order": 1, "text": "Sales by type."}],
        "questions": [{"uid": number, "question": f"{number}?", "answer_type": "span"} for number in "abc"],
    }
    path = tmp_path / "contexts.json"
    path.write_text(json.dumps([context]))
    found = load_tatqa(path, tmp_path / "pages", sample=2, seed=1)
    assert len(found.questions) == 2
    (page,) = found.files
    again = load_tatqa(path, tmp_path / "pages", sample=2, seed=1)
    assert again == found
    text, *_ = PdfFile(page).text(1)
    first, *between, last = text.split("\n")
    assert first == "Sales by type."
    assert last == "It rose & rose."
    assert any("Total sales" in line for line in between)
