"""Looks up what the documents in reach have of a question: its names, its years, and its topic."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain

import numpy as np

from chatbot.models.cosine_scale import MULTILINGUAL_PREFIXES, as_minilms
from chatbot.models.embedders import SentenceVectors
from chatbot.records import Hit, Understanding
from chatbot.search.editions import Listed
from chatbot.search.entities import name_words, names_of, topic_of
from chatbot.search.refusal import Likeness, likeness_of
from chatbot.search.routing import document_parts, name_share, named_share
from chatbot.store.library import Library
from chatbot.store.term_scores import Lexicon
from ingestion.chunks import split_page
from ingestion.language.language_detection import is_foreign
from ingestion.language.terms import terms

__all__ = ["as_known", "is_about", "known_terms", "listed", "named_documents", "opens_with", "topic_likeness"]

# From this share of a document's pages on a name says nothing about what is asked there: it is whom the whole
# document is about.
COMMON = 0.25
# Pages at whose beginning a document says whose it is: a cover and the page after it.
FIRST_PAGES = 2
# How much less the sentences of an English page resemble a question in another language. Of 40 questions in
# four languages that their documents answer, 30 are answered with it, and of those asked of another document
# 9 to 16; without it, and with all capitalised words taken for names, 12 and 1.
ACROSS = 0.1


def listed(library: Library) -> dict[str, Listed]:
    """The documents that are there, by name."""
    return {name: Listed(name, title, facts) for name, title, facts in library.catalog.described()}


def known_terms(library: Library, asked: Understanding, names: Sequence[str]) -> Callable[[str], bool]:
    """Whether any of these documents (all for none) has a term, of the question's years and its names'
    words; a file's name counts.
    """
    called = names_of(asked)
    wanted = {*map(str, asked.years), *chain.from_iterable(map(name_words, called))}
    if not wanted:
        return wanted.__contains__
    scope = library.scope(names)

    def in_a_document(term: str) -> bool:
        return any(library.terms(version).pages.frequency(term) for version in scope)

    known = set(filter(in_a_document, wanted))
    if len(known) < len(wanted):
        files = list(map(document_parts, scope.values()))
        for name in called:
            if any(named_share(parts, name) > 0 for parts in files):
                known.update(name_words(name))
    return known.__contains__


def named_documents(
    library: Library, asked: Understanding, names: Sequence[str]
) -> dict[str, frozenset[int]]:
    """name -> versions, among these documents (all for none), of those that are about it; of those that
    mention it where none is.

    Where some names call a file, only these are given: beside "Norland", "Treasury" tells no document from
    another. Of several files, those count that say most of a name: "rbi" says all of "Reserve Bank of India",
    "india" a third. {} for one document.
    """
    called = names_of(asked)
    if not called:
        return {}
    scope = library.scope(names)
    if len(scope) < 2:
        return {}
    of_files = {name: _called(scope, name) for name in called}
    about = {
        name: files or _about(library, scope, name) or _mentioning(library, scope, name)
        for name, files in of_files.items()
    }
    return {name: versions for name, versions in about.items() if of_files[name]} or about


def _called(scope: Mapping[int, str], name: str) -> frozenset[int]:
    """The versions whose file's name says most of a name; none where none says any of it."""
    shares = {}
    for version, file in scope.items():
        parts = document_parts(file)
        if named_share(parts, name) > 0:
            shares[version] = name_share(parts, name)
    most = max(shares.values(), default=0.0)
    return frozenset(version for version, share in shares.items() if share == most)


def _about(library: Library, versions: Collection[int], name: str) -> frozenset[int]:
    said = {version for version in versions if _says(library, version, name)}
    others = library.catalog.called(set(versions) - said)
    return frozenset(said.union(version for version, called in others.items() if _is_called(*called, name)))


def _mentioning(library: Library, versions: Iterable[int], name: str) -> frozenset[int]:
    words = name_words(name)
    if not words:
        return frozenset()
    return frozenset(
        version for version in versions if all(map(library.terms(version).pages.frequency, words))
    )


def opens_with(library: Library, version: int, name: str) -> bool:
    """Whether one of the document's first pages has all words of a name; a text from outside has none."""
    if version < 0:
        return False
    words = name_words(name)
    pages = library.terms(version).pages
    if not words:
        return False
    for unit in range(min(FIRST_PAGES, len(pages.lengths))):
        if all(pages.has(word, unit) for word in words):
            return True
    return False


def is_about(library: Library, version: int, name: str) -> bool:
    """Whether the document is called by a name, has it on its first pages, or on so many pages that it is
    about it. Not so for a text from outside.
    """
    if version < 0:
        return False
    if _says(library, version, name):
        return True
    return any(_is_called(*called, name) for called in library.catalog.called([version]).values())


def _says(library: Library, version: int, name: str) -> bool:
    """Whether a document has a name on its first pages, or on so many that it is about it."""
    return opens_with(library, version, name) or _is_common(library.terms(version).pages, name)


def _is_called(document: str, title: str, name: str) -> bool:
    """Whether a file's name says some of a name, or its title all."""
    if named_share(document_parts(document), name) > 0:
        return True
    words = name_words(name)
    return bool(words) and _title_terms(title).issuperset(words)


@lru_cache(maxsize=200_000)  # asked for each document
def _title_terms(title: str) -> frozenset[str]:
    return frozenset(terms(title))


def _is_common(pages: Lexicon, name: str) -> bool:
    """Whether all words of a name stand on COMMON of a document's pages."""
    words = name_words(name)
    if not words:
        return False
    return min(map(pages.frequency, words)) >= COMMON * len(pages.lengths)


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
    versions = list(dict.fromkeys(hit.version for hit in hits if not hit.external))
    pages = [library.terms(version).pages for version in versions]

    def common(name: str) -> bool:
        return any(named_share(document_parts(hit.document), name) > 0 for hit in hits) or any(
            _is_common(of_version, name) for of_version in pages
        )

    vector = sentences.asked(topic_of(asked, common))
    cosines = [
        library.matrix(version).cosines(vector, len(library.chunk_pages(version))) for version in versions
    ]
    for hit in hits:
        if hit.external:
            chunks = [hit.body[start:end] for start, end in split_page(hit.body)]
            cosines.append(sentences.vectors(chunks) @ vector)
    fingerprint = library.embedder.fingerprint
    near = as_minilms(fingerprint, sentences.vectors(said) @ vector, sentences=True)
    if _is_foreign(library, asked):
        near = near + ACROSS
    return likeness_of(near.tolist(), as_minilms(fingerprint, np.concatenate(cosines)))


def as_known(library: Library, asked: Understanding, names: Sequence[str]) -> Understanding:
    """The question, with only those names that these documents (all for none) have, if it is in another
    language and the embedder reads that: its other capitalised words, such as German nouns, are no names. A
    question in English stays as it is.
    """
    if not asked.names or not _is_foreign(library, asked):
        return asked
    known = known_terms(library, asked, names)

    def is_known(name: str) -> bool:
        return all(map(known, name_words(name)))

    return replace(asked, names=tuple(filter(is_known, asked.names)))


def _is_foreign(library: Library, asked: Understanding) -> bool:
    """Whether the question is in another language, and the embedder reads it; where it does not, its words
    are all there is to go by.

    A question that names a measure in English is not: "Net income der Deutschen Bank".
    """
    return (
        library.embedder.fingerprint.startswith(MULTILINGUAL_PREFIXES)
        and not asked.measures
        and is_foreign(asked.subject)
    )
