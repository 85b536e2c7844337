"""Memento's functions by their names, called as the programs written for it call them."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from chatbot.errors import NotFoundError, UsageError
from chatbot.memory.cases.case_store import Cases
from chatbot.memory.cases.memento import (
    build_prompt_from_cases,
    embed_texts,
    extract_pairs,
    load_jsonl,
    retrieve,
)
from chatbot.memory.cases.records import Case
from chatbot.memory.memory_database import open_memories
from chatbot.settings import ROOT, Settings
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
        return [found.case.plan for found in cases.find("anybody", question, least=0.99)]

    assert recalled(TASK) == []
    (problem,) = cases.follow_file(path)
    assert problem.line == 3
    assert recalled(TASK) == ["Look at page 4."]
    assert recalled("Another?") == ["No."]
    (found,) = cases.find("anybody", TASK, least=0.99)
    assert found.case.by
    assert cases.listed("anybody") == []
    path.write_text(json.dumps(items[0] | {"steps": "Look at page 5."}))
    cases.follow_file(path)
    assert recalled(TASK) == ["Look at page 5."]
    assert recalled("Another?") == []
    cases.follow_file(None)
    assert recalled(TASK) == []
    with pytest.raises(NotFoundError):
        cases.follow_file(tmp_path / "nowhere" / "memory.jsonl")
    memories.close()


def lines_of(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_new_ratings_are_appended_and_what_others_append_counts_at_once(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    settings = Settings(home=tmp_path / "home")
    settings.store.mkdir(parents=True)
    memories, _ = open_memories(settings)
    cases = Cases(memories, HashEmbedder(), fields=("user_message", "assistant_response"))

    def recalled(question: str, owner: str = "other") -> list[str]:
        return [found.case.plan for found in cases.find(owner, question, least=0.99)]

    assert cases.follow_file(path) == ()
    case = cases.add("me", Case(TASK, "Look at page 4."))
    (line,) = lines_of(path)
    assert (line["user_message"], line["assistant_response"], line["reward"]) == (TASK, "Look at page 4.", 1)
    assert recalled(TASK) == recalled(TASK, "me") == ["Look at page 4."]
    with path.open("a") as file:  # as another program does, without a line end
        file.write(json.dumps({"user_message": "Hello?", "assistant_response": "Hi.", "reward": 0}))
    assert recalled("Hello?") == ["Hi."]
    cases.add("me", Case("Bye?", "Bye."))
    assert [line["user_message"] for line in lines_of(path)] == [TASK, "Hello?", "Bye?"]
    # A newer verdict takes the place of the older one; what is deleted goes; other lines stay.
    cases.edit("me", case.id, lambda old: replace(old, plan="Look at page 5."))
    assert recalled(TASK) == ["Look at page 5."]
    cases.delete("me", case.id)
    assert recalled(TASK) == []
    assert [line["user_message"] for line in lines_of(path)] == ["Hello?", "Bye?"]
    path.unlink()
    assert recalled("Hello?") == ["Hi."], "a file that is gone for a moment takes nothing away"
    memories.close()


def test_what_quotes_an_erased_document_leaves_the_file_and_only_shared_answers_go_to_others(
    tmp_path: Path,
) -> None:
    path = tmp_path / "memory.jsonl"
    settings = Settings(home=tmp_path / "home")
    settings.store.mkdir(parents=True)
    memories, _ = open_memories(settings)
    cases = Cases(memories, HashEmbedder())
    cases.follow_file(path, appends=False)
    case = cases.add("me", Case(TASK, "Page 4.", verified=True, document_ids=("a" * 64,)))
    assert not path.exists()
    cases.share("me", case.id)
    assert [line["plan"] for line in lines_of(path)] == ["Page 4."]
    cases.forget(["a" * 64])
    assert lines_of(path) == []
    memories.close()


APPENDING = """
import sys
from pathlib import Path
from chatbot.memory.cases.followed_file import FollowedFile
from chatbot.memory.cases.records import Case
file = FollowedFile(Path(sys.argv[1]))
for at in range(200):
    file.append(Case(f"{sys.argv[2]} {at}?", "Yes. " * 40, by=sys.argv[2]))
    if at % 10 == 9:
        file.remove(lambda case: case.question == f"{sys.argv[2]} {at}?")
"""


def test_two_processes_that_append_and_remove_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    running = [
        subprocess.Popen([sys.executable, "-c", APPENDING, str(path), name], cwd=ROOT) for name in "ab"
    ]
    assert [one.wait(120) for one in running] == [0, 0]
    assert len(lines_of(path)) == 2 * 180


def test_conversations_go_into_the_simplified_prompt() -> None:
    items: list[dict[str, object]] = [
        {"user_message": "Xin chào", "assistant_response": "Chào bạn! Tôi có thể giúp gì?"},
        {"user_message": "Thời tiết hôm nay thế nào?", "assistant_response": "Tôi không có thông tin."},
        {"user_message": "Chào", "assistant_response": "Không.", "reward": 0},
    ]
    pairs = extract_pairs(items, "user_message", "assistant_response")
    results = retrieve("Xin chào", pairs, model=HashEmbedder())
    greeting = next(one for one in results if one["question"] == "Xin chào")
    assert greeting["rank"] == 1
    prompt = build_prompt_from_cases("Xin chào!", results, items)
    assert prompt.startswith(
        "Similar previous conversations:\n\nExample 1:\nUser: Xin chào\n"
        "Assistant: Chào bạn! Tôi có thể giúp gì?\n\nExample 2:\nUser: Thời tiết"
    )
    assert "Based on these examples, respond to the current user message." in prompt
    assert "Không." not in prompt


def test_a_model_that_is_no_embedder_is_refused() -> None:
    with pytest.raises(UsageError, match="object is no embedder"):
        embed_texts(["a"], None, object())  # type: ignore[arg-type]
