"""Questions on their way: what a page sees of them, what is remembered, stopping, and whose they are."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from chatbot.app.running_questions import (
    MOST_OF_OWNER,
    QUESTIONS_AT_ONCE,
    STOP_SECONDS,
    Asking,
    RunningQuestions,
)
from chatbot.asking.question import Ask
from chatbot.errors import BusyError, QuestionError
from chatbot.memory.conversations.conversation_store import StoredExchange
from chatbot.records import Answer, Event, Notice, Stage, Token
from chatbot.store.catalog import NAME, SCHEMA
from chatbot.store.database import PostgresPlace, open_database
from chatbot.store.jobs import SharedJobs
from tests.shared_servers import until


class Scripted:
    """Answers with these events, an exception among them raised where it stands; waits for `go` before
    each Token.
    """

    def __init__(self, *events: Event | Exception) -> None:
        self.events = events
        self.go = threading.Semaphore(0)
        self.closed = threading.Event()
        self.asked: list[Ask] = []
        self.settled: list[Ask] = []

    def settle(self, ask: Ask) -> None:
        self.settled.append(ask)

    def read_back(
        self, conversation: str, number: int, owner: str, *, stop: Callable[[], bool]
    ) -> Iterator[Event]:
        raise AssertionError("nothing is read back")

    def ask(self, ask: Ask, *, stop: Callable[[], bool]) -> Iterator[Event]:
        self.asked.append(ask)
        try:
            for event in self.events:
                if isinstance(event, Exception):
                    raise event
                if isinstance(event, Token):
                    while not self.go.acquire(timeout=0.01):
                        if stop():
                            return
                if isinstance(event, Answer):
                    event = replace(event, question=ask.question)
                yield event
        finally:
            self.closed.set()


ANSWER = Answer("?", "?", "Three per cent.", True)
KEPT = replace(ANSWER, exchange=7)


def finish(asking: Asking) -> None:
    asking.wait_finished(10)
    assert asking.finished


def test_a_page_sees_the_answer_grow() -> None:
    script = Scripted(
        Stage("searching"),
        Notice("By words alone."),
        Stage("answering"),
        Token("Three "),
        Token("per cent."),
        ANSWER,
    )
    asking = RunningQuestions(script).ask(Ask("How much?", conversation="c", owner="me"))
    seen = 0
    for text in ("Three ", "Three per cent."):
        script.go.release()
        while asking.text != text:
            seen = asking.wait(seen, 5)
    finish(asking)
    assert asking.given is not None
    assert asking.given.answer.text == "Three per cent."
    assert [notice.text for notice in asking.given.notices] == ["By words alone."]


def test_an_answer_that_is_checked_again_is_no_question() -> None:
    go = threading.Event()

    class Reading(Scripted):
        def read_back(
            self, conversation: str, number: int, owner: str, *, stop: Callable[[], bool]
        ) -> Iterator[Event]:
            yield Stage("checking", 0, 2)
            go.wait(10)

    asked = RunningQuestions(Reading())
    asked.read_back("c", 3, "me")
    checking = asked.checking("c", "me")[3]
    assert asked.left("c", "me") == []
    go.set()
    finish(checking)
    assert asked.left("c", "me") == [] and asked.checking("c", "me") == {}


def test_a_page_sees_how_far_the_search_of_a_long_question_is() -> None:
    stages = (Stage("searching"), Stage("searching", 3, 120), Stage("answering"))
    go = threading.Semaphore(0)

    class Long(Scripted):
        def ask(self, ask: Ask, *, stop: Callable[[], bool]) -> Iterator[Event]:
            for stage in stages:
                yield stage
                go.acquire(timeout=10)
            yield ANSWER

    asking = RunningQuestions(Long()).ask(Ask("How much?"))
    for stage in stages:
        seen, end = 0, time.monotonic() + 10
        while asking.stage != stage and time.monotonic() < end:
            seen = asking.wait(seen, 1)
        assert asking.stage == stage
        go.release()
    finish(asking)


def test_a_model_that_fails_midway_starts_over() -> None:
    script = Scripted(
        Stage("answering"), Token("Thr"), Notice("The model failed."), Token("Three per cent."), ANSWER
    )
    script.go.release(2)
    asking = RunningQuestions(script).ask(Ask("How much?"))
    finish(asking)
    assert asking.text == "Three per cent."


def test_a_notice_at_the_end_takes_nothing_away() -> None:
    script = Scripted(
        Stage("answering"), Token("Three per cent"), Notice("It lacks its end."), Stage("checking"), ANSWER
    )
    script.go.release()
    asking = RunningQuestions(script).ask(Ask("How much?"))
    finish(asking)
    assert asking.text == "Three per cent"


def test_stopping_closes_the_work_and_keeps_what_came() -> None:
    script = Scripted(Stage("answering"), Token("Three "), Token("per cent."), ANSWER)
    asked = RunningQuestions(script)
    asking = asked.ask(Ask("How much?", conversation="c", owner="me"))
    script.go.release()
    while not asking.text:
        asking.wait(0, 1)
    asking.stop()
    finish(asking)
    assert script.closed.wait(5)
    assert asking.given is None
    assert asking.text.startswith("Three ")
    assert asked.latest("c", "me") is asking
    assert script.settled == []


@pytest.mark.parametrize(
    "error", [QuestionError("The question is empty.", hint="Ask something."), ZeroDivisionError("bug")]
)
def test_errors_are_told(error: Exception) -> None:
    asking = RunningQuestions(Scripted(error)).ask(Ask("?"))
    finish(asking)
    assert asking.error is not None
    assert ("empty" in asking.error.message) == isinstance(error, QuestionError)
    assert "bug" not in str(asking.error)


def settled(asked: RunningQuestions) -> None:
    """Wait until all threads are done."""
    end = time.monotonic() + 10
    while asked._threads and time.monotonic() < end:
        time.sleep(0.005)


def test_what_the_store_has_is_let_go_and_settled_after_it_is_out() -> None:
    script = Scripted(KEPT)
    asked = RunningQuestions(script)
    asking = asked.ask(Ask("One?", conversation="c", owner="me"))
    finish(asking)
    settled(asked)
    assert asking.given is not None
    assert asking.given.number == 7
    assert asked.left("c", "me") == []
    assert not any(asked._conversations.values())  # its pages are not held in memory
    assert script.settled == script.asked


def test_settling_is_not_waited_for() -> None:
    go = threading.Event()

    class Settling(Scripted):
        def settle(self, ask: Ask) -> None:
            go.wait(10)
            raise ZeroDivisionError("bug")

    asked = RunningQuestions(Settling(KEPT))
    for question in ("One?", "Two?"):
        finish(asked.ask(Ask(question, conversation="c", owner="me")))
    assert len(asked._threads) == 2
    go.set()
    settled(asked)
    assert not asked._threads


def test_an_answer_still_read_back_stays_while_the_next_is_let_go() -> None:
    read = threading.Event()

    class ReadingBack(Scripted):
        def ask(self, ask: Ask, *, stop: Callable[[], bool]) -> Iterator[Event]:
            first = ask.question == "One?"
            kept = replace(KEPT, question=ask.question, exchange=7 if first else 8)
            yield kept
            if first:
                yield Stage("checking", 0, 2)
                read.wait(10)
                yield kept

    asked = RunningQuestions(ReadingBack())
    first = asked.ask(Ask("One?", conversation="c", owner="me"))
    until(lambda: first.kept)
    finish(asked.ask(Ask("Two?", conversation="c", owner="me")))
    until(lambda: len(asked._threads) == 1)
    assert list(asked.checking("c", "me")) == [7]
    read.set()
    finish(first)
    settled(asked)
    assert asked.checking("c", "me") == {} and not any(asked._conversations.values())


def test_an_answer_that_is_not_kept_stays_until_the_next_question() -> None:
    asked = RunningQuestions(Scripted(ANSWER))
    first = asked.ask(Ask("One?", conversation="c", owner="me"))
    finish(first)
    settled(asked)
    assert asked.left("c", "me") == [first]
    assert first.given is not None
    assert first.given.number < 0
    assert asked.left("c", "somebody else") == asked.left("other", "me") == []
    second = asked.ask(Ask("Two?", conversation="c", owner="me"))
    finish(second)
    assert asked.left("c", "me") == [second]
    asked.forget()
    assert asked.left("c", "me") == []


def test_a_conversation_answers_one_question_at_a_time() -> None:
    script = Scripted(Token("Three."), KEPT)
    asked = RunningQuestions(script)
    first, second, third, other = (
        asked.ask(Ask(one, conversation=c, owner="me"))
        for one, c in (("1?", "c"), ("2?", "c"), ("3?", "c"), ("4?", "d"))
    )
    end = time.monotonic() + 10
    while len(script.asked) < 2 and time.monotonic() < end:
        time.sleep(0.005)
    time.sleep(0.05)
    assert {ask.question for ask in script.asked} == {"1?", "4?"}
    assert asked.left("c", "me") == [first, second, third]
    second.stop()
    finish(second)
    script.go.release(3)
    for asking in (first, third, other):
        finish(asking)
    settled(asked)
    assert {ask.question for ask in script.asked} == {"1?", "3?", "4?"}
    assert asked.left("c", "me") == []


def test_a_stopped_question_holds_nobody_up() -> None:
    begun, go = threading.Event(), threading.Event()

    class Silent(Scripted):
        def ask(self, ask: Ask, *, stop: Callable[[], bool]) -> Iterator[Event]:
            if ask.question == "1?":
                begun.set()
                go.wait(10)  # an endpoint that does not answer
            yield KEPT

    asked = RunningQuestions(Silent())
    first = asked.ask(Ask("1?", conversation="c", owner="me"))
    assert begun.wait(10)
    first.stop()
    second = asked.ask(Ask("2?", conversation="c", owner="me"))
    finish(second)
    assert not first.finished
    go.set()
    settled(asked)
    assert asked.left("c", "me") == []


def test_a_question_knows_its_exchange() -> None:
    asking = Asking("How \ud800much?", 1)
    said = StoredExchange("c", 1, "How ?much?", "", "answering", "", asking.at + 0.01)
    assert asking.is_of(said)
    assert not asking.is_of(replace(said, at=asking.at - 1))
    assert not asking.is_of(replace(said, user="What?"))


def test_old_conversations_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chatbot.app.running_questions.MOST_CONVERSATIONS", 2)
    asked = RunningQuestions(Scripted(ANSWER))
    for conversation in ("a", "b", "c"):
        finish(asked.ask(Ask("One?", conversation=conversation, owner="me")))
        settled(asked)
    assert asked.latest("a", "me") is None
    assert asked.latest("c", "me") is not None


def test_closing_stops_what_is_on_its_way() -> None:
    script = Scripted(Token("never"), ANSWER)
    asked = RunningQuestions(script)
    asking = asked.ask(Ask("How much?"))
    asked.close()
    assert asking.finished
    assert asking.error is None


def test_an_answer_is_stopped_from_another_server(served: str) -> None:
    rows = SharedJobs(open_database(PostgresPlace(served, NAME), SCHEMA))
    script = Scripted(Stage("answering"), Token("Three "), Token("per cent."), ANSWER)
    writing, other = RunningQuestions(script, rows), RunningQuestions(script, rows)
    asking = writing.ask(Ask("How much?", conversation="c", owner="me"))
    script.go.release()
    while not asking.text:
        asking.wait(0, 1)
    other.stop("c", "somebody else")
    time.sleep(2 * STOP_SECONDS)
    assert not asking.over
    other.stop("c", "me")
    finish(asking)
    assert asking.text == "Three "
    assert asking.given is None
    again = writing.ask(Ask("And now?", conversation="c", owner="me"))
    time.sleep(2 * STOP_SECONDS)
    assert not again.stopped
    writing.close()
    rows.close()


def test_one_owner_does_not_keep_others_waiting() -> None:
    script = Scripted(Token("Three "), ANSWER)
    running = RunningQuestions(script)
    mine = [running.ask(Ask("How much?", owner="me")) for _ in range(QUESTIONS_AT_ONCE + 1)]
    until(lambda: len(script.asked) == MOST_OF_OWNER)
    other = running.ask(Ask("How much?", owner="you"))
    until(lambda: len(script.asked) == MOST_OF_OWNER + 1)
    assert script.asked[-1].owner == "you"
    mine[-1].stop()
    finish(mine[-1])
    assert len(script.asked) == MOST_OF_OWNER + 1, "it was stopped while it waited"
    script.go.release(len(mine))
    for asking in (*mine, other):
        finish(asking)


def answer_all_at_once() -> None:
    script = Scripted(Token("Three "), ANSWER)
    running = RunningQuestions(script)
    asked = [running.ask(Ask("How much?", owner=str(number))) for number in range(QUESTIONS_AT_ONCE)]
    until(lambda: len(script.asked) == QUESTIONS_AT_ONCE)
    script.go.release(QUESTIONS_AT_ONCE)
    for asking in asked:
        finish(asking)


def test_no_question_waits_while_a_thread_is_free() -> None:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # so that the threads meet at every point
    try:
        for _ in range(30):
            answer_all_at_once()
    finally:
        sys.setswitchinterval(interval)


def test_one_owner_has_so_many_questions_on_their_way() -> None:
    script = Scripted(Token("Three per cent."), ANSWER)
    asked = RunningQuestions(script, most=3)
    waiting = [asked.ask(Ask("How much?", owner="me", conversation=str(number))) for number in range(3)]
    for refused in (lambda: asked.ask(Ask("?", owner="me")), lambda: asked.admit("me")):
        with pytest.raises(BusyError, match="3 questions of yours are not answered yet") as caught:
            refused()
        assert "FINPOLICY_WAITING_QUESTIONS" in caught.value.hint
        assert caught.value.retryable
    other = asked.ask(Ask("?", owner="somebody"))
    waiting[0].stop()
    last = asked.ask(Ask("?", owner="me"))
    script.go.release(9)
    for asking in (*waiting, other, last):
        finish(asking)
    asked.admit("me")
