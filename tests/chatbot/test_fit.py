"""How an answer fits its question, apart from whether its words stand on the page."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chatbot.fit import ANSWERS, MAY_NOT_ANSWER, NOTHING_NEAR, fit_of, fit_text
from chatbot.records import GUIDE, Answer, Citation, NumberCheck, Understanding
from ingestion.records import DocumentFacts
from tests.chatbot.cited_pages import hit_of, prompt_over

PAGE = "The deficit ceiling of Norland is 3 per cent of output in 2025."
HIT = hit_of(PAGE, document="norland.pdf")
CITED = Citation("S1", "norland.pdf", 1, None, PAGE, True, version=1)
FIGURE = NumberCheck("3 per cent", 3.0, "%", 1.0, None, "supported", "S1")


def answer(
    question: str, *, form: str = "figure", years: tuple[int, ...] = (), names: tuple[str, ...] = ()
) -> Answer:
    return Answer(
        question,
        question,
        f"{PAGE} [S1]",
        True,
        citations=(CITED,),
        numbers=(FIGURE,),
        prompt=prompt_over(HIT, question=question),
        understanding=Understanding(question, question, form, years=years, names=names),
    )


def from_page(asked: Answer, page: str, *quotes: str, period: str | None = None) -> Answer:
    """The same answer where it quotes this page, as a whole or these parts of it."""
    hit = hit_of(page, document="norland.pdf", facts=DocumentFacts(period))
    prompt = prompt_over(hit, question=asked.question)
    parts = quotes or (page,)
    text = "\n\n".join(f"{part} [S1]" for part in parts)
    citations = [replace(CITED, quote=part) for part in parts]
    return replace(asked, text=text, citations=tuple(citations), prompt=prompt)


def test_subject_measure_and_period_make_an_answer() -> None:
    question = "What is the deficit ceiling of Norland in 2025?"
    asked = answer(question, years=(2025,), names=("Norland",))
    assert fit_of(asked) == ANSWERS


IN_FULL = answer("What is the deficit ceiling?")
DOUBTED = replace(CITED, verified=False)


OF_ANOTHER_YEAR = answer("What is the deficit ceiling in 2024?", years=(2024,))


OF_ANOTHER_PLACE = answer("What is the deficit ceiling of Ostrava?", names=("Ostrava",))


OF_ANOTHER_MEASURE = answer("How high are customs duties on motorbikes?")


@pytest.mark.parametrize("other", [OF_ANOTHER_YEAR, OF_ANOTHER_PLACE, OF_ANOTHER_MEASURE])
def test_of_something_else_it_may_not_answer(other: Answer) -> None:
    assert fit_of(other) == MAY_NOT_ANSWER
    assert "may not answer" in fit_text(other)


WITHOUT_A_PART = [
    replace(IN_FULL, numbers=()),
    replace(IN_FULL, citations=()),
    replace(IN_FULL, citations=(DOUBTED,)),
    replace(IN_FULL, understanding=None),
]


@pytest.mark.parametrize("other", WITHOUT_A_PART)
def test_without_one_of_them_it_may_not_answer(other: Answer) -> None:
    assert fit_of(other) == MAY_NOT_ANSWER
    assert "may not answer" in fit_text(other)


def test_the_year_may_be_the_documents_own_where_the_passage_names_none() -> None:
    page = "The deficit ceiling of Norland is 3 per cent of output."
    asked = answer("What is the deficit ceiling of output in 2026?", years=(2026,))
    of_2026 = from_page(asked, page, period="2026")
    assert fit_of(of_2026) == ANSWERS
    of_two = answer("What is the deficit ceiling in 2025 and 2026?", years=(2025, 2026))
    assert fit_of(replace(of_two, prompt=of_2026.prompt)) == MAY_NOT_ANSWER


def test_a_models_own_words_do_not_count() -> None:
    said = "Customs duties on motorbikes are 3 per cent [S1]."
    asked = replace(OF_ANOTHER_MEASURE, text=said, model="gpt")
    assert fit_of(asked) == MAY_NOT_ANSWER


def test_what_needs_no_document_and_refusals_carry_no_sign() -> None:
    greeting = Answer("hi", "hi", "Hello.", True, model=GUIDE)
    assert fit_of(greeting) == ANSWERS
    assert fit_text(greeting) == ""
    assert fit_of(Answer("?", "?", "Not in these documents.", False)) == NOTHING_NEAR
    assert fit_text(answer("Summarise it", form="summary")) == ""


def test_a_word_or_two_that_stand_there_are_no_answer() -> None:
    asked = answer("What is the price of gold?")
    page = "Pensions of gold miners followed the higher price of gold."
    assert fit_of(from_page(asked, page)) == MAY_NOT_ANSWER


def test_only_what_is_said_first_counts() -> None:
    """A further passage of the same page has the same key, and is folded."""
    first, further = "The ceiling was raised.", "The deficit ceiling of Norland is 3 per cent of output."
    asked = answer("What is the deficit ceiling of Norland?")
    assert fit_of(from_page(asked, f"{first} {further}", first, further)) == MAY_NOT_ANSWER


ROW = "Contingency reserve – 1,250 1,900"
RESERVE = answer("What is the contingency reserve set at?", form="passage")


def test_a_row_that_is_called_as_the_question_calls_it_answers() -> None:
    assert fit_of(from_page(RESERVE, ROW)) == ANSWERS
    other_row = "Contingency reserve 2,050"
    assert fit_of(from_page(RESERVE, f"{ROW}\n{other_row}", ROW, other_row)) == MAY_NOT_ANSWER
    assert fit_of(from_page(RESERVE, "Contingency reserve of roads 1,250 1,900")) == MAY_NOT_ANSWER
    other_year = answer("What is the contingency reserve?", form="passage", years=(2031,))
    assert fit_of(from_page(other_year, ROW, period="2025-26")) == MAY_NOT_ANSWER
