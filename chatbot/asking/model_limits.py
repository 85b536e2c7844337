"""Finds out how much each chat model takes, from its endpoint, and whether it is slow.

A slow model is used for nothing but the answer. It sends no question.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from chatbot.models.addresses import endpoint_url
from chatbot.models.model_catalog import context_of
from chatbot.settings import Settings

__all__ = ["ModelLimits"]

# An endpoint that tells nothing within this is not waited for: the answer shows what it takes.
MOST_SECONDS = 2.0
# How long what was found out holds: models are loaded anew, and machines become free again.
KNOWN_SECONDS = 600.0
# Other vocabularies take up to 36 percent more tokens for the same text than ours.
SHARE_OF_CONTEXT = 0.7
# Of a prompt that was too long.
SHRUNK = 0.5
# Of a short context, the answer gets one of so many parts.
ANSWER_PART = 3
# Rules, example, question and a short excerpt; see FINPOLICY_CONTEXT_TOKENS for what is useful.
LEAST_PROMPT = 600
# Fewer tokens, or more, are no context: the field means something else.
FEWEST_TOKENS, MOST_TOKENS = 512, 10**9
# Names of the field in the lists of vLLM, OpenRouter and Together, Groq, llama.cpp.
_FIELDS = ("max_model_len", "context_length", "context_window", "n_ctx")


class ModelLimits:
    """What was found out about chat models in this process.

    Safe to use from several threads; the latest finding counts.
    """

    def __init__(self, ask: Callable[[Settings], int | None] | None = None) -> None:
        """ask: finds a context out, as `context_of` does."""
        self._ask, self._lock = ask or context_of, threading.Lock()
        self._contexts = dict[tuple[str, str], tuple[float, int]]()
        self._slow = dict[tuple[str, str], float]()

    def prompt_tokens(self, settings: Settings) -> int:
        """What a prompt may take: as the settings say, or less if the endpoint's context is shorter."""
        room = self._room(settings)
        if not room:
            return settings.context_tokens
        return min(settings.context_tokens, max(LEAST_PROMPT, room - _of_answer(settings, room)))

    def context_tokens(self, settings: Settings) -> int:
        """What a prompt and its answer may take together."""
        return self._room(settings) or settings.context_tokens + settings.answer_tokens

    def answer_tokens(self, settings: Settings) -> int:
        """What an answer may take: as the settings say, or a third of a shorter context."""
        room = self._room(settings)
        return _of_answer(settings, room) if room else settings.answer_tokens

    def _room(self, settings: Settings) -> int:
        """What a prompt and its answer may take, counted here; 0 if the endpoint does not say."""
        key = _key(settings)
        now = time.monotonic()
        until, context = self._contexts.get(key, (0.0, 0))
        if until < now:
            found = self._ask(settings)
            context = found or 0
            if found is not None:
                with self._lock:
                    self._contexts[key] = (now + KNOWN_SECONDS, context)
        return int(context * SHARE_OF_CONTEXT)

    def too_long(self, settings: Settings, tokens: int) -> int:
        """Note that a prompt of so many tokens was too long, and return what the next one may take."""
        less = max(LEAST_PROMPT, int(tokens * SHRUNK))
        room = less + min(settings.answer_tokens, less // (ANSWER_PART - 1))
        with self._lock:
            self._contexts[_key(settings)] = (
                time.monotonic() + KNOWN_SECONDS,
                int(room / SHARE_OF_CONTEXT) + 1,
            )
        return less

    def found_slow(self, settings: Settings) -> bool:
        """Note that a model took too long. True if that was not known."""
        with self._lock:
            new = not self.is_slow(settings)
            self._slow[_key(settings)] = time.monotonic() + KNOWN_SECONDS
        return new

    def is_slow(self, settings: Settings) -> bool:
        """Whether a model took too long lately."""
        return self._slow.get(_key(settings), 0.0) > time.monotonic()


def _of_answer(settings: Settings, room: int) -> int:
    return min(settings.answer_tokens, room // ANSWER_PART)


def _key(settings: Settings) -> tuple[str, str]:
    return endpoint_url(settings), settings.chat_model
