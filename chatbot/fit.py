"""Tells whether an answer fits its question: its citations must have the subject, measure and period.

How the words of the answer were checked plays no part.
"""

from __future__ import annotations

import re

from chatbot.records import FINE, Answer, Citation, Hit, Understanding
from ingestion.language.measures import measure_named
from ingestion.language.opposites import COMPARATIVES, SUPERLATIVES
from ingestion.language.periods import find_periods, without_periods
from ingestion.language.terms import content_terms, terms
from ingestion.language.vocabulary import either

__all__ = ["ANSWERS", "MAY_NOT_ANSWER", "NOTHING_NEAR", "fit_of", "fit_text"]

ANSWERS = "answers"
MAY_NOT_ANSWER = "may_not_answer"
NOTHING_NEAR = "nothing_near"
# The share of a question's words that must stand in the passage or above it. Of 185 answers on 13 documents,
# 15 in 100 reach it; 86 in 100 of these were right, and 55 in 100 of the others. With three quarters of the
# words the three figures were 30, 78 and 52 in 100, with two thirds 39, 72 and 51.
LEAST_FOUND = 0.9
# Fewer words than this also stand in many passages about something else: "the price of gold". They are
# enough if they are the whole label of one row that is cited. Of 134 answers to made questions for rows of 25
# documents, 60 of the 74 right ones fit with that, 25 without it, and 9 of the 60 others either way.
FEWEST_WORDS = 3
# Words that say of no row which one it is: "What is the reserve set at?".
_OF_ANY_ROW = frozenset(terms("set amount value figure number level size total large big high"))
_LABEL = re.compile(r"\D*")
# The most years of a span that count.
MOST_YEARS = 10
_MORE = either([*COMPARATIVES[0], *COMPARATIVES[1]])
_MOST = either([*SUPERLATIVES[0], *SUPERLATIVES[1]])
_RANKED = re.compile(
    (
        rf"\b(?:which|who|what)\b.*\b(?:{_MORE}|{_MOST})\b"
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
    ANSWERS: "✓ The passage has the subject, measure and period you asked about",
    MAY_NOT_ANSWER: "Best match: it may not answer the question",
}


def fit_of(answer: Answer) -> str:
    """How well an answer fits its question.

    ANSWERS where subject, measure and period are all found, MAY_NOT_ANSWER for the best match, NOTHING_NEAR
    for a refusal. An answer that needs no document, or is about a document as a whole, fits.
    """
    asked = answer.understanding
    if not answer.answered:
        return NOTHING_NEAR
    if not answer.from_documents:
        return ANSWERS
    if asked is None:
        return MAY_NOT_ANSWER
    if asked.form == "summary":
        return ANSWERS if answer.citations else MAY_NOT_ANSWER
    asks_rank = asked.form == "several" and _RANKED.search(asked.query)
    if asks_rank and not answer.text.startswith(("Highest", "Lowest")):
        return MAY_NOT_ANSWER  # it leaves to the reader which one it is
    cited = _cited_pages(answer)
    return ANSWERS if cited and _is_found(answer, asked, cited) else MAY_NOT_ANSWER


def _cited_pages(answer: Answer) -> list[tuple[Citation, Hit]]:
    """The citations of the answer's first part that are not doubted, each with its page."""
    # The n-th mark shown belongs to the n-th citation.
    shown = len(_SHOWN.findall(answer.first))
    hits: dict[tuple[int, int], Hit] = {}
    if answer.prompt:
        hits = {(hit.version, hit.page): hit for hit in answer.prompt.sources.values()}
    cited = []
    for citation in answer.citations[:shown]:
        hit = hits.get((citation.version or 0, citation.page or 0))
        if hit and citation.document and not citation.doubted:
            cited.append((citation, hit))
    return cited


def fit_text(answer: Answer) -> str:
    """What stands below an answer about its fit.

    "" where the answer's own words say it, as a chat model's do where it does not answer.
    """
    if not answer.from_documents:
        return ""
    if answer.understanding is not None and answer.understanding.form == "summary":
        return ""
    fit = fit_of(answer)
    if fit == MAY_NOT_ANSWER and answer.model != "extractive":
        return ""
    return SAID.get(fit, "")


def _is_found(answer: Answer, asked: Understanding, cited: list[tuple[Citation, Hit]]) -> bool:
    """Whether the cited passages have the subject, measure, period, figure and cause of a question."""
    quotes = " ".join(citation.quote for citation, _ in cited)
    if answer.model == "extractive":
        # Such an answer has the heads of its rows. A chat model's words are its own, and prove nothing.
        quotes = f"{answer.first} {quotes}"
    above = " ".join(f"{hit.context} {_name(hit)}" for _, hit in cited)
    there = frozenset(terms(f"{quotes} {above}"))
    names = frozenset(terms(" ".join(f"{name} " for name in asked.names)))
    if names and names.isdisjoint(there):
        return False
    if not (_is_worked_out(answer) or _has_words(asked, there) or _names_one_row(answer, asked, cited)):
        return False
    # A passage with years of its own is about no other.
    years = _years(quotes) or _years(" ".join(f"{hit.facts.period or ''} {_name(hit)}" for _, hit in cited))
    if not set(asked.years) <= years or asked.other_period(quotes):
        return False
    if asked.form == "figure":
        return any(check.status in FINE for check in answer.numbers)
    if asked.form == "reason":
        return any(_CAUSES.search(citation.quote) for citation, _ in cited)
    return True


def _name(hit: Hit) -> str:
    """A document's name in words."""
    return hit.document.replace("_", " ")


def _is_worked_out(answer: Answer) -> bool:
    """Whether an answer has a result of a formula that was found right."""
    return any(check.formula and check.status in FINE for check in answer.numbers)


def _has_words(asked: Understanding, there: frozenset[str]) -> bool:
    """Whether enough of a question's words stand there."""
    measured = _measured(asked, there)  # "EPS", where the row is of earnings per share
    words = [term for term in content_terms(without_periods(asked.subject)) if not term[0].isdigit()]
    needed = [term for term in words if term not in measured]
    if len(needed) < FEWEST_WORDS and not measured:
        return False
    return sum(term in there for term in needed) >= LEAST_FOUND * len(needed)


def _names_one_row(answer: Answer, asked: Understanding, cited: list[tuple[Citation, Hit]]) -> bool:
    """Whether a question's words are the label of the row cited first, and no other row with it is cited."""
    names = terms(" ".join(asked.names))
    words = {term for term in content_terms(asked.subject) if not term[0].isdigit()}
    wanted = words.difference(names, _OF_ANY_ROW)
    if not wanted or _label(cited[0][0].quote) != wanted:
        return False
    rows = {" ".join(citation.quote.split()) for citation in answer.citations}
    return sum(_label(row) == wanted for row in rows) == 1


def _label(row: str) -> set[str]:
    """The words before a row's figures."""
    found = _LABEL.match(row)
    assert found is not None  # it matches nothing, too
    return set(terms(found[0])) - _OF_ANY_ROW


def _measured(asked: Understanding, there: frozenset[str]) -> frozenset[str]:
    """The words by which a question asks for measures that stand there under one of their names."""
    words: set[str] = set()
    for measure in map(measure_named, asked.measures):
        if measure.formula:
            continue
        if any(set(phrase) <= there for phrase in measure.printed):
            words.update(*measure.asked)
    return frozenset(words)


def _years(text: str) -> set[int]:
    """The years that a text names, with all years of a span."""
    years: set[int] = set()
    for period in find_periods(text):
        first = period.start_year
        last = min(period.end_year, first + MOST_YEARS)
        years.update(range(first, last + 1))
    return years
