"""Figures that come from others of their sentence or list, without written arithmetic."""

from __future__ import annotations

import pytest

from chatbot.answer.checks.number_checks import MOST_FIGURES, TOO_MANY
from chatbot.answer.citations.citation_spans import check_answer
from tests.case_rows import case_rows
from tests.chatbot.cited_pages import hit_of, prompt_over

PAGE = (
    "Rents were $9,045.7 million in 2022.\nFranchise revenues were $14,105.8 million in 2022.\n"
    "The margin was 38.5% in 2017. The margin was 39.1% in 2016.\n"
    "Inventories were $13,224 million in 2022. Inventories were $10,776 million in 2021.\n"
    "Domestic debt is $37.3 million. External debt is $16.7 million."
)


def statuses(answer: str, page: str = PAGE) -> dict[str, str]:
    _, _, numbers = check_answer(answer, prompt_over(hit_of(page)))
    return {number.text: number.status for number in numbers}


NEIGHBOURS = """
64.1% | In 2022 rents were 64.1% of franchise revenues: $9,045.7 million out of $14,105.8 million [S1-7f3a].
0.6 percentage points | The margin fell to 38.5% in 2017 from 39.1% in 2016, a drop of 0.6 percentage points \
[S1-7f3a].
60 basis points | The margin fell to 38.5% in 2017 from 39.1% in 2016, 60 basis points [S1-7f3a].
22.7% | Inventories grew by 22.7% from $10,776 million in 2021 to $13,224 million in 2022 [S1-7f3a].
$2,448 million | Inventories grew by $2,448 million from $10,776 million in 2021 to $13,224 million in 2022 \
[S1-7f3a].
"""
LISTED = """- Domestic debt: $37.3 million [S1-7f3a]
- External debt: $16.7 million [S1-7f3a]
- {}: $54.0 million [S1-7f3a]"""
TOGETHER = ("$54.0 million", LISTED.format("Together"))


@pytest.mark.parametrize(("result", "answer"), [*case_rows(NEIGHBOURS), TOGETHER])
def test_what_neighbours_come_to_is_derived(answer: str, result: str) -> None:
    assert statuses(answer)[result] == "derived"


SHARES = """
(64.1%) | Franchise revenues were $14,105.8 million in 2022 [S1-7f3a]. Of these, rents were $9,045.7 million \
(64.1%) [S1-7f3a].
$6,531.2 million | The margin was 38.5% in 2017 [S1-7f3a]. Rents were $9,045.7 million in 2022, or $6,531.2 \
million ($9,045.7 million / 1.385) [S1-7f3a].
$12,000 million | Inventories were $13,224 million in 2022 and $10,776 million in 2021, on average $12,000 \
million [S1-7f3a].
two-fifths | The margin was 38.5% in 2017, a little under two-fifths [S1-7f3a].
# What a share, or the fraction of a rise, is of.
two-thirds | Rents were $9,045.7 million of $14,105.8 million, nearly two-thirds [S1-7f3a].
one-fifth | Inventories fell by nearly one-fifth, from $13,224 million to $10,776 million [S1-7f3a].
# The answer first, its operands behind it; more than one sentence before.
64.1% | The share of rents was 64.1%. Rents were $9,045.7 million of revenues of $14,105.8 million [S1-7f3a].
$20.6 million | Domestic debt is $37.3 million [S1-7f3a]. Rents were $9,045.7 million [S1-7f3a]. External \
debt is $16.7 million, a gap of $20.6 million [S1-7f3a].
36% | Rents were $9,045.7 million after $14,105.8 million, a shortfall of about 36% [S1-7f3a].
$54,000,000 | Domestic debt is $37.3 million and external debt $16.7 million, together close to $54,000,000 \
[S1-7f3a].
"""


@pytest.mark.parametrize(("result", "answer"), case_rows(SHARES))
def test_shares_growth_factors_and_averages_are_derived(answer: str, result: str) -> None:
    assert statuses(answer)[result] == "derived"


