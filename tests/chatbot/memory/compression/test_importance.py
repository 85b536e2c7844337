"""The seed document's formula: its exact weights, its tiers, whole words and their plurals."""

import math
from collections import Counter

import pytest

from chatbot.memory.compression.importance import KEYWORDS, seed_importance


def alone(text: str) -> float:
    """The importance of the only message of a conversation, which answers nothing."""
    return seed_importance(text, 0, 1, answers=False)


# Worked by hand. length = 1 / (1 + ln words); keyword = weights / 5; recency = (position + 1) / total.
@pytest.mark.parametrize(
    ("text", "position", "total", "answers", "length", "keyword", "recency", "pattern"),
    [
        # Six words: 1 / (1 + 1.791759) = 0.358197; company .6 and revenue 1: 1.6 / 5.
        ("the company had revenue last year", 3, 4, False, 0.358197, 0.32, 1.0, 0),
        # Three words: 1 / (1 + 1.098612) = 0.476505; rate, price and bond, though all are plurals.
        ("rates, prices, bonds", 0, 2, False, 0.476505, 0.6, 0.5, 0),
        # The question of the seed document; a ratio alone is a keyword.
        ("What is the P/E ratio?", 0, 1, False, 0.383224, 0.2, 1.0, 1),
        # An answer right behind a question, with report .3 and data .3.
        ("report data", 1, 4, True, 0.590616, 0.12, 0.5, 1),
        # A question that is an answer too counts once.
        ("why?", 1, 2, True, 1.0, 0.0, 1.0, 1),
        # Never inside words.
        ("federal pirate strategy", 0, 1, False, 0.476505, 0.0, 1.0, 0),
        ("rate2 q3bond marketing stockings", 0, 1, False, 0.419060, 0.0, 1.0, 0),
        # Plurals of each kind.
        ("companies, industries, equities", 0, 1, False, 0.476505, 0.36, 1.0, 0),
        ("losses, businesses, analyses", 0, 1, False, 0.476505, 0.38, 1.0, 0),
        # A word and its plural are one keyword.
        ("Rate, rates: RATE!", 0, 1, False, 0.476505, 0.2, 1.0, 0),
        ("", 0, 1, False, 1.0, 0.0, 1.0, 0),
    ],
)
def test_the_four_parts_are_the_seed_documents(
    text: str,
    position: int,
    total: int,
    answers: bool,
    length: float,
    keyword: float,
    recency: float,
    pattern: int,
) -> None:
    expected = 0.2 * length + 0.4 * keyword + 0.2 * recency + 0.2 * pattern
    assert seed_importance(text, position, total, answers=answers) == pytest.approx(expected, abs=1e-6)


def test_keywords_are_capped() -> None:
    every = " ".join(KEYWORDS)
    brevity = 0.2 / (1 + math.log(len(KEYWORDS)))
    assert alone(every) == pytest.approx(brevity + 0.4 + 0.2)


def test_there_are_so_many_keywords_of_each_tier() -> None:
    weights = Counter(KEYWORDS.values())
    assert len(KEYWORDS) == 34
    assert (weights[1.0], weights[0.3]) == (17, 6)
