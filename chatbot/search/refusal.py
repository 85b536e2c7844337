"""Judges whether the pages found can answer at all, and says why not, or what of the question they leave out;
numbers and words in, no store.

A logistic regression on what was found, in place of single thresholds: no one sign tells a plausible question
about what is not there from an answerable one; entity, period, measure and topic together do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chatbot.records import Hit, Understanding
from chatbot.search.abbreviations import said_otherwise
from chatbot.search.entities import name_words, named_together, names_of
from chatbot.search.question_terms import measures_of, operands_of
from chatbot.search.routing import document_parts, named_share
from ingestion.language.periods import find_periods
from ingestion.language.terms import content_terms, initials_behind, terms

__all__ = [
    "REASONS",
    "Likeness",
    "SearchEvidence",
    "also_known",
    "concerns",
    "explain",
    "left_out",
    "likeness_of",
    "refusal_evidence",
    "unnamed",
    "why_not",
]

# Weights and threshold of benchmarks/calibrate_refusal.py on 140 answerable questions of 35 documents, each
# asked of its own and of all, 206 about what is absent there, and 472 of other documents; features are taken
# as they are. Leaving one document out: answerable refused .05, made absent .87 (by measure .75), as written
# .53, others' .93; by words alone .05, .76 (.45), .47 and .93. Without any one sign of the first set fewer
# are refused at the same price; coverage of the question's words, of its pairs of words, and its figure's
# place added nothing to them. The first set is for cosines of the embedded models, on MiniLM's scale; any
# other's lie elsewhere, and words decide.
CONSTANT = "constant"
WITH_LIKENESS: Mapping[str, float] = {
    "names_missing": -5.18,
    "names_on_page": 2.24,
    "year_found": 7.54,
    "measure_stated": 1.95,
    "likeness": 16.77,
    "apart": 4.9,
    CONSTANT: -21.5,
}
BY_WORDS: Mapping[str, float] = {
    "names_missing": -4.66,
    "names_on_page": 2.14,
    "year_found": 5.4,
    "measure_stated": 2.21,
    "chunk_words": 14.7,
    "computed": 2.18,
    CONSTANT: -11.88,
}
UNNAMED = "The pages quoted do not name {names}."
REASONS = {
    "no_documents": "No documents have been added yet.",
    "no_page": "No page was found that answers this.",
    "no_entity": "These documents do not mention {names}.",
    "entity_without_period": "These documents say nothing about {years}.",
    "period_elsewhere": "The pages that come near to this do not speak of {years}.",
    "topic_without_figure": "Pages come near to this, but none states the {measures}.",
    "not_in_excerpts": "The pages nearest to the question do not answer it.",
}
# The share of the measures asked for below which pages are said not to state them.
LEAST_STATED = 0.5
# A name of two words is missing where one of them is nowhere: "Ostrava Plan" in a document that has plans.
MISSING = 0.5
# How like the question a page counts at least that holds the rows or figures its answer is made of: they are
# unlike questions.
AS_STATED = 0.6
# Words that ask for the money of a row without being printed at it.
OF_MONEY = frozenset(
    content_terms(
        "target targets spending spend spent budget budgeted cost costs amount amounts allocated "
        "allocation value total receive received"
    )
)
# Words that ask how something moved: the sentence that says it has a verb of its own.
OF_CHANGE = frozenset(
    content_terms(
        "change changed changes develop developed development evolve evolved move moved compare "
        "compared difference happen happened"
    )
)
# Words other than years and those that a sentence must have all of to state what is asked: a single one
# stands anywhere.
FEWEST_SAID = 2
# Deviations above the mean that count as one: of a document's passages the best for an answerable question
# lies at 3 to 5.
APART = 6.0
# A document of a few passages is all about its topic, and its best stands apart from none. It counts as
# filled up to so many, with passages as far from a question as those of documents of 40 and more lie in the
# middle, of policies and of filings: mean and deviation of cosines.
FEWEST_PASSAGES = 40
USUAL_MEAN = 0.19
USUAL_DEVIATION = 0.065
MOST_SAID = 3


@dataclass(frozen=True, slots=True)
class Likeness:
    """How like a question's topic the documents of its pages are. said: the best cosine of a sentence or row
    of the pages; apart: by how many deviations the best passage of their documents lies above the mean of
    all, in APART."""

    said: float
    apart: float


@dataclass(frozen=True, slots=True)
class SearchEvidence:
    """What a search found. known: whether any document in reach has a term; said: the sentences and rows of
    the pages with their heads; computed: their tables or sentences state what is asked; likeness: None where
    it was not measured; rows: (label, the row with all its heads) of their tables' rows."""

    hits: Sequence[Hit]
    known: Callable[[str], bool]
    said: Sequence[str]
    computed: bool
    likeness: Likeness | None = None
    rows: Sequence[tuple[str, str]] = ()


