"""How an answer fits its question, apart from whether its words stand on the page."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chatbot.fit import ANSWERS, MAY_NOT_ANSWER, NOTHING_NEAR, fit_of, fit_text
from chatbot.records import GUIDE, Answer, Citation, Hit, NumberCheck, Prompt, Understanding
from ingestion.records import DocumentFacts

PAGE = "The deficit ceiling of Norland is 3 per cent of output in 2025."
HIT = Hit("norland.pdf", 1, 1, None, None, "text", None, "1:1", text=PAGE, page_text=PAGE)
CITED = Citation("S1", "norland.pdf", 1, None, PAGE, True, version=1)
FIGURE = NumberCheck("3 per cent", 3.0, "%", 1.0, None, "supported", "S1")


def answer(
    question: str, *, form: str = "figure", years: tuple[int, ...] = (), names: tuple[str, ...] = ()
) -> Answer:
    asked = Understanding(question, question, form, years=years, names=names)
    prompt = Prompt(question, question, {"S1-7f3a": HIT}, (), (), (), "7f3a")
    return Answer(
        question,
        question,
        f"{PAGE} [S1]",
        True,
        citations=(CITED,),
        numbers=(FIGURE,),
        prompt=prompt,
        understanding=asked,
    )


def test_subject_measure_and_period_make_an_answer() -> None:
    assert (
        fit_of(answer("What is the deficit ceiling of Norland in 2025?", years=(2025,), names=("Norland",)))
        == ANSWERS
    )


@pytest.mark.parametrize(
    "other",
    [
        answer("What is the deficit ceiling in 2024?", years=(2024,)),
        answer("What is the deficit ceiling of Ostrava?", names=("Ostrava",)),
        answer("How high are customs duties on motorbikes?"),
        replace(answer("What is the deficit ceiling?"), numbers=()),
        replace(answer("What is the deficit ceiling?"), citations=(replace(CITED, verified=False),)),
        replace(answer("What is the deficit ceiling?"), citations=()),
        replace(answer("What is the deficit ceiling?"), understanding=None),
    ],
)
def test_without_one_of_them_it_may_not_answer(other: Answer) -> None:
    assert fit_of(other) == MAY_NOT_ANSWER
    assert "may not answer" in fit_text(other)


def test_the_year_may_be_the_documents_own_where_the_passage_names_none() -> None:
    page = "The deficit ceiling of Norland is 3 per cent of output."
    hit = replace(HIT, text=page, page_text=page, facts=DocumentFacts("2026"))
    asked = replace(
        answer("What is the deficit ceiling of output in 2026?", years=(2026,)),
        text=f"{page} [S1]",
        citations=(replace(CITED, quote=page),),
    )
    assert asked.prompt is not None
    of_2026 = replace(asked, prompt=replace(asked.prompt, sources={"S1-7f3a": hit}))
    assert fit_of(of_2026) == ANSWERS
    of_two = replace(
        answer("What is the deficit ceiling in 2025 and 2026?", years=(2025, 2026)), prompt=of_2026.prompt
    )
    assert fit_of(of_two) == MAY_NOT_ANSWER


def test_a_models_own_words_do_not_count() -> None:
    asked = answer("How high are customs duties on motorbikes?")
    assert (
        fit_of(replace(asked, text="Customs duties on motorbikes are 3 per cent [S1].", model="gpt"))
        == MAY_NOT_ANSWER
    )


def test_what_needs_no_document_and_refusals_carry_no_sign() -> None:
    assert fit_of(Answer("hi", "hi", "Hello.", True, model=GUIDE)) == ANSWERS
    assert fit_of(Answer("?", "?", "Not in these documents.", False)) == NOTHING_NEAR
    assert fit_text(Answer("hi", "hi", "Hello.", True, model=GUIDE)) == ""
    assert fit_text(replace(answer("Summarise it", form="summary"))) == ""


def test_a_word_or_two_that_stand_there_are_no_answer() -> None:
    page = "Pensions of gold miners followed the higher price of gold."
    hit = replace(HIT, text=page, page_text=page)
    asked = replace(
        answer("What is the price of gold?"), text=f"{page} [S1]", citations=(replace(CITED, quote=page),)
    )
    assert asked.prompt is not None
    assert fit_of(replace(asked, prompt=replace(asked.prompt, sources={"S1-7f3a": hit}))) == MAY_NOT_ANSWER


def test_only_what_is_said_first_counts() -> None:
    """A further passage of the same page has the same key, and is folded."""
    page = "The ceiling was raised. The deficit ceiling of Norland is 3 per cent of output."
    hit = replace(HIT, text=page, page_text=page)
    first, further = page.split(". ")[0] + ".", page.split(". ")[1]
    of_both = answer("What is the deficit ceiling of Norland?")
    asked = replace(
        of_both,
        text=f"{first} [S1]\n\n{further} [S1]",
        citations=(replace(CITED, quote=first), replace(CITED, quote=further)),
    )
    assert asked.prompt is not None
    assert fit_of(replace(asked, prompt=replace(asked.prompt, sources={"S1-7f3a": hit}))) == MAY_NOT_ANSWER
