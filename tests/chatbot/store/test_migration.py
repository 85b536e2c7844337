"""A store that is moved to servers and back is the same, whenever the migration was broken off."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

import psycopg
import pytest

from chatbot.asking.question import Ask
from chatbot.errors import StoreError
from chatbot.memory.memory_database import open_memories
from chatbot.memory.memory_tables import memory_part
from chatbot.records import Answer
from chatbot.service import Chatbot
from chatbot.settings import Settings
from chatbot.store.api_keys import open_api_keys
from chatbot.store.catalog import SCHEMA, Catalog
from chatbot.store.database import PostgresPlace, open_database, place_of
from chatbot.store.kept_copies import files_of
from chatbot.store.library import Upload
from chatbot.store.migration import table_copying
from chatbot.store.migration.store_migration import ComparedPart, StoreMigration
from chatbot.store.migration.table_shapes import normalised, shapes_of, summary_of
from tests.commands import run
from tests.fakes import HashEmbedder
from tests.pdfs import make_pdf
from tests.served_chroma import ServedChroma
from tests.served_objects import ServedObjects
from tests.stores import RULES, add_now, hashing

ROOT = Path(__file__).resolve().parents[3]
QUESTION = "What is the deficit ceiling?"
# Moves a store, and ends by a kill at one of the moments at which progress is told.
CHILD = """
import itertools, json, os, signal, sys
from pathlib import Path
from chatbot.memory.memory_tables import memory_part
from chatbot.settings import Settings
from chatbot.store.migration import table_copying
from chatbot.store.migration.store_migration import StoreMigration
from tests.stores import hashing

table_copying.ROWS_AT_ONCE = 3
source, target, last = json.load(sys.stdin)
count = itertools.count(1)

def told(*_):
    if next(count) == last:
        os.kill(os.getpid(), signal.SIGKILL)

made = [Settings(**{**fields, "home": Path(fields["home"])}) for fields in (source, target)]
print("begins", flush=True)
for compared in StoreMigration(*made, [memory_part()], told, embedder=hashing()).run():
    print(compared.what, compared.equal, flush=True)
"""


@pytest.fixture(scope="module")
def developed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of a store in use: documents, one of them removed, conversations, ratings, advice and keys."""
    folder = tmp_path_factory.mktemp("developed")
    settings = Settings(home=folder / "home")
    with Chatbot(settings, embedder=hashing()) as chatbot:
        texts = {"Rules.pdf": RULES, "Older.pdf": RULES[:1], "Debt é.pdf": [*RULES[1:], "Notes\nNothing."]}
        uploads = [Upload(make_pdf(folder / name, pages)) for name, pages in texts.items()]
        add_now(chatbot.library, uploads)
        chatbot.remove("Older.pdf")
        for owner in ("me", "you"):
            for question in (QUESTION, "And the debt anchor?"):
                *_, answer = chatbot.ask(Ask(question, conversation=f"talk-{owner}", owner=owner))
                assert isinstance(answer, Answer)
            chatbot.rate(f"talk-{owner}", 1, owner, helpful=True)
            chatbot.own.choose(owner, "window", 7)
            chatbot.situations.add(owner, [("inflation rises", "shorten duration")])
    with closing(open_api_keys(settings)) as keys:
        for name in ("first", "second", "last"):
            keys.create(name, "read")
        keys.revoke(3)
    return folder / "home"


@pytest.fixture
def home(developed: Path, tmp_path: Path) -> Path:
    """A copy of that home."""
    shutil.copytree(developed, tmp_path / "home")
    return tmp_path / "home"


@pytest.fixture
def servers(chroma: ServedChroma, objects: ServedObjects, served: str, tmp_path: Path) -> dict[str, Any]:
    """Settings that name servers; each test has a database and a prefix of its own."""
    return {
        "database": served,
        "chroma_url": chroma.address,
        "files": f"s3://{objects.bucket}/{tmp_path.name}",
        "files_endpoint": objects.endpoint,
    }