def likeness_of(said: Sequence[float], passages: NDArray[np.float32]) -> Likeness:
    """From the cosines of the pages' sentences, and of all passages of their documents, -1 for one without
    a vector.
    """
    passages = passages[passages > -1.0].astype(np.float64)
    if not len(passages):
        return Likeness(max(said, default=0.0), 0.0)
    lacking = max(0, FEWEST_PASSAGES - len(passages))
    count = len(passages) + lacking
    mean = (passages.sum() + lacking * USUAL_MEAN) / count
    squares = ((passages - mean) ** 2).sum() + lacking * (USUAL_DEVIATION**2 + (USUAL_MEAN - mean) ** 2)
    deviation = float(np.sqrt(squares / count))
    return Likeness(
        max(said, default=0.0), float(passages.max() - mean) / deviation / APART if deviation > 0 else 0.0
    )


def refusal_evidence(asked: Understanding, found: SearchEvidence) -> dict[str, float]:
    """What speaks for and against an answer, each about 0-1."""
    groups = named_together(asked)
    missing = [group for group in groups if all(_is_missing(name, found.known) for name in group)]
    pages = [frozenset(terms(hit.page_text)) for hit in found.hits]
    named = [_names_of(hit, asked) for hit in found.hits]
    files = [document_parts(hit.document) for hit in found.hits]
    years = list(map(str, asked.years))
    stated = _names_a_row(asked, found.rows, files) or _says_it_whole(asked, found.said)
    evidence = {
        "names_missing": len(missing) / max(1, len(groups)),
        "names_on_page": sum(_best_share(group, named, files) for group in groups) / len(groups)
        if groups
        else 1.0,
        "year_found": float(any(year in page for year in years for page in pages)) if years else 1.0,
        "measure_stated": 1.0 if stated else _share_stated(asked, found.said),
    }
    if found.likeness is None:
        best = max((hit.scores.get("chunk_words", 0.0) for hit in found.hits), default=0.0)
        return evidence | {"chunk_words": best, "computed": float(found.computed or stated)}
    least = AS_STATED if found.computed or stated else 0.0
    return evidence | {"likeness": max(least, found.likeness.said), "apart": max(least, found.likeness.apart)}


def why_not(evidence: Mapping[str, float], hits: Sequence[Hit]) -> str | None:
    """None where the pages may answer, else a key of REASONS. evidence: of refusal_evidence."""
    if not hits:
        return "no_page"
    if evidence["names_missing"] == 1.0:  # whoever is asked about is nowhere: what fits is another's
        return "no_entity"
    weights = WITH_LIKENESS if "likeness" in evidence else BY_WORDS
    if (
        weights[CONSTANT]
        + sum(weight * evidence[name] for name, weight in weights.items() if name != CONSTANT)
        >= 0
    ):
        return None
    if evidence["names_missing"]:
        return "no_entity"
    if not evidence["year_found"]:
        return "entity_without_period"
    if evidence["measure_stated"] < LEAST_STATED:
        return "topic_without_figure"
    return "no_page"


def explain(reason: str, asked: Understanding, known: Callable[[str], bool]) -> str:
    """The sentence for a reason. known: whether any document in reach has a term."""
    unknown = [str(year) for year in _years_said(asked) if not known(str(year))]
    years = unknown or [str(year) for year in asked.years]
    if reason == "entity_without_period" and not unknown:
        key = "period_elsewhere"
    else:
        key = reason
    names = [name for name in names_of(asked) if _is_missing(name, known)]
    return REASONS[key].format(
        names=_listed(names), years=_listed(years), measures=" or the ".join(asked.measures[:2])
    )


def left_out(asked: Understanding, known: Callable[[str], bool]) -> tuple[str, ...]:
    """A sentence for the names, and one for the years, that the question has and no document in reach: an
    answer is of the others.
    """
    names = [name for name in names_of(asked) if not any(map(known, name_words(name)))]
    years = [str(year) for year in _years_said(asked) if not known(str(year))]
    parts = (("no_entity", {"names": _listed(names)}), ("entity_without_period", {"years": _listed(years)}))
    return tuple(REASONS[reason].format(**of) for reason, of in parts if any(of.values()))


def _years_said(asked: Understanding) -> list[int]:
    """The years without those that fill a range; all where the question names none itself."""
    ends = {year for period in find_periods(asked.subject) for year in (period.start_year, period.end_year)}
    return [year for year in asked.years if year in ends] or list(asked.years)


