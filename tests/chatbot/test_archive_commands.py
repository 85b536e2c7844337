"""The commands that export and import: what they print, refuse and return."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from chatbot.store.lock import StoreLock
from tests.commands import run, run_in
from tests.stores import RULES, Stores


@pytest.fixture
def home(tmp_path: Path, stores: Stores) -> Path:
    stores.copy(RULES, tmp_path / "home")
    return tmp_path / "home"


def by_kind(text: str) -> dict[str, dict[str, Any]]:
    return {line["kind"]: line for line in map(json.loads, text.splitlines())}


def test_a_line_for_each_kind_and_the_archive_for_its_owner_alone(home: Path, tmp_path: Path) -> None:
    run(home, "ask", "What is the deficit ceiling?", "--conversation", "talk").check_returncode()
    run(home, "keys", "create", "program").check_returncode()
    done = run_in(tmp_path, home, "export", "all.zip", "--json")
    assert done.returncode == 0, done.stderr
    made = by_kind(done.stdout)
    assert made["exchanges"] == {"kind": "exchanges", "exported": 1, "skipped": 0, "reasons": {}}
    assert "The files of the documents are not in it either" in done.stderr
    assert (tmp_path / "all.zip").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.glob("*") if path.name != "home"] == ["all.zip"]
    other = tmp_path / "other"
    taken = run(other, "import", tmp_path / "all.zip", "--json")
    assert taken.returncode == 0, taken.stderr
    assert by_kind(taken.stdout)["keys"] == {
        "kind": "keys",
        "imported": 1,
        "there": 0,
        "skipped": 0,
        "reasons": {},
    }
    assert "The imported API keys work from now on." in taken.stderr
    assert "1 files of documents are not here." in taken.stderr
    again = run(other, "import", tmp_path / "all.zip")
    assert "exchanges: 0 imported, 1 already there\n" in again.stdout
    assert again.stderr == ""
    shown = run(other, "conversations", "talk", "--json")
    assert json.loads(shown.stdout)["question"] == "What is the deficit ceiling?"


def test_what_cannot_be_done_is_refused(home: Path, tmp_path: Path) -> None:
    odd = tmp_path / "odd.zip"
    odd.write_bytes(b"PK")
    for words, code, said in (
        (["import", odd], 1, "odd.zip is no archive, or its end is missing."),
        (["import", tmp_path / "none.zip"], 1, "none.zip cannot be read: No such file or directory."),
        (["export", tmp_path / "none" / "all.zip"], 1, "cannot be written: No such file or directory."),
        (["import"], 2, "the following arguments are required: FILE"),
    ):
        done = run(home, *words)
        assert done.returncode == code, done.stderr
        assert said in done.stderr
        assert "Traceback" not in done.stderr
    empty = run(tmp_path / "empty", "export", tmp_path / "all.zip")
    assert empty.returncode == 3
    assert "There is no store in" in empty.stderr
    lock = StoreLock(home / "chroma_db" / "store.lock")
    try:
        held = run(home, "export", tmp_path / "all.zip")
    finally:
        lock.close(settled=True)
    assert held.returncode == 3
    assert "is in use by process" in held.stderr
    assert not list(tmp_path.glob("*all*")) + list(tmp_path.glob("*.partial"))


def test_an_export_takes_the_place_of_the_one_before_when_it_is_complete(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "all.zip"
    path.write_text("before")
    run(home, "export", path).check_returncode()
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
