"""What the benchmark of memories counts is right, and each part prints its table."""

import subprocess
import sys
from pathlib import Path

from benchmarks.memories import cases, load_planted, plant, right_window, situations
from chatbot.models.embedders import LocalEmbedder
from chatbot.search.fusion import STRATEGIES
from chatbot.settings import load_settings
from tests.fakes import HashEmbedder


def test_what_is_planted_stands_where_it_says() -> None:
    text, at = plant("a planted text", ["one", "two", "three"], 2)
    assert text == "one two a planted text three" and text[at:].startswith("a planted text")
    assert plant("x", ["one"], 0) == ("x one", 0)


def test_the_right_window_is_the_one_that_holds_most() -> None:
    assert right_window(["01234", "56789"], 3, 5) == 1
    assert right_window(["01234", "56789"], 0, 10) == 0
    assert right_window(["01234", "56789", "abc"], 10, 2) == 2


def test_planted_paragraphs_are_all_different() -> None:
    planted = load_planted()
    assert len({text for text, _ in planted}) == len(planted) >= 16
    assert all(len(text.split()) > 25 and advice for text, advice in planted)


def test_cases_are_measured_by_size() -> None:
    table = cases([20, 30], embedder=HashEmbedder(), sample=5).splitlines()
    assert len(table) == 4 and table[2].startswith("| 20 |") and table[3].startswith("| 30 |")


def test_situations_are_measured_by_kind_and_strategy() -> None:
    lines = situations(
        embedder=HashEmbedder(dimension=1024, max_tokens=150), windows=(2,), most=8
    ).splitlines()[2:]
    assert len(lines) == 3 * len(STRATEGIES)
    rows = [line.split("|") for line in lines]
    cells = {(row[1].strip(), row[3].strip()): row for row in rows}
    assert cells["a topic", "per_chunk"][6].strip().startswith("1.000"), (
        "words that stand in one window alone are found there"
    )
    assert cells["a topic", "average"][6].strip() == "–"


def test_the_embedded_model_finds_a_planted_situation_in_its_piece_in_95_of_100() -> None:
    """By per_chunk, in queries of two and of four windows; a piece found counts only with its number."""
    lines = situations(
        embedder=LocalEmbedder(load_settings().model_cache),
        windows=(2, 4),
        most=12,
        only="a topic",
        strategies=["per_chunk"],
    )
    shares = [float(line.split("|")[6].split()[0]) for line in lines.splitlines()[2:]]
    assert len(shares) == 2 and min(shares) >= 0.95


def test_an_unknown_part_is_refused(root: Path) -> None:
    done = subprocess.run(
        [sys.executable, "benchmarks/memories.py", "--only", "dreams"],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2 and "invalid choice" in done.stderr
