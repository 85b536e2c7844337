"""Whether an answer fits its question: whether whom and what, and when, it asks for stand in what is
cited; says nothing of how the words were checked.
"""

from __future__ import annotations

import re

from chatbot.records import FINE, Answer, Citation, Hit, Understanding
from ingestion.language.measures import measure_named
from ingestion.language.opposites import COMPARATIVES, SUPERLATIVES
from ingestion.language.periods import find_periods
from ingestion.language.terms import content_terms, terms
from ingestion.language.vocabulary import either

__all__ = ["ANSWERS", "MAY_NOT_ANSWER", "NOTHING_NEAR", "fit_of", "fit_text"]

ANSWERS = "answers"
MAY_NOT_ANSWER = "may_not_answer"
NOTHING_NEAR = "nothing_near"
# The share of a question's words that must stand in the passage or above it. Of 185 answers on 13 documents
# 15 in 100 have it, of which 86 in 100 were right, of the others 55; with three quarters of the words it was
# 30, 78 and 52 in 100, with two thirds 39, 72 and 51.
LEAST_FOUND = 0.9
# Fewer words than this stand in many passages that speak of something else: "the price of gold".
FEWEST_WORDS = 3
# Of a span.
MOST_YEARS = 10
_MORE = either([*COMPARATIVES[0], *COMPARATIVES[1]])
_RANKED = re.compile(
    (
        rf"\b(?:which|who|what)\b.*\b(?:{_MORE}|{either([*SUPERLATIVES[0], *SUPERLATIVES[1]])})\b"
        rf"|\A\W*(?:{_MORE})\b"
    ),
    re.IGNORECASE,
)
_SHOWN = re.compile(r"\[S\d+\]")
_CAUSES = re.compile(
    (
        r"\b(?:because|due to|owing to|as a result|result(?:ed|ing)? (?:from|in)|reflect\w*|driven|caused?"
        r"|attribut\w+|led to|owed to|since)\b"
    ),
    re.IGNORECASE,
)
SAID = {
    ANSWERS: "✓ Subject, measure and period of the question stand in the passage",
    MAY_NOT_ANSWER: "Best match: it may not answer the question",
}


def fit_of(answer: Answer) -> str:
    """ANSWERS where subject, measure and period are all found, MAY_NOT_ANSWER for the best match,
    NOTHING_NEAR for a refusal.

    An answer that asks no document, or is of a document as a whole, is what was asked for.
    """
    asked = answer.understanding
    if not answer.answered:
        return NOTHING_NEAR
    if not answer.from_documents or asked is None or asked.form == "summary":
        if not answer.from_documents or (asked is not None and answer.citations):
            return ANSWERS
        return MAY_NOT_ANSWER
    if (
        asked.form == "several"
        and _RANKED.search(asked.query)
        and not answer.text.startswith(("Highest", "Lowest"))
    ):
        return MAY_NOT_ANSWER  # which one it is, is left to its reader
    first = answer.citations[
        : len(_SHOWN.findall(answer.first))
    ]  # the n-th mark shown belongs to the n-th citation
    cited = [citation for citation in first if citation.document and not citation.doubted]
    hits = {(hit.version, hit.page): hit for hit in (answer.prompt.sources.values() if answer.prompt else ())}
    of = [
        (citation, hit)
        for citation in cited
        if (hit := hits.get((citation.version or 0, citation.page or 0)))
    ]
    if of and _is_found(answer, asked, of):
        return ANSWERS
    return MAY_NOT_ANSWER


def fit_text(answer: Answer) -> str:
    """What is said of it below an answer; "" where its own words say it, as a chat model's do where it
    does not answer.
    """
    if not answer.from_documents or (
        answer.understanding is not None and answer.understanding.form == "summary"
    ):
        return ""
    fit = fit_of(answer)
    if fit == MAY_NOT_ANSWER and answer.model != "extractive":
        return ""
    return SAID.get(fit, "")


def _is_found(answer: Answer, asked: Understanding, cited: list[tuple[Citation, Hit]]) -> bool:
    said = (
        f"{answer.first} " if answer.model == "extractive" else ""
    )  # which has the heads of its rows; a model's words are its own
    above = " ".join(f"{hit.context} {hit.document.replace('_', ' ')}" for _, hit in cited)
    there = frozenset(terms(f"{said}{' '.join(citation.quote for citation, _ in cited)} {above}"))
    called = frozenset(terms(" ".join(f"{name} " for name in asked.names)))
    called_so = _measured(asked, there)  # "EPS", where the row is of earnings per share
    wanted = [
        term for term in content_terms(asked.subject) if not term[0].isdigit() and term not in called_so
    ]
    worked_out = any(check.formula and check.status in FINE for check in answer.numbers)
    found = sum(term in there for term in wanted) >= LEAST_FOUND * len(wanted) and (
        len(wanted) >= FEWEST_WORDS or bool(called_so)
    )
    named = not called or not called.isdisjoint(there)
    own = _years(
        f"{said}{' '.join(citation.quote for citation, _ in cited)}"
    )  # a passage with years of its own is of no other
    dated = set(asked.years) <= (
        own
        or _years(" ".join(f"{hit.facts.period or ''} {hit.document.replace('_', ' ')}" for _, hit in cited))
    )
    figured = asked.form != "figure" or any(check.status in FINE for check in answer.numbers)
    caused = asked.form != "reason" or any(_CAUSES.search(citation.quote) for citation, _ in cited)
    return (found or worked_out) and named and dated and figured and caused


def _measured(asked: Understanding, there: frozenset[str]) -> frozenset[str]:
    """The words by which a question asks for measures that stand there under a name of theirs."""
    named = [measure for measure in map(measure_named, asked.measures) if not measure.formula]
    stated = [measure for measure in named if any(set(phrase) <= there for phrase in measure.printed)]
    return frozenset(term for measure in stated for phrase in measure.asked for term in phrase)


def _years(text: str) -> set[int]:
    """The years that a text names, those of a span among them."""
    return {
        year
        for period in find_periods(text)
        for year in range(period.start_year, min(period.end_year, period.start_year + MOST_YEARS) + 1)
    }
