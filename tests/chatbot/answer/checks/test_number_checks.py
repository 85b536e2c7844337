"""Number checks against tables whose heads are known: row, column, period, scale and sign, and what is no
error though it looks like one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from chatbot.answer.citations.citation_spans import check_answer
from chatbot.records import Hit, NumberCheck
from ingestion.records import Rect, Table
from tests.case_rows import case_lines, case_rows
from tests.chatbot.cited_pages import hit_of, prompt_over, rows_of
from tests.timing import growth

BOX = Rect(0, 0, 1, 1)


@dataclass(frozen=True)
class Printed:
    """A table as a page prints it. heads: of its columns. rows: as in rows_of."""

    caption: str
    unit: str
    heads: tuple[str, ...]
    rows: str


def page_of(*printed: Printed, prose: str = "") -> Hit:
    """A page of prose and then these tables; each of their rows is a line of it."""
    text, tables = f"{prose}\n" if prose else "", []
    for one in printed:
        text += f"{one.caption}\n{one.unit}\n{' '.join(one.heads)}\n"
        lines, rows = rows_of(one.rows, len(text))
        text += lines
        tables.append(Table(one.caption, one.unit, one.heads, rows, BOX))
    return hit_of(text, tables=tuple(tables))


ACCOUNTS = Printed(
    "Consolidated balance sheet",
    "(in millions, except per share)",
    ("December 31, 2018", "December 31, 2017", "% Change"),
    """
Assets:
Total current assets | 9,120 | 8,450 | 7.9%
Total assets | 59,268 | 55,556 | 6.7%
Level 3 assets | 440 | 310 | 41.9%
Liabilities:
Accounts payable | 4,812 | 5,140 | (6.4)%
:
Net income (loss) | (1,431) | 346 | -
Purchases of property, plant and equipment | (1,577) | (1,373) | 14.9%
Earnings per share | 3.25 | 2.98 | 9.1%
737 MAX 8 | 120 | 74 | 62.2%
""",
)
BORROWING = Printed(
    "Borrowing plan, crowns million",
    "",
    ("Domestic > General grant", "Domestic > Equalisation grant", "Abroad"),
    """
