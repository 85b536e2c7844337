"""The memories of conversations: what every layer owes, and what history and summary recall."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from chatbot.memory.conversations.conversation_store import Conversations, StoredExchange, Summary
from chatbot.memory.conversations.history import HistoryLayer
from chatbot.memory.conversations.summary import BLOCK, SummaryLayer, summarise
from chatbot.memory.layers import MemoryLayer
from chatbot.memory.memory_database import MemoryDatabase
from chatbot.records import Answer, Recall
from tests.fakes import HashEmbedder, ScriptedModel

EMBEDDER = HashEmbedder(dimension=256)
CEILING = "What is the deficit ceiling?"
TOPICS = {
    CEILING: "The deficit ceiling is 3.0 per cent of output.",
    "Who audits the accounts?": "The Court of Auditors audits the accounts.",
    "When is harvest reported?": "Harvest is reported in September.",
}


def tell(talks: Conversations, talk: str, question: str, text: str, owner: str = "me") -> int:
    number = talks.start(talk, question)
    answer = Answer(question, question, text, True)
    talks.finish(talk, number, answer, {}, owner=owner)
    (vector,) = EMBEDDER.embed([f"{question}\n{text}"])
    talks.keep_vector(talk, number, EMBEDDER.fingerprint, vector)
    return number


@pytest.fixture
def talks(tmp_path: Path) -> Iterator[Conversations]:
    opened = Conversations(MemoryDatabase(tmp_path / "c.sqlite3"))
    yield opened
    opened.close()


def history(talks: Conversations) -> MemoryLayer:
    return HistoryLayer(talks, EMBEDDER)


def summary(talks: Conversations) -> MemoryLayer:
    return SummaryLayer(talks)


def fill(talks: Conversations, owner: str) -> str:
    """A conversation that every layer has something of."""
    talk = talks.begin(owner)
    for question, text in TOPICS.items():
        tell(talks, talk, question, text, owner)
    talks.keep_summary(talk, Summary(1, 3, "They spoke of the deficit ceiling.", "scripted"))
    return talk


def recall(question: str, talk: str, owner: str = "me", before: int = 99) -> Recall:
    (vector,) = EMBEDDER.embed([question])
    return Recall(question, vector, talk, owner, before=before)


def test_history_is_recalled_by_meaning_only_where_the_question_calls_for_it(talks: Conversations) -> None:
    talk = fill(talks, "me")
    layer = history(talks)
    (note,) = layer.recall(recall(CEILING, talk), 3)
    answered = "The deficit ceiling is 3.0 per cent of output."
    assert note.text == f"Asked: What is the deficit ceiling? Answered: {answered}"
    assert note.source.startswith("this conversation, exchange 1, ")
    assert layer.recall(recall("How tall is the lighthouse?", talk), 3) == []
    (asked,) = layer.recall(recall("Remind me: what about the deficit?", talk), 3)
    assert "3.0 per cent" in asked.text


def test_other_conversations_are_recalled_only_where_their_owner_allows_it(talks: Conversations) -> None:
    fill(talks, "me")
    private = talks.begin("me", private=True)
    tell(talks, private, CEILING, "A secret.")
    now = talks.begin("me")
    layer = history(talks)
    tell(talks, now, "Hello there?", "Hello.")
    assert layer.recall(recall(CEILING, now), 3) == []
    talks.choose(now, "me", compresses=True, recalls_others=True)
    (note,) = layer.recall(recall(CEILING, now), 3)
    assert note.source.startswith("another of your conversations, exchange 1, ")
    assert "secret" not in note.text


def test_a_refusal_is_not_recalled_unasked(talks: Conversations) -> None:
    talk = talks.begin("me")
    tell(talks, talk, CEILING, "Not in these documents. No page is about it.")
    assert history(talks).recall(recall(CEILING, talk), 3) == []


def said(number: int, answer: str) -> StoredExchange:
    return StoredExchange("c", number, f"Question {number}?", answer, "complete", answer, float(number))


COST = "The cost is $4.5 million (Rules.pdf, p. 8)."
DEBT = "Debt is 60 per cent of output (Rules.pdf, p. 2)."


@pytest.fixture
def told() -> list[StoredExchange]:
    return [
        said(1, f"{COST} It may rise. See p. 9 of the annex."),
        said(2, "Nothing was found."),
        said(3, f"{DEBT} The anchor holds (Rules.pdf, p. 2)."),
    ]


def test_a_summary_keeps_cited_facts_word_for_word(told: list[StoredExchange]) -> None:
    model = ScriptedModel(["They spoke of ", "costs.\n\nAnd debt."])
    made = summarise(told, model)
    assert made == Summary(1, 3, f"They spoke of costs. And debt.\n{COST}\n{DEBT}", "scripted")
    messages, *_ = model.calls[0]
    _, (_, user) = messages
    assert "User: Question 1?" in user


def test_exchanges_are_summarised_once_and_in_blocks(talks: Conversations) -> None:
    talk = talks.begin("me")
    layer = SummaryLayer(talks)

    def due(before: int = 99) -> list[int]:
        return [one.number for one in layer.due(talk, "me", before)]

    for number in range(2 * BLOCK):
        assert (due() != []) == (number == BLOCK)
        if number == BLOCK:
            assert due() == list(range(1, BLOCK + 1))
            exchanges = layer.due(talk, "me", 99)
            made = summarise(exchanges, ScriptedModel(["Five questions."]))
            talks.keep_summary(talk, made)
        tell(talks, talk, f"Question {number}?", "Answer.")
    assert due() == list(range(BLOCK + 1, 2 * BLOCK + 1))
    assert due(BLOCK + 3) == []
