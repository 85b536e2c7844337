"""What the benchmark of models counts of their answers."""

from __future__ import annotations

from pathlib import Path

from benchmarks.models import asked, chosen, report
from benchmarks.questions import Question
from benchmarks.small_model import asked, chosen, report
from tests.fakes import ScriptedModel
from tests.stores import of_pages

QUESTION = Question(
    "1", "What is the deficit ceiling?", "Rules.pdf", pages=frozenset({1}), values=("3 per cent",)
)


def test_questions_about_one_document_are_chosen_at_even_distances() -> None:
    some = [Question(number, "?", "A.pdf", pages=frozenset({1})) for number in "0123456789"]
    of_none = Question("x", "?", "")
    of_two = Question("y", "?", "A.pdf", names=("A.pdf", "B.pdf"), pages=frozenset({1}))
    of_no_page = Question("z", "?", "A.pdf")
    five = chosen([of_none, of_two, of_no_page, *some], 5)
    assert [one.id for one in five] == ["0", "2", "4", "6", "8"]
    assert len(chosen(some, 60)) == 10


def test_keys_and_values_are_counted(tmp_path: Path) -> None:
    ceiling = "The deficit ceiling is 3 per cent of output [1]. The reserve fund is held abroad."
    model = ScriptedModel([ceiling], ["NOT IN THESE DOCUMENTS."])
    pages = {"Rules.pdf": "The deficit ceiling is 3 per cent of output."}
    with of_pages(tmp_path, pages, model=model) as chatbot:
        answered = asked(chatbot, QUESTION)
        refused = asked(chatbot, QUESTION)
    assert answered["right"] is True
    assert refused["right"] is False
    assert answered["gold"]
    assert answered["wrote"].endswith("abroad.")
    assert answered["statements"] == {"cited": 1, "unsupported": 1}
    table = " ".join(report([answered, refused]).split())
    assert "| statements with a key of its own | 1 | 0.50 of 2 |" in table
    assert "| right values | 1 | 0.50 of 2 |" in table
