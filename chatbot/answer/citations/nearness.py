"""Tells whether a sentence of a page is near enough to a statement to be compared with it."""

from __future__ import annotations

from chatbot.answer.citations.citation_keys import KEYS_IN_BRACKETS
from ingestion.language.numbers import find_figures
from ingestion.language.terms import content_terms, terms

__all__ = ["is_near"]

# The share of a statement's words that the sentence must have, and how many of them at least.
LEAST_SHARED, FEWEST_SHARED = 0.25, 2


def is_near(statement: str, sentence: str) -> bool:
    """Whether the sentence has a figure of the statement, or enough of its words."""
    said = KEYS_IN_BRACKETS.sub(" ", statement)
    values = {figure.value for figure in find_figures(sentence)}
    if any(figure.value in values for figure in find_figures(said)):
        return True
    words = {word for word in content_terms(said) if not word[0].isdigit()}
    shared = words.intersection(terms(sentence))
    return len(shared) >= max(LEAST_SHARED * len(words), min(FEWEST_SHARED, len(words)))
