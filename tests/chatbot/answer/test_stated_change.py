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


class Pages:
    """What the pages say that the cases name."""

    REVISED = """Revised Estimates 2031-32
7. On the revised count, total receipts other than loans are Rs 18.20 lakh crore, of which net tax receipts \
are Rs 15.00 lakh crore.
Total expenditure reaches Rs 26.30 lakh crore, of which capital expenditure is some Rs 5.26 lakh crore.
8. The fiscal deficit amounts to 3.9 per cent of GDP."""
    BUDGET = """Budget Estimates 2032-33
9. For 2032-33, total receipts other than loans and the total expenditure amount to Rs 21.50 lakh crore and \
Rs 29.90 lakh crore respectively.
Net tax receipts amount to Rs 16.80 lakh crore.
10. The fiscal deficit reaches 3.4 per cent of GDP. Gross market borrowings amount to Rs 9.70 lakh crore."""
    ALLOCATED = """Notes on Budget 2034
The Cabinet allocated RM250 billion, comprising RM200 billion in operating expenditure and RM50 billion in \
development
expenditure."""
    RATES = """Weighted average lending rates (LR) on fresh and earlier ringgit loans of savings banks fell \
by 80 bps and 55 bps, respectively, in 2032-33.
IV.7 Weighted average domestic term deposit rates (DR) on fresh and earlier deposits (with those of firms) \
fell by 60 bps and 35 bps, respectively, in
2032-33."""
    TRADE = """Exports of goods rose to $64.0 billion in 2024 from $60.0 billion in 2023. Imports of goods \
were
    $70 billion in 2024, compared with
$71 billion in 2023."""
    INFLATION = """Food inflation averaged 6.2 per cent in 2024, while core inflation averaged 3.5 per cent \
in 2024."""
    PATH = """The deficit is to fall from 2.9 per cent of GDP in 2025 to 2.4 per cent in 2026 and 1.9 per \
cent in 2028."""
    PLANS = """The government expects revenue of 30,000 million crowns and plans expenditure of 36,000 \
million."""
    NET = "Net market borrowings amount to Rs 6.20 lakh crore in 2032-33."
    BUDGETS = """The education budget is 900 million crowns, including 400 million crowns for schools and \
150 million crowns for universities.
The health budget is 700 million crowns, including 450 million crowns for hospitals."""
    DEFENCE = "Spending on defence rose to 3 percent of GDP in 2023 from 2 percent of GDP in 2020."


def prompt_of(question: str, *pages: str) -> Prompt:
    hits = [hit_of(page, page=number) for number, page in enumerate(pages, start=1)]
    return prompt_over(*hits, question=question)


def asked(question: str) -> Understanding:
    return Understanding(question, question, form="figure")


def worked_out(question: str, *pages: str) -> str:
    return stated_change(prompt_of(question, *pages), asked(question))


def named(names: str) -> tuple[str, ...]:
    return tuple(getattr(Pages, name) for name in names.split())


