"""Finds all pages that a question needs, and says what the user should know about the search.

It chooses no chat model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
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
from chatbot.search.page_scores import WEIGHTS, Weights
from chatbot.search.pending_content import pending_content, without_vectors
from chatbot.search.question_terms import measures_of, operands_of, understand
from chatbot.search.refusal import concerns
from chatbot.search.reranking import MOST_PAGES as PAGES_RERANKED
from chatbot.search.reranking import Reranked, rerank
from chatbot.search.retrieval import Query, Retriever
from chatbot.search.routing import document_parts, named_share, years_of
from chatbot.search.spelling import corrected_spelling
from chatbot.store.joint_lexicon import total_frequencies
from chatbot.store.library import Library
from chatbot.store.term_scores import Lexicon
from ingestion.language.measures import Measure
from ingestion.language.terms import terms

if TYPE_CHECKING:
    from chatbot.models.chat import LLM

__all__ = ["Find", "Finder"]

# Operands of a ratio that are searched for, and pages that all of them together may bring.
MOST_OPERANDS, MOST_PAGES = 4, 5
# A question names a document from this share of its name on; and how many sides a comparison has at most.
NAMED, MOST_SIDES = 0.5, 6
# "Which company has the highest debt?" is answered from each document, up to so many of them.
MOST_OF_ALL = 15
# From this share on a question names all of a document's name, by initials too.
WHOLLY = 0.9
# Up to this many documents a typing slip is corrected by their words.
MOST_READ = 200
# A word is rare where it stands on no larger a share of the pages of any document.
RARE = 0.05
# A word without a capital, owners apart: "tesla's". Names of files are no shorter than SHORTEST_NAME.
SMALL_WORD = re.compile(r"\b(?:([a-z]{3,})['’]s\b|[a-z]{4,})")
SHORTEST_NAME = 4
# How many pages are searched for the statement that a measure is read from.
STATEMENT_DEPTH = 30


@dataclass(frozen=True, slots=True)
class Find:
    """A search with its circumstances.

    query: what is searched for.
    names: documents to stay in, () for all.
    mode: of retrieval.MODES.
    k: the number of pages.
    raw: find the nearest chunks by their vectors alone, instead of pages.
    strategy: of fusion.STRATEGIES, for a query longer than the embedder takes; not with raw.
    weights: of the kinds of evidence.
    years: that the pages are to be about, beside those that the query names.
    """

    query: str
    names: tuple[str, ...] = ()
    mode: str = "hybrid"
    k: int = 3
    raw: bool = False
    strategy: str = "average"
    weights: Weights = WEIGHTS
    years: tuple[int, ...] = ()


class Finder:
    """Searches a library for questions. Safe from several threads."""

    def __init__(self, library: Library, *, context_tokens: int) -> None:
        """context_tokens: of the prompt by which a chat model puts pages into order."""
        self._library, self._context_tokens = library, context_tokens
        self._retriever = Retriever(library)

    def corrected_spelling(self, query: str, names: Sequence[str]) -> str:
        """The query with typing slips corrected by the words of the documents that are asked, () for all."""

        def frequencies(of: Collection[str]) -> Mapping[str, int]:
            versions = self._library.scope(names)
            if len(versions) > MOST_READ:  # a word that one of them has is no slip
                return dict.fromkeys(of, 1)
            return total_frequencies([self._library.terms(version).pages for version in versions], of)

        return corrected_spelling(query, frequencies)

    def with_names(self, asked: Understanding, names: Sequence[str]) -> Understanding:
        """What is asked, with the names that were typed without a capital.

        These are names of files, and owners that the question is about where hardly a page has the word:
        "tesla's net income" belongs to no other company.
        """
        scope = self._library.scope(names)
        parts = _file_words(scope.values())
        pages = [self._library.terms(version).pages for version in scope] if len(scope) <= MOST_READ else []
        found = []
        for word in SMALL_WORD.finditer(asked.subject):
            owner: str | None = word[1]
            bare = owner or word[0]
            of_file = bare in parts and len(scope) > 1
            if not of_file and not (owner and _is_rare(owner, pages)):
                continue
            if not any(bare in name.casefold() for name in asked.names):
                found.append(bare)
        if found:
            return replace(asked, names=(*asked.names, *dict.fromkeys(found)))
        return asked

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

        reranker: the chat model that puts them into order, None for the search's own order.
        progress(phase, done, total): phase "embedding" or "searching", of the pieces of a long query.
        tell: gets what the user should know.
        Raises QuestionError, NotFoundError, ModelError.
        """
        query = self.corrected_spelling(find.query, find.names)
        embedder = self._library.embedder
        if coming := pending_content(self._library, find.names):
            tell(coming)
        if find.mode != "keyword" and (waiting := without_vectors(self._library, find.names)):
            tell(waiting)
        if find.raw:
            chunks = worth_searching(embed_query(embedder, query).chunks)
            return self._retriever.raw(mean_vector(chunks), find.names, find.k)
        understanding = understand(query, query)
        understanding = replace(understanding, years=tuple(sorted({*understanding.years, *find.years})))
        if find.mode == "keyword":
            long = split_query(embedder, understanding.subject)
        else:
            embedding = partial(progress, "embedding")
            long = embed_query(embedder, understanding.subject, progress=embedding)
        if long.failure:
            tell(_in_part(long.failure))
        k = max(find.k, PAGES_RERANKED) if reranker else find.k
        wanted = Query(query, None, find.names, find.mode, k, understanding, find.weights)
        searching = partial(progress, "searching")
        hits = self._retriever.search_long(wanted, long, find.strategy, progress=searching)
        if reranker:
            ranked = rerank(query, hits, reranker, max_tokens=self._context_tokens)
            hits = list(ranked.hits)
            if ranked.notice:
                tell(ranked.notice)
        return hits if find.strategy == "union" else hits[: find.k]

    def embedded(self, query: str) -> Generator[Event, None, LongQuery | None]:
        """The pieces of a query with their vectors; None, with a notice that says why, where there are none.
        Yields how far a long query is.
        """
        steps = embedding_steps(self._library.embedder, query)
        try:
            while True:
                done, total = next(steps)
                if total > 1:
                    yield Stage("searching", done, total)
        except StopIteration as end:
            long: LongQuery = end.value
        except ModelError as error:
            yield Notice(f"Searched by words only: {error.message}", error.hint)
            return None
        finally:
            steps.close()
        if long.failure:
            yield _in_part(long.failure)
        return long

    def pages(self, query: Query) -> list[Hit]:
        """The best pages of those whom the question names. Where pages of others are among the best, only
        documents about the named are searched.

        For a measure the statement that it is read from is included, for a ratio a page for each operand.

        """
        hits = self._with_operands(query)
        whose = named_documents(self._library, query.asked, query.names)
        own = [hit for hit in hits if concerns(query.asked, hit, whose)]
        if len(own) == len(hits):
            return hits
        scope = self._library.scope(query.names)
        versions = {hit.version for hit in own}.union(*whose.values())
        names = tuple(name for version, name in scope.items() if version in versions)
        found = self._with_operands(replace(query, names=names))
        return [hit for hit in found if concerns(query.asked, hit, whose)]

    def reordered(
        self, query: Query, hits: Sequence[Hit], reranker: LLM, stop: Callable[[], bool]
    ) -> Reranked:
        """As many pages as these: those that the chat model puts first among them and those that come next.

        A figure that is worked out from several statements keeps its pages: it needs all of them.
        """
        if len(operands_of(measures_of(query.asked))) > 1:
            return Reranked(tuple(hits))
        compared = _once([*hits, *self.more(query, (), PAGES_RERANKED)])[:PAGES_RERANKED]
        ranked = rerank(query.text, compared, reranker, max_tokens=self._context_tokens, stop=stop)
        return replace(ranked, hits=ranked.hits[: len(hits)])

    def more(self, query: Query, names: Sequence[str], k: int) -> list[Hit]:
        """The best k pages of these documents (() for those that are asked), without those that concern
        somebody else than the question names.
        """
        whose = named_documents(self._library, query.asked, query.names)
        hits = self._retriever.search(replace(query, names=tuple(names) or query.names, k=k))
        return [hit for hit in hits if concerns(query.asked, hit, whose)]

    def beside(self, query: Query, hits: Sequence[Hit]) -> list[Hit]:
        """The pages of an answer, then as many of each document that the question names beside another."""
        named: list[Hit] = []
        for name in self._sides(query):
            named += self._retriever.search(replace(query, names=(name,)))
        return _once([*hits, *named])

    def pages_of(self, version: int, name: str, pages: Collection[int]) -> list[Hit]:
        """These pages of a document, in order, without a search. name: of the document; pages: physical,
        1-based.
        """
        return self._retriever.beginnings(version, name, pages)

    def groups(self, query: Query) -> list[tuple[str, ...]]:
        """The documents that a question names wholly, grouped by name where it names several companies or
        countries; else those of the several years that it names; all where it asks which of them.

        In the order of the question; [] where it names one, or more than are answered from side by side.
        """
        question = query.asked.query
        names = sorted(self._library.scope(query.names).values())
        named = _named_wholly(names, question)
        flat = question.casefold().replace("'", "").replace("’", "")
        in_order = sorted(named, key=lambda parts: flat.find(parts[0]))
        groups = [tuple(named[parts]) for parts in in_order]
        if not groups and query.asked.reading.asks("which of all"):
            return [(name,) for name in names] if 1 < len(names) <= MOST_OF_ALL else []
        if len(groups) == 1 and len(set(query.asked.years)) > 1:
            groups = [(name,) for name in self._of_years(query, groups[0])]
        return groups if 1 < len(groups) <= MOST_SIDES else []

    def _of_years(self, query: Query, names: Sequence[str]) -> list[str]:
        """Those of these documents that are of one of the years which the question names, by their own
        names first.
        """
        years = list(map(str, query.asked.years))

        def has_year(name: str) -> bool:
            return any(year in name for year in years)

        called = list(filter(has_year, names))
        return called if len(called) > 1 else self._dated(names, query.asked.years)

    def _dated(self, names: Sequence[str], years: Sequence[int]) -> list[str]:
        """Those of these documents that are of one of some years."""
        if not names:
            return []
        versions = {name: version for version, name in self._library.scope(names).items()}
        return [
            name
            for name in names
            if not set(years).isdisjoint(years_of(name, self._library.facts(versions[name])))
        ]

    def _sides(self, query: Query) -> list[str]:
        """The documents that a question names, where it names several: those of the years that it asks for
        where there are such; [] where it names one.
        """
        question = query.asked.query
        names = self._library.scope(query.names).values()
        shares = {name: named_share(document_parts(name), question) for name in names}
        named = [name for name, share in shares.items() if share >= NAMED]
        named.sort(key=lambda name: (-shares[name], name))
        of_years = self._dated(named, query.asked.years)
        sides = of_years[:MOST_SIDES] if len(of_years) > 1 else named[:MOST_SIDES]
        return sides if len(sides) > 1 else []

    def _with_operands(self, query: Query) -> list[Hit]:
        """The best pages; for a measure also the statement that it is read from, and for a ratio or a
        difference the best page for each operand, because these stand in different statements.
        """
        hits = self._retriever.search(query)
        operands = operands_of(measures_of(query.asked))
        if not hits or not operands:
            return hits
        searched = operands[:MOST_OPERANDS]
        best: list[Hit] = []
        if len(searched) > 1:
            for operand in searched:
                of_operand = replace(query.asked, measures=(operand.name,), kinds=operand.kinds)
                best += self._retriever.search(replace(query, k=1, understanding=of_operand))
        best += self._statements(query, operands, [*hits, *best])
        most = max(query.k, len(_once([hits[0], *best])))
        # Each page stands where it came first, with the hit that came last.
        found = {(hit.version, hit.page): hit for hit in [hits[0], *best, *hits]}
        return list(found.values())[:most][:MOST_PAGES]

    def _statements(self, query: Query, operands: Sequence[Measure], hits: Sequence[Hit]) -> list[Hit]:
        """The statements of the first hit's document that these measures are read from and that are not among
        the hits: notes and segments speak of a measure in more words than the statement does.
        """
        document = hits[0].document
        found_kinds = set[str]()
        for hit in hits:
            if hit.version == hits[0].version:
                found_kinds.update(hit.kinds)
        lacking = set[str]()
        for operand in operands:
            if found_kinds.isdisjoint(operand.kinds):
                lacking.update(operand.kinds)
        if not lacking:
            return []
        deeper = self._retriever.search(replace(query, names=(document,), k=STATEMENT_DEPTH))
        statements: dict[str, Hit] = {}
        for hit in reversed(deeper):
            for kind in lacking.intersection(hit.kinds):
                statements[kind] = hit
        return list(statements.values())