def migrate(source: Settings, target: Settings) -> list[ComparedPart]:
    migration = StoreMigration(source, target, [memory_part()], lambda *_: None, embedder=hashing())
    return list(migration.run())


def wrong(compared: list[ComparedPart]) -> list[ComparedPart]:
    assert compared
    return [one for one in compared if not one.equal]


def child(source: Settings, target: Settings, last: int) -> tuple[list[str], str]:
    """The command of a process that migrates, and its input; it is killed when progress is told for the
    last time, 0 for never.
    """
    fields = ("home", "database", "chroma_url", "files", "files_endpoint")
    given = [dict(zip(fields, map(str, attrgetter(*fields)(one)), strict=True)) for one in (source, target)]
    return [sys.executable, "-c", CHILD], json.dumps([*given, last])


def broken_off(source: Settings, target: Settings, last: int) -> None:
    command, given = child(source, target, last)
    done = subprocess.run(command, cwd=ROOT, input=given, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr


def kept(home: Path) -> dict[str, str]:
    """The hash of every file that holds data; not of locks, nor of what readers of SQLite share."""
    return {
        str(path.relative_to(home)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in home.rglob("*")
        if path.is_file() and not path.name.endswith(("-shm", "-wal", ".lock")) and path.name != "reserve"
    }


def dumped(settings: Settings) -> dict[str, Any]:
    """All that a store answers with: documents, pages, conversations, ratings, advice, settings, keys."""
    with Chatbot(settings, embedder=hashing()) as chatbot:
        found: dict[str, Any] = {
            "documents": chatbot.documents(),
            "hits": [(hit.document, hit.page, hit.score) for hit in chatbot.search(QUESTION)],
            "differences": chatbot.library.indexes.differences(),
            "files": [
                len(chatbot.library.file(version).read_bytes()) for version in chatbot.library.scope([])
            ],
        }
        for owner in ("me", "you"):
            talk = f"talk-{owner}"
            found[owner] = (
                [(said.user, said.assistant, said.at) for said in chatbot.conversations.said(talk, owner)],
                [row.case.question for row in chatbot.cases.listed(owner)],
                chatbot.situations.listed(owner),
                chatbot.own.settings(owner).window,
            )
        embedder = chatbot.library.embedder
        assert isinstance(embedder, HashEmbedder)
        assert embedder.calls == 1  # the question; no passage was embedded anew
    with closing(open_api_keys(settings)) as keys:
        found["keys"] = keys.listed()
    return found


def test_a_migration_that_is_killed_twice_goes_on_and_leads_back(
    home: Path, servers: dict[str, Any], tmp_path: Path
) -> None:
    source, chance = Settings(home=home), random.Random(7)
    target = replace(source, home=tmp_path / "server", **servers)
    before = kept(home)
    for last in (chance.randint(2, 12), chance.randint(14, 30)):
        broken_off(source, target, last)
        for use in (partial(Chatbot, embedder=hashing()), open_memories, open_api_keys):
            with pytest.raises(StoreError, match="Not all of the store has been moved here"):
                use(target)
    compared = migrate(source, target)
    assert not wrong(compared)
    assert {"catalog page", "memory exchange", "api_keys api_key", "kept files"} <= {
        one.what for one in compared
    }
    assert all(one.before.count for one in compared if one.what.startswith("index"))
    assert kept(home) == before
    back = Settings(home=tmp_path / "back")
    assert not wrong(migrate(target, back))
    assert dumped(back) == dumped(target) == dumped(source)


@pytest.mark.long
def test_kills_at_any_moment(home: Path, servers: dict[str, Any], tmp_path: Path) -> None:
    source, chance = Settings(home=home), random.Random(11)
    target, back = replace(source, home=tmp_path / "server", **servers), Settings(home=tmp_path / "back")
    for places in ((source, target), (target, back)):
        killed = 0
        command, given = child(*places, 0)
        while killed < 6:
            with subprocess.Popen(
                command, cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
            ) as process:
                assert process.stdin is not None
                assert process.stdout is not None
                process.stdin.write(given)
                process.stdin.close()
                assert process.stdout.readline() == "begins\n"
                time.sleep(chance.uniform(0.0, 0.8))
                process.kill()
            if process.returncode == 0:
                break
            killed += 1
        assert killed
        assert not wrong(migrate(*places))
    assert dumped(back) == dumped(target) == dumped(source)


def test_a_broken_off_migration_lets_no_other_files_go(home: Path, served: str, tmp_path: Path) -> None:
    source = Settings(home=home)
    broken_off(source, replace(source, database=served), 30)
    other = tmp_path / "shared"
    other.mkdir()
    (other / f"{'a' * 64}.pdf").write_bytes(b"")
    with pytest.raises(StoreError, match=r"shared already holds 1 kept files\."):
        migrate(source, replace(source, database=served, files=str(other)))
    (other / f"{'a' * 64}.pdf").unlink()
    target = replace(source, database=served, files=str(other))
    assert not wrong(migrate(source, target))
    assert dumped(target) == dumped(source)


def test_what_another_store_brought_meanwhile_stays(
    home: Path, served: str, objects: ServedObjects, tmp_path: Path
) -> None:
    source = Settings(home=home)
    files = f"s3://{objects.bucket}/{tmp_path.name}"
    target = replace(source, database=served, files=files, files_endpoint=objects.endpoint)
    broken_off(source, target, 30)
    theirs = files_of(target)
    (partial_file := tmp_path / "other.partial").write_bytes(b"x")
    theirs.put(partial_file, f"{'a' * 64}.json")
    assert [one.what for one in wrong(migrate(source, target))] == ["kept files"]
    assert theirs.read(f"{'a' * 64}.json") == b"x"


def test_what_changed_in_the_source_is_followed_until_all_is_there(
    home: Path, served: str, tmp_path: Path
) -> None:
    source = Settings(home=home)
    target = replace(source, database=served)
    broken_off(source, target, 30)
    with Chatbot(source, embedder=hashing()) as chatbot:
        chatbot.remove("Rules.pdf", purge=True)
        chatbot.conversations.erase("talk-you", "you")
        add_now(chatbot.library, [Upload(make_pdf(tmp_path / "Later.pdf", RULES))])
        *_, answer = chatbot.ask(Ask(QUESTION, conversation="talk-me", owner="me"))
        assert isinstance(answer, Answer)
        chatbot.cases.rate("me", answer, 0)
    assert not wrong(migrate(source, target))


def test_a_target_in_use_is_compared_and_left_alone(home: Path, served: str) -> None:
    source = Settings(home=home)
    target = replace(source, database=served)
    assert not wrong(migrate(source, target))
    with closing(Catalog(place_of(target, "catalog"))) as catalog:
        catalog.set_meta("since", "then")
    assert [one.what for one in wrong(migrate(source, target))] == ["catalog meta"]
    with closing(Catalog(place_of(target, "catalog"))) as catalog:
        assert catalog.meta("since") == "then"


def test_a_target_that_holds_another_store_is_refused(home: Path, served: str, tmp_path: Path) -> None:
    target = Settings(home=tmp_path / "other", database=served)
    with Chatbot(target, embedder=hashing()) as chatbot:
        chatbot.own.choose("somebody", "window", 5)
    other = target.home / "documents" / f"{'a' * 64}.pdf"
    other.write_bytes(b"")
    with pytest.raises(StoreError, match=r"documents already holds 1 kept files\."):
        migrate(Settings(home=home), replace(target, database="", home=target.home))
    with pytest.raises(StoreError, match=r"already holds a store: 1 rows of preference\."):
        migrate(Settings(home=home), target)


def test_ids_go_on_after_the_highest_ever_given(home: Path, served: str, tmp_path: Path) -> None:
    source = Settings(home=home)
    target, back = replace(source, database=served), Settings(home=tmp_path / "back")
    # A server that was started there once has left tables, and nothing in them.
    Chatbot(replace(target, home=tmp_path / "early"), embedder=hashing()).close()
    assert not wrong(migrate(source, target))
    assert not wrong(migrate(target, back))
    for place in (target, back):
        with closing(open_api_keys(place)) as keys:
            _, made = keys.create("fourth", "read")
            assert made.id == 4  # the third was revoked
        with closing(Catalog(place_of(place, "catalog"))) as catalog:
            assert catalog.begin("New.pdf", "a" * 64, None) == 4  # three versions came before


def test_a_server_or_another_migration_is_refused(
    home: Path, served: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chatbot.store.migration.store_migration.END_SECONDS", 0.5)
    source = Settings(home=home)
    target = replace(source, home=tmp_path / "target", database=served)
    with Chatbot(source, embedder=hashing()), pytest.raises(StoreError, match="in use by process"):
        migrate(source, target)
    elsewhere = Settings(home=tmp_path / "elsewhere", database=served)
    with (
        Chatbot(elsewhere, embedder=hashing()),
        pytest.raises(StoreError, match="A server or a command uses the database"),
    ):
        migrate(source, target)
    with closing(open_database(PostgresPlace(served, "catalog"), SCHEMA)) as other:
        other.claim("migration")
        with pytest.raises(StoreError, match="Another migration uses the database"):
            migrate(source, target)
        # Nor does anybody begin to use what is being moved.
        for command in (["keys", "list"], ["list"], ["conversations"], ["search", "debt"]):
            done = run(elsewhere.home, *command, FINPOLICY_DATABASE_URL=served)
            assert "The store is being moved. Wait until" in done.stderr


def test_a_row_has_one_hash_whatever_engine_it_comes_from() -> None:
    (shape,) = shapes_of(["create table t (a integer primary key, b text, c real, d blob);\n"])
    assert (shape.columns, shape.key, shape.numbered) == (("a", "b", "c", "d"), (0,), True)
    one = normalised(shape, (1, "a\0b", 2, memoryview(b"x")))
    assert one == (1, "a\ufffdb", 2.0, b"x")
    rows = [one, (2, None, None, None), (3, "", 0.5, b"")]
    assert summary_of(rows) == summary_of(reversed(rows))
    assert summary_of(rows) != summary_of([*rows[:2], (3, None, 0.5, b"")])
    assert summary_of([("ab", "c")]) != summary_of([("a", "bc")])


def test_a_password_is_shown_nowhere(home: Path, served: str, tmp_path: Path) -> None:
    target = Settings(home=tmp_path / "t", database=f"{served} password=Very-secret-word")
    assert not wrong(migrate(Settings(home=home), target))
    with psycopg.connect(served) as connection:
        rows = connection.execute("select * from finpolicy_migration.migration").fetchall()
    assert rows
    assert "Very-secret" not in str(rows)
    assert table_copying.ROWS_AT_ONCE > 1


@pytest.mark.parametrize(
    ("kind", "said"), [("link", "is a link"), ("pipe", "no plain file"), ("text", "other bytes")]
)
def test_a_copy_with_other_bytes_than_its_name_says_is_not_taken_for_equal(
    home: Path, tmp_path: Path, kind: str, said: str
) -> None:
    copy = sorted((home / "documents").glob("*.pdf"))[0]
    (outside := tmp_path / "outside").write_bytes(b"What nobody may move.")
    copy.unlink()
    if kind == "link":
        copy.symlink_to(outside)
    elif kind == "pipe":
        os.mkfifo(copy)
    else:
        copy.write_bytes(outside.read_bytes())
    (target := tmp_path / "moved").mkdir()
    source = Settings(home=home)
    with pytest.raises(StoreError, match=rf"{copy.name} .*{said}") as raised:
        migrate(source, replace(source, files=str(target)))
    assert "doctor --repair" in raised.value.hint
    if kind != "text":
        assert not list(target.iterdir())
