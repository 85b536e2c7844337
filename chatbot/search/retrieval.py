"""Finds the pages that answer a query.

Chroma and the keyword index name candidates; then each chunk of their pages is scored exactly.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chatbot.errors import QuestionError, StoreError
from chatbot.models.cosine_scale import as_minilms
from chatbot.records import Hit, Understanding
from chatbot.search.editions import newer_bonus
from chatbot.search.fusion import Fused, LongQuery, QueryChunk, search_chunks
from chatbot.search.joint_evidence import JointDocuments, KeptDocument
from chatbot.search.page_scores import WEIGHTS, PageScores, Weights, score_pages
from chatbot.search.question_terms import understand
from chatbot.search.routing import route, years_of
from chatbot.search.scored_question import ScoredQuestion, TermWeights
from chatbot.store.catalog import StoredChunk
from chatbot.store.joint_lexicon import total_frequencies
from chatbot.store.library import Library
from chatbot.store.term_scores import inverse_frequency
from chatbot.store.vector_index import Matrix
from ingestion.language.terms import content_terms
from ingestion.records import DocumentFacts

__all__ = ["MODES", "MOST_HITS", "Query", "Retriever"]

log = logging.getLogger(__name__)
MODES = ("hybrid", "vector", "keyword")
# Up to this many chunks of named documents are each scored exactly, which takes 10 ms. A filter within Chroma
# is a scan and takes longer.
MOST_EXACT_CHUNKS = 20_000
# Where an index cannot be asked, all chunks are scored if there are no more than this. That takes most of
# what a process keeps in memory.
MOST_CHUNKS_WITHOUT_INDEX = 150_000
# Candidates from each index: the pages that end up in the first ten were always among the first 60 chunks of
# one of them. Where they have fewer pages than are asked for, this many times more candidates are taken, and
# the new pages follow the earlier ones.
CANDIDATES, MORE_CANDIDATES = 100, 4
MOST_HITS = 10_000
# Documents scored at the same time: more take no less time each, but their terms are all in memory.
SCORED_TOGETHER = 200
# What a term adds that the question itself does not use: a term by which documents print its measure, and a
# term that may stand for one of its words.
PRINTED_SHARE = 0.4
RELATED_SHARE = 0.3
Floats = NDArray[np.float32]
Ordinals = NDArray[np.int64]
# (version, page).
PageKey = tuple[int, int]
# (version, ordinal, score).
FoundChunk = tuple[int, int, float]
# version -> (name, facts).
Documents = Mapping[int, tuple[str, DocumentFacts]]


@dataclass(frozen=True, slots=True)
class Query:
    """What is searched for.

    text: the words of the query.
    vector: the unit vector of its subject, None to search by words alone.
    names: documents to stay in, () for all.
    mode: one of MODES.
    k: the number of pages.
    understanding: of `text`; made from it where None.
    weights: of the kinds of evidence.
    pieces: of the text that `understanding` is of, to be searched by `strategy` instead of by the vector.
    strategy: of fusion.STRATEGIES.
    """

    text: str
    vector: Floats | None
    names: tuple[str, ...] = ()
    mode: str = "hybrid"
    k: int = 3
    understanding: Understanding | None = None
    weights: Weights = WEIGHTS
    pieces: LongQuery | None = None
    strategy: str = "average"

    @property
    def asked(self) -> Understanding:
        """What is asked by it."""
        return self.understanding or understand(self.text, self.text)


@dataclass(frozen=True, slots=True)
class _DocumentInReach:
    """A live version in reach.

    name: of the document.
    years: that it is about.
    chunk_pages: (chunks,) page of each chunk.
    named: how much the question names it, 0-1.
    bonus: what its pages gain for being named, and for being of the year asked for or the newest of their
        series.
    """

    name: str
    years: tuple[int, ...]
    chunk_pages: Ordinals
    named: float
    bonus: float

    @property
    def chunks(self) -> int:
        """How many chunks it has."""
        return len(self.chunk_pages)


@dataclass(frozen=True, slots=True)
class _Scope:
    """The part of the library that is searched.

    documents: by version.
    keep: version -> ordinals to score, None for all.
    more: whether there are other candidates.
    vectors: by version, of the chunks to score; for other versions the library has them.
    """

    documents: Mapping[int, _DocumentInReach]
    keep: Mapping[int, Ordinals] | None = None
    more: bool = False
    vectors: Mapping[int, Matrix] = field(default_factory=dict)

    @property
    def chunks(self) -> int:
        """How many chunks are in reach."""
        return sum(document.chunks for document in self.documents.values())

    def among(self, candidates: Iterable[tuple[int, int]], *, more: bool) -> _Scope:
        """Narrows the scope to the pages of these chunks, given as (version, ordinal), and to the documents
        that the question names.
        """
        chosen: dict[int, list[int]] = {}
        for version, ordinal in candidates:
            chosen.setdefault(version, []).append(ordinal)
        keep = {}
        for version, ordinals in chosen.items():
            chunk_pages = self.documents[version].chunk_pages
            # An index may name what is not there: others can write to a shared server.
            if there := [ordinal for ordinal in ordinals if ordinal < len(chunk_pages)]:
                keep[version] = _on_the_same_pages(chunk_pages, there)
        for version in self._named():
            keep[version] = np.arange(self.documents[version].chunks)
        return replace(self, keep=keep, more=more)

    def _named(self) -> list[int]:
        """The versions that the question names, best first, as far as all of them can be scored whole."""
        named = [row for row in self.documents.items() if row[1].named > 0]
        named.sort(key=lambda row: (-row[1].named, row[0]))
        sizes = np.cumsum([document.chunks for _, document in named])
        count = int(np.searchsorted(sizes, MOST_EXACT_CHUNKS, side="right"))
        return [version for version, _ in named[:count]]


class _Row(NamedTuple):
    """A page that was scored.

    score: with its document's bonus.
    version, page: which page it is.
    ordinal: of its best chunk.
    scored: the scores it comes from, broken down into parts only for the pages that are shown.
    at: its place in them.
    """

    score: float
    version: int
    page: int
    ordinal: int
    scored: PageScores
    at: int

    @property
    def key(self) -> PageKey:
        """(version, page)."""
        return self.version, self.page

    def parts(self) -> dict[str, float]:
        """What each kind of evidence gives the page."""
        return {name: float(part[self.at]) for name, part in self.scored.parts.items()}


@dataclass(frozen=True, slots=True)
class _Ranking:
    """What one search found.

    names: of the documents, by version.
    rows: of pages, best first.
    own: weights of the query's own terms.
    """

    names: Mapping[int, str]
    rows: list[_Row]
    own: Mapping[str, float]


class Retriever:
    """Searches a library. Holds nothing but what the library keeps ready; safe from several threads."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def search(self, query: Query) -> list[Hit]:
        """The best pages, at most `query.k`, best first, one hit a page; the order does not depend on k.
        Raises NotFoundError for an unknown document.
        """
        pieces, asked = query.pieces, query.understanding
        if pieces and asked and asked.subject == pieces.text and len(pieces.chunks) > 1:
            return self.search_long(replace(query, pieces=None), pieces, query.strategy)[: query.k]
        return _again(partial(self._search, query), query)

    def search_long(
        self,
        query: Query,
        long: LongQuery,
        strategy: str,
        *,
        progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> list[Hit]:
        """Like search, with the pieces of `long` in place of the query's text and vector, combined by
        `strategy`: see fusion.search_chunks.

        query.understanding: of the whole. progress(done, total): searches. Raises QuestionError for an
        unknown strategy.
        """
        return _again(partial(self._search_long, query, long, strategy, progress), query)

    def _search_long(
        self, query: Query, long: LongQuery, strategy: str, progress: Callable[[int, int], None]
    ) -> list[Hit]:
        rankings: dict[int | None, _Ranking] = {}

        def pages(chunk: QueryChunk, n: int) -> list[tuple[PageKey, float]]:
            of_chunk = replace(query, vector=chunk.vector if query.mode != "keyword" else None, k=n)
            if chunk.text != long.text:
                of_chunk = replace(of_chunk, text=chunk.text, understanding=None)
            ranking = self._ranked(of_chunk)
            rankings[chunk.index] = ranking
            return [(row.key, row.score) for row in ranking.rows[:n]]

        fused = search_chunks(long, pages, strategy=strategy, n=query.k, progress=progress)
        return [self._fused_hit(page, rankings) for page in fused]

    def _fused_hit(self, fused: Fused[PageKey], rankings: Mapping[int | None, _Ranking]) -> Hit:
        """The page with the chunk that the matching piece of the query found best; where no piece is named,
        with the best chunk of all.
        """
        choice = [rankings[fused.chunk_match]] if fused.chunk_match in rankings else [*rankings.values()]
        found = ((row, ranking) for ranking in choice for row in ranking.rows if row.key == fused.key)
        row, ranking = max(found, key=lambda pair: pair[0].score)
        hit = self._hit(row, ranking)
        return replace(hit, score=round(fused.score, 6), chunk_match=fused.chunk_match)

    def _search(self, query: Query) -> list[Hit]:
        ranking = self._ranked(query)
        return [self._hit(row, ranking) for row in ranking.rows[: query.k]]

    def _ranked(self, query: Query) -> _Ranking:
        understanding = query.asked
        question = ScoredQuestion(understanding, query.vector if query.mode != "keyword" else None)
        in_reach = self._scope(query, understanding)
        names = {version: document.name for version, document in in_reach.documents.items()}
        ranking = _Ranking(names, [], {})
        wanted = CANDIDATES
        while True:
            scope = self._narrowed(query, in_reach, wanted)
            weights = self._term_weights(question, scope)
            ranked_before = {row.key for row in ranking.rows}
            scored = self._rows(query, question, scope, weights)
            added = [row for row in scored if row.key not in ranked_before]
            added.sort(key=lambda row: (-row.score, row.version, row.page))
            ranking = _Ranking(names, [*ranking.rows, *added], ranking.own or weights.own)
            if len(ranking.rows) >= query.k or not scope.more:
                return ranking
            wanted *= MORE_CANDIDATES

    def _scope(self, query: Query, understanding: Understanding) -> _Scope:
        """Everything in reach."""
        scope = self._library.scope(query.names)
        documents = {version: (name, self._library.facts(version)) for version, name in scope.items()}
        weights = _of_mode(query)
        routed = route(understanding, documents)
        newest = self._newest(query, understanding, documents) if weights.document else {}
        found = {}
        for version, (name, facts) in documents.items():
            named, period = routed[version]
            bonus = weights.document * named + weights.period_of_document * period
            bonus += newest.get(name, 0.0)
            years = years_of(name, facts)
            chunk_pages = self._library.chunk_pages(version)
            found[version] = _DocumentInReach(name, years, chunk_pages, named, bonus)
        return _Scope(found)

    def _rows(
        self, query: Query, question: ScoredQuestion, scope: _Scope, term_weights: TermWeights
    ) -> Iterator[_Row]:
        """A row for each page that is scored and has anything in its favour."""
        if scope.keep is None:
            versions: Iterable[int] = scope.documents
        else:
            versions = scope.keep
        together: dict[tuple[int, ...], list[int]] = {}
        for version in versions:
            document = scope.documents[version]
            if document.chunks:
                together.setdefault(question.years_in(document.years), []).append(version)
        for years, of_years in together.items():
            asked = question.of_years(years)
            for first in range(0, len(of_years), SCORED_TOGETHER):
                part = of_years[first : first + SCORED_TOGETHER]
                yield from self._score(part, asked, scope, term_weights, _of_mode(query))

    def _newest(
        self, query: Query, understanding: Understanding, documents: Documents
    ) -> Mapping[str, float]:
        """name -> what the newest document of a series gains, where the question leaves open which one it
        means.
        """
        if query.names or understanding.years or understanding.relative_years:
            return {}
        if understanding.reading.asks("older"):
            return {}
        return newer_bonus(tuple(documents.values()))

    def beginnings(self, version: int, name: str, pages: Collection[int]) -> list[Hit]:
        """These pages of a document, each with its first chunk. name: of the document."""
        catalog = self._library.catalog
        first: dict[int, int] = {}
        for ordinal, page in enumerate(catalog.chunk_pages(version)):
            first.setdefault(page, ordinal)
        return [
            self._as_hit(name, catalog.chunk(version, first[page]), 0.0, {})
            for page in sorted(pages)
            if page in first
        ]

    def raw(self, vector: Floats, names: Sequence[str], k: int) -> list[Hit]:
        """The k nearest chunks by cosine, possibly several of one page: the plain top-k of a vector store."""
        _check("vector", k)
        active = self._library.scope(names)
        try:
            found = self._nearest(vector, active, k, 1.0) if not names else self._each(vector, active)
        except StoreError:  # as in `_narrowed`
            found = self._each(vector, active)
        found.sort(key=_nearest_first)
        chunk = self._library.catalog.chunk
        return [
            self._as_hit(active[version], chunk(version, ordinal), score, {"vector": score})
            for version, ordinal, score in found[:k]
        ]

    def _narrowed(self, query: Query, scope: _Scope, wanted: int) -> _Scope:
        """The scope kept to the pages that the indexes name; all of it where it is small, or where an index
        cannot be asked.
        """
        # Chroma cannot name what it lacks.
        if scope.chunks <= MOST_EXACT_CHUNKS and (query.names or self._library.without_vectors()):
            return scope
        # The next change of the store rebuilds a damaged index, or one for which the disk had no room; until
        # then each chunk is scored.
        try:
            candidates, more = self._candidates(query, scope, wanted)
        except StoreError:
            if scope.chunks > MOST_CHUNKS_WITHOUT_INDEX:
                raise
            return scope
        narrowed = scope.among(candidates, more=more)
        if query.vector is None or query.mode == "keyword":
            return narrowed
        return replace(narrowed, vectors=self._library.some_vectors(narrowed.keep or {}))

    def _candidates(self, query: Query, scope: _Scope, wanted: int) -> tuple[list[tuple[int, int]], bool]:
        """(version, ordinal) of the best `wanted` chunks of each index, and whether there may be others.
        Raises StoreError.
        """
        found = list[list[FoundChunk]]()
        failures = list[StoreError]()
        keywords = self._library.indexes.keywords
        share = scope.chunks / max(1, keywords.count())
        searches = list[Callable[[], list[FoundChunk]]]()
        if query.mode != "vector":
            by_words = partial(keywords.search, content_terms(query.text))
            searches.append(partial(_live, by_words, scope.documents, wanted, share))
        if query.vector is not None and query.mode != "keyword":
            searches.append(partial(self._nearest, query.vector, scope.documents, wanted, share))
        for search in searches:
            try:
                found.append(search())
            except StoreError as error:
                failures.append(error)
        # In a small store each chunk can be scored instead; in a large one, the other index is enough.
        if failures and (not found or scope.chunks <= MOST_CHUNKS_WITHOUT_INDEX):
            raise failures[0]
        for failure in failures:
            log.warning("Only one of the two indexes was searched: %s", failure)
        candidates = [row[:2] for row in chain.from_iterable(found)]
        more = any(len(rows) >= wanted for rows in found)
        return candidates, more

    def _nearest(self, vector: Floats, live: Container[int], wanted: int, share: float) -> list[FoundChunk]:
        """(version, ordinal, cosine) of the nearest chunks, as Chroma names them. Raises StoreError."""
        if not self._library.indexes.complete:
            raise StoreError(
                "The vector index is being rebuilt.", hint="Wait until that is finished.", retryable=True
            )
        return _live(partial(self._library.indexes.vectors.search, vector), live, wanted, share)

    def _each(self, vector: Floats, live: Iterable[int]) -> list[FoundChunk]:
        """(version, ordinal, cosine) of every chunk."""
        found = []
        for version in live:
            count = len(self._library.chunk_pages(version))
            cosines = self._library.matrix(version).cosines(vector, count)
            found += [(version, ordinal, float(cosine)) for ordinal, cosine in enumerate(cosines)]
        return found

    def _term_weights(self, question: ScoredQuestion, scope: _Scope) -> TermWeights:
        """Inverse document frequencies over the chunks in reach: of the question's own terms, and smaller
        ones of terms that it means.
        """
        words = {*question.words, *question.related, *question.printed}
        if scope.keep is not None:
            keywords = self._library.indexes.keywords
            count = keywords.count()
            frequencies = keywords.frequencies(words)
        else:
            lexicons = [self._library.terms(version).chunks for version in scope.documents]
            count = sum(len(lexicon.lengths) for lexicon in lexicons)
            frequencies = total_frequencies(lexicons, words)

        rarity = {word: inverse_frequency(count, min(count, frequencies[word])) for word in words}
        own = {word: rarity[word] for word in question.words}
        meant = {}
        for of_kind, share in ((question.related, RELATED_SHARE), (question.printed, PRINTED_SHARE)):
            for word in of_kind:
                if word not in own:
                    meant[word] = share * rarity[word]
        return TermWeights(own, meant)

    def _score(
        self,
        versions: Sequence[int],
        question: ScoredQuestion,
        scope: _Scope,
        term_weights: TermWeights,
        weights: Weights,
    ) -> Iterator[_Row]:
        """The pages of these versions, which have chunks, that have anything in their favour."""
        documents = JointDocuments([self._kept_document(version, scope) for version in versions])
        cosines = [self._cosines(version, question.vector, scope) for version in versions]
        on_scale = as_minilms(self._library.embedder.fingerprint, np.concatenate(cosines))
        scored = score_pages(documents.evidence(question, term_weights, weights, on_scale), weights)
        places = documents.places_of(scored)
        bonuses = np.array([scope.documents[version].bonus for version in versions])
        totals = (scored.total + bonuses[places.owners]).tolist()
        for at in np.flatnonzero(scored.total > 0).tolist():
            owner, page, ordinal = places.owners[at], places.pages[at], places.ordinals[at]
            yield _Row(totals[at], versions[owner], int(page), int(ordinal), scored, at)

    def _kept_document(self, version: int, scope: _Scope) -> KeptDocument:
        document = scope.documents[version]
        ordinals = np.arange(document.chunks) if scope.keep is None else scope.keep[version]
        terms, kinds = self._library.terms(version), self._library.page_kinds(version)
        return KeptDocument(terms, kinds, ordinals, document.chunk_pages[ordinals])

    def _cosines(self, version: int, vector: Floats | None, scope: _Scope) -> Floats:
        """The cosines of a version's chunks that are scored; -1 without a vector."""
        only = None if scope.keep is None else scope.keep[version]
        count = scope.documents[version].chunks
        if vector is None:
            return np.full(count if only is None else len(only), -1.0, np.float32)
        matrix = scope.vectors.get(version) or self._library.matrix(version)
        return matrix.cosines(vector, count, only)

    def _hit(self, row: _Row, ranking: _Ranking) -> Hit:
        weights = ranking.own
        parts = row.parts()
        by_page = self._library.terms(row.version).pages
        unit = row.page - 1
        in_all = sum(weights.values())
        on_page = [weight for word, weight in weights.items() if by_page.has(word, unit)]
        parts["coverage"] = sum(on_page) / max(in_all, 1e-9)
        chunk = self._library.catalog.chunk(row.version, row.ordinal)
        return self._as_hit(ranking.names[row.version], chunk, row.score, parts)

    def _as_hit(self, name: str, chunk: StoredChunk, score: float, parts: Mapping[str, float]) -> Hit:
        catalog = self._library.catalog
        before, after = chunk.page - 1, chunk.page + 1
        pages = catalog.pages(chunk.version, [before, chunk.page, after])
        page = pages[chunk.page]
        tables = catalog.tables(chunk.version, chunk.page)
        kinds = self._library.page_kinds(chunk.version)
        return Hit(
            document=name,
            version=chunk.version,
            page=chunk.page,
            page_label=page.label,
            label_source=page.label_source,
            extraction_method=page.method,
            confidence=page.confidence,
            chunk_id=f"{chunk.version}:{chunk.ordinal}",
            text=chunk.text,
            page_text=page.text,
            body=page.body,
            beside=(
                pages[before].body if before in pages else "",
                pages[after].body if after in pages else "",
            ),
            context=chunk.context,
            score=round(score, 6),
            scores={name: round(value, 4) for name, value in parts.items()},
            tables=tables.get(chunk.page, ()),
            kinds=kinds.get(chunk.page, ()),
            instructions=page.instructions,
            facts=self._library.facts(chunk.version),
        )


def _again(search: Callable[[], list[Hit]], query: Query) -> list[Hit]:
    """What a search finds. Searches once more where a document was replaced or erased meanwhile, so that what
    is there now answers.
    """
    _check(query.mode, query.k)
    try:
        return search()
    except (KeyError, IndexError):
        return search()


def _nearest_first(chunk: FoundChunk) -> tuple[float, int, int]:
    """Sorts chunks by score, ties by version and ordinal."""
    version, ordinal, score = chunk
    return -score, version, ordinal


def _of_mode(query: Query) -> Weights:
    if query.mode == "vector":
        return query.weights.only("vector")
    if query.mode == "keyword":
        return replace(query.weights, vector=0.0)
    return query.weights


def _on_the_same_pages(chunk_pages: Ordinals, ordinals: Sequence[int]) -> Ordinals:
    """Ordinals, ascending, of all chunks on the same pages as these."""
    wanted = np.zeros(chunk_pages.max(initial=0) + 1, bool)
    wanted[chunk_pages[ordinals]] = True
    return np.flatnonzero(wanted[chunk_pages])


def _live(
    search: Callable[[int], list[FoundChunk]], live: Container[int], wanted: int, share: float
) -> list[FoundChunk]:
    """The best `wanted` chunks of live versions. An index holds other versions too, so more is asked for:
    first in proportion to the `share` that is live, then more until there are enough.
    """
    limit = round(wanted / min(1.0, max(share, 1e-3)))
    while True:
        found = search(limit)
        kept = [row for row in found if row[0] in live]
        # A chunk of two windows is found twice and named once.
        if len(kept) >= wanted or len(found) < limit // 2:
            return kept[:wanted]
        limit *= 4


def _check(mode: str, k: int) -> None:
    if mode not in MODES:
        raise QuestionError(f"There is no mode named {mode!r}.", hint=f"Modes: {', '.join(MODES)}.")
    if not 1 <= k <= MOST_HITS:
        raise QuestionError(f"k is {k}.", hint=f"Ask for 1 to {MOST_HITS} pages.")
