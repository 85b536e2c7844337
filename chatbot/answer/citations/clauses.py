"""Cuts a sentence into clauses and tells whether a page says each of them in one place."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, replace

from chatbot.answer.checks.figure_matches import figures_stating
from chatbot.evidence.page import PageEvidence
from chatbot.evidence.page_sentences import Stems, parted, stems_of
from chatbot.evidence.word_runs import comparable_words, tells
from ingestion.language.numbers import Figure, find_figures
from ingestion.language.opposites import DENIALS, MOVES, OPPOSITES

__all__ = [
    "BETWEEN_CLAUSES",
    "PAST",
    "VERB",
    "clauses_of",
    "has_clause",
    "is_aside",
    "says_clause",
    "unsupported_clauses",
]

# Share of the words of a clause that must stand in one sentence of the page.
LEAST_OF_CLAUSE = 0.75
# Share of those of a clause with a figure that must stand in the sentences around.
LEAST_WITH_FIGURE = 0.4
# The same where nothing but these words shows that it is this figure's place: anywhere on the page, and
# around the very figure.
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
# The issuer of a document, of whom its pages speak by name or as "we".
_ISSUER = re.compile(
    r"\b(?:the|this) (?:company|firm|group|bank|government|institution|agency|authority|city|country"
    r"|report|document|filing|speech)\b",
    re.I,
)
# Verbs that make a sentence of a few words.
VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|will|would|shall|should|must|may|might|can|could|do|does|did"
    r"|cannot)\b",
    re.I,
)
# A past form and what was done to whom: "abolished the debt anchor".
PAST = re.compile(r"\b[a-z]{2,}ed (?:(?:the|a|an|its|their|all|his|her)\b|(?-i:[A-Z])\w+)", re.I)
_MOVING = stems_of(" ".join(MOVES[0] | MOVES[1]))
# Verbs for how someone speaks, which the page need not have.
_REPORTING = frozenset(
    "called described explained noted stressed argued remarked mentioned named listed linked tied".split()
)
# The cause that something is attributed to.
_CAUSE = re.compile(
    r"\b(?:(?:due|owing|thanks|attributable|attributed) (?:\w+ly |in part )?to|because of"
    r"|driven (?:\w+ly )?by|caused by|result(?:ed|ing)? from)\s+"
    r"([^,;:.()]{1,200})",
    re.I,
)
_WORD = re.compile(r"[^\W\d_]{3,}")
_CAPITAL = re.compile(r"\b[A-ZÀ-ÖØ-Þ][^\W\d_]+")
# Words for how much and which way: there are many ways to say it.
_DIRECTIONS = (
    *MOVES,
    frozenset("stronger weaker greater larger smaller bigger better worse strong weak continued".split()),
)
_BEING = re.compile(r"\b(?:is|are|was|were)\s+([^\W\d_]+)\W*\Z", re.I)


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a sentence with telling words of its own.

    words: these, stemmed.
    figures: those it has, which are checked for themselves.
    verb: whether it has one of the verbs that make a sentence.
    listed: whether it has no verb and is too short for a sentence, as "wages" in "salaries, wages and
        benefits".
    core: those of its words that no place may lack: what was done or what something is.
    said: all of its words, as they are compared.
    named: whether a telling word begins with a capital letter.
    """

    words: frozenset[str]
    figures: tuple[Figure, ...]
    verb: bool
    listed: bool
    core: frozenset[str]
    said: frozenset[str]
    named: bool


def clauses_of(said: str) -> list[Clause]:
    """The parts of a sentence that say something, in order.

    A figure without words, ", at 5 million", belongs to the part before it.
    """
    found: list[Clause] = []
    for part in _PARTS.split(said):
        figures = tuple(find_figures(part))
        if words := _telling_stems(part):
            found.append(_clause(part, words, figures))
        elif figures and found:
            before = found[-1]
            if not before.verb and not before.core:
                found[-1] = replace(before, figures=before.figures + figures)
    return found


def _clause(part: str, words: frozenset[str], figures: tuple[Figure, ...]) -> Clause:
    has_verb = VERB.search(part) is not None
    capitalized = " ".join(_CAPITAL.findall(part))
    return Clause(
        words=words,
        figures=figures,
        verb=has_verb,
        listed=len(words) <= MOST_LISTED and not has_verb,
        core=_core(part),
        said=frozenset(comparable_words(part).texts),
        named=bool(_telling_stems(capitalized)),
    )


def has_clause(clause: Clause, page: Stems) -> bool:
    """Whether one place of the page has enough of a clause's words.

    A place is a sentence of it. For a figure with its words it is what stands around a sentence, for these
    may be a row's, its head's and its table's.
    """
    if clause.figures and len(clause.words) == 1:  # "up 35%", "down from 142 million a year earlier"
        return True
    if clause.figures:
        return _has_share(clause.words, page.around, LEAST_WITH_FIGURE)
    if clause.listed:
        return any(clause.words <= place for place in page.around)
    return any(_has_words(clause, place) for place in page.sentences)


def _has_share(words: frozenset[str], places: Iterable[frozenset[str]], least: float) -> bool:
    """Whether one of some places has at least a share of some words."""
    return any(len(words & place) >= least * len(words) for place in places)


def says_clause(clause: Clause, page: PageEvidence, asked: frozenset[str] = frozenset()) -> bool:
    """Tells what has_clause tells, where nothing but the clause's words shows that the page says it.

    More of them must stand beside a figure, and none in a sentence may turn the sense.

    asked: words of the question, which need not stand beside a figure once more.
    """
    is_short = bool(clause.figures) or clause.listed
    if is_short and clause.said & DENIALS and DENIALS.isdisjoint(page.words.texts):
        return False
    if clause.figures:
        return _says_of_figures(clause, page, asked)
    if clause.listed:
        return has_clause(clause, page.stems)
    for span, place in zip(page.sentence_spans, page.stems.sentences, strict=True):
        if _has_words(clause, place) and _has_same_sense(clause, page, span):
            return True
    return False


