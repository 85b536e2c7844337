"""Retrieves pages for chains and agents of LangChain."""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from finpolicy.policy import FinPolicy

__all__ = ["PolicyRetriever"]


class PolicyRetriever(BaseRetriever):
    """The best pages for a query, as LangChain's documents.

    policy: an open store. k: how many pages. documents: names to stay in, None for all. Metadata: document,
    page, page_label, score and chunk_id.
    """

    policy: FinPolicy
    k: int = 3
    documents: tuple[str, ...] | None = None

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        hits = self.policy.search(query, k=self.k, documents=self.documents)
        names = ("document", "page", "page_label", "score", "chunk_id")
        found = list[Document]()
        for hit in hits:
            metadata: dict[str, Any] = {name: getattr(hit, name) for name in names}
            found.append(Document(page_content=hit.text, metadata=metadata))
        return found
