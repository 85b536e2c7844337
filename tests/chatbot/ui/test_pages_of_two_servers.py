"""What a page of one server shows of what another does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from chatbot.app.app_context import AppContext
from chatbot.memory.conversations.conversation_store import Conversations
from chatbot.memory.memory_database import MemoryDatabase
from chatbot.records import Answer
from chatbot.store.database import PostgresPlace
from tests.pages import ME, click, keys, open_context, shown, visit

WRITING = "Another server is writing this answer"


def begin(other: Conversations, question: str) -> int:
    """An answer that the other server is writing."""
    other.begin(ME, "talk")
    number = other.start("talk", question)
    other.write("talk", number, f"So far of {question}", owner=ME)
    return number


def check(context: AppContext, served: str) -> None:
    database = MemoryDatabase(PostgresPlace(served, "memory"))
    other = Conversations(database)
    number = begin(other, "How much?")
    app = visit(conversation="talk")
    assert "So far of How much?" in shown(app)
    assert WRITING in shown(app)
    click(app, f"stop-elsewhere-{number}")
    stops = context.additions.stops
    assert stops is not None
    assert stops.stopped([("talk", ME)]) == {("talk", ME)}
    answer = Answer("How much?", "How much?", "Three per cent.", True, conversation="talk")
    other.finish("talk", number, replace(answer, exchange=number), {}, owner=ME)
    app.run()
    assert "Three per cent." in shown(app)
    assert WRITING not in shown(app)
    begin(other, "And then?")
    assert WRITING in shown(visit(conversation="talk"))
    database.close()  # as a killed server lets go
    text = shown(visit(conversation="talk"))
    assert "Interrupted because the server stopped." in text
    assert keys(app, "stop-elsewhere") == []


def test_an_answer_of_another_server_is_followed_and_stopped(
    tmp_path: Path, served: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FINPOLICY_DATABASE_URL", served)
    with open_context(tmp_path / "home") as context:
        check(context, served)
