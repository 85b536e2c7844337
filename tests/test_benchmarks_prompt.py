"""What the benchmark of prompts counts as a side, and as there."""

from __future__ import annotations

from pathlib import Path

from benchmarks.prompt import Silent, reached, sides_of
from chatbot.service import Chatbot
from chatbot.settings import Settings
from chatbot.store.library import Upload
from tests.fakes import HashEmbedder
from tests.pdfs import make_pdf

FIRST_SIDE = frozenset({("A.pdf", 1)})


def test_a_side_is_a_group_of_pages() -> None:
    one = {"question": "?", "doc": "A.pdf", "pages": [1, 2]}
    both_pages = frozenset({("A.pdf", 1), ("A.pdf", 2)})
    assert sides_of(one) == [both_pages]
    assert sides_of({**one, "answerable": False}) == []
    assert sides_of({"question": "?", "doc": None, "pages": None}) == []


def test_two_groups_of_pages_are_two_sides() -> None:
    groups = [{"document": "A", "pages": [1]}, {"document": "B", "pages": [2, 3]}]
    second_side = frozenset({("B.pdf", 2), ("B.pdf", 3)})
    sides = sides_of({"question": "?", "document": None, "page_groups": groups})
    assert sides == [FIRST_SIDE, second_side]


def test_two_pages_referred_to_are_two_sides() -> None:
    references = [{"doc": "A.pdf", "page": 1}, {"doc": "B.pdf", "page": 2}]
    second_side = frozenset({("B.pdf", 2)})
    assert sides_of({"page_refs": references}) == [FIRST_SIDE, second_side]


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
