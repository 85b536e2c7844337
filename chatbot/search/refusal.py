"""Judges whether the pages found can answer a question, and says why not or what they leave out.

It works on numbers and words and reads no store. A logistic regression weighs what was found, in place of
single thresholds: no single sign tells a plausible question about what is not there from an answerable one;
entity, period, measure and topic together do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chatbot.records import Hit, Understanding
from chatbot.search.abbreviations import other_spellings
from chatbot.search.entities import name_words, named_together, names_of
from chatbot.search.question_terms import measures_of, operands_of
from chatbot.search.routing import document_parts, named_share
from ingestion.language.measures import Measure, related_words, words_for
from ingestion.language.periods import without_periods
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
# asked of its own document and of all, 206 about what is absent there, and 472 of other documents; features
# are taken as they are. Leaving one document out: answerable refused .05, made absent .87 (by measure .75),
# as written .53, others' .93; by words alone .05, .76 (.45), .47 and .93. Without any one sign of the first
# set fewer are refused at the same price; coverage of the question's words, of its pairs of words, and its
# figure's place added nothing to them. The first set is for cosines of the embedded models, on MiniLM's
# scale; those of any other model lie elsewhere, so words decide.
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
UNNAMED = "The quoted pages do not mention {names}."
REASONS = {
    "no_documents": "No documents have been added yet.",
    "no_page": "No page answers this.",
    "no_entity": "These documents do not mention {names}.",
    "entity_without_period": "These documents say nothing about {years}.",
    "period_elsewhere": "The closest pages do not mention {years}.",
    "topic_without_figure": "Some pages come close, but none gives the {measures}.",
    "not_in_excerpts": "The closest pages do not answer the question.",
}
# Below this share of the measures asked for, the pages are said not to state them.
LEAST_STATED = 0.5
# A name is missing where at least this share of its words is nowhere: "Ostrava Plan" in a document that has
# plans.
MISSING = 0.5
# The least likeness that a page gets if it holds the rows or figures of its answer: these read unlike
# questions.
AS_STATED = 0.6
# Words that ask for the money of a row without being printed beside it.
OF_MONEY = frozenset(
    content_terms(
        "target targets spending spend spent budget budgeted cost costs amount amounts allocated "
        "allocation value total receive received"
    )
)
# Words that ask how something moved: the sentence that says so has a verb of its own.
OF_CHANGE = frozenset(
    content_terms(
        "change changed changes develop developed development evolve evolved move moved compare "
        "compared difference happen happened"
    )
)
# How many words, apart from years and these, a question needs before a sentence that has all of them counts
# as stating what is asked: a single word stands anywhere.
FEWEST_SAID = 2
# Deviations above the mean that count as 1: a document's best passage for an answerable question lies at 3 to
# 5.
APART = 6.0
# A document of a few passages is all about its topic, and its best passage stands apart from none. It counts
# as filled up to this many passages, as far from a question as those of policies and filings with 40 and more
# passages lie in the middle: mean and deviation of cosines. A single passage is like nothing that it says, so
# the words of its sentences tell too: of 45 plain questions on ten made papers of a page, each in a store of
# its own, that refuses 3 in place of 11 (with the lines of forms as passages), and 64 of 68 absent ones as
# before. On single pages of policies and filings, mostly several passages, it changes nothing.
FEWEST_PASSAGES = 40
USUAL_MEAN = 0.19
USUAL_DEVIATION = 0.065
MOST_SAID = 3


@dataclass(frozen=True, slots=True)
class Likeness:
    """How like a question's topic the documents of its pages are.

    said: the best cosine of a sentence or row of the pages.
    apart: by how many deviations the best passage of their documents lies above the mean of all, in units of
        APART.
    alone: whether they are of a single passage, which blurs all that they say.
    """

    said: float
    apart: float
    alone: bool = False


@dataclass(frozen=True, slots=True)
class SearchEvidence:
    """What a search found.

    hits: the pages.
    known: whether any document in reach has a term.
    said: the sentences of the pages, and their rows with their heads.
    computed: whether their tables or sentences state what is asked.
    likeness: None where it was not measured.
    rows: (label, the row with all its heads) of the rows of their tables.
    """

    hits: Sequence[Hit]
    known: Callable[[str], bool]
    said: Sequence[str]
    computed: bool
    likeness: Likeness | None = None
    rows: Sequence[tuple[str, str]] = ()


def likeness_of(said: Sequence[float], passages: NDArray[np.float32]) -> Likeness:
    """Likeness from the cosines of the pages' sentences, and of all passages of their documents, -1 for a
    passage without a vector.
    """
    best = max(said, default=0.0)
    passages = passages[passages > -1.0].astype(np.float64)
    if not len(passages):
        return Likeness(best, 0.0)
    lacking = max(0, FEWEST_PASSAGES - len(passages))
    count = len(passages) + lacking
    mean = (passages.sum() + lacking * USUAL_MEAN) / count
    usual_square = USUAL_DEVIATION**2 + (USUAL_MEAN - mean) ** 2
    squares = ((passages - mean) ** 2).sum() + lacking * usual_square
    deviation = float(np.sqrt(squares / count))
    if deviation <= 0:
        return Likeness(best, 0.0)
    above = float(passages.max() - mean)
    return Likeness(best, above / deviation / APART, alone=len(passages) == 1)


def refusal_evidence(asked: Understanding, found: SearchEvidence) -> dict[str, float]:
    """What speaks for and against an answer, each about 0-1."""
    groups = named_together(asked)
    missing = [group for group in groups if _all_missing(group, found.known)]
    files = [document_parts(hit.document) for hit in found.hits]
    stated = _names_a_row(asked, found.rows, files) or _says_it_whole(asked, found.said)
    measure_stated = 1.0 if stated else _share_stated(asked, found.said)
    evidence = {
        "names_missing": len(missing) / max(1, len(groups)),
        "names_on_page": _share_on_page(asked, groups, found.hits, files),
        "year_found": _year_found(asked, found.hits),
        "measure_stated": measure_stated,
    }
    if found.likeness is None:
        scores = [hit.scores.get("chunk_words", 0.0) for hit in found.hits]
        evidence["chunk_words"] = max(scores, default=0.0)
        evidence["computed"] = float(found.computed or stated)
        return evidence
    least = AS_STATED if found.computed or stated else 0.0
    evidence["likeness"] = max(least, found.likeness.said)
    if found.likeness.alone:
        least = max(least, AS_STATED * _share_said(asked, found.said))
    evidence["apart"] = max(least, found.likeness.apart)
    return evidence


def _share_said(asked: Understanding, said: Sequence[str]) -> float:
    """0-1: the largest share of the question's words, but for periods, that one sentence or row has."""
    wanted = frozenset(asked.reading.undated.terms)
    shares = [len(wanted.intersection(terms(text))) / len(wanted) for text in said if wanted]
    return max(shares, default=0.0)


