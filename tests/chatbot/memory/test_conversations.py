"""Conversations: a window of ten, each with its owner, kept over a restart."""

from pathlib import Path

import pytest

from chatbot.errors import NotFoundError
from chatbot.memory.conversations import WINDOW, Conversations
from chatbot.records import Exchange


def test_the_window_keeps_the_last_ten_and_outlives_the_process(tmp_path: Path) -> None:
    talks = Conversations(tmp_path / "c.sqlite3")
    talk = talks.begin("me")
    for number in range(WINDOW + 3):
        talks.append(talk, Exchange(f"question {number}", f"answer {number}"))
    talks.close()
    again = Conversations(tmp_path / "c.sqlite3")
    window = again.window(talk, "me")
    assert [exchange.user for exchange in window] == [f"question {number}" for number in range(3, WINDOW + 3)]
    again.close()


def test_conversations_are_apart_and_belong_to_their_owner(tmp_path: Path) -> None:
    talks = Conversations(tmp_path / "c.sqlite3")
    mine, other = talks.begin("me", "shared-id"), talks.begin("me")
    talks.append(mine, Exchange("q", "a"))
    assert talks.window(other, "me") == []
    assert talks.window(mine, "you") == []
    with pytest.raises(NotFoundError):
        talks.begin("you", "shared-id")
    with pytest.raises(NotFoundError, match="not the id"):
        talks.begin("me", "../../etc")
    talks.close()
