"""What the benchmark of prompts counts as a side, and as there."""

from __future__ import annotations

from pathlib import Path

from benchmarks.prompt import Silent, reached
from chatbot.service import Chatbot
from chatbot.settings import Settings
from chatbot.store.library import Upload
from tests.fakes import HashEmbedder
from tests.pdfs import make_pdf


def test_what_a_model_was_given_counts(tmp_path: Path) -> None:
    model, settings = Silent(), Settings(home=tmp_path / "home")
    path = make_pdf(tmp_path / "Rules.pdf", ["The deficit ceiling is 3 per cent of output."])
    asked = {"question": "What is the deficit ceiling?", "doc": "Rules.pdf"}
    with Chatbot(settings, embedder=HashEmbedder(dimension=64), model=model) as chatbot:
        list(chatbot.add([Upload(path)]))
        found = reached(chatbot, model, {**asked, "pages": [1]})
        missed = reached(chatbot, model, {**asked, "pages": [9]})
    assert found.sides == (True,)
    assert missed.sides == (False,)
    assert found.pages == 1
    assert found.tokens > 200
    assert 0 < found.seconds < 10
