"""Finds all pages that a question needs, telling what its reader should know of the way; chooses no chat
model, and answers nothing itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Generator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING

from chatbot.errors import ModelError
from chatbot.models.tokens import count_tokens
from chatbot.records import Event, Hit, Notice, Stage, Understanding
from chatbot.search.corpus_vocabulary import named_documents
from chatbot.search.fusion import (
    LongQuery,
    embed_query,
    embedding_steps,
    mean_vector,
    split_query,
    worth_searching,
)
from chatbot.search.intents import WHOLE, intent_of
from chatbot.search.outline import outline
from chatbot.search.page_scores import WEIGHTS, Weights
from chatbot.search.pending_content import pending_content, without_vectors
from chatbot.search.question_terms import measures_of, operands_of, understand
from chatbot.search.refusal import concerns
from chatbot.search.reranking import MOST_PAGES as PAGES_RERANKED
from chatbot.search.reranking import Reranked, rerank
from chatbot.search.retrieval import Query, Retriever
from chatbot.search.routing import document_parts, named_share, years_of
from chatbot.search.spelling import spelled
from chatbot.store.library import Library
from ingestion.language.measures import Measure
from ingestion.language.opposites import SUPERLATIVES
from ingestion.language.terms import terms
from ingestion.language.vocabulary import either
from ingestion.pages.kinds import PRIMARY_STATEMENTS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from chatbot.models.chat import LLM

__all__ = ["Find", "Finder", "asks_of_all", "of_one"]

# Operands of a ratio that are searched for, and pages that all of them together may bring.
MOST_OPERANDS, MOST_PAGES = 4, 5
# The share of a document's name from which on a question names it, and sides of a comparison at most.
NAMED, MOST_SIDES = 0.5, 6
# "Which company has the highest debt?", and of how many documents it is answered from each.
_KIND = (
    r"(?:compan(?:y|ies)|banks?|firms?|issuers?|countr(?:y|ies)|cit(?:y|ies)|documents?|reports?|filings?)"
)
_ASKS_OF_ALL = re.compile(
    rf"\b(?:which|what) (?:of them|(?:of (?:these|the|those) )?{_KIND})\b"
    rf".{{0,80}}\b(?:{either([*SUPERLATIVES[0], *SUPERLATIVES[1]])})\b"
    rf"|\brank (?:the |all )?{_KIND}\b",
    re.IGNORECASE,
)
MOST_OF_ALL = 15
# The share from which on it names all of it, by initials too.
WHOLLY = 0.9
# Pages of all sides of a comparison that a chat model is given beside those that answer alone, of each side
# at least, and of all that it is given at most.
PAGES_OF_SIDES = 12
LEAST_OF_SIDE = 2
MOST_BESIDE = 16
# Documents whose words a slip is put right by, at most.
MOST_READ = 200
# On no larger a share of the pages of any document a word is rare there.
RARE = 0.05
# A word without a capital, the owner of something apart: "tesla's". Names of files are no shorter than this.
SMALL_WORD = re.compile(r"\b(?:([a-z]{3,})['’]s\b|[a-z]{4,})")
SHORTEST_NAME = 4
# Pages down to which the statement is looked for that a measure is read from.
STATEMENT_DEPTH = 30


def asks_of_all(question: str) -> bool:
    """Whether it is asked which of all documents has the most or the least."""
    return _ASKS_OF_ALL.search(question) is not None


def of_one(question: str) -> str:
    """What such a question asks of each document: of "Which company has the highest debt?" its debt."""
    found = _ASKS_OF_ALL.search(question)
    if found:
        rest = question[found.end() :].strip(" ?.")
    else:
        rest = ""
    named = (
        rest
        and not re.match(r"(?:on|in|to|for|of|at|by|from|with)\b", rest)
        and not rest.endswith((" to", " in", " for", " on"))
    )
    return f"What is the {rest}?" if named else question


@dataclass(frozen=True, slots=True)
class Find:
    """A search with its circumstances. names: documents to stay in, () for all. mode: of retrieval.MODES. k:
    pages. raw: the nearest chunks by their vectors alone, instead of pages. strategy: of fusion.STRATEGIES,
    for a query longer than the embedder takes; not with raw. weights: of the kinds of evidence."""

    query: str
    names: tuple[str, ...] = ()
    mode: str = "hybrid"
    k: int = 3
    raw: bool = False
    strategy: str = "average"
    weights: Weights = WEIGHTS


class Finder:
    """Searches a library for questions. Safe from several threads."""

    def __init__(self, library: Library, *, context_tokens: int) -> None:
        """context_tokens: of the prompt by which a chat model puts pages into order."""
        self._library, self._context_tokens = library, context_tokens
        self._retriever = Retriever(library)

    def spelled(self, query: str, names: Sequence[str]) -> str:
        """The query with slips of the keyboard put right by the words of the documents that are asked, ()
        for all.
        """
        versions = list(self._library.scope(names))
        if len(versions) > MOST_READ:  # a word that one of them has is no slip
            return query

        @cache
        def frequency(term: str) -> int:
            return sum(self._library.terms(version).pages.frequency(term) for version in versions)

        return spelled(query, frequency)

    def with_names(self, asked: Understanding, names: Sequence[str]) -> Understanding:
        """What is asked, with the names that were typed without a capital: those of files, and whose the
        question is about where hardly a page has the word: "tesla's net income" is no other company's."""
        scope = self._library.scope(names)
        parts = {
            part for name in scope.values() for part in document_parts(name) if len(part) >= SHORTEST_NAME
        }
        if len(scope) <= MOST_READ:
            pages = [self._library.terms(version).pages for version in scope]
        else:
            pages = []
        found = []
        for word in SMALL_WORD.finditer(asked.subject):
            bare = word[1] or word[0]
            of_file = bare in parts and len(scope) > 1
            rare = (
                word[1] and count_tokens(f" {bare}") > 1
            )  # "consultant's" is of the two hundred thousand most common pieces of words
            rare = (
                rare
                and bool(pages)
                and all(of.frequency(term) <= RARE * len(of.lengths) for of in pages for term in terms(bare))
            )
            if (of_file or rare) and not any(bare in name.casefold() for name in asked.names):
                found.append(bare)
        if found:
            return replace(asked, names=(*asked.names, *dict.fromkeys(found)))
        return asked

    # --- a search by itself
    # -------------------------------------------------------------------------------------------------

    def find(
        self,
        find: Find,
        reranker: LLM | None,
        *,
        progress: Callable[[str, int, int], None],
        tell: Callable[[Notice], None],
    ) -> list[Hit]:
        """The best pages, at most k, one hit a page, more with the strategy "union"; the nearest chunks with
        `raw`.

        reranker: the chat model that puts them into order, None for the search's own. progress(phase, done,
        total): phase "embedding" or "searching", of the pieces of a long query. tell: gets what the user
        should know. Raises QuestionError, NotFoundError, ModelError.
        """
        query = self.spelled(find.query, find.names)
        embedder = self._library.embedder
        if coming := pending_content(self._library, find.names):
            tell(coming)
        if find.mode != "keyword" and (waiting := without_vectors(self._library, find.names)):
            tell(waiting)
        if find.raw:
            return self._retriever.raw(
                mean_vector(worth_searching(embed_query(embedder, query).chunks)), find.names, find.k
            )
        understanding = understand(query, query)
        subject = understanding.subject
        words = find.mode == "keyword"
        if words:
            long = split_query(embedder, subject)
        else:
            long = embed_query(embedder, subject, progress=partial(progress, "embedding"))
        if long.failure:
            tell(_in_part(long.failure))
        wanted = Query(
            query,
            None,
            find.names,
            find.mode,
            max(find.k, PAGES_RERANKED) if reranker else find.k,
            understanding,
            find.weights,
        )
        hits = self._retriever.search_long(
            wanted, long, find.strategy, progress=partial(progress, "searching")
        )
        if reranker:
            ranked = rerank(query, hits, reranker, max_tokens=self._context_tokens)
            hits = list(ranked.hits)
            if ranked.notice:
                tell(ranked.notice)
        if find.strategy == "union":
            return hits
        return hits[: find.k]

    # --- the pages of a question that is answered
    # ---------------------------------------------------------------------------

    def vector(self, query: str, names: Sequence[str]) -> Generator[Event, None, NDArray[np.float32] | None]:
        """The unit vector of a query, None where there is none, saying why; of a long one the mean over its
        pieces, and how far it is. names: of the documents that are asked."""
        waiting = without_vectors(self._library, names)
        steps = embedding_steps(self._library.embedder, query)
        try:
            while True:
                done, total = next(steps)
                if total > 1:
                    yield Stage("searching", done, total)
        except StopIteration as end:
            long: LongQuery = end.value
        except ModelError as error:
            yield Notice(f"Searched by words alone: {error.message}", error.hint)
            return None
        finally:
            steps.close()
        if long.failure:
            yield _in_part(long.failure)
        if waiting:
            yield waiting
        return mean_vector(worth_searching(long.chunks))

    def pages(self, query: Query) -> list[Hit]:
        """The best pages of those whom the question names; where another's are among the best, only documents
        about the named are searched.

        query.understanding: of its question. Of a measure the statement is among them that it is read from,
        of a ratio a page for each operand.
        """
        hits = self._with_operands(query)
        assert query.understanding is not None
        whose = named_documents(self._library, query.understanding, query.names)
        own = [hit for hit in hits if concerns(query.understanding, hit, whose)]
        if len(own) == len(hits):
            return hits
        scope = self._library.scope(query.names)
        versions = {hit.version for hit in own}.union(*whose.values())
        names = tuple(name for version, name in scope.items() if version in versions)
        return [
            hit
            for hit in self._with_operands(replace(query, names=names))
            if concerns(query.understanding, hit, whose)
        ]

    def reordered(
        self, query: Query, hits: Sequence[Hit], reranker: LLM, stop: Callable[[], bool]
    ) -> Reranked:
        """As many pages as these, those that the chat model puts first among them and those that come next.
        What is worked out from several statements keeps its pages: it needs all of them."""
        assert query.understanding is not None
        if len(operands_of(measures_of(query.understanding))) > 1:
            return Reranked(tuple(hits))
        compared = _once([*hits, *self.more(query, (), PAGES_RERANKED)])[:PAGES_RERANKED]
        ranked = rerank(query.text, compared, reranker, max_tokens=self._context_tokens, stop=stop)
        return replace(ranked, hits=ranked.hits[: len(hits)])

    def more(self, query: Query, names: Sequence[str], k: int) -> list[Hit]:
        """The best k pages of these documents (() for those that are asked), of whom the question names
        alone. query.understanding: of its question.
        """
        assert query.understanding is not None
        whose = named_documents(self._library, query.understanding, query.names)
        hits = self._retriever.search(replace(query, names=tuple(names) or query.names, k=k))
        return [hit for hit in hits if concerns(query.understanding, hit, whose)]

    def beside(self, query: Query, hits: Sequence[Hit], count: int) -> list[Hit]:
        """The pages of an answer, first, and up to `count` in all: those that stand for the whole document
        where the question asks for that; else the best of each document that it names beside another, then
        those that come next. query.understanding: of its question."""
        if whole := self._whole(query, hits, count):
            return whole
        sides = self._sides(query)
        named = [
            hit
            for name in sides
            for hit in self._retriever.search(
                replace(query, names=(name,), k=max(LEAST_OF_SIDE, PAGES_OF_SIDES // len(sides)))
            )
        ]
        found = _once([*hits, *named])
        most = max(min(max(count, len(found)), MOST_BESIDE), len(hits))
        return _once([*found, *self.more(query, (), count)])[:most]

    def pages_of(self, version: int, name: str, pages: Collection[int]) -> list[Hit]:
        """These pages of a document, in order, without a search. name: of the document; pages: physical,
        1-based.
        """
        return self._retriever.beginnings(version, name, pages)

    def _whole(self, query: Query, hits: Sequence[Hit], count: int) -> list[Hit]:
        """The pages of an answer and those that stand for the document which the question asks for as a
        whole: the one that it names, or that was found first; [] where it asks for something in it."""
        assert query.understanding is not None
        scope = self._library.scope(query.names)
        if hits:
            intent = intent_of(query.understanding.query, documents=list(scope.values()))
        else:
            intent = None
        if intent is None or intent.kind not in WHOLE or intent.part:
            return []
        named = [version for version, name in scope.items() if name == intent.document]
        if len(named) == 1:
            version = named[0]
        else:
            version = hits[0].version
        catalog = self._library.catalog
        there = {hit.page for hit in hits if hit.version == version}
        heads = {chunk.page: chunk.context for chunk in reversed(catalog.chunks(version))}
        pages = outline(
            catalog.page_texts(version),
            heads,
            self._library.page_kinds(version),
            max(count, len(hits)) - len(hits),
            there,
        )
        return _once([*hits, *self._retriever.beginnings(version, scope[version], pages)])

    def groups(self, query: Query) -> list[tuple[str, ...]]:
        """The documents that a question names wholly, those of one name together where it has several names,
        of companies, of countries; else those of the several years that it names; all where it asks which of
        them. In its order; [] where it names one, or more than are answered from side by side."""
        assert query.understanding is not None
        said = query.understanding.query
        together: dict[tuple[str, ...], list[str]] = {}
        for name in sorted(self._library.scope(query.names).values()):
            if named_share(document_parts(name), said) >= WHOLLY:
                together.setdefault(document_parts(name), []).append(name)
        # "Acme Beta" is neither Acme nor Beta.
        named = {
            parts: names
            for parts, names in together.items()
            if not any(set(parts) < set(other) for other in together)
        }
        flat = said.casefold().replace("'", "").replace("’", "")
        groups = [tuple(named[parts]) for parts in sorted(named, key=lambda parts: flat.find(parts[0]))]
        if not groups and asks_of_all(said):
            groups = [(name,) for name in sorted(self._library.scope(query.names).values())]
            if 1 < len(groups) <= MOST_OF_ALL:
                return groups
            return []
        if len(groups) == 1 and len(set(query.understanding.years)) > 1:
            groups = [(name,) for name in self._of_years(query, groups[0])]
        if 1 < len(groups) <= MOST_SIDES:
            return groups
        return []

    def _of_years(self, query: Query, names: Sequence[str]) -> list[str]:
        """Those of these documents that are of one of the years which the question names, by their own
        names first.
        """
        assert query.understanding is not None
        called = [name for name in names if any(str(year) in name for year in query.understanding.years)]
        if len(called) > 1:
            return called
        return self._dated(names, query.understanding.years)

    def _dated(self, names: Sequence[str], years: Sequence[int]) -> list[str]:
        """Those of these documents that are of one of some years."""
        if names:
            version = {name: version for version, name in self._library.scope(names).items()}
        else:
            version = {}
        return [
            name
            for name in names
            if not set(years).isdisjoint(years_of(name, self._library.facts(version[name])))
        ]

    def _sides(self, query: Query) -> list[str]:
        """The documents that a question names, where it names several: those of the years that it asks for
        where there are such; [] where it names one.
        """
        assert query.understanding is not None
        shares = {
            name: named_share(document_parts(name), query.understanding.query)
            for name in self._library.scope(query.names).values()
        }
        named = sorted(
            (name for name, share in shares.items() if share >= NAMED), key=lambda name: (-shares[name], name)
        )
        of_years = self._dated(named, query.understanding.years)
        sides = (of_years if len(of_years) > 1 else named)[:MOST_SIDES]
        if len(sides) > 1:
            return sides
        return []

    def _with_operands(self, query: Query) -> list[Hit]:
        """The best pages; of a measure also the statement that it is read from, and of a ratio or a
        difference the best page for each operand, for these stand in different statements."""
        hits = self._retriever.search(query)
        assert query.understanding is not None
        operands = operands_of(measures_of(query.understanding))
        if not hits or not operands:
            return hits
        wanted = [
            replace(query.understanding, measures=(operand.name,), kinds=operand.kinds)
            for operand in operands[:MOST_OPERANDS]
        ]
        if len(wanted) > 1:
            best = [
                hit
                for one in wanted
                for hit in self._retriever.search(replace(query, k=1, understanding=one))
            ]
        else:
            best = []
        best += self._statements(query, operands, [*hits, *best])
        found = {(hit.version, hit.page): hit for hit in [hits[0], *best, *hits]}
        return list(found.values())[
            : max(query.k, len({(hit.version, hit.page) for hit in [hits[0], *best]}))
        ][:MOST_PAGES]

    def _statements(self, query: Query, operands: Sequence[Measure], hits: Sequence[Hit]) -> list[Hit]:
        """The statements of the first hit's document that these measures are read from and that are not among
        the hits: notes and segments speak of a measure in more words than the statement does."""
        there = {kind for hit in hits if hit.version == hits[0].version for kind in hit.kinds}
        lacking = {
            kind
            for operand in operands
            for kind in operand.kinds
            if kind in PRIMARY_STATEMENTS and there.isdisjoint(operand.kinds)
        }
        if not lacking:
            return []
        deeper = self._retriever.search(replace(query, names=(hits[0].document,), k=STATEMENT_DEPTH))
        return list(
            {kind: hit for hit in reversed(deeper) for kind in lacking.intersection(hit.kinds)}.values()
        )


def _once(hits: Sequence[Hit]) -> list[Hit]:
    """Each page once, as it came first."""
    found: dict[tuple[int, int], Hit] = {}
    for hit in hits:
        found.setdefault((hit.version, hit.page), hit)
    return list(found.values())


def _in_part(error: ModelError) -> Notice:
    return Notice(f"Parts of the question were searched without their meaning: {error.message}", error.hint)
