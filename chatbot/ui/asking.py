"""Questions on their way to an answer, each in a thread of its own, so that a page may come and go meanwhile; draws nothing."""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Protocol

from chatbot.errors import ProjectError
from chatbot.memory.conversations import WINDOW
from chatbot.records import Answer, Event, Exchange, Notice, Stage, Token
from chatbot.service import Ask

__all__ = ["Asked", "Asking", "Given"]

log = logging.getLogger(__name__)

# Questions that are answered at the same time; more wait their turn.
MOST_AT_ONCE = 8
# Conversations whose answers are kept whole, with all that was checked; of older ones only the words remain.
MOST_CONVERSATIONS = 100
CLOSE_SECONDS = 2.0


class Chatbot(Protocol):
    """What answers; see chatbot.service.Chatbot."""

    def ask(self, ask: Ask, *, stop: Callable[[], bool]) -> Iterator[Event]: ...


@dataclass(frozen=True, slots=True)
class Given:
    """An answer that was given. number: unique in this process. notices: what was said on the way."""

    number: int
    answer: Answer
    notices: tuple[Notice, ...] = ()


class Asking:
    """One question on its way. Written by its own thread, read by whichever page shows it.

    text: the answer so far. stage: how far it is. given: the answer, error: why there is none; both None until finished, and after a stop.
    """

    def __init__(self, question: str, number: int) -> None:
        self.question, self.number = question, number
        self.text, self.stage = "", Stage("searching")
        self.notices: tuple[Notice, ...] = ()
        self.given: Given | None = None
        self.error: ProjectError | None = None
        self.finished = self.stopped = False
        self._news = 0
        self._changed = threading.Condition()

    def wait(self, seen: int, seconds: float) -> int:
        """Wait until there is more than was `seen` (0 at first), at most `seconds`. Returns what to give as `seen` the next time."""
        with self._changed:
            self._changed.wait_for(lambda: self._news > seen or self.finished, timeout=seconds)
            return self._news

    def wait_finished(self, seconds: float) -> None:
        """Wait until it is finished, at most `seconds`."""
        with self._changed:
            self._changed.wait_for(lambda: self.finished, timeout=seconds)

    def stop(self) -> None:
        """Give up on the answer; nothing of it will be remembered."""
        self.stopped = True

    def run(self, chatbot: Chatbot, ask: Ask) -> None:
        """Take the events of the answer as they come; returns when it is finished, one way or another."""
        try:
            with closing(chatbot.ask(ask, stop=lambda: self.stopped)) as events:  # type: ignore[type-var]
                for event in events:
                    if self.stopped and not isinstance(event, Answer):
                        break
                    self._take(event)
        except ProjectError as error:
            self.error = error
        except Exception:
            if self.stopped:  # what it stood on may have been closed beneath it
                return
            log.exception("answering failed")
            self.error = ProjectError("Something inside failed.", hint="The server's log says what.")
        finally:
            self._tell(finished=True)

    def _take(self, event: Event) -> None:
        match event:
            case Token():
                self.text += event.text
            case Stage():
                self.stage = event  # whole, for the name and the count are read together
            case Notice():
                self.notices = (*self.notices, event)
                self.text = ""  # a model that fails midway starts over in the documents' own words
            case Answer():
                self.given = Given(self.number, event, self.notices)
        self._tell()

    def _tell(self, **changes: Any) -> None:
        with self._changed:
            self._news += 1
            for name, value in changes.items():
                setattr(self, name, value)
            self._changed.notify_all()


class Asked:
    """What was asked since the process began, by conversation and owner: the latest question, and the answers in full."""

    def __init__(self, chatbot: Chatbot) -> None:
        self._chatbot = chatbot
        self._turns = threading.BoundedSemaphore(MOST_AT_ONCE)
        self._numbers = itertools.count(1)
        self._conversations: OrderedDict[tuple[str | None, str], deque[Asking]] = OrderedDict()
        self._lock = threading.Lock()

    def ask(self, ask: Ask) -> Asking:
        """Begin to answer a question."""
        asking = Asking(ask.question, next(self._numbers))
        with self._lock:
            self._conversations.setdefault((ask.conversation, ask.owner), deque(maxlen=WINDOW + 1)).append(asking)
            self._conversations.move_to_end((ask.conversation, ask.owner))
            while len(self._conversations) > MOST_CONVERSATIONS:
                self._conversations.popitem(last=False)
        threading.Thread(target=self._answer, args=(asking, ask), name=f"ask-{asking.number}", daemon=True).start()
        return asking

    def _answer(self, asking: Asking, ask: Ask) -> None:
        with self._turns:
            asking.run(self._chatbot, ask)

    def latest(self, conversation: str, owner: str) -> Asking | None:
        """The question that was asked last, finished or not."""
        with self._lock:
            asked = self._conversations.get((conversation, owner))
            return asked[-1] if asked else None

    def given(self, conversation: str, owner: str, exchanges: Sequence[Exchange]) -> list[Given | None]:
        """The answer in full for each exchange, None where only its words are left."""
        with self._lock:
            left = [asking.given for asking in self._conversations.get((conversation, owner), ()) if asking.given]
        found: list[Given | None] = []
        for exchange in reversed(exchanges):
            while left and (left[-1].answer.question, left[-1].answer.text) != (exchange.user, exchange.assistant):
                left.pop()
            found.append(left.pop() if left else None)
        return found[::-1]

    def forget(self) -> None:
        """Drop the answers, which hold text of documents; what is on its way goes on."""
        with self._lock:
            for asked in self._conversations.values():
                for asking in [asking for asking in asked if asking.finished]:
                    asked.remove(asking)

    def close(self) -> None:
        """Stop what is on its way. One that waits for a silent endpoint is left to itself: its thread ends with the process."""
        with self._lock:
            left = [asking for asked in self._conversations.values() for asking in asked if not asking.finished]
        for asking in left:
            asking.stop()
        end = time.monotonic() + CLOSE_SECONDS
        for asking in left:
            asking.wait_finished(max(0.0, end - time.monotonic()))
