"""What a message has to do with a question, and what it has to tell without one; held by order alone, for
the numbers mean nothing.
"""

import numpy as np
import pytest

from chatbot.memory.compression.relevance import Relevance, holds_cited_figure
from ingestion.language.sentences import sentence_spans

TALK = [
    "Ann: Hey Bob! How are you?",
    "Bob: Great, thanks! And you?",
    "Ann: I adopted a puppy from the shelter last Friday.",
    "Bob: Wow! What is it called?",
    "Ann: Biscuit.",
    "Bob: A puppy was never for me.",
    "Ann: That is a pity!",
    "Bob: I started rowing in Oxford in 2019 with Mr. Lee.",
    "Ann: Nice.",
]


def read(talk: list[str]) -> Relevance:
    return Relevance(list(map(sentences, talk)))


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


def best(talk: list[str], query: str, count: int = 1) -> list[int]:
    return [int(at) for at in np.argsort(-read(talk).score(query).messages)[:count]]


def test_what_is_asked_for_is_found_and_what_stands_beside_it() -> None:
    assert best(TALK, "When did Bob start rowing?") == [7]
    assert 4 in best(TALK, "What is Ann's puppy called?", 3)


def test_who_is_named_counts_more_than_who_repeats_the_word() -> None:
    assert best(TALK, "Which puppy did Ann get?") == [2]
    assert best(TALK, "Does Bob like a puppy?")[0] in (5, 7)


def test_a_label_that_stands_once_is_no_speaker() -> None:
    scores = (
        read(["Note: the rate rose.", "It fell again.", "Then it rose."])
        .score("What does the note say?")
        .messages
    )
    assert scores.argmax() == 0 and np.ptp(scores) < 10


def test_vectors_add_what_words_do_not_find() -> None:
    similarity = np.zeros(len(TALK))
    similarity[8] = 1.0
    plain, helped = read(TALK).score("animals").messages, read(TALK).score("animals", similarity).messages
    assert plain.argmax() != 8 and helped.argmax() == 8


def test_without_a_question_facts_count_and_greetings_and_questions_do_not() -> None:
    scores = read(TALK).score("").messages
    assert list(np.argsort(-scores)[:2]) in ([2, 7], [7, 2])
    assert scores[[0, 1, 3]].max() < scores[[2, 7]].min()


def test_sentences_of_one_message_are_told_apart() -> None:
    talk = [
        (
            "Good evening to you. The deficit was $4.5 million in 2020 (page 8). That is all there is. "
            "Growth was strong and broad."
        )
    ]
    relevance = read(talk)
    assert relevance.score("How high was the deficit?").sentences.argmax() == 1
    assert relevance.score("").sentences.argmax() == 1


@pytest.mark.parametrize(
    "talk", [[], [""], ["", "a"], ["?"], ["same", "same", "same"], ["\ud800 x", "<|endoftext|>"]]
)
def test_any_conversation_has_finite_scores(talk: list[str]) -> None:
    for query in ("", "  ", "same", "who?", "<|endoftext|>"):
        scores = read(talk).score(query)
        assert len(scores.messages) == len(talk)
        assert np.isfinite(scores.messages).all() and np.isfinite(scores.sentences).all()


def test_a_cited_figure_is_a_figure_with_its_page() -> None:
    assert holds_cited_figure("It was $4.5 million (page 8).") and holds_cited_figure(
        "It was 3 per cent [S1-ab]."
    )
    assert not holds_cited_figure("See page 8.") and not holds_cited_figure("It was $4.5 million in 2020.")
