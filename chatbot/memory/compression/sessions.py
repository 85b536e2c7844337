"""Caches the token counts of live conversations and forgets them by age and number.

Nothing is lost with them, because they can all be counted again.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from chatbot.memory.conversations.conversation_store import StoredExchange
from chatbot.memory.memory_database import keep_latest
from chatbot.models.tokens import count_tokens

__all__ = ["MOST_SESSIONS", "SESSION_SECONDS", "CompressionStats", "Sessions"]

# The limits of the seed document.
MOST_SESSIONS, SESSION_SECONDS = 500, 3_600


@dataclass(frozen=True, slots=True)
class CompressionStats:
    """What compression has done in a conversation.

    message_count: questions and answers.
    token_count: tokens of all of them; after the conversation was shortened, of what was kept and of what
        was said since.
    compressed: whether the latest answer was given with a shortened conversation.
    compression_count: how many answers were.
    compression_history: {timestamp, original_tokens, compressed_tokens, chunks_compressed}, oldest first.
    threshold: tokens above which it is shortened, as far as the prompt has room.
    """

    message_count: int = 0
    token_count: int = 0
    compressed: bool = False
    compression_count: int = 0
    compression_history: tuple[dict[str, float | int], ...] = ()
    threshold: int = 0


class Sessions:
    """Token counts of the exchanges of live conversations, by conversation.

    The least recently used conversation is forgotten first. Safe to use from several threads.
    """

    def __init__(self, *, model: str = "", clock: Callable[[], float] = time.monotonic) -> None:
        """model: the model whose tokens are counted."""
        self._model, self._clock, self._lock = model, clock, threading.Lock()
        self._sessions = OrderedDict[str, tuple[float, dict[int, int]]]()

    def tokens(self, conversation: str, said: Sequence[StoredExchange]) -> list[int]:
        """Tokens of each exchange, question and answer; counted once while the session lives."""
        counts = self._counts(conversation)
        fresh = {}
        for exchange in said:
            if exchange.number not in counts:
                question_tokens = count_tokens(exchange.user, self._model)
                fresh[exchange.number] = question_tokens + count_tokens(exchange.cited, self._model)
        with self._lock:
            counts.update(fresh)
        return [counts[exchange.number] for exchange in said]

    def __len__(self) -> int:
        return len(self._sessions)

    def _counts(self, conversation: str) -> dict[int, int]:
        now = self._clock()
        with self._lock:
            old = [key for key, (used, _) in self._sessions.items() if now - used > SESSION_SECONDS]
            for key in old:
                del self._sessions[key]
            _, counts = self._sessions.get(conversation, (now, {}))
            keep_latest(self._sessions, conversation, (now, counts), MOST_SESSIONS)
            return counts