def _share_on_page(
    asked: Understanding,
    groups: Sequence[Sequence[str]],
    hits: Sequence[Hit],
    files: Sequence[Sequence[str]],
) -> float:
    """0-1: how much of each group of names stands on one page, on average; 1 without names."""
    if not groups:
        return 1.0
    pages = [_names_of(hit, asked) for hit in hits]
    shares = [_best_share(group, pages, files) for group in groups]
    return sum(shares) / len(shares)


def _year_found(asked: Understanding, hits: Sequence[Hit]) -> float:
    """1 where a page has one of the years, or none is asked for, else 0."""
    if not asked.years:
        return 1.0
    years = set(map(str, asked.years))
    for hit in hits:
        if not years.isdisjoint(terms(hit.page_text)):
            return 1.0
    return 0.0


def why_not(evidence: Mapping[str, float], hits: Sequence[Hit]) -> str | None:
    """None where the pages may answer, else a key of REASONS. evidence: of refusal_evidence."""
    if not hits:
        return "no_page"
    # Whoever is asked about is nowhere: what fits belongs to somebody else.
    if evidence["names_missing"] == 1.0:
        return "no_entity"
    weights = WITH_LIKENESS if "likeness" in evidence else BY_WORDS
    signs = [name for name in weights if name != CONSTANT]
    if weights[CONSTANT] + sum(weights[name] * evidence[name] for name in signs) >= 0:
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
    unknown = _unknown_years(asked, known)
    years = unknown or [str(year) for year in asked.years]
    key = "period_elsewhere" if reason == "entity_without_period" and not unknown else reason
    names = [name for name in names_of(asked) if _is_missing(name, known)]
    measures = " or the ".join(words_for(measure, asked.subject) for measure in measures_of(asked)[:2])
    return REASONS[key].format(names=_listed(names), years=_listed(years), measures=measures)