def _once(hits: Sequence[Hit]) -> list[Hit]:
    """Each page once, as it came first."""
    found: dict[tuple[int, int], Hit] = {}
    for hit in hits:
        found.setdefault((hit.version, hit.page), hit)
    return list(found.values())


def _file_words(names: Iterable[str]) -> set[str]:
    """The words of files' names that are long enough for a name."""
    parts = chain.from_iterable(map(document_parts, names))
    return {part for part in parts if len(part) >= SHORTEST_NAME}


def _is_rare(owner: str, pages: Sequence[Lexicon]) -> bool:
    """Whether a word is hardly on any page of the documents, and no common piece of words.

    "consultant's" is of the two hundred thousand most common pieces of words.
    """
    if count_tokens(f" {owner}") <= 1 or not pages:
        return False
    for lexicon in pages:
        most = RARE * len(lexicon.lengths)
        if any(lexicon.frequency(term) > most for term in terms(owner)):
            return False
    return True


def _named_wholly(names: Sequence[str], question: str) -> dict[tuple[str, ...], list[str]]:
    """The documents that a question names wholly, by the parts of their names."""
    together: dict[tuple[str, ...], list[str]] = {}
    for name in names:
        parts = document_parts(name)
        if named_share(parts, question) >= WHOLLY:
            together.setdefault(parts, []).append(name)
    # "Acme Beta" is neither Acme nor Beta.
    wider = {parts for parts in together for other in together if set(parts) < set(other)}
    return {parts: of_name for parts, of_name in together.items() if parts not in wider}


def _in_part(error: ModelError) -> Notice:
    return Notice(f"Parts of the question were searched by words only: {error.message}", error.hint)
