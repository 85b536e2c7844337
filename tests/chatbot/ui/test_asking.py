"""Questions on their way: what a page sees of them, what is remembered, stopping, and whose they are."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from chatbot.errors import QuestionError
from chatbot.records import Answer, Event, Exchange, Notice, Stage, Token
from chatbot.service import Ask
from chatbot.ui.asking import Asked, Asking


class Scripted:
    """Answers with these events, an exception among them raised where it stands; waits for `go` before each Token."""

    def __init__(self, *events: Event | Exception) -> None:
        self.events = events
        self.go = threading.Semaphore(0)
        self.closed = threading.Event()
        self.asked: list[Ask] = []

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


def finish(asking: Asking) -> None:
    asking.wait_finished(10)
    assert asking.finished


def test_a_page_sees_the_answer_grow() -> None:
    script = Scripted(Stage("searching"), Notice("By words alone."), Stage("answering"), Token("Three "), Token("per cent."), ANSWER)
    asking = Asked(script).ask(Ask("How much?", conversation="c", owner="me"))
    seen = 0
    for text in ("Three ", "Three per cent."):
        script.go.release()
        while asking.text != text:
            seen = asking.wait(seen, 5)
    finish(asking)
    assert asking.given is not None
    assert asking.given.answer.text == "Three per cent."
    assert [notice.text for notice in asking.given.notices] == ["By words alone."]


def test_a_page_sees_how_far_the_search_of_a_long_question_is() -> None:
    stages = (Stage("searching"), Stage("searching", 3, 120), Stage("answering"))
    go = threading.Semaphore(0)

    class Long:
        def ask(self, ask: Ask, *, stop: Callable[[], bool]) -> Iterator[Event]:
            for stage in stages:
                yield stage
                go.acquire(timeout=10)
            yield ANSWER

    asking = Asked(Long()).ask(Ask("How much?"))
    for stage in stages:
        seen, end = 0, time.monotonic() + 10
        while asking.stage != stage and time.monotonic() < end:
            seen = asking.wait(seen, 1)
        assert asking.stage == stage
        go.release()
    finish(asking)


def test_a_model_that_fails_midway_starts_over() -> None:
    script = Scripted(Stage("answering"), Token("Thr"), Notice("The model failed."), Token("Three per cent."), ANSWER)
    script.go.release(2)
    asking = Asked(script).ask(Ask("How much?"))
    finish(asking)
    assert asking.text == "Three per cent."


def test_stopping_closes_the_work_and_keeps_nothing() -> None:
    script = Scripted(Stage("answering"), Token("Three "), Token("per cent."), ANSWER)
    asked = Asked(script)
    asking = asked.ask(Ask("How much?", conversation="c", owner="me"))
    script.go.release()
    while not asking.text:
        asking.wait(0, 1)
    asking.stop()
    finish(asking)
    assert script.closed.wait(5)
    assert asking.given is None
    assert asked.latest("c", "me") is asking
    assert asked.given("c", "me", [Exchange("How much?", "Three per cent.")]) == [None]


@pytest.mark.parametrize("error", [QuestionError("The question is empty.", hint="Ask something."), ZeroDivisionError("bug")])
def test_errors_are_told(error: Exception) -> None:
    asking = Asked(Scripted(error)).ask(Ask("?"))
    finish(asking)
    assert asking.error is not None
    assert ("empty" in asking.error.message) == isinstance(error, QuestionError)
    assert "bug" not in str(asking.error)


def test_answers_belong_to_their_conversation_and_owner() -> None:
    asked = Asked(Scripted(ANSWER))
    for question in ("One?", "Two?", "One?"):
        finish(asked.ask(Ask(question, conversation="c", owner="me")))
    exchanges = [Exchange(question, "Three per cent.") for question in ("Before?", "One?", "Two?", "One?")]
    numbers = [given.number if given else None for given in asked.given("c", "me", exchanges)]
    assert numbers == [None, 1, 2, 3]
    assert asked.given("c", "somebody else", exchanges) == [None] * 4
    assert asked.latest("other", "me") is None
    asked.forget()
    assert asked.given("c", "me", exchanges) == [None] * 4


def test_old_conversations_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chatbot.ui.asking.MOST_CONVERSATIONS", 2)
    asked = Asked(Scripted(ANSWER))
    for conversation in ("a", "b", "c"):
        finish(asked.ask(Ask("One?", conversation=conversation, owner="me")))
    assert asked.latest("a", "me") is None
    assert asked.latest("c", "me") is not None


def test_closing_stops_what_is_on_its_way() -> None:
    script = Scripted(Token("never"), ANSWER)
    asked = Asked(script)
    asking = asked.ask(Ask("How much?"))
    asked.close()
    assert asking.finished
    assert asking.error is None
