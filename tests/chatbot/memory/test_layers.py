"""The memories of conversations: what every layer owes, and what history and summary recall."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from chatbot.memory.conversations.conversation_store import Conversations, StoredExchange, Summary
from chatbot.memory.conversations.history import HistoryLayer, likeness_of, rank_exchanges
from chatbot.memory.conversations.summary import BLOCK, SummaryLayer, cited_facts, summarise
from chatbot.memory.layers import MemoryLayer
from chatbot.memory.memory_database import MemoryDatabase
from chatbot.records import Answer, Recall
from tests.fakes import HashEmbedder, ScriptedModel

EMBEDDER = HashEmbedder(dimension=256)
TOPICS = {
    "What is the deficit ceiling?": "The deficit ceiling is 3.0 per cent of output.",
    "Who audits the accounts?": "The Court of Auditors audits the accounts.",
    "When is harvest reported?": "Harvest is reported in September.",
}


def tell(talks: Conversations, talk: str, question: str, text: str, owner: str = "me") -> int:
    number = talks.start(talk, question)
    talks.finish(talk, number, Answer(question, question, text, True), {}, owner=owner)
    talks.keep_vector(talk, number, EMBEDDER.fingerprint, EMBEDDER.embed([f"{question}\n{text}"])[0])
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
    return Recall(question, EMBEDDER.embed([question])[0], talk, owner, before=before)


@pytest.mark.parametrize("make", [history, summary], ids=["history", "summary"])
class TestEveryLayer:
    def test_gives_at_most_so_many_notes_that_say_where_they_come_from(
        self, talks: Conversations, make: Callable[[Conversations], MemoryLayer]
    ) -> None:
        talk, layer = fill(talks, "me"), make(talks)
        notes = layer.recall(recall("What is the deficit ceiling?", talk), 1)
        assert len(notes) == 1
        assert notes[0].layer == layer.name and notes[0].source and "deficit ceiling" in notes[0].text
        assert layer.recall(recall("What is the deficit ceiling?", talk), 0) == []

    def test_tells_nobody_of_somebody_elses(
        self, talks: Conversations, make: Callable[[Conversations], MemoryLayer]
    ) -> None:
        hers, mine = fill(talks, "her"), talks.begin("me")
        tell(talks, mine, "Hello there?", "Hello.")
        talks.choose(mine, "me", compresses=True, recalls_others=True)
        assert make(talks).recall(recall("What is the deficit ceiling?", mine), 5) == []
        if make is summary:
            assert make(talks).recall(recall("What is the deficit ceiling?", hers), 5) == []

    def test_leaves_out_what_the_prompt_has_anyway(
        self, talks: Conversations, make: Callable[[Conversations], MemoryLayer]
    ) -> None:
        talk = fill(talks, "me")
        assert make(talks).recall(recall("What is the deficit ceiling?", talk, before=1), 5) == []


def test_history_is_recalled_by_meaning_only_where_the_question_calls_for_it(talks: Conversations) -> None:
    talk, layer = fill(talks, "me"), HistoryLayer(talks, EMBEDDER)
    (note,) = layer.recall(recall("What is the deficit ceiling?", talk), 3)
    assert (
        note.text
        == "Asked: What is the deficit ceiling? Answered: The deficit ceiling is 3.0 per cent of output."
    )
    assert note.source.startswith("this conversation, exchange 1, ")
    assert layer.recall(recall("How tall is the lighthouse?", talk), 3) == []
    (asked,) = layer.recall(recall("Remind me: what about the deficit?", talk), 3)
    assert "3.0 per cent" in asked.text


def test_other_conversations_are_recalled_only_where_their_owner_allows_it(talks: Conversations) -> None:
    fill(talks, "me")
    private = talks.begin("me", private=True)
    tell(talks, private, "What is the deficit ceiling?", "A secret.")
    now, layer = talks.begin("me"), HistoryLayer(talks, EMBEDDER)
    tell(talks, now, "Hello there?", "Hello.")
    assert layer.recall(recall("What is the deficit ceiling?", now), 3) == []
    talks.choose(now, "me", compresses=True, recalls_others=True)
    (note,) = layer.recall(recall("What is the deficit ceiling?", now), 3)
    assert note.source.startswith("another of your conversations, exchange 1, ")
    assert "secret" not in note.text


def test_a_refusal_is_not_recalled_unasked(talks: Conversations) -> None:
    talk, layer = talks.begin("me"), HistoryLayer(talks, EMBEDDER)
    tell(talks, talk, "What is the deficit ceiling?", "Not in these documents. No page is about it.")
    assert layer.recall(recall("What is the deficit ceiling?", talk), 3) == []


def test_words_count_without_vectors_and_rare_ones_more() -> None:
    shares = likeness_of("deficit of Valmora", ["the deficit of the state", "the deficit", "Valmora", ""])
    assert shares[2] > shares[1] and shares[0] == shares[1] and shares[3] == 0
    assert likeness_of("the of", ["the of"]).tolist() == [0.0]
    said = [
        StoredExchange("c", number, text, "", "complete", "", float(number))
        for number, text in enumerate(["deficit", "audit", "deficit"], 1)
    ]
    assert [one.said.number for one in rank_exchanges(Recall("deficit", None, "c", "me"), said, {})] == [
        3,
        1,
        2,
    ]
    other = np.ones(3, np.float32)  # of another model
    assert (
        rank_exchanges(Recall("deficit", np.ones(2, np.float32), "c", "me"), said, {("c", 2): other})[
            0
        ].said.number
        == 3
    )


def said(number: int, answer: str) -> StoredExchange:
    return StoredExchange("c", number, f"Question {number}?", answer, "complete", answer, float(number))


def test_a_summary_keeps_cited_facts_word_for_word() -> None:
    told = [
        said(1, "The cost is $4.5 million (Rules.pdf, p. 8). It may rise. See p. 9 of the annex."),
        said(2, "Nothing was found."),
        said(3, "Debt is 60 per cent of output (Rules.pdf, p. 2). The anchor holds (Rules.pdf, p. 2)."),
    ]
    model = ScriptedModel(["They spoke of ", "costs.\n\nAnd debt."])
    made = summarise(told, model)
    assert made == Summary(
        1,
        3,
        (
            "They spoke of costs. And debt.\nThe cost is $4.5 million (Rules.pdf, p. 8).\nDebt is 60 per "
            "cent of output (Rules.pdf, p. 2)."
        ),
        "scripted",
    )
    assert "User: Question 1?" in model.calls[0][0][1][1]
    bracketed = "The cost is $4.5 million (Budget 2024 (1).pdf, p. 8; Annex.pdf, p. 2)."
    assert cited_facts([said(1, bracketed)]) == [bracketed]
    assert cited_facts(told, most_tokens=20) == ["The cost is $4.5 million (Rules.pdf, p. 8)."]


def test_exchanges_are_summarised_once_and_in_blocks(talks: Conversations) -> None:
    talk, layer = talks.begin("me"), SummaryLayer(talks)
    for number in range(2 * BLOCK):
        assert (layer.due(talk, "me", 99) != []) == (number == BLOCK)
        if number == BLOCK:
            due = layer.due(talk, "me", 99)
            assert [one.number for one in due] == list(range(1, BLOCK + 1))
            talks.keep_summary(talk, summarise(due, ScriptedModel(["Five questions."])))
        tell(talks, talk, f"Question {number}?", "Answer.")
    assert [one.number for one in layer.due(talk, "me", 99)] == list(range(BLOCK + 1, 2 * BLOCK + 1))
    assert layer.due(talk, "me", BLOCK + 3) == []


@pytest.mark.timed
def test_hostile_answers_take_no_time_to_find_facts_in() -> None:
    began = time.process_time()
    for text in ("(" * 50_000, "(a" * 20_000 + ", p. 1", "1 (" + "()" * 20_000, "(a)" * 20_000 + ", p. 8"):
        cited_facts([said(1, text)])
    assert time.process_time() - began < 3
