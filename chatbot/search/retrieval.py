"""Finds the pages that answer a query: Chroma and the keyword index name candidates, each chunk of their
pages is scored exactly; answers nothing itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from chatbot.errors import QuestionError, StoreError
from chatbot.models.cosine_scale import as_minilms
from chatbot.records import Hit, Understanding
from chatbot.search.editions import Listed, asks_for_older, newer_bonus
from chatbot.search.fusion import Fused, LongQuery, QueryChunk, search_chunks
from chatbot.search.page_scores import (
    WEIGHTS,
    PageScores,
    ScoreInputs,
    Weights,
    measure_rows,
    rows_about,
    score_pages,
)
from chatbot.search.question_terms import measures_of, operands_of, terms_of, understand
from chatbot.search.routing import route, years_of
from chatbot.store.catalog import StoredChunk
from chatbot.store.library import Library
from chatbot.store.term_scores import K1, Lexicon, inverse_frequency
from ingestion.language.measures import related_words
from ingestion.language.terms import content_terms
from ingestion.pages.kinds import (
    CONTENTS,
    INDEX_OF_STATEMENTS,
    PRIMARY_STATEMENTS,
    RISK_FACTORS_OR_BOILERPLATE,
)
from ingestion.records import DocumentFacts

__all__ = ["MODES", "MOST_HITS", "Query", "Retriever"]

MODES = ("hybrid", "vector", "keyword")
# Up to this many chunks of named documents are each scored exactly, which takes 10 ms: a filter within Chroma
# is a scan, and takes longer.
MOST_EXACT_CHUNKS = 20_000
# Candidates from each index: the pages that end in the first ten were always among the first 60 chunks of one
# of them. Where their pages are fewer than are asked for, so many times more are taken, and their pages
# follow those before.
CANDIDATES, MORE_CANDIDATES = 100, 4
MOST_HITS = 10_000
# Share of a question from which on it is about its measures and nothing else.
WHOLE = 0.5
# What a page of a wanted kind gets that is no primary statement.
OTHER_KINDS = 0.25
# What a term adds that the question does not say itself: one by which documents print its measure, and one
# that may stand for a word of it.
PRINTED_SHARE = 0.4
RELATED_SHARE = 0.3
# Who asks of these wants the pages that name every danger or clause, which else keep a share of their score
# only.
ABOUT_RISKS = frozenset(
    content_terms(
        "risk risks legal litigation lawsuit audit auditor exhibit clause contract agreement signed"
    )
)
Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Query:
    """What is searched. vector: the unit vector of its subject, None to search by words alone. names:
    documents to stay in, () for all. understanding: of `text`, made from it where it is None. weights: of the
    kinds of evidence."""

    text: str
    vector: Floats | None
    names: tuple[str, ...] = ()
    mode: str = "hybrid"
    k: int = 3
    understanding: Understanding | None = None
    weights: Weights = WEIGHTS


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A live version in reach. chunk_pages: (chunks,) page of each chunk; named: how much the question names
    it, 0-1; bonus: what its pages get for that, and for being of the year that is asked for or the newest of
    their series."""

    name: str
    years: tuple[int, ...]
    chunk_pages: NDArray[np.int64]
    named: float
    bonus: float


