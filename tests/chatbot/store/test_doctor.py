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
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pytest

from chatbot.errors import StoreError
from chatbot.settings import Settings
from chatbot.store.doctor import Finding, examine
from chatbot.store.kept_copies import Copies
from chatbot.store.library import AddResult, Library, Upload
from chatbot.store.rebuilding import rebuild
from ingestion.records import DocumentFacts
from tests.chatbot.store.libraries import add_pages, embedded, kept_pdfs, open_library, passages, states
from tests.fakes import HashEmbedder
from tests.pdfs import make_pdf
from tests.stores import add_now

PAGES = [f"On page {number} the deficit ceiling is {number} per cent of output." for number in range(1, 4)]
Opened = Callable[[], Library]


@pytest.fixture
def opened(home: Path, tmp_path: Path) -> Iterator[Opened]:
    """Opens the store anew each time; two documents are in it."""
    made: list[Library] = []

    def open_again() -> Library:
        for library in made:
            library.close()
        made[:] = [open_library(home)]
        return made[0]

    library = open_again()
    # In this order, which tells the versions apart.
    add_pages(library, tmp_path / "Rules.pdf", PAGES)
    add_pages(library, tmp_path / "Notes.pdf", ["Notes on the debt anchor of sixty per cent."])
    yield open_again
    made[0].close()


def problems(library: Library, *, repair: bool = False) -> list[Finding]:
    return list(examine(library, repair=repair))


def change(home: Path, statement: str) -> None:
    with closing(sqlite3.connect(home / "chroma_db" / "catalog.sqlite3")) as connection:
        connection.execute(statement)
        connection.commit()


def lose_catalogue(home: Path) -> None:
    for path in (home / "chroma_db").glob("catalog.sqlite3*"):
        path.unlink()


def rebuilt(home: Path, passwords: Mapping[str, str] | None = None) -> list[AddResult]:
    settings = Settings(home=home)
    return list(rebuild(settings, passwords or {}, embedder=HashEmbedder()))


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def mended(opened: Opened) -> tuple[Library, int]:
    """The store without its one fault, and the version of Rules.pdf there."""
    (finding,) = problems(opened(), repair=True)
    assert finding.mended
    library = opened()
    assert problems(library) == []
    (version,) = library.scope(["Rules.pdf"])
    return library, version


def test_a_sound_store_says_nothing(opened: Opened) -> None:
    assert problems(opened()) == []
    assert problems(opened(), repair=True) == []


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        ("delete from page where version = 1 and number = 2", "2 of 3 pages"),
        (
            "update page set text = replace(text, 'is 2 per', 'is 8 per') where version = 1",
            "has changed in the catalogue",
        ),
    ],
    ids=["lost", "changed"],
)
def test_a_page_that_is_lost_or_changed_is_read_again_from_the_copy(
    home: Path, opened: Opened, damage: str, problem: str
) -> None:
    change(home, damage)
    (finding,) = problems(opened())
    assert (finding.document, finding.mended) == ("Rules.pdf", False)
    assert problem in finding.problem
    library, version = mended(opened)
    assert "is 2 per" in library.catalog.page(version, 2).text


@pytest.mark.parametrize(
    ("damage", "documents"),
    [
        ("delete from vector where version = 1", ["Rules.pdf", None]),  # the index still has them
        (
            "update vector set data = zeroblob(length(data)) where version = 1 and ordinal = 0",
            ["Rules.pdf", None],
        ),
    ],
    ids=["lost", "changed"],
)
def test_vectors_that_are_lost_or_changed_are_made_again(
    home: Path, opened: Opened, damage: str, documents: list[str | None]
) -> None:
    change(home, damage)
    assert [finding.document for finding in problems(opened())] == documents
    assert all(finding.mended for finding in problems(opened(), repair=True))
    assert problems(opened()) == []


@pytest.mark.parametrize("folder", ["keywords", "vectors"])
@pytest.mark.parametrize("how", ["deleted", "garbled"])
def test_a_damaged_index_is_made_anew_without_asking_for_files(
    opened: Opened, home: Path, folder: str, how: str
) -> None:
    library = opened()
    library.close()
    path = home / "chroma_db" / folder
    if how == "deleted":
        shutil.rmtree(path)
    else:
        files = [file for file in path.rglob("*") if file.is_file()]
        for file in files:
            if file.name != ".tantivy-writer.lock":
                file.write_bytes(b"\x00garbage" * 64)
    problems(opened(), repair=True)
    library = opened()
    assert problems(library) == []
    assert passages(library) == 4
    assert embedded(library) == 0


