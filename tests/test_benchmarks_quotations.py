"""The judge of quotations judges right: what is quoted of a page, where it is cut, and what a mark covers."""

from __future__ import annotations

import pytest

from benchmarks.quotation_judging import Sheet, Shown, plain, shown_parts
from ingestion.reading.pdf import PdfFile
from ingestion.records import Rect
from tests.case_rows import case_rows
from tests.pdfs import make_pdf

PAGE = """Revenue fell by 2 per cent. Costs rose, as wages did,
and the loss came to 4 million.
Assets 2024 2023
Cash 12 11
Loans 40 44
Cash and loans are at fair value."""


@pytest.fixture(scope="module")
def sheet(tmp_path_factory: pytest.TempPathFactory) -> Sheet:
    path = make_pdf(tmp_path_factory.mktemp("sheet") / "a.pdf", [PAGE])
    _, _, words = PdfFile(path).words(1)
    return Sheet(words)


def span(text: str) -> tuple[int, int]:
    sought = plain(text)
    start = plain(PAGE).index(sought)
    return start, start + len(sought)


def full_stops(text: str) -> list[int]:
    """Ends of sentences, for texts without abbreviations."""
    return [at + 1 for at, letter in enumerate(text) if letter == "."]


# What is shown, what of the page it is, and whether that is whole and headed.
SHOWN = case_rows("""
Costs rose, as wages did, and the loss came to 4 million. | \
Costs rose, as wages did, and the loss came to 4 million | whole
Assets: Loans 40 44 (2024: 40; 2023: 44 (restated)) | Loans 40 44                              | whole, headed
Revenue fell by 2 per cent. … Loans 40 44           | Revenue fell by 2 per cent / Loans 40 44 | whole
Revenue fell by 2 per cent.\\nLoans 40 44            | Revenue fell by 2 per cent / Loans 40 44 |
""")


@pytest.mark.parametrize(("shown", "runs", "how"), SHOWN)
def test_what_is_quoted_is_found_with_its_gaps(sheet: Sheet, shown: str, runs: str, how: str) -> None:
    text = shown.replace("\\n", "\n")
    spans = tuple(map(span, runs.split(" / ")))
    expected = Shown(spans, "whole" in how, "headed" in how)
    assert shown_parts(text, sheet.letters, 0) == expected


def test_a_head_alone_and_words_of_no_page_are_not_found(sheet: Sheet) -> None:
    assert shown_parts("Assets 2024 2023: Gold 3 4", sheet.letters, 0) is None


CUT = case_rows("""
Revenue fell by 2 per cent.                               |
Costs rose, as wages did, and the loss came to 4 million. |
Costs rose, as wages did,                                 | ends
and the loss came to 4 million.                           | begins
""")


@pytest.mark.parametrize(("quoted", "cut"), CUT)
def test_sentences_that_are_cut_are_told(sheet: Sheet, quoted: str, cut: str) -> None:
    assert sheet.cuts(span(quoted), full_stops) == tuple(cut.split())


def test_a_mark_misses_words_or_covers_another_line(sheet: Sheet) -> None:
    lines = {}
    for line in sheet.lines:
        words = [word.text for word in sheet.words[line.first : line.last + 1]]
        letters = plain(" ".join(words))
        lines[letters] = line.box
    row, other = lines["loans4044"], lines["cash1211"]
    quoted = span("Loans 40 44")
    assert sheet.missed(quoted, [row]) == []
    assert sheet.foreign([quoted], [row]) == []
    assert sheet.missed(quoted, [other]) == ["Loans", "40", "44"]
    both = Rect(row.x0, other.y0, 1.0, row.y1)
    assert sheet.foreign([quoted], [both]) == ["Cash 12 11"]