@dataclass(frozen=True, slots=True)
class _Scope:
    """What is searched. documents: by version; keep: version -> ordinals to score, None for all; more:
    there are other candidates.
    """

    documents: Mapping[int, _Candidate]
    keep: Mapping[int, NDArray[np.int64]] | None = None
    more: bool = False

    @property
    def chunks(self) -> int:
        """How many chunks are in reach."""
        return sum(len(document.chunk_pages) for document in self.documents.values())

    def among(self, candidates: Iterable[tuple[int, int]], *, more: bool) -> _Scope:
        """Kept to the pages of these chunks, as (version, ordinal), and to the documents that the question
        names.
        """
        chosen: dict[int, list[int]] = {}
        for version, ordinal in candidates:
            chosen.setdefault(version, []).append(ordinal)
        keep = {
            version: _on_the_same_pages(self.documents[version].chunk_pages, ordinals)
            for version, ordinals in chosen.items()
        }
        keep |= {version: np.arange(len(self.documents[version].chunk_pages)) for version in self._named()}
        return replace(self, keep=keep, more=more)

    def _named(self) -> list[int]:
        """The versions that the question names, best first, as far as all of them can be scored whole."""
        named = sorted(
            (-document.named, version) for version, document in self.documents.items() if document.named > 0
        )
        sizes = np.cumsum([len(self.documents[version].chunk_pages) for _, version in named])
        return [
            version for _, version in named[: int(np.searchsorted(sizes, MOST_EXACT_CHUNKS, side="right"))]
        ]


@dataclass(frozen=True, slots=True)
class _TermWeights:
    """Inverse document frequencies: own, of the question's terms; meant, of others that may stand for
    them, a share of theirs.
    """

    own: Mapping[str, float]
    meant: Mapping[str, float]

    def share(self, lexicon: Lexicon) -> Floats:
        """BM25 of each unit as a share of the most that the question's own terms could score."""
        most = max(sum(self.own.values()) * (K1 + 1), 1e-9)
        scores: Floats = np.minimum(lexicon.scores({**self.meant, **self.own}) / np.float32(most), 1.0)
        return scores


class _Asked:
    """A question as it is scored. words, printed, related: its terms, those by which documents print its
    measures, and relatives of its own; phrases: for each measure the labels of its rows; years: those asked
    for, as terms."""

    def __init__(
        self, understanding: Understanding, vector: Floats | None, years: tuple[int, ...] | None = None
    ) -> None:
        self.understanding, self.vector = understanding, vector
        measures = measures_of(understanding)
        self.words = content_terms(understanding.subject) or content_terms(understanding.query)
        self.related = tuple(dict.fromkeys(other for word in self.words for other in related_words(word)))
        self.printed = tuple(
            dict.fromkeys(word for measure in measures for phrase in measure.printed for word in phrase)
        )
        self.of_measures = terms_of(measures)
        # Rows of a statement are what they are called; those of a budget's limits, targets and growth stand
        # in tables of many kinds.
        stated = [
            measure
            for measure in operands_of(measures)
            if not set(PRIMARY_STATEMENTS).isdisjoint(measure.kinds)
        ]
        self.phrases = [measure.printed for measure in stated]
        self.years = tuple(map(str, understanding.years if years is None else years))

    def share_of_measures(self, lexicon: Lexicon) -> np.float32:
        """0-1: how much of what the question says, by rarity in this document, is its measures, counted as
        all from WHOLE on. "Spending on the motorway" is about a motorway, "Acme's net income" about net
        income: a name that is on every page says nothing."""
        units = len(lexicon.lengths)
        rarity = {
            word: inverse_frequency(units, lexicon.frequency(word))
            for word in self.words
            if not word.isdecimal()
        }
        share = sum(weight for word, weight in rarity.items() if word in self.of_measures) / max(
            sum(rarity.values()), 1e-9
        )
        return np.float32(min(1.0, share / WHOLE))

    def in_document(self, own: Sequence[int]) -> _Asked:
        """The same with "last year" counted from the latest of the document's own years."""
        steps = self.understanding.relative_years
        if not own or not steps or self.understanding.years:
            return self
        return _Asked(self.understanding, self.vector, tuple(max(own) + step for step in steps))


# (score, version, page, ordinal of its best chunk, the scores it is from, its place in them); parts are taken
# of those alone that are shown.
_Row = tuple[float, int, int, int, PageScores, int]


