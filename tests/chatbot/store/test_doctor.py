"""The doctor: a sound store says nothing, each kind of damage is named with its fix, and what can be
mended is.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from chatbot.settings import Settings
from chatbot.store.doctor import Finding, examine
from chatbot.store.kept_copies import Copies
from chatbot.store.library import Library, Upload
from chatbot.store.rebuilding import rebuild
from tests.fakes import HashEmbedder
from tests.pdfs import make_pdf
from tests.stores import add_now

PAGES = [f"On page {number} the deficit ceiling is {number} per cent of output." for number in range(1, 4)]
Opened = Callable[[], Library]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    """Opens the store anew each time; two documents are in it."""
    made: list[Library] = []

    def open_again() -> Library:
        for library in made:
            library.close()
        made[:] = [Library(Settings(home=tmp_path / "home"), HashEmbedder())]
        return made[0]

    first, second = (
        make_pdf(tmp_path / "Rules.pdf", PAGES),
        make_pdf(tmp_path / "Notes.pdf", ["Notes on the debt anchor of sixty per cent."]),
    )
    library = open_again()
    for path in (first, second):  # in this order, which tells the versions apart
        add_now(library, [Upload(path)])
    yield open_again
    made[0].close()


def problems(library: Library, *, repair: bool = False) -> list[Finding]:
    return list(examine(library, repair=repair))


def change(tmp_path: Path, statement: str) -> None:
    with closing(sqlite3.connect(tmp_path / "home" / "chroma_db" / "catalog.sqlite3")) as connection:
        connection.execute(statement)
        connection.commit()


def test_a_sound_store_says_nothing(opened: Opened) -> None:
    assert problems(opened()) == []
    assert problems(opened(), repair=True) == []


def test_lost_pages_are_read_again_from_the_copy(opened: Opened, tmp_path: Path) -> None:
    change(tmp_path, "delete from page where version = 1 and number = 2")
    (finding,) = problems(opened())
    assert finding.document == "Rules.pdf"
    assert "2 of 3 pages" in finding.problem
    (finding,) = problems(opened(), repair=True)
    assert finding.mended
    library = opened()
    assert problems(library) == []
    (version,) = library.scope(["Rules.pdf"])
    assert len(library.catalog.report(version)) == 3


def test_lost_vectors_are_made_again(opened: Opened, tmp_path: Path) -> None:
    change(tmp_path, "delete from vector where version = 1")
    assert [finding.document for finding in problems(opened())] == [
        "Rules.pdf",
        None,
    ]  # the index still has them
    problems(opened(), repair=True)
    assert problems(opened()) == []


@pytest.mark.parametrize("folder", ["keywords", "vectors"])
@pytest.mark.parametrize("how", ["deleted", "garbled"])
def test_a_damaged_index_is_made_anew_without_asking_for_files(
    opened: Opened, tmp_path: Path, folder: str, how: str
) -> None:
    library = opened()
    library.close()
    path = tmp_path / "home" / "chroma_db" / folder
    if how == "deleted":
        shutil.rmtree(path)
    else:
        for file in [
            file for file in path.rglob("*") if file.is_file() and file.name != ".tantivy-writer.lock"
        ]:
            file.write_bytes(b"\x00garbage" * 64)
    problems(opened(), repair=True)
    library = opened()
    assert problems(library) == []
    assert library.indexes.keywords.count() == 4
    assert library.indexes.vectors.count() == 4
    assert library.embedder.calls == 0  # type: ignore[attr-defined]


@pytest.mark.parametrize("folder", ["keywords", "vectors"])
def test_an_index_folder_deleted_while_running_is_made_anew_by_the_next_addition(
    opened: Opened, tmp_path: Path, folder: str
) -> None:
    library = opened()
    assert library.indexes.vectors.count() == 4
    shutil.rmtree(tmp_path / "home" / "chroma_db" / folder)
    (result,) = add_now(
        library,
        [Upload(make_pdf(tmp_path / "Third.pdf", ["The third document speaks of contingent liabilities."]))],
    )
    assert (result.status, result.warning) == ("added", None)
    assert problems(library) == []
    assert library.indexes.keywords.count() == library.indexes.vectors.count() == 5


def test_missing_and_damaged_copies_are_told_by_name(opened: Opened, tmp_path: Path) -> None:
    library = opened()
    first, second = (library.file(version) for version in library.scope([]))
    first.unlink()
    second.write_bytes(second.read_bytes()[:-100])
    found = {finding.document: finding.problem for finding in problems(library)}
    assert "missing" in found["Rules.pdf"]
    assert "damaged" in found["Notes.pdf"]
    problems(library, repair=True)
    add_now(library, [Upload(tmp_path / "Rules.pdf"), Upload(tmp_path / "Notes.pdf")])
    assert problems(library) == []


def test_a_copy_without_a_document_is_told(opened: Opened, tmp_path: Path) -> None:
    (tmp_path / "home" / "documents" / f"{'a' * 64}.pdf").write_bytes(b"%PDF")
    (finding,) = problems(opened())
    assert "belongs to no document" in finding.problem


def test_a_lost_catalogue_is_made_anew_from_the_copies_alone(opened: Opened, tmp_path: Path) -> None:
    library = opened()
    library.remove("Notes.pdf")
    library.close()
    for path in (tmp_path / "home" / "chroma_db").glob("catalog.sqlite3*"):
        path.unlink()
    library = opened()
    library.resume()
    assert [(row.name, row.state, row.pages) for row in library.catalog.documents()] == [
        ("Rules.pdf", "ready", 3)
    ]
    assert (
        len(list((tmp_path / "home" / "documents").glob("*.pdf"))) == 2
    )  # the removed one is kept, and stays out


@pytest.mark.parametrize("later_hash_first", [True, False])
def test_of_two_copies_of_one_name_the_one_taken_later_is_the_document(
    tmp_path: Path, *, later_hash_first: bool
) -> None:
    paths = [
        make_pdf(tmp_path / f"{ceiling}.pdf", [f"The deficit ceiling is {ceiling} per cent of output."])
        for ceiling in (3, 4)
    ]
    paths.sort(key=lambda path: hashlib.sha256(path.read_bytes()).hexdigest(), reverse=later_hash_first)
    copies = Copies(tmp_path / "home" / "documents", 100)
    for age, path in zip(
        (200, 100), paths, strict=True
    ):  # as a stop leaves them in the middle of a replacement
        digest = copies.take_file(path, "Rules.pdf")
        os.utime(copies.path(digest), (time.time() - age,) * 2)
    library = Library(Settings(home=tmp_path / "home"), HashEmbedder())
    library.resume()
    newest = library.catalog.newest("Rules.pdf")
    library.close()
    assert newest is not None
    assert newest.sha256 == hashlib.sha256(paths[1].read_bytes()).hexdigest()


@pytest.mark.parametrize("damage", ["garbled", "earlier", "sound"])
def test_rebuild_reads_everything_again(opened: Opened, tmp_path: Path, damage: str) -> None:
    library = opened()
    add_now(library, [Upload(tmp_path / "Notes.pdf", "Twin.pdf")])
    library.close()
    if damage == "garbled":
        path = tmp_path / "home" / "chroma_db" / "catalog.sqlite3"
        path.write_bytes(b"not a database" * 1000)
    elif damage == "earlier":
        change(tmp_path, "pragma user_version = 1")
    results = list(rebuild(Settings(home=tmp_path / "home"), {}, embedder=HashEmbedder()))
    assert {result.status for result in results} <= {"added", "replaced"}
    library = opened()
    assert sorted((row.name, row.state) for row in library.catalog.documents()) == [
        ("Notes.pdf", "ready"),
        ("Rules.pdf", "ready"),
        ("Twin.pdf", "ready"),
    ]
    assert problems(library) == []
    assert len(library.scope([])) == 2


def test_a_protected_document_keeps_its_text_when_a_rebuild_has_no_password(
    opened: Opened, tmp_path: Path
) -> None:
    locked = make_pdf(
        tmp_path / "Locked.pdf", ["The protected rule is four per cent of output."], user_password="sesame"
    )
    library = opened()
    add_now(library, [Upload(locked, password="sesame")])
    library.close()
    settings = Settings(home=tmp_path / "home")
    kept = {result.document: result for result in rebuild(settings, {}, embedder=HashEmbedder())}
    assert kept["Locked.pdf"].status == "unchanged"
    assert "password" in (kept["Locked.pdf"].warning or "")
    again = {
        result.document: result.status
        for result in rebuild(settings, {"Locked.pdf": "sesame"}, embedder=HashEmbedder())
    }
    assert again["Locked.pdf"] == "replaced"
    library = opened()
    assert problems(library) == []
    everything = b"".join(path.read_bytes() for path in (tmp_path / "home").rglob("*") if path.is_file())
    assert b"sesame" not in everything


def test_names_beside_the_copies_follow_the_catalogue(opened: Opened, tmp_path: Path) -> None:
    library = opened()
    library.remove("Notes.pdf")
    (kept,) = [
        library.copies.names(row.sha256) for row in library.catalog.stored() if row.document == "Notes.pdf"
    ]
    assert kept[0].removed_at is not None
    library.restore("Notes.pdf")
    library.remove("Rules.pdf", purge=True)
    rows = [
        json.loads(path.read_text())["names"] for path in (tmp_path / "home" / "documents").glob("*.json")
    ]
    assert rows == [[{"name": "Notes.pdf", "removed_at": None}]]


def test_after_a_lost_catalogue_a_removed_document_can_be_restored_or_erased(
    opened: Opened, tmp_path: Path
) -> None:
    library = opened()
    library.remove("Notes.pdf")
    library.remove("Rules.pdf")
    library.close()
    for path in (tmp_path / "home" / "chroma_db").glob("catalog.sqlite3*"):
        path.unlink()
    library = opened()
    assert library.catalog.documents() == []
    library.restore("Notes.pdf")
    library.remove("Rules.pdf", purge=True)
    assert [(row.name, row.state) for row in library.catalog.documents()] == [("Notes.pdf", "ready")]
    assert problems(library) == []


def test_purging_erases_what_a_rebuild_set_aside(opened: Opened, tmp_path: Path) -> None:
    opened().close()
    (tmp_path / "home" / "chroma_db" / "catalog.sqlite3.before-20260101-000000").write_bytes(b"old text")
    opened().remove("Notes.pdf", purge=True)
    assert list((tmp_path / "home" / "chroma_db").glob("*.before-*")) == []


def test_damage_is_mended_for_the_document_that_has_it(opened: Opened, tmp_path: Path) -> None:
    library = opened()
    add_now(library, [Upload(tmp_path / "Rules.pdf", "Twin.pdf")])
    add_now(
        library, [Upload(make_pdf(tmp_path / "next.pdf", ["Another rule of two per cent."]), "Rules.pdf")]
    )
    change(tmp_path, "delete from page where version = 1 and number = 2")
    (finding,) = problems(opened(), repair=True)
    assert (finding.document, finding.mended) == ("Twin.pdf", True)
    library = opened()
    assert problems(library) == []
    (version,) = library.scope(["Twin.pdf"])
    assert len(library.catalog.report(version)) == 3


def test_a_damaged_version_that_could_only_be_brought_back_is_given_up(
    opened: Opened, tmp_path: Path
) -> None:
    add_now(
        opened(), [Upload(make_pdf(tmp_path / "next.pdf", ["Another rule of two per cent."]), "Rules.pdf")]
    )
    change(tmp_path, "delete from page where version = 1 and number = 2")
    problems(opened(), repair=True)
    library = opened()
    assert problems(library) == []
    assert "Another rule" in library.catalog.chunks(next(iter(library.scope(["Rules.pdf"]))))[0].text


@pytest.mark.parametrize(
    "kinds", [("fast",), ("store",), ("term", "idx", "fast", "store", "pos", "fieldnorm")], ids="-".join
)
def test_a_keyword_index_damaged_under_a_running_server_is_a_finding_and_is_mended(
    opened: Opened, tmp_path: Path, kinds: tuple[str, ...]
) -> None:
    library = opened()
    for path in (tmp_path / "home" / "chroma_db").rglob("*"):
        if path.suffix.lstrip(".") in kinds and path.stat().st_size:
            with path.open("r+b") as file:  # in place: the server has it mapped
                file.write(b"\xff" * path.stat().st_size)
    problems(library)  # tells, or mends what it cannot open; never breaks off
    found = problems(library, repair=True)
    assert all(finding.mended for finding in found), found
    assert problems(library) == []
    assert library.indexes.keywords.search(["anchor"], 5)