Northern region | 450 | 300 | 75
Southern region | 1,200 | 640 | 90
""",
)
PROSE = "Revenue of the northern branch grew by 16 per cent in 2018, and 77 branches were closed over 2017."
PAGE = page_of(ACCOUNTS, BORROWING, prose=PROSE)


def checks(answer: str, page: Hit = PAGE, question: str = "What does the report say?") -> list[NumberCheck]:
    _, _, numbers = check_answer(f"{answer} [S1-7f3a]", prompt_over(page, question=question))
    return list(numbers)


def statuses(answer: str, page: Hit = PAGE, question: str = "What does the report say?") -> list[str]:
    return [check.status for check in checks(answer, page, question)]


TRUE = """
Total assets were $59,268 million in 2018.
In 2017, total assets came to 55,556 million.
Total assets: 59,268 (2018)
Total assets rose from $55,556 million in 2017 to $59,268 million in 2018.
Total assets were 59,268 and 55,556 in 2018 and 2017, respectively.
Total assets were about $59 billion in 2018.
Total current assets stood at $9.12 billion at the end of 2018.
Total assets were $59.3 billion in 2018, up from $56bn in 2017.
Capex was $1,577 million in 2018.
It spent $1,373 million on equipment in 2017.
The company made a net loss of $1,431 million in 2018.
Earnings per share were $3.25 in 2018.
Total assets grew by 6.7% in 2018.
Level 3 assets were 440 million in 2018.
The Northern region gets a general grant of 450 million crowns.
Equalisation grant, Southern region: 640 million
(Domestic > General grant: 1,200; Domestic > Equalisation grant: 640; Abroad: 90): Southern region
Revenue of the northern branch grew by 16 per cent in 2018.
77 branches were closed.
The sum follows from assets, accounts payable of $4,812 million plus total current assets of $9,120 million \
in 2018.
"""


@pytest.mark.parametrize("answer", case_lines(TRUE))
def test_true_statements_are_supported(answer: str) -> None:
    assert set(statuses(answer)) == {"supported"}


ELSEWHERE = """
# row
Total current assets were $59,268 million in 2018. | the row “Total current assets” has 9,120
Total assets were $9,120 million in 2018. | the row “Total assets” has 59,268
It is accounts payable of $9,120 million plus total current assets of $4,812 million in 2018. | the row \
“Accounts payable” has 4,812
Accounts payable came to 440 million in 2018. | the row “Accounts payable” has 4,812
Wages came to 4,812 million in 2018. | which the answer does not name
# period
Total assets were $59,268 million in 2017. | not 2017; column “December 31, 2017” has 55,556
Total assets rose from $59,268 million in 2017 to $55,556 million in 2018. | not 2017
Total assets were 55,556 and 59,268 in 2018 and 2017, respectively. | not 2018
Revenue of the northern branch grew by 16 per cent in 2015. | its sentence is about 2018, not 2015
# column
Equalisation grant, Southern region: 1,200 million | column “Domestic > Equalisation grant” has 640
The Northern region gets a general grant of 75 million crowns. | column “Domestic > General grant” has 450
Total assets came to 6.7% in 2018. | column “December 31, 2018” has 59,268
# rounded
Total assets were $9.1 billion in 2018. | the row “Total assets” has 59,268
Total assets were $59.3 billion in 2017. | not 2017
# scale, kind
Total assets were $59,268 billion in 2018. | with another scale or unit
Total assets grew by 6.7 percentage points in 2018. | with another scale or unit
Earnings per share were 3.25 million in 2018. | with another scale or unit
"""


@pytest.mark.parametrize(("answer", "why"), case_rows(ELSEWHERE))
def test_the_value_alone_is_present_elsewhere(answer: str, why: str) -> None:
    check, *_ = checks(answer)
    assert check.status == "present_elsewhere"
    assert check.citation == "S1"
    assert why in (check.reason or "")


WRONG = """
Net income (loss) was 1,431 million in 2018.
Total assets were -59,268 million in 2018.
Total assets were 59,286 million in 2018.
Accounts payable came to -4,812 million in 2018.
"""


@pytest.mark.parametrize("answer", case_lines(WRONG))
def test_wrong_signs_and_digits_are_unsupported(answer: str) -> None:
    assert statuses(answer) == ["unsupported"]


def test_a_row_read_out_is_held_to_its_order() -> None:
    heads = "December 31, 2018 December 31, 2017 % Change: "
    as_printed = statuses(f"{heads}Total assets 59,268 55,556 6.7%")
    assert set(as_printed) == {"supported"}
    swapped = statuses(f"{heads}Total assets 55,556 59,268 6.7%")
    assert swapped == ["present_elsewhere", "present_elsewhere", "supported"]
    of_another_row = statuses(f"{heads}Accounts payable 59,268 55,556 6.7%")
    assert set(of_another_row) & {"contradicted", "present_elsewhere"}


NAMES = """
737 MAX 8 120 74 62.2%
Level 3 assets 440 310 41.9%
Orders for the 737 MAX 8 were 120 in 2018.
"""


def test_figures_that_belong_to_names_are_no_amounts() -> None:
    for answer in case_lines(NAMES):
        assert set(statuses(answer)) == {"supported"}


QUESTIONS = """
supported | What were total assets in 2018?
present_elsewhere | What were total assets in 2017?
present_elsewhere | What was accounts payable in 2018?
"""


def test_the_question_says_what_the_answer_leaves_out() -> None:
    for expected, question in case_rows(QUESTIONS):
        assert statuses("It was $59,268 million.", question=question) == [expected]


def test_a_check_says_where_and_of_which_period() -> None:
    (check,) = checks("Total assets were $59,268 million.")
    assert check.period == "December 31, 2018"
    assert check.reason == "it is in row “Total assets”, column “December 31, 2018”"
    (of_before,) = checks("It was $55,556 million.", question="What were total assets in 2017?")
    assert of_before.period == "2017"
    (wrong,) = checks("Total assets were $59,286 million.")
    assert wrong.reason


def test_without_known_tables_the_value_in_its_words_is_enough() -> None:
    plain = replace(PAGE, tables=())
    assert statuses("Total current assets were $59,268 million in 2018", plain) == ["supported"]


PROPERTY = Printed(
    "Property and equipment",
    "(in millions)",
    ("2022", "2021"),
    """
