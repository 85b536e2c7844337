"""Changes worked out from figures of sentences: the right operands with their formula, and nothing where one
is in doubt.
"""

import time

import pytest

from chatbot.answer.stated_change import stated_change
from chatbot.answer.verification.own_text import check_quoted
from chatbot.records import Prompt, Understanding
from tests.case_rows import case_lines, case_rows
from tests.chatbot.cited_pages import hit_of, prompt_over

TRADE = """Exports of goods rose to $64.0 billion in 2024 from $60.0 billion in 2023. Imports of goods \
were
    $70 billion in 2024, compared with
$71 billion in 2023."""
DEFENCE = "Spending on defence rose to 3 percent of GDP in 2023 from 2 percent of GDP in 2020."


def prompt_of(question: str, *pages: str) -> Prompt:
    hits = [hit_of(page, page=number) for number, page in enumerate(pages, start=1)]
    return prompt_over(*hits, question=question)


def asked(question: str) -> Understanding:
    return Understanding(question, question, form="figure")


def worked_out(question: str, *pages: str) -> str:
    return stated_change(prompt_of(question, *pages), asked(question))


COMPUTED = [
    *(
        (*row, TRADE)
        for row in case_rows("""
$64.0 billion (in 2024) - $60.0 billion (in 2023) = $4.0 billion; 100 × (64.0 - 60.0) / 60.0 = 6.7% | By how \
much did exports of goods rise between 2023 and 2024?
$70 billion (in 2024) - $71 billion (in 2023) = -$1 billion; 100 × (70 - 71) / 71 = -1.4% | How much did \
imports of goods change from 2023 to 2024?
100 × (64.0 - 60.0) / 60.0 = 6.7% | What was the percentage growth in exports of goods from 2023 to 2024?
""")
    ),
    *case_rows(f"""
3 percent (in 2023) - 2 percent (in 2020) = 1 percentage points | By how much did spending on defence rise \
from 2020 to 2023? | {DEFENCE}
13.1 billion crowns (in 2024) - 12.4 billion crowns (in 2023) = 0.7 billion crowns | By how much did revenue \
grow from 2023 to 2024? | Revenue reached 12.4 billion crowns in 2023. Revenue is expected at 13.1 billion \
crowns in 2024.
-2.2 percentage points | How much did inflation fall from 2022 to 2023? | Inflation was 4.1 per cent in 2023 \
and 6.3 per cent in 2022.
"""),
]
# What is asked of, and pages that state something else of two years.
NOT_COMPUTED = case_rows("""
# Only something narrower, broader or of another time is stated.
spending | Capital expenditure was $5 billion in 2023. Capital expenditure was $6 billion in 2024.
debt | Debt service was $5 billion in 2023. Debt service was $6 billion in 2024.
fertiliser subsidies | Food and fertiliser subsidies were $5 billion in 2023 and $6 billion in 2024.
spending | Spending was $5 billion in 2023 on roads. Spending was $6 billion in 2024.
debt | The debt of state enterprises was $5 billion in 2023 and $6 billion in 2024.
rates on new loans | The rates on new loans in real terms were 5 per cent in 2023 and 4 per cent in 2024.
revenue | Revenue was $5 billion in 2023. Revenue was $6 billion in 2025.
oil | The price of oil was $70 in 2023. The price of oil was $80 in 2024.
revenue | Turnover from sales was $5 billion in 2023. Turnover from sales was $7 billion in 2024.
# Unlike units and bases, more than one candidate, changes, forecasts, and what only grows.
revenue | Revenue was $5 billion in 2023. Revenue was RM6 billion in 2024.
revenue | Revenue was $5 billion in 2023. Revenue was 6 per cent of GDP in 2024.
the deficit | The deficit was 5 per cent of GDP in 2023. The deficit was 4 per cent of revenue in 2024.
revenue | Revenue was $5 billion in 2023. Revenue was $6 billion in 2024. Revenue was $7 billion in 2024.
revenue | Revenue rose by $5 billion in 2023. Revenue fell by $6 billion in 2024.
the inflation forecast | Inflation was 5 per cent in 2023. Inflation was 4 per cent in 2024.
GDP growth | GDP was $5 billion in 2023. GDP was $4 billion in 2024.
# What might be, a figure whose period is another's, and a part of a sentence.
the deficit | The deficit is 3 per cent in 2023. With all shocks the deficit of 2024 would be 4 per cent.
spending | Spending is $30 billion, below the ceiling of $50 billion in 2023. Spending is $40 billion in 2024.
revenue | revenue was $5 billion in 2023. Revenue was $6 billion in 2024.
# Other places, other contents, others' words, bounds.
spending | In the eastern district, spending was $11 million in 2023. Spending was $17 million in 2024.
spending | Spending was $11 million in 2023. Spending was $17 million in 2024 in the eastern district.
spending | Spending was $8 million in 2023 ($14 million with capital items). Spending was $15 million in 2024.
spending | Spending was $8 million in 2023. Spending was $15 million in 2024 (with capital items).
spending | Spending was $100 million in 2023, net of refunds. Spending was $130 million in 2024.
spending | Spending was $90 million in 2023, according to the opposition. Spending was $60 million in 2024.
spending | Minister Varga claimed that spending was $80 million in 2023. Spending was $79 million in 2024.
spending | Spending was less than $20 million in 2023 and more than $35 million in 2024.
spending | Spending was $20 million in 2023 and $35 million or more in 2024.
spending | Spending was not $20 million in 2023. Spending was $35 million in 2024.
""")
# What asks for no change between two periods.
OTHERWISE_ASKED = case_lines("""
What were exports of goods in 2023 and 2024?
What share of exports of goods were imports of goods in 2024?
By how much did exports of goods rise in 2024?
""")