@dataclass(frozen=True, slots=True)
class _Ranking:
    """What one search found. rows: of pages, best first; own: weights of the query's own terms."""

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
        return _again(partial(self._search, query), query)

    def search_long(
        self,
        query: Query,
        long: LongQuery,
        strategy: str,
        *,
        progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> list[Hit]:
        """As search, with the pieces of `long` in place of query's text and vector, combined by `strategy`:
        see fusion.search_chunks.

        query.understanding: of the whole. progress(done, total): searches. Raises QuestionError for an
        unknown strategy.
        """
        return _again(partial(self._search_long, query, long, strategy, progress), query)

    def _search_long(
        self, query: Query, long: LongQuery, strategy: str, progress: Callable[[int, int], None]
    ) -> list[Hit]:
        rankings: dict[int | None, _Ranking] = {}

        def pages(chunk: QueryChunk, n: int) -> list[tuple[tuple[int, int], float]]:
            if query.mode != "keyword":
                vector = chunk.vector
            else:
                vector = None
            asked = replace(query, vector=vector, k=n)
            if chunk.text != long.text:
                asked = replace(asked, text=chunk.text, understanding=None)
            ranking = rankings[chunk.index] = self._ranked(asked)
            return [((row[1], row[2]), row[0]) for row in ranking.rows[:n]]

        fused = search_chunks(long, pages, strategy=strategy, n=query.k, progress=progress)
        return [self._fused_hit(one, rankings) for one in fused]

    def _fused_hit(self, one: Fused[tuple[int, int]], rankings: Mapping[int | None, _Ranking]) -> Hit:
        """The page with the chunk that the matching piece of the query found best; where none is named,
        with the best of all.
        """
        if one.chunk_match in rankings:
            choice = [rankings[one.chunk_match]]
        else:
            choice = [*rankings.values()]
        found = [(row, ranking) for ranking in choice for row in ranking.rows if (row[1], row[2]) == one.key]
        row, ranking = max(found, key=lambda pair: pair[0][0])
        return replace(
            self._hit(ranking.names[row[1]], row, ranking.own),
            score=round(one.score, 6),
            chunk_match=one.chunk_match,
        )

    def _search(self, query: Query) -> list[Hit]:
        ranking = self._ranked(query)
        return [self._hit(ranking.names[row[1]], row, ranking.own) for row in ranking.rows[: query.k]]

    def _ranked(self, query: Query) -> _Ranking:
        asked = _Asked(
            query.understanding or understand(query.text, query.text),
            query.vector if query.mode != "keyword" else None,
        )
        every = self._scope(query, asked.understanding)
        ranking = _Ranking({version: document.name for version, document in every.documents.items()}, [], {})
        wanted = CANDIDATES
        while True:
            scope = self._narrowed(query, every, wanted)
            weights = self._term_weights(asked, scope)
            there = {(row[1], row[2]) for row in ranking.rows}
            rows = [row for row in self._rows(query, asked, scope, weights) if (row[1], row[2]) not in there]
            rows.sort(key=lambda row: (-row[0], row[1], row[2]))
            ranking = replace(ranking, rows=[*ranking.rows, *rows], own=ranking.own or weights.own)
            if len(ranking.rows) >= query.k or not scope.more:
                return ranking
            wanted *= MORE_CANDIDATES

    def _scope(self, query: Query, asked: Understanding) -> _Scope:
        """All that is in reach."""
        names = self._library.scope(query.names)
        documents = {version: (name, self._library.facts(version)) for version, name in names.items()}
        of = _of_mode(query)
        routed = route(asked, documents)
        if of.document:
            newest = self._newest(query, asked, documents)
        else:
            newest = {}
        found = {}
        for version, (name, facts) in documents.items():
            named, period = routed[version]
            bonus = of.document * named + of.period_of_document * period + newest.get(name, 0.0)
            found[version] = _Candidate(
                name, years_of(name, facts), self._library.chunk_pages(version), named, bonus
            )
        return _Scope(found)

    def _rows(self, query: Query, asked: _Asked, scope: _Scope, weights: _TermWeights) -> Iterator[_Row]:
        """A row for each page that is scored and that anything speaks for."""
        of = _of_mode(query)
        for version in scope.documents if scope.keep is None else scope.keep:
            document = scope.documents[version]
            yield from _rows(
                version,
                self._score(version, asked.in_document(document.years), scope, weights, of),
                document.bonus,
            )

    def _newest(
        self, query: Query, asked: Understanding, documents: Mapping[int, tuple[str, DocumentFacts]]
    ) -> Mapping[str, float]:
        """name -> what the newest document of a series adds, where the question leaves open which one it
        means.
        """
        if query.names or asked.years or asked.relative_years or asks_for_older(asked.query):
            return {}
        return newer_bonus([Listed(name, None, facts) for name, facts in documents.values()])

    def beginnings(self, version: int, name: str, pages: Collection[int]) -> list[Hit]:
        """These pages of a document, each with its first chunk. name: of the document."""
        first: dict[int, int] = {}
        for ordinal, page in enumerate(self._library.catalog.chunk_pages(version)):
            first.setdefault(page, ordinal)
        return [
            self._as_hit(name, self._library.catalog.chunk(version, first[page]), 0.0, {})
            for page in sorted(pages)
            if page in first
        ]

    def raw(self, vector: Floats, names: Sequence[str], k: int) -> list[Hit]:
        """The k nearest chunks by cosine, several a page if so: the plain top-k of a vector store."""
        _check("vector", k)
        active = self._library.scope(names)
        try:
            if not names:
                found = self._nearest(vector, active, k, 1.0)
            else:
                found = self._each(vector, active)
        except StoreError:  # as in `_narrowed`
            found = self._each(vector, active)
        found.sort(key=lambda row: (-row[2], row[0], row[1]))
        chunks = [
            (score, self._library.catalog.chunk(version, ordinal)) for version, ordinal, score in found[:k]
        ]
        return [
            self._as_hit(active[chunk.version], chunk, score, {"vector": score}) for score, chunk in chunks
        ]

    def _narrowed(self, query: Query, scope: _Scope, wanted: int) -> _Scope:
        """The scope kept to the pages that the indexes name; all of it where that is little, or where an
        index cannot be asked.
        """
        if scope.chunks <= MOST_EXACT_CHUNKS and (
            query.names or self._library.without_vectors()
        ):  # Chroma cannot name what it lacks
            return scope
        # Whoever changes the store next makes a damaged index anew, and one that a full disk has no room for;
        # until then each chunk is scored.
        try:
            candidates, more = self._candidates(query, scope, wanted)
        except StoreError:
            return scope
        return scope.among(candidates, more=more)

    def _candidates(self, query: Query, scope: _Scope, wanted: int) -> tuple[list[tuple[int, int]], bool]:
        """(version, ordinal) of the best `wanted` chunks of each index, and whether there may be others.
        Raises StoreError.
        """
        found = list[list[tuple[int, int, float]]]()
        share = scope.chunks / max(1, self._library.indexes.keywords.count())
        if query.mode != "vector":
            found.append(
                _live(
                    partial(self._library.indexes.keywords.search, content_terms(query.text)),
                    scope.documents,
                    wanted,
                    share,
                )
            )
        if query.vector is not None and query.mode != "keyword":
            found.append(self._nearest(query.vector, scope.documents, wanted, share))
        return [row[:2] for rows in found for row in rows], any(len(rows) >= wanted for rows in found)

    def _nearest(
        self, vector: Floats, live: Container[int], wanted: int, share: float
    ) -> list[tuple[int, int, float]]:
        """(version, ordinal, cosine) of the nearest chunks, as Chroma names them. Raises StoreError."""
        if not self._library.indexes.complete:
            raise StoreError(
                "The vector index is being made anew.", hint="Wait until that is complete.", retryable=True
            )
        return _live(partial(self._library.indexes.vectors.search, vector), live, wanted, share)

    def _each(self, vector: Floats, live: Iterable[int]) -> list[tuple[int, int, float]]:
        """(version, ordinal, cosine) of every chunk."""
        scores = {
            version: self._library.matrix(version).cosines(vector, len(self._library.chunk_pages(version)))
            for version in live
        }
        return [
            (version, ordinal, float(score))
            for version, of in scores.items()
            for ordinal, score in enumerate(of)
        ]

    def _term_weights(self, asked: _Asked, scope: _Scope) -> _TermWeights:
        """Inverse document frequencies over the chunks in reach: of the question's own terms, and smaller
        ones of terms that it means.
        """
        if scope.keep is not None:
            total = self._library.indexes.keywords.count()
            keywords = self._library.indexes.keywords

            def rarity(word: str) -> float:
                return inverse_frequency(total, min(total, keywords.frequency(word)))
        else:
            lexicons = [self._library.terms(version).chunks for version in scope.documents]
            count = sum(len(lexicon.lengths) for lexicon in lexicons)

            def rarity(word: str) -> float:
                return inverse_frequency(count, sum(lexicon.frequency(word) for lexicon in lexicons))

        own = {word: rarity(word) for word in asked.words}
        meant = {word: RELATED_SHARE * rarity(word) for word in asked.related if word not in own}
        meant |= {word: PRINTED_SHARE * rarity(word) for word in asked.printed if word not in own}
        return _TermWeights(own, meant)

    def _score(
        self, version: int, asked: _Asked, scope: _Scope, weights: _TermWeights, of: Weights
    ) -> PageScores | None:
        """The pages of one version; None where it has no chunks."""
        chunk_pages = scope.documents[version].chunk_pages
        if not len(chunk_pages):
            return None
        terms = self._library.terms(version)
        count = len(chunk_pages)
        pages = len(terms.pages.lengths)
        if scope.keep is not None:
            only = scope.keep[version]
        else:
            only = None
        if only is not None:
            kept = only
        else:
            kept = np.arange(count)
        cosines = np.full(len(kept), -1.0, np.float32)
        if asked.vector is not None:
            cosines = as_minilms(
                self._library.embedder.fingerprint,
                self._library.matrix(version).cosines(asked.vector, count, only),
            )
        kinds = self._library.page_kinds(version)
        of_measures = asked.share_of_measures(terms.chunks)
        evidence = ScoreInputs(
            chunk_pages=chunk_pages[kept],
            cosines=cosines,
            chunk_words=weights.share(terms.chunks)[kept],
            page_words=weights.share(terms.pages),
            rows=rows_about(terms.rows, weights.own, asked.related, pages),
            measures=of_measures * measure_rows(terms.rows, asked.phrases, asked.years, pages),
            periods=_having(terms.pages, asked.years, pages),
            kinds=(of_measures if asked.of_measures else np.float32(1.0))
            * _of_kind(kinds, asked.understanding.kinds, pages),
            kept=_kept(kinds, replace(of, boilerplate=1.0) if ABOUT_RISKS & set(asked.words) else of, pages),
        )
        scored = score_pages(evidence, of)
        return replace(scored, best=kept[scored.best])

    def _hit(self, name: str, row: _Row, weights: Mapping[str, float]) -> Hit:
        score, version, page, ordinal, scored, at = row
        parts = {name: float(part[at]) for name, part in scored.parts.items()}
        by_page = self._library.terms(version).pages
        there = sum(weight for word, weight in weights.items() if by_page.has(word, page - 1))
        parts["coverage"] = there / max(sum(weights.values()), 1e-9)
        return self._as_hit(name, self._library.catalog.chunk(version, ordinal), score, parts)

    def _as_hit(self, name: str, chunk: StoredChunk, score: float, parts: Mapping[str, float]) -> Hit:
        page = self._library.catalog.pages(chunk.version, [chunk.page])[chunk.page]
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
            context=chunk.context,
            score=round(score, 6),
            scores={name: round(value, 4) for name, value in parts.items()},
            tables=self._library.catalog.tables(chunk.version, chunk.page).get(chunk.page, ()),
            kinds=self._library.page_kinds(chunk.version).get(chunk.page, ()),
            instructions=self._library.instructions(chunk.version, page),
            facts=self._library.facts(chunk.version),
        )


