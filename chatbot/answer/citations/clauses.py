"""Knows a sentence's clauses and whether a page has the words of each in one place: what was done, and of
what; knows no keys and no figures.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, replace

from chatbot.answer.checks.figure_matches import figures_stating
from chatbot.evidence.page import PageEvidence
from chatbot.evidence.page_sentences import Stems, parted, stems_of
from chatbot.evidence.word_runs import comparable_words, tells
from ingestion.language.numbers import Figure, find_figures
from ingestion.language.opposites import DENIALS, MOVES, OPPOSITES

__all__ = ["BETWEEN_CLAUSES", "PAST", "VERB", "clauses_of", "has_clause", "is_aside", "says_clause", "unsaid"]

# Share of the words of a clause that stand in one sentence of the page, and of one with a figure in the
# sentences around.
LEAST_OF_CLAUSE, LEAST_WITH_FIGURE = 0.75, 0.4
# ... where nothing but these words says that it is this figure's place, anywhere and around the very figure.
LEAST_WITH_FIGURE_ALONE, LEAST_AT_FIGURE = 0.5, 0.4
# Telling words of a clause without a verb that is one of a list.
MOST_LISTED = 2
BETWEEN_CLAUSES = re.compile(r",(?!\d)|[;()\[\]，；（）]|\s(?:and|but|while)\s|\s[–—]\s", re.I)
_PARTS = re.compile(rf"{BETWEEN_CLAUSES.pattern}|:\s", re.I)
# Words that only join a sentence or a clause to another.
_JOINING = frozenset(
    (
        "however overall instead thus hence therefore moreover furthermore also notably contrast comparison "
        "addition namely respectively plus meanwhile"
    ).split()
)
# Verbs that say nothing without what goes with them, "went up", "took effect".
_LIGHT = frozenset(
    (
        "go goes went gone come comes came bring brings brought run runs ran put puts take takes took taken "
        "see sees saw seen got gets keeps kept"
    ).split()
)
# Who issues a document, which its pages speak of by its name or as "we".
_ISSUER = re.compile(
    (
        r"\b(?:the|this) (?:company|firm|group|bank|government|institution|agency|authority|city|country"
        r"|report|document|filing|speech)\b"
    ),
    re.I,
)
# Verbs that make a sentence of a few words.
VERB = re.compile(
    (
        r"\b(?:is|are|was|were|has|have|had|will|would|shall|should|must|may|might|can|could|do|does|did"
        r"|cannot)\b"
    ),
    re.I,
)
# A past form and what was done to whom: "abolished the debt anchor".
PAST = re.compile(r"\b[a-z]{2,}ed (?:(?:the|a|an|its|their|all|his|her)\b|(?-i:[A-Z])\w+)", re.I)
_MOVING = stems_of(" ".join(MOVES[0] | MOVES[1]))
# How someone speaks, which the page need not say.
_REPORTING = frozenset(
    "called described explained noted stressed argued remarked mentioned named listed linked tied".split()
)
# What something is put down to.
_CAUSE = re.compile(
    r"\b(?:(?:due|owing|thanks|attributable|attributed) (?:\w+ly |in part )?to|because of"
    r"|driven (?:\w+ly )?by|caused by|result(?:ed|ing)? from)\s+"
    r"([^,;:.()]{1,200})",
    re.I,
)
_WORD = re.compile(r"[^\W\d_]{3,}")
_CAPITAL = re.compile(r"\b[A-ZÀ-ÖØ-Þ][^\W\d_]+")
# How much and which way is said in many words.
_DIRECTIONS = (
    *MOVES,
    frozenset("stronger weaker greater larger smaller bigger better worse strong weak continued".split()),
)
_BEING = re.compile(r"\b(?:is|are|was|were)\s+([^\W\d_]+)\W*\Z", re.I)


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a sentence with telling words of its own. words: these, stemmed; figures: those it has, which
    are checked for themselves. verb: whether it has one of those that make a sentence. core: of its words
    those that no place may lack, what was done or what something is. said: all of them, as they are compared.
    named: whether one that tells begins with a capital letter. listed: whether it is too short for a sentence
    and has no verb, as "wages" in "salaries, wages and benefits"."""

    words: frozenset[str]
    figures: tuple[Figure, ...]
    verb: bool
    listed: bool
    core: frozenset[str]
    said: frozenset[str]
    named: bool


def clauses_of(said: str) -> list[Clause]:
    """The parts of a sentence that say something, in order. A figure without words, ", at 5 million", is
    of the part before it.
    """
    found: list[Clause] = []
    for part in _PARTS.split(said):
        figures = tuple(find_figures(part))
        if words := _telling(part):
            verb = VERB.search(part) is not None
            named = bool(_telling(" ".join(_CAPITAL.findall(part))))
            listed = len(words) <= MOST_LISTED and not verb
            found.append(
                Clause(
                    words, figures, verb, listed, _core(part), frozenset(comparable_words(part).texts), named
                )
            )
        elif figures and found and not found[-1].verb and not found[-1].core:
            found[-1] = replace(found[-1], figures=(*found[-1].figures, *figures))
    return found


