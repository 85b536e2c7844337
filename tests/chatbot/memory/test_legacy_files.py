"""What earlier versions kept in files of their own is taken over once, whole, however it was broken off,
and the files are kept aside.
"""

from __future__ import annotations

import hashlib
import json
import logging
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from chatbot.errors import StoreError
from chatbot.memory.cases.case_store import SHARED, Cases, hidden
from chatbot.memory.cases.records import Case, case_id
from chatbot.memory.conversations.conversation_store import TABLES, Conversations, Summary
from chatbot.memory.legacy_files import take_over
from chatbot.memory.memory_database import NAME, MemoryDatabase
from chatbot.memory.signals.state import State, Switch
from chatbot.memory.situations.situation_store import SituationMemory, Situations
from chatbot.memory.user_settings_store import UserSettingsStore
from chatbot.records import Answer, Exchange
from chatbot.settings import Settings
from tests.fakes import HashEmbedder

EMBEDDER = HashEmbedder(dimension=64)
FIRST_CONVERSATIONS = """
create table conversation (id text primary key, owner text not null, begun_at real not null) without rowid;
create table exchange (conversation text not null references conversation(id), number integer not null,
user text not null,
    assistant text not null, at real not null, primary key (conversation, number)) without rowid;
insert into conversation values ('old', 'me', 5.0);
insert into exchange values ('old', 1, 'How much?', 'Three [S1].', 6.0);
"""
SITUATIONS = """
create table situation (key text primary key, owner text not null, scope text not null,
situation text not null) without rowid;
create table advice (key text not null references situation(key) on delete cascade,
recommendation text not null, at real not null,
    primary key (key, recommendation)) without rowid;
insert into situation values ('k', 'me', 'oil', 'oil falls');
insert into advice values ('k', 'wait', 5.0), ('k', 'sell', 6.0);
"""
PREFERENCES = """
create table preference (owner text not null, name text not null, value text not null, primary key (owner,
name)) without rowid;
insert into preference values ('ann', 'window', '7');
"""


def make_file(path: Path, script: str, version: int = 1) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(f"pragma journal_mode = wal; {script} pragma user_version = {version};")


def earlier_conversations(store: Path, drop: str = "") -> str:
    """A file as the second version wrote it, by the tables of today, with one conversation; its id."""
    made = MemoryDatabase(store / "made.sqlite3")
    talks = Conversations(made)
    talk = talks.begin("me")
    number = talks.start(talk, "How much?")
    talks.finish(talk, number, Answer("q", "q", "Three.", True), {3: "a" * 64}, owner="me")
    talks.keep_vector(talk, number, "f", np.ones(2, np.float32))
    talks.keep_summary(talk, Summary(1, 1, "Costs.", "m"))
    made.close()
    with closing(sqlite3.connect(store / "made.sqlite3")) as connection:
        connection.executescript(f"drop table memory_version; {drop} pragma user_version = 2;")
    (store / "made.sqlite3").rename(store / "conversations.sqlite3")
    return talk


@pytest.fixture
def database(tmp_path: Path) -> MemoryDatabase:
    return MemoryDatabase(tmp_path / NAME)


def test_a_new_store_has_nothing_to_take_over(database: MemoryDatabase, tmp_path: Path) -> None:
    assert take_over(database, tmp_path, EMBEDDER) is None
    assert not list(tmp_path.glob("*.earlier"))


def test_conversations_of_the_first_version_are_taken_over(database: MemoryDatabase, tmp_path: Path) -> None:
    make_file(tmp_path / "conversations.sqlite3", FIRST_CONVERSATIONS, version=0)
    for _ in range(2):
        assert take_over(database, tmp_path, EMBEDDER) is None
        talks = Conversations(database)
        assert talks.window("old", "me") == [Exchange("How much?", "Three [S1].")]
        assert (talks.get("old", "me").changed_at, talks.get("old", "me").compresses) == (6.0, True)
    assert [path.name for path in tmp_path.glob("conversations*")] == ["conversations.sqlite3.earlier"]


@pytest.mark.parametrize(
    "drop", ["", "alter table conversation drop column off;"], ids=["the third", "the second"]
)
def test_conversations_of_later_versions_are_taken_over_whole(
    database: MemoryDatabase, tmp_path: Path, drop: str
) -> None:
    talk = earlier_conversations(tmp_path, drop)
    take_over(database, tmp_path, EMBEDDER)
    talks = Conversations(database)
    assert talks.get(talk, "me").off == frozenset() and len(talks.window(talk, "me")) == 1
    assert talks.answer(talk, 1, "me") is not None and talks.summaries(talk, "me") == [
        Summary(1, 1, "Costs.", "m")
    ]
    assert talks.vectors([talk], "f")[talk, 1].tolist() == [1, 1]
    assert database.read("select sha256 from source") == [("a" * 64,)]


