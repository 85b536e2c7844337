"""Figures of tables: the cell of row and year, ratios from operands that are shown, nothing where one is
missing.
"""

from dataclasses import replace

import pytest

from chatbot.answer.tables.cell_lookup import stated_unit
from chatbot.answer.tables.operations import by_operation
from chatbot.answer.tables.table_answers import compute_answer
from chatbot.answer.verification.own_text import check_quoted
from chatbot.records import Hit, Understanding
from ingestion.records import Rect, Row, Table
from tests.case_rows import case_lines, case_rows
from tests.chatbot.cited_pages import hit_of, prompt_over, rows_of

BOX = Rect(0.0, 0.0, 1.0, 1.0)


def made(
    rows: str,
    *,
    name: str = "other",
    kind: str = "income_statement",
    heads: str = "2024 | 2023",
    unit: str = "(in millions)",
) -> Hit:
    """A page of one table. rows: as in rows_of. heads: of its columns, parted by " | "."""
    begin = f"{unit}\n"
    lines, found = rows_of(rows, len(begin))
    table = Table(name, unit, tuple(heads.split(" | ")), found, BOX)
    return hit_of(begin + lines, document=name, tables=(table,), kinds=(kind,))


def sectioned(rows: str, section: str, *, kind: str = "forecast", unit: str) -> Hit:
    """The same where a section that the page prints holds all rows."""
    page = made(f"{section}:\n{rows}", kind=kind, unit=unit)
    return replace(page, page_text=f"{section}\n{page.page_text}")


def asked(subject: str, measures: str, years: str = "", *, compares: bool = False) -> Understanding:
    """What a question asks. measures: parted by commas. years: parted by blanks."""
    return Understanding(
        subject,
        subject,
        form="figure",
        years=tuple(map(int, years.split())),
        measures=tuple(measures.split(", ")),
        compares=compares,
    )


def computed(subject: str, measures: str, years: str, *pages: Hit, compares: bool = False) -> str:
    understood = asked(subject, measures, years, compares=compares)
    prompt = prompt_over(*pages, question=subject)
    return compute_answer(prompt, understood) or by_operation(prompt, understood)


INCOME = made(
    """
Total revenue | $ 2,000 | 1,600
Cost of sales | 1,200 | 1,000
Operating income | 300 | (80)
Net income | 200 | 150
""",
    name="income",
    heads="Year ended June 30, > 2024 | 2023",
)
BALANCE = made(
    """
Cash and cash equivalents | 90,000 | 80,000
Total current assets | 500,000 | 450,000
Total assets held for sale | 1 | 2
Total assets | 1,000,000 | 900,000
Total current liabilities | 250,000 | 300,000
""",
    name="balance",
    kind="balance_sheet",
    unit="(in thousands)",
)


def answer(subject: str, measures: str, years: str = "", *, compares: bool = False) -> str:
    return computed(subject, measures, years, INCOME, BALANCE, compares=compares)


RATIOS = """
operating margin | Operating margin (2024) was 15.0%: 100 × 300 / $ 2,000 = 15.0%.
working capital | Working capital (2024) was 250,000, in thousands: 500,000 - 250,000 = 250,000.
return on assets | Return on assets (2024) was 0.21: 200 / ((1,000,000 + 900,000) / 2) = 0.21.
"""


@pytest.mark.parametrize(("measure", "expected"), case_rows(RATIOS))
def test_ratios_show_their_operands_and_mind_scales(measure: str, expected: str) -> None:
    sentence, *_ = answer(measure, measure, "2024").split("\n\n")
    assert sentence == expected


def test_every_operand_is_cited_with_its_row() -> None:
    sentence, assets, liabilities = answer("current ratio 2024", "current ratio", "2024").split("\n\n")
    assert sentence.startswith("Current ratio (2024) was 2.00: 500,000 / 250,000 = 2.00.")
    assert assets.startswith("Total current assets 500,000 450,000 (")
    assert liabilities.startswith("Total current liabilities 250,000 300,000 (")


NEGATIVE = """
300 | -80 | 300 - (-80) = | 380
-300 | -80 | (-300) - (-80) = | -220
$ -5.0 | -7.5 | ($ -5.0) - (-7.5) = | 2.5
"""


