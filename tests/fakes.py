"""Public stand-ins that are handed in where the real parts would be; they know the protocols, and keep
what they were asked.
"""

from __future__ import annotations

import re
import threading
import zlib
from collections.abc import Callable, Generator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from chatbot.errors import ModelError
from chatbot.models.chat import PromptSource, Reply
from chatbot.models.embedders import split_text
from tests.provider import READS_BACK

__all__ = ["HashEmbedder", "ScriptedModel"]

Answer = Sequence[str | ModelError] | Callable[[Sequence[tuple[str, str]]], Sequence[str | ModelError]]


class ScriptedModel:
    """A chat model that says what it is given: each call the next answer, and the last one from then on.

    answers: each a list of pieces, or a function from the messages to one; a piece that is a ModelError is
    raised where it stands. finish: how the answers end, "stop" or "length". calls: (messages, max_tokens,
    schema) of every call. reads: what it says where it is to read an answer back, for which it has no answer;
    these calls are in `readings`. None: the next answer, as for any call.
    """

    def __init__(
        self,
        *answers: Answer,
        name: str = "scripted",
        finish: str = "stop",
        reads: Answer | None = ("I cannot judge that.",),
    ) -> None:
        self.readings: list[tuple[tuple[str, str], ...]] = []
        self._reads = reads
        self.name = name
        self.host = "this process"
        self.calls_tools = self.sees = False
        self.calls: list[tuple[tuple[tuple[str, str], ...], int, Mapping[str, object] | None]] = []
        self._answers = answers
        self._finish = finish

    def stream(
        self,
        messages: Sequence[tuple[str, str]],
        *,
        max_tokens: int,
        schema: Mapping[str, object] | None = None,
        stop: Callable[[], bool] = lambda: False,
        sources: Sequence[PromptSource] = (),
        **_: object,
    ) -> Reply:
        """As LLM.stream."""
        if self._reads is not None and messages[0][1].startswith(READS_BACK):
            self.readings.append(tuple(messages))
            said = self._reads(messages) if callable(self._reads) else self._reads
            return Reply(self._say(said, stop))
        self.calls.append((tuple(messages), max_tokens, schema))
        answer = self._answers[min(len(self.calls), len(self._answers)) - 1]
        return Reply(self._say(answer(messages) if callable(answer) else answer, stop))

    def _say(self, pieces: Sequence[str | ModelError], stop: Callable[[], bool]) -> Generator[str, None, str]:
        for piece in pieces:
            if stop():
                return "stopped"
            if isinstance(piece, ModelError):
                raise piece
            yield piece
        if stop():
            return "stopped"
        if not "".join(map(str, pieces)).strip():
            raise ModelError("The script holds an empty answer.")
        return self._finish


class HashEmbedder:
    """An embedder whose vectors can be worked out by hand: each lower-cased word counts one in the bucket
    crc32(word) % dimension; then unit length. A text without a word points along the first axis. A token is
    what stands between blanks. calls: texts embedded so far.
    """

    def __init__(self, *, dimension: int = 64, max_tokens: int = 256) -> None:
        self.fingerprint = f"hash-{dimension}"
        self.dimension = dimension
        self.max_tokens = max_tokens
        self.calls = 0
        self._counting = threading.Lock()

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """As Embedder.embed."""
        with self._counting:
            self.calls += len(texts)
        rows = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in re.findall(r"\w+", " ".join(text.split()[: self.max_tokens]).lower()):
                row[zlib.crc32(word.encode("utf-8", "replace")) % self.dimension] += 1
            row[0] += not row.any()
        unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit

    def split(self, text: str, *, reserve: int = 0) -> list[str]:
        """As Embedder.split."""
        return split_text(text, self.max_tokens - reserve, lambda start, end: len(text[start:end].split()))