Furniture and fixtures | 145 | 150
Computers | 310 | 290
""",
)


@pytest.mark.parametrize(
    ("scale", "status"),
    [("million", "supported"), ("billion", "present_elsewhere"), ("thousand", "present_elsewhere")],
)
def test_two_cells_side_by_side_are_no_figure_together(scale: str, status: str) -> None:
    said = f"Furniture and fixtures was 150 {scale} in 2021"
    assert statuses(said, page_of(PROPERTY)) == [status]  # not 145,150 million, rounded


@pytest.mark.long
def test_tables_of_one_figure_take_no_more_than_their_size() -> None:
    parts = tuple(f"Part {letter}" for letter in "abcdefghijkl")
    row = "Total" + " | 0" * len(parts) + "\n"
    noughts = page_of(Printed("Noughts", "", parts, row * 300))
    checks("Total 0 of part b. " * 100, noughts)  # the suite's limit asserts


SENTENCES = """Net debt was minus 40 million marks in 2022 and 25 million marks in 2023. The balance was \
minus 2.1 percent of GDP in 2022.
The old age grant is R2 315, the disability grant R560. The programme pays the salaries of 9 300 health \
workers.
Spending on prisons was not 50 million marks in 2022. Wages are not more than 55 million marks.
Bonds outstanding were $48.6 million at 30 June 2023 and $45.1 million at 30 June 2024. Growth was 5.5 per \
cent in 2021 and 4.5 per cent in 2022.
The current account was a deficit of 5.0 billion marks in 2022 and a surplus of 2.0 billion marks in 2023. \
Output at 2015 prices was 990 million in 2022.
Losses of 4 million in 2021 were followed by a profit of 6 million in 2022. The surplus (deficit) was 8.5 \
billion in 2022.
Exports rose by 7.1 percent in 2022, whereas imports fell by 3.2 percent. Debt was 60.3 percent of GDP in \
fiscal 2022, to 31 January 2023.
Grants in 2022 came, in all, to 33 million in 2015 prices. Aid was 77 million in 2022 and 2023.
This will increase the allocation to each district to K36.1 million from K30.6 million in 2022.
The growth of exports to the islands stood at 6.4 per cent in 2021. A share of 6.4 per cent was set aside."""


def statuses_in_prose(answer: str, text: str = SENTENCES) -> set[str]:
    return set(statuses(answer, hit_of(text)))


OTHER_WORDS = """
Net debt was -40 million marks in 2022
The balance was a deficit of 2.1 percent of GDP in 2022
The old age grant is R2,315 and the disability grant R560 a month
There are 9,300 health workers
Wages are no more than 55 million marks
Bonds outstanding fell from $48.6 million in 2023 to $45.1 million in 2024
In 2024, bonds outstanding fell from $48.6 million to $45.1 million
Growth fell to 4.5 per cent in 2022 from 5.5 per cent in 2021
The current account moved from a deficit of 5.0 billion marks in 2022 to a surplus of 2.0 billion marks in \
2023
The loss was 4 million in 2021, the profit 6 million in 2022
The deficit was 8.5 billion in 2022
Exports increased by 7.1 percent, and imports saw a 3.2 percent decline
Output was 990 million in 2022
Grants were 33 million in 2022
Aid was 77 million in 2023
Debt was 60.3 percent of GDP at 31 January 2023
The allocation to each district rises to K36.1 million in 2023
"""


@pytest.mark.parametrize("answer", case_lines(OTHER_WORDS))
def test_what_sentences_say_in_other_words_is_supported(answer: str) -> None:
    assert statuses_in_prose(answer) == {"supported"}


OPPOSITE = """
Net debt was 40 million marks in 2022
The balance was a surplus of 2.1 percent of GDP in 2022
The disability grant is R999 a month
There are 300 health workers
Spending on prisons was 50 million marks in 2022
Wages are not 55 million marks
Bonds outstanding were $45.1 million at 30 June 2023
Growth was 4.5 per cent in 2021
The current account was a surplus of 5.0 billion marks in 2022
The profit was 4 million in 2021
Exports fell by 7.1 percent in 2022
There was a 3.2 percent increase in imports
The allocation to each district was K30.6 million in 2021
The growth of exports to the islands stood at 6.4 per cent in 2023
"""


@pytest.mark.parametrize("answer", case_lines(OPPOSITE))
def test_the_opposite_or_another_period_of_what_sentences_say_is_not(answer: str) -> None:
    assert "supported" not in statuses_in_prose(answer)


def test_a_letter_that_only_the_answer_shows_to_be_a_currency_is_one_on_the_page() -> None:
    page = "Monthly grants\nOld age R620\nTop-up R130\n"
    assert statuses_in_prose("The top-up is R130 a month", page) == {"supported"}
    assert statuses_in_prose("The top-up is R131 a month", page) == {"unsupported"}


DEBT = Printed(
    "Statement of change in net debt",
    "(in thousands)",
    ("2024", "2023", "Population (mln)"),
    """
