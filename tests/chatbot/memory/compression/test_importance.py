"""The seed document's formula: its exact weights, its tiers, whole words."""

import math

import pytest

from chatbot.memory.compression.importance import KEYWORDS, seed_importance


def test_the_formula_is_the_seed_documents() -> None:
    # Six words, revenue 1.0 and company 0.6, last of four, no pattern.
    expected = 0.2 / (1 + math.log(6)) + 0.4 * 1.6 / 5 + 0.2 * 4 / 4
    assert seed_importance("the company had revenue last year", 3, 4, answers=False) == pytest.approx(
        expected
    )


def test_questions_and_answers_have_a_part_of_the_pattern_each() -> None:
    plain = seed_importance("what is it", 0, 1, answers=False)
    assert seed_importance("what is it?", 0, 1, answers=False) == pytest.approx(plain + 0.02)
    assert seed_importance("what is it?", 0, 1, answers=True) == pytest.approx(plain + 0.04)


def test_brevity_and_recency_are_preferred() -> None:
    assert seed_importance("short", 0, 2, answers=False) > seed_importance(
        "rather a lot longer", 0, 2, answers=False
    )
    assert seed_importance("same", 1, 2, answers=False) == pytest.approx(
        seed_importance("same", 0, 2, answers=False) + 0.1
    )


def test_keywords_are_whole_words_and_count_once() -> None:
    nothing = seed_importance("one two three", 0, 1, answers=False)
    assert seed_importance("federal pirate strategy", 0, 1, answers=False) == pytest.approx(nothing)
    assert seed_importance("Rate, rate: RATE!", 0, 1, answers=False) == pytest.approx(nothing + 0.4 / 5)


def test_keywords_are_capped() -> None:
    every = " ".join(KEYWORDS)
    words = len(KEYWORDS)
    assert seed_importance(every, 0, 1, answers=False) == pytest.approx(
        0.2 / (1 + math.log(words)) + 0.4 + 0.2
    )
    assert (
        words,
        sum(weight == 1.0 for weight in KEYWORDS.values()),
        sum(weight == 0.3 for weight in KEYWORDS.values()),
    ) == (34, 17, 6)


def test_nothing_is_as_brief_as_one_word() -> None:
    assert (
        seed_importance("", 0, 1, answers=False)
        == seed_importance("word", 0, 1, answers=False)
        == pytest.approx(0.4)
    )
