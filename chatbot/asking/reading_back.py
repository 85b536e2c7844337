"""Has a chat model read an answer back against its pages, once it has shown that it can."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace

from chatbot.answer.verification.probe import (
    FEWEST_RIGHT,
    LEAST_CONTEXT,
    QUESTION,
    STATEMENTS,
    probe,
    right_of,
)
from chatbot.answer.verification.reading_call import StatementReading, read_statements
from chatbot.answer.verification.statements import statements_of
from chatbot.asking.answering import Answering
from chatbot.asking.model_roles import Verifier
from chatbot.errors import StoreError
from chatbot.memory.user_settings_store import UserSettingsStore
from chatbot.records import Answer, Event, Stage, Usage

__all__ = ["ReadingBack"]

NOT_PROVEN = "{model} judged {right} of {all} test statements rightly, so it reads no answers back."
# Of the probe's prompts, a second try with its reply among them.
TOKENS_OF_PROBE = 2 * LEAST_CONTEXT
# A model whose probe failed for its endpoint's sake is tried again after this.
AGAIN_SECONDS = 600.0
# One that did not finish the probe is tried again after a day.
SLOW_SECONDS = 86_400.0
UNFINISHED = (
    "{model} was too slow in its test as a reader, or its reply could not be used: "
    "it reads no answers back today."
)
UNUSABLE = "The reading could not be used."
log = logging.getLogger(__name__)


class ReadingBack:
    """Reads answers back. Safe to use from several threads."""

    def __init__(self, answering: Answering, own: UserSettingsStore) -> None:
        """own: where it is remembered how the models did in the probe."""
        self._answering, self._own = answering, own
        self._failed = dict[str, tuple[float, str]]()
        self._lock = threading.Lock()

    def events(self, answer: Answer, verifier: Verifier | None, stop: Callable[[], bool]) -> Iterator[Event]:
        """The stage, and the answer with the marks that are proven; nothing if nothing is to be read.

        verifier: who reads, None for nobody.
        """
        if verifier is None or answer.prompt is None or not (answer.by_model and answer.statements):
            return
        yield Stage("checking", 0, len(answer.statements))
        begun = time.monotonic()
        end = begun + verifier.timeout
        reading = StatementReading(by=(verifier.model.name, verifier.model.host), reason=UNUSABLE)
        spent = Usage()
        try:
            reason, spent = self._why_not(verifier, end, stop)
            reading = replace(reading, reason=reason) if reason else self._read(answer, verifier, end, stop)
            marked = self._answering.marked(answer, reading)
        except Exception as error:
            log.error("a reading back could not be used: %s", type(error).__name__)
            reading = replace(reading, read={}, reason=UNUSABLE)
            marked = self._answering.marked(answer, reading)
        used = reading.usage.plus(spent)
        used = replace(used, cost=verifier.cost(used))
        usage = answer.usage.plus(used) if answer.usage else used
        seconds = round(answer.seconds + time.monotonic() - begun, 3)
        yield replace(marked, usage=usage, seconds=seconds)

    def standing(self, verifier: Verifier) -> str:
        """How a model did in the probe, in a sentence."""
        name = verifier.model.name
        right = self._probed(_name(verifier))
        if right is None:
            return f"{name} is tested before it reads its first answer."
        if why := _why(name, right):
            return why
        return f"{name} judged {right} of {len(STATEMENTS)} test statements rightly: it reads answers back."

    def may_read(self, verifier: Verifier) -> bool:
        """Whether a model passed the probe, or was not tried yet."""
        right = self._probed(_name(verifier))
        return right is None or right >= FEWEST_RIGHT

    def _read(
        self, answer: Answer, verifier: Verifier, end: float, stop: Callable[[], bool]
    ) -> StatementReading:
        assert answer.prompt is not None
        return read_statements(
            verifier.model,
            answer.question,
            statements_of(self._answering.as_written(answer), answer.prompt.sources),
            answer.prompt.sources,
            context=verifier.context,
            timeout=max(0.0, end - time.monotonic()),
            tokens=verifier.tokens,
            stop=stop,
        )

    def _why_not(self, verifier: Verifier, end: float, stop: Callable[[], bool]) -> tuple[str, Usage]:
        """(why a model may not read, "" if it may; what it took to find out)."""
        model = verifier.model
        name = _name(verifier)
        until, reason = self._failed.get(name, (0.0, ""))
        if until > time.monotonic():
            return reason, Usage()
        right, used = self._probed(name), Usage()
        if right is None:
            statements, sources = probe()
            found = read_statements(
                model,
                QUESTION,
                statements,
                sources,
                context=max(verifier.context, LEAST_CONTEXT),
                timeout=max(0.0, end - time.monotonic()),
                tokens=TOKENS_OF_PROBE,
                stop=stop,
            )
            used = found.usage
            if found.failed:
                if not stop():
                    with self._lock:
                        self._failed[name] = time.monotonic() + AGAIN_SECONDS, found.reason
                    if time.monotonic() >= end:
                        self._keep(name, -int(time.time() + SLOW_SECONDS))
                return found.reason, used
            right = right_of(found.read) if found.read else -int(time.time() + SLOW_SECONDS)
            self._keep(name, right)
        return _why(model.name, right), used

    def _keep(self, name: str, right: int) -> None:
        with suppress(StoreError):
            self._own.keep_probe(name, right)

    def _probed(self, name: str) -> int | None:
        """How many statements a model judged rightly, below 0 if it did not finish; None to try it."""
        with suppress(StoreError):
            right = self._own.probe(name)
            return None if right is not None and right < 0 and -right < time.time() else right
        return None


def _name(verifier: Verifier) -> str:
    return f"{verifier.model.name} {verifier.model.host}"


def _why(name: str, right: int) -> str:
    """Why a model with this result may not read, "" if it may."""
    if right < 0:
        return UNFINISHED.format(model=name)
    return NOT_PROVEN.format(model=name, right=right, all=len(STATEMENTS)) if right < FEWEST_RIGHT else ""
