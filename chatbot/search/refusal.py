"""Judges whether the pages found can answer at all, and says why not, or what of the question they leave out; numbers and words in, no store.

A logistic regression on what was found, in place of single thresholds: no one sign tells a plausible question about what is not there from
an answerable one; entity, period, measure and topic together do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chatbot.records import Hit, Understanding
from chatbot.search.named import name_words, named_together
from chatbot.search.questions import measures_of, operands_of
from chatbot.search.routing import document_parts, named_share
from chatbot.terms import terms

__all__ = ["REASONS", "Found", "Likeness", "explain", "left_out", "likeness_of", "refusal_evidence", "why_not"]

# Weights and threshold of benchmarks/calibrate_refusal.py on 140 answerable questions of 35 documents, each asked of its own and of all, 206
# about what is absent there, and 472 of other documents; features are taken as they are. Leaving one document out: answerable refused .05,
# made absent .87 (by measure .75), as written .53, others' .94; by words alone .05, .76 (.45), .47 and .93. Without any one sign of the first set
# fewer are refused at the same price; coverage of the question's words, of its pairs of words, and its figure's place added nothing to them.
# The first set is for the embedder that its cosines are of; any other's lie elsewhere, and words decide.
CONSTANT = "constant"
WITH_LIKENESS: Mapping[str, float] = {
    "names_missing": -5.28,
    "names_on_page": 2.08,
    "year_found": 7.54,
    "measure_stated": 1.9,
    "likeness": 17.51,
    "apart": 5.06,
    CONSTANT: -21.73,
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
REASONS = {
    "no_documents": "No documents have been added yet.",
    "no_page": "No page of these documents is about this.",
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
# How like the question a page counts at least that holds the rows its answer is made of: labels of tables are unlike questions.
AS_STATED = 0.6
# Deviations above the mean that count as one: of a document's passages the best for an answerable question lies at 3 to 5.
APART = 6.0
MOST_SAID = 3


@dataclass(frozen=True, slots=True)
class Likeness:
    """How like a question's topic the documents of its pages are. said: the best cosine of a sentence or row of the pages; apart: by how many
    deviations the best passage of their documents lies above the mean of all, in APART."""

    said: float
    apart: float


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found. known: whether any document in reach has a term; said: the sentences and rows of the pages with their heads;
    computed: their tables state what is asked; likeness: None where it was not measured."""

    hits: Sequence[Hit]
    known: Callable[[str], bool]
    said: Sequence[str]
    computed: bool
    likeness: Likeness | None = None


def likeness_of(said: Sequence[float], passages: NDArray[np.float32]) -> Likeness:
    """From the cosines of the pages' sentences, and of all passages of their documents, -1 for one without a vector."""
    passages = passages[passages > -1.0]
    best, mean, deviation = (float(passages.max()), float(passages.mean()), float(passages.std())) if len(passages) else (0.0, 0.0, 0.0)
    return Likeness(max(said, default=0.0), (best - mean) / deviation / APART if deviation > 0 else 0.0)


def refusal_evidence(asked: Understanding, found: Found) -> dict[str, float]:
    """What speaks for and against an answer, each about 0-1."""
    groups = named_together(asked)
    missing = [group for group in groups if all(_is_missing(name, found.known) for name in group)]
    pages = [frozenset(terms(hit.page_text)) for hit in found.hits]
    # A page is about whom its section is about.
    named = [page | frozenset(terms(hit.context)) for page, hit in zip(pages, found.hits, strict=True)]
    files = [document_parts(hit.document) for hit in found.hits]
    years = list(map(str, asked.years))
    evidence = {
        "names_missing": len(missing) / max(1, len(groups)),
        "names_on_page": sum(_best_share(group, named, files) for group in groups) / len(groups) if groups else 1.0,
        "year_found": float(any(year in page for year in years for page in pages)) if years else 1.0,
        "measure_stated": _share_stated(asked, found.said),
    }
    if found.likeness is None:
        best = max((hit.scores.get("chunk_words", 0.0) for hit in found.hits), default=0.0)
        return evidence | {"chunk_words": best, "computed": float(found.computed)}
    least = AS_STATED if found.computed else 0.0
    return evidence | {"likeness": max(least, found.likeness.said), "apart": max(least, found.likeness.apart)}


def why_not(evidence: Mapping[str, float], hits: Sequence[Hit]) -> str | None:
    """None where the pages may answer, else a key of REASONS. evidence: of refusal_evidence."""
    if not hits:
        return "no_page"
    if evidence["names_missing"] == 1.0:  # whoever is asked about is nowhere: what fits is another's
        return "no_entity"
    weights = WITH_LIKENESS if "likeness" in evidence else BY_WORDS
    if weights[CONSTANT] + sum(weight * evidence[name] for name, weight in weights.items() if name != CONSTANT) >= 0:
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
    unknown = [str(year) for year in asked.years if not known(str(year))]
    years = unknown or [str(year) for year in asked.years]
    key = "period_elsewhere" if reason == "entity_without_period" and not unknown else reason
    names = [name for group in named_together(asked) for name in group if _is_missing(name, known)]
    return REASONS[key].format(names=_listed(names), years=_listed(years), measures=" or the ".join(asked.measures[:2]))


def left_out(asked: Understanding, known: Callable[[str], bool]) -> tuple[str, ...]:
    """A sentence for the names, and one for the years, that the question has and no document in reach: an answer is of the others."""
    names = [name for group in named_together(asked) for name in group if not any(map(known, name_words(name)))]
    years = [str(year) for year in asked.years if not known(str(year))]
    parts = (("no_entity", {"names": _listed(names)}), ("entity_without_period", {"years": _listed(years)}))
    return tuple(REASONS[reason].format(**of) for reason, of in parts if any(of.values()))


def _listed(words: Sequence[str]) -> str:
    """The first of them, with "or" before the last."""
    *others, last = list(dict.fromkeys(words))[:MOST_SAID] or [""]
    return f"{', '.join(others)} or {last}" if others else last


def _is_missing(name: str, known: Callable[[str], bool]) -> bool:
    words = name_words(name)
    return sum(not known(word) for word in words) >= MISSING * len(words)


def _best_share(group: Sequence[str], pages: Sequence[frozenset[str]], files: Sequence[Sequence[str]]) -> float:
    """0-1: the most of a name of the group that stands on one page; 1 where a file is called by it."""
    if any(named_share(parts, name) > 0 for name in group for parts in files):
        return 1.0
    return max((len(page.intersection(words)) / len(words) for words in map(name_words, group) for page in pages), default=0.0)


def _share_stated(asked: Understanding, said: Sequence[str]) -> float:
    """0-1: the share of the measures, or of what they are computed from, whose name stands in one sentence or row; 1 where none is asked for."""
    wanted = operands_of(measures_of(asked))
    if not wanted:
        return 1.0
    words = [frozenset(terms(text)) for text in said]
    phrases = [[frozenset(phrase) for phrase in (*measure.asked, *measure.printed)] for measure in wanted]
    return sum(any(phrase <= one for phrase in some for one in words) for some in phrases) / len(wanted)
