"""Figures and results as they are written: with their sign, and read back as what they are."""

from collections.abc import Iterator

import pytest

from chatbot.answer.derive.arithmetic import work_out
from chatbot.answer.derive.figure_format import (
    UnreadableFigureError,
    as_difference,
    bare,
    percent,
    printed,
    with_number,
)
from chatbot.answer.verification.own_text import check_quoted
from chatbot.records import Understanding
from ingestion.language.currencies import CODES, LETTERS
from ingestion.language.numbers import Figure, find_figures
from ingestion.language.vocabulary import table
from tests.case_rows import case_lines, case_rows
from tests.chatbot.cited_pages import hit_of, prompt_over

CURRENCY_SIGNS = [sign for cells in table("currencies.tsv") for sign in " ".join(cells[1:2]).split()]
CURRENCY_WORDS = [word for cells in table("currencies.tsv") for word in " ".join(cells[3:4]).split()]
WITH_BLANK = [f"{sign} " for sign in CURRENCY_SIGNS if sign[-1].isalpha() or sign[-1] == "."]
WITHOUT_BLANK = [sign for sign in CURRENCY_SIGNS if f"{sign} " not in WITH_BLANK]
BEFORE = [*WITH_BLANK, *WITHOUT_BLANK, *(f"{code} " for code in CODES), *LETTERS]
OTHERS = """
(2.0)%
(2.0%)
(91.5) million
2¼ percent
5-1/4 percent
¼ percentage point
RM 1 234 567
2,5 percent
Rs. 4,50,000 crore
"""
OF_NO_CURRENCY = "3.4%|0.5 per cent|25 basis points|1.5 percentage points|12 million|7".split("|")


def written_amounts() -> Iterator[str]:
    for currency in BEFORE:
        for amount in ("2.2 billion", "1,234.5 million"):
            yield f"{currency}{amount}"
            yield f"-{currency}{amount}"
        yield f"({currency}50.3) million"
    for word in CURRENCY_WORDS:
        for sign in ("", "-", "minus "):
            yield f"{sign}4.25 million {word}s"
    for amount in OF_NO_CURRENCY:
        for sign in ("", "-", "−"):
            yield f"{sign}{amount}"
    yield from case_lines(OTHERS)


def read(text: str) -> tuple[float, float, str | None, str | None]:
    (figure,) = find_figures(text)
    return figure.value, figure.scale, figure.unit, figure.percent


def first_figure(text: str) -> Figure:
    first, *_ = find_figures(text)
    return first


@pytest.mark.parametrize("amount", list(written_amounts()))
def test_what_is_written_is_read_back(amount: str) -> None:
    (figure,) = find_figures(amount)
    assert read(printed(figure)) == (figure.value, figure.scale, figure.unit, figure.percent)
    for value in (3.25, -3.25, 1250.0, -1250.0):
        assert read(with_number(figure, value, 2)) == (value, figure.scale, figure.unit, figure.percent)
    assert "/" in amount or read(bare(figure))[0] == figure.value


def test_a_sign_is_of_the_number_not_of_the_print() -> None:
    loss = first_figure("-$3 billion")
    assert printed(loss) == "(-$3) billion"
    assert bare(loss) == "(-3)"
    assert with_number(loss, 2, 0) == "$2 billion"
    assert with_number(loss, -2, 0) == "-$2 billion"
    bracketed = first_figure("($50.3) million")
    assert printed(bracketed) == "(-$50.3) million"
    assert with_number(bracketed, 2.2, 1) == "$2.2 million"
    rate = first_figure("-0.8 per cent")
    assert as_difference(rate, -0.04, 1) == "0.0 percentage points"
    assert percent(-0.001) == "0.00%"


def test_groups_of_digits_are_one_number() -> None:
    assert with_number(first_figure("RM 1 234 567"), 100_000, 0) == "RM 100,000"


def test_what_the_next_figure_says_is_said() -> None:
    first, _ = find_figures("between $4 and $5 billion")
    assert printed(first) == "$4 billion"
    first, _ = find_figures("2 to 2¼ percent")
    assert with_number(first, 2.25, 2) == "2.25 per cent"


def test_what_would_be_read_as_something_else_is_not_written() -> None:
    with pytest.raises(UnreadableFigureError):
        printed(Figure("R560", 0, 4, 560.0, "ZAR"))


NEGATIVE = """
Change: (-$6) billion (in 2024) - $5 billion (in 2023) = -$11 billion; 100 × ((-6) - 5) / 5 = -220.0%. | How \
much did profit change from 2023 to 2024? | Profit was $5 billion in 2023. Profit was -$6 billion in 2024.
Change: (-$48.1) million (in 2024) - (-$50.3) million (in 2023) = $2.2 million. | How much did profit change \
from 2023 to 2024? | Profit was ($50.3) million in 2023. Profit was ($48.1) million in 2024.
Change: (-0.8) per cent (in 2024) - (-1.2) per cent (in 2023) = 0.4 percentage points. | How much did the \
balance change from 2023 to 2024? | The balance was -1.2 per cent of GDP in 2023. The balance was -0.8 per \
cent of GDP in 2024.
Change: R2.5 billion (in 2024) - R4.7 billion (in 2023) = -R2.2 billion; 100 × (2.5 - 4.7) / 4.7 = -46.8%. | \
How much did the deficit change from 2023 to 2024? | The deficit was R4.7 billion in 2023. The deficit was \
R2.5 billion in 2024.
"""


@pytest.mark.parametrize(("said", "question", "page"), case_rows(NEGATIVE))
def test_results_of_negative_operands_are_recomputed_by_the_checks(
    question: str, page: str, said: str
) -> None:
    prompt = prompt_over(hit_of(page), question=question)
    text = work_out(prompt, Understanding(question, question, form="figure"))
    sum_of_it, *_ = text.split("\n\n")
    assert sum_of_it == said
    checked = check_quoted(text, prompt)
    assert {number.status for number in checked.numbers} <= {"supported", "derived"}
    assert all(citation.verified for citation in checked.citations)
