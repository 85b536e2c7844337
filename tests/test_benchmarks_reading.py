"""The benchmark that reads one page: what it takes for right, and how it parts its contexts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.reading import is_odd, judged, report
from benchmarks.tatqa_pages import load_contexts
from chatbot.records import Answer, NumberCheck
from tests.case_rows import case_rows
from tests.commands import usage_of


def said(text: str, *, derived: bool = False) -> Answer:
    check = NumberCheck("5", 5.0, None, 1, None, "supported")
    if derived:
        check = replace(check, status="derived", formula="2 + 3 = 5")
    return Answer("q", "q", text, True, numbers=(check,))


@pytest.mark.parametrize(
    ("kind", "gold", "text", "right"),
    case_rows(
        f"""
        arithmetic | -22.22             | It fell: 100 × (44.1 - 56.7) / 56.7 = -22.2%. [S1] | yes
        arithmetic | 12.6               | It was 12.7 [S1].                                  | no
        span       | ["$1,496.5"]       | Total sales were $1,496.5 million [S1].            | yes
        span       | ["late"]           | {"so " * 50}late [S1] | no
        multi-span | ["wages", "rents"] | Rents, and wages [S1].                             | yes
        multi-span | ["wages", "fuel"]  | Rents, and wages [S1].                             | no
        """
    ),
)
def test_an_answer_is_right_where_what_the_set_has_stands_in_it(
    kind: str, gold: str, text: str, right: str
) -> None:
    row = {"answer_type": kind, "answer": json.loads(gold), "question": "What?"}
    given = judged(row, said(text))
    assert given.right == (right == "yes")
    refused = judged(row, Answer("q", "q", text, False))
    assert not refused.right


def test_the_table_has_those_that_were_worked_out_apart() -> None:
    row = {"answer_type": "arithmetic", "answer": 5, "question": "What?"}
    worked_out = judged(row, said("2 + 3 = 5 [S1]", derived=True))
    read = judged(row, said("It was 6 [S1]."))
    told = report([worked_out, read])
    assert "| sum | 2 | .500" in told
    assert "1.000" in told


def test_contexts_are_drawn_alike_each_time_and_each_has_its_page(tmp_path: Path) -> None:
    contexts = []
    for at in range(4):
        table = {"uid": f"{at}-context", "table": [["", "2019", "2018"], ["Sales", "5", "4"]]}
        paragraphs = [{"order": 1, "text": "Sales rose."}]
        contexts.append({"table": table, "paragraphs": paragraphs, "questions": []})
    path = tmp_path / "set.json"
    path.write_text(json.dumps(contexts), "utf-8")
    found = load_contexts([path], tmp_path / "pages", most=2, seed=1)
    again = load_contexts([path], tmp_path / "pages", most=2, seed=1)
    assert found == again
    assert all(page.is_file() for _, page in found)
    halves = {is_odd(f"{at}-context") for at in range(20)}
    assert halves == {True, False}


def test_the_script_says_how_it_is_used() -> None:
    usage = usage_of("benchmarks/reading.py")
    assert usage.startswith("usage:")
