"""What the benchmark of memories counts is right, and each part prints its table."""

from benchmarks.memories import cases, load_planted, plant, right_window, situations
from chatbot.models.embedders import LocalEmbedder
from chatbot.search.fusion import STRATEGIES
from chatbot.settings import load_settings
from tests.case_rows import case_rows
from tests.commands import run_python
from tests.fakes import HashEmbedder


def test_what_is_planted_stands_where_it_says() -> None:
    text, at = plant("a planted text", ["one", "two", "three"], 2)
    assert text == "one two a planted text three"
    assert text[at:].startswith("a planted text")
    assert plant("x", ["one"], 0) == ("x one", 0)


def test_the_right_window_is_the_one_that_holds_most() -> None:
    windows = ["01234", "56789"]
    assert right_window(windows, 3, 5) == 1
    assert right_window(windows, 0, 10) == 0
    assert right_window([*windows, "abc"], 10, 2) == 2


def test_planted_paragraphs_are_all_different() -> None:
    planted = load_planted()
    texts = [text for text, _ in planted]
    assert len(texts) >= 16
    assert len(set(texts)) == len(texts)
    for text, advice in planted:
        words = text.split()
        assert len(words) > 25
        assert advice


def test_cases_are_measured_by_size() -> None:
    table = cases([20, 30], embedder=HashEmbedder(), sample=5)
    _, _, of_twenty, of_thirty = table.splitlines()
    assert of_twenty.startswith("| 20 |")
    assert of_thirty.startswith("| 30 |")


def test_situations_are_measured_by_kind_and_strategy() -> None:
    embedder = HashEmbedder(dimension=1024, max_tokens=150)
    rows = case_rows(situations(embedder=embedder, windows=(2,), most=8))[2:]
    assert len(rows) == 3 * len(STRATEGIES)
    shares = {(row[1], row[3]): row[6] for row in rows}
    per_chunk = shares["a topic", "per_chunk"]
    assert per_chunk.startswith("1.000"), "words that stand in one window alone are found there"
    assert shares["a topic", "average"] == "–"


def test_the_embedded_model_finds_a_planted_situation_in_its_piece_in_95_of_100() -> None:
    """By per_chunk, in queries of two and of four windows; a piece found counts only with its number."""
    embedder = LocalEmbedder(load_settings().model_cache)
    table = situations(embedder=embedder, windows=(2, 4), most=12, only="a topic", strategies=["per_chunk"])
    cells = [row[6] for row in case_rows(table)[2:]]
    of_two, of_four = (float(cell.split()[0]) for cell in cells)
    assert of_two >= 0.95
    assert of_four >= 0.95


def test_an_unknown_part_is_refused() -> None:
    done = run_python("benchmarks/memories.py", "--only", "dreams")
    assert done.returncode == 2
    assert "invalid choice" in done.stderr
