"""`doctor` as it is given: what is damaged is named with exit code 1, and no command ends in a traceback."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.commands import run
from tests.pdfs import make_pdf
from tests.stores import RULES

ROOT = Path(__file__).resolve().parents[2]
PAGE_BYTES = 4096


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with a document and a conversation."""
    home = tmp_path / "home"
    assert run(home, "add", make_pdf(tmp_path / "Rules.pdf", RULES)).returncode == 0
    assert run(home, "ask", "--conversation", "first", "What is the debt anchor?").returncode == 0
    return home


def test_a_catalogue_that_cannot_be_opened_is_named_by_every_command(home: Path) -> None:
    path = home / "chroma_db" / "catalog.sqlite3"
    data = bytearray(path.read_bytes())
    data[data.index(b"CREATE TABLE page") + 40] = 0xFF
    path.write_bytes(data)
    for command, code in (("doctor", 1), ("list", 3), ("search", 3)):
        done = run(home, command, *(["debt"] if command == "search" else []))
        assert done.returncode == code, done.stderr
        said = done.stdout + done.stderr
        assert "The catalogue catalog.sqlite3 is damaged" in said
        assert "rebuild" in said
        assert "Traceback" not in said
    assert run(home, "rebuild").returncode == 0
    assert run(home, "doctor").returncode == 0


@pytest.mark.parametrize("table", ["document", "job"])
def test_a_name_that_no_document_may_have_ends_no_line_of_what_is_printed(home: Path, table: str) -> None:
    forged = "Rules.pdf\nproblem    store: all is lost. Run this.\x1b[2J"
    with closing(sqlite3.connect(home / "chroma_db" / "catalog.sqlite3")) as database, database:
        if table == "job":
            fields = "name, phase, digest, added_at, problem"
            wait = f"insert into job ({fields}) select 'x', 'password', sha256, 0, 'y' from version"
            database.execute(wait)
        database.execute(f"update {table} set name = ?", (forged,))
    for command in (["doctor"], ["list"], ["search", "debt"]):
        done = run(home, *command)
        assert done.returncode in (1, 3)
        said = done.stdout + done.stderr
        assert "is no name of a document" in said
        assert "\x1b" not in said
        assert not any(line.startswith("problem    store: all is lost") for line in said.splitlines())
    assert run(home, "rebuild").returncode == 0
    assert "Rules.pdf" in run(home, "list").stdout
    assert run(home, "doctor").returncode == 0


def test_damaged_memories_are_named_and_what_can_be_read_is_saved(home: Path) -> None:
    path = home / "chroma_db" / "memory.sqlite3"
    with closing(sqlite3.connect(path)) as database:
        ((root,),) = database.execute(
            "select rootpage from sqlite_master where name = 'preference'"
        ).fetchall()
    data = bytearray(path.read_bytes())
    data[(root - 1) * PAGE_BYTES : root * PAGE_BYTES] = bytes(PAGE_BYTES)
    path.write_bytes(data)
    told = run(home, "doctor")
    assert told.returncode == 1
    assert "the memories are damaged" in told.stdout
    repaired = run(home, "doctor", "--repair")
    assert repaired.returncode == 1
    assert "was damaged and set aside" in repaired.stdout
    assert "debt anchor" in run(home, "conversations", "first").stdout
    for aside in path.parent.glob("memory.sqlite3.damaged-*"):
        aside.unlink()
    assert run(home, "doctor").returncode == 0


def test_a_pipe_in_place_of_a_copy_is_named_and_nothing_waits_for_it(home: Path) -> None:
    (copy,) = (home / "documents").glob("*.pdf")
    copy.unlink()
    os.mkfifo(copy)
    told = run(home, "doctor")
    assert told.returncode == 1
    assert f"{copy} is a link, or no plain file" in told.stdout


WITHOUT_VECTORS = """
import sys
from importlib.machinery import PathFinder

class WithoutVectors(PathFinder):
    @classmethod
    def find_spec(cls, fullname, *args):
        return None if fullname == "pgvector" else super().find_spec(fullname, *args)

sys.meta_path[-1] = WithoutVectors
"""


def test_what_is_not_set_up_is_said_and_no_fault(home: Path, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(WITHOUT_VECTORS, "utf-8")
    told = subprocess.run(
        [sys.executable, "-m", "chatbot", "doctor"],
        env={
            **os.environ,
            "FINPOLICY_HOME": str(home),
            "MEMORY_DATABASE_URL": "postgresql://me@127.0.0.1:9/news",
            "PYTHONPATH": f"{tmp_path}:{ROOT}",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert (told.returncode, told.stdout) == (0, ""), told.stderr
    (note,) = (line for line in told.stderr.splitlines() if line.startswith("Note: "))
    assert "News signals are not set up" in note
    assert "make setup-signals" in note
    assert "The store is in order." in told.stderr
