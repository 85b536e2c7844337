"""A store whose process is killed goes on where it was: a short campaign, and the windows that longer ones
have hit.
"""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from benchmarks.crash_checks import faults, look
from benchmarks.crash_files import File, make_files
from chatbot.settings import Settings
from chatbot.store.catalog import Catalog
from chatbot.store.doctor import examine
from chatbot.store.kept_copies import Copies, KeptName
from chatbot.store.keyword_index import KeywordIndex
from chatbot.store.library import Library, Upload
from chatbot.store.rebuilding import rebuild
from chatbot.store.vector_index import ChromaIndex
from ingestion.records import Page
from tests.case_rows import case_rows
from tests.fakes import HashEmbedder
from tests.pdfs import make_pdf
from tests.stores import add_now, read_now

FIRST = ["The deficit ceiling is three per cent of output in every year."]
SECOND = ["The debt anchor is two per cent below that of the year before."]


def opened(tmp_path: Path) -> Library:
    return Library(Settings(home=tmp_path / "home"), HashEmbedder())


def catalogue(home: Path) -> closing[sqlite3.Connection]:
    """The catalogue's file as another program opens it."""
    return closing(sqlite3.connect(home / "chroma_db" / "catalog.sqlite3"))


def killed(library: Library) -> None:
    """Let go of the store as a killed process would: nothing is finished, nothing settled."""
    library.indexes.close()
    library.catalog.close()
    library._lock.close()


