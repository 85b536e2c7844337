"""PURE: recognises advice in what a user writes, "when … then …", and tells its situation from its recommendation; keeps nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Advice", "advice_of"]

# Characters of a line that is advice; what is longer is a text to be added.
LONGEST_ADVICE = 2_000
# How a line may begin before its condition.
LEAD = re.compile(
    r"(?:(?:please|ok|okay|so|and|now|well|also)[ ,]+){0,3}"
    r"(?:(?:remember|note|keep in mind|bear in mind|record|save|learn|advice|a rule|rule|lesson)(?: this| that| for later)?[ ,:;–—-]+){0,2}(?:that )?",
    re.I,
)
CONDITION = re.compile(r"(?P<word>when(?:ever)?|if|in case|once|as soon as|every time|each time)(?: that)? ", re.I)
# What joins the two parts; the comma before it is what a hurried writer leaves out.
THEN = re.compile(r" ?[,;:–—-]? ?\bthen\b[ ,:]{1,2}", re.I)
# A condition that begins so is a question's own: "when was it raised", "if so".
ASKS = re.compile(r"(?:did|do|does|is|are|was|were|will|would|can|could|shall|should|has|have|had|may|might|so|not|yes|no)\b", re.I)
# What follows is wanted of the chatbot, now.
REQUEST = re.compile(
    r"(?:please |can you |could you |would you )?(?:what|which|who|whom|whose|why|how|where|tell|show|explain|list|give|find|compute|calculate|compare|summari[sz]e|"
    r"answer|say|quote|did|does|do you|is|are|was|were|can|could|will|would|has|have|had)\b",
    re.I,
)
# A few words at least on either side: "when then" says nothing.
FEWEST_LETTERS = 4


@dataclass(frozen=True, slots=True)
class Advice:
    """What to do, and when."""

    situation: str
    recommendation: str


def advice_of(line: str) -> Advice | None:
    """The advice that a whole line is, with the first "then" between its parts; None for questions, requests and anything else. Linear in the line."""
    text = " ".join(line[: LONGEST_ADVICE + 1].split())
    if len(text) > LONGEST_ADVICE or text.endswith(("?", "?”", '?"')):
        return None
    lead = LEAD.match(text)
    start = lead.end() if lead else 0
    condition = CONDITION.match(text, start)
    joint = THEN.search(text, condition.end()) if condition else None
    if not condition or not joint:
        return None
    situation, recommendation = text[condition.end() : joint.start()].strip(" ,;:–—-"), text[joint.end() :].strip().rstrip(".! ")
    if min(sum(map(str.isalpha, part)) for part in (situation, recommendation)) < FEWEST_LETTERS:
        return None
    if ASKS.match(situation) or REQUEST.match(recommendation):
        return None
    return Advice(situation, recommendation)
