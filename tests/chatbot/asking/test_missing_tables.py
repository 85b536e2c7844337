"""Questions wait for the tables of their pages: as long as it takes for a chosen document, else a while."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from chatbot.asking.question import Ask
from chatbot.records import Answer, Event, Notice
from chatbot.service import Chatbot
from chatbot.settings import Settings
from chatbot.store import library
from chatbot.store.library import Upload
from tests.pdfs import make_pdf, repeat_page
from tests.stores import RULES, add_now, hashing, read_now

QUESTION = "What is the debt anchor?"
LONG = "\n".join(f"The debt anchor of case {line} is 60 per cent of output." for line in range(40))


@pytest.fixture
def chatbot(tmp_path: Path) -> Iterator[Chatbot]:
    """With a whole document, and a long one of which only the text was read."""
    with Chatbot(Settings(home=tmp_path / "home"), embedder=hashing()) as chatbot:
        add_now(chatbot.library, [Upload(make_pdf(tmp_path / "Rules.pdf", RULES))])
        read_now(chatbot.library, [Upload(repeat_page(tmp_path / "Long.pdf", LONG, 300))])
        yield chatbot


def asked(chatbot: Chatbot, *names: str) -> tuple[list[Event], float]:
    begun = time.monotonic()
    events = list(chatbot.ask(Ask(QUESTION, names=names)))
    return events, time.monotonic() - begun


def omitted(events: list[Event]) -> bool:
    return any(isinstance(event, Notice) and "Long.pdf: its tables" in event.text for event in events)


def test_questions_together_wait_a_while_for_a_long_document(
    chatbot: Chatbot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library, "MOST_WAITED", 0.0)
    for _ in range(2):
        events, seconds = asked(chatbot)
        assert omitted(events)
        assert seconds < 5
        answer = next(event for event in events if isinstance(event, Answer))
        assert {hit.document for hit in answer.considered} <= {"Rules.pdf"}


def test_a_question_that_chose_the_document_waits_for_it(
    chatbot: Chatbot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library, "MOST_WAITED", 0.0)
    events, _ = asked(chatbot, "Long.pdf")
    assert not omitted(events)
    answer = next(event for event in events if isinstance(event, Answer))
    assert "60 per cent" in answer.text


def test_a_short_document_is_waited_for(chatbot: Chatbot) -> None:
    events, _ = asked(chatbot)
    assert not omitted(events)