def test_what_was_kept_in_the_log_beside_a_file_is_taken_over_too(
    database: MemoryDatabase, tmp_path: Path
) -> None:
    make_file(tmp_path / "preferences.sqlite3", PREFERENCES)
    other = sqlite3.connect(tmp_path / "preferences.sqlite3")
    other.execute("insert into preference values ('bob', 'window', '8')")
    other.commit()
    assert (tmp_path / "preferences.sqlite3-wal").stat().st_size
    take_over(database, tmp_path, EMBEDDER)
    other.close()
    own = UserSettingsStore(database, Settings())
    assert (own.settings("ann").window, own.settings("bob").window) == (7, 8)


def test_a_take_over_that_was_broken_off_is_done_again_and_writes_nothing_over(
    database: MemoryDatabase, tmp_path: Path
) -> None:
    make_file(tmp_path / "preferences.sqlite3", PREFERENCES)
    whole = (tmp_path / "preferences.sqlite3").read_bytes()
    take_over(database, tmp_path, EMBEDDER)
    (tmp_path / "preferences.sqlite3.earlier").unlink()
    (tmp_path / "preferences.sqlite3").write_bytes(whole)  # as if it ended before the file was renamed
    UserSettingsStore(database, Settings()).choose("ann", "window", 9)
    take_over(database, tmp_path, EMBEDDER)
    assert UserSettingsStore(database, Settings()).settings("ann").window == 9
    assert [path.name for path in tmp_path.glob("preferences*")] == ["preferences.sqlite3.earlier"]


def test_an_earlier_program_that_ran_in_between_is_taken_over_again(
    database: MemoryDatabase, tmp_path: Path
) -> None:
    for owner in ("ann", "bob"):
        make_file(tmp_path / "preferences.sqlite3", PREFERENCES.replace("ann", owner))
        take_over(database, tmp_path, EMBEDDER)
    assert UserSettingsStore(database, Settings()).settings("bob").window == 7
    assert {path.name for path in tmp_path.glob("preferences*")} == {
        "preferences.sqlite3.earlier",
        "preferences.sqlite3.earlier-2",
    }


def test_what_fails_takes_nothing_over_and_leaves_the_file(tmp_path: Path) -> None:
    make_file(tmp_path / "conversations.sqlite3", FIRST_CONVERSATIONS, version=0)
    database = MemoryDatabase(tmp_path / NAME)
    database.prepare(TABLES)
    ((pages,),) = database.read("pragma page_count")
    with closing(sqlite3.connect(tmp_path / "conversations.sqlite3")) as connection, connection:
        connection.execute("update exchange set user = ?", ("long " * 100_000,))
    database.read(f"pragma max_page_count = {pages}")
    with pytest.raises(StoreError, match="disk is full"):
        take_over(database, tmp_path, EMBEDDER)
    assert database.read("select * from conversation") == [] and (tmp_path / "conversations.sqlite3").exists()
    database.read("pragma max_page_count = 100000")
    take_over(database, tmp_path, EMBEDDER)
    assert len(database.read("select * from exchange")) == 1


def test_a_damaged_file_is_set_aside_and_the_others_are_taken_over(
    database: MemoryDatabase, tmp_path: Path
) -> None:
    (tmp_path / "conversations.sqlite3").write_bytes(b"no database at all" * 100)
    make_file(tmp_path / "preferences.sqlite3", PREFERENCES)
    aside = take_over(database, tmp_path, EMBEDDER)
    assert (
        aside is not None
        and aside.name.startswith("conversations.sqlite3.damaged-")
        and aside.read_bytes().startswith(b"no database")
    )
    assert UserSettingsStore(database, Settings()).settings("ann").window == 7


def test_what_can_be_read_of_a_damaged_file_is_taken_over(database: MemoryDatabase, tmp_path: Path) -> None:
    talk = earlier_conversations(tmp_path)
    path = tmp_path / "conversations.sqlite3"
    with closing(sqlite3.connect(path)) as connection:
        ((root,),) = connection.execute(
            "select rootpage from sqlite_master where name = 'exchange'"
        ).fetchall()
        ((size,),) = connection.execute("pragma page_size").fetchall()
        connection.execute("pragma journal_mode = delete")
    data = bytearray(path.read_bytes())
    data[(root - 1) * size : root * size] = b"\xff" * size
    path.write_bytes(data)
    aside = take_over(database, tmp_path, EMBEDDER)
    assert aside is not None and "damaged" in aside.name
    assert database.read("select id from conversation") == [(talk,)]


# --- rated answers
# ------------------------------------------------------------------------------------------------------------