Annual surplus | 27,320 | 16,765 | -
Change in net debt | 4,210 | 5,686 | -
Debentures due 2023 | 64 | 63 | -
Total equity | 18,078 | 18,705 | -
Total liabilities and equity | 59,268 | 55,556 | -
Northland | 410 | 400 | 5.2
""",
)
OWN_CELL = """
# The column's own scale goes before the table's.
supported | Northland has 5.2 million people
present_elsewhere | Northland has 5.2 thousand people
supported | In 2024, debentures due 2023 were 64 thousand
# The year of a name is not the figure's.
present_elsewhere | In 2024, debentures due 2023 were 63 thousand
supported | The annual surplus was $27,320 thousand in 2024, up from $16,765 thousand a year earlier
supported | The annual surplus was $27,320 thousand in 2024, up from $16,765 thousand at December 31, 2023
# Its title names another row.
supported | Statement of change in net debt: Annual surplus 27,320 16,765 (2023: 16,765 thousand)
present_elsewhere | Statement of change in net debt: Annual surplus 27,320 16,765 (2023: 5,686 thousand)
supported | TOTAL EQUITY 18,078
supported | Total liabilities and total equity: TOTAL EQUITY 18,078 in 2024
"""


@pytest.mark.parametrize(("expected", "answer"), case_rows(OWN_CELL))
def test_a_figure_has_the_scale_row_and_period_of_its_own_cell(answer: str, expected: str) -> None:
    *_, status = statuses(answer, page_of(DEBT))
    assert status == expected


PERIODS = """The tax rate for 2021 was 23.1% compared to 23.4% for 2020. Growth is projected at 2.3 percent \
in 2024
compared to 5.4 percent recorded in 2023. In 2025, growth is projected at 3.3 percent in the plan. Charges \
rose by $385 million or 7% in 2016."""
TIED = """
supported | In 2021, the tax rate was 23.1%
# Its sentence speaks of both years, and ties it to one.
present_elsewhere | In 2020, the tax rate was 23.1%
supported | Growth slowed to 2.3 percent in 2024 from 5.4 percent in 2023
supported | Charges rose by $385 million, or 7%, in 2016
"""


@pytest.mark.parametrize(("expected", "answer"), case_rows(TIED))
def test_a_figure_of_a_sentence_has_the_period_it_is_tied_to(answer: str, expected: str) -> None:
    assert statuses_in_prose(answer, PERIODS) == {expected}


def test_brackets_of_an_aside_are_no_minus() -> None:
    page = "Abstentions 59,530 (0.13%) of the votes. Net change (634) in all."
    assert statuses_in_prose("There were 59,530 abstentions (0.13%)", page) == {"supported"}


def test_money_without_the_scale_of_its_table_is_doubted_for_that_and_contradicts_nothing() -> None:
    (check,) = checks("Accounts payable came to $4,812 in 2018.")
    assert check.status == "present_elsewhere"
    assert check.reason == "the page gives it in millions, which the answer does not say"


YEARS = Printed(
    "Accounts",
    "(in millions)",
    ("2018", "2017"),
    """
