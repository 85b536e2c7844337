"""Retrieves pages for query engines and agents of LlamaIndex."""

from __future__ import annotations

from collections.abc import Sequence

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from finpolicy.policy import FinPolicy

__all__ = ["PolicyNodeRetriever"]


class PolicyNodeRetriever(BaseRetriever):  # type: ignore[misc]
    """The best pages for a query, as LlamaIndex's nodes.

    policy: an open store. k: how many pages. documents: names to stay in, None for all. Metadata: document,
    page, page_label.
    """

    def __init__(self, policy: FinPolicy, *, k: int = 3, documents: Sequence[str] | None = None) -> None:
        self._policy, self._k, self._documents = policy, k, documents
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        hits = self._policy.search(query_bundle.query_str, k=self._k, documents=self._documents)
        found = list[NodeWithScore]()
        for hit in hits:
            metadata = {name: getattr(hit, name) for name in ("document", "page", "page_label")}
            node = TextNode(id_=hit.chunk_id, text=hit.text, metadata=metadata)
            found.append(NodeWithScore(node=node, score=hit.score))
        return found
