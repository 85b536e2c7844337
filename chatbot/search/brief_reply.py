"""Asks a chat model for a short reply beside the answer, for which a reader waits only so long."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from chatbot.errors import ModelError
from chatbot.models.chat import LLM

__all__ = ["UnusedReplyError", "brief_reply"]

Read = TypeVar("Read")


class UnusedReplyError(Exception):
    """A model's reply is not used. why, hint: as in ModelError. late: whether it took too long."""

    def __init__(self, why: str, hint: str = "", *, late: bool = False) -> None:
        super().__init__(why)
        self.why, self.hint, self.late = why, hint, late


def brief_reply(
    model: LLM,
    messages: tuple[tuple[str, str], ...],
    read: Callable[[str], Read],
    *,
    max_tokens: int,
    seconds: float,
    stop: Callable[[], bool],
) -> Read:
    """What is read in the reply to these messages, by one call of the model.

    read: raises ValueError where the reply is of no use. max_tokens: of the reply. seconds: that it may take.
    stop: ends it early. Raises UnusedReplyError.
    """
    begun = time.monotonic()
    # No schema is sent: many endpoints refuse one.
    reply = model.stream(
        messages, max_tokens=max_tokens, stop=lambda: stop() or time.monotonic() > begun + seconds
    )
    try:
        return read(reply.whole())
    except ModelError as error:
        late = time.monotonic() > begun + seconds / 2
        raise UnusedReplyError(error.message, error.hint, late=late) from error
    except ValueError as error:
        if stop():
            raise UnusedReplyError("you stopped it.") from error
        if reply.finish == "stopped":
            raise UnusedReplyError(f"{model.name} took longer than {seconds:g} s.", late=True) from error
        raise UnusedReplyError(str(error)) from error
    finally:
        reply.close()