Revenue | 12 | 10
Other revenue | 15 | 14
""",
)
IN_YEARS = page_of(YEARS)


def test_a_year_earlier_is_said_of_the_last_figure_alone() -> None:
    first, _ = statuses("Revenue was 10 million in 2018 against 12 million a year earlier", IN_YEARS)
    assert first == "present_elsewhere"
    first, _ = statuses("Revenue was 10 in 2018 against 12 a year earlier", IN_YEARS)
    assert first == "present_elsewhere"
    right = statuses("Revenue was 12 million in 2018 against 10 million a year earlier", IN_YEARS)
    assert right == ["supported", "supported"]


STATED = "The total expenditure of the state is expected at {} in the coming year."
NOUGHTS = """
contradicted | 4,500 crowns | 450 crowns
contradicted | 4,500 crowns | 45,000 crowns
contradicted | 4.5 per cent | 45 per cent
contradicted | 4,500 million crowns | 450 million crowns
# It may be in thousands, which are not said.
contradicted | 4,500 crore | 4,500 lakh
# It may be in thousands, which are not said.
unsupported | 4.5 million crowns | 4,500 crowns
present_elsewhere | 4,500 million crowns | 4,500 crowns
"""


@pytest.mark.parametrize(("expected", "page", "answer"), case_rows(NOUGHTS))
def test_noughts_too_many_or_too_few_contradict(page: str, answer: str, expected: str) -> None:
    said = STATED.format(answer).rstrip(".")
    assert statuses_in_prose(said, STATED.format(page)) == {expected}


def test_a_row_without_a_label_is_named_by_its_column() -> None:
    table = replace(YEARS, unit="", rows="- | 150 | 140\nRevenue | 120 | 110")
    *_, check = checks("Revenue 120 110 (2018: 150)", page_of(table))
    assert check.status == "present_elsewhere"
    assert check.reason == "its value is in column “2018”, but the answer quotes another row"


WHOLE_LABEL = """
present_elsewhere | Other Revenue 12 10 in millions, so other revenue was 12 million
present_elsewhere | Other Revenue 12 10 in millions
present_elsewhere | Revenue 12 10 in millions, so other revenue was 12 million
supported | other revenue 15 14 (2017: 14)
supported | REVENUE 12 10 (2017: 10)
supported | The table shows Revenue 12 10 (2017: 10)
"""


@pytest.mark.parametrize(("expected", "answer"), case_rows(WHOLE_LABEL))
def test_a_row_is_read_out_under_its_whole_label_alone(answer: str, expected: str) -> None:
    *_, status = statuses(answer, IN_YEARS)
    assert status == expected


@pytest.mark.long
@pytest.mark.timed
def test_a_table_read_out_takes_time_in_proportion() -> None:
    labels = [f"Item {tens}{ones}" for tens in "abcdefghij" for ones in "abcdefghijklmnopqrst"]
    rows = "".join(f"{label} | 101 | 102\n" for label in labels)
    items = page_of(Printed("Items", "", ("2018", "2017"), rows))

    def read_out(count: int) -> None:
        said = "; ".join(f"{label} (2018: 101)" for label in labels[:count])
        assert len(checks(said, items)) >= count

    assert growth(read_out, small=20, large=200) < 4


def test_debits_and_credits_are_no_crores() -> None:
    cash = Printed("Trial balance", "", ("Dr", "Cr"), "Cash | 500 | 300")
    assert statuses("Cash has a credit of 300 crore", page_of(cash)) == ["present_elsewhere"]
    assert statuses("Cash has a credit of 300", page_of(cash)) == ["supported"]
    in_crores = replace(cash, unit="Amounts, cr")
    assert statuses("Cash has a credit of 300 crore", page_of(in_crores)) == ["supported"]
