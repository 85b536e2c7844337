"""What a guide says of a document: who issued it, what kind it is, and its parts."""

from __future__ import annotations

import pytest

from chatbot.search.document_description import (
    MOST_PARTS,
    bookmarked,
    issuer_of,
    kind_in,
    main_parts,
    printed,
)
from chatbot.search.sections import Section
from ingestion.records import Page


@pytest.mark.parametrize(
    ("title", "issuer", "kind"),
    [
        ("Netflix, annual report 2017", "Netflix", "Annual report"),
        ("Netflix, earnings release Q4 2022", "Netflix", "Earnings release"),
        ("Republic of Valmora, Budget Book 2025-26", "Republic of Valmora", "Budget Book"),
        ("Zambia, budget speech 2024", "Zambia", "Budget speech"),
        ("Transcript of Chair Powell's Press Conference – June 16, 2021", "", "Press Conference"),
        (
            "Semiannual Monetary Policy Report to the Congress of 2020",
            "",
            "Semiannual Monetary Policy Report",
        ),
        ("Net debt 2024", "", ""),
        ("Paper 4", "", "Paper"),
        ("", "", ""),
        ("موازنة 2024", "", "موازنة"),
        ("<b>x</b> [y](https:z)", "", ""),
    ],
)
def test_the_kind_is_in_the_title(title: str, issuer: str, kind: str) -> None:
    assert kind_in(title, issuer) == kind


def test_the_issuer_is_told_if_title_and_cover_agree() -> None:
    cover = Page(1, "Ministry of Finance\nGrowth, Jobs and Stability Report 2024\n")
    assert issuer_of("Ministry of Finance, Growth Report 2024", [cover]) == "Ministry of Finance"
    assert issuer_of("Growth, Jobs and Stability Report 2024", [cover]) == "Ministry of Finance"
    assert issuer_of("Growth, Jobs and Stability Report 2024", [Page(1, "Growth, Jobs and Stability")]) == ""
    assert issuer_of("", []) == ""


def test_an_outline_keeps_the_longest_parts_in_their_order() -> None:
    parts = [Section(f"Part {page}", page, page) for page in range(1, 100)]
    parts[49] = Section("Long", 50, 90)
    kept = main_parts(parts)
    assert len(kept) == MOST_PARTS
    assert parts[49] in kept
    assert list(kept) == sorted(kept, key=lambda part: part.page)


def test_bookmarks_of_a_file_are_its_outline() -> None:
    marks = [("Debt", 9, 0), (" ", 2, 0), ("Summary", 1, 0), ("Detail", 3, 1), ("Annex", 20, 0)]
    assert bookmarked(marks, 24) == [
        Section("Summary", 1, 8),
        Section("Debt", 9, 19),
        Section("Annex", 20, 24),
    ]
    below = [("Report", 1, 0), ("Debt", 2, 1), ("Annex", 2, 1)]
    assert [part.title for part in bookmarked(below, 3)] == ["Report", "Debt", "Annex"]
    assert bookmarked([("Report", 1, 0)], 3) == []


def test_bookmarks_that_are_not_printed_on_their_page_are_no_headings() -> None:
    texts = ["Budget Speech\n2025", "3. Debt\nand guarantees are …", "Reserves rose."]
    debt = ("3 Debt and Guarantees", 2, 0)
    marks = [("Blank Page", 3, 0), ("Budget speech", 1, 0), debt, ("Debt", 3, 0), ("Annex", 9, 0)]
    assert printed(marks, texts) == [("Budget speech", 1, 0), debt]
