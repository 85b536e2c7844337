"""Looks up what the documents in reach have of a question: its names, its years, and how near they come to its topic; judges nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from chatbot.records import Hit, Understanding
from chatbot.search.named import name_words, named_together, topic_of
from chatbot.search.refusal import Likeness, likeness_of
from chatbot.search.routing import document_parts, named_share
from chatbot.store.embedders import SentenceVectors
from chatbot.store.library import Library

__all__ = ["known_terms", "topic_likeness"]

# The share of a document's pages from which on a name says nothing of what is asked there: whom all of it is about.
COMMON = 0.25


def known_terms(library: Library, asked: Understanding, names: Sequence[str]) -> Callable[[str], bool]:
    """Whether any of these documents (all for none) has a term, of the question's years and its names' words; a file's name counts."""
    called = [name for group in named_together(asked) for name in group]
    terms = dict.fromkeys([*map(str, asked.years), *(word for name in called for word in name_words(name))])
    scope = library.scope(names) if terms else {}
    there = {term for term in terms if any(library.terms(version).pages.frequency(term) for version in scope)}
    files = [document_parts(name) for name in scope.values()] if len(there) < len(terms) else []
    there.update(word for name in called if any(named_share(parts, name) > 0 for parts in files) for word in name_words(name))
    return there.__contains__


def topic_likeness(library: Library, sentences: SentenceVectors, asked: Understanding, hits: Sequence[Hit], said: Sequence[str]) -> Likeness:
    """How like the question's topic the pages' sentences, `said`, and all passages of their documents are. Raises ModelError."""
    versions = list(dict.fromkeys(hit.version for hit in hits))
    pages = [library.terms(version).pages for version in versions]

    def common(name: str) -> bool:
        words = name_words(name)
        if any(named_share(document_parts(hit.document), name) > 0 for hit in hits):
            return True
        return any(min(map(of.frequency, words), default=0) >= COMMON * len(of.lengths) for of in pages)

    vector = sentences.vectors([topic_of(asked, common)])[0]
    cosines = [library.matrix(version).cosines(vector, len(library.chunk_pages(version))) for version in versions]
    return likeness_of((sentences.vectors(said) @ vector).tolist(), np.concatenate(cosines))
