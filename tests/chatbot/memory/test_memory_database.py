"""The one file of all memories: tables by memory; damage, locks and other versions named;
what was erased stands in no file.
"""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from chatbot.errors import StoreError
from chatbot.memory.conversations.conversation_store import TABLES, Conversations
from chatbot.memory.memory_database import NAME, MemoryDatabase, Tables, open_memories
from chatbot.memory.salvage import damage_of
from chatbot.settings import Settings
from chatbot.store.database import EarlierStoreError, NewerStoreError
from tests.engines import memories_at

pytestmark = pytest.mark.usefixtures("engine")

PAGE_BYTES = 4096
FIRST = Tables("notes", "create table note (text text) strict;\ncreate index of_note on note(text);\n")
SECOND = Tables("notes", f"{FIRST.script}create table other (text text);\n", version=2)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    store = Settings(home=tmp_path).store
    store.mkdir()
    return store / f"{NAME}.sqlite3"


def test_tables_of_another_version_are_refused_with_what_to_do(path: Path) -> None:
    memories_at(path).prepare(FIRST)
    with pytest.raises(
        EarlierStoreError, match="The notes memory has version 1, but this program needs 2"
    ) as raised:
        memories_at(path).prepare(SECOND)
    assert "Export it with the version that made it" in raised.value.hint
    second = memories_at(path)
    with second.write() as connection:
        connection.execute("update memory_version set version = 2")
    second.prepare(SECOND)
    with pytest.raises(NewerStoreError, match="The notes memory has version 2, but this program supports 1"):
        memories_at(path).prepare(FIRST)
    damaged = memories_at(path)
    with damaged.write() as connection:
        connection.execute("update memory_version set version = -5")
    with pytest.raises(StoreError, match="has version -5, which no program gives"):
        damaged.prepare(SECOND)


def test_a_step_that_fails_changes_nothing(path: Path) -> None:
    database = memories_at(path)
    with pytest.raises(StoreError):
        database.prepare(Tables("notes", "create table note (text text);\ncreate nonsense;\n"))
    with pytest.raises(StoreError):
        database.read("select * from note")
    database.prepare(FIRST)


def test_several_who_open_it_at_once_make_the_tables_once(path: Path) -> None:
    failed: list[Exception] = []

    def open_it() -> None:
        try:
            memories_at(path).prepare(SECOND)
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=open_it) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    versions = memories_at(path).read("select version from memory_version where memory = 'notes'")
    assert versions == [(2,)]


@pytest.mark.about_files
def test_memories_are_apart_and_what_is_kept_in_memory_is_on_no_disk(path: Path) -> None:
    private = MemoryDatabase(None)
    private.prepare(FIRST)
    with private.write() as connection:
        connection.execute("insert into note values ('secret')")
    read: list[object] = []
    reader = threading.Thread(target=lambda: read.extend(private.read("select text from note")))
    reader.start()
    reader.join()
    private.erased()
    private.close()
    assert read == [("secret",)]
    assert list(path.parent.iterdir()) == []


@pytest.mark.about_files
def test_a_file_that_is_no_database_is_named_with_the_fix(path: Path) -> None:
    path.write_bytes(b"no database at all" * 100)
    with pytest.raises(StoreError, match="not a database") as raised:
        memories_at(path)
    assert f"Move {path} away" in raised.value.hint
    assert path.read_bytes().startswith(b"no database")


@pytest.mark.about_files
def test_a_damaged_file_is_set_aside_whole(path: Path) -> None:
    damaged = b"no database at all" * 100
    path.write_bytes(damaged)
    database, aside = open_memories(Settings(home=path.parent.parent))
    database.prepare(FIRST)
    database.close()
    assert aside is not None
    assert aside.read_bytes() == damaged
    _, nothing_aside = open_memories(Settings(home=path.parent.parent))
    assert nothing_aside is None