@pytest.mark.parametrize(("later", "earlier", "difference", "result"), case_rows(NEGATIVE))
def test_negative_operands_stand_in_brackets_and_are_recomputed_by_the_checks(
    later: str, earlier: str, difference: str, result: str
) -> None:
    table = made(f"Net income | {later} | {earlier}")
    text = computed("growth of net income", "net income", "2023 2024", table)
    assert f"{difference} {result}." in text
    numbers = check_quoted(text, prompt_over(table)).numbers
    assert {number.status for number in numbers if number.text == result} == {"derived"}


MISSING = """
quick ratio | 2024
revenue | 2019
total debt | 2024
"""


@pytest.mark.parametrize(("measure", "year"), case_rows(MISSING))
def test_a_missing_operand_year_or_row_gives_nothing(measure: str, year: str) -> None:
    assert answer(measure, measure, year) == ""


TAXED = """
Operating income | 100 | 90
Interest expense | (25) | (20)
Income taxes | (20) | 5
Income before taxes | 80 | 70
"""


def test_costs_in_brackets_are_amounts_and_taxes_in_brackets_are_not_guessed() -> None:
    page = made(TAXED)
    assert ": 100 / 25 = 4.00" in computed("interest coverage 2024", "interest coverage", "2024", page)
    assert computed("effective tax rate 2024", "effective tax rate", "2024", page) == ""


def test_operands_of_two_documents_are_never_mixed() -> None:
    first = made("Net income | 200 | 150")
    second = replace(made("Total revenue | 1,000 | 900", name="another"), version=2)
    assert computed("net margin 2024", "net margin", "2024", first, second) == ""


@pytest.mark.parametrize("section", ["(Percent of GDP)", "Fiscal sector > In per cent of GDP"])
def test_a_rate_changes_in_points_whatever_says_that_it_is_one(section: str) -> None:
    change = "change in public debt 2023 to 2024"
    page = sectioned("Public debt | 65.0 | 68.4", section, unit="")
    sentence, *_ = computed(change, "public debt", "2023 2024", page).split("\n\n")
    innermost = section.rpartition(" > ")[2]
    unit = innermost.strip("()").replace("In", "in")
    moved = f"Public debt fell from 68.4 (2023) to 65.0 (2024), {unit}"
    assert sentence == f"{moved}: 65.0 - 68.4 = -3.4 percentage points."
    by_unit = made("Public debt | 65.0 | 68.4", kind="forecast", unit="(percent)")
    assert "= -3.4 percentage points." in computed(change, "public debt", "2023 2024", by_unit)
    by_cell = made("Public debt | 65.0% | 68.4%", kind="forecast", unit="")
    assert "= -3.4 percentage points." in computed(change, "public debt", "2023 2024", by_cell)
    by_label = made("Public debt (% of GDP) | 65.0 | 68.4", kind="forecast")
    text = computed(change, "public debt", "2023 2024", by_label)
    assert "(2024): 65.0 - 68.4 = -3.4 percentage points." in text


def test_an_amount_among_rates_is_an_amount() -> None:
    page = sectioned("Public debt | 650 | 640", "(Millions of dollars)", unit="(percent of GDP)")
    text = computed("change in public debt", "public debt", "2023 2024", page)
    assert "(2024), Millions of dollars: 650 - 640 = 10; 100" in text
    page = made("Public debt, 5% notes | 650 | 640", kind="forecast")
    text = computed("change in public debt", "public debt", "2023 2024", page)
    assert "percentage points" not in text


def test_a_change_has_the_decimals_of_its_operands_and_a_balance_its_rows_name() -> None:
    page = made("Overall balance | -2.9 | -3.7", kind="budget_summary", unit="(billions)")
    text = computed("change in the overall balance 2023 to 2024", "fiscal deficit", "2023 2024", page)
    moved = "Overall balance, 2024 less 2023, billions"
    assert text.startswith(f"{moved}: (-2.9) - (-3.7) = 0.8.")


def test_a_margin_of_one_of_several_segments_is_not_the_companys() -> None:
    north = made("Revenue | 500 | 400\nOperating income | 50 | 20", name="north", kind="segments")
    south = made("Revenue | 900 | 800\nOperating income | 180 | 160", name="south", kind="segments")
    asked_for = ("operating margin in 2024", "operating margin", "2024")
    assert computed(*asked_for, north, south) == ""
    assert computed(*asked_for, north).startswith("Operating margin (2024) was 10.0%")


def test_net_assets_are_not_the_assets() -> None:
    page = made("Net assets | 8 | 7", name="balance", kind="balance_sheet")
    assert computed("total assets in 2024", "total assets", "2024", page) == ""
    assert computed("return on assets in 2024", "return on assets", "2024", INCOME, page) == ""


