"""Titles in the store: found once and kept, for documents added earlier too, and no two alike."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from chatbot.store.document_names import told_apart, with_names
from chatbot.store.library import Library
from ingestion.document import DocumentReading
from ingestion.records import DocumentFacts, DocumentInfo, Line, Page, Rect
from tests.chatbot.store.libraries import add_pages, open_library

# What differs by the engine: what is written, deleted, and looked for in rows.
on_both = pytest.mark.usefixtures("engine")

COVER = "Republic of Norland\nBudget Book {}\n"
TITLE = "Republic of Norland, Budget Book 2025"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def library(home: Path, tmp_path: Path) -> Iterator[Library]:
    opened = open_library(home)
    add_pages(opened, tmp_path / "bb_2025.pdf", [COVER.format(2025)])
    yield opened
    opened.close()


def kept(library: Library) -> list[tuple[str, ...]]:
    return library.catalog.read("select title from found_title order by version")


@on_both
def test_a_title_is_found_when_a_document_is_read_and_kept(library: Library) -> None:
    assert kept(library) == [(TITLE,)]
    assert library.catalog.titles() == {"bb_2025.pdf": TITLE}


def test_the_size_of_a_title_counts_which_is_known_only_while_a_document_is_read(library: Library) -> None:
    lines = [
        "Fees and Charges 2025",
        "Open to all who live here",
        "The Board reviews this policy once a year and reports to the Committee",
        "on what it finds, which it has done since.",
    ]
    found = []
    for heights in ((0.03, 0.01, 0.01, 0.01), (0.01, 0.01, 0.01, 0.01)):
        boxes = [Rect(0.1, 0.1 * at, 0.8, 0.1 * at + height) for at, height in enumerate(heights, 1)]
        starts = ["\n".join(lines).index(line) for line in lines]
        placed = tuple(
            Line(start, start + len(line), box) for start, line, box in zip(starts, lines, boxes, strict=True)
        )
        page = Page(1, "\n".join(lines), lines=placed)
        reading = DocumentReading(DocumentInfo(1, None, (None,), False), (page,))
        version = library.catalog.begin(f"{heights[0]}.pdf", f"{heights[0]:064}", None, protected=False)
        library.catalog.fill(version, reading, [], b"")
        found.append(kept(library)[-1])
    assert found == [("Fees and Charges 2025",), ("Open to all who live here",)]


def test_a_document_without_a_title_has_its_name_tidied(library: Library, tmp_path: Path) -> None:
    add_pages(library, tmp_path / "net_debt-2024.pdf", ["17 4\n"])
    add_pages(library, tmp_path / "8071_093.3B.pdf", ["17 5\n"])
    titles = library.catalog.titles()
    assert titles["net_debt-2024.pdf"] == "Net debt 2024"
    assert titles["8071_093.3B.pdf"] == "8071_093.3B.pdf"


def test_a_corrected_period_is_in_the_title(library: Library, tmp_path: Path) -> None:
    add_pages(library, tmp_path / "plan.pdf", ["Republic of Norland\nFiscal Strategy\n"])
    assert library.catalog.titles()["plan.pdf"] == "Republic of Norland, Fiscal Strategy"
    library.correct("plan.pdf", DocumentFacts("2027", None))
    assert library.catalog.titles()["plan.pdf"] == "Republic of Norland, Fiscal Strategy 2027"


@on_both
def test_another_version_has_its_own_title(library: Library, tmp_path: Path) -> None:
    assert library.catalog.titles() == {"bb_2025.pdf": TITLE}
    path = tmp_path / "newer.pdf"
    add_pages(library, path, [COVER.format(2026)], "bb_2025.pdf")
    assert library.catalog.titles() == {"bb_2025.pdf": TITLE.replace("2025", "2026")}


def test_the_same_file_under_two_names_is_told_apart_by_name(library: Library, tmp_path: Path) -> None:
    add_pages(library, tmp_path / "copy.pdf", [COVER.format(2025)])
    titles = library.catalog.titles()
    assert titles == {"bb_2025.pdf": f"{TITLE} (bb_2025.pdf)", "copy.pdf": f"{TITLE} (copy.pdf)"}


def test_one_title_is_told_apart_by_period_or_else_by_name() -> None:
    titles = {"a.pdf": "Acme, report", "b.pdf": "Acme, Report", "c.pdf": "Acme, plan"}
    periods = {"a.pdf": "2023", "b.pdf": "2024", "c.pdf": "2024"}
    assert list(told_apart(titles, periods).values()) == [
        "Acme, report 2023",
        "Acme, Report 2024",
        "Acme, plan",
    ]
    alike = told_apart(titles, dict.fromkeys(titles, "2024"))
    assert list(alike.values()) == ["Acme, report (a.pdf)", "Acme, Report (b.pdf)", "Acme, plan"]


def test_names_that_are_long_and_nearly_alike_tell_titles_apart_too() -> None:
    names = [f"{'a' * 90}{number}{'b' * 90}.pdf" for number in range(3)]
    shown = told_apart(dict.fromkeys(names, "Report"), dict.fromkeys(names, ""))
    assert len(set(shown.values())) == 3


def test_whole_titles_in_a_text_give_way_to_names() -> None:
    titles = {"fr_24.pdf": "Acme’s Foods, annual report 2024", "fr.pdf": "Acme’s Foods", "b.pdf": "Budget"}
    assert with_names("Summarise Acme's Foods,  annual report 2024.", titles) == "Summarise fr_24.pdf."
    assert with_names("summarise ACME’S FOODS", titles) == "summarise fr.pdf"
    assert with_names("What is the budget of Acme’s Foodstuffs?", titles) == (
        "What is the budget of Acme’s Foodstuffs?"
    )