def _says_of_figures(clause: Clause, page: PageEvidence, asked: frozenset[str]) -> bool:
    """Whether a page has a clause's figures with enough of its words."""
    if not _in_sense_at_figures(clause, page):
        return False
    words = clause.words - _MOVING  # which way it went is checked with the figure
    places = (place | asked for place in page.stems.around)
    if _has_share(words, places, LEAST_WITH_FIGURE_ALONE):
        return True
    places = (place | asked for place in _around_figures(clause, page))
    return _has_share(words, places, LEAST_AT_FIGURE)


def _has_same_sense(clause: Clause, page: PageEvidence, span: tuple[int, int]) -> bool:
    """Whether a stretch of a page does not say the contrary of a clause."""
    there = comparable_words(page.text[slice(*span)]).texts
    return _in_one_sense(clause.said, frozenset(there))


def is_aside(clause: Clause) -> bool:
    """Whether a clause is one word, and no name, beside a figure or by the way.

    Examples are "with a midpoint of 5" and "for everyone else".
    """
    if len(clause.words) != 1 or clause.named:
        return False
    if not clause.figures and not clause.listed:
        return False
    return DENIALS.isdisjoint(clause.said)


def _around_figures(clause: Clause, page: PageEvidence) -> list[frozenset[str]]:
    """The words around the places at which a page has the clause's figures."""
    starts = [start for start, _ in page.sentence_spans]
    if not starts:
        return []
    found: list[frozenset[str]] = []
    for place in _stated(clause, page):
        sentence = bisect_right(starts, place.start) - 1
        found.append(page.stems.around[max(0, sentence)])
    return found


def _stated(clause: Clause, page: PageEvidence) -> list[Figure]:
    """The places at which a page has the clause's figures."""
    return [place for figure in clause.figures for place in figures_stating(figure, page)]


def _in_sense_at_figures(clause: Clause, page: PageEvidence) -> bool:
    """Whether a sentence or row of the page with a clause's figures says nothing to the contrary.

    True where there is none.
    """
    places = _stated(clause, page)
    stated = dict.fromkeys((place.start, place.end) for place in places)
    if not stated:
        return True
    # One after another: the first sentence mostly tells.
    sentences = (page.sentence_around(*place) for place in stated)
    return any(_has_same_sense(clause, page, sentence) for sentence in sentences)


def unsupported_clauses(said: str, page: PageEvidence, known: str) -> str:
    """A word for what was done or for its cause that a page lacks; "" for none.

    The page has other words of the sentence. What is said with a figure is left to the figure.

    known: the text whose names may stand in beside the page: question, names of documents.
    """
    for part in _PARTS.split(said):
        for word in _deed_and_cause(part):
            if _is_unsaid(word, page) and word not in known:
                return word
    return ""


def _deed_and_cause(part: str) -> list[str]:
    """The verb for what was done in a part of a sentence, and the words of its cause."""
    words: list[str] = []
    done = PAST.search(part)
    if done and not find_figures(part):
        words.append(str(done[0]).split()[0])
    if cause := _CAUSE.search(part):
        words += _WORD.findall(cause[1])
    return [word for word in words if word.casefold() not in _REPORTING]


def _is_unsaid(word: str, page: PageEvidence) -> bool:
    """Whether a page lacks a telling word that says more than a direction."""
    stems = _telling_stems(word)
    if not stems or stems <= page.stems.all:
        return False
    return not any(word.casefold() in directions for directions in _DIRECTIONS)


def _has_words(clause: Clause, place: frozenset[str]) -> bool:
    if not clause.core <= place:
        return False
    shared = clause.words & place
    return len(shared) >= LEAST_OF_CLAUSE * len(clause.words)


def _in_one_sense(clause: frozenset[str], page: frozenset[str]) -> bool:
    """Whether the words of a clause and of a place on a page may say the same.

    They do not where one has a denial and the other has none, or where one has a word and the other only its
    opposite.
    """
    if bool(clause & DENIALS) != bool(page & DENIALS):
        return False
    for side, opposite in OPPOSITES:
        if _are_opposed(clause, page, side, opposite) or _are_opposed(clause, page, opposite, side):
            return False
    return True


def _are_opposed(
    clause: frozenset[str], page: frozenset[str], side: frozenset[str], opposite: frozenset[str]
) -> bool:
    """Whether only the clause has words of one side of a pair, and only the page words of its opposite."""
    if not clause & side or not page & opposite:
        return False
    return not clause & opposite and not page & side


def _core(part: str) -> frozenset[str]:
    """The words of a part of a sentence that say what was done or what something is.

    These are the past form and its object, "abolished the anchor", and the one word behind "is", "is
    insolvent".
    """
    done = PAST.search(part)
    being = _BEING.search(part)
    words = [done[0] if done else "", being[1] if being else ""]
    return _telling_stems(" ".join(words))


def _telling_stems(text: str) -> frozenset[str]:
    """The terms of a text but figures and words that go with any figure."""
    without_issuer = _ISSUER.sub(" ", text)
    words = comparable_words(parted(without_issuer)).texts
    return stems_of(" ".join(word for word in words if _says_something(word)))


def _says_something(word: str) -> bool:
    return tells(word) and word not in _JOINING and word not in _LIGHT