def left_out(asked: Understanding, known: Callable[[str], bool]) -> tuple[str, ...]:
    """A sentence for the names, and one for the years, that the question has and no document in reach: the
    answer is about the others.
    """
    sentences = []
    if listed_names := _listed([name for name in names_of(asked) if not _any_known(name, known)]):
        reason = REASONS["no_entity"]
        sentences.append(reason.format(names=listed_names))
    if listed_years := _listed(_unknown_years(asked, known)):
        reason = REASONS["entity_without_period"]
        sentences.append(reason.format(years=listed_years))
    return tuple(sentences)


def _unknown_years(asked: Understanding, known: Callable[[str], bool]) -> list[str]:
    """The years of the question that no document in reach has."""
    return [year for year in map(str, _years_said(asked)) if not known(year)]


def _years_said(asked: Understanding) -> list[int]:
    """The years without those that fill a range; all where the question itself names none."""
    ends = set[int]()
    for period in asked.periods:
        ends.update((period.start_year, period.end_year))
    named = [year for year in asked.years if year in ends]
    return named or list(asked.years)


def unnamed(
    asked: Understanding, hits: Sequence[Hit], known: Callable[[str], bool], about: Callable[[int, str], bool]
) -> str:
    """A sentence for the names of the question that some document has and none of the pages quoted; "" for
    none.

    hits: the pages quoted. about: whether a document, by its version, is about a name.
    """
    pages = [(hit.version, _names_of(hit, asked)) for hit in hits]

    def is_named(name: str) -> bool:
        return any(about(version, name) or _says(page, name) for version, page in pages)

    names = [name for name in names_of(asked) if _any_known(name, known)]
    lacking = [name for name in names if not is_named(name)]
    if lacking and hits:
        return UNNAMED.format(names=_listed(lacking))
    return ""


def concerns(asked: Understanding, hit: Hit, whose: Mapping[str, frozenset[int]]) -> bool:
    """Whether a page concerns those whom the question names: it is of a document about them, or speaks of
    them itself. True where no name is known.

    whose: name -> versions of the documents about it, see named_documents of corpus_vocabulary.
    """
    names = [name for name in names_of(asked) if whose.get(name)]
    page = _names_of(hit, asked)
    return not names or any(hit.version in whose[name] or _says(page, name) for name in names)


def also_known(
    asked: Understanding, hits: Sequence[Hit], known: Callable[[str], bool]
) -> Callable[[str], bool]:
    """`known`, the terms of the question's names that these pages spell out or abbreviate, and all terms of
    texts from outside.
    """
    on_pages = set[str]()
    for hit in hits:
        if hit.external:
            on_pages.update(terms(f"{hit.page_text} {hit.context}"))
        on_pages |= other_spellings(names_of(asked), hit.page_text)
    return lambda term: term in on_pages or known(term)


def _names_of(hit: Hit, asked: Understanding) -> frozenset[str]:
    """The terms of a page and of its section, which says whom it is about, with those of the question's names
    that it uses in another form.
    """
    text = f"{hit.page_text} {hit.context}"
    return frozenset(terms(text)) | other_spellings(names_of(asked), text)


