"""PURE: whether two questions of near meaning ask for the very same; compares words and their order, knows
no vector and no case.
"""

from __future__ import annotations

import re

from chatbot.memory.cases.records import same_question
from chatbot.search.question_terms import understand
from ingestion.language.currencies import DRAWN_SIGNS
from ingestion.language.terms import spelled_out, terms

__all__ = ["asks_the_same"]

# Ways to ask for one thing, each put into the words of another, so that what is left tells questions apart.
# Each is bounded, so that the whole is linear.
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
# What joins a thing to whose it is, so that "the ceiling for the deficit" is "the deficit ceiling".
LINKS = frozenset("of for on in at within by".split())
# What begins something new and says nothing itself.
ARTICLES = frozenset("the a an its their his her our your my these those".split())
# Words that carry no subject and yet turn a question into another one: of direction, time, measure and
# denial, and of who or when is asked for.
TURNS = frozenset(
    """
        to from into onto per over under against than versus vs minus less more most least fewer no not
        never without except excluding including this last next previous prior current now before after
        until since above below between if unless or only both each every all who whom whose when where
        why
    """.split()
)
# A letter or a short name that is written like a word without meaning: "class A", "the US", "in May"; but not
# "I", nor the word a sentence begins with.
NAMED = re.compile(r"\b(?!I\b)[A-Z]{2,}\b|(?<=[\w,] )(?!I\b)[A-Z][a-z]*\b")


def asks_the_same(question: str, other: str) -> bool:
    """Whether two questions of near meaning ask for the very same: the same figures, years, names and things,
    in whatever words they are asked for.

    It errs towards no: what exceeds what, what is paid to whom, a rate and what it is a rate of are told
    apart by words and their order alone.
    """
    if same_question(question) == same_question(other):
        return True
    if _asked(question) != _asked(other):
        return False
    return (understand(question, question).form == "yes_no") == (understand(other, other).form == "yes_no")


def _asked(question: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What is left of a question where the ways of asking are taken away: (its numbers in order, its words
    in the order of "whose what").
    """
    text = spelled_out(question)
    for pattern, put in WAYS:
        text = pattern.sub(put, text)
    named = () if text.isupper() else frozenset(match.start() for match in NAMED.finditer(text))
    numbers: list[str] = []
    words: list[str] = []
    # Parts that are joined by links, the last of which comes first: "the accounts of the state".
    parts: list[list[str]] = [[]]
    linked = False
    for match in WORD.finditer(text):
        word = match[0].casefold()
        if word[0].isdigit():
            numbers.append(word.replace(",", "").rstrip("."))
        elif word in LINKS and match.start() not in named:
            linked = bool(parts[-1])
        elif term := _term(match[0], named=match.start() in named):
            if linked:
                parts.append([])
            linked = False
            parts[-1].append(term)
        elif not (word in ARTICLES and linked):
            if word in TURNS:
                turn = [word]
            else:
                if word == "many":
                    turn = ["many"]
                else:
                    turn = []
            words += [*_joined(parts), *turn]
            parts, linked = [[]], False
    return tuple(numbers), (*words, *_joined(parts))


def _joined(parts: list[list[str]]) -> list[str]:
    return [term for part in reversed(parts) for term in part]


def _term(word: str, *, named: bool) -> str:
    """What a word says, "" where that is nothing, or only how the others stand to each other. named: it is
    written like a name.
    """
    if word.casefold() in TURNS and not named:
        return ""
    found = " ".join(terms(word))
    return found or (word.casefold() if named or not word[0].isalpha() else "")