@pytest.mark.about_files
def test_a_file_of_a_newer_program_is_left_alone(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("pragma user_version = 99")
    with pytest.raises(StoreError, match="version 99"):
        open_memories(Settings(home=path.parent.parent))
    assert [one.name for one in path.parent.iterdir()] == [path.name]


@pytest.mark.about_files
def test_a_file_of_an_earlier_program_is_left_alone(path: Path) -> None:
    """Version 1 had triggers, which this program does not make."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "create table kept (text text); insert into kept values ('mine'); create trigger kept_insert "
            "after insert on kept begin select 1; end; pragma user_version = 1"
        )
    with pytest.raises(EarlierStoreError, match="has version 1") as raised:
        open_memories(Settings(home=path.parent.parent))
    assert "Export it with the version that made it" in raised.value.hint
    assert [one.name for one in path.parent.iterdir()] == [path.name]
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("select text from kept").fetchall() == [("mine",)]


@pytest.mark.about_files
def test_a_file_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match="The memories cannot be written"):
        MemoryDatabase(tmp_path / "file" / "memory.sqlite3")


@pytest.mark.about_files
def test_what_was_erased_stands_in_no_file(path: Path) -> None:
    database = memories_at(path)
    database.prepare(FIRST)
    for kept in (f"{path.name}.damaged-20261101-101010", "other.sqlite3"):
        (path.parent / kept).write_text("Heliotrope")
    with database.write() as connection:
        connection.execute("insert into note values ('Heliotrope')")
    with database.write() as connection:
        connection.execute("delete from note")
    database.erased()
    files = [one for one in path.parent.rglob("*") if one.is_file()]
    holding = [one.name for one in files if b"Heliotrope" in one.read_bytes()]
    assert holding == ["other.sqlite3"]


@pytest.mark.about_files
@pytest.mark.parametrize("damage", ["zeroed", "cut", "halved", "schema", "header", "trigger", "view"])
def test_of_a_damaged_file_whole_rows_are_saved(path: Path, damage: str) -> None:
    settings = Settings(home=path.parent.parent)
    with closing(open_memories(settings)[0]) as memories:
        memories.prepare(TABLES)
        numbers = range(200)
        memories.change_each(
            "insert into conversation (id, owner, begun_at, changed_at) values (?, 'local', 1.0, 1.0)",
            [(f"c{number}",) for number in numbers],
        )
        memories.change_each(
            'insert into exchange (conversation, number, "user", assistant, at) values (?, 1, ?, ?, 1.0)',
            [(f"c{n}", f"What is rule {n}?", f"It is {n}. " + 20 * "And so on. ") for n in numbers],
        )
        memories.database.compact()
    with closing(sqlite3.connect(path)) as connection:
        if damage == "trigger":
            connection.execute("create trigger t after insert on exchange begin delete from exchange; end")
        elif damage == "view":
            endless = "with recursive c(x) as (select 1 union all select x + 1 from c) select x from c"
            connection.executescript(f"drop table source; create view source as {endless};")
    data = bytearray(path.read_bytes())
    pages = len(data) // PAGE_BYTES
    if damage == "zeroed":
        at = PAGE_BYTES * (pages // 2)
        data[at : at + PAGE_BYTES] = bytes(PAGE_BYTES)
    elif damage == "cut":
        del data[PAGE_BYTES * (pages - 2) :]
    elif damage == "halved":
        del data[len(data) // 2 - 7 :]
    elif damage == "schema":
        data[data.index(b"CREATE TABLE exchange") + 30] = 0xFF
    elif damage == "header":
        data[:4] = b"\0\0\0\0"
    path.write_bytes(data)
    memories, aside = open_memories(settings, mend=True)
    with closing(memories):
        assert damage_of(memories) == []
        least = 20 if damage == "halved" else 100
        assert len(Conversations(memories).listed("local")) >= least
        said = memories.read('select conversation, "user", assistant from exchange')
        assert len(said) >= least
        for conversation, asked, answered in said:
            assert asked == f"What is rule {conversation[1:]}?"
            assert answered.startswith(f"It is {conversation[1:]}. And so on.")
    assert aside is not None
    assert aside.stat().st_size == len(data)
    assert not list(path.parent.glob("*.saving*"))
