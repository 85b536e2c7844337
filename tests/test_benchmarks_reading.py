"""The benchmark that reads one page: what it takes for right, and how it parts its contexts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.reading import is_odd, judged, report
from benchmarks.tatqa_pages import load_contexts
from chatbot.records import Answer, NumberCheck
from tests.commands import usage_of


def said(text: str, *, formula: str | None = None) -> Answer:
    status = "derived" if formula else "supported"
    check = NumberCheck("5", 5.0, None, 1, None, status, formula=formula)
    return Answer("q", "q", text, True, numbers=(check,))


FELL = "It fell: 100 × (44.1 - 56.7) / 56.7 = -22.2%. [S1]"
JUDGED = [
    ("arithmetic", -22.22, FELL, True),
    ("arithmetic", 12.6, "It was 12.7 [S1].", False),
    ("span", ["$1,496.5"], "Total sales were $1,496.5 million [S1].", True),
    ("span", ["late"], f"{'so ' * 50}late [S1]", False),
    ("multi-span", ["wages", "rents"], "Rents, and wages [S1].", True),
    ("multi-span", ["wages", "fuel"], "Rents, and wages [S1].", False),
]


@pytest.mark.parametrize(("kind", "gold", "text", "right"), JUDGED)
def test_an_answer_is_right_where_what_the_set_has_stands_in_it(
    kind: str, gold: object, text: str, right: bool
) -> None:
    row = {"answer_type": kind, "answer": gold, "question": "What?"}
    refusal = Answer("q", "q", text, False)
    assert judged(row, said(text)).right == right
    assert not judged(row, refusal).right


def test_the_table_has_those_that_were_worked_out_apart() -> None:
    row = {"answer_type": "arithmetic", "answer": 5, "question": "What?"}
    worked_out = judged(row, said("2 + 3 = 5 [S1]", formula="2 + 3 = 5"))
    wrong = judged(row, said("It was 6 [S1]."))
    table = report([worked_out, wrong])
    assert "| sum | 2 | .500" in table
    assert "1.000" in table


SALES = [["", "2019", "2018"], ["Sales", "5", "4"]]


def context_of(name: str) -> dict[str, object]:
    paragraph = {"order": 1, "text": "Sales rose."}
    return {"table": {"uid": name, "table": SALES}, "paragraphs": [paragraph], "questions": []}


def test_contexts_are_drawn_alike_each_time_and_each_has_its_page(tmp_path: Path) -> None:
    contexts = [context_of(f"{at}-context") for at in range(4)]
    path, pages = tmp_path / "set.json", tmp_path / "pages"
    path.write_text(json.dumps(contexts), "utf-8")
    found = load_contexts([path], pages, most=2, seed=1)
    assert load_contexts([path], pages, most=2, seed=1) == found
    assert all(page.is_file() for _, page in found)
    odd = {is_odd(f"{at}-context") for at in range(20)}
    assert odd == {True, False}


def test_the_script_says_how_it_is_used() -> None:
    assert usage_of("reading.py").startswith("usage:")