def unnamed(
    asked: Understanding, hits: Sequence[Hit], known: Callable[[str], bool], about: Callable[[int, str], bool]
) -> str:
    """A sentence for the names of the question that some document has and none of the pages quoted; "" for
    none.

    hits: the pages quoted. about: whether a document, by its version, is about a name.
    """
    pages = [_names_of(hit, asked) for hit in hits]
    names = [name for name in names_of(asked) if any(map(known, name_words(name)))]
    lacking = [
        name
        for name in names
        if not any(
            about(hit.version, name) or _says(page, name) for hit, page in zip(hits, pages, strict=True)
        )
    ]
    if lacking and hits:
        return UNNAMED.format(names=_listed(lacking))
    return ""


def concerns(asked: Understanding, hit: Hit, whose: Mapping[str, frozenset[int]]) -> bool:
    """Whether a page is of whom the question names: of a document about it, or speaking of it itself. True
    where no name is known.

    whose: name -> versions of the documents about it, see named_documents of corpus_vocabulary.
    """
    names = [name for name in names_of(asked) if whose.get(name)]
    page = _names_of(hit, asked)
    return not names or any(hit.version in whose[name] or _says(page, name) for name in names)


def also_known(
    asked: Understanding, hits: Sequence[Hit], known: Callable[[str], bool]
) -> Callable[[str], bool]:
    """`known`, and the terms of the question's names that these pages spell out or abbreviate."""
    there = frozenset[str]().union(*(said_otherwise(names_of(asked), hit.page_text) for hit in hits))
    return lambda term: term in there or known(term)


def _names_of(hit: Hit, asked: Understanding) -> frozenset[str]:
    """The terms of a page and of its section, whom it is about, with those of the question's names that it
    says in another form.
    """
    text = f"{hit.page_text} {hit.context}"
    return frozenset(terms(text)) | said_otherwise(names_of(asked), text)


def _says(page: frozenset[str], name: str) -> bool:
    """Whether a page has more than half of a name's words."""
    return not _is_missing(name, page.__contains__)


def _names_a_row(
    asked: Understanding, rows: Sequence[tuple[str, str]], files: Sequence[Sequence[str]]
) -> bool:
    """Whether the question has the whole label of one of these rows, and the row and its heads all of the
    question but years and the document's own name."""
    names = [name for name in asked.names if any(named_share(parts, name) > 0 for parts in files)]
    called = {word for name in names for word in name_words(name)}
    wanted = _words_of(asked.subject) - called - OF_MONEY
    if not wanted:
        return False
    labelled = (
        (_words_of(called), around) for label, around in rows for called in (label, *initials_behind(label))
    )
    return any(
        words and words <= wanted | called | OF_MONEY and wanted <= _words_of(around) | words
        for words, around in labelled
    )


def _says_it_whole(asked: Understanding, said: Sequence[str]) -> bool:
    """Whether one sentence has all the question's words but those of money and change, all its years, and
    a figure beside them.
    """
    wanted = {word for word in content_terms(asked.subject) if not word.isdecimal()} - OF_MONEY - OF_CHANGE
    years = {str(year) for year in _years_said(asked)}
    if len(wanted) < FEWEST_SAID or asked.form not in {"figure", "passage"}:
        return False
    return any(
        wanted | years <= words and any(word[0].isdigit() for word in words - years)
        for words in (frozenset(terms(text)) for text in said)
    )


def _words_of(text: str) -> set[str]:
    """The terms of a text without numbers."""
    return {term for term in terms(text) if not term.isdecimal()}


def _listed(words: Sequence[str]) -> str:
    """The first of them, with "or" before the last."""
    *others, last = list(dict.fromkeys(words))[:MOST_SAID] or [""]
    return f"{', '.join(others)} or {last}" if others else last


def _is_missing(name: str, known: Callable[[str], bool]) -> bool:
    words = name_words(name)
    return sum(not known(word) for word in words) >= MISSING * len(words)


def _best_share(
    group: Sequence[str], pages: Sequence[frozenset[str]], files: Sequence[Sequence[str]]
) -> float:
    """0-1: the most of a name of the group that stands on one page; 1 where a file is called by it."""
    if any(named_share(parts, name) > 0 for name in group for parts in files):
        return 1.0
    return max(
        (len(page.intersection(words)) / len(words) for words in map(name_words, group) for page in pages),
        default=0.0,
    )


def _share_stated(asked: Understanding, said: Sequence[str]) -> float:
    """0-1: the share of the measures, or of what they are computed from, whose name stands in one sentence
    or row; 1 where none is asked for.
    """
    wanted = operands_of(measures_of(asked))
    if not wanted:
        return 1.0
    words = [frozenset(terms(text)) for text in said]
    phrases = [[frozenset(phrase) for phrase in (*measure.asked, *measure.printed)] for measure in wanted]
    return sum(any(phrase <= one for phrase in some for one in words) for some in phrases) / len(wanted)
