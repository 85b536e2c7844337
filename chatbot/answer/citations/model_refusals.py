"""Recognizes a chat model's refusal by how it begins, in its own words or in those it was told to use."""

from __future__ import annotations

import re

from chatbot.answer.citations.citation_keys import KEYS_IN_BRACKETS
from chatbot.answer.prompt import NOT_THERE
from chatbot.records import NOT_SURE

__all__ = ["is_refusal", "without_refusal"]

_AS_TOLD = re.compile(rf"\W*(?:answer\W{{1,6}})?{NOT_THERE}\b", re.IGNORECASE)
# The same with the marks around it, where no words of the sentence follow.
_AS_TOLD_ALONE = re.compile(
    rf"(?<![\s*_])[\s*_]*(?:answer\W{{1,6}})?{NOT_THERE}[*_]*(?:[.:;,!–—-][\s*_]*|\s*\Z)", re.IGNORECASE
)
_SOURCES = (
    r"(?:the|these|your|any of the) (?:provided |given |available |supplied |above )?"
    r"(?:excerpts?|documents?|sources?|pages?|passages?|context|texts?)(?: (?:provided|given|above"
    r"|supplied))?"
)
_LACK = (
    r"(?:do(?:es)? not|don['’]t|doesn['’]t|did not) (?:\w+ )?"
    r"(?:contain|state|give|show|include|report|mention|say|provide|specify|cover|have|answer|discuss"
    r"|address)"
)
_NONE = (
    r"(?:there (?:is|are) no|(?:i|we) (?:can ?not|can['’]t|could not|couldn['’]t|(?:am|are"
    r"|was) unable to|do not|don['’]t|did not|didn['’]t) "
    r"(?:find|answer|see|have|determine|locate|provide))"
)
_ASKED_FOR = (
    r"(?:information|data|figures?|details?|answer|mention|excerpts?|documents?|sources?|pages?|context"
    r"|question)"
)
# "I'm sorry, but the excerpts do not contain …", "Based on these sources, I cannot answer …", "The requested
# information is not available".
_POLITE = re.compile(
    rf"\W*(?:(?:i['’]?m|i am) (?:very )?(?:sorry|afraid)(?: that)?|sorry|unfortunately|apologies"
    rf"|regrettably)?\W*(?:but )?"
    rf"(?:(?:based on|according to|from|in|looking at) {_SOURCES}\W{{0,3}})?"
    rf"(?:{_SOURCES} {_LACK}|{_NONE}\b[^.!?\n]*\b{_ASKED_FOR}|"
    rf"(?:the |this )?(?:requested |required |relevant )?{_ASKED_FOR}[^.!?\n]{{0,80}}\b(?:is|are|was|can"
    rf"|could)(?: ?not|n['’]t)\b)",
    re.IGNORECASE,
)


def without_refusal(text: str) -> str:
    """A refusal without the words that it was told to begin with; "" if it has no others."""
    return _AS_TOLD_ALONE.sub("", text.strip().removeprefix(NOT_SURE), count=1).strip()


def is_refusal(text: str) -> bool:
    """Whether a reply begins with the words for what is not there, or says so politely and nothing else.

    A second sentence that cites makes a polite one an answer.
    """
    reply = text.strip()
    if _AS_TOLD.match(reply) or reply.startswith(NOT_SURE):
        return True
    return _POLITE.match(reply) is not None and not KEYS_IN_BRACKETS.search(reply)
