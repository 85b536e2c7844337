"""Looks up what the documents in reach have of a question: its names, its years, and how near they come to
its topic; judges nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from chatbot.models.cosine_scale import MULTILINGUAL, as_minilms
from chatbot.models.embedders import SentenceVectors
from chatbot.records import Hit, Understanding
from chatbot.search.editions import Listed
from chatbot.search.entities import name_words, names_of, topic_of
from chatbot.search.refusal import Likeness, likeness_of
from chatbot.search.routing import document_parts, name_share, named_share
from chatbot.store.library import Library
from ingestion.language.language_detection import is_foreign
from ingestion.language.terms import terms
from ingestion.records import DocumentFacts

__all__ = ["as_known", "is_about", "known_terms", "listed", "named_documents", "opens_with", "topic_likeness"]

# The share of a document's pages from which on a name says nothing of what is asked there: whom all of it is
# about.
COMMON = 0.25
# Pages at whose beginning a document says whose it is: a cover and the page behind it.
FIRST_PAGES = 2
# By how much less the sentences of an English page are like a question in another language. Of 40 in four
# languages that their documents answer 30 are answered with it, and of those asked of another document 9 to
# 16; without it, and with all words with capitals taken for names, 12 and 1.
ACROSS = 0.1


def listed(library: Library) -> dict[str, Listed]:
    """The documents that are there, by name."""
    return {
        row.name: Listed(row.name, row.title, DocumentFacts(row.period, row.status))
        for row in library.catalog.documents()
        if row.removed_at is None
    }


def known_terms(library: Library, asked: Understanding, names: Sequence[str]) -> Callable[[str], bool]:
    """Whether any of these documents (all for none) has a term, of the question's years and its names'
    words; a file's name counts.
    """
    called = names_of(asked)
    wanted = dict.fromkeys([*map(str, asked.years), *(word for name in called for word in name_words(name))])
    if wanted:
        scope = library.scope(names)
    else:
        scope = {}
    there = {
        term for term in wanted if any(library.terms(version).pages.frequency(term) for version in scope)
    }
    if len(there) < len(wanted):
        files = [document_parts(name) for name in scope.values()]
    else:
        files = []
    there.update(
        word
        for name in called
        if any(named_share(parts, name) > 0 for parts in files)
        for word in name_words(name)
    )
    return there.__contains__


def named_documents(
    library: Library, asked: Understanding, names: Sequence[str]
) -> dict[str, frozenset[int]]:
    """name -> versions, among these documents (all for none), of those that are about it; of those that
    mention it where none is.

    Only the names that call a file, where there are such: beside "Norland", "Treasury" tells no document from
    another; and of files those that say most of a name: "rbi" says all of "Reserve Bank of India", "india" a
    third. {} for one document.
    """
    called = names_of(asked)
    if called:
        scope = library.scope(names)
    else:
        scope = {}
    if len(scope) < 2:
        return {}
    of_files = {name: _called(scope, name) for name in called}
    about = {
        name: files
        or frozenset(version for version in scope if is_about(library, version, name))
        or _mentioning(library, scope, name)
        for name, files in of_files.items()
    }
    return {name: versions for name, versions in about.items() if of_files[name]} or about


def _called(scope: Mapping[int, str], name: str) -> frozenset[int]:
    """The versions whose file's name says most of a name; none where none says any."""
    parts = {version: document_parts(file) for version, file in scope.items()}
    shares = {version: name_share(of, name) for version, of in parts.items() if named_share(of, name) > 0}
    return frozenset(version for version, share in shares.items() if share == max(shares.values()))


def _mentioning(library: Library, versions: Iterable[int], name: str) -> frozenset[int]:
    words = name_words(name)
    return frozenset(
        version for version in versions if words and all(map(library.terms(version).pages.frequency, words))
    )


def opens_with(library: Library, version: int, name: str) -> bool:
    """Whether one of the document's first pages has all words of a name."""
    words = name_words(name)
    pages = library.terms(version).pages
    return bool(words) and any(
        all(pages.has(word, unit) for word in words) for unit in range(min(FIRST_PAGES, len(pages.lengths)))
    )


def is_about(library: Library, version: int, name: str) -> bool:
    """Whether the document is called by a name, has it on its first pages, or on so many that it is about
    it.
    """
    words = name_words(name)
    pages = library.terms(version).pages
    if opens_with(library, version, name):
        return True
    if words and min(map(pages.frequency, words)) >= COMMON * len(pages.lengths):
        return True
    stored = library.catalog.version(version)
    if stored is None:
        return False
    return named_share(document_parts(stored.document), name) > 0 or (
        bool(words) and set(words) <= set(terms(stored.title or ""))
    )


def topic_likeness(
    library: Library,
    sentences: SentenceVectors,
    asked: Understanding,
    hits: Sequence[Hit],
    said: Sequence[str],
) -> Likeness:
    """How like the question's topic the pages' sentences, `said`, and all passages of their documents are.
    Raises ModelError.
    """
    versions = list(dict.fromkeys(hit.version for hit in hits))
    pages = [library.terms(version).pages for version in versions]

    def common(name: str) -> bool:
        words = name_words(name)
        if any(named_share(document_parts(hit.document), name) > 0 for hit in hits):
            return True
        return any(min(map(of.frequency, words), default=0) >= COMMON * len(of.lengths) for of in pages)

    vector = sentences.asked(topic_of(asked, common))
    cosines = [
        library.matrix(version).cosines(vector, len(library.chunk_pages(version))) for version in versions
    ]
    fingerprint = library.embedder.fingerprint
    near = as_minilms(fingerprint, sentences.vectors(said) @ vector, sentences=True) + (
        ACROSS if _is_foreign(library, asked) else 0.0
    )
    return likeness_of(near.tolist(), as_minilms(fingerprint, np.concatenate(cosines)))


def as_known(library: Library, asked: Understanding, names: Sequence[str]) -> Understanding:
    """What is asked in another language, where the embedder reads it, with those names only that these
    documents (all for none) have: its other words with capitals, as German nouns, are none. What is asked in
    English stays."""
    if not asked.names or not _is_foreign(library, asked):
        return asked
    known = known_terms(library, asked, names)
    return replace(asked, names=tuple(name for name in asked.names if all(map(known, name_words(name)))))


def _is_foreign(library: Library, asked: Understanding) -> bool:
    """Whether the question is in another language, and the embedder reads it; where it does not, its words
    are all there is to go by. One that names a measure in English is none: "Net income der Deutschen Bank".
    """
    return (
        library.embedder.fingerprint.startswith(MULTILINGUAL)
        and not asked.measures
        and is_foreign(asked.subject)
    )
