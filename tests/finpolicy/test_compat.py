"""The examples of the programs that this one continues, as their authors wrote them, but for the import."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chatbot.errors import UsageError
from finpolicy import FinPolicy, compat
from finpolicy.compat import (
    FinancialPolicyChatbot,
    FinancialSituationMemory,
    HybridMemoryRepository,
    R2CContextManager,
    build_prompt_from_cases,
    embed_texts,
    extract_pairs,
    load_jsonl,
    memory_prompt_for,
    retrieve,
    search_memory_events,
)
from tests.finpolicy.conftest import NAME


@pytest.fixture(autouse=True)
def shared(here: FinPolicy) -> Iterator[None]:
    compat.use(here)
    yield
    compat._shared.clear()


def defaults(call: Any) -> dict[str, Any]:
    """The parameters of a call with their defaults."""
    return {name: one.default for name, one in inspect.signature(call).parameters.items() if name != "self"}


NONE = inspect.Parameter.empty


def test_signatures_are_those_of_the_seeds() -> None:
    assert defaults(R2CContextManager) == {
        "max_tokens": 20000,
        "compression_ratio": 0.5,
        "rho": 0.5,
        "gamma": 1.0,
        "model": "gpt-3.5-turbo",
    }
    assert list(defaults(FinancialSituationMemory)) == ["name", "config", "symbol", "expert_instance_id"]
    assert defaults(FinancialSituationMemory.get_memories) == {
        "current_situation": NONE,
        "n_matches": 1,
        "aggregate_chunks": True,
    }
    assert list(defaults(retrieve))[:6] == ["task", "pairs", "tokenizer", "model", "top_k", "max_length"]
    assert list(defaults(embed_texts))[:4] == ["texts", "tokenizer", "model", "device"]
    assert list(defaults(search_memory_events)) == [
        "query_embedding",
        "match_threshold",
        "match_count",
        "min_confidence",
        "time_window_hours",
    ]
    assert defaults(FinancialPolicyChatbot.search_relevant_content) == {"query": NONE, "n_results": 3}


def test_a_long_session_is_shortened_and_others_are_not() -> None:
    r2c_manager = R2CContextManager(
        max_tokens=200,  # Token threshold before compression
        compression_ratio=0.5,  # Target compression (50% reduction)
        rho=0.5,  # Chunk vs sentence compression balance
        gamma=1.0,  # Importance allocation power factor
        model="gpt-3.5-turbo",  # Model for tokenizer selection
    )
    for turn in range(12):
        r2c_manager.add_message("long", "user", f"How high was the deficit in year {turn}? Thanks a lot.")
        r2c_manager.add_message(
            "long", "assistant", f"The deficit was {turn}.5 per cent. It was a fine year."
        )
    r2c_manager.add_message("short", "user", "What is the P/E ratio?")
    system, compressed, *recent = r2c_manager.get_context("long")
    assert system["content"].startswith("You are a helpful financial assistant")
    assert compressed["role"] == "system"
    assert compressed["content"].startswith("[Compressed Context]")
    assert [message["role"] for message in recent][-2:] == ["user", "assistant"]
    assert recent[-1]["content"] == "The deficit was 11.5 per cent. It was a fine year."
    stats = r2c_manager.get_stats("long")
    assert set(stats) == {
        "message_count",
        "token_count",
        "compressed",
        "compression_count",
        "compression_history",
    }
    assert stats["message_count"] == 24 and stats["compressed"]
    assert stats["token_count"] <= 200
    assert stats["compression_count"] == len(stats["compression_history"]) > 1
    first = stats["compression_history"][0]
    assert first["compressed_tokens"] <= 0.5 * first["original_tokens"] and first["timestamp"] > 0
    assert [message["content"] for message in r2c_manager.get_context("short")[1:]] == [
        "What is the P/E ratio?"
    ]
    r2c_manager.clear("long")
    assert r2c_manager.get_stats("long")["message_count"] == 0
    with pytest.raises(ValueError, match="compression_ratio"):
        R2CContextManager(compression_ratio=2)


def test_the_situations_example() -> None:
    config: dict[str, Any] = {}

    # Initialize memory
    matcher = FinancialSituationMemory(
        name="market_analysis", config=config, symbol="AAPL", expert_instance_id=123
    )

    # Add some training data
    matcher.add_situations(
        [
            ("High inflation scenario...", "Defensive positioning recommended"),
            ("Tech sector volatility...", "Reduce exposure to growth stocks"),
        ]
    )

    # Query with long text
    long_analysis = "The tech sector is volatile. Growth stocks fall and rise by the day. " * 200

    # Option 1: Fast, averaged approach
    fast_results = matcher.get_memories(long_analysis, n_matches=3, aggregate_chunks=True)  # Default

    # Option 2: Accurate, per-chunk approach
    accurate_results = matcher.get_memories(long_analysis, n_matches=3, aggregate_chunks=False)

    assert set(fast_results[0]) == {"matched_situation", "recommendation", "similarity_score"}
    assert fast_results[0]["recommendation"] == "Reduce exposure to growth stocks"
    for rec in accurate_results:
        assert f"Chunk {rec['chunk_match']} matched with score {rec['similarity_score']:.2f}"
    assert len(matcher.get_memories("inflation")) == 1
    other = FinancialSituationMemory("market_analysis", config, "MSFT", 123)
    assert other.get_memories("High inflation") == []


LINES = (
    {"question": "What is the capital of France?", "plan": "Paris", "reward": 1},
    {"question": "What is 2+2?", "plan": "4", "reward": 1},
    {"question": "Bad question", "plan": "Bad answer", "reward": 0},
)


def test_the_memento_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in LINES))
    memory_items = load_jsonl(path)
    memory_pairs = extract_pairs(memory_items, "question", "plan")
    task_text = "Which city is the capital of France?"
    results = retrieve(task=task_text, pairs=memory_pairs, tokenizer=None, model=None, top_k=8)
    assert list(results[0]) == ["rank", "score", "question", "plan", "line_index"]
    assert (results[0]["rank"], results[0]["plan"], results[0]["line_index"]) == (1, "Paris", 0)
    assert results == retrieve(task_text, memory_pairs, None, None, 8, 256)
    assert len(retrieve(task_text, memory_pairs, None, None, 1)) == 1
    prompt = build_prompt_from_cases(task_text, results, memory_items)
    assert "Positive Examples (reward=1):\n\nExample 1:\nQuestion: What is the capital of France?" in prompt
    assert "Negative Examples (reward=0):" in prompt
    monkeypatch.setenv("MEMORY_JSONL_PATH", str(path))
    assert memory_prompt_for(task_text) == prompt
    np.testing.assert_allclose(np.linalg.norm(embed_texts(["a", "b"]), axis=1), 1, rtol=1e-5)


def test_news_is_found_by_vector_and_templates_stand_in(here: FinPolicy) -> None:
    (template,) = HybridMemoryRepository().search("The central bank surprises with a rate cut", max_notes=1)
    assert "local template" in template["source"]
    context = here.connection.context
    assert context is not None
    text = "The exchange lists the meme coin PEPE and its price doubles."
    here.connection.call("POST", "memories/signals", json={"text": text, "source": "Newswire"})
    (vector,) = context.chatbot.library.embedder.embed(["PEPE meme coin"], query=True)
    (event,) = search_memory_events(vector.tolist(), match_threshold=0.40, match_count=3)
    assert {"summary_cn", "assets", "action", "confidence", "news_event_id", "similarity"} <= set(event)
    assert event["action"] == "observe" and 0.4 <= event["similarity"] <= 1
    assert search_memory_events(vector.tolist(), min_confidence=0.9) == []
    (note,) = HybridMemoryRepository().search("PEPE meme coin")
    assert "Newswire" in note["source"]


def test_the_chatbot_remembers_what_was_said() -> None:
    chatbot = FinancialPolicyChatbot()
    results = chatbot.search_relevant_content("debt anchor")
    assert len(results["documents"][0]) == len(results["ids"][0]) == 2
    assert results["metadatas"][0][0] == {"source": NAME, "page": 2, "extraction_method": "text"}
    assert results["distances"][0] == sorted(results["distances"][0])
    assert chatbot.max_history_length == 10
    chatbot.max_history_length = 2
    for question in ("What is the deficit ceiling?", "What is the debt anchor?", "By when?"):
        chatbot.chat(question)
    assert [set(exchange) for exchange in chatbot.conversation_history] == [{"user", "assistant"}] * 2
    assert "2030" in chatbot.conversation_history[-1]["assistant"]


def test_memories_of_a_server_are_refused_with_the_way_out(there: FinPolicy) -> None:
    compat.use(there)
    assert FinancialPolicyChatbot().search_relevant_content("debt anchor")["ids"][0]
    with pytest.raises(UsageError, match=r"compat\.use"):
        FinancialSituationMemory("market_analysis", {})
