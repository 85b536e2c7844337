"""Judges whether the pages found can answer at all, and says why not; numbers and words in, a reason out, no store.

A logistic regression on what was found, in place of single thresholds: no one sign tells a plausible question about what is not there from
an answerable one; entity, period, measure and subject together do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from chatbot.records import Hit, Understanding
from chatbot.terms import content_terms, terms

__all__ = ["REASONS", "explain", "refusal_evidence", "why_not"]

# Weights and threshold of benchmarks/calibrate_refusal.py on 166 answerable questions of 34 documents, 190 about what is absent there, and 228
# of other documents; features are taken as they are. Leaving one document out: answerable refused .07, absent .77, others' .92; by words alone
# .05, .70 and .88. The thresholds are a little lower than that, because documents not seen are asked in other words.
# The first set is for the embedder that its cosines are of; any other's lie elsewhere, and words decide.
CONSTANT = "constant"
WITH_LIKENESS: Mapping[str, float] = {
    "vector": 1.74,
    "likeness": 11.69,
    "chunk_words": 6.52,
    "names_missing": -5.85,
    "years_missing": -2.44,
    "year_found": 4.18,
    "measure": 0.37,
    "computed": 3.77,
    CONSTANT: -12.25,
}
BY_WORDS: Mapping[str, float] = {
    "chunk_words": 12.39,
    "names_missing": -6.11,
    "years_missing": -2.16,
    "year_found": 3.62,
    "measure": 0.27,
    "computed": 2.92,
    CONSTANT: -5.5,
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
# The parts of a measure's rows below which no row is taken to state it.
LEAST_MEASURE = 0.3


def refusal_evidence(
    asked: Understanding,
    hits: Sequence[Hit],
    rarity: Mapping[str, float],
    *,
    likeness: float | None,
    computed: bool,
) -> dict[str, float]:
    """What speaks for and against an answer, each about 0-1.

    rarity: term of the question -> its inverse document frequency in the documents in reach, 0 where none has it; likeness: the best cosine of
    a sentence of the pages to the question, None where it was not measured; computed: their tables state what is asked.
    """

    def best(part: str) -> float:
        return max((hit.scores.get(part, 0.0) for hit in hits), default=0.0)

    names = [content_terms(name) for name in asked.names]
    missing = [name for name in names if name and not any(rarity.get(word) for word in name)]
    years = [str(year) for year in asked.years]
    on_pages = [set(terms(hit.page_text)) for hit in hits]
    found = {
        "chunk_words": best("chunk_words"),
        "names_missing": len(missing) / max(1, len(names)),
        "years_missing": sum(not rarity.get(year) for year in years) / max(1, len(years)),
        "year_found": 1.0 if not years else float(any(years[-1] in page for page in on_pages)),
        "measure": best("measures") if asked.measures else 1.0,
        "computed": float(computed),
    }
    if likeness is not None:
        found |= {"vector": best("vector"), "likeness": likeness}
    return found


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
    if evidence["years_missing"] or not evidence["year_found"]:
        return "entity_without_period"
    if evidence["measure"] < LEAST_MEASURE:
        return "topic_without_figure"
    return "no_page"


def explain(reason: str, asked: Understanding, known: Callable[[str], bool]) -> str:
    """The sentence for a reason. known: whether any document in reach has a term."""
    missing = [name for name in asked.names if not any(map(known, content_terms(name)))]
    unknown = [str(year) for year in asked.years if not known(str(year))]
    years = unknown or [str(year) for year in asked.years]
    key = "period_elsewhere" if reason == "entity_without_period" and not unknown else reason
    return REASONS[key].format(names=", ".join(missing[:3]), years=", ".join(years[:3]), measures=" or the ".join(asked.measures[:2]))
