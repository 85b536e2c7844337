"""What the benchmark of memories counts is right, and each part prints its table."""

import pytest

from benchmarks.memories import cases, load_planted, plant, right_window, situations
from chatbot.models.embedders import LocalEmbedder
from chatbot.search.fusion import STRATEGIES
from chatbot.settings import load_settings
from tests.commands import run_script
from tests.fakes import HashEmbedder


def test_what_is_planted_stands_where_it_says() -> None:
    text, at = plant("a planted text", ["one", "two", "three"], 2)
    assert text == "one two a planted text three"
    assert text[at:].startswith("a planted text")
    assert plant("x", ["one"], 0) == ("x one", 0)


def test_the_right_window_is_the_one_that_holds_most() -> None:
    assert right_window(["01234", "56789"], 3, 5) == 1
    assert right_window(["01234", "56789"], 0, 10) == 0
    assert right_window(["01234", "56789", "abc"], 10, 2) == 2


def test_planted_paragraphs_are_all_different() -> None:
    planted = load_planted()
    texts = {text for text, _ in planted}
    assert len(texts) == len(planted)
    assert len(planted) >= 16
    for text, advice in planted:
        assert len(text.split()) > 25
        assert advice


def test_cases_are_measured_by_size() -> None:
    _, _, first, second = cases([20, 30], embedder=HashEmbedder(), sample=5).splitlines()
    assert first.startswith("| 20 |")
    assert second.startswith("| 30 |")


def test_situations_are_measured_by_kind_and_strategy() -> None:
    embedder = HashEmbedder(dimension=1024, max_tokens=150)
    table = situations(embedder=embedder, windows=(2,), most=8)
    lines = table.splitlines()[2:]
    assert len(lines) == 3 * len(STRATEGIES)
    shares = {}
    for line in lines:
        _, kind, _, strategy, _, _, share, *_ = map(str.strip, line.split("|"))
        shares[kind, strategy] = share
    found = shares["a topic", "per_chunk"]
    assert found.startswith("1.000"), "words that stand in one window alone are found there"
    assert shares["a topic", "average"] == "–"


@pytest.mark.long
def test_the_embedded_model_finds_a_planted_situation_in_its_piece_in_95_of_100() -> None:
    """By per_chunk, in queries of two and of four windows; a piece found counts only with its number."""
    embedder = LocalEmbedder(load_settings().model_cache)
    table = situations(embedder=embedder, windows=(2, 4), most=12, only="a topic", strategies=["per_chunk"])
    cells = [line.split("|")[6] for line in table.splitlines()[2:]]
    shares = [float(cell.split()[0]) for cell in cells]
    assert len(shares) == 2
    assert min(shares) >= 0.95


def test_an_unknown_part_is_refused() -> None:
    done = run_script("memories.py", "--only", "dreams")
    assert done.returncode == 2
    assert "invalid choice" in done.stderr