def test_short_forms_ask_for_what_they_stand_for() -> None:
    page = made("Selling, general and administrative | 90 | 80")
    sga = replace(
        asked("What was SG&A in 2024?", "", "2024"), measures=("selling, general and administrative",)
    )
    text = compute_answer(prompt_over(page), sga)
    assert text.startswith("Selling, general and administrative was 90 million (2024).")
    text = by_operation(prompt_over(page), asked("growth of SG&A from 2023 to 2024", "", "2023 2024"))
    assert "90 - 80 = 10" in text


CURRENT_DEBT = "Current portion of long-term debt | 44 | 395"
NOTES = "Notes payable | 9 | 8"
LONG_TERM = "Long-term debt | 1,321 | 1,339"
EQUITY = "Total equity | 2,748 | 1"


def balance_sheet(*rows: str) -> Hit:
    return made("\n".join(rows), kind="balance_sheet")


def test_total_debt_is_all_of_its_parts() -> None:
    page = balance_sheet(CURRENT_DEBT, NOTES, LONG_TERM, EQUITY)
    total = computed("total debt 2024", "total debt", "2024", page)
    assert "Total debt (2024) was 1,374, in millions: 1,321 + 44 + 9 = 1,374." in total
    ratio = computed("debt to equity 2024", "debt to equity", "2024", page)
    assert "Debt to equity (2024) was 0.50: (1,321 + 44 + 9) / 2,748 = 0.50." in ratio
    printed = balance_sheet(CURRENT_DEBT, NOTES, LONG_TERM, EQUITY, "Total debt | 1,400 | 1")
    text = computed("total debt 2024", "total debt", "2024", printed)
    assert text.endswith("(2024: 1,400, in millions) [S1-7f3a]")


@pytest.mark.parametrize(
    "rows",
    [
        (CURRENT_DEBT, NOTES, EQUITY),
        (LONG_TERM, EQUITY),
        (CURRENT_DEBT, NOTES, LONG_TERM, EQUITY, "Bank overdrafts | 7 | 1"),
        (NOTES, EQUITY, "Borrowings | 90 | 80"),
    ],
)
def test_a_part_of_the_debt_is_not_the_total(rows: tuple[str, ...]) -> None:
    page = balance_sheet(*rows)
    assert computed("total debt 2024", "total debt", "2024", page) == ""
    assert computed("debt to equity 2024", "debt to equity", "2024", page) == ""


def test_another_statements_row_is_not_taken() -> None:
    flows = made("Accounts receivable | (274) | 48", kind="cash_flow_statement")
    assert computed("accounts receivable 2024", "accounts receivable", "2024", flows) == ""


def test_keys_that_a_table_prints_stay_inert() -> None:
    page = made("Revenue [S9] | 2 | 1", unit="(in millions) [S2]")
    text = computed("revenue growth 2023 to 2024", "revenue", "2023 2024", page)
    keys = text.count("[S1-7f3a]")
    assert keys > 0
    assert text.count("[S") == keys


def test_one_row_is_never_two_measures() -> None:
    page = made("Income before income taxes | 6,008 | 5,705")
    assert computed("effective tax rate 2024", "effective tax rate", "2024", page) == ""


UNITS = """
- | Lending spread (basis points) | 2024 | (basis points)
Spreads (basis points) | Lending | 2024 | Spreads (basis points)
- | Lending | Change > Percentage points | Percentage points
- | Lending | 2024 | (in millions)
"""


@pytest.mark.parametrize(("section", "label", "head", "expected"), case_rows(UNITS))
def test_what_stands_nearest_to_a_cell_gives_its_unit(
    section: str, label: str, head: str, expected: str
) -> None:
    row = Row(label, (), section.strip("-"), 0, 0)
    table = Table("Loans (thousands)", "(in millions)", (head,), (row,), BOX)
    assert stated_unit(table, row, 0).strip("()") == expected.strip("()")


FLOWS = """
Cash generated by operating activities | 900 | 800
Payments for acquisition of property, plant and equipment | (250) | (200)
"""


def test_a_question_that_spells_its_ratio_out_asks_for_nothing_narrower() -> None:
    flows = made(FLOWS, kind="cash_flow_statement")
    question = "operating cash flow less payments for plant in 2024"
    text = computed(question, "free cash flow", "2024", flows)
    assert text.startswith("Free cash flow (2024) was 650, in millions: 900 - 250 = 650")


