"""The benchmark that reads one page: what it takes for right, and how it parts its contexts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.reading import is_odd, judged, report
from benchmarks.tatqa_pages import load_contexts
from chatbot.records import Answer, NumberCheck


def said(text: str, *, derived: bool = False) -> Answer:
    check = NumberCheck(
        "5",
        5.0,
        None,
        1,
        None,
        "derived" if derived else "supported",
        formula="2 + 3 = 5" if derived else None,
    )
    return Answer("q", "q", text, True, numbers=(check,))


@pytest.mark.parametrize(
    ("kind", "gold", "text", "right"),
    [
        ("arithmetic", -22.22, "It fell: 100 × (44.1 - 56.7) / 56.7 = -22.2%. [S1]", True),
        ("arithmetic", 12.6, "It was 12.7 [S1].", False),
        ("span", ["$1,496.5"], "Total sales were $1,496.5 million [S1].", True),
        ("span", ["late"], f"{'so ' * 50}late [S1]", False),
        ("multi-span", ["wages", "rents"], "Rents, and wages [S1].", True),
        ("multi-span", ["wages", "fuel"], "Rents, and wages [S1].", False),
    ],
)
def test_an_answer_is_right_where_what_the_set_has_stands_in_it(
    kind: str, gold: object, text: str, right: bool
) -> None:
    row = {"answer_type": kind, "answer": gold, "question": "What?"}
    assert judged(row, said(text)).right == right
    assert not judged(row, Answer("q", "q", text, False)).right


def test_the_table_has_those_that_were_worked_out_apart() -> None:
    row = {"answer_type": "arithmetic", "answer": 5, "question": "What?"}
    found = [judged(row, said("2 + 3 = 5 [S1]", derived=True)), judged(row, said("It was 6 [S1]."))]
    assert "| sum | 2 | .500" in report(found) and "1.000" in report(found)


def test_contexts_are_drawn_alike_each_time_and_each_has_its_page(tmp_path: Path) -> None:
    table = [["", "2019", "2018"], ["Sales", "5", "4"]]
    contexts = [
        {
            "table": {"uid": f"{at}-context", "table": table},
            "paragraphs": [{"order": 1, "text": "Sales rose."}],
            "questions": [],
        }
        for at in range(4)
    ]
    (tmp_path / "set.json").write_text(json.dumps(contexts), "utf-8")
    found = load_contexts([tmp_path / "set.json"], tmp_path / "pages", most=2, seed=1)
    assert found == load_contexts([tmp_path / "set.json"], tmp_path / "pages", most=2, seed=1) and all(
        path.is_file() for _, path in found
    )
    assert {is_odd(f"{at}-context") for at in range(20)} == {True, False}


def test_the_script_says_how_it_is_used(root: Path) -> None:
    done = subprocess.run(
        [sys.executable, "benchmarks/reading.py", "--help"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("usage:")
