"""Keeps the web pages that were sent to a session, in memory, each for its caller alone."""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from chatbot.asking.external_texts import ExternalText
from chatbot.memory.compression.sessions import MOST_SESSIONS, SESSION_SECONDS
from chatbot.memory.memory_database import keep_latest

__all__ = ["MOST_OF_SESSION", "SessionTexts", "session_of"]

# Texts of one session; a further one takes the place of the oldest.
MOST_OF_SESSION = 3


def session_of(owner: str, name: str) -> str:
    """Returns the id of a caller's conversation for a session of this name, "" for the caller's only one.

    Two callers that choose one name get two conversations.
    """
    both = "\0".join((owner, name)).encode("utf-8", "replace")
    return f"session-{hashlib.sha256(both).hexdigest()[:40]}"


class SessionTexts:
    """The texts of live sessions. Safe to use from several threads."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._sessions = OrderedDict[str, tuple[float, tuple[ExternalText, ...]]]()

    def of(self, session: str) -> tuple[ExternalText, ...]:
        """Returns the texts of a session, the newest first. session: as `session_of` made it."""
        with self._lock:
            used, texts = self._sessions.get(session, (0.0, ()))
            if texts and self._clock() - used > SESSION_SECONDS:
                del self._sessions[session]
                return ()
            if texts:
                keep_latest(self._sessions, session, (self._clock(), texts), MOST_SESSIONS)
            return texts

    def add(self, session: str, text: ExternalText) -> int:
        """Adds a text, in place of an older one of its address. Returns how many there are."""
        others = tuple(one for one in self.of(session) if one.address != text.address)
        texts = (text, *others)[:MOST_OF_SESSION]
        with self._lock:
            keep_latest(self._sessions, session, (self._clock(), texts), MOST_SESSIONS)
        return len(texts)

    def clear(self, session: str) -> int:
        """Forgets the texts of a session. Returns how many there were."""
        with self._lock:
            _, texts = self._sessions.pop(session, (0.0, ()))
        return len(texts)
