"""Tells whether the name of a page, or what is quoted of it, is an instruction to a machine."""

from __future__ import annotations

from functools import lru_cache

from chatbot.evidence.word_runs import MIN_QUOTE_WORDS, comparable_words, longest_run, span_of
from chatbot.records import Hit
from ingestion.language.sentences import sentences
from ingestion.prompt_injection.injections import find_instructions
from ingestion.records import NAMED

__all__ = ["instructs_by_name", "repeats_order"]

# Share of a sentence giving an order that must be shown in a row: facts that it names stand elsewhere too.
_SHOWN_OF_ORDER = 0.5


def instructs_by_name(hit: Hit) -> bool:
    """Whether a name of the page or its document addresses its reader as a machine."""
    return NAMED in hit.instructions or _instructs(hit.document) or _instructs(hit.page_label or "")


@lru_cache(1_000)
def _instructs(name: str) -> bool:
    return bool(find_instructions(name.replace("_", " ")))


def repeats_order(shown: str, order: str) -> bool:
    """Whether a text shows an order to a machine, or most of one of its sentences.

    A caption may hold the order's beginning only.
    """
    words = comparable_words(shown)
    if span_of(comparable_words(order).texts, words):
        return True
    for sentence in sentences(order):
        sought = comparable_words(sentence)
        run = longest_run(sought, words)
        if run is None:
            continue
        least = max(MIN_QUOTE_WORDS, _SHOWN_OF_ORDER * len(sought.texts))
        if len(comparable_words(shown[slice(*run)]).texts) >= least:
            return True
    return False
