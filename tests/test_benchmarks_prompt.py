"""What the benchmark of prompts counts as a side, and as there."""

from __future__ import annotations

from pathlib import Path

from benchmarks.prompt import Silent, reached, sides_of
from tests.stores import of_pages


def test_a_side_is_a_group_of_pages() -> None:
    one = {"question": "?", "doc": "A.pdf", "pages": [1, 2]}
    assert sides_of(one) == [{("A.pdf", 1), ("A.pdf", 2)}]
    assert sides_of({**one, "answerable": False}) == []
    nowhere = {"question": "?", "doc": None, "pages": None}
    assert sides_of(nowhere) == []
    groups = [{"document": "A", "pages": [1]}, {"document": "B", "pages": [2, 3]}]
    two = {"question": "?", "document": None, "page_groups": groups}
    assert sides_of(two) == [{("A.pdf", 1)}, {("B.pdf", 2), ("B.pdf", 3)}]
    references = [{"doc": "A.pdf", "page": 1}, {"doc": "B.pdf", "page": 2}]
    assert sides_of({"page_refs": references}) == [{("A.pdf", 1)}, {("B.pdf", 2)}]


def test_what_a_model_was_given_counts(tmp_path: Path) -> None:
    model = Silent()
    question = {"question": "What is the deficit ceiling?", "doc": "Rules.pdf", "pages": [1]}
    pages = {"Rules.pdf": "The deficit ceiling is 3 per cent of output."}
    with of_pages(tmp_path, pages, model=model) as chatbot:
        found = reached(chatbot, model, question)
        missed = reached(chatbot, model, {**question, "pages": [9]})
    assert found.sides == (True,)
    assert missed.sides == (False,)
    assert found.pages == 1
    assert found.tokens > 200
    assert 0 < found.seconds < 10
