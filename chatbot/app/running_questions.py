"""Answers questions in threads of their own, so that a page may come and go meanwhile."""

from __future__ import annotations

import itertools
import logging
import queue
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

from chatbot.asking.question import Ask
from chatbot.errors import BusyError, ProjectError
from chatbot.memory.conversations.conversation_store import StoredExchange
from chatbot.models.addresses import is_this_machine
from chatbot.models.tokens import encodable
from chatbot.records import Answer, Event, Notice, Stage, Token
from chatbot.store.jobs import SharedJobs

__all__ = ["Asking", "DeliveredAnswer", "Ready", "RunningQuestions"]

log = logging.getLogger(__name__)

# Questions answered at the same time, and of them one owner's. More wait their turn.
QUESTIONS_AT_ONCE, MOST_OF_OWNER = 8, 4
# Conversations whose last question ended without an answer, for which this is remembered here.
MOST_CONVERSATIONS = 100
CLOSE_SECONDS = 2.0
# How often a waiting question checks whether it was stopped.
TURN_SECONDS = 0.2
# How often a server asks whether another one wants its answers stopped.
STOP_SECONDS = 0.5


class AnswerSource(Protocol):
    """What answers; see chatbot.service.Chatbot."""

    def ask(self, ask: Ask, *, stop: Callable[[], bool]) -> Iterator[Event]: ...

    def read_back(
        self, conversation: str, number: int, owner: str, *, stop: Callable[[], bool]
    ) -> Iterator[Event]: ...

    def settle(self, ask: Ask) -> None: ...


