"""Recognises advice in what a user writes, "when … then …".

It splits the advice into its situation and its recommendation.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Advice", "advice_of"]

# Characters of a line that may be advice; a longer one is a text to be added.
LONGEST_ADVICE = 2_000
# Words that may come before the condition.
LEAD = re.compile(
    r"(?:(?:please|ok|okay|so|and|now|well|also)[ ,]+){0,3}"
    r"(?:(?:remember|note|keep in mind|bear in mind|record|save|learn|advice|a rule|rule|lesson)(?: this"
    r"| that| for later)?[ ,:;–—-]+){0,2}(?:that )?",
    re.I,
)
CONDITION = re.compile(
    r"(?P<word>when(?:ever)?|if|in case|once|as soon as|every time|each time)(?: that)? ", re.I
)
# What joins the two parts. A hurried writer leaves out the comma before it.
THEN = re.compile(r" ?[,;:–—-]? ?\bthen\b[ ,:]{1,2}", re.I)
# A condition that begins like this belongs to a question: "when was it raised", "if so".
ASKS = re.compile(
    (
        r"(?:did|do|does|is|are|was|were|will|would|can|could|shall|should|has|have|had|may|might|so|not|yes"
        r"|no)\b"
    ),
    re.I,
)
# The beginning of a request to the chatbot.
REQUEST = re.compile(
    r"(?:please |can you |could you |would you )?(?:tell|show|explain|list|give|find|compute|calculate"
    r"|compare|summari[sz]e|"
    r"answer|say|quote|did|does|do you|is|are|was|were|can|could|will|would|has|have|had)\b",
    re.I,
)
# A question word, with a preposition before it ("at what rate", "since when is"), or a verb before its
# subject ("must it be reported").
QUESTION = re.compile(
    r"(?:please )?(?:(?:about|after|against|at|before|between|by|during|for|from|in|into|of|on|over"
    r"|since|through|till?|to|under|until|up to|upon|with|within) )?"
    r"(?:(?:what|which|who|whom|whose|why|how|where)\b|when (?:am|are|can|could|did|do|does|had|has|have|is"
    r"|may|might|must|shall|should|was|were|will|would)\b)"
    r"|(?:am|may|might|must|need|ought|shall|should) (?:a|all|an|any|anybody|anyone|each|every|everybody"
    r"|everyone|he|her|his|i|it|its|my|nobody|one|our|she|that|the"
    r"|their|there|these|they|this|those|we|you|your)\b"
    r"|(?:may|might|must|shall|should) (?!(?:also|always|be|have|never|not|only"
    r"|still) )[\w'’-]+ (?:[\w'’-]+ ){0,3}?(?:be|have)\b",
    re.I,
)
# A statement about the past, by its verb: an irregular one, or a regular one after a plural noun or after an
# article and its noun. Advice has none, except after a word of duty ("the council must be told").
DUTY = re.compile(r"\b(?:must|should|shall|ought|needs?|has to|have to|is to|are to|may|let)\b", re.I)
WAS = re.compile(
    r"(?:(?:a|all|an|both|each|every|he|her|his|i|it|its|most|my|our|she|some|that|the|their|there|these"
    r"|they|this|those|we|you|your)"
    r" (?:(?!(?:are|be|has|have|is|that|what|which|who) )[\w%'’-]+ ){0,4}?"
    r"|[\w'’-]+ )"
    r"(?:was|were|had|did|rose|fell|went|came|took|became|began|broke|chose|drew|drove|flew|gave|grew|knew"
    r"|sank|saw|shrank|sprang|spoke|threw|wrote)\b"
    r"|(?:it|they|he|she|we|i|you|[\w-]*[^\Wsu]s|(?:the|a|an|this|that|its|their|our)(?: (?!(?:\w+ly|are|be"
    r"|get|gets|is|less|least|more|most|so|well) )"
    r"[\w'’-]+){1,2}) [\w-]{2,}ed\b(?! (?:\w+ ){0,2}(?:is|are|will)\b)",
    re.I,
)
# Letters that either side has at least: "when then" says nothing.
FEWEST_LETTERS = 4


@dataclass(frozen=True, slots=True)
class Advice:
    """A recommendation and the situation that it is for."""

    situation: str
    recommendation: str


def advice_of(line: str) -> Advice | None:
    """The advice that a whole line is, split at its first "then".

    None for questions, requests and anything else. Linear in the length of the line.
    """
    text = " ".join(line[: LONGEST_ADVICE + 1].split())
    if len(text) > LONGEST_ADVICE or text.endswith(("?", "?”", '?"')):
        return None
    lead = LEAD.match(text)
    condition = CONDITION.match(text, lead.end() if lead else 0)
    if not condition:
        return None
    joint = THEN.search(text, condition.end())
    if not joint:
        return None
    situation = text[condition.end() : joint.start()].strip(" ,;:–—-")
    recommendation = text[joint.end() :].strip().rstrip(".! ")
    if _letters(situation) < FEWEST_LETTERS or _letters(recommendation) < FEWEST_LETTERS:
        return None
    if ASKS.match(situation) or REQUEST.match(recommendation) or QUESTION.match(recommendation):
        return None
    if WAS.match(recommendation) and not DUTY.search(recommendation):
        return None
    return Advice(situation, recommendation)


def _letters(text: str) -> int:
    return sum(map(str.isalpha, text))
