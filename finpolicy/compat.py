"""Offers this product's memories and search under the names and signatures of the programs it continues.

What needs a store shares one, the default one unless `use` names another; it is closed with the process.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from chatbot.errors import NotFoundError, UsageError
from chatbot.memory.cases.memento import (
    build_prompt_from_cases,
    embed_texts,
    extract_pairs,
    load_jsonl,
    retrieve,
)
from chatbot.memory.compression.r2c_context import R2CContextManager
from chatbot.memory.conversations.conversation_names import LOCAL
from chatbot.memory.signals.signal_layer import SignalLayer
from chatbot.memory.situations.situation_store import SituationMemory
from chatbot.records import Recall
from chatbot.service import Chatbot
from chatbot.settings import load_settings
from finpolicy.policy import FinPolicy

__all__ = [
    "FinancialPolicyChatbot",
    "FinancialSituationMemory",
    "HybridMemoryRepository",
    "R2CContextManager",
    "build_prompt_from_cases",
    "embed_texts",
    "extract_pairs",
    "load_jsonl",
    "memory_prompt_for",
    "retrieve",
    "search_memory_events",
    "use",
]

_lock = threading.Lock()
_shared: list[FinPolicy] = []


def use(policy: FinPolicy) -> None:
    """Has all of this module use an open store, which its caller closes."""
    with _lock:
        _shared[:] = [policy]


def _policy() -> FinPolicy:
    with _lock:
        if not _shared:
            _shared.append(FinPolicy())
            atexit.register(_shared[0].close)
        return _shared[0]


def _chatbot() -> Chatbot:
    """The open store itself. Raises UsageError if a server has it."""
    context = _policy().connection.context
    if context is None:
        raise UsageError(
            "This memory needs a store of this process.", hint="Call compat.use(FinPolicy(FOLDER))."
        )
    return context.chatbot


# --- advice by situation


class FinancialSituationMemory(SituationMemory):
    """Situations with advice. Those of one name, symbol and instance are never found in another."""

    def __init__(
        self,
        name: str,
        config: Mapping[str, Any] | None = None,
        symbol: str | None = None,
        expert_instance_id: int | None = None,
    ) -> None:
        """config: taken as the seed takes it, and not looked at: the settings choose the embedder."""
        parts = (name, symbol, expert_instance_id)
        scope = " ".join(str(part) for part in parts if part is not None)
        super().__init__(_chatbot().situations, scope=scope)

    def get_memories(  # type: ignore[override]
        self, current_situation: str, n_matches: int = 1, aggregate_chunks: bool = True
    ) -> list[dict[str, Any]]:
        """Returns at most n_matches of {"matched_situation", "recommendation", "similarity_score"}.

        Without aggregate_chunks each piece of a long text is searched, and "chunk_match" is the best piece.
        """
        return super().get_memories(current_situation, n_matches, aggregate_chunks)


# --- Memento: cases


def memory_prompt_for(task_text: str, path: str | Path | None = None) -> str:
    """Returns the prompt of the cases in a file that are most like a task, "" if it has none.

    path: by default MEMORY_JSONL_PATH. MEMORY_KEY_FIELD, MEMORY_VALUE_FIELD and MEMORY_TOP_K hold too.
    """
    settings = load_settings()
    file = path or settings.cases_file
    if file is None:
        raise NotFoundError("No file of cases is named.", hint="Pass its path, or set MEMORY_JSONL_PATH.")
    items = load_jsonl(file)
    pairs = extract_pairs(items, settings.cases_key_field, settings.cases_value_field)
    results = retrieve(task_text, pairs, top_k=settings.cases_most)
    return build_prompt_from_cases(task_text, results, items) if results else ""


# --- news signals


def search_memory_events(
    query_embedding: Sequence[float],
    match_threshold: float = 0.4,
    match_count: int = 3,
    min_confidence: float = 0.6,
    time_window_hours: int = 168,
) -> list[dict[str, Any]]:
    """Returns the best signal of each event that is like a vector of the store's embedder, best first.

    Raises StoreError where no news was imported.
    """
    signals = _chatbot().signals
    options = replace(
        signals.options, threshold=match_threshold, confidence=min_confidence, hours=time_window_hours
    )
    found = signals.find("", np.asarray(query_embedding, np.float32), match_count, options=options)
    return [
        {
            **asdict(event.reading),
            "news_event_id": event.event,
            "similarity": event.similarity,
            "source": event.source,
            "created_at": event.at.isoformat(),
        }
        for event in found
    ]


class HybridMemoryRepository:
    """News like a question: from the store, and from local templates if it has none or fails."""

    def search(self, query: str, max_notes: int = 0) -> list[dict[str, str]]:
        """Returns at most max_notes of {"source", "text"}, best first; 0 stands for MEMORY_MAX_NOTES.

        The source says when and how sure the news is, or why a template stands in for it.
        """
        chatbot = _chatbot()
        (vector,) = chatbot.library.embedder.embed([query], query=True)
        options = chatbot.signals.options
        options = replace(options, most_notes=max_notes or options.most_notes)
        layer, asked = SignalLayer(chatbot.signals), Recall(query, vector, "", LOCAL)
        notes = layer.recall(asked, options.most_notes)
        if chatbot.signals.off:
            notes = layer.templates(asked, options, "no news was imported")
        return [{"source": note.source, "text": note.text} for note in notes]


# --- the chatbot itself


class FinancialPolicyChatbot:
    """Questions about the documents of the shared store.

    conversation_history: the last max_history_length exchanges, {"user", "assistant"}, in memory alone.
    """

    def __init__(self) -> None:
        self.conversation_history: list[dict[str, str]] = []
        self.max_history_length = 10
        self._id = f"private-{uuid4().hex}"

    def search_relevant_content(self, query: str, n_results: int = 3) -> dict[str, Any]:
        """Returns the best pages in the form of a Chroma query: ids, documents, metadatas and distances.

        Each is a list with one list in it. Metadata: source, page, extraction_method. Distance: 1 - score.
        """
        hits = _policy().search(query, k=n_results)
        metadatas = [
            {"source": hit.document, "page": hit.page, "extraction_method": hit.extraction_method}
            for hit in hits
        ]
        return {
            "ids": [[hit.chunk_id for hit in hits]],
            "documents": [[hit.text for hit in hits]],
            "metadatas": [metadatas],
            "distances": [[1 - hit.score for hit in hits]],
        }

    def chat(self, query: str) -> str:
        """Answers a question from the documents and what was said before, and remembers both."""
        response = _policy().ask(query, conversation=self._id).answer
        self.conversation_history.append({"user": query, "assistant": response})
        self.conversation_history = self.conversation_history[-self.max_history_length :]
        return response
