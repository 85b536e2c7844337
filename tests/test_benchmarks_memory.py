"""What the benchmark of compression counts is right, on a made conversation."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from benchmarks import memory
from benchmarks.memory import Talk, bm25, fill, load_talks, made_talk, measure, share_of
from ingestion.language.terms import terms
from tests.commands import usage_of

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
    path = tmp_path / "made.jsonl"
    path.write_text(json.dumps(ROW), encoding="utf-8")
    return load_talks(path)


def test_the_first_speaker_is_the_user_and_unanswerable_questions_are_left_out(talks: list[Talk]) -> None:
    first, second, *_ = talks[0].messages
    assert first.role == "user"
    assert first.content == "Ann: I adopted a puppy called Biscuit."
    assert second.role == "assistant"
    assert second.content == "Bob: Wow!"
    assert talks[0].questions == (("What is Ann's puppy called?", ("t1",)),)


def test_a_simple_choice_takes_the_best_up_to_the_first_that_does_not_fit() -> None:
    lengths = [10, 40, 50]
    different, equal = np.array([1.0, 3.0, 2.0]), np.array([1.0, 1.0, 1.0])
    assert fill(different, lengths, 0.5) == {1}
    assert fill(equal, lengths, 0.5) == {0, 1}
    assert share_of({"a": 0.5, "b": 1.0}, ["a", "b", "gone"]) == 0.5


def test_bm25_is_as_printed_and_neighbours_get_a_part() -> None:
    found = [Counter(terms(text)) for text in ("reserve fund", "deficit", "deficit ceiling")]
    alone = bm25(found, "reserve")
    # ln(1 + 2.5 / 1.5) times 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2 / (5 / 3)))
    rarity = np.log(1 + 2.5 / 1.5)
    saturation = 2.2 / (1 + 1.2 * (0.25 + 0.75 * 1.2))
    assert alone == pytest.approx([rarity * saturation, 0, 0])
    with_neighbours = bm25(found, "reserve", neighbours=0.5)
    assert with_neighbours == pytest.approx([alone[0], alone[0] / 2, 0])


def test_each_choice_has_a_line(talks: list[Talk]) -> None:
    table = measure(talks, vectors=False)
    lines = table.splitlines()
    assert len(lines) == 2 + 11
    assert lines[0].count("%") == 3
    for name in ("newest first", "compress, question", "BM25 against the question"):
        assert f"| {name} |" in table
    talk = made_talk(5)
    assert talk == made_talk(5)
    assert len(talk) == 5


def test_a_file_that_is_not_there_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "LENGTHS", (30,))
    memory.report(tmp_path / "none.jsonl")
    told = capsys.readouterr().out
    assert "there is no none.jsonl" in told
    assert "| seed |" in told


def test_the_script_says_how_it_is_used() -> None:
    assert usage_of("memory.py").startswith("usage:")
