"""Answers requests with the usual pipeline, LangChain's own parts with the product's embedder.

It runs in an environment of its own.

    echo '{"op": "extract", "path": "a.pdf"}' | .venv-benchmarks/bin/python benchmarks/peer.py

One JSON request a line: {"op": "extract", "path"} loads a PDF; {"op": "index", "paths", "query", "folder"}
loads, splits, embeds and inserts them and searches once. One JSON line answers each: {"seconds", "pages",
"chunks"}. See benchmarks/pipelines.py, which starts it.
"""

from __future__ import annotations

import json
import logging
import sys
import time
import uuid
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
import chatbot  # noqa: F401  # before Chroma, as everywhere: see there

# The loader's package says at each import that it is looked after no more, and pypdf has a line for each font
# it half knows.
warnings.simplefilter("ignore")
logging.getLogger("pypdf").setLevel(logging.CRITICAL)

from langchain_chroma import Chroma  # type: ignore[import-not-found]
from langchain_community.document_loaders import PyPDFLoader  # type: ignore[import-not-found]
from langchain_core.embeddings import Embeddings
from langchain_text_splitters import RecursiveCharacterTextSplitter

from chatbot.models.embedders import LocalEmbedder
from chatbot.settings import load_settings

# As in most introductions, and as in the product.
CHUNK_SIZE, CHUNK_OVERLAP = 1_000, 200


class SameEmbedder(Embeddings):
    """The product's embedder as LangChain calls it, with as many threads as there are cores."""

    def __init__(self) -> None:
        settings = load_settings()
        self._embedder = LocalEmbedder(settings.model_cache, threads=settings.threads)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """A vector for each text."""
        vectors: list[list[float]] = self._embedder.embed(texts).tolist()
        return vectors

    def embed_query(self, text: str) -> list[float]:
        """The vector of a query."""
        return self.embed_documents([text])[0]


def extract(path: str) -> dict[str, Any]:
    """Load one PDF."""
    started = time.perf_counter()
    pages = PyPDFLoader(path).load()
    return {"seconds": time.perf_counter() - started, "pages": len(pages), "chunks": 0}


def index(paths: Sequence[str], query: str, folder: str, embedder: SameEmbedder) -> dict[str, Any]:
    """Load, split, embed and insert PDFs into a collection on the disk, and search it."""
    started = time.perf_counter()
    pages = [page for path in paths for page in PyPDFLoader(path).load()]
    chunks = RecursiveCharacterTextSplitter(
        chunk_size=CHUNK_SIZE, chunk_overlap=CHUNK_OVERLAP
    ).split_documents(pages)
    store = Chroma.from_documents(
        chunks, embedder, collection_name=uuid.uuid4().hex, persist_directory=folder
    )
    found = store.similarity_search(query, k=1)
    seconds = time.perf_counter() - started
    return {"seconds": seconds, "pages": len(pages), "chunks": len(chunks), "found": len(found)}


def main() -> None:
    """Answer requests until standard input ends; warm before the first one is read."""
    embedder = SameEmbedder()
    embedder.embed_query("ready")
    for line in sys.stdin:
        request = json.loads(line)
        answer = (
            extract(request["path"])
            if request["op"] == "extract"
            else index(request["paths"], request["query"], request["folder"], embedder)
        )
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