NOT_DERIVED = """
65.1% | In 2022 rents were 65.1% of franchise revenues: $9,045.7 million out of $14,105.8 million [S1-7f3a].
# The change as a share of where it ended.
18.5% | Inventories grew by 18.5% from $10,776 million in 2021 to $13,224 million in 2022 [S1-7f3a].
# An operand that no page has.
$2,348 million | Inventories grew by $2,348 million from $10,876 million in 2021 to $13,224 million in 2022 \
[S1-7f3a].
# So many pairs that some would come to it by chance.
23% | The debts are $37.3 million and $16.7 million, sales $9,045.7 million and $14,105.8 million, stocks \
$13,224 million: a share of 23% [S1-7f3a].
# A loss, a base and a whole that are not.
$2,448 million | Inventories were $13,224 million in 2022 and $10,776 million in 2021, a loss of $2,448 \
million [S1-7f3a].
18.5% | Inventories were $13,224 million in 2022 and $10,776 million in 2021. The gain was 18.5% [S1-7f3a].
44.8% | Domestic debt is $37.3 million [S1-7f3a]. External debt is $16.7 million, or 44.8% of total debt \
[S1-7f3a].
$20.6 million | Domestic debt is $37.3 million, external debt $16.7 million, a total of $20.6 million \
[S1-7f3a].
35.9% | Rents were $9,045.7 million of $14,105.8 million. They were 35.9% of it [S1-7f3a].
20% | Inventories grew from $10,776 million to $13,224 million, by around 20% [S1-7f3a].
# The share where a change is told.
64.1% | Rents were $9,045.7 million against $14,105.8 million, a shortfall of about 64.1% [S1-7f3a].
# The other way round.
22.7% | Inventories fell by 22.7% from $10,776 million in 2021 to $13,224 million in 2022 [S1-7f3a].
$2,448 million | Inventories fell by $2,448 million from $10,776 million in 2021 to $13,224 million in 2022 \
[S1-7f3a].
22.7% | From $10,776 million in 2021 inventories went to $13,224 million in 2022, a 22.7% decrease [S1-7f3a].
# On the other side of it, and far from it.
two-fifths | The margin was 38.5% in 2017, a little over two-fifths [S1-7f3a].
three-fifths | The margin was 38.5% in 2017, nearly three-fifths [S1-7f3a].
# Nothing is compared.
$2,448 million | Inventories were $2,448 million, $10,776 million in 2021 and $13,224 million in 2022 \
[S1-7f3a].
"""
# Nothing says that it is a total.
NO_TOTAL = ("$54.0 million", LISTED.format("Foreign aid"))


@pytest.mark.parametrize(("result", "answer"), [*case_rows(NOT_DERIVED), NO_TOTAL])
def test_what_they_do_not_come_to_is_not(answer: str, result: str) -> None:
    assert statuses(answer)[result] not in {"derived", "supported"}


def test_a_repeated_result_is_derived_and_reckoned_with() -> None:
    answer = (
        "Together they are $54.0 million: $37.3 million and $16.7 million, in total $54.0 million "
        "[S1-7f3a]. That is $54.0 million in all [S1-7f3a]."
    )
    assert set(statuses(answer).values()) <= {"derived", "supported"}


STEPS = (
    "Cash was $2,583.8 million. Receivables were $2,115.0 million. Current liabilities were $3,802.1 "
    "million.\n"
    "For the first year of noncompliance, the state will receive a 4 percent penalty, the second year an 8 "
    "percent penalty, the third year a 16 percent penalty.\n"
    "Expenses that impacted earnings in creased $ 385 million in 2016."
)
STEP_CASES = """
1.24 | derived | Quick ratio = ($2,583.8 + $2,115.0) / $3,802.1 = $4,698.8 / $3,802.1 ≈ 1.24 [S1-7f3a].
$4,698.8 | derived | Quick ratio = ($2,583.8 + $2,115.0) / $3,802.1 = $4,698.8 / $3,802.1 ≈ 1.24 [S1-7f3a].
$4,998.8 | unsupported | Quick ratio = ($2,583.8 + $2,115.0) / $3,802.1 = $4,998.8 / $3,802.1 ≈ 1.31 \
[S1-7f3a].
$2,349.4 million | derived | On average ($2,583.8 million + $2,115.0 million) / 2 = $2,349.4 million \
[S1-7f3a].
$385 million | supported | Expenses that impacted earnings increased by $385 million in 2016 [S1-7f3a].
$385 million | present_elsewhere | Expenses that impacted earnings decreased by $385 million in 2016 \
[S1-7f3a].
8 percent | supported | It pays 4 percent in the first year, 8 percent in the second year and 16 percent in \
the third year [S1-7f3a].
8 percent | present_elsewhere | It pays 8 percent in the first year, 4 percent in the second year and 16 \
percent in the third year [S1-7f3a].
"""


@pytest.mark.parametrize(("result", "status", "answer"), case_rows(STEP_CASES))
def test_steps_means_moves_and_ordinals(answer: str, result: str, status: str) -> None:
    assert statuses(answer, STEPS)[result] == status