def _again(search: Callable[[], list[Hit]], query: Query) -> list[Hit]:
    """What a search finds; once more where a document was replaced or erased meanwhile: what is there now
    answers.
    """
    _check(query.mode, query.k)
    try:
        return search()
    except (KeyError, IndexError):
        return search()


def _of_mode(query: Query) -> Weights:
    if query.mode == "vector":
        return query.weights.only("vector")
    if query.mode == "keyword":
        return replace(query.weights, vector=0.0)
    return query.weights


def _rows(version: int, scored: PageScores | None, bonus: float) -> Iterator[_Row]:
    """A row for each page that anything speaks for."""
    if scored is None:
        return
    for at, (total, page, best) in enumerate(
        zip(scored.total.tolist(), scored.pages.tolist(), scored.best.tolist(), strict=True)
    ):
        if total > 0:
            yield total + bonus, version, page, best, scored, at


def _having(lexicon: Lexicon, words: Sequence[str], pages: int) -> Floats:
    """(pages,) the share of these words that each page has; 0 without words."""
    out = np.zeros(pages, np.float32)
    for word in words:
        out[lexicon.postings(word)[0]] += 1.0 / len(words)
    return out


def _of_kind(kinds: Mapping[int, Sequence[str]], wanted: Sequence[str], pages: int) -> Floats:
    """(pages,) 1 where a page is a statement that is wanted, less where it is of another kind that is: a
    filing has one balance sheet, a budget has many pages of forecasts and summaries."""
    out = np.zeros(pages, np.float32)
    out[[page - 1 for page, of in kinds.items() if not set(wanted).isdisjoint(of)]] = OTHER_KINDS
    out[
        [
            page - 1
            for page, of in kinds.items()
            if not set(wanted).intersection(PRIMARY_STATEMENTS).isdisjoint(of)
        ]
    ] = 1.0
    return out


