"""Offers the context manager of the FinGPT Search Agent by its name: conversations by session, shortened.

They are in memory alone, and nothing is embedded: what is kept is chosen by the seed's scoring.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from chatbot.memory.compression.compress import CompressionFocus, CompressionOptions, Conversation, Message
from chatbot.memory.compression.sessions import MOST_SESSIONS, SESSION_SECONDS
from chatbot.memory.memory_database import keep_latest
from chatbot.models.tokens import count_tokens

__all__ = ["R2CContextManager"]

SYSTEM_PROMPT = "You are a helpful financial assistant. Use the provided context to answer questions."
KEPT_LAST = 2


@dataclass
class _MessageSession:
    kept: list[Message] = field(default_factory=list)
    recent: list[Message] = field(default_factory=list)
    used_at: float = 0.0
    count: int = 0
    history: list[dict[str, Any]] = field(default_factory=list)


class R2CContextManager:
    """Conversations by session, in memory alone, each shortened when it has more than max_tokens.

    Several threads may use it. A session ends an hour after it was last used.
    """

    def __init__(
        self,
        max_tokens: int = 20_000,
        compression_ratio: float = 0.5,
        rho: float = 0.5,
        gamma: float = 1.0,
        model: str = "gpt-3.5-turbo",
    ) -> None:
        """Raises ValueError for a value out of its range.

        compression_ratio: the share of tokens that is kept. rho: the share of what goes that whole chunks
        take. gamma: how unevenly sentences go. model: whose tokens are counted.
        """
        self._options = CompressionOptions(max_tokens, compression_ratio, rho, gamma, KEPT_LAST, "seed")
        self._model, self._lock = model, threading.Lock()
        self._sessions: OrderedDict[str, _MessageSession] = OrderedDict()

    def add_message(self, session_id: str, role: str, content: str) -> None:
        """Adds a message, and shortens the conversation if it is now too long."""
        with self._lock:
            session = self._session(session_id)
            session.count += 1
            session.recent.append(Message(str(session.count), role, content))
            whole = Conversation([*session.kept, *session.recent], model=self._model)
            result = whole.compress(CompressionFocus(), self._options)
            if not result.stats.compressed:
                return
            last = {message.id for message in session.recent[-KEPT_LAST:]}
            session.kept = [message for message in result.context if message.id not in last]
            session.recent = session.recent[-KEPT_LAST:]
            names = ("original_tokens", "compressed_tokens", "chunks_compressed")
            done = {name: getattr(result.stats, name) for name in names}
            session.history.append({"timestamp": time.time(), **done})

    def get_context(self, session_id: str) -> list[dict[str, str]]:
        """Returns the messages for a model: the system prompt, what was kept, and what was said since."""
        with self._lock:
            session = self._session(session_id)
            context = [{"role": "system", "content": SYSTEM_PROMPT}]
            if session.kept:
                said = "\n".join(f"{message.role}: {message.content}" for message in session.kept)
                context.append({"role": "system", "content": f"[Compressed Context]\n{said}"})
            return context + [
                {"role": message.role, "content": message.content} for message in session.recent
            ]

    def clear(self, session_id: str) -> None:
        """Forgets a session."""
        with self._lock:
            self._sessions.pop(session_id, None)

    def get_stats(self, session_id: str) -> dict[str, Any]:
        """Returns message_count, token_count, compressed, compression_count and compression_history."""
        with self._lock:
            session = self._session(session_id)
            said = [*session.kept, *session.recent]
            return {
                "message_count": session.count,
                "token_count": sum(count_tokens(message.content, self._model) for message in said),
                "compressed": bool(session.history),
                "compression_count": len(session.history),
                "compression_history": list(session.history),
            }

    def _session(self, session_id: str) -> _MessageSession:
        now = time.time()
        session = self._sessions.get(session_id)
        if session is None or session.used_at < now - SESSION_SECONDS:
            session = _MessageSession()
        session.used_at = now
        keep_latest(self._sessions, session_id, session, MOST_SESSIONS)
        return session
