"""How a document's pages were read, in a strip, in facts and in a table."""

from __future__ import annotations

import re

from chatbot.records import PageReport
from chatbot.ui.page_report import MOST_ROWS, facts_html, kind_of, number_runs, pages_html, ranges, strip_html


def page(
    number: int,
    method: str = "text",
    *,
    label: str | None = None,
    confidence: float | None = None,
    problem: str | None = None,
) -> PageReport:
    source = "printed" if label else None
    return PageReport(number, label, source, method, 1_234, confidence, problem, tables=number % 2)


PAGES = [
    page(1, label="i"),
    page(2, "text-pypdf", label="ii"),
    page(3, "ocr", label="1", confidence=91.4),
    page(4, "text+ocr", confidence=62.0),
    page(5, "none"),
    page(6, problem="It broke <here>."),
]


def test_each_page_is_of_one_kind() -> None:
    kinds = list(map(kind_of, PAGES))
    assert kinds == ["text", "text", "ocr", "both", "none", "failed"]


def test_the_strip_names_every_page_and_counts_each_kind() -> None:
    shown = strip_html(PAGES)
    assert shown.count("title=") == len(PAGES)
    assert (
        'class="ocr tables" title="Page 3 (printed\xa01): read by OCR, confidence 91 of 100, 1 table" '
        'data-page="3"'
    ) in shown
    assert 'title="Page 6: not read. It broke &lt;here&gt;."' in shown
    told = (
        "2 text of the PDF 1 read by OCR 1 text, and pictures read by OCR 1 no text found 1 not read 3 with"
    )
    assert told in " ".join(re.sub("<[^>]*>", " ", shown).split())
    assert "repeat(6," in shown


def test_the_legend_has_only_what_occurs() -> None:
    both = strip_html(PAGES[:2])
    assert both.count("<i ") == 2
    second = strip_html(PAGES[1:2])
    assert second.count("<i ") == 1


def test_a_long_strip_keeps_to_its_rows() -> None:
    long = [page(number) for number in range(1, 589)]
    assert "repeat(100," in strip_html(long)
    longer = [page(number) for number in range(1, 6_001)]
    columns = 6_000 // MOST_ROWS
    assert f"repeat({columns}," in strip_html(longer)


def test_the_facts_are_of_all_pages() -> None:
    shown = facts_html(PAGES)
    for fact in (
        "2 pages, confidence 77 of 100, lowest 62 on page 4",
        "i–ii, 1; none on 3 pages",
        "<dd>page 6</dd>",
    ):
        assert fact in shown
    plain = facts_html([page(2)])
    assert "none found" in plain
    assert "not needed" in plain
    assert "Not read" not in plain


def test_series_of_printed_numbers_go_on_over_pages_without_one() -> None:
    labels = ["i", "ii", "iii", None, "1", "2", None, "4", "A-1", "A-2", "Cover"]
    pages = [page(number, label=label) for number, label in enumerate(labels, 1)]
    runs = number_runs(pages)
    assert runs == [("i", "iii"), ("1", "4"), ("A-1", "A-2"), ("Cover", "Cover")]


def test_ranges_are_told_shortly() -> None:
    assert ranges([1, 2, 3, 7]) == "1–3, 7"
    assert ranges(range(1, 40, 2)) == "1, 3, 5, 7, 9, 11 and 14 more"


def test_the_table_has_a_line_for_each_page() -> None:
    shown = pages_html(PAGES)
    assert shown.count("<tr>") == len(PAGES) + 1
    assert (
        "<td>6</td><td>–</td><td>–</td><td>text of the PDF</td><td>–</td><td>–</td><td>1,234</td><td>It "
        "broke &lt;here&gt;.</td>"
    ) in shown
    assert "<td>header or footer</td><td>text of the PDF, second reader</td>" in shown