def _says(page: frozenset[str], name: str) -> bool:
    """Whether a page has more than half of a name's words."""
    return not _is_missing(name, page.__contains__)


def _names_a_row(
    asked: Understanding, rows: Sequence[tuple[str, str]], files: Sequence[Sequence[str]]
) -> bool:
    """Whether the question has the whole label of one of these rows, and the row and its heads have all of
    the question except periods and the document's own name.
    """
    own_names = set[str]()
    for name in asked.names:
        if _calls_a_file(name, files):
            own_names.update(name_words(name))
    wanted = _words_of(without_periods(asked.subject)) - own_names - OF_MONEY
    if not wanted:
        return False
    allowed = wanted | own_names | OF_MONEY
    for label, row in rows:
        for written in (label, *initials_behind(label)):
            words = _words_of(written)
            if words and words <= allowed and wanted <= _words_of(row) | words:
                return True
    return False


def _says_it_whole(asked: Understanding, said: Sequence[str]) -> bool:
    """Whether one sentence has all words of the question except those of money and change, or such as may
    stand for them, all its years, and a figure beside them. A few words are enough for "How much debt?".
    """
    wanted = {word for word in asked.reading.terms if not word.isdecimal()} - OF_MONEY - OF_CHANGE
    years = {str(year) for year in _years_said(asked)}
    if len(wanted) < (1 if asked.form == "figure" else FEWEST_SAID) or asked.form not in {
        "figure",
        "passage",
    }:
        return False
    groups = [{word, *related_words(word)} for word in wanted] + [{year} for year in years]
    for text in said:
        found = frozenset(terms(text))
        if any(word[0].isdigit() for word in found - years) and not any(map(found.isdisjoint, groups)):
            return True
    return False


def _words_of(text: str) -> set[str]:
    """The terms of a text without numbers."""
    return {term for term in terms(text) if not term.isdecimal()}


def _listed(words: Sequence[str]) -> str:
    """The first of these words, with "or" before the last."""
    *others, last = list(dict.fromkeys(words))[:MOST_SAID] or [""]
    return f"{', '.join(others)} or {last}" if others else last


def _any_known(name: str, known: Callable[[str], bool]) -> bool:
    """Whether any document in reach has a word of a name."""
    return any(map(known, name_words(name)))


def _all_missing(names: Sequence[str], known: Callable[[str], bool]) -> bool:
    return all(_is_missing(name, known) for name in names)


def _calls_a_file(name: str, files: Sequence[Sequence[str]]) -> bool:
    """Whether one of these files is called by a name. files: the parts of their names."""
    return any(named_share(parts, name) > 0 for parts in files)


def _is_missing(name: str, known: Callable[[str], bool]) -> bool:
    words = name_words(name)
    return sum(not known(word) for word in words) >= MISSING * len(words)


def _best_share(
    group: Sequence[str], pages: Sequence[frozenset[str]], files: Sequence[Sequence[str]]
) -> float:
    """0-1: the largest share of a name of the group that stands on one page; 1 where a file is called by a
    name of it.
    """
    if any(_calls_a_file(name, files) for name in group):
        return 1.0
    best = 0.0
    for name in group:
        words = name_words(name)
        for page in pages:
            best = max(best, len(page.intersection(words)) / len(words))
    return best


def _share_stated(asked: Understanding, said: Sequence[str]) -> float:
    """0-1: the share of the measures, or of what they are computed from, whose name stands in one sentence
    or row; 1 where none is asked for.
    """
    wanted = operands_of(measures_of(asked))
    if not wanted:
        return 1.0
    sentences = [frozenset(terms(text)) for text in said]
    return len([measure for measure in wanted if _is_stated(measure, sentences)]) / len(wanted)


def _is_stated(measure: Measure, sentences: Sequence[frozenset[str]]) -> bool:
    """Whether one of these sentences, given as its terms, has a name of a measure."""
    for phrase in (*measure.asked, *measure.printed):
        words = frozenset(phrase)
        if any(words <= sentence for sentence in sentences):
            return True
    return False
