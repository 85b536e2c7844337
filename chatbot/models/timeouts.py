"""Limits the wait for a model endpoint: to the first word, between words, and in all."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from chatbot.settings import Settings

if TYPE_CHECKING:
    import ssl

    from httpcore2 import NetworkStream

__all__ = ["Timeouts", "patient"]

# How long a pressed stop button may go unnoticed while an endpoint is silent.
NAP_SECONDS = 0.25
# Sending is checked between pieces of this size, in case the endpoint reads slowly.
WRITE_BYTES = 2**16
# The limits that an answer can meet.
LIMITS = frozenset({"first", "between", "whole", "piece"})


def _never() -> bool:
    return False


@dataclass(slots=True)
class Timeouts:
    """The time limits of one answer, all tries included.

    first: seconds to the first word of a try.
    between: seconds from one word to the next.
    whole: seconds for all of it.
    in_one_piece: words are not told apart, and `first` applies to the complete answer.
    stop: whether nobody waits for the answer any more.

    Only `heard` restarts the limit between words. Bytes that carry no word, such as comments that keep a
    connection alive, do not.
    """

    first: float
    between: float = math.inf
    whole: float = math.inf
    in_one_piece: bool = False
    stop: Callable[[], bool] = _never
    _word: float = field(default=-math.inf, init=False)
    _try: float = field(default=0.0, init=False)
    _begun: float = field(default=math.inf, init=False)

    @classmethod
    def for_words(cls, settings: Settings, stop: Callable[[], bool] = _never) -> Timeouts:
        """Returns the limits of an answer that comes word by word."""
        return cls(settings.first_word_seconds, settings.timeout, settings.answer_timeout, stop=stop)

    @classmethod
    def for_one_piece(cls, settings: Settings) -> Timeouts:
        """Returns the limits of answers that are useful only when complete, such as vectors.

        Each request has the whole time.
        """
        return cls(settings.timeout, in_one_piece=True)

    def begin(self) -> None:
        """Notes that a request is about to be sent."""
        self._try = time.monotonic()
        self._begun = min(self._begun, self._try)
        self._word = -math.inf

    def heard(self) -> None:
        """Notes that a word came, or that the reader of the last one is ready for more."""
        self._word = time.monotonic()

    def left(self) -> tuple[float, str]:
        """Returns the seconds to the nearest limit, and its name, one of LIMITS.

        The seconds are 0 or less once the limit is met.
        """
        if self._word > self._try:
            word = ("between", self._word + self.between)
        else:
            word = ("piece" if self.in_one_piece else "first", self._try + self.first)
        limit, end = min(word, ("whole", self._begun + self.whole), key=lambda one: one[1])
        return end - time.monotonic(), limit


def patient(stream: NetworkStream, patience: Timeouts) -> NetworkStream:
    """Puts the connection under these limits, whoever reads from it and however its bytes come.

    Its reads and writes raise httpcore2.ReadTimeout with the limit's name, see `Timeouts.left`, or
    httpcore2.ReadError when stopped.
    """
    import httpcore2

    class Patient(httpcore2.NetworkStream):
        def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
            while True:
                try:
                    return stream.read(max_bytes, min(_wait(patience), NAP_SECONDS))
                except httpcore2.ReadTimeout as error:
                    if str(error) in LIMITS:
                        raise

        def write(self, buffer: bytes, timeout: float | None = None) -> None:
            for start in range(0, len(buffer), WRITE_BYTES):
                try:
                    stream.write(buffer[start : start + WRITE_BYTES], _wait(patience))
                except httpcore2.WriteTimeout:
                    raise httpcore2.ReadTimeout(patience.left()[1]) from None

        def close(self) -> None:
            stream.close()

        def start_tls(
            self,
            ssl_context: ssl.SSLContext,
            server_hostname: str | None = None,
            timeout: float | None = None,
        ) -> NetworkStream:
            return patient(
                stream.start_tls(ssl_context, server_hostname, min(_wait(patience), timeout or math.inf)),
                patience,
            )

        def get_extra_info(self, info: str) -> Any:
            return stream.get_extra_info(info)

    return Patient()


def _wait(patience: Timeouts) -> float:
    """Returns the seconds that are left, always more than 0."""
    import httpcore2

    seconds, limit = patience.left()
    if patience.stop():
        raise httpcore2.ReadError("stopped")
    if seconds <= 0:
        raise httpcore2.ReadTimeout(limit)
    return seconds
