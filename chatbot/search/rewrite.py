"""Makes a standalone query of a follow-up by carrying over what the exchanges before were about; rules only, no model."""

from __future__ import annotations

import re
from collections.abc import Sequence

from chatbot.records import Exchange
from chatbot.terms import content_terms

__all__ = ["is_follow_up", "standalone_query"]

# A question with fewer content terms than this cannot name measure, entity and period itself.
FEW_TERMS = 4
# Words that point back at what was said before.
POINTS_BACK = re.compile(
    r"^(and|but|so|or|also|what about|how about|what if|why|then|ok|okay|same)\b"
    r"|\b(it|its|they|them|their|this|that|these|those|there|he|she|one|ones|same|former|latter|previous|above|instead|compare[sd]?)\b",
    re.I,
)


def is_follow_up(question: str, exchanges: Sequence[Exchange]) -> bool:
    """True where `question` leans on the exchanges before it: it points back, or is too short to stand alone."""
    return bool(exchanges) and (bool(POINTS_BACK.search(question.strip())) or len(content_terms(question)) < FEW_TERMS)


def standalone_query(question: str, exchanges: Sequence[Exchange]) -> str:
    """The query to search: the question, preceded by the last question that stands alone where it is a follow-up."""
    if not is_follow_up(question, exchanges):
        return question
    for index in range(len(exchanges) - 1, -1, -1):
        if not is_follow_up(exchanges[index].user, exchanges[:index]):
            between = [exchange.user for exchange in exchanges[max(index, len(exchanges) - 2) :]]
            return " ".join(dict.fromkeys([exchanges[index].user, *between, question]))
    return " ".join([exchanges[-1].user, question])