@pytest.mark.parametrize("folder", ["keywords", "vectors"])
def test_an_index_folder_deleted_while_running_is_made_anew_by_the_next_addition(
    opened: Opened, home: Path, tmp_path: Path, folder: str
) -> None:
    library = opened()
    assert library.indexes.vectors.count() == 4
    shutil.rmtree(home / "chroma_db" / folder)
    page = "The third document speaks of contingent liabilities."
    result = add_pages(library, tmp_path / "Third.pdf", [page])
    assert result.status == "added"
    assert result.warning is None
    assert [finding.fix for finding in problems(library)] == ["It was rebuilt from the catalogue."]
    assert problems(library) == []
    assert passages(library) == 5


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


def test_a_lost_catalogue_is_made_anew_from_the_copies_alone(opened: Opened, home: Path) -> None:
    library = opened()
    library.remove("Notes.pdf")
    library.close()
    lose_catalogue(home)
    library = opened()
    library.resume()
    (row,) = library.catalog.documents()
    assert row.name == "Rules.pdf"
    assert row.state == "ready"
    assert row.pages == 3
    assert len(kept_pdfs(home)) == 2  # the removed one is kept, and stays out


@pytest.mark.parametrize("later_hash_first", [True, False])
def test_of_two_copies_of_one_name_the_one_taken_later_is_the_document(
    home: Path, tmp_path: Path, *, later_hash_first: bool
) -> None:
    paths = []
    for ceiling in (3, 4):
        page = f"The deficit ceiling is {ceiling} per cent of output."
        paths.append(make_pdf(tmp_path / f"{ceiling}.pdf", [page]))
    earlier, later = sorted(paths, key=sha256, reverse=later_hash_first)
    copies = Copies(home / "documents", 100)
    # As a stop leaves them in the middle of a replacement.
    for path, age in ((earlier, 200), (later, 100)):
        digest = copies.take_file(path, "Rules.pdf")
        taken_at = time.time() - age
        os.utime(copies.path_to_read(digest), (taken_at, taken_at))
    library = open_library(home)
    library.resume()
    newest = library.catalog.newest("Rules.pdf")
    library.close()
    assert newest is not None
    assert newest.sha256 == sha256(later)


@pytest.mark.parametrize("damage", ["garbled", "earlier", "sound"])
def test_rebuild_reads_everything_again(opened: Opened, home: Path, tmp_path: Path, damage: str) -> None:
    library = opened()
    add_now(library, [Upload(tmp_path / "Notes.pdf", "Twin.pdf")])
    library.close()
    if damage == "garbled":
        path = home / "chroma_db" / "catalog.sqlite3"
        path.write_bytes(b"not a database" * 1000)
    elif damage == "earlier":
        change(home, "pragma user_version = 1")
    for result in rebuilt(home):
        assert result.status in {"added", "replaced"}
    library = opened()
    names = [row.name for row in library.catalog.documents()]
    assert sorted(names) == ["Notes.pdf", "Rules.pdf", "Twin.pdf"]
    assert set(states(library)) == {"ready"}
    assert problems(library) == []
    assert len(library.scope([])) == 2


def test_a_protected_document_keeps_its_text_when_a_rebuild_has_no_password(
    opened: Opened, home: Path, tmp_path: Path
) -> None:
    page = "The protected rule is four per cent of output."
    locked = make_pdf(tmp_path / "Locked.pdf", [page], user_password="sesame")
    library = opened()
    add_now(library, [Upload(locked, password="sesame")])
    library.close()
    kept = {result.document: result for result in rebuilt(home)}["Locked.pdf"]
    assert kept.status == "unchanged"
    assert "password" in (kept.warning or "")
    again = rebuilt(home, {"Locked.pdf": "sesame"})
    statuses = {result.document: result.status for result in again}
    assert statuses["Locked.pdf"] == "replaced"
    library = opened()
    assert problems(library) == []
    files = [path for path in home.rglob("*") if path.is_file()]
    everything = b"".join(path.read_bytes() for path in files)
    assert b"sesame" not in everything


def test_names_beside_the_copies_follow_the_catalogue(opened: Opened, home: Path) -> None:
    library = opened()
    library.remove("Notes.pdf")
    (removed,) = [row for row in library.catalog.stored() if row.document == "Notes.pdf"]
    kept = library.copies.beside(removed.sha256).names
    assert kept[0].removed_at is not None
    library.restore("Notes.pdf")
    library.remove("Rules.pdf", purge=True)
    (beside,) = (home / "documents").glob("*.json")
    (name,) = json.loads(beside.read_text())["names"]
    assert name == {"name": "Notes.pdf", "removed_at": None}


