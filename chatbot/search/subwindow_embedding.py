"""Looks closer at a long query: adds the vectors of stretches that are shorter than its pieces."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import accumulate, pairwise

from chatbot.models.cosine_scale import EMBEDDED
from chatbot.models.embedders import Embedder
from chatbot.search.fusion import EMBEDDINGS_AT_ONCE, LongQuery, QueryChunk
from ingestion.language.terms import content_terms

__all__ = ["embed_subwindows"]

# Stretches of a half and of a quarter of what the embedder takes: the vector of a whole piece is a mean of
# all it says. Of queries of 16 pieces of the embedded model, 25 of 25 find first what is remembered in 127
# tokens (by whole pieces 22), and 14 of 16 what is in 50 (7). Overlapping stretches find more of the latter
# and fewer of the former. Stretches have the text embedded twice more, which is not asked of another's
# endpoint; quarters of its 8,191 tokens would still be pages.
SHARES = (2, 4)


def embed_subwindows(embedder: Embedder, query: LongQuery) -> LongQuery:
    """The query with stretches for each of its pieces, each stretch with the piece that holds most of it; as
    it is where it has one piece, or the embedder is another's.

    Raises ModelError.
    """
    if len(query.chunks) < 2 or not embedder.fingerprint.startswith(EMBEDDED):
        return query
    texts: dict[int, list[str]] = {}
    for chunk in query.chunks:
        if chunk.index is not None:
            texts[chunk.index] = []
    for at, text in _stretches(embedder, query.text):
        if at in texts:
            texts[at].append(text)

    def closer(chunk: QueryChunk) -> QueryChunk:
        stretches = texts.get(-1 if chunk.index is None else chunk.index, [])
        if stretches:
            return replace(chunk, closer=tuple(embedder.embed(stretches, query=True)))
        return chunk

    with ThreadPoolExecutor(min(len(query.chunks), EMBEDDINGS_AT_ONCE)) as threads:
        return replace(query, chunks=tuple(threads.map(closer, query.chunks)))


def _stretches(embedder: Embedder, text: str) -> Iterator[tuple[int, str]]:
    """(index of the piece, stretch) of all stretches with content terms. A stretch is at most half as long as
    a piece, so its middle lies in the piece that holds most of it.
    """
    ends = list(accumulate(map(len, embedder.split(text))))
    for share in SHARES:
        tokens = max(1, embedder.max_tokens // share)
        stretches = embedder.split(text, reserve=embedder.max_tokens - tokens)
        bounds = accumulate(map(len, stretches), initial=0)
        for start, end in pairwise(bounds):
            stretch = text[start:end]
            if content_terms(stretch):
                yield bisect_right(ends, (start + end - 1) // 2), stretch
