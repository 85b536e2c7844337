"""Tells whether two questions of near meaning ask for the very same thing.

It compares words and their order, and needs no vector and no case.
"""

from __future__ import annotations

import re

from chatbot.memory.cases.records import same_question
from chatbot.search.question_terms import understand
from ingestion.language.currencies import DRAWN_SIGNS
from ingestion.language.terms import spelled_out, terms

__all__ = ["asks_the_same"]

# Ways to ask for the same thing, each rewritten as another, so that the remaining words tell questions apart.
# Each pattern is bounded, so that the whole is linear.
WAYS = tuple(
    (re.compile(pattern, re.I), put)
    for pattern, put in (
        (
            (
                r"^\W{0,9}(?:(?:please|kindly|tell me|show me|give me|can you|could you|do you know"
                r"|i (?:want|would like) to know)\b[\s,:]{0,3}){1,4}"
            ),
            "",
        ),
        (r"\bper ?cent(?:age)?\b", "%"),
        (r"(?<=[a-z])-to-(?=[a-z])", " to "),
        (r"\b(?:has|have|had|needs?) to\b", "must"),
        (r"\b(?:by when|(?:in|on) (?:what|which) (?:year|date|day))\b", "when"),
        (r"\bby whom\b", "who"),
        (r"\bspent\b", "spending"),
        (r"\bpermitted\b", "allowed"),
        (r"\bhow much of\b", "what share of"),
        (r"\bwhat (?:is|was|are|were) the number of\b", "how many"),
        (r"\bwhat (is|was|are|were) the (?:amount|size|level|total amount) of\b", r"what \1"),
        (r"\bhow (?:much|large|big|high|great) (is|was|are|were)\b", r"what \1"),
        (r"\bhow (?:is|are|was|were) (.{1,80}?) defined\b", r"what is the definition of \1"),
        (
            (
                r"\bunder (?:what|which) (conditions|circumstances) (?:is|are|can"
                r"|may) (.{1,80}?) (?:possible|allowed|permitted)\b"
            ),
            r"what are the \1 for \2",
        ),
        (
            r"\b(what|which|how many) ([\w' -]{1,60}?) (?:do|does|did) ([\w'. -]{1,60}?) have\b",
            r"\1 \2 of \3",
        ),
        (r"\b(?:apply|applies|applied|applying|applicable) to\b", "for"),
        (r"\b(?:as an? (?:share|%|proportion|fraction)|in %) of (?:the )?([\w-]{1,40})", r"to \1 ratio"),
        (r"\bratio of (?:the )?(.{1,60}?) to (?:the )?([\w-]{1,40})", r"\1 to \2 ratio"),
        (r"n['’]t\b", " not"),
    )
)
WORD = re.compile(rf"\d[\d.,]*|[^\W\d_]+(?:['’][^\W\d_]+)*|(?<![\w)])[-−+<>≤≥](?=\s?\d)|[%{DRAWN_SIGNS}]")
# Words that join a thing to its owner, so that "the ceiling for the deficit" is "the deficit ceiling".
LINKS = frozenset("of for on in at within by".split())
# Words that begin a new part and mean nothing themselves.
ARTICLES = frozenset("the a an its their his her our your my these those".split())
# Words that name no subject and yet change what is asked: words of direction, time, measure and negation, and
# those that ask who or when.
TURNS = frozenset(
    """
        to from into onto per over under against than versus vs minus less more most least fewer no not
        never without except excluding including this last next previous prior current now before after
        until since above below between if unless or only both each every all who whom whose when where
        why
    """.split()
)
# A letter or a short name that looks like a word without meaning: "class A", "the US", "in May". "I" and the
# first word of a sentence do not count.
NAMED = re.compile(r"\b(?!I\b)[A-Z]{2,}\b|(?<=[\w,] )(?!I\b)[A-Z][a-z]*\b")


def asks_the_same(question: str, other: str) -> bool:
    """Whether two questions of near meaning ask for the very same thing, in whatever words.

    They must ask for the same figures, years, names and things. It errs towards no: only words and their
    order tell what exceeds what, what is paid to whom, and a rate from what it is a rate of.
    """
    if same_question(question) == same_question(other):
        return True
    if _asked(question) != _asked(other):
        return False
    return (understand(question, question).form == "yes_no") == (understand(other, other).form == "yes_no")


def _asked(question: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What is left of a question without its way of asking.

    Returns (its numbers in order, its words in the order of "whose what").
    """
    text = spelled_out(question)
    for pattern, replacement in WAYS:
        text = pattern.sub(replacement, text)
    named = () if text.isupper() else frozenset(match.start() for match in NAMED.finditer(text))
    numbers: list[str] = []
    words: list[str] = []
    # Parts that links join. The last part comes first: "the accounts of the state".
    parts: list[list[str]] = [[]]
    linked = False
    for match in WORD.finditer(text):
        word = match[0].casefold()
        is_named = match.start() in named
        if word[0].isdigit():
            numbers.append(word.replace(",", "").rstrip("."))
        elif word in LINKS and not is_named:
            linked = bool(parts[-1])
        elif term := _term(match[0], named=is_named):
            if linked:
                parts.append([])
            linked = False
            parts[-1].append(term)
        elif not (word in ARTICLES and linked):
            words += _joined(parts)
            if word in TURNS or word == "many":
                words.append(word)
            parts, linked = [[]], False
    return tuple(numbers), (*words, *_joined(parts))


def _joined(parts: list[list[str]]) -> list[str]:
    return [term for part in reversed(parts) for term in part]


def _term(word: str, *, named: bool) -> str:
    """What a word means, "" if it means nothing or only relates the others to each other.

    named: it is written like a name.
    """
    folded = word.casefold()
    if folded in TURNS and not named:
        return ""
    found = " ".join(terms(word))
    if found:
        return found
    return folded if named or not word[0].isalpha() else ""
