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
    talk = talks[0]
    ann, bob = talk.messages[:2]
    assert ann.role == "user"
    assert ann.content == "Ann: I adopted a puppy called Biscuit."
    assert bob.role == "assistant"
    assert bob.content == "Bob: Wow!"
    assert talk.questions == (("What is Ann's puppy called?", ("t1",)),)


def test_a_simple_choice_takes_the_best_up_to_the_first_that_does_not_fit() -> None:
    sizes = [10, 40, 50]
    unlike = np.array([1.0, 3.0, 2.0])
    alike = np.array([1.0, 1.0, 1.0])
    assert fill(unlike, sizes, 0.5) == {1}
    assert fill(alike, sizes, 0.5) == {0, 1}
    shares = {"a": 0.5, "b": 1.0}
    assert share_of(shares, ["a", "b", "gone"]) == 0.5


def test_bm25_is_as_printed_and_neighbours_get_a_part() -> None:
    texts = ("reserve fund", "deficit", "deficit ceiling")
    found = [Counter(terms(text)) for text in texts]
    alone = bm25(found, "reserve")
    # ln(1 + 2.5 / 1.5) times 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2 / (5 / 3)))
    rarity = np.log(1 + 2.5 / 1.5)
    length = 0.25 + 0.75 * 1.2
    first = rarity * 2.2 / (1 + 1.2 * length)
    assert alone == pytest.approx([first, 0, 0])
    with_neighbours = bm25(found, "reserve", neighbours=0.5)
    assert with_neighbours == pytest.approx([first, first / 2, 0])


def test_each_choice_has_a_line(talks: list[Talk]) -> None:
    table = measure(talks, vectors=False)
    head, _, *rows = table.splitlines()
    assert len(rows) == 11
    assert head.count("%") == 3
    assert "| newest first |" in table
    assert "| compress, question |" in table
    assert "| BM25 against the question |" in table
    talk = made_talk(5)
    assert len(talk) == 5
    assert talk == made_talk(5)


def test_a_file_that_is_not_there_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "LENGTHS", (30,))
    memory.report(tmp_path / "none.jsonl")
    told = capsys.readouterr().out
    assert "there is no none.jsonl" in told
    assert "| seed |" in told
    usage = usage_of("benchmarks/memory.py")
    assert usage.startswith("usage:")
