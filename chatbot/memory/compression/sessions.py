"""Says how many sessions live and for how long, and what compression has done in one."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["MOST_SESSIONS", "SESSION_SECONDS", "CompressionStats"]

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
