"""The seed document's formula: its exact weights, its tiers, whole words."""

import math
from collections import Counter

import pytest

from chatbot.memory.compression.importance import KEYWORDS, seed_importance


def alone(text: str) -> float:
    """The importance of the only message of a conversation, which answers nothing."""
    return seed_importance(text, 0, 1, answers=False)


def test_the_formula_is_the_seed_documents() -> None:
    # Six words, revenue 1.0 and company 0.6, last of four, no pattern.
    expected = 0.2 / (1 + math.log(6)) + 0.4 * 1.6 / 5 + 0.2 * 4 / 4
    importance = seed_importance("the company had revenue last year", 3, 4, answers=False)
    assert importance == pytest.approx(expected)


def test_questions_and_answers_have_a_part_of_the_pattern_each() -> None:
    plain = alone("what is it")
    asking = alone("what is it?")
    answering = seed_importance("what is it?", 0, 1, answers=True)
    assert asking == pytest.approx(plain + 0.02)
    assert answering == pytest.approx(plain + 0.04)


def test_brevity_is_preferred() -> None:
    short = seed_importance("short", 0, 2, answers=False)
    long = seed_importance("rather a lot longer", 0, 2, answers=False)
    assert short > long


def test_recency_is_preferred() -> None:
    first = seed_importance("same", 0, 2, answers=False)
    last = seed_importance("same", 1, 2, answers=False)
    assert last == pytest.approx(first + 0.1)


def test_keywords_are_whole_words_and_count_once() -> None:
    nothing = alone("one two three")
    assert alone("federal pirate strategy") == pytest.approx(nothing)
    assert alone("Rate, rate: RATE!") == pytest.approx(nothing + 0.4 / 5)


def test_keywords_are_capped() -> None:
    every = " ".join(KEYWORDS)
    brevity = 0.2 / (1 + math.log(len(KEYWORDS)))
    assert alone(every) == pytest.approx(brevity + 0.4 + 0.2)


def test_there_are_so_many_keywords_of_each_tier() -> None:
    weights = Counter(KEYWORDS.values())
    assert len(KEYWORDS) == 34
    assert weights[1.0] == 17
    assert weights[0.3] == 6


def test_nothing_is_as_brief_as_one_word() -> None:
    assert alone("") == alone("word") == pytest.approx(0.4)
