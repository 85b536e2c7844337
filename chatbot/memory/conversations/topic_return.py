"""What a question goes back to in its conversation, and what is searched for it then; rules only, reads no
store.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ingestion.language.terms import content_terms, terms

__all__ = ["TopicReturn", "asks_again", "goes_back"]

# A question that begins by going back, what it goes back to, and what it asks after that.
RETURNS = re.compile(
    r"^\W*(?:(?:please|now|so|ok|okay|well|let['’]?s|let us|can we|could we|shall we|i['’]d like to"
    r"|i would like to|i want to)[ ,]+){0,3}"
    r"(?:(?:go|going|come|coming|get|getting|jump|switch) back to|back to"
    r"|return(?:ing)? to)\b(?P<topic>[^.?!:;,]{0,200})(?P<rest>.*)",
    re.I | re.S,
)
# Words by which a question speaks of what was said before; they are no part of what it asks for. Words that
# speak of the matter as often ("at the start of the year", "earlier than 2030", "we gave in grants") count
# only where they speak of the talk.
TALK = r"(?:this|our|the) (?:conversation|chat|talk|discussion)"
SPEAKS_OF_BEFORE = re.compile(
    r"\b(?:(?:which |that |what |as )?(?:you (?:just |already |first )?(?:said|told me|mentioned|gave me"
    r"|quoted|cited|answered)"
    r"|(?:we|i) (?:just |already |first )?(?:discussed|talked about|spoke about|asked about|asked you))"
    rf"(?: (?:earlier|before|at the (?:very )?(?:beginning|start)(?: of {TALK})?))?"
    r"|did (?:you (?:just |already |first )?(?:say|tell me|mention|give me|quote|cite|answer)"
    r"|(?:we|i) (?:just |already |first )?(?:discuss|talk about|speak about|ask about|ask you))"
    rf"(?: (?:earlier|before|at the (?:very )?(?:beginning|start)(?: of {TALK})?))?"
    rf"|remind me(?: again)?(?: of| about)?|(?:earlier|at the (?:very )?(?:beginning|start)) (?:in|of) {TALK}"
    rf"|in (?:your|my) (?:very )?(?:first|earlier|previous|last) (?:question|answer)|in {TALK})\b",
    re.I,
)
AGAIN = re.compile(r"\b(?:earlier|before|again)(?=\W*$)", re.I)
# What is left of a topic without the words that only say it is one.
TOPIC_WORDS = re.compile(
    (
        r"\b(?:the|our|my|your|that|this|topic|subject|matter|question|issue|discussion|conversation|earlier"
        r"|previous|first|of|about|on|thing|again)\b"
    ),
    re.I,
)


@dataclass(frozen=True, slots=True)
class TopicReturn:
    """topic: what to look for among the exchanges. question: what is asked beside it, "" where the topic
    is all.
    """

    topic: str
    question: str


def goes_back(question: str) -> TopicReturn | None:
    """What a question goes back to; None where it does not."""
    found = RETURNS.match(question[:2_000])
    if found:
        topic = " ".join(TOPIC_WORDS.sub(" ", found["topic"]).split())
        rest = found["rest"].strip(" .:;,!\n")
        if topic or rest:
            return TopicReturn(topic or rest, rest if content_terms(rest) or "?" in rest else "")
        return None
    if SPEAKS_OF_BEFORE.search(question[:2_000]):
        topic = " ".join(AGAIN.sub(" ", SPEAKS_OF_BEFORE.sub(" ", question[:2_000])).split())
        if content_terms(topic):
            return TopicReturn(topic, question)
        return None
    return None


def asks_again(back: TopicReturn, said: str) -> bool:
    """Whether nothing is asked beyond what was said: then the question of that time is the one to search.
    said: that question with its answer.
    """
    return not back.question or set(content_terms(back.topic)) <= set(terms(said))
