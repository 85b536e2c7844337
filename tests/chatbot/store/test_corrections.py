"""What people say of a document counts instead of what it says itself, outlives re-reading and the
catalogue, and goes with its file.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from chatbot.errors import NotFoundError, UsageError
from chatbot.store.library import Library, Upload
from chatbot.store.rebuilding import rebuild
from ingestion.pages.document_facts import as_period
from ingestion.records import NO_FACTS, DocumentFacts
from tests.chatbot.store.libraries import add_pages, open_library
from tests.engines import settings_at
from tests.fakes import HashEmbedder
from tests.stores import add_now

# What differs by the engine: what is written, deleted, and looked for in rows.
on_both = pytest.mark.usefixtures("engine")

TEXT = "Budget statement 2024\n\nThe deficit ceiling is three per cent of output."
SAID = DocumentFacts("2031-32", "superseded")


@pytest.fixture
def library(home: Path, tmp_path: Path) -> Iterator[Library]:
    made = open_library(home)
    add_pages(made, tmp_path / "Budget.pdf", [TEXT])
    yield made
    made.close()


def facts(library: Library, name: str = "Budget.pdf") -> DocumentFacts:
    """As a search sees them, and as the list shows them."""
    (version,) = library.scope([name])
    (row,) = [row for row in library.catalog.documents() if row.name == name]
    assert library.facts(version) == DocumentFacts(row.period, row.status)
    return library.facts(version)


@on_both
def test_what_is_said_counts_and_can_be_taken_back(library: Library) -> None:
    assert facts(library) == DocumentFacts("2024", None)
    library.correct("Budget.pdf", SAID)
    assert facts(library) == SAID
    library.correct("Budget.pdf", DocumentFacts("", None))  # no period, and the status as the document says
    assert facts(library) == NO_FACTS
    library.correct("Budget.pdf", NO_FACTS)
    assert facts(library) == DocumentFacts("2024", None)
    assert library.catalog.own_facts(next(iter(library.scope([])))) == DocumentFacts("2024", None)


@on_both
def test_it_outlives_re_reading_and_comes_back_with_its_version(library: Library, tmp_path: Path) -> None:
    library.correct("Budget.pdf", SAID)
    assert library.read_again("Budget.pdf").status == "replaced"
    assert facts(library) == SAID
    add_pages(library, tmp_path / "Budget.pdf", ["Budget statement 2025\n\nAnother."])
    assert facts(library).period == "2025"
    library.restore("Budget.pdf")
    assert facts(library) == SAID


def test_two_names_of_one_file_share_it(library: Library, tmp_path: Path) -> None:
    shutil.copy(tmp_path / "Budget.pdf", tmp_path / "Copy.pdf")
    add_now(library, [Upload(tmp_path / "Copy.pdf")])
    library.correct("Copy.pdf", SAID)
    assert facts(library) == facts(library, "Copy.pdf") == SAID


@pytest.mark.parametrize("lost", [False, True], ids=["catalogue", "copies alone"])
def test_a_rebuild_keeps_it(library: Library, home: Path, lost: bool) -> None:
    library.correct("Budget.pdf", SAID)
    library.close()
    if lost:
        shutil.rmtree(home / "chroma_db")
    settings = settings_at(home)
    assert [result.error for result in rebuild(settings, {}, embedder=HashEmbedder())] == [None]
    opened = Library(settings, HashEmbedder())
    assert facts(opened) == SAID
    opened.close()


@on_both
def test_it_is_erased_with_its_document(library: Library, tmp_path: Path) -> None:
    library.correct("Budget.pdf", SAID)
    (version,) = library.catalog.stored()
    library.remove("Budget.pdf", purge=True)
    assert library.catalog.correction(version.sha256) == NO_FACTS
    add_now(library, [Upload(tmp_path / "Budget.pdf")])
    assert facts(library).period == "2024"


def test_what_is_no_period_or_no_status_is_refused(library: Library) -> None:
    for said in (DocumentFacts("soon", None), DocumentFacts(None, "excellent")):
        with pytest.raises(UsageError):
            library.correct("Budget.pdf", said)
    with pytest.raises(NotFoundError):
        library.correct("Other.pdf", SAID)
    assert facts(library).period == "2024"


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("2025", "2025"),
        (" FY 2025/26 ", "2025-26"),
        ("2025-2026", "2025-26"),
        ("2025–28", "2025-2028"),
        ("2025 to 2027", "2025-2027"),
        *((none, "") for none in ("2025-24", "25", "soon", "2025 2026 2027", "x" * 9_999)),
    ],
)
def test_periods_are_kept_as_documents_periods_are(written: str, kept: str) -> None:
    assert as_period(written) == kept