def earlier_cases(store: Path, name: str = "") -> Path:
    """The file of an owner's cases as earlier versions wrote it, with the vectors of the first two
    questions.
    """
    path = store / "cases" / f"{name or hidden('me')}.jsonl"
    path.parent.mkdir(exist_ok=True)
    lines = [
        {"question": "One?", "plan": "Old."},
        {"case": "Two?", "plan": "P", "case_label": "negative", "tool": 1},
        {"question": "one", "plan": "New."},
    ]
    path.write_bytes(b"".join(json.dumps(line).encode() + b"\n" for line in lines) + b'{"question": "Thr')
    named = hashlib.sha256(EMBEDDER.fingerprint.encode()).hexdigest()[:12]
    rows = EMBEDDER.embed(["Two?", "one"])
    keys = [hashlib.sha256(b"1\0" + text.encode()).digest()[:16] for text in ("Two?", "one")]
    data = b"".join(key + row.astype("<f4").tobytes() for key, row in zip(keys, rows, strict=True))
    path.with_name(f"{path.stem}-{named}.vectors").write_bytes(data + b"cut short")
    return path


def test_rated_answers_are_taken_over_with_their_vectors_and_unreadable_lines_are_told(
    database: MemoryDatabase, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    earlier_cases(tmp_path)
    earlier_cases(tmp_path, f"{hidden('me')}.deleted")
    earlier_cases(tmp_path, SHARED)
    with caplog.at_level(logging.WARNING):
        take_over(database, tmp_path, EMBEDDER)
    cases = Cases(database, EMBEDDER)
    assert [(row.case.question, row.case.plan, row.case.reward) for row in cases.listed("me")] == [
        ("one", "New.", 1),
        ("Two?", "P", 0),
    ]
    assert cases.health("me").waiting == 0 and cases.health("me").shared == 2
    assert all(row.case.by for row in cases.listed("me", shared=True))
    assert caplog.text.count("Line 4 of") == 3 and "is not taken over: it is no JSON" in caplog.text
    cases.edit("me", case_id("Two?"), lambda case: replace(case, plan="Q"))
    assert (
        b'"tool": 1'
        in database.read(
            "select line from rated_answer where id = ? and shelf = ?", (case_id("Two?"), hidden("me"))
        )[0][0]
    )
    assert (tmp_path / "cases.earlier" / f"{hidden('me')}.jsonl").exists() and not (
        tmp_path / "cases"
    ).exists()


def test_a_take_over_of_rated_answers_that_was_broken_off_writes_nothing_over(
    database: MemoryDatabase, tmp_path: Path
) -> None:
    for _ in range(2):
        earlier_cases(tmp_path)
        take_over(database, tmp_path, EMBEDDER)
        Cases(database, EMBEDDER).add("me", Case("One?", "Newest."))
    assert [row.case.plan for row in Cases(database, EMBEDDER).listed("me")] == ["Newest.", "P"]


def test_vectors_of_another_embedder_are_made_anew(database: MemoryDatabase, tmp_path: Path) -> None:
    earlier_cases(tmp_path)
    other = HashEmbedder(dimension=32)
    take_over(database, tmp_path, other)
    assert Cases(database, other).health("me").waiting == 2


# --- situations
# ------------------------------------------------------------------------------------------------------------


def test_situations_are_taken_over_without_their_index(database: MemoryDatabase, tmp_path: Path) -> None:
    (tmp_path / "situations" / "index").mkdir(parents=True)
    make_file(tmp_path / "situations" / "situations.sqlite3", SITUATIONS)
    take_over(database, tmp_path, EMBEDDER)
    situations = Situations(database, EMBEDDER)
    (one,) = situations.listed("me")
    assert (one.scope, one.situation, one.recommendations, one.at) == (
        "oil",
        "oil falls",
        ("sell", "wait"),
        6.0,
    )
    assert situations.health("me").waiting == 1
    assert len(SituationMemory(situations, scope="oil", owner="me").get_memories("oil falls")) == 1
    assert [path.name for path in (tmp_path / "situations").iterdir()] == ["situations.sqlite3.earlier"]
    situations.remove("me", one.key)
    assert not list((tmp_path / "situations").iterdir()), "what is erased stands in no file"


# --- signals
# ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ('{"imported": true, "on": false}', State(imported=True, on=False)),
        ("{", State()),
        ('{"imported": 1}', State()),
    ],
)
def test_whether_signals_are_in_use_is_taken_over(
    database: MemoryDatabase, tmp_path: Path, text: str, state: State
) -> None:
    (tmp_path / "signals").mkdir()
    (tmp_path / "signals" / "state.json").write_text(text)
    take_over(database, tmp_path, EMBEDDER)
    assert Switch(database).read() == state and (tmp_path / "signals" / "state.json.earlier").exists()