def has_clause(clause: Clause, page: Stems) -> bool:
    """Whether one place of the page has enough of a clause's words: a sentence of it, or what stands around
    one for a figure with its words, for these may be a row's, its head's and its table's."""
    if clause.figures and len(clause.words) == 1:  # "up 35%", "down from 142 million a year earlier"
        return True
    if clause.figures:
        return any(
            len(clause.words & place) >= LEAST_WITH_FIGURE * len(clause.words) for place in page.around
        )
    if clause.listed:
        return any(clause.words <= place for place in page.around)
    return any(_has_words(clause, place) for place in page.sentences)


def says_clause(clause: Clause, page: PageEvidence, asked: frozenset[str] = frozenset()) -> bool:
    """As has_clause, where nothing but the clause's words says what the page does: more of them beside a
    figure, and in a sentence none that turns the sense. asked: words of the question, which need not stand
    beside a figure once more."""
    if (clause.figures or clause.listed) and clause.said & DENIALS and DENIALS.isdisjoint(page.words.texts):
        return False
    if clause.figures:
        words = clause.words - _MOVING  # which way it went is checked with the figure
        if not _in_sense_at_figures(clause, page):
            return False
        if any(
            len(words & (place | asked)) >= LEAST_WITH_FIGURE_ALONE * len(words)
            for place in page.stems.around
        ):
            return True
        return any(
            len(words & (place | asked)) >= LEAST_AT_FIGURE * len(words)
            for place in _around_figures(clause, page)
        )
    if clause.listed:
        return has_clause(clause, page.stems)
    places = (
        span
        for span, place in zip(page.sentence_spans, page.stems.sentences, strict=True)
        if _has_words(clause, place)
    )
    return any(
        _in_one_sense(clause.said, frozenset(comparable_words(page.text[slice(*span)]).texts))
        for span in places
    )


def is_aside(clause: Clause) -> bool:
    """Whether a clause is one word, no name, beside a figure or by the way: "with a midpoint of 5", "for
    everyone else".
    """
    return (
        len(clause.words) == 1
        and not clause.named
        and (bool(clause.figures) or clause.listed)
        and DENIALS.isdisjoint(clause.said)
    )


def _around_figures(clause: Clause, page: PageEvidence) -> list[frozenset[str]]:
    """The words around the places at which a page has the clause's figures."""
    starts = [start for start, _ in page.sentence_spans]
    stated = (place for figure in clause.figures for place in figures_stating(figure, page))
    if starts:
        return [page.stems.around[max(0, bisect_right(starts, place.start) - 1)] for place in stated]
    return []


def _in_sense_at_figures(clause: Clause, page: PageEvidence) -> bool:
    """Whether a sentence or row of the page that has a clause's figures says nothing to the contrary of
    it; True where there is none.
    """
    stated = dict.fromkeys(
        (place.start, place.end) for figure in clause.figures for place in figures_stating(figure, page)
    )
    spans = (page.sentence_around(*place) for place in stated)  # one after another: the first mostly tells
    return not stated or any(
        _in_one_sense(clause.said, frozenset(comparable_words(page.text[slice(*span)]).texts))
        for span in spans
    )


def unsaid(said: str, page: PageEvidence, known: str) -> str:
    """A word of what was done, or of what something is put down to, that the page has not, though it has
    other words of the sentence; "" for none.

    What is told with a figure is left to the figure. known: what names may stand in beside the page:
    question, names of documents."""
    for part in _PARTS.split(said):
        done = PAST.search(part)
        cause = _CAUSE.search(part)
        if done and not find_figures(part):
            verb = str(done[0]).split()[0]
        else:
            verb = ""
        words: list[str] = [
            word
            for word in (verb, *_WORD.findall(cause[1] if cause else ""))
            if word.casefold() not in _REPORTING
        ]
        for word in words:
            stems = _telling(word)
            if (
                stems
                and not stems <= page.stems.all
                and not any(word.casefold() in one for one in _DIRECTIONS)
                and word not in known
            ):
                return word
    return ""


def _has_words(clause: Clause, place: frozenset[str]) -> bool:
    return clause.core <= place and len(clause.words & place) >= LEAST_OF_CLAUSE * len(clause.words)


def _in_one_sense(said: frozenset[str], there: frozenset[str]) -> bool:
    """Whether neither of two sets of words denies what the other does not, or has only the opposite of a
    word of the other.
    """
    if bool(said & DENIALS) != bool(there & DENIALS):
        return False
    both = (pair for one, other in OPPOSITES for pair in ((one, other), (other, one)))
    return not any(said & mine and there & its and not said & its and not there & mine for mine, its in both)


def _core(part: str) -> frozenset[str]:
    """The past form that says what was done, "abolished the anchor", and the one word behind "is" that
    says what something is, "is insolvent".
    """
    done = PAST.search(part)
    being = _BEING.search(part)
    return _telling(" ".join([done[0] if done else "", being[1] if being else ""]))


def _telling(text: str) -> frozenset[str]:
    """The terms of a text that are no figures and no words that go with any figure."""
    words = comparable_words(parted(_ISSUER.sub(" ", text))).texts
    return stems_of(
        " ".join(word for word in words if tells(word) and word not in _JOINING and word not in _LIGHT)
    )
