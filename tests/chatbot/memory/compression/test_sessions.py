"""The cache of token counts: counted once, forgotten by age and number, never the conversation itself."""

from __future__ import annotations

import tracemalloc

import pytest

from chatbot.memory.compression import sessions as module
from chatbot.memory.compression.sessions import MOST_SESSIONS, SESSION_SECONDS, Sessions
from chatbot.memory.conversations.conversation_store import StoredExchange


def said(number: int, text: str = "The ceiling is 3 per cent.") -> StoredExchange:
    return StoredExchange("c", number, "How much?", text, "complete", text, 0.0)


def test_each_exchange_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[str] = []

    def count(text: str, model: str) -> int:
        counted.append(text)
        return 5

    monkeypatch.setattr(module, "count_tokens", count)
    sessions = Sessions()
    assert sessions.tokens("c", [said(1), said(2)]) == [10, 10]
    assert sessions.tokens("c", [said(1), said(2), said(3)]) == [10, 10, 10]
    assert len(counted) == 6


def test_an_empty_exchange_counts_nothing() -> None:
    sessions = Sessions()
    empty = StoredExchange("c", 1, "", "", "complete", "", 0.0)
    for _ in range(2):
        assert sessions.tokens("c", [empty]) == [0]


def test_special_tokens_are_text() -> None:
    (count,) = Sessions().tokens("c", [said(1, "<|endoftext|>")])
    assert count > 5


def test_the_least_recently_used_goes_first_and_age_ends_a_session() -> None:
    now = [0.0]
    sessions = Sessions(clock=lambda: now[0])
    for number in range(MOST_SESSIONS + 1):
        sessions.tokens(str(number), [said(1)])
        sessions.tokens("kept", [said(1)])
    assert len(sessions) == MOST_SESSIONS
    now[0] = SESSION_SECONDS + 1.0
    sessions.tokens("new", [said(1)])
    assert len(sessions) == 1


@pytest.mark.alone
def test_five_hundred_live_sessions_stay_under_100_megabytes() -> None:
    told = [said(number) for number in range(1, 61)]
    tracemalloc.start()
    sessions = Sessions()
    for number in range(MOST_SESSIONS):
        sessions.tokens(f"conversation-{number}", told)
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert used < 100_000_000
