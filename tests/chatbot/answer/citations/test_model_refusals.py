"""A refusal is known however a chat model puts it, and an answer that says what is missing is none."""

from __future__ import annotations

import time

import pytest

from chatbot.answer.citations.model_refusals import is_refusal, without_refusal
from tests.case_rows import case_lines

REFUSALS = """
NOT IN THESE DOCUMENTS
NOT IN THESE DOCUMENTS. The sources budget K17.4 million for arrears in 2024 [S1-7f3a], and no other year.
**Not in these documents.** There is no rate.
Answer: NOT IN THESE DOCUMENTS. No rate is given.
I'm sorry, but the excerpts do not contain the unemployment rate.
I’m sorry, the provided documents don't mention a carbon tax.
Unfortunately, the context does not specify the amount.
These sources do not say who signed it.
There is no information about dividends in the documents.
Based on the provided sources, I cannot determine the answer.
I could not find any data on exports.
The requested information is not available in the documents.
The answer cannot be determined from the pages given.
"""
ANSWERS = """
The ceiling is 3.0 per cent.
The excerpts do not state the rate of 2024. In 2023 it was 5 per cent [S1-7f3a].
There is no ceiling on debt.
The data are not seasonally adjusted [S1-7f3a].
Whoever is not in these documents is not paid.
Sorry state of public finances: the deficit is 9 per cent.
"""


@pytest.mark.parametrize("text", case_lines(REFUSALS))
def test_a_refusal_is_known(text: str) -> None:
    assert is_refusal(text)


@pytest.mark.parametrize("text", [*case_lines(ANSWERS), ""])
def test_an_answer_is_none(text: str) -> None:
    assert not is_refusal(text)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("NOT IN THESE DOCUMENTS", ""),
        ("**Not in these documents.** There is no rate.", "There is no rate."),
        ("Answer: NOT IN THESE DOCUMENTS. No rate is given [S1].", "No rate is given [S1]."),
        ("NOT IN THESE DOCUMENTS about the levy", "NOT IN THESE DOCUMENTS about the levy"),
        ("Not in these documents. [S1] says less.", "[S1] says less."),
        ("There is no rate.", "There is no rate."),
    ],
)
def test_a_refusal_is_told_without_the_words_of_its_heading(text: str, left: str) -> None:
    assert without_refusal(text) == left


@pytest.mark.timed
@pytest.mark.parametrize(
    "unit", ["the ", "sorry ", "\n", "i cannot find ", "the data ", "based on the sources "]
)
def test_it_is_known_in_little_time(unit: str) -> None:
    endless = unit * (100_000 // len(unit))
    started = time.process_time()
    is_refusal(endless)
    assert time.process_time() - started < 1


@pytest.mark.timed
def test_a_run_of_marks_costs_nothing() -> None:
    began = time.process_time()
    without_refusal(f"a{'_' * 200_000}b")
    assert time.process_time() - began < 1
