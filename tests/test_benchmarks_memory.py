"""What the benchmark of compression counts is right, on a made conversation."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from benchmarks import memory
from benchmarks.memory import Talk, bm25, fill, load_talks, made_talk, measure, share_of
from ingestion.language.terms import terms

ROW = {
    "speakers": ["Ann", "Bob"],
    "turns": [
        {"id": "t1", "speaker": "Ann", "text": "I adopted a puppy called Biscuit."},
        {"id": "t2", "speaker": "Bob", "text": "Wow!"},
        {"id": "t3", "speaker": "Ann", "text": "Yes."},
    ],
    "questions": [
        {"question": "What is Ann's puppy called?", "evidence": ["t1"], "expected": "answer"},
        {"question": "Who has a cat?", "evidence": ["t1"], "expected": "abstain"},
    ],
}


@pytest.fixture
def talks(tmp_path: Path) -> list[Talk]:
    (tmp_path / "made.jsonl").write_text(json.dumps(ROW), encoding="utf-8")
    return load_talks(tmp_path / "made.jsonl")


def test_the_first_speaker_is_the_user_and_unanswerable_questions_are_left_out(talks: list[Talk]) -> None:
    assert [(message.role, message.content) for message in talks[0].messages][:2] == [
        ("user", "Ann: I adopted a puppy called Biscuit."),
        ("assistant", "Bob: Wow!"),
    ]
    assert talks[0].questions == (("What is Ann's puppy called?", ("t1",)),)


def test_a_simple_choice_takes_the_best_up_to_the_first_that_does_not_fit() -> None:
    assert fill(np.array([1.0, 3.0, 2.0]), [10, 40, 50], 0.5) == {1}
    assert fill(np.array([1.0, 1.0, 1.0]), [10, 40, 50], 0.5) == {0, 1}
    assert share_of({"a": 0.5, "b": 1.0}, ["a", "b", "gone"]) == 0.5


def test_bm25_is_as_printed_and_neighbours_get_a_part() -> None:
    found = [Counter(terms(text)) for text in ("reserve fund", "deficit", "deficit ceiling")]
    alone = bm25(found, "reserve")
    # ln(1 + 2.5 / 1.5) times 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2 / (5 / 3)))
    assert alone == pytest.approx([np.log(1 + 2.5 / 1.5) * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 1.2)), 0, 0])
    assert bm25(found, "reserve", neighbours=0.5) == pytest.approx([alone[0], alone[0] / 2, 0])


def test_each_choice_has_a_line(talks: list[Talk]) -> None:
    table = measure(talks, vectors=False).splitlines()
    assert len(table) == 2 + 11 and table[0].count("%") == 3
    assert all(
        f"| {name} |" in "\n".join(table)
        for name in ("newest first", "compress, question", "BM25 against the question")
    )
    assert made_talk(5) == made_talk(5) and len(made_talk(5)) == 5


def test_a_file_that_is_not_there_is_named(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "LENGTHS", (30,))
    memory.report(tmp_path / "none.jsonl")
    assert "there is no none.jsonl" in (told := capsys.readouterr().out) and "| seed |" in told
    done = subprocess.run(
        [sys.executable, "benchmarks/memory.py", "--help"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("usage:") and not done.stderr
