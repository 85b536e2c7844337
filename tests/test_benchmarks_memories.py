"""What the benchmark of memories counts is right, and each part prints its table."""

import pytest

from benchmarks.memories import situations
from chatbot.models.embedders import LocalEmbedder
from chatbot.settings import load_settings


@pytest.mark.long
def test_the_embedded_model_finds_a_planted_situation_in_its_piece_in_95_of_100() -> None:
    """By per_chunk, in queries of two and of four windows; a piece found counts only with its number."""
    embedder = LocalEmbedder(load_settings().model_cache)
    table = situations(embedder=embedder, windows=(2, 4), most=12, only="a topic", strategies=["per_chunk"])
    cells = [line.split("|")[6] for line in table.splitlines()[2:]]
    shares = [float(cell.split()[0]) for cell in cells]
    assert len(shares) == 2
    assert min(shares) >= 0.95
