"""Advice in a whole conversation, asked of the chatbot as every page and command asks it: noted, recalled,
and what a failing file leaves of it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chatbot.asking.question import Ask
from chatbot.errors import StoreError
from chatbot.memory import memory_database
from chatbot.records import MEMORY, Answer, Notice
from chatbot.service import Chatbot
from chatbot.settings import Settings
from chatbot.store.library import Upload
from tests.fakes import HashEmbedder
from tests.pdfs import make_pdf

ADVICE = "When debt rises above the anchor, then sell bonds."
QUESTION = "What is the deficit ceiling when debt rises above the anchor?"
PAGES = [
    (
        "Fiscal rules\nThe deficit ceiling is 3.0 per cent of output in every year when debt rises above "
        "the anchor."
    )
]
Open = Callable[[], Chatbot]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """A chatbot over the one store, closed before the next one."""
    open_ones: list[Chatbot] = []

    def make() -> Chatbot:
        while open_ones:
            open_ones.pop().close()
        embedder = HashEmbedder(dimension=256)
        embedder.fingerprint = "minilm-like"
        chatbot = Chatbot(Settings(home=tmp_path / "home"), embedder=embedder)
        open_ones.append(chatbot)
        rules = Upload(make_pdf(tmp_path / "Rules.pdf", PAGES))
        list(chatbot.add([rules]))
        return chatbot

    yield make
    for one in open_ones:
        one.close()


def ask(chatbot: Chatbot, question: str, conversation: str) -> tuple[Answer, list[str]]:
    """(the answer, notices on the way)."""
    events = list(chatbot.ask(Ask(question, conversation=conversation, owner="me")))
    answer = events[-1]
    assert isinstance(answer, Answer)
    return answer, [event.text for event in events if isinstance(event, Notice)]


def situations_of(answer: Answer) -> list[str]:
    return [note.text for note in answer.notes if note.layer == "situations"]


def test_advice_is_noted_and_recalled_in_another_conversation(opened: Open) -> None:
    chatbot = opened()
    noted, notices = ask(chatbot, ADVICE, chatbot.conversations.begin("me"))
    assert noted.text.startswith("Saved. ")
    assert noted.model == MEMORY
    assert notices == []
    answer, notices = ask(chatbot, QUESTION, chatbot.conversations.begin("me"))
    assert situations_of(answer) == ["When debt rises above the anchor: sell bonds"]
    assert notices == []
    assert "sell bonds" not in answer.text
    for citation in answer.citations:
        assert "sell bonds" not in citation.quote


def test_damaged_tables_of_situations_keep_nobody_from_the_documents(opened: Open) -> None:
    chatbot = opened()
    ask(chatbot, ADVICE, chatbot.conversations.begin("me"))
    with chatbot.memories.write() as connection:
        connection.execute("alter table item rename to damaged")
        connection.execute("update item_changes set changes = changes + 1")
    talk = chatbot.conversations.begin("me")
    answer, notices = ask(chatbot, QUESTION, talk)
    assert answer.answered
    assert "3.0 per cent" in answer.text
    assert any(
        notice.startswith("Answered without advice: The memories (memory.sqlite3) cannot be used")
        for notice in notices
    )
    answer, _ = ask(chatbot, ADVICE, talk)
    assert answer.text.startswith("Not saved: The memories (memory.sqlite3) cannot be used")
    with chatbot.memories.write() as connection:
        connection.execute("alter table damaged rename to item")
    answer, _ = ask(chatbot, ADVICE, talk)
    assert answer.text.startswith("Saved. "), "without a restart"
    answer, _ = ask(chatbot, QUESTION, talk)
    assert situations_of(answer)


def test_advice_while_the_file_is_held_is_not_noted_and_says_so(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_database, "BUSY_SECONDS", 0.1)
    chatbot = opened()
    talk = chatbot.conversations.begin("me")
    ask(chatbot, ADVICE, talk)
    other = sqlite3.connect(chatbot.settings.store / "memory.sqlite3")
    other.execute("begin exclusive")
    try:
        answer, notices = ask(chatbot, "When wheat falls, then buy bread.", talk)
        assert answer.text.startswith("Not saved: Another program is using the memories")
        not_kept = "This exchange was not saved: Another program is using the memories"
        assert all(text.startswith(not_kept) for text in notices)
        answer, _ = ask(chatbot, QUESTION, talk)
        assert answer.answered
        assert situations_of(answer), "what is there can be read meanwhile"
    finally:
        other.rollback()
        other.close()
    answer, _ = ask(chatbot, "When wheat falls, then buy bread.", talk)
    assert answer.text.startswith("Saved. ")
    assert len(chatbot.situations.listed("me")) == 2


def test_advice_on_a_full_disk_is_not_noted_and_says_so(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise StoreError("The disk is full.", hint="Free some space.")

    chatbot = opened()
    monkeypatch.setattr(chatbot.situations, "add", fail)
    answer, _ = ask(chatbot, ADVICE, chatbot.conversations.begin("me"))
    assert answer.text == "Not saved: The disk is full. Free some space."


def test_a_question_that_only_looks_like_advice_is_answered(opened: Open) -> None:
    chatbot = opened()
    question = "When debt rises above the anchor, then at what deficit ceiling is output held"
    answer, _ = ask(chatbot, question, chatbot.conversations.begin("me"))
    assert answer.model != MEMORY
    assert chatbot.situations.listed("me") == []
