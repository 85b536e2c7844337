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

PAGE = (
    "The revenue of the republic was $1,585 million in 2024. Expenditure of the republic was $1,600 million "
    "in 2024."
)


QUESTION = "What was revenue in 2024?"


def prompt() -> Prompt:
    hit = Hit("Budget.pdf", 1, 1, None, None, "text", None, "1:0", text=PAGE, page_text=PAGE)
    return Prompt(QUESTION, QUESTION, {"S1-7f3a": hit}, (), (), (), "7f3a")


def row(*, what: str = "") -> dict[str, object]:
    asked: dict[str, object] = {"id": "one", "question": QUESTION, "right": not what}
    if not what:
        return {**asked, "set": "simple"}
    return {**asked, "set": "planted", "planted": {"kind": "wrong figure", "what": what}}


def test_a_right_answer_has_no_doubt_and_a_wrong_figure_is_caught() -> None:
    right = judged(row(), prompt(), "The revenue of the republic was $1,585 million in 2024 [S1-7f3a].")
    assert right.doubts == ()
    assert right.computed == ()
    false = "The revenue of the republic was $1,858 million in 2024 [S1-7f3a]."
    wrong = judged(row(what="$1,858 million"), prompt(), false)
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
    answer = judged(row(), prompt(), text)
    assert [known for _, known in answer.computed] == [True, True]


@pytest.mark.parametrize("name", ["model_answers.py", "paraphrases.py"])
def test_the_script_says_how_it_is_used(name: str) -> None:
    assert usage_of(name).startswith("usage:")


PAIR = {
    "document": "Budget.pdf",
    "page": 1,
    "true": "In 2024 the revenue of the republic was $1,585 million.",
    "false": "In 2024 the revenue of the republic was $1,858 million.",
    "kind": "number",
}


def test_a_true_rewording_is_verified_and_a_false_one_doubted() -> None:
    found = list(paraphrases.judged([PAIR], [Page(1, PAGE)]))
    true, false = found
    assert true.verified is True
    assert not true.why
    assert false.verified is False
    assert false.why
    table = paraphrases.report(found)
    assert "| true | 1 | 1.000" in table
    assert "| all false | 1 | .000" in table
