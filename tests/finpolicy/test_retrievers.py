"""The retrievers in the frameworks that they are for."""

from __future__ import annotations

import pytest

from finpolicy import FinPolicy
from tests.finpolicy.conftest import NAME, run_apart


def test_langchain_gets_pages(policy: FinPolicy) -> None:
    from finpolicy.langchain_retriever import PolicyRetriever

    retriever = PolicyRetriever(policy=policy, k=1, documents=(NAME,))
    assert [page.metadata["page"] for page in retriever.invoke("debt anchor")] == [2]
    (page,) = run_apart(retriever.ainvoke("deficit ceiling"))
    assert "3.0 per cent" in page.page_content
    assert (page.metadata["document"], page.metadata["page"]) == (NAME, 1)


def test_llama_index_gets_nodes(policy: FinPolicy) -> None:
    pytest.importorskip("llama_index.core", reason="llama-index-core is not installed; users bring it along")
    from finpolicy.llamaindex_retriever import PolicyNodeRetriever

    (found,) = PolicyNodeRetriever(policy, k=1, documents=[NAME]).retrieve("debt anchor")
    assert found.node.metadata == {"document": NAME, "page": 2, "page_label": None}
    assert found.score is not None
    assert "debt anchor" in found.text
