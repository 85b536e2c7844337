"""Scores how important a piece of a conversation is by the formula of the seed document.

It needs no question.
"""

from __future__ import annotations

import math
import re

__all__ = ["KEYWORDS", "seed_importance"]

# The seed document's weights; they sum to 1.
LENGTH = 0.2
KEYWORD = 0.4
RECENCY = 0.2
PATTERN = 0.2
# The seed document's tiers.
TIERS = {
    1.0: (
        "price earnings revenue profit loss margin ratio dividend yield market stock bond inflation gdp fed "
        "rate growth"
    ),
    0.6: "company business industry sector share invest trade capital asset debt equity",
    0.3: "report analysis forecast trend data information",
}
KEYWORDS = {word: weight for weight, words in TIERS.items() for word in words.split()}
# Keywords of this total weight, and of more, count in full.
MOST_KEYWORDS = 5.0
# The pattern score of a question, and of an answer.
ASKS = ANSWERS = 0.1
WORD = re.compile(r"[^\W\d_]+")


def seed_importance(text: str, position: int, total: int, *, answers: bool) -> float:
    """0.2 length + 0.4 keywords + 0.2 recency + 0.2 pattern, above 0 and below 1.

    position: of the piece among `total`, from 0. answers: whether the piece before it is a question. Each
    keyword counts once, as a whole word.
    """
    word_count = max(len(text.split()), 1)
    length = 1 / (1 + math.log(word_count))
    words = set(WORD.findall(text.lower()))
    keyword_weight = sum(KEYWORDS.get(word, 0.0) for word in words)
    keywords = min(keyword_weight / MOST_KEYWORDS, 1.0)
    is_question = "?" in text or "？" in text
    pattern = ASKS * is_question + ANSWERS * answers
    return LENGTH * length + KEYWORD * keywords + RECENCY * (position + 1) / total + PATTERN * pattern