COMPUTED_OF_NAMED = """
TRADE | $64.0 billion (in 2024) - $60.0 billion (in 2023) = $4.0 billion; 100 × (64.0 - 60.0) / 60.0 = 6.7% \
| By how much did exports of goods rise between 2023 and 2024?
TRADE | $70 billion (in 2024) - $71 billion (in 2023) = -$1 billion; 100 × (70 - 71) / 71 = -1.4% | How much \
did imports of goods change from 2023 to 2024?
TRADE | 100 × (64.0 - 60.0) / 60.0 = 6.7% | What was the percentage growth in exports of goods from 2023 to \
2024?
DEFENCE | 3 percent (in 2023) - 2 percent (in 2020) = 1 percentage points | By how much did spending on \
defence rise from 2020 to 2023?
"""
COMPUTED_OF_ITS_OWN_PAGE = """
13.1 billion crowns (in 2024) - 12.4 billion crowns (in 2023) = 0.7 billion crowns | By how much did revenue \
grow from 2023 to 2024? | Revenue reached 12.4 billion crowns in 2023. Revenue is expected at 13.1 billion \
crowns in 2024.
-2.2 percentage points | How much did inflation fall from 2022 to 2023? | Inflation was 4.1 per cent in 2023 \
and 6.3 per cent in 2022.
"""
COMPUTED = [
    *((question, named(names), said) for names, said, question in case_rows(COMPUTED_OF_NAMED)),
    *((question, (page,), said) for said, question, page in case_rows(COMPUTED_OF_ITS_OWN_PAGE)),
]
NOT_COMPUTED_OF_NAMED = """
# What is asked for is not stated, or only something narrower, broader or of another time is.
REVISED BUDGET | By how much does defence spending rise in 2032-33 compared with the revised 2031-32 number?
REVISED BUDGET | By how much do tax receipts grow from 2030-31 to 2032-33?
REVISED BUDGET | Percent growth in capital expenditure from 2031-32 to 2032-33?
REVISED BUDGET | By how much does total expenditure rise from the 2031-32 actuals to 2032-33?
# The question asks for no such thing.
REVISED BUDGET | What is the total expenditure in 2032-33?
ALLOCATED | How much did the Government allocate in Budget 2034?
REVISED BUDGET | What are net tax receipts in 2031-32 and 2032-33?
ALLOCATED | How many people combined work and study?
REVISED | Why did spending rise from 2031-32 to 2032-33?
ALLOCATED | What share of Budget 2034 is defence spending?
ALLOCATED | What share of Budget 2019 is development spending?
# The part of another whole, and a part of nobody knows what.
BUDGETS | What share of the health budget goes to universities?
BUDGETS | What share of the health budget goes to schools?
BUDGETS | What share of the education budget goes to hospitals?
# A move the other way, or in another month.
"""
NOT_COMPUTED_OF_ITS_OWN_PAGE = """
# What is asked for is not stated, or only something narrower, broader or of another time is.
By how much did spending rise from 2023 to 2024? | Capital expenditure was $5 billion in 2023. Capital \
expenditure was $6 billion in 2024.
By how much did spending rise from 2023 to 2024? | Education spending was $5 billion in 2023. Education \
spending was $6 billion in 2024.
By how much did debt rise from 2023 to 2024? | Debt service was $5 billion in 2023. Debt service was $6 \
billion in 2024.
By how much did fertiliser subsidies rise from 2023 to 2024? | Food and fertiliser subsidies were $5 billion \
in 2023 and $6 billion in 2024.
By how much did spending rise from 2023 to 2024? | Spending was $5 billion in 2023 on roads. Spending was $6 \
billion in 2024.
By how much did spending rise from 2023 to 2024? | Spending on schools was $5 billion in 2023. Spending on \
schools was $6 billion in 2024.
By how much did debt rise from 2023 to 2024? | The debt of state enterprises was $5 billion in 2023 and $6 \
billion in 2024.
By how much did rates on new loans fall from 2023 to 2024? | The rates on new loans in real terms were 5 per \
cent in 2023 and 4 per cent in 2024.
By how much did revenue rise from 2023-24 to 2024-25? | Revenue was $5 billion in 2023. Revenue was $6 \
billion in 2025.
# Unlike units, scales, bases.
By how much did revenue rise from 2023 to 2024? | Revenue was $5 billion in 2023. Revenue was RM6 billion in \
2024.
By how much did revenue rise from 2023 to 2024? | Revenue was $5 billion in 2023. Revenue was 6 per cent of \
GDP in 2024.
By how much did the deficit fall from 2023 to 2024? | The deficit was 5 per cent of GDP in 2023. The deficit \
was 4 per cent of revenue in 2024.
How much is spent on bills and bonds in total? | We buy bills worth $5 billion per month and bonds worth $6 \
billion per year.
# More than one candidate.
By how much did revenue rise from 2023 to 2024? | Revenue was $5 billion in 2023. Revenue was $6 billion in \
2024. Revenue was $7 billion in 2024.
# Other sums.
What share of the RM5.0 billion was spent? | Of the RM5.0 billion set aside, RM4.0 billion or 80% was spent.
How much is spent on roads and rail in total? | A total of $11 billion is provided. Spending on roads is $5 \
billion. Spending on rail is $6 billion.
# Changes are no levels, levels are no changes.
By how much did revenue rise from 2023 to 2024? | Revenue rose by $5 billion in 2023. Revenue fell by $6 \
billion in 2024.
How much more did food prices rise than fuel prices? | Food prices rose by 6 per cent. Fuel prices fell by 5 \
per cent.
How much more did exports grow than imports? | Exports were $6 billion. Imports were $5 billion.
# Different periods of the two operands.
How much higher were exports than imports? | Exports were $6 billion in 2024. Imports were $5 billion in 2023.
What are exports and imports combined? | Exports were $6 billion in 2024. Imports were $5 billion in 2023.
# Forecasts are no outcomes, the change of growth is no change of the thing that grows.
By how much did the inflation forecast fall from 2023 to 2024? | Inflation was 5 per cent in 2023. Inflation \
was 4 per cent in 2024.
By how much did GDP growth fall from 2023 to 2024? | GDP was $5 billion in 2023. GDP was $4 billion in 2024.
# What might be; a figure whose period is another's.
By how much does the deficit fall from 2025 to 2026? | The deficit is 3 per cent in 2025. With all shocks \
the deficit of 2026 would be 4 per cent.
By how much does spending rise from 2024 to 2025? | Spending is $30 billion, below the ceiling of $50 \
billion in 2024. Spending is $40 billion in 2025.
# Figures of something about what is asked for.
How much higher was debt than cash? | Proceeds from debt were $9 billion, offset by cash payments of $5 \
billion.
How much higher was net income than comparable sales? | Net income was $9 billion, partly by the gain on \
sale of Lidar of $5 billion.
By how much did oil rise from 2023 to 2024? | The price of oil was $70 in 2023. The price of oil was $80 in \
2024.
# A part of a part, a whole that is another.
How much is spent on education and health in total? | The plan sets aside $5 billion for higher education \
and $6 billion for mental health.
What share of the budget is education? | The budget is $90 billion, of which $5 billion is for higher \
education.
What share of GDP is investment? | Spending is $40 billion, 20 per cent of GDP, of which $10 billion in \
investment.
# The part of another whole, and a part of nobody knows what.
What share of the culture budget goes to stadiums? | The culture budget is $80 million. Stadiums get $30 \
million.
# Other places, other contents, others' words, bounds.
By how much did revenue rise from 2023 to 2024? | revenue was $5 billion in 2023. Revenue was $6 billion in \
2024.
"""
# Something related to what is asked for.
RELATED = """
debt | Borrowing
spending on health | Hospital expenditure
energy spending | Electricity spending
revenue | Turnover from sales
grants | Subsidy spending
road spending | Motorway spending
bond issuance | Securities issuance
sales | Revenue
"""
# Other places, other contents, others' words, bounds.
CLINICS = """
In the eastern district, spending on clinics was $11 million in 2022. In the western district, spending on \
clinics was $17 million in 2023.
Spending on clinics was $11 million in 2022. Spending on clinics was $17 million in 2023 in the eastern \
district.
Spending on clinics was $8 million in 2022 ($14 million with capital items). Spending on clinics was $15 \
million in 2023 (with capital items).
Spending on clinics was $8 million in 2022. Spending on clinics was $15 million in 2023 (with capital items).
Spending on clinics was $100 million in 2022, net of refunds. Spending on clinics was $130 million in 2023, \
before refunds.
Spending on clinics was $100 million in 2022 excluding rent. Spending on clinics was $130 million in 2023.
Spending on clinics was $100 million before tax in 2022. Spending on clinics was $130 million after tax in \
2023.
According to the opposition, spending on clinics was $90 million in 2022. Spending on clinics was $60 \
million in 2023.
Spending on clinics was $90 million in 2022, according to the opposition. Spending on clinics was $60 \
million in 2023.
Minister Varga claimed that spending on clinics was $80 million in 2022. Spending on clinics was $79 million \
in 2023.
Spending on clinics was less than $20 million in 2022 and more than $35 million in 2023.
Spending on clinics was $20 million in 2022 and $35 million or more in 2023.
Spending on clinics was not $20 million in 2022. Spending on clinics was $35 million in 2023.
"""
IN_RELATED = "{0} was $5 billion in 2023. {0} was $7 billion in 2024."
OF_NAMED = [(question, named(names)) for names, question in case_rows(NOT_COMPUTED_OF_NAMED)]
OF_ITS_OWN_PAGE = [(question, (page,)) for question, page in case_rows(NOT_COMPUTED_OF_ITS_OWN_PAGE)]
OF_RELATED = [
    (f"By how much did {wanted} rise from 2023 to 2024?", (IN_RELATED.format(stated),))
    for wanted, stated in case_rows(RELATED)
]
OF_CLINICS = [
    ("By how much did spending on clinics rise from 2022 to 2023?", (page,)) for page in case_lines(CLINICS)
]
NOT_COMPUTED = OF_NAMED + OF_ITS_OWN_PAGE + OF_RELATED + OF_CLINICS


