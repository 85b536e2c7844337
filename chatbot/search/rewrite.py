"""Makes a standalone query of a follow-up by carrying over what the exchanges before were about; rules only, no model."""

from __future__ import annotations

import re
from collections.abc import Sequence

from chatbot.records import Exchange
from chatbot.terms import content_terms

__all__ = ["is_follow_up", "standalone_query"]

# A question of fewer content terms than this names no subject of its own: "Why?", "in 2026?", "the year before?".
FEW_TERMS = 2
# Characters that an earlier question may add to a query.
LONGEST_CARRIED = 1_000
# Words that point back at what was said before: at the beginning, or standing for something that was named. "That" and "there" do so
# only where they are no conjunction ("a rule that …") and no existence ("are there …").
POINTS_BACK = re.compile(
    r"^(and|but|so|or|also|then|ok|okay|same)\b|^(what|how) about\b|^what if\b"
    r"|\b(it|its|they|them|their|these|those|he|she|ones|the same|former|latter|the previous one|instead)\b"
    r"|\b(of|for|from|than|by|after|before|under|is|was|does|did) (this|that)\b(?=[\s?.,]*(?:$|[?.,]|in\b|for\b|by\b|from\b|compare|(?:was|is|were|has|had)\b))"
    r"|^(is|was|has|have|had|will|would|can|could|does|did|do) (this|that)\b"
    r"|\b(do|does|did) (this|that)\b|\bhow do .{0,30}compare\b",
    re.I,
)


def is_follow_up(question: str, exchanges: Sequence[Exchange]) -> bool:
    """True where `question` leans on the exchanges before it: it points back, or is too short to stand alone."""
    return bool(exchanges) and (bool(POINTS_BACK.search(question.strip())) or len(content_terms(question)) < FEW_TERMS)


def standalone_query(question: str, exchanges: Sequence[Exchange]) -> str:
    """The query to search: the question, preceded by the last question that stands alone where it is a follow-up."""
    if not is_follow_up(question, exchanges):
        return question
    said = [exchange.user[:LONGEST_CARRIED] for exchange in exchanges]
    for index in range(len(said) - 1, -1, -1):
        if not is_follow_up(said[index], exchanges[:index]):
            return " ".join(dict.fromkeys([said[index], said[-1], question]))
    return " ".join([said[-1], question])
