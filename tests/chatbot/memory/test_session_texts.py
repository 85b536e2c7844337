"""The web pages of sessions: the latest few, for a while, in memory or for all servers."""

from __future__ import annotations

from contextlib import closing

import pytest

from chatbot.memory.compression.sessions import MOST_SESSIONS, SESSION_SECONDS
from chatbot.memory.memory_database import MemoryDatabase
from chatbot.memory.session_texts import SessionTexts


@pytest.fixture
def now() -> list[float]:
    return [1_000.0]


def added(texts: SessionTexts, now: list[float], session: str, *addresses: str) -> list[str]:
    """The addresses of a session after these were added, a second apart."""
    for address in addresses:
        now[0] += 1
        texts.add(session, address, "Title", f"Text of {address}.")
    return [address for address, _, _ in texts.of(session)]


def test_a_session_keeps_the_latest_three(now: list[float]) -> None:
    with closing(SessionTexts(None, clock=lambda: now[0])) as texts:
        assert added(texts, now, "a", "one", "two", "three", "four") == ["four", "three", "two"]
        assert added(texts, now, "a", "two") == ["two", "four", "three"]
        assert texts.of("b") == []
        assert texts.clear("a") == 3
        assert texts.of("a") == []


def test_a_session_that_nobody_uses_is_forgotten(now: list[float]) -> None:
    with closing(SessionTexts(None, clock=lambda: now[0])) as texts:
        added(texts, now, "a", "one")
        now[0] += SESSION_SECONDS - 1
        assert texts.of("a") == [("one", "Title", "Text of one.")]
        now[0] += SESSION_SECONDS - 1
        assert texts.of("a"), "it was used meanwhile"
        now[0] += SESSION_SECONDS + 1
        assert texts.of("a") == []


def test_the_least_used_session_goes_first(now: list[float]) -> None:
    with closing(SessionTexts(None, clock=lambda: now[0])) as texts:
        for number in range(MOST_SESSIONS):
            added(texts, now, str(number), "one")
        texts.of("0")
        added(texts, now, "last", "one")
        assert texts.of("0")
        assert texts.of("1") == []


def test_what_one_server_takes_another_has() -> None:
    with closing(MemoryDatabase(None)) as shared:
        one, other = SessionTexts(shared), SessionTexts(shared)
        one.add("a", "one", "Title", "Text.")
        one.close()
        assert other.of("a") == [("one", "Title", "Text.")]
