"""Conversations: kept as they are written, each with its owner; listed, searched, renamed, deleted and
brought back; faults named and contained.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chatbot.errors import NotFoundError, StoreError, UsageError
from chatbot.memory.conversations.conversation_names import LOCAL, PRIVATE, id_of, name_of
from chatbot.memory.conversations.conversation_store import KEPT_DAYS, WINDOW, Conversations
from chatbot.records import Answer, Citation, Exchange, Hit, NumberCheck, Prompt, Understanding
from chatbot.store.sqlite_file import SqliteFile
from tests.chatbot.memory.conftest import stands_on_disk
from tests.engines import kill_holders, memories_at

pytestmark = pytest.mark.usefixtures("engine")

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
PROMPT = Prompt(
    "q",
    "s",
    {"S1-7f3a": HIT},
    (Exchange("a", "b"),),
    (),
    (("system", "rules"), ("user", "[S1-7f3a] Much text")),
    "7f3a",
)
ANSWER = Answer(
    "What does it cost?",
    "What does the bridge cost?",
    "It costs $4.5 million [S1].",
    True,
    citations=(Citation("S1", "Rules.pdf", 8, "6", "The cost is $4.5 million.", True, 0, 25, version=3),),
    numbers=(NumberCheck("$4.5 million", 4.5, "USD", 1e6, None, "supported", "S1-7f3a"),),
    considered=(HIT,),
    prompt=PROMPT,
    understanding=Understanding("q", "s", years=(2024,)),
    notices=("Searched by words alone.",),
)
Open = Callable[[], Conversations]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """Opens the conversations once more, as another process would; all are closed at the end."""
    with ExitStack() as stack:

        def make() -> Conversations:
            made = Conversations(memories_at(tmp_path / "c.sqlite3"))
            stack.callback(made.close)
            return made

        yield make


@pytest.fixture
def talks(opened: Open) -> Conversations:
    return opened()


def tell(talks: Conversations, talk: str, question: str = ANSWER.question, text: str = ANSWER.text) -> int:
    number = talks.start(talk, question)
    answer = Answer(question, question, text, True)
    talks.finish(talk, number, answer, {}, owner="me")
    return number


def keep(talks: Conversations, talk: str, question: str = ANSWER.question) -> int:
    """Keep the answer in full; its number."""
    number = talks.start(talk, question)
    talks.finish(talk, number, ANSWER, {3: DIGEST}, owner="me")
    return number


def listed(talks: Conversations, **options: Any) -> list[str]:
    """The ids of my conversations."""
    return [row.id for row in talks.listed("me", **options)]


def test_the_window_keeps_the_last_ten_and_outlives_the_process(talks: Conversations, opened: Open) -> None:
    talk = talks.begin("me")
    questions = [f"question {number}" for number in range(WINDOW + 3)]
    for question in questions:
        tell(talks, talk, question)
    talks.close()
    again = opened()
    assert [exchange.user for exchange in again.window(talk, "me")] == questions[3:]
    assert [said.number for said in again.said(talk, "me")] == list(range(1, WINDOW + 4))
    part = again.said(talk, "me", last=2, before=5)
    assert [said.number for said in part] == [3, 4]


def test_an_answer_is_kept_in_full_but_for_the_pages_text(talks: Conversations) -> None:
    talk = talks.begin("me")
    number = keep(talks, talk)
    kept = talks.answer(talk, number, "me")
    assert kept is not None
    answer, files = kept
    assert files == {3: DIGEST}
    assert (answer.citations, answer.numbers) == (ANSWER.citations, ANSWER.numbers)
    assert (answer.understanding, answer.notices) == (ANSWER.understanding, ANSWER.notices)
    hit, *_ = answer.considered
    assert (hit.page_text, hit.text) == ("", HIT.text)
    assert answer.prompt is not None
    assert answer.prompt.messages == PROMPT.messages
    assert answer.prompt.exchanges == (Exchange("a", "b"),)
    assert talks.answer(talk, number, "you") is None
    (exchange,) = talks.window(talk, "me")
    assert exchange == Exchange("What does it cost?", "It costs $4.5 million (Rules.pdf, p. 8).")


def test_what_was_written_so_far_outlives_a_kill(talks: Conversations, opened: Open) -> None:
    talk = talks.begin("me")
    number = talks.start(talk, "How much?")
    talks.write(talk, number, "Three per", owner="me")
    kill_holders()
    again = opened()  # the first was never closed
    (said,) = again.said(talk, "me")
    assert (said.user, said.assistant, said.state) == ("How much?", "Three per", "interrupted")
    assert again.window(talk, "me") == [Exchange("How much?", "Three per (interrupted, unchecked)")]


def test_what_is_being_written_is_in_no_window_and_a_whole_answer_stays_whole(talks: Conversations) -> None:
    talk = talks.begin("me")
    number = talks.start(talk, "How much?")
    talks.write(talk, number, "Three", owner="me")
    assert talks.window(talk, "me") == []
    talks.finish(talk, number, ANSWER, {}, owner="me")
    talks.write(talk, number, "Late", owner="me", state="stopped")
    (said,) = talks.said(talk, "me")
    assert said.assistant == ANSWER.text


def test_an_erased_conversation_takes_no_late_answer_and_gives_none_away(talks: Conversations) -> None:
    talk = talks.begin("me", "named")
    number = talks.start(talk, "A secret?")
    talks.erase(talk, "me")
    talks.begin("her", "named")
    hers = talks.start("named", "Mine?")
    assert hers == number
    talks.write(talk, number, "The secret.", owner="me")
    with pytest.raises(NotFoundError, match="has been erased"):
        talks.finish(talk, number, ANSWER, {}, owner="me")
    (said,) = talks.said("named", "her")
    assert said.assistant == ""


def test_a_private_one_is_never_begun_under_an_id_that_is_written_to_disk(talks: Conversations) -> None:
    with pytest.raises(ValueError, match="written to disk"):
        talks.begin("me", "named", private=True)


@pytest.mark.about_files
def test_damaged_values_are_odd_and_keep_nothing_from_being_read(talks: Conversations) -> None:
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
    (said,) = talks.said(talk, "me")
    assert isinstance(said.user, str)
    assert said.at == 0
    (exchange,) = talks.window(talk, "me")
    assert isinstance(exchange.user, str)
    (row,) = talks.listed("me")
    assert (row.changed_at, row.begun_at) == (0, 4e9)
    assert talks.vectors([talk], "f") == {}
    assert len(talks.compressions(talk, "me")) == 1


def test_conversations_are_apart_and_belong_to_their_owner(talks: Conversations) -> None:
    mine = talks.begin("me", "shared-id")
    other = talks.begin("me")
    tell(talks, mine)
    assert talks.window(other, "me") == []
    assert talks.window(mine, "you") == []
    assert talks.said(mine, "you") == []
    assert talks.listed("you") == []
    for forbidden in (
        lambda: talks.begin("you", "shared-id"),
        lambda: talks.get(mine, "you"),
        lambda: talks.rename(mine, "you", "Mine now"),
        lambda: talks.delete(mine, "you"),
        lambda: talks.erase(mine, "you"),
    ):
        with pytest.raises(NotFoundError, match="no conversation"):
            forbidden()
    assert talks.get(mine, "me").title == ANSWER.question


def test_what_is_no_id_is_refused(talks: Conversations) -> None:
    for wrong in ("../../etc", "a.b", "you.mine", "two words"):
        with pytest.raises(UsageError, match="not a valid conversation ID"):
            talks.begin("me", wrong)


def test_two_who_choose_one_name_get_two_conversations(talks: Conversations) -> None:
    earlier = talks.begin("key-1", "debt")  # as an earlier version kept it
    ids = [talks.begin(owner, id_of(talks, owner, "debt")) for owner in ("key-1", "key-2", LOCAL)]
    assert ids == [earlier, "key-2.debt", "local.debt"]
    assert id_of(talks, LOCAL, "mine") == "mine", "the command line finds it by this"
    assert {name_of(one) for one in ids} == {"debt"}
    talks.erase(earlier, "key-1")
    assert id_of(talks, LOCAL, "debt") == "local.debt", "a conversation keeps its id"
    secret = talks.begin("key-2", id_of(talks, "key-2", f"{PRIVATE}debt"))
    assert talks.get(secret, "key-2").private
    talks.delete("key-2.debt", "key-2")
    with pytest.raises(NotFoundError, match="'debt' is deleted"):
        talks.begin("key-2", "key-2.debt")


def test_list_search_rename(talks: Conversations) -> None:
    ceiling, audit, empty = talks.begin("me"), talks.begin("me"), talks.begin("me")
    tell(talks, ceiling, "What is the DEFICIT ceiling?", "Three per cent of output.")
    tell(talks, audit, "Who audits the accounts?", "The Court of Auditors.")
    assert listed(talks) == [audit, ceiling]
    assert empty not in listed(talks)
    assert listed(talks, search="deficit OUTPUT") == [ceiling]
    assert listed(talks, search="deficit auditors") == []
    talks.rename(audit, "me", "  Audit \n of 2024 ")
    assert talks.get(audit, "me").title == "Audit of 2024"
    assert listed(talks, search="2024 court") == [audit]
    assert listed(talks, search="100%_") == []
    talks.rename(audit, "me", "")
    assert talks.get(audit, "me").title == "Who audits the accounts?"


def test_a_deleted_conversation_can_be_restored_for_a_week(
    talks: Conversations, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = talks.begin("me")
    tell(talks, talk)
    talks.delete(talk, "me")
    assert talks.listed("me") == []
    assert talks.said(talk, "me") == []
    with pytest.raises(NotFoundError):
        talks.begin("me", talk)
    assert listed(talks, deleted=True) == [talk]
    talks.restore(talk, "me")
    assert len(talks.said(talk, "me")) == 1
    talks.delete(talk, "me")
    assert talks.sweep() == 0
    later = time.time() + (KEPT_DAYS + 1) * 86_400
    monkeypatch.setattr("time.time", lambda: later)
    assert talks.sweep() == 0
    assert opened().sweep() == 0, "one start alone may have a wrong clock"
    assert opened().sweep() == 1
    with pytest.raises(NotFoundError):
        talks.restore(talk, "me")


def test_retention_erases_what_nobody_went_on_with(
    talks: Conversations, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = talks.begin("me")
    tell(talks, old)
    later = time.time() + 31 * 86_400
    monkeypatch.setattr("time.time", lambda: later)
    assert opened().sweep(30) == 0
    again = opened()
    new = again.begin("me")
    tell(again, new)
    assert again.sweep(0) == 0
    assert again.sweep(30) == 1
    assert listed(again) == [new]


def test_a_private_conversation_keeps_nothing_on_disk(
    talks: Conversations, opened: Open, tmp_path: Path
) -> None:
    talk = talks.begin("me", private=True)
    assert talk.startswith(PRIVATE)
    tell(talks, talk, "Is Heliotrope in trouble?", "Heliotrope is.")
    (row,) = talks.listed("me")
    assert row.private
    assert len(talks.window(talk, "me")) == 1
    assert not stands_on_disk(b"Heliotrope", tmp_path)
    talks.close()
    again = opened()
    assert again.listed("me") == []


@pytest.mark.about_files
def test_erased_text_stands_nowhere_in_the_file(talks: Conversations, tmp_path: Path) -> None:
    talk = talks.begin("me")
    tell(talks, talk, "Is Heliotrope in trouble?")
    assert stands_on_disk(b"Heliotrope", tmp_path)
    talks.erase(talk, "me")
    assert not stands_on_disk(b"Heliotrope", tmp_path)


def test_what_was_kept_of_an_erased_document_goes_but_not_the_answers_words(talks: Conversations) -> None:
    talk = talks.begin("me")
    number = keep(talks, talk)

    def kept() -> Answer:
        found = talks.answer(talk, number, "me")
        assert found is not None
        answer, _ = found
        return answer

    talks.forget_files(lambda digest: digest == DIGEST)
    assert kept().considered[0].text == HIT.text
    talks.forget_files(lambda digest: False)
    answer = kept()
    assert answer.considered[0].text == ""
    assert answer.prompt is not None
    assert "Much text" not in str(answer.prompt.messages)
    assert (answer.text, answer.citations) == (ANSWER.text, ANSWER.citations)


@pytest.mark.about_files
def test_a_damaged_answer_is_named_and_the_rest_stands(talks: Conversations, tmp_path: Path) -> None:
    talk = talks.begin("me")
    keep(talks, talk, "One?")
    keep(talks, talk, "Two?")
    with sqlite3.connect(tmp_path / "c.sqlite3") as connection:
        connection.execute("update detail set answer = x'00ff' where number = 1")
        connection.execute("update exchange set assistant = cast(x'c3ff41' as text) where number = 1")
    connection.close()
    with pytest.raises(StoreError, match="checks of answer 1 can no longer be read"):
        talks.answer(talk, 1, "me")
    assert talks.answer(talk, 2, "me") is not None
    assert [said.user for said in talks.said(talk, "me")] == ["One?", "Two?"]
    assert talks.listed("me", search="two?")
    talks.forget_files(lambda digest: False)
    assert talks.answer(talk, 1, "me") is None


@pytest.mark.about_files
def test_a_full_disk_is_named(talks: Conversations) -> None:
    talk = talks.begin("me")
    tell(talks, talk)
    ((pages,),) = talks._disk.read("pragma page_count")
    talks._disk.read(f"pragma max_page_count = {pages}")
    with pytest.raises(StoreError, match="disk is full"):
        tell(talks, talk, "long " * 100_000)
    talks._disk.read("pragma max_page_count = 100000")
    said, *_ = talks.said(talk, "me")
    assert said.assistant == ANSWER.text
    tell(talks, talk)


def test_two_tabs_write_at_once_and_nothing_is_lost(talks: Conversations) -> None:
    talk = talks.begin("me")
    of_a = [f"a {number}" for number in range(20)]
    of_b = [f"b {number}" for number in range(20)]

    def write(questions: list[str]) -> None:
        for question in questions:
            tell(talks, talk, question)

    threads = [threading.Thread(target=write, args=(questions,)) for questions in (of_a, of_b)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    said = talks.said(talk, "me")
    assert [one.number for one in said] == list(range(1, 41))
    assert sorted(one.user for one in said) == sorted(of_a + of_b)


@pytest.mark.about_files
@pytest.mark.alone
def test_opening_a_conversation_of_two_thousand_exchanges_reads_its_end_only(talks: Conversations) -> None:
    """By rows, not by the clock: what a page shows is read, and what lies before is not."""
    talk = talks.begin("me")
    for number in range(2_000):
        talks.start(talk, f"question {number}")
    read: list[str] = []
    database = talks._disk.database
    assert isinstance(database, SqliteFile)
    with database._connection() as connection:
        connection.set_trace_callback(read.append)
    began = time.perf_counter()
    assert len(talks.said(talk, "me", last=WINDOW)) == WINDOW
    assert time.perf_counter() - began < 0.3
    assert len(read) == 1
