"""Compares the indexes of a moved store with what its catalogue says that they should have."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

import numpy as np

from chatbot.models.embedders import Embedder
from chatbot.store.catalog import Catalog
from chatbot.store.indexing import Indexes
from chatbot.store.migration.row_values import RowSum, TableSum, summary_of
from chatbot.store.vector_index import BATCH

__all__ = ["compare_vectors", "compare_words"]

Told = Callable[[int], None]
# Chroma makes unit rows of unit rows, which may change the last bits.
TOLERANCE = 1e-5


def compare_words(catalog: Catalog, indexes: Indexes) -> tuple[TableSum, TableSum]:
    """Sums up (version, passages) of the catalogue and of the index. Its count is that of all passages."""
    expected = {version: count for version, count in catalog.chunk_counts().items() if count}
    held = indexes.keywords.counts()
    before, after = (TableSum(sum(one.values()), summary_of(one.items()).digest) for one in (expected, held))
    return before, after


def compare_vectors(
    catalog: Catalog, indexes: Indexes, embedder: Embedder, told: Told
) -> tuple[TableSum, TableSum]:
    """Sums up (id, vector) of the catalogue and of the index. Vectors that differ by rounding are equal."""
    before, after = RowSum(), RowSum()
    done = 0
    for version in catalog.window_counts(embedder.fingerprint, embedder.dimension):
        records = (record for passage in indexes.passages(version) for record in passage.records())
        while batch := {key: vector for key, vector, _, _ in islice(records, BATCH)}:
            held = indexes.vectors.held(list(batch))
            for key, vector in batch.items():
                before.add((key, vector.tobytes()))
                if key in held:
                    same = np.allclose(held[key], vector, rtol=0, atol=TOLERANCE)
                    after.add((key, (vector if same else held[key]).tobytes()))
            done += len(batch)
            told(done)
    found = after.summary()
    return before.summary(), TableSum(indexes.vectors.count(), found.digest)