# Waits until the documents asked about are there, reporting how far they are, and returns their names; raises
# ProjectError if they will not be.
Ready = Callable[[Callable[[Stage], None], Callable[[], bool]], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class DeliveredAnswer:
    """An answer that was given.

    number: of its exchange in its conversation, below 0 if it is not kept.
    notices: the notices on the way.
    """

    number: int
    answer: Answer
    notices: tuple[Notice, ...] = ()


class Asking:
    """One question on its way. Its own thread writes it, whichever page shows it reads it.

    question: "" if it only reads a kept answer back.
    number: unique in this process.
    exchange: the number of the kept exchange that it reads back; 0 while there is none.
    at: when it was asked, in seconds since the epoch.
    text: the answer so far.
    stage: how far it is.
    given: the answer.
    error: why there is no answer; given and error are None until finished, and after a stop.
    """

    def __init__(self, question: str, number: int, exchange: int = 0) -> None:
        self.question, self.number, self.exchange, self.at = question, number, exchange, time.time()
        self.text, self.stage = "", Stage("searching")
        self.notices: tuple[Notice, ...] = ()
        self.given: DeliveredAnswer | None = None
        self.error: ProjectError | None = None
        self.finished = self.stopped = self._anew = False
        self._news = 0
        self._changed = threading.Condition()
        self._calls: list[Callable[[], None]] = []

    @property
    def answer(self) -> Answer | None:
        """The answer, None until it is finished."""
        return self.given.answer if self.given else None

    def on_news(self, call: Callable[[], None]) -> None:
        """Calls this whenever there is more, from the thread that writes it."""
        with self._changed:
            self._calls.append(call)
        call()

    def wait(self, seen: int, seconds: float) -> int:
        """Waits until there is more than was `seen` (0 at first), at most `seconds`.

        Returns what to pass as `seen` the next time.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._news > seen or self.finished, timeout=seconds)
            return self._news

    def wait_finished(self, seconds: float) -> None:
        """Waits until it is finished, at most `seconds`."""
        with self._changed:
            self._changed.wait_for(lambda: self.finished, timeout=seconds)

    @property
    def kept(self) -> bool:
        """The answer is complete and in the store; it may still be read back."""
        return self.given is not None and self.given.answer.exchange is not None

    @property
    def is_read_here(self) -> bool:
        """A model on this machine wrote it, and reads it back."""
        sent = self.given.answer.sent_to if self.given else None
        return sent is not None and is_this_machine(sent[1])

    @property
    def over(self) -> bool:
        """Nobody waits for it any more. A stopped question may still wait for a silent endpoint."""
        return self.finished or self.stopped

    def is_of(self, said: StoredExchange) -> bool:
        """Tells whether it writes the last exchange of its conversation.

        In one conversation one question is answered at a time.
        """
        return said.at >= self.at and said.user == encodable(self.question)

    def stop(self) -> None:
        """Gives up on the answer. What has come of it stays."""
        self.stopped = True

    def give_up(self) -> None:
        """Ends it before it has begun."""
        self._tell(finished=True)

    def get_ready(self, ask: Ask, ready: Ready) -> Ask:
        """Waits for what must be there first; the question then also asks these documents.

        If that fails, the question is finished, with the error.
        """
        try:
            names = ready(self._take, lambda: self.stopped)
            return replace(ask, names=tuple(dict.fromkeys((*ask.names, *names))))
        except ProjectError as error:
            self.error = error
        except Exception:
            log.exception("waiting failed")
            self.error = ProjectError("Something went wrong.", hint="See the server's log.")
        self._tell(finished=True)
        return ask

    def run(self, work: Callable[..., Iterator[Event]]) -> None:
        """Takes the events of the work as they come. Returns when it is finished, even if it failed.

        work: gets a keyword `stop`.
        """
        try:
            with closing(work(stop=lambda: self.stopped)) as events:  # type: ignore[type-var]
                for event in events:
                    if self.stopped and not isinstance(event, Answer):
                        break
                    self._take(event)
        except ProjectError as error:
            self.error = error
        except Exception:
            if self.stopped:  # the chatbot may have been closed meanwhile
                return
            log.exception("answering failed")
            self.error = ProjectError("Something went wrong.", hint="See the server's log.")
        finally:
            self._tell(finished=True)

    def _take(self, event: Event) -> None:
        match event:
            case Token():
                # After a notice an answer starts again: if a model fails midway, the documents' own words
                # take its place.
                anew = event.anew or self._anew
                self.text, self._anew = event.text if anew else self.text + event.text, False
            case Stage():
                self.stage = event  # in one assignment, since name and count are read together
            case Notice():
                self.notices, self._anew = (*self.notices, event), True
            case Answer():
                self.exchange = event.exchange or 0
                self.given = DeliveredAnswer(event.exchange or -self.number, event, self.notices)
        self._tell()

    def _tell(self, **changes: Any) -> None:
        with self._changed:
            self._news += 1
            for name, value in changes.items():
                setattr(self, name, value)
            self._changed.notify_all()
            calls = tuple(self._calls)
        for call in calls:
            call()


class _Workers:
    """Threads that stay, since each opens the store's files anew: that takes as long as a short answer.

    They end with the process, which waits for none of them.
    """

    def __init__(self, most: int) -> None:
        self._most, self._count, self._tasks = most, 0, 0
        self._lock = threading.Lock()
        self._waiting: queue.SimpleQueue[tuple[Callable[[], None], threading.Event]] = queue.SimpleQueue()
        self._owners = Counter[str]()
        self._fewer = threading.Condition()

    def run(self, work: Callable[[], None], owner: str, stopped: Callable[[], bool]) -> bool:
        """Has a thread do this, and waits until it is done. One owner does not take all threads.

        Returns False if it was stopped while it waited its turn.
        """
        with self._fewer:
            while not self._fewer.wait_for(lambda: self._owners[owner] < MOST_OF_OWNER, TURN_SECONDS):
                if stopped():
                    return False
            self._owners[owner] += 1
        try:
            self._run(work)
            return True
        finally:
            with self._fewer:
                self._owners -= Counter([owner])  # drops an owner without any
                self._fewer.notify_all()

    def _run(self, work: Callable[[], None]) -> None:
        done = threading.Event()
        self._waiting.put((work, done))
        with self._lock:
            self._tasks += 1  # those waiting and those begun: an idle thread may have taken one just now
            if self._count < min(self._tasks, self._most):
                self._count += 1
                threading.Thread(target=self._work, name=f"answering-{self._count}", daemon=True).start()
        done.wait()

    def _work(self) -> None:
        while True:
            work, done = self._waiting.get()
            try:
                work()
            finally:
                with self._lock:
                    self._tasks -= 1
                done.set()


def _goes_on(asked: Iterable[Asking]) -> bool:
    return not all(asking.over for asking in asked)


class RunningQuestions:
    """What is on its way, by conversation and owner.

    Also the last question of each conversation if the store has no answer to it.
    """

    def __init__(self, chatbot: AnswerSource, stops: SharedJobs | None = None, *, most: int = 0) -> None:
        """stops: where other servers say which answers to stop, if the store is shared.
        most: how many questions of one owner may be on their way, 0 for any number.
        """
        self._chatbot, self._stops, self._most = chatbot, stops, most
        self._watching: threading.Thread | None = None
        self._workers = _Workers(QUESTIONS_AT_ONCE)
        self._numbers = itertools.count(1)
        self._conversations: OrderedDict[tuple[str | None, str], list[Asking]] = OrderedDict()
        self._threads: set[threading.Thread] = set()
        self._lock = threading.Lock()

    def ask(self, ask: Ask, *, ready: Ready | None = None) -> Asking:
        """Begins to answer a question.

        Within a conversation it waits for the questions before it, and for what it is about to be `ready`.
        Raises BusyError.
        """
        asking = Asking(ask.question, next(self._numbers))
        key = (ask.conversation, ask.owner)
        thread = threading.Thread(
            target=self._answer, args=(asking, ask, ready), name=f"ask-{asking.number}", daemon=True
        )
        with self._lock:
            self._admit(ask.owner)
            before = [earlier for earlier in self._conversations.pop(key, []) if not earlier.finished]
            for earlier in before:
                if earlier.kept and earlier.is_read_here:
                    earlier.stop()  # the model answers, rather than reads
            self._conversations[key] = [*before, asking]
            self._forget_oldest()
            self._threads.add(thread)
            if self._stops is not None and self._watching is None:
                self._watching = threading.Thread(target=self._watch, name="ask-stops", daemon=True)
                self._watching.start()
        thread.start()
        return asking

    def admit(self, owner: str) -> None:
        """Raises BusyError if too many questions of this owner are not answered yet."""
        with self._lock:
            self._admit(owner)

    def _admit(self, owner: str) -> None:
        on_their_way = sum(
            not asking.over
            for (_, asker), asked in self._conversations.items()
            if asker == owner
            for asking in asked
        )
        if 0 < self._most <= on_their_way:
            raise BusyError(
                f"{on_their_way} questions of yours are not answered yet.",
                hint="Wait for their answers, or stop some; FINPOLICY_WAITING_QUESTIONS sets how many there "
                "may be.",
                retryable=True,
            )

    def _watch(self) -> None:
        """Stops what is stopped on another server, while anything is on its way."""
        assert self._stops is not None
        while True:
            time.sleep(STOP_SECONDS)
            with self._lock:
                running = [
                    (conversation, owner)
                    for (conversation, owner), asked in self._conversations.items()
                    if conversation is not None and _goes_on(asked)
                ]
                if not running:
                    self._watching = None
                    return
            with suppress(ProjectError):  # asked again soon
                for conversation, owner in self._stops.stopped(running):
                    self._stop_here(conversation, owner)

    def _forget_oldest(self) -> None:
        """Drops the oldest conversations with nothing on its way, down to the most that are kept."""
        surplus = len(self._conversations) - MOST_CONVERSATIONS
        if surplus <= 0:
            return
        finished = []
        for key, asked in self._conversations.items():
            if all(asking.finished for asking in asked):
                finished.append(key)
        for key in finished[:surplus]:
            del self._conversations[key]

    def latest(self, conversation: str | None, owner: str) -> Asking | None:
        """Returns the last question: on its way, or ended without an answer that is kept."""
        return next(reversed(self.left(conversation, owner)), None)

    def left(self, conversation: str | None, owner: str) -> list[Asking]:
        """Returns what was asked and has no answer in the store.

        That is what is on its way, in order; else the last question, if it ended without an answer.
        """
        with self._lock:
            asked = self._conversations.get((conversation, owner), [])
            return [
                asking
                for asking in asked
                if asking.question and not asking.kept and (not asking.over or asking is asked[-1])
            ]

    def checking(self, conversation: str | None, owner: str) -> dict[int, Asking]:
        """Returns what is being read back in a conversation, by the number of its exchange."""
        with self._lock:
            asked = self._conversations.get((conversation, owner), [])
            return {asking.exchange: asking for asking in asked if asking.exchange and not asking.over}

    def read_back(self, conversation: str, number: int, owner: str) -> None:
        """Begins to read a kept answer back, unless something goes on in its conversation."""
        key = conversation, owner
        with self._lock:
            if any(not asking.over for asking in self._conversations.get(key, [])):
                return
            asking = Asking("", next(self._numbers), number)
            self._conversations[key] = [asking]
            work = partial(self._read_back, asking, conversation, number, owner)
            thread = threading.Thread(target=work, name=f"check-{asking.number}", daemon=True)
            self._threads.add(thread)
        thread.start()

    def _read_back(self, asking: Asking, conversation: str, number: int, owner: str) -> None:
        read = partial(self._chatbot.read_back, conversation, number, owner)
        try:
            if not self._workers.run(partial(asking.run, read), owner, lambda: asking.stopped):
                asking.give_up()
        finally:
            with self._lock:
                self._threads.discard(threading.current_thread())

    def stop(self, conversation: str, owner: str) -> None:
        """Stops what is on its way in a conversation, whichever server writes it."""
        if not self._stop_here(conversation, owner) and self._stops is not None:
            self._stops.stop(conversation, owner)

    def _stop_here(self, conversation: str, owner: str) -> bool:
        """Stops what is on its way here. Returns whether there was anything."""
        with self._lock:
            asked = self._conversations.get((conversation, owner), [])
            left = [asking for asking in asked if not asking.over]
        for asking in left:
            asking.stop()
        return bool(left)

    def stop_numbered(self, number: int) -> None:
        """Stops one question, if it is on its way."""
        with self._lock:
            found = [
                asking
                for asked in self._conversations.values()
                for asking in asked
                if asking.number == number
            ]
        for asking in found:
            asking.stop()

    def forget(self) -> None:
        """Drops what ended and is not kept, as it may hold text of documents. What is on its way goes on."""
        with self._lock:
            for asked in self._conversations.values():
                asked[:] = [asking for asking in asked if not asking.finished]

    def close(self) -> None:
        """Stops what is on its way.

        A question that waits for a silent endpoint is left to itself: its thread ends with the process.
        """
        with self._lock:
            left = [asking for asked in self._conversations.values() for asking in asked]
            threads = list(self._threads)
        for asking in left:
            asking.stop()
        end = time.monotonic() + CLOSE_SECONDS
        for thread in threads:
            thread.join(max(0.0, end - time.monotonic()))

    def _answer(self, asking: Asking, ask: Ask, ready: Ready | None) -> None:
        try:
            if self._take_turn(asking, ask):
                if ready is not None:
                    ask = asking.get_ready(ask, ready)
                if asking.stopped:
                    asking.give_up()
                if asking.finished:
                    return
                work = partial(asking.run, partial(self._chatbot.ask, ask))
                if not self._workers.run(work, ask.owner, lambda: asking.stopped):
                    asking.give_up()
                    return
                if asking.kept:
                    self._let_go(asking, ask)
                self._settle(asking, ask)
        finally:
            with self._lock:
                self._threads.discard(threading.current_thread())

    def _let_go(self, asking: Asking, ask: Ask) -> None:
        """Drops what the store has now, and what ended before it. A page that follows it still holds it.

        An earlier answer that is still read back stays: its page waits for the marks.
        """
        with self._lock:
            asked = self._conversations.get((ask.conversation, ask.owner), [])
            asked[:] = [one for one in asked if one.number > asking.number or not one.over]

    def _take_turn(self, asking: Asking, ask: Ask) -> bool:
        """Waits until the questions before it in its conversation are answered; False if it was stopped.

        Without a conversation, it waits for none.
        """
        if ask.conversation is None:
            return not asking.stopped
        with self._lock:
            before = [
                one
                for one in self._conversations.get((ask.conversation, ask.owner), ())
                if one.number < asking.number
            ]
        for one in before:
            while not (one.over or one.kept or asking.stopped):
                one.wait_finished(TURN_SECONDS)
        if asking.stopped:
            asking.give_up()
        return not asking.stopped

    def _settle(self, asking: Asking, ask: Ask) -> None:
        """Does what can wait until the answer is out."""
        try:
            if asking.given is not None and not asking.stopped:
                self._chatbot.settle(ask)
        except Exception:
            if not asking.stopped:  # as in run
                log.exception("settling failed")
