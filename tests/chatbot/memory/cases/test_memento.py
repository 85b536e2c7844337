"""Memento's functions by their names, called as the programs written for it call them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from chatbot.errors import NotFoundError, UsageError
from chatbot.memory.cases.case_store import CaseQuery, Cases
from chatbot.memory.cases.memento import (
    build_prompt_from_cases,
    embed_texts,
    extract_pairs,
    load_jsonl,
    retrieve,
)
from chatbot.memory.memory_database import open_memories
from chatbot.settings import Settings
from tests.fakes import HashEmbedder

TASK = "What is the deficit ceiling of Valmora?"


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    """Six helpful and four unhelpful cases to nearly one question, one to another, and one without a plan."""
    items = [{"question": f"{TASK} {at}", "plan": f"Plan {at}", "reward": int(at < 6)} for at in range(10)]
    items += [{"question": "How tall is the lighthouse?", "plan": "30 m"}, {"question": "No plan"}]
    path = tmp_path / "memory.jsonl"
    path.write_text("\n\n".join(map(json.dumps, items)) + "\n")
    return path


def test_a_program_written_for_memento_runs(memory: Path) -> None:
    items = load_jsonl(memory)
    pairs = extract_pairs(items, "question", "plan")
    assert len(pairs) == 11
    assert pairs[10] == ("How tall is the lighthouse?", "30 m", 10)
    results = retrieve(task=TASK, pairs=pairs, tokenizer=None, model=HashEmbedder(), top_k=10)
    assert [one["rank"] for one in results] == list(range(1, 11))
    assert set(results[0]) == {"rank", "score", "question", "plan", "line_index"}
    assert 1 >= results[0]["score"] >= results[9]["score"] >= -1
    assert "How tall is the lighthouse?" not in {one["question"] for one in results}
    prompt = build_prompt_from_cases(TASK, results, items)
    helpful, unhelpful = prompt.split("Negative Examples (reward=0):")
    assert helpful.startswith("Positive Examples (reward=1):\n\nExample 1:\nQuestion: ")
    assert helpful.count("Example ") == 4
    assert unhelpful.count("Example ") == 2
    assert "please provide a plan for the current task." in unhelpful
    assert prompt.endswith(TASK)


def test_texts_become_unit_rows() -> None:
    rows = embed_texts(["debt", "deficit"], model=HashEmbedder())
    assert rows.shape == (2, HashEmbedder().dimension)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1)
    assert retrieve("debt", [], model=HashEmbedder()) == []


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        load_jsonl(tmp_path / "nowhere.jsonl")
    (tmp_path / "broken.jsonl").write_text('{"question": "Q"}\n[1]\n')
    with pytest.raises(UsageError, match="Line 2"):
        load_jsonl(tmp_path / "broken.jsonl")


def test_everybody_has_the_cases_of_a_file_while_it_has_them(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    items: list[dict[str, object]] = [
        {"task": TASK, "steps": "Look at page 4."},
        {"task": "Another?", "steps": "No.", "reward": 0},
    ]
    path.write_text("\n".join(map(json.dumps, items)) + "\nno json\n")
    settings = Settings(home=tmp_path / "home")
    settings.store.mkdir(parents=True)
    memories, _ = open_memories(settings)
    cases = Cases(memories, HashEmbedder(), fields=("task", "steps"))

    def recalled(question: str) -> list[str]:
        return [found.case.plan for found in cases.find("anybody", question, CaseQuery(least=0.99))]

    assert recalled(TASK) == []
    (problem,) = cases.follow_file(path)
    assert problem.line == 3
    assert recalled(TASK) == ["Look at page 4."]
    assert recalled("Another?") == ["No."]
    (found,) = cases.find("anybody", TASK, CaseQuery(least=0.99))
    assert found.case.by
    assert cases.listed("anybody") == []
    path.write_text(json.dumps(items[0] | {"steps": "Look at page 5."}))
    cases.follow_file(path)
    assert recalled(TASK) == ["Look at page 5."]
    assert recalled("Another?") == []
    cases.follow_file(None)
    assert recalled(TASK) == []
    with pytest.raises(NotFoundError):
        cases.follow_file(tmp_path / "nowhere.jsonl")
    memories.close()