@pytest.mark.parametrize(("said", "question", "page"), COMPUTED)
def test_the_result_with_its_formula_in_printed_figures(said: str, question: str, page: str) -> None:
    prompt = prompt_of(question, page)
    text = stated_change(prompt, asked(question))
    first, *sentences = text.split("\n\n")
    assert said in first
    assert "[" not in first
    assert sentences
    for sentence in sentences:
        assert sentence.rpartition(" [")[0] in " ".join(page.split())
    checked = check_quoted(text, prompt)
    assert {number.status for number in checked.numbers} <= {"supported", "derived"}
    assert all(citation.verified for citation in checked.citations)


@pytest.mark.parametrize(("what", "page"), NOT_COMPUTED)
def test_nothing_where_an_operand_is_in_doubt(what: str, page: str) -> None:
    assert worked_out(f"By how much did {what} rise from 2023 to 2024?", page) == ""


@pytest.mark.parametrize("question", OTHERWISE_ASKED)
def test_nothing_where_no_change_is_asked_for(question: str) -> None:
    assert worked_out(question, TRADE) == ""


def test_operands_are_of_the_document_found_first() -> None:
    question = "By how much did revenue rise from 2023 to 2024?"
    understood = Understanding(question, question)
    before, after = "Revenue was $5 billion in 2023.", "Revenue was $6 billion in 2024."
    assert stated_change(prompt_over(hit_of(before), hit_of(after, page=2), question=question), understood)
    elsewhere = hit_of(after, document="Other.pdf", version=2)
    assert stated_change(prompt_over(hit_of(before), elsewhere, question=question), understood) == ""


def test_what_addresses_a_machine_states_no_operand() -> None:
    question = "By how much did exports of goods rise between 2023 and 2024?"
    instructing = hit_of(TRADE, instructions=((0, len(TRADE)),))
    prompt = prompt_over(instructing, question=question)
    assert stated_change(prompt, Understanding(question, question)) == ""


@pytest.mark.timed
def test_a_long_page_is_read_in_linear_time() -> None:
    question = "By how much did goods exports rise between 2023 and 2024?"
    seconds = []
    for size in (2_000, 8_000):
        page = "Exports of goods rose to $64 billion in 2024 and of which the rest.\n" * size
        started = time.process_time()
        worked_out(question, page)
        endless = f"how much of what share of more than {page}"
        worked_out(endless[:600], page)
        seconds.append(time.process_time() - started)
    short, long = seconds
    assert long < 12 * max(short, 0.01)


@pytest.mark.timed
def test_a_long_question_takes_no_time() -> None:
    started = time.process_time()
    endless = "By how much did revenue change from 2023 to 2024? " + "did has " * 8_000
    assert worked_out(endless, "Revenue was $5 billion in 2023. Revenue was $6 billion in 2024.") == ""
    assert time.process_time() - started < 1
