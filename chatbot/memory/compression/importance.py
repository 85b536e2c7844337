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
WORD = re.compile(r"\b[^\W\d_]+\b")


def _plural(word: str) -> str:
    if word.endswith("sis"):
        return f"{word[:-2]}es"
    if word.endswith("s"):
        return f"{word}es"
    return re.sub(r"y$", "ie", word) + "s"


SINGULARS = {word: word for word in KEYWORDS} | {_plural(word): word for word in KEYWORDS}


def seed_importance(text: str, position: int, total: int, *, answers: bool) -> float:
    """0.2 length + 0.4 keywords + 0.2 recency + 0.2 pattern, above 0 and below 1.

    position: of the piece among `total`, from 0. answers: whether the piece before it is a question. Each
    keyword counts once, as a whole word or its plural. The pattern score is 1 for a question and for its
    direct answer, else 0.
    """
    word_count = max(len(text.split()), 1)
    length = 1 / (1 + math.log(word_count))
    words = {SINGULARS.get(word) for word in WORD.findall(text.lower())}
    keyword_weight = sum(KEYWORDS[word] for word in words if word)
    keywords = min(keyword_weight / MOST_KEYWORDS, 1.0)
    pattern = float(answers or "?" in text or "？" in text)
    return LENGTH * length + KEYWORD * keywords + RECENCY * (position + 1) / total + PATTERN * pattern