def test_numbers_of_rows_are_no_figures_of_a_page_where_they_count() -> None:
    rows = """| Rank | What | Value |
|---|---|---|
| {} | Cash | $2,583.8 million [S1-7f3a] |
| {} | Receivables | $2,115.0 million [S1-7f3a] |"""
    counted = statuses(rows.format(1, 2), STEPS)
    assert counted["1"] == "supported"
    assert counted["2"] == "supported"
    assert statuses(rows.format(7, 9), STEPS)["7"] != "supported"


MORE = (
    "Sales in the United States were $48,580 million; worldwide sales were $94,943 million.\n"
    "Operating income was 6,098 in 2022. Revenue was 17,606 in 2022. Dividends were $283 million in 2019. "
    "Dividends were $259 million in 2018.\n"
    "Bills rise by at least $80 billion a month. Bonds rise by at least $40 billion a month. The office "
    "has RM10 million, and 42% of it was spent.\n"
    "Purchases of equipment were $(131) million and $(155) million. Net revenues were $7,500 million and "
    "$7,017 million. "
    "Inflation is 3.4 percent this year, 2.1 percent next year and 2.2 percent in 2023."
)
MORE_CASES = """
51% | derived | Sales in the United States were $48,580 million [S1-7f3a]. That is about 51% of worldwide \
sales of $94,943 million [S1-7f3a].
61% | unsupported | Sales in the United States were $48,580 million [S1-7f3a]. That is about 61% of \
worldwide sales of $94,943 million [S1-7f3a].
9% | derived | Dividends were $283 million in 2019, up from $259 million in 2018, an increase of about 9% \
[S1-7f3a].
7% | unsupported | Dividends were $283 million in 2019, up from $259 million in 2018, an increase of about \
7% [S1-7f3a].
$120 billion | derived | At least $120 billion a month: at least $80 billion of bills and at least $40 \
billion of bonds [S1-7f3a].
RM4.2 million | derived | About RM4.2 million: 42% of the RM10 million [S1-7f3a].
1.75% | derived | $131 million / $7,500 million = 1.7%. $155 million / $7,017 million = 2.2% [S1-7f3a]. \
(1.75% + 2.21%) / 2 = 2.0% [S1-7f3a].
2.1 percent | supported | Inflation is 2.1 percent in 2022 and 2.2 percent in 2023 [S1-7f3a]. Against 3.4 \
percent, that is 1.3 percentage points less [S1-7f3a].
1.3 percentage points | derived | Inflation is 2.1 percent in 2022 and 2.2 percent in 2023 [S1-7f3a]. \
Against 3.4 percent, that is 1.3 percentage points less [S1-7f3a].
"""
MARGIN = """| | 2022 |
|---|---|
| Operating income | 6,098 [S1-7f3a] |
| Revenue | 17,606 [S1-7f3a] |
| Margin | {} [S1-7f3a] |"""
RIGHT_MARGIN = ("34.6%", "derived", MARGIN.format("34.6%"))
WRONG_MARGIN = ("36.6%", "unsupported", MARGIN.format("36.6%"))


@pytest.mark.parametrize(("result", "status", "answer"), [*case_rows(MORE_CASES), RIGHT_MARGIN, WRONG_MARGIN])
def test_shares_sums_and_changes_in_the_ways_that_models_tell_them(
    answer: str, result: str, status: str
) -> None:
    assert statuses(answer, MORE)[result] == status


@pytest.mark.parametrize(("word", "status"), [("upwards", "supported"), ("downwards", "present_elsewhere")])
def test_a_revision_goes_the_way_that_the_page_says(word: str, status: str) -> None:
    page = "Growth for 2025-26 was revised upwards by 30 bps to 6.8 per cent."
    found = statuses(f"Growth for 2025-26 was revised {word} by 30 bps [S1-7f3a].", page)
    assert found["30 bps"] == status


def test_what_the_question_says_is_no_evidence() -> None:
    hit = hit_of("Companies with annual sales of RM2.0 billion or more are in Group 3.")
    prompt = prompt_over(hit, question="Our sales were RM2.3 billion. Why?")
    _, _, (number,) = check_answer("Your sales were RM2.3 billion [S1-7f3a].", prompt)
    assert number.status == "present_elsewhere"
    assert number.reason == "it is in the question, not on the cited pages"


def test_of_figures_without_end_the_first_are_checked() -> None:
    prompt = prompt_over(hit_of("Domestic debt is $37.3 million."))
    endless = "Domestic debt is $37.3 million [S1-7f3a]. " * (MOST_FIGURES + 1)
    _, _, numbers = check_answer(endless, prompt)
    *first, last = numbers
    assert [number.status for number in first] == ["supported"] * MOST_FIGURES
    assert last.status == "unsupported"
    assert last.reason == TOO_MANY
