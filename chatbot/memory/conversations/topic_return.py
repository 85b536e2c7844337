"""Tells what a question refers back to in its conversation, and what to search for then.

It uses rules only and reads no store.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ingestion.language.terms import content_terms, terms

__all__ = ["TopicReturn", "asks_again", "goes_back"]

# A question that begins by going back: the topic that it returns to, and the rest that it asks.
RETURNS = re.compile(
    r"^\W*(?:(?:please|now|so|ok|okay|well|let['’]?s|let us|can we|could we|shall we|i['’]d like to"
    r"|i would like to|i want to)[ ,]+){0,3}"
    r"(?:(?:go|going|come|coming|get|getting|jump|switch) back to|back to"
    r"|return(?:ing)? to)\b(?P<topic>[^.?!:;,]{0,200})(?P<rest>.*)",
    re.I | re.S,
)
# Words by which a question refers to what was said before. They are no part of what it asks for. Words that
# may as well concern the matter ("at the start of the year", "earlier than 2030", "we gave in grants") count
# only if they concern the conversation.
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
# Words that only say that something is a topic. They are taken out of it.
TOPIC_WORDS = re.compile(
    (
        r"\b(?:the|our|my|your|that|this|topic|subject|matter|question|issue|discussion|conversation|earlier"
        r"|previous|first|of|about|on|thing|again)\b"
    ),
    re.I,
)


@dataclass(frozen=True, slots=True)
class TopicReturn:
    """A return to an earlier topic.

    topic: what to look for among the exchanges.
    question: what is asked beside it, "" if the topic is all.
    """

    topic: str
    question: str


def goes_back(question: str) -> TopicReturn | None:
    """What a question goes back to, or None."""
    beginning = question[:2_000]
    found = RETURNS.match(beginning)
    if found:
        topic = " ".join(TOPIC_WORDS.sub(" ", found["topic"]).split())
        rest = found["rest"].strip(" .:;,!\n")
        if not topic and not rest:
            return None
        asks_more = content_terms(rest) or "?" in rest
        return TopicReturn(topic or rest, rest if asks_more else "")
    if not SPEAKS_OF_BEFORE.search(beginning):
        return None
    topic = " ".join(AGAIN.sub(" ", SPEAKS_OF_BEFORE.sub(" ", beginning)).split())
    if content_terms(topic):
        return TopicReturn(topic, question)
    return None


def asks_again(back: TopicReturn, said: str) -> bool:
    """Whether a question asks for nothing beyond what was said.

    Then the question of that time is the one to search for. said: that earlier question with its answer.
    """
    return not back.question or set(content_terms(back.topic)) <= set(terms(said))
