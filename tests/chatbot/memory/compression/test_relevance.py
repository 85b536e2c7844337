"""What a message has to do with a question, and what it has to tell without one; held by order alone, for
the numbers mean nothing.
"""

import numpy as np

from chatbot.memory.compression.relevance import Relevance, holds_cited_figure
from ingestion.language.sentences import sentence_spans

TALK = """\
Ann: Hey Bob! How are you?
Bob: Great, thanks! And you?
Ann: I adopted a puppy from the shelter last Friday.
Bob: Wow! What is it called?
Ann: Biscuit.
Bob: A puppy was never for me.
Ann: That is a pity!
Bob: I started rowing in Oxford in 2019 with Mr. Lee.
Ann: Nice.""".splitlines()


def read(talk: list[str]) -> Relevance:
    return Relevance(list(map(sentences, talk)))


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


def best(talk: list[str], query: str, count: int = 1) -> list[int]:
    scores = read(talk).score(query).messages
    order = np.argsort(-scores)
    return [int(at) for at in order[:count]]


def test_what_is_asked_for_is_found_and_what_stands_beside_it() -> None:
    assert best(TALK, "When did Bob start rowing?") == [7]
    assert 4 in best(TALK, "What is Ann's puppy called?", 3)


def test_who_is_named_counts_more_than_who_repeats_the_word() -> None:
    assert best(TALK, "Which puppy did Ann get?") == [2]
    (first,) = best(TALK, "Does Bob like a puppy?")
    assert first in (5, 7)


def test_vectors_add_what_words_do_not_find() -> None:
    similarity = np.zeros(len(TALK))
    similarity[8] = 1.0
    relevance = read(TALK)
    plain = relevance.score("animals").messages
    helped = relevance.score("animals", similarity).messages
    assert plain.argmax() != 8
    assert helped.argmax() == 8


def test_without_a_question_facts_count_and_greetings_and_questions_do_not() -> None:
    scores = read(TALK).score("").messages
    facts = scores[[2, 7]]
    others = scores[[0, 1, 3]]
    assert sorted(best(TALK, "", 2)) == [2, 7]
    assert others.max() < facts.min()


def test_a_cited_figure_is_a_figure_with_its_page() -> None:
    assert holds_cited_figure("It was $4.5 million (page 8).")
    assert holds_cited_figure("It was 3 per cent [S1-ab].")
    assert not holds_cited_figure("See page 8.")
    assert not holds_cited_figure("It was $4.5 million in 2020.")
