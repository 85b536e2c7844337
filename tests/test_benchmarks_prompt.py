"""What the benchmark of prompts counts as a side, and as there."""

from __future__ import annotations

from pathlib import Path

from benchmarks.prompt import Silent, reached, sides_of
from chatbot.service import Chatbot
from chatbot.settings import Settings
from chatbot.store.library import Upload
from tests.fakes import HashEmbedder
from tests.pdfs import make_pdf


def test_a_side_is_a_group_of_pages() -> None:
    one = {"question": "?", "doc": "A.pdf", "pages": [1, 2]}
    assert sides_of(one) == [frozenset({("A.pdf", 1), ("A.pdf", 2)})]
    assert (
        sides_of({**one, "answerable": False})
        == []
        == sides_of({"question": "?", "doc": None, "pages": None})
    )
    two = {
        "question": "?",
        "document": None,
        "page_groups": [{"document": "A", "pages": [1]}, {"document": "B", "pages": [2, 3]}],
    }
    assert sides_of(two) == [frozenset({("A.pdf", 1)}), frozenset({("B.pdf", 2), ("B.pdf", 3)})]
    assert sides_of({"page_refs": [{"doc": "A.pdf", "page": 1}, {"doc": "B.pdf", "page": 2}]}) == [
        frozenset({("A.pdf", 1)}),
        frozenset({("B.pdf", 2)}),
    ]


def test_what_a_model_was_given_counts(tmp_path: Path) -> None:
    model = Silent()
    with Chatbot(
        Settings(home=tmp_path / "home"), embedder=HashEmbedder(dimension=64), model=model
    ) as chatbot:
        list(
            chatbot.add(
                [Upload(make_pdf(tmp_path / "Rules.pdf", ["The deficit ceiling is 3 per cent of output."]))]
            )
        )
        found = reached(
            chatbot, model, {"question": "What is the deficit ceiling?", "doc": "Rules.pdf", "pages": [1]}
        )
        missed = reached(
            chatbot, model, {"question": "What is the deficit ceiling?", "doc": "Rules.pdf", "pages": [9]}
        )
    assert (found.sides, missed.sides) == ((True,), (False,))
    assert found.pages == 1 and found.tokens > 200 and 0 < found.seconds < 10
