"""Conversations: kept as they are written, each with its owner; listed, searched, renamed, deleted and
brought back; faults named and contained.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from chatbot.errors import NotFoundError, StoreError
from chatbot.memory import memory_database
from chatbot.memory.conversations.conversation_store import KEPT_DAYS, PRIVATE, WINDOW, Conversations, Summary
from chatbot.memory.memory_database import MemoryDatabase
from chatbot.records import Answer, Citation, Compression, Exchange, Hit, NumberCheck, Prompt, Understanding

DIGEST = "a" * 64
HIT = Hit(
    "Rules.pdf",
    3,
    8,
    "6",
    "printed",
    "text",
    None,
    "3-1",
    "The cost is $4.5 million.",
    page_text="Much text",
    scores={"vector": 0.5},
)
ANSWER = Answer(
    "What does it cost?",
    "What does the bridge cost?",
    "It costs $4.5 million [S1].",
    True,
    citations=(Citation("S1", "Rules.pdf", 8, "6", "The cost is $4.5 million.", True, 0, 25, version=3),),
    numbers=(NumberCheck("$4.5 million", 4.5, "USD", 1e6, None, "supported", "S1-7f3a"),),
    considered=(HIT,),
    prompt=Prompt(
        "q",
        "s",
        {"S1-7f3a": HIT},
        (Exchange("a", "b"),),
        (),
        (("system", "rules"), ("user", "[S1-7f3a] Much text")),
        "7f3a",
    ),
    understanding=Understanding("q", "s", years=(2024,)),
    notices=("Searched by words alone.",),
)


@pytest.fixture
def talks(tmp_path: Path) -> Iterator[Conversations]:
    opened = Conversations(MemoryDatabase(tmp_path / "c.sqlite3"))
    yield opened
    opened.close()


def tell(talks: Conversations, talk: str, question: str = ANSWER.question, text: str = ANSWER.text) -> int:
    number = talks.start(talk, question)
    talks.finish(talk, number, Answer(question, question, text, True), {}, owner="me")
    return number


def test_the_window_keeps_the_last_ten_and_outlives_the_process(tmp_path: Path) -> None:
    talks = Conversations(MemoryDatabase(tmp_path / "c.sqlite3"))
    talk = talks.begin("me")
    for number in range(WINDOW + 3):
        tell(talks, talk, f"question {number}")
    talks.close()
    again = Conversations(MemoryDatabase(tmp_path / "c.sqlite3"))
    assert [exchange.user for exchange in again.window(talk, "me")] == [
        f"question {number}" for number in range(3, WINDOW + 3)
    ]
    assert [said.number for said in again.said(talk, "me")] == list(range(1, WINDOW + 4))
    assert [said.number for said in again.said(talk, "me", last=2, before=5)] == [3, 4]
    again.close()


def test_an_answer_is_kept_in_full_but_for_the_pages_text(talks: Conversations) -> None:
    talk = talks.begin("me")
    number = talks.start(talk, ANSWER.question)
    talks.finish(talk, number, ANSWER, {3: DIGEST}, owner="me")
    kept = talks.answer(talk, number, "me")
    assert kept is not None
    answer, files = kept
    assert files == {3: DIGEST}
    assert (answer.citations, answer.numbers, answer.understanding, answer.notices) == (
        ANSWER.citations,
        ANSWER.numbers,
        ANSWER.understanding,
        ANSWER.notices,
    )
    assert answer.considered[0].page_text == "" and answer.considered[0].text == HIT.text
    assert answer.prompt is not None and ANSWER.prompt is not None
    assert answer.prompt.messages == ANSWER.prompt.messages
    assert answer.prompt.exchanges == (Exchange("a", "b"),)
    assert talks.answer(talk, number, "you") is None
    assert talks.window(talk, "me") == [
        Exchange("What does it cost?", "It costs $4.5 million (Rules.pdf, p. 8).")
    ]


def test_what_was_written_so_far_outlives_a_kill(tmp_path: Path) -> None:
    talks = Conversations(MemoryDatabase(tmp_path / "c.sqlite3"))
    talk = talks.begin("me")
    number = talks.start(talk, "How much?")
    talks.write(talk, number, "Three per", owner="me")
    again = Conversations(MemoryDatabase(tmp_path / "c.sqlite3"))  # the first was never closed
    (said,) = again.said(talk, "me")
    assert (said.user, said.assistant, said.state) == ("How much?", "Three per", "interrupted")
    assert again.window(talk, "me") == [Exchange("How much?", "Three per (interrupted, unchecked)")]
    again.close()
    talks.close()


def test_what_is_being_written_is_in_no_window_and_a_whole_answer_stays_whole(talks: Conversations) -> None:
    talk = talks.begin("me")
    number = talks.start(talk, "How much?")
    talks.write(talk, number, "Three", owner="me")
    assert talks.window(talk, "me") == []
    talks.finish(talk, number, ANSWER, {}, owner="me")
    talks.write(talk, number, "Late", owner="me", state="stopped")
    assert talks.said(talk, "me")[0].assistant == ANSWER.text


def test_an_erased_conversation_takes_no_late_answer_and_gives_none_away(talks: Conversations) -> None:
    talk = talks.begin("me", "named")
    number = talks.start(talk, "A secret?")
    talks.erase(talk, "me")
    talks.begin("her", "named")
    hers = talks.start("named", "Mine?")
    assert hers == number
    talks.write(talk, number, "The secret.", owner="me")
    with pytest.raises(NotFoundError, match="erased meanwhile"):
        talks.finish(talk, number, ANSWER, {}, owner="me")
    assert [one.assistant for one in talks.said("named", "her")] == [""]


def test_a_private_one_is_never_begun_under_an_id_that_is_written_to_disk(talks: Conversations) -> None:
    with pytest.raises(ValueError, match="written to disk"):
        talks.begin("me", "named", private=True)


def test_damaged_values_are_odd_and_keep_nothing_from_being_read(tmp_path: Path) -> None:
    talks = Conversations(MemoryDatabase(tmp_path / "c.sqlite3"))
    talk = talks.begin("me")
    tell(talks, talk)
    talks.keep_vector(talk, 1, "f", np.ones(2, np.float32))
    for damage in (
        "exchange set user = x'00ff'",
        "exchange set at = 'yesterday'",
        "conversation set changed_at = 'never'",
        "conversation set begun_at = 1e300",
        "exchange set full_tokens = 'abc'",
        "detail set vector = x'000102'",
    ):
        with talks._disk.write() as connection:
            connection.execute(f"update {damage}")
    assert isinstance(talks.said(talk, "me")[0].user, str) and isinstance(
        talks.window(talk, "me")[0].user, str
    )
    assert talks.said(talk, "me")[0].at == 0 and talks.listed("me")[0].changed_at == 0
    assert talks.vectors([talk], "f") == {}
    assert talks.listed("me")[0].begun_at == 4e9 and len(talks.compressions(talk, "me")) == 1
    talks.close()


def test_conversations_are_apart_and_belong_to_their_owner(talks: Conversations) -> None:
    mine, other = talks.begin("me", "shared-id"), talks.begin("me")
    tell(talks, mine)
    assert talks.window(other, "me") == []
    assert talks.window(mine, "you") == [] and talks.said(mine, "you") == [] and talks.listed("you") == []
    for forbidden in (
        lambda: talks.begin("you", "shared-id"),
        lambda: talks.get(mine, "you"),
        lambda: talks.rename(mine, "you", "Mine now"),
        lambda: talks.delete(mine, "you"),
        lambda: talks.erase(mine, "you"),
    ):
        with pytest.raises(NotFoundError, match="no conversation"):
            forbidden()
    with pytest.raises(NotFoundError, match="not the id"):
        talks.begin("me", "../../etc")
    assert talks.get(mine, "me").title == ANSWER.question


def test_list_search_rename(talks: Conversations) -> None:
    first, second, empty = talks.begin("me"), talks.begin("me"), talks.begin("me")
    tell(talks, first, "What is the DEFICIT ceiling?", "Three per cent of output.")
    tell(talks, second, "Who audits the accounts?", "The Court of Auditors.")
    assert [row.id for row in talks.listed("me")] == [second, first]
    assert empty not in {row.id for row in talks.listed("me")}
    assert [row.id for row in talks.listed("me", search="deficit OUTPUT")] == [first]
    assert talks.listed("me", search="deficit auditors") == []
    talks.rename(second, "me", "  Audit \n of 2024 ")
    assert talks.get(second, "me").title == "Audit of 2024"
    assert [row.id for row in talks.listed("me", search="2024 court")] == [second]
    assert talks.listed("me", search="100%_") == []
    talks.rename(second, "me", "")
    assert talks.get(second, "me").title == "Who audits the accounts?"


def test_a_deleted_conversation_can_be_restored_for_a_week(
    talks: Conversations, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = talks.begin("me")
    tell(talks, talk)
    talks.delete(talk, "me")
    assert talks.listed("me") == [] and talks.said(talk, "me") == []
    with pytest.raises(NotFoundError):
        talks.begin("me", talk)
    assert [row.id for row in talks.listed("me", deleted=True)] == [talk]
    talks.restore(talk, "me")
    assert len(talks.said(talk, "me")) == 1
    talks.delete(talk, "me")
    assert talks.sweep() == 0
    later = time.time() + (KEPT_DAYS + 1) * 86_400
    monkeypatch.setattr("time.time", lambda: later)
    assert talks.sweep() == 1
    with pytest.raises(NotFoundError):
        talks.restore(talk, "me")


def test_retention_erases_what_nobody_went_on_with(
    talks: Conversations, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = talks.begin("me")
    tell(talks, old)
    later = time.time() + 31 * 86_400
    monkeypatch.setattr("time.time", lambda: later)
    new = talks.begin("me")
    tell(talks, new)
    assert talks.sweep(0) == 0
    assert talks.sweep(30) == 1
    assert [row.id for row in talks.listed("me")] == [new]


def test_a_private_conversation_keeps_nothing_on_disk(tmp_path: Path) -> None:
    talks = Conversations(MemoryDatabase(tmp_path / "c.sqlite3"))
    talk = talks.begin("me", private=True)
    assert talk.startswith(PRIVATE)
    tell(talks, talk, "Is Heliotrope in trouble?", "Heliotrope is.")
    assert [row.private for row in talks.listed("me")] == [True]
    assert len(talks.window(talk, "me")) == 1
    assert not any(b"Heliotrope" in path.read_bytes() for path in tmp_path.iterdir())
    talks.close()
    again = Conversations(MemoryDatabase(tmp_path / "c.sqlite3"))
    assert again.listed("me") == []
    again.close()


def test_erased_text_stands_nowhere_in_the_file(tmp_path: Path) -> None:
    talks = Conversations(MemoryDatabase(tmp_path / "c.sqlite3"))
    talk = talks.begin("me")
    tell(talks, talk, "Is Heliotrope in trouble?")
    assert any(b"Heliotrope" in path.read_bytes() for path in tmp_path.iterdir())
    talks.erase(talk, "me")
    assert not any(b"Heliotrope" in path.read_bytes() for path in tmp_path.iterdir())
    talks.close()


def test_what_was_kept_of_an_erased_document_goes_but_not_the_answers_words(talks: Conversations) -> None:
    talk = talks.begin("me")
    number = talks.start(talk, ANSWER.question)
    talks.finish(talk, number, ANSWER, {3: DIGEST}, owner="me")
    talks.forget_files(lambda digest: digest == DIGEST)
    assert (
        talks.answer(talk, number, "me") is not None
        and talks.answer(talk, number, "me")[0].considered[0].text == HIT.text  # type: ignore[index]
    )
    talks.forget_files(lambda digest: False)
    kept = talks.answer(talk, number, "me")
    assert kept is not None and kept[0].prompt is not None
    assert kept[0].considered[0].text == "" and "Much text" not in str(kept[0].prompt.messages)
    assert kept[0].text == ANSWER.text and kept[0].citations == ANSWER.citations


def test_a_damaged_answer_is_named_and_the_rest_stands(tmp_path: Path) -> None:
    talks = Conversations(MemoryDatabase(tmp_path / "c.sqlite3"))
    talk = talks.begin("me")
    for question in ("One?", "Two?"):
        number = talks.start(talk, question)
        talks.finish(talk, number, ANSWER, {3: DIGEST}, owner="me")
    with sqlite3.connect(tmp_path / "c.sqlite3") as connection:
        connection.execute("update detail set answer = x'00ff' where number = 1")
        connection.execute("update exchange set assistant = cast(x'c3ff41' as text) where number = 1")
    connection.close()
    with pytest.raises(StoreError, match="answer 1 cannot be read"):
        talks.answer(talk, 1, "me")
    assert talks.answer(talk, 2, "me") is not None
    assert [said.user for said in talks.said(talk, "me")] == ["One?", "Two?"]
    assert talks.listed("me", search="two?")
    talks.forget_files(lambda digest: False)
    assert talks.answer(talk, 1, "me") is None
    talks.close()


def test_memories_are_switched_off_and_on_in_a_conversation(talks: Conversations) -> None:
    talk = talks.begin("me")
    talks.switch(talk, "me", "cases", on=False)
    talks.switch(talk, "me", "signals", on=False)
    talks.switch(talk, "me", "cases", on=True)
    assert talks.get(talk, "me").off == {"signals"}
    with pytest.raises(NotFoundError):
        talks.switch(talk, "you", "cases", on=False)


def test_a_locked_file_is_named_and_nothing_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_database, "BUSY_SECONDS", 0.05)
    talks = Conversations(MemoryDatabase(tmp_path / "c.sqlite3"))
    talk = talks.begin("me")
    holder = sqlite3.connect(tmp_path / "c.sqlite3", isolation_level=None)
    holder.execute("begin exclusive")
    with pytest.raises(StoreError, match="Another program holds") as raised:
        talks.start(talk, "How much?")
    assert raised.value.retryable
    holder.execute("rollback")
    holder.close()
    assert tell(talks, talk) == 1
    talks.close()


def test_a_full_disk_is_named(tmp_path: Path) -> None:
    talks = Conversations(MemoryDatabase(tmp_path / "c.sqlite3"))
    talk = talks.begin("me")
    tell(talks, talk)
    ((pages,),) = talks._disk.read("pragma page_count")
    talks._disk.read(f"pragma max_page_count = {pages}")
    with pytest.raises(StoreError, match="disk is full"):
        tell(talks, talk, "long " * 100_000)
    talks._disk.read("pragma max_page_count = 100000")
    assert talks.said(talk, "me")[0].assistant == ANSWER.text
    tell(talks, talk)
    talks.close()


def test_two_tabs_write_at_once_and_nothing_is_lost(talks: Conversations) -> None:
    talk = talks.begin("me")

    def write(name: str) -> None:
        for n in range(20):
            tell(talks, talk, f"{name} {n}")

    threads = [threading.Thread(target=write, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    said = talks.said(talk, "me")
    assert [one.number for one in said] == list(range(1, 41))
    assert sorted(one.user for one in said) == sorted(f"{name} {n}" for name in "ab" for n in range(20))


def test_vectors_summaries_and_compressions_are_kept(talks: Conversations) -> None:
    talk = talks.begin("me")
    number = talks.start(talk, "How much?")
    talks.finish(
        talk, number, Answer("q", "q", "t", True, compression=Compression(30_000, 15_000, 12)), {}, owner="me"
    )
    talks.keep_vector(talk, number, "f1", np.array([0.6, 0.8], np.float32))
    assert talks.vectors([talk], "f2") == {}
    assert talks.vectors([talk], "f1")[talk, number].tolist() == pytest.approx([0.6, 0.8])
    talks.keep_summary(talk, Summary(1, 5, "Costs.", "m"))
    assert (
        talks.summaries(talk, "me") == [Summary(1, 5, "Costs.", "m")] and talks.summaries(talk, "you") == []
    )
    assert [(row[0], *row[2:]) for row in talks.compressions(talk, "me")] == [(number, 30_000, 15_000, 12)]
    talks.choose(talk, "me", compresses=False, recalls_others=True)
    row = talks.get(talk, "me")
    assert (row.compresses, row.recalls_others) == (False, True)


def test_odd_text_is_kept(talks: Conversations) -> None:
    talk = talks.begin("me")
    tell(talks, talk, "\ud800 lone, \x00 null, <|endoftext|>", "")
    (said,) = talks.said(talk, "me")
    assert said.user == "? lone, \x00 null, <|endoftext|>" and said.assistant == ""


@pytest.mark.alone
def test_opening_a_conversation_of_two_thousand_exchanges_reads_its_end_only(talks: Conversations) -> None:
    """By rows, not by the clock: what a page shows is read, and what lies before is not."""
    talk = talks.begin("me")
    for number in range(2_000):
        talks.start(talk, f"question {number}")
    read: list[str] = []
    with talks._disk._connection() as connection:
        connection.set_trace_callback(read.append)
    began = time.perf_counter()
    assert len(talks.said(talk, "me", last=WINDOW)) == WINDOW
    assert time.perf_counter() - began < 0.3
    assert len(read) == 1