def test_after_a_lost_catalogue_a_removed_document_can_be_restored_or_erased(
    opened: Opened, home: Path
) -> None:
    library = opened()
    library.remove("Notes.pdf")
    library.remove("Rules.pdf")
    library.close()
    lose_catalogue(home)
    library = opened()
    assert library.catalog.documents() == []
    library.restore("Notes.pdf")
    library.remove("Rules.pdf", purge=True)
    (row,) = library.catalog.documents()
    assert row.name == "Notes.pdf"
    assert row.state == "ready"
    assert problems(library) == []


def test_purging_erases_what_a_rebuild_set_aside(opened: Opened, home: Path) -> None:
    opened().close()
    aside = home / "chroma_db" / "catalog.sqlite3.before-20260101-000000"
    aside.write_bytes(b"old text")
    opened().remove("Notes.pdf", purge=True)
    assert not list(aside.parent.glob("*.before-*"))


@pytest.mark.parametrize("kinds", ["fast", "store", "term-idx-fast-store-pos-fieldnorm"])
def test_a_keyword_index_damaged_under_a_running_server_is_a_finding_and_is_mended(
    opened: Opened, home: Path, kinds: str
) -> None:
    library = opened()
    suffixes = {f".{kind}" for kind in kinds.split("-")}
    damaged = [path for path in (home / "chroma_db").rglob("*") if path.suffix in suffixes]
    for path in damaged:
        size = path.stat().st_size
        with path.open("r+b") as file:  # in place: the server has it mapped
            file.write(b"\xff" * size)
    problems(library)  # tells, or mends what it cannot open; never breaks off
    for finding in problems(library, repair=True):
        assert finding.mended, finding
    assert problems(library) == []
    assert library.indexes.keywords.search(["anchor"], 5)


@pytest.mark.parametrize(
    "changed",
    [
        "update page set tables = x'00' where version = 1 and number = 1",
        "update version set title = 'Other' where id = 1",
        "update chunk set context = 'Other' where version = 1 and ordinal = 0",
        "update lexicon set data = x'00' where version = 1",
        "insert into remark values (1, 1, '[]')",
    ],
)
def test_what_was_read_is_sealed_in_all_its_parts(home: Path, opened: Opened, changed: str) -> None:
    change(home, changed)
    assert [finding.document for finding in problems(opened())] == ["Rules.pdf"]
    problems(opened(), repair=True)
    assert problems(opened()) == []


@pytest.mark.parametrize(
    "damaged", ["", "[" * 100_000, '{"names": [{"name": "Other.pdf", "removed_at": null}]}']
)
def test_damaged_names_are_told_and_written_again(home: Path, opened: Opened, damaged: str) -> None:
    library = opened()
    library.correct("Rules.pdf", DocumentFacts("2031", None))
    digest = library.catalog.digest_of(1)
    (home / "documents" / f"{digest}.json").write_text(damaged)
    (finding,) = problems(library)
    assert finding.document == "Rules.pdf"
    assert "names beside its copy" in finding.problem
    assert all(finding.mended for finding in problems(library, repair=True))
    assert problems(library) == []
    assert library.copies.beside(digest).names[0].name == "Rules.pdf"
    assert library.copies.beside(digest).said.period == "2031"


def test_a_digest_that_is_a_path_leads_nowhere(home: Path, tmp_path: Path, opened: Opened) -> None:
    opened().close()
    victim = tmp_path / "victim.pdf"
    victim.write_bytes(b"What nobody may delete.")
    beside = tmp_path / "victim.json"
    beside.write_text("{}")
    change(home, "update version set sha256 = '../../victim' where id = 1")
    change(home, "insert into erased values ('../../victim')")
    library = opened()
    (row, _) = library.catalog.documents()
    assert row.digest == "0" * 64
    told = [finding.problem for finding in problems(library)]
    assert any("'../../victim' stands where the SHA-256" in problem for problem in told)
    problems(library, repair=True)
    library.remove("Rules.pdf")
    library.remove("Rules.pdf", purge=True)
    assert victim.read_bytes() == b"What nobody may delete."
    assert beside.read_text() == "{}"
    library.close()
    rebuilt(home)
    assert "Notes.pdf" in [row.name for row in opened().catalog.documents()]


@pytest.mark.parametrize("where", ["documents/*.pdf", "documents/*.json", "chroma_db/keywords/*.term"])
@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_links_and_pipes_are_told_and_not_opened(home: Path, opened: Opened, where: str, kind: str) -> None:
    opened().close()
    path = sorted(home.glob(where))[0]
    (outside := home.parent / "outside").write_bytes(path.read_bytes())
    path.unlink()
    if kind == "link":
        path.symlink_to(outside)
    else:
        os.mkfifo(path)
    assert problems(opened())
    problems(opened(), repair=True)
    assert outside.exists()


