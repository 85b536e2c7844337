"""What earlier versions kept in files of their own is taken over once, whole, however it was broken off,
and the files are kept aside.
"""

from __future__ import annotations

import hashlib
import logging
import sqlite3
from contextlib import closing
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
from tests.chatbot.memory.cases.kept_cases import edit, kept, shared
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


def names_in(folder: Path, pattern: str = "*") -> list[str]:
    return sorted(path.name for path in folder.glob(pattern))


def window_of(database: MemoryDatabase, owner: str) -> int:
    own = UserSettingsStore(database, Settings())
    return own.settings(owner).window


def make_file(path: Path, script: str, version: int = 1) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(f"pragma journal_mode = wal; {script} pragma user_version = {version};")


def earlier_conversations(store: Path, drop: str = "") -> str:
    """A file as the second version wrote it, by the tables of today, with one conversation; its id."""
    path = store / "made.sqlite3"
    made = MemoryDatabase(path)
    talks = Conversations(made)
    talk = talks.begin("me")
    number = talks.start(talk, "How much?")
    answer = Answer("q", "q", "Three.", True)
    talks.finish(talk, number, answer, {3: "a" * 64}, owner="me")
    talks.keep_vector(talk, number, "f", np.ones(2, np.float32))
    talks.keep_summary(talk, Summary(1, 1, "Costs.", "m"))
    made.close()
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(f"drop table memory_version; {drop} pragma user_version = 2;")
    path.rename(store / "conversations.sqlite3")
    return talk


@pytest.fixture
def database(tmp_path: Path) -> MemoryDatabase:
    return MemoryDatabase(tmp_path / f"{NAME}.sqlite3")


def test_a_new_store_has_nothing_to_take_over(database: MemoryDatabase, tmp_path: Path) -> None:
    assert take_over(database, tmp_path, EMBEDDER) is None
    assert names_in(tmp_path, "*.earlier") == []


def test_conversations_of_the_first_version_are_taken_over(database: MemoryDatabase, tmp_path: Path) -> None:
    make_file(tmp_path / "conversations.sqlite3", FIRST_CONVERSATIONS, version=0)
    for _ in range(2):
        assert take_over(database, tmp_path, EMBEDDER) is None
        talks = Conversations(database)
        assert talks.window("old", "me") == [Exchange("How much?", "Three [S1].")]
        row = talks.get("old", "me")
        assert row.changed_at == 6.0
        assert row.compresses is True
    assert names_in(tmp_path, "conversations*") == ["conversations.sqlite3.earlier"]


@pytest.mark.parametrize(
    "drop", ["", "alter table conversation drop column off;"], ids=["the third", "the second"]
)
def test_conversations_of_later_versions_are_taken_over_whole(
    database: MemoryDatabase, tmp_path: Path, drop: str
) -> None:
    talk = earlier_conversations(tmp_path, drop)
    take_over(database, tmp_path, EMBEDDER)
    talks = Conversations(database)
    assert talks.get(talk, "me").off == frozenset()
    assert len(talks.window(talk, "me")) == 1
    assert talks.answer(talk, 1, "me") is not None
    assert talks.summaries(talk, "me") == [Summary(1, 1, "Costs.", "m")]
    vectors = talks.vectors([talk], "f")
    assert vectors[talk, 1].tolist() == [1, 1]
    assert database.read("select sha256 from source") == [("a" * 64,)]


def test_what_was_kept_in_the_log_beside_a_file_is_taken_over_too(
    database: MemoryDatabase, tmp_path: Path
) -> None:
    path = tmp_path / "preferences.sqlite3"
    make_file(path, PREFERENCES)
    other = sqlite3.connect(path)
    other.execute("insert into preference values ('bob', 'window', '8')")
    other.commit()
    log = tmp_path / "preferences.sqlite3-wal"
    assert log.stat().st_size
    take_over(database, tmp_path, EMBEDDER)
    other.close()
    assert window_of(database, "ann") == 7
    assert window_of(database, "bob") == 8


def test_a_take_over_that_was_broken_off_is_done_again_and_writes_nothing_over(
    database: MemoryDatabase, tmp_path: Path
) -> None:
    path = tmp_path / "preferences.sqlite3"
    make_file(path, PREFERENCES)
    whole = path.read_bytes()
    take_over(database, tmp_path, EMBEDDER)
    (tmp_path / "preferences.sqlite3.earlier").unlink()
    path.write_bytes(whole)  # as if it ended before the file was renamed
    UserSettingsStore(database, Settings()).choose("ann", "window", 9)
    take_over(database, tmp_path, EMBEDDER)
    assert window_of(database, "ann") == 9
    assert names_in(tmp_path, "preferences*") == ["preferences.sqlite3.earlier"]


def test_an_earlier_program_that_ran_in_between_is_taken_over_again(
    database: MemoryDatabase, tmp_path: Path
) -> None:
    for owner in ("ann", "bob"):
        make_file(tmp_path / "preferences.sqlite3", PREFERENCES.replace("ann", owner))
        take_over(database, tmp_path, EMBEDDER)
    assert window_of(database, "bob") == 7
    kept = names_in(tmp_path, "preferences*")
    assert kept == ["preferences.sqlite3.earlier", "preferences.sqlite3.earlier-2"]


def test_what_fails_takes_nothing_over_and_leaves_the_file(database: MemoryDatabase, tmp_path: Path) -> None:
    path = tmp_path / "conversations.sqlite3"
    make_file(path, FIRST_CONVERSATIONS, version=0)
    database.prepare(TABLES)
    ((pages,),) = database.read("pragma page_count")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("update exchange set user = ?", ("long " * 100_000,))
    database.read(f"pragma max_page_count = {pages}")
    with pytest.raises(StoreError, match="disk is full"):
        take_over(database, tmp_path, EMBEDDER)
    assert database.read("select * from conversation") == []
    assert path.exists()
    database.read("pragma max_page_count = 100000")
    take_over(database, tmp_path, EMBEDDER)
    assert len(database.read("select * from exchange")) == 1