def stop_after(monkeypatch: pytest.MonkeyPatch, owner: type, method: str) -> None:
    call = getattr(owner, method)

    def stopped(*arguments: Any, **options: Any) -> Any:
        call(*arguments, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(owner, method, stopped)


def stopped_after(
    monkeypatch: pytest.MonkeyPatch, owner: type, method: str, library: Library, work: Callable[[], object]
) -> None:
    with monkeypatch.context() as patched:
        stop_after(patched, owner, method)
        with pytest.raises(KeyboardInterrupt):
            work()
    killed(library)


@pytest.mark.long
def test_a_few_kills(root: Path, tmp_path: Path) -> None:
    campaign = "benchmarks/crash.py --kills 6 --real 0 --seed 3"
    command = [sys.executable, *campaign.split(), "--keep", str(tmp_path / "crash")]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith(f"python {campaign}\n6 kills, ")


@pytest.mark.parametrize("change", ["remove", "restore", "retire"])
def test_names_beside_a_copy_follow_a_change_that_was_killed_before_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    library = opened(tmp_path)
    path = make_pdf(tmp_path / "Rules.pdf", FIRST)
    add_now(library, [Upload(path), Upload(path, "Twin.pdf")])
    if change == "restore":
        library.remove("Twin.pdf")
    work: dict[str, Callable[[], object]] = {
        "remove": lambda: library.remove("Twin.pdf"),
        "restore": lambda: library.restore("Twin.pdf"),
        "retire": lambda: library.remove("Twin.pdf", purge=True),
    }
    stopped_after(monkeypatch, Catalog, change, library, work[change])
    library = opened(tmp_path)
    (digest,) = library.copies.all()
    names = library.copies.beside(digest).names
    hidden = {name.name: name.removed_at is not None for name in names}
    expected = {"Rules.pdf": False}
    if change != "retire":
        expected["Twin.pdf"] = change == "remove"
    assert hidden == expected
    library.close()


def test_what_ocr_has_read_is_kept_until_the_document_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = opened(tmp_path)
    path = make_pdf(tmp_path / "Rules.pdf", FIRST)
    taken = library.adding.take(path, "Rules.pdf")
    page = Page(1, FIRST[0], method="ocr")
    library.catalog.keep_draft(taken.digest, page, "eng")

    def read() -> object:
        return library.read_taken(taken, progress=lambda *_: None, cancelled=lambda: False)

    stopped_after(monkeypatch, Catalog, "fill", library, read)
    library = opened(tmp_path)
    drafts = library.catalog.drafts(taken.digest, "eng")
    assert list(drafts) == [1]
    library.resume()
    assert library.catalog.drafts(taken.digest, "eng") == {}
    (row,) = library.catalog.documents()
    assert row.state == "ready"
    library.close()


def test_vectors_whose_index_was_being_made_anew_are_put_in_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = opened(tmp_path)
    path = make_pdf(tmp_path / "Rules.pdf", FIRST)
    add_now(library, [Upload(path)])
    library.resume()
    stopped_after(monkeypatch, ChromaIndex, "remove", library, library.indexes.rebuild)
    library = opened(tmp_path)
    assert list(examine(library)) == []
    assert library.indexes.vectors.count() == 1
    library.close()


def test_a_commit_of_words_that_was_killed_is_no_damage(tmp_path: Path) -> None:
    """What such a commit leaves has the name of a file that the next one makes."""
    words, before = tmp_path / "words", tmp_path / "before"
    index = KeywordIndex(words)
    versions = set(range(1, 13))
    for version in versions:
        index.add(version, [["deficit", f"only{version}"], ["debt"]])
    shutil.copytree(words, before)
    index.remove([2])
    left = [*words.glob("*.del"), words / ".managed.json"]
    assert len(left) > 1
    for path in left:
        shutil.copy(path, before)
    again = KeywordIndex(before)
    again.remove([2])
    assert again.counts() == dict.fromkeys(versions - {2}, 2)


def test_names_without_a_copy_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = opened(tmp_path)
    path = make_pdf(tmp_path / "Rules.pdf", FIRST)
    stopped_after(monkeypatch, Copies, "write_beside", library, lambda: read_now(library, [Upload(path)]))
    library = opened(tmp_path)
    folder = tmp_path / "home" / "documents"
    assert list(folder.iterdir()) == []
    library.close()


def test_a_log_is_set_aside_before_its_catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log that stayed beside a new file would be taken for its own."""
    library = opened(tmp_path)
    rules = make_pdf(tmp_path / "Rules.pdf", FIRST)
    add_now(library, [Upload(rules)])
    library.close()
    rename, renamed = Path.rename, []

    def noted(path: Path, target: Path) -> Path:
        renamed.append(path.name)
        return rename(path, target)

    glob = Path.glob
    monkeypatch.setattr(Path, "glob", lambda path, pattern: iter(sorted(glob(path, pattern))))
    monkeypatch.setattr(Path, "rename", noted)
    settings = Settings(home=tmp_path / "home")
    with catalogue(settings.home) as other:  # while it is open, its log stands
        other.execute("pragma user_version = 1")
        other.commit()
        (rebuilt,) = rebuild(settings, {}, embedder=HashEmbedder())
    set_aside = [name for name in renamed if name.startswith("catalog")]
    assert len(set_aside) == 3
    assert set_aside[-1] == "catalog.sqlite3"
    assert rebuilt.document == "Rules.pdf"
    assert rebuilt.status == "added"


def sound(tmp_path: Path) -> tuple[Path, dict[str, File]]:
    """A store of two files, one of them gone, and the files as the campaign knows them."""
    folder, home = tmp_path / "files", tmp_path / "home"
    folder.mkdir()
    files = list(make_files(folder, random.Random(1), 1))
    library = opened(tmp_path)
    add_now(library, [Upload(files[0].path)])
    library.close()
    contents = look(home)
    known = {}
    for file in files:
        read = File(file.path, file.sha256, file.words, contents.texts[1], contents.tables[1])
        known[file.sha256] = read
    assert faults(home, contents, known) == []
    return home, known


def faults_of(home: Path, files: dict[str, File]) -> list[str]:
    return faults(home, look(home), files)


@pytest.mark.parametrize(
    ("statement", "told"),
    case_rows(
        """
        update page set text = 'half'                  | has not the text
        delete from page                               | has not the text
        update version set state = 'embedding'         | is embedding
        insert into job(name, phase, added_at) values ('Late.pdf', 'waiting', 0) | Late.pdf still waits
        update page set tables = null                  | has not the tables
        insert into incomplete values (1, 'images', 1) | lacks its images
        insert into lexicon values (7, x'00')          | lexicon has rows of version 7
        insert into draft values ('ff', 1, 'eng', x'00') | a draft of ff
        update document set removed_at = 1             | the catalogue has
        delete from document                           | which was replaced
        delete from version                            | belongs to nothing
        """
    ),
)
def test_each_fault_of_a_catalogue_is_seen(tmp_path: Path, statement: str, told: str) -> None:
    home, files = sound(tmp_path)
    with catalogue(home) as connection:
        connection.execute(statement)
        connection.commit()
    found = faults_of(home, files)
    assert any(told in line for line in found)


def test_each_fault_of_the_copies_is_seen(tmp_path: Path) -> None:
    home, files = sound(tmp_path)
    (digest,) = files
    copies = home / "documents"
    stray = copies / "stray.pdf"
    stray.write_bytes(b"")
    assert faults_of(home, files) == ["stray.pdf belongs to nothing"]
    stray.unlink()
    names = json.dumps({"names": [{"name": "Other.pdf", "removed_at": None}]})
    (copies / f"{digest}.json").write_text(names)
    other_name, *_ = faults_of(home, files)
    assert "Other.pdf" in other_name
    (copies / f"{digest}.pdf").unlink()
    assert f"{digest}.pdf is missing" in faults_of(home, files)
    gone = File(tmp_path / "Gone.pdf", "ab", ((1, "zuvelo"),))
    (home / "chroma_db" / "left").write_text("... zuvelo ...")
    found = faults_of(home, {**files, "ab": gone})
    assert any("left still holds a word of Gone.pdf" in line for line in found)


def test_names_that_are_as_they_should_be_are_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = opened(tmp_path)
    rules = make_pdf(tmp_path / "Rules.pdf", FIRST)
    notes = make_pdf(tmp_path / "Notes.pdf", SECOND)
    add_now(library, [Upload(rules), Upload(notes)])
    written: list[tuple[KeptName, ...]] = []
    monkeypatch.setattr(
        Copies, "write_beside", lambda copies, digest, **beside: written.append(beside["names"])
    )
    library.adding.write_names(library.catalog.hashes())
    assert written == []
    library.remove("Notes.pdf")
    ((name,),) = written
    assert name.name == "Notes.pdf"
    library.close()
