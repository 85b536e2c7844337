"""What the benchmark of a strong model's answers counts as a doubt and as a caught error; how well the
product does stays out of these tests.
"""

from __future__ import annotations

import pytest

import benchmarks.paraphrases as paraphrases
from benchmarks.model_answers import judged, report
from chatbot.records import Hit, Prompt
from ingestion.records import Page
from tests.commands import usage_of

QUESTION = "What was revenue in 2024?"
PAGE = (
    "The revenue of the republic was $1,585 million in 2024. Expenditure of the republic was $1,600 million "
    "in 2024."
)


def prompt() -> Prompt:
    hit = Hit("Budget.pdf", 1, 1, None, None, "text", None, "1:0", text=PAGE, page_text=PAGE)
    return Prompt(QUESTION, QUESTION, {"S1-7f3a": hit}, (), (), (), "7f3a")


def row(*, what: str = "") -> dict[str, object]:
    """An answer's line; with `what` it has an error planted there."""
    line = {"id": "one", "set": "simple", "question": QUESTION, "right": True}
    planted = {"kind": "wrong figure", "what": what}
    return {**line, "set": "planted", "right": False, "planted": planted} if what else line


def test_a_right_answer_has_no_doubt_and_a_wrong_figure_is_caught() -> None:
    right_text = "The revenue of the republic was $1,585 million in 2024 [S1-7f3a]."
    right = judged(row(), prompt(), right_text)
    assert right.doubts == ()
    assert right.computed == ()
    wrong_text = "The revenue of the republic was $1,858 million in 2024 [S1-7f3a]."
    wrong = judged(row(what="$1,858 million"), prompt(), wrong_text)
    assert wrong.caught
    assert not wrong.verified
    said = report([right, wrong])
    assert "| simple | 1 | 1 of 1 (1.00) |" in said
    assert "caught 1 of 1, shown as verified 0" in said


def test_an_error_is_not_caught_by_a_doubt_of_another_sentence() -> None:
    text = (
        "The revenue of the republic was $1,585 million in 2024 [S1-7f3a]. Expenditure was $9,999 million "
        "in 2024 [S1-7f3a]."
    )
    elsewhere = judged(row(what="revenue"), prompt(), text)
    there = judged(row(what="9,999"), prompt(), text)
    assert not elsewhere.caught
    assert there.caught


def test_what_is_printed_on_no_page_is_computed() -> None:
    text = (
        "Expenditure was $15 million more than revenue ($1,600 million - $1,585 million = $15 million) in "
        "2024 [S1-7f3a]."
    )
    found = judged(row(), prompt(), text)
    assert [known for _, known in found.computed] == [True, True]


@pytest.mark.parametrize("name", ["model_answers.py", "paraphrases.py"])
def test_the_script_says_how_it_is_used(name: str) -> None:
    usage = usage_of(f"benchmarks/{name}")
    assert usage.startswith("usage:")


def test_a_true_rewording_is_verified_and_a_false_one_doubted() -> None:
    pair = {
        "document": "Budget.pdf",
        "page": 1,
        "true": "In 2024 the revenue of the republic was $1,585 million.",
        "false": "In 2024 the revenue of the republic was $1,858 million.",
        "kind": "number",
    }
    found = list(paraphrases.judged([pair], [Page(1, PAGE)]))
    true, false = found
    assert true.verified
    assert not true.why
    assert not false.verified
    assert false.why
    told = paraphrases.report(found)
    assert "| true | 1 | 1.000" in told
    assert "| all false | 1 | .000" in told
