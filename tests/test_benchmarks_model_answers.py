"""What the benchmark of a strong model's answers counts as a doubt and as a caught error; how well the
product does stays out of these tests.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import benchmarks.paraphrases as paraphrases
from benchmarks.model_answers import judged, report
from chatbot.records import Hit, Prompt
from ingestion.records import Page

PAGE = (
    "The revenue of the republic was $1,585 million in 2024. Expenditure of the republic was $1,600 million "
    "in 2024."
)


def prompt() -> Prompt:
    hit = Hit("Budget.pdf", 1, 1, None, None, "text", None, "1:0", text=PAGE, page_text=PAGE)
    return Prompt(
        "What was revenue in 2024?", "What was revenue in 2024?", {"S1-7f3a": hit}, (), (), (), "7f3a"
    )


def row(*, what: str = "") -> dict[str, object]:
    planted = {"planted": {"kind": "wrong figure", "what": what}} if what else {}
    return {
        "id": "one",
        "set": "planted" if what else "simple",
        "question": "What was revenue in 2024?",
        "right": not what,
        **planted,
    }


def test_a_right_answer_has_no_doubt_and_a_wrong_figure_is_caught() -> None:
    right = judged(row(), prompt(), "The revenue of the republic was $1,585 million in 2024 [S1-7f3a].")
    assert right.doubts == () and right.computed == ()
    wrong = judged(
        row(what="$1,858 million"),
        prompt(),
        "The revenue of the republic was $1,858 million in 2024 [S1-7f3a].",
    )
    assert wrong.caught and not wrong.verified
    said = report([right, wrong])
    assert "| simple | 1 | 1 of 1 (1.00) |" in said and "caught 1 of 1, shown as verified 0" in said


def test_an_error_is_not_caught_by_a_doubt_of_another_sentence() -> None:
    text = (
        "The revenue of the republic was $1,585 million in 2024 [S1-7f3a]. Expenditure was $9,999 million "
        "in 2024 [S1-7f3a]."
    )
    assert not judged(row(what="revenue"), prompt(), text).caught
    assert judged(row(what="9,999"), prompt(), text).caught


def test_what_is_printed_on_no_page_is_computed() -> None:
    text = (
        "Expenditure was $15 million more than revenue ($1,600 million - $1,585 million = $15 million) in "
        "2024 [S1-7f3a]."
    )
    assert [known for _, known in judged(row(), prompt(), text).computed] == [True, True]


@pytest.mark.parametrize("name", ["model_answers.py", "paraphrases.py"])
def test_the_script_says_how_it_is_used(root: Path, name: str) -> None:
    done = subprocess.run(
        [sys.executable, f"benchmarks/{name}", "--help"], cwd=root, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("usage:")


def test_a_true_rewording_is_verified_and_a_false_one_doubted() -> None:
    page = Page(1, PAGE)
    pair = {
        "document": "Budget.pdf",
        "page": 1,
        "true": "In 2024 the revenue of the republic was $1,585 million.",
        "kind": "number",
    }
    found = list(
        paraphrases.judged(
            [{**pair, "false": "In 2024 the revenue of the republic was $1,858 million."}], [page]
        )
    )
    assert [(one.verified, bool(one.why)) for one in found] == [(True, False), (False, True)]
    assert "| true | 1 | 1.000" in paraphrases.report(
        found
    ) and "| all false | 1 | .000" in paraphrases.report(found)