def test_a_damaged_file_is_set_aside_and_the_others_are_taken_over(
    database: MemoryDatabase, tmp_path: Path
) -> None:
    damaged = b"no database at all" * 100
    (tmp_path / "conversations.sqlite3").write_bytes(damaged)
    make_file(tmp_path / "preferences.sqlite3", PREFERENCES)
    aside = take_over(database, tmp_path, EMBEDDER)
    assert aside is not None
    assert aside.name.startswith("conversations.sqlite3.damaged-")
    assert aside.read_bytes().startswith(b"no database")
    assert window_of(database, "ann") == 7


def test_what_can_be_read_of_a_damaged_file_is_taken_over(database: MemoryDatabase, tmp_path: Path) -> None:
    talk = earlier_conversations(tmp_path)
    path = tmp_path / "conversations.sqlite3"
    with closing(sqlite3.connect(path)) as connection:
        ((root,),) = connection.execute("select rootpage from sqlite_master where name = 'exchange'")
        ((size,),) = connection.execute("pragma page_size")
        connection.execute("pragma journal_mode = delete")
    data = bytearray(path.read_bytes())
    end = root * size
    data[end - size : end] = b"\xff" * size
    path.write_bytes(data)
    aside = take_over(database, tmp_path, EMBEDDER)
    assert aside is not None
    assert "damaged" in aside.name
    assert database.read("select id from conversation") == [(talk,)]


# --- rated answers
# ------------------------------------------------------------------------------------------------------------


CASES = b"""\
{"question": "One?", "plan": "Old."}
{"case": "Two?", "plan": "P", "case_label": "negative", "tool": 1}
{"question": "one", "plan": "New."}
{"question": "Thr"""


def earlier_cases(store: Path, name: str = "") -> Path:
    """The file of an owner's cases as earlier versions wrote it, with the vectors of the first two
    questions.
    """
    path = store / "cases" / f"{name or hidden('me')}.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(CASES)
    questions = ["Two?", "one"]
    data = b""
    for question, row in zip(questions, EMBEDDER.embed(questions), strict=True):
        key = hashlib.sha256(b"1\0" + question.encode()).digest()
        data += key[:16] + row.astype("<f4").tobytes()
    named = hashlib.sha256(EMBEDDER.fingerprint.encode()).hexdigest()
    vectors = path.with_name(f"{path.stem}-{named[:12]}.vectors")
    vectors.write_bytes(data + b"cut short")
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
    one, two = kept(cases)
    assert one.question == "one"
    assert one.plan == "New."
    assert one.reward == 1
    assert two.question == "Two?"
    assert two.plan == "P"
    assert two.reward == 0
    health = cases.health("me")
    assert health.waiting == 0
    assert health.shared == 2
    assert all(case.by for case in shared(cases, "me"))
    assert caplog.text.count("Line 4 of") == 3
    assert "was not imported: it is not JSON" in caplog.text
    assert (tmp_path / "cases.earlier" / f"{hidden('me')}.jsonl").exists()
    assert not (tmp_path / "cases").exists()


def test_what_others_wrote_to_a_line_that_was_taken_over_stays(
    database: MemoryDatabase, tmp_path: Path
) -> None:
    earlier_cases(tmp_path)
    take_over(database, tmp_path, EMBEDDER)
    key = case_id("Two?")
    edit(Cases(database, EMBEDDER), key, plan="Q")
    query = "select line from rated_answer where id = ? and shelf = ?"
    ((line,),) = database.read(query, (key, hidden("me")))
    assert b'"tool": 1' in line


def test_a_take_over_of_rated_answers_that_was_broken_off_writes_nothing_over(
    database: MemoryDatabase, tmp_path: Path
) -> None:
    for _ in range(2):
        earlier_cases(tmp_path)
        take_over(database, tmp_path, EMBEDDER)
        cases = Cases(database, EMBEDDER)
        cases.add("me", Case("One?", "Newest."))
    assert [case.plan for case in kept(cases)] == ["Newest.", "P"]


def test_vectors_of_another_embedder_are_made_anew(database: MemoryDatabase, tmp_path: Path) -> None:
    earlier_cases(tmp_path)
    other = HashEmbedder(dimension=32)
    take_over(database, tmp_path, other)
    health = Cases(database, other).health("me")
    assert health.waiting == 2


# --- situations
# ------------------------------------------------------------------------------------------------------------


def test_situations_are_taken_over_without_their_index(database: MemoryDatabase, tmp_path: Path) -> None:
    folder = tmp_path / "situations"
    (folder / "index").mkdir(parents=True)
    make_file(folder / "situations.sqlite3", SITUATIONS)
    take_over(database, tmp_path, EMBEDDER)
    situations = Situations(database, EMBEDDER)
    (one,) = situations.listed("me")
    assert one.scope == "oil"
    assert one.situation == "oil falls"
    assert one.recommendations == ("sell", "wait")
    assert one.at == 6.0
    assert situations.health("me").waiting == 1
    memory = SituationMemory(situations, scope="oil", owner="me")
    assert len(memory.get_memories("oil falls")) == 1
    assert names_in(folder) == ["situations.sqlite3.earlier"]
    situations.remove("me", one.key)
    assert names_in(folder) == [], "what is erased stands in no file"


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
    folder = tmp_path / "signals"
    folder.mkdir()
    (folder / "state.json").write_text(text)
    take_over(database, tmp_path, EMBEDDER)
    assert Switch(database).read() == state
    assert (folder / "state.json.earlier").exists()