def _kept(kinds: Mapping[int, Sequence[str]], weights: Weights, pages: int) -> Floats:
    """(pages,) the share of its score that each page keeps."""
    out = np.ones(pages, np.float32)
    out[[page - 1 for page, of in kinds.items() if RISK_FACTORS_OR_BOILERPLATE in of]] = weights.boilerplate
    out[[page - 1 for page, of in kinds.items() if CONTENTS in of or INDEX_OF_STATEMENTS in of]] = (
        weights.contents
    )
    return out


def _on_the_same_pages(chunk_pages: NDArray[np.int64], ordinals: Sequence[int]) -> NDArray[np.int64]:
    """Ordinals, ascending, of all chunks of the pages of these."""
    wanted = np.zeros(chunk_pages.max(initial=0) + 1, bool)
    wanted[chunk_pages[ordinals]] = True
    return np.flatnonzero(wanted[chunk_pages])


def _live(
    search: Callable[[int], list[tuple[int, int, float]]], live: Container[int], wanted: int, share: float
) -> list[tuple[int, int, float]]:
    """The best `wanted` chunks of live versions. An index holds others too, so more is asked for: by the
    `share` that is live, then until there are enough.
    """
    limit = round(wanted / min(1.0, max(share, 1e-3)))
    while True:
        found = search(limit)
        kept = [row for row in found if row[0] in live]
        if (
            len(kept) >= wanted or len(found) < limit // 2
        ):  # a chunk of two windows is found twice and named once
            return kept[:wanted]
        limit *= 4


def _check(mode: str, k: int) -> None:
    if mode not in MODES:
        raise QuestionError(f"There is no mode {mode!r}.", hint=f"Modes: {', '.join(MODES)}.")
    if not 1 <= k <= MOST_HITS:
        raise QuestionError(f"k is {k}.", hint=f"Ask for 1 to {MOST_HITS} pages.")