@pytest.mark.parametrize(("question", "pages", "said"), COMPUTED)
def test_the_result_with_its_formula_in_printed_figures(
    question: str, pages: tuple[str, ...], said: str
) -> None:
    first, *sentences = worked_out(question, *pages).split("\n\n")
    assert said in first
    assert "[" not in first
    assert sentences
    for sentence in sentences:
        text, _, key = sentence.rpartition(" [")
        assert text in " ".join(pages[int(key[1]) - 1].split())


@pytest.mark.parametrize(("question", "pages", "said"), COMPUTED)
def test_every_figure_is_found_or_recomputed_by_the_checks(
    question: str, pages: tuple[str, ...], said: str
) -> None:
    prompt = prompt_of(question, *pages)
    text = stated_change(prompt, asked(question))
    checked = check_quoted(text, prompt)
    assert {number.status for number in checked.numbers} <= {"supported", "derived"}
    assert all(citation.verified for citation in checked.citations)


@pytest.mark.parametrize(("question", "pages"), NOT_COMPUTED)
def test_nothing_where_an_operand_is_in_doubt_or_no_sum_is_asked_for(
    question: str, pages: tuple[str, ...]
) -> None:
    assert worked_out(question, *pages) == ""


def test_operands_are_of_the_document_found_first() -> None:
    question = "By how much did revenue rise from 2023 to 2024?"
    understood = Understanding(question, question)
    before, after = "Revenue was $5 billion in 2023.", "Revenue was $6 billion in 2024."
    assert stated_change(prompt_over(hit_of(before), hit_of(after, page=2), question=question), understood)
    elsewhere = hit_of(after, document="Other.pdf", version=2)
    assert stated_change(prompt_over(hit_of(before), elsewhere, question=question), understood) == ""


def test_what_addresses_a_machine_states_no_operand() -> None:
    question = "By how much did exports of goods rise between 2023 and 2024?"
    instructing = hit_of(Pages.TRADE, instructions=((0, len(Pages.TRADE)),))
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