@pytest.mark.parametrize(
    "where", ["keywords", "vectors", "vectors/linked", "keywords.new", "keywords.discarded", "vectors.new"]
)
def test_linked_folders_are_told_and_what_they_lead_to_stays(home: Path, opened: Opened, where: str) -> None:
    opened().close()
    path, outside = home / "chroma_db" / where, home.parent / "outside"
    if path.exists():
        path.rename(outside)
    else:
        outside.mkdir()
    (outside / "Own.txt").write_text("ours")
    before = sorted(outside.rglob("*"))
    path.symlink_to(outside)
    if "." not in where:  # what an interruption may have left is deleted without a word
        assert problems(opened())
    problems(opened(), repair=True)
    opened().remove("Notes.pdf", purge=True)
    assert not path.is_symlink()
    assert problems(opened()) == []
    assert sorted(outside.rglob("*")) == before


@pytest.mark.parametrize("name", ["../../victim", "{home}/victim"])
def test_a_list_of_files_that_leads_out_of_the_index_deletes_nothing(
    home: Path, opened: Opened, name: str
) -> None:
    opened().close()
    (victim := home / "victim").write_text("ours")
    path = home / "chroma_db" / "keywords" / ".managed.json"
    path.write_text(json.dumps([*json.loads(path.read_text()), name.format(home=home)]))
    opened().remove("Notes.pdf", purge=True)
    assert victim.exists()
    assert "victim" not in path.read_text()
    assert len(opened().catalog.documents()) == 1


@pytest.mark.parametrize(
    "name", ["../../victim.pdf", "C:\\victim.pdf", "a\nb.pdf", "\x1b[2J.pdf", "", "x" * 201]
)
def test_names_beside_a_copy_that_no_document_has_are_damage(home: Path, opened: Opened, name: str) -> None:
    opened().close()
    (home / "chroma_db" / "catalog.sqlite3").unlink()
    beside = sorted((home / "documents").glob("*.json"))[0]
    beside.write_text(json.dumps({"names": [{"name": name, "removed_at": None}]}))
    assert sorted(result.status for result in rebuilt(home)) == ["added", "failed"]
    assert all(row.name.isprintable() and "victim" not in row.name for row in opened().catalog.documents())


def test_a_folder_in_place_of_the_catalogue_keeps_nothing_from_being_erased(
    home: Path, opened: Opened
) -> None:
    opened().close()
    path = home / "chroma_db" / "catalog.sqlite3"
    path.unlink()
    path.mkdir()
    assert {result.status for result in rebuilt(home)} == {"added"}
    opened().remove("Notes.pdf", purge=True)
    assert not list(path.parent.glob("*.before-*"))


def test_a_catalogue_that_was_emptied_is_told(home: Path, opened: Opened) -> None:
    opened().close()
    os.truncate(home / "chroma_db" / "catalog.sqlite3", 0)
    for path in (home / "chroma_db").glob("catalog.sqlite3-*"):
        path.unlink()
    library = opened()
    assert any("empty" in finding.problem for finding in problems(library))
    assert len(library.catalog.documents()) == 2  # read from the copies


def test_a_schema_that_is_no_text_is_damage_named_with_its_fix(home: Path, opened: Opened) -> None:
    opened().close()
    path = home / "chroma_db" / "catalog.sqlite3"
    data = bytearray(path.read_bytes())
    data[data.index(b"CREATE TABLE page") + 40] = 0xFF
    path.write_bytes(data)
    with pytest.raises(StoreError, match="is damaged") as raised:
        opened()
    assert "rebuild" in raised.value.hint
    assert {result.status for result in rebuilt(home)} == {"added"}


@pytest.mark.parametrize("found", [-5, -(2**31)])
def test_a_version_below_zero_is_damage(home: Path, opened: Opened, found: int) -> None:
    opened().close()
    change(home, f"pragma user_version = {found}")
    with pytest.raises(StoreError, match=f"has version {found}"):
        opened()


@pytest.mark.parametrize("column", ["instructions", "running"])
def test_a_page_with_values_nested_too_deep_is_damage(home: Path, opened: Opened, column: str) -> None:
    change(home, f"update page set {column} = '{'[' * 20_000}' where version = 1")
    library = opened()
    with pytest.raises(StoreError, match="damaged in the store") as raised:
        library.catalog.page(1, 1)
    assert "doctor --repair" in raised.value.hint
    assert all(finding.mended for finding in problems(library, repair=True))
    assert problems(opened()) == []