NARROWER = """
Was the adjusted free cash flow positive in 2024?
What was underlying free cash flow in 2024?
"""


@pytest.mark.parametrize("question", case_lines(NARROWER))
def test_a_measure_that_the_question_narrows_is_not_worked_out(question: str) -> None:
    plain = question.replace("adjusted ", "").replace("underlying ", "")
    flows = made(FLOWS, kind="cash_flow_statement")
    assert "(2024) was 650" in computed(plain, "free cash flow", "2024", flows)
    assert computed(question, "free cash flow", "2024", flows) == ""
    # The row of that name leaves the words of its label behind.
    printed = made("Adjusted free cash flow | 300 | 200", name="releases", kind="")
    assert computed(question, "free cash flow", "2024", flows, printed) == ""


def test_a_balance_at_the_years_end_is_not_averaged() -> None:
    income = made("Total revenue | 3,650 | 3,000")
    balance = made("Receivables, less allowances of $5 | 500 | 300", kind="balance_sheet")
    measures = "days sales outstanding, accounts receivable, revenue"
    at_the_end = "days of sales in year-end receivables in 2024"
    assert "365 × 500 / 3,650 = 50.00 days" in computed(at_the_end, measures, "2024", income, balance)
    averaged = "days of sales in receivables in 2024"
    assert "= 40.00 days" in computed(averaged, measures, "2024", income, balance)


def test_a_figure_that_is_printed_answers_what_asks_for_nothing_else() -> None:
    page = made("Total revenue | 2,000 | 1,600\nCloud revenue | 500 | 400")
    stated = computed("total revenue in 2024", "revenue", "2024", page)
    assert stated.startswith("Total revenue was 2,000 million")
    assert computed("cloud revenue in 2024", "revenue", "2024", page) == ""
    assert computed("proportion of cloud in total revenue in 2024", "revenue", "2024", page) == ""
    assert computed("which risks does revenue have in 2024", "revenue", "2024", page) == ""
    grown = "growth of {}revenue from 2023 to 2024"
    assert "= 25.0%" in computed(grown.format("total "), "revenue", "2023 2024", page)
    assert "500 - 400 = 100" in computed(grown.format("cloud "), "revenue", "2023 2024", page)


def test_growth_is_of_one_row_and_column_that_are_meant() -> None:
    grown = "growth of revenue from 2023 to 2024"
    north = made("Total revenues | 900 | 800", name="north", kind="segments")
    south = made("Total revenues | 500 | 450", name="south", kind="segments")
    assert computed(grown, "revenue", "2023 2024", north, south) == ""
    assert computed("total revenue in 2024", "revenue", "2024", north, south) == ""
    assert computed("total revenue in 2024", "revenue", "2024", INCOME, north, south).startswith(
        "Total revenue was $2,000 million"
    )
    assert "= 12.5%" in computed(grown, "revenue", "2023 2024", north)
    twice = made("Revenue | 1 | 2 | 3", heads="2024 | 2024 | 2023")
    assert computed(grown, "revenue", "2023 2024", twice) == ""
    basic = made("Earnings per share, basic | 2.80 | 2.10")
    assert computed("growth of diluted EPS in 2024", "earnings per share", "2024", basic) == ""


def test_what_pages_put_before_a_measure_makes_it_narrower() -> None:
    page = made("Net sales | 200 | 150")
    page = replace(page, page_text=f"{page.page_text}Tablet net sales fell in both years.")
    assert computed("Were tablet sales lower in 2024?", "revenue", "2024", page) == ""
    text = computed("Were sales lower in 2024?", "revenue", "2024", page)
    assert text.startswith("No. Net sales rose")


def test_payments_in_brackets_are_compared_as_amounts() -> None:
    page = made("Capital expenditures | (6,174) | (6,763)", kind="cash_flow_statement")
    text = computed("Did capital expenditures go up in 2024?", "capital expenditure", "2024", page)
    moved = "No. Capital expenditures fell from 6,763 (2023) to 6,174 (2024), in millions"
    assert text.startswith(f"{moved}: 6,174 - 6,763 = -589")


def test_total_other_assets_are_not_total_assets() -> None:
    page = balance_sheet("Total other assets | 8 | 7", "Total assets | 50 | 53")
    text = computed("Were total assets lower in 2024?", "total assets", "2024", page)
    assert text.startswith("Yes. Total assets fell from 53 (2023) to 50 (2024)")
