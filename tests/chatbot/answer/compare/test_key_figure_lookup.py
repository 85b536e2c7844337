"""Which figures are taken from the tables of accounts and budgets, of which time, and what is left out
rather than be wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from chatbot.answer.compare.key_figure_lookup import document_figures
from chatbot.comparison.key_figure_records import DocumentFigures
from chatbot.records import Hit
from ingestion.document import read_document
from ingestion.records import Cell, Rect, Row, Table
from tests.chatbot.cited_pages import hit_of
from tests.pdfs import Placed, draw, draw_revenue, grid
from tests.statements import BALANCE, CASH, INCOME, draw_accounts, statement

BOX = Rect(0.0, 0.0, 1.0, 1.0)
SHARED = Path(__file__).resolve().parents[4].parent / "shared" / "data"
Cells = Mapping[tuple[str, str], float]


def hits(path: Path) -> list[Hit]:
    reading = read_document(path)
    pages = []
    for page in reading.pages:
        of_page = {"tables": page.tables, "kinds": page.kinds, "page": page.number}
        pages.append(hit_of(page.text, document=path.name, version=1, **of_page))
    return pages


def read(path: Path) -> DocumentFigures:
    return document_figures(path.name, 1, hits(path))


def cells(found: DocumentFigures) -> dict[tuple[str, str], float]:
    """(measure, period) -> value with its scale."""
    return {(figure.measure, figure.period.text): figure.magnitude for figure in found.figures}


@pytest.fixture(scope="module")
def accounts(tmp_path_factory: pytest.TempPathFactory) -> DocumentFigures:
    return read(draw_accounts(tmp_path_factory.mktemp("accounts") / "Alder.pdf"))


STATED = {
    "revenue": (1_200e6, 1_100e6),
    "gross profit": (500e6, 440e6),
    "operating income": (150e6, 110e6),
    "net income": (90e6, 60e6),
    "diluted earnings per share": (0.90, 0.60),
    "operating cash flow": (165e6, 124e6),
    "capital expenditure": (-75e6, -81e6),
    "total assets": (1_000e6, 950e6),
    "total liabilities": (440e6, 461e6),
    "equity": (560e6, 489e6),
    "cash and cash equivalents": (210e6, 180e6),
    "long-term debt": (300e6, 320e6),
    "debt on the balance sheet": (320e6, 351e6),
}


@pytest.mark.parametrize("measure", STATED)
def test_statements_give_their_figures_by_year(accounts: DocumentFigures, measure: str) -> None:
    found = cells(accounts)
    assert (found[measure, "2023"], found[measure, "2022"]) == pytest.approx(STATED[measure])


def test_each_figure_has_its_page_row_unit_and_currency(accounts: DocumentFigures) -> None:
    (sales,) = [
        figure for figure in accounts.figures if figure.measure == "revenue" and figure.period.text == "2023"
    ]
    assert (sales.page, sales.label, sales.text, sales.head) == (1, "Net sales", "$ 1,200", "2023")
    assert (sales.unit, sales.scale, sales.unit_line) == ("$", 1e6, "in millions")
    assert sales.quote == "Net sales $ 1,200 $ 1,100"
    assert accounts.families == {"accounts", "position"}


def test_debt_is_the_sum_of_its_rows_and_shows_them(accounts: DocumentFigures) -> None:
    debt = next(figure for figure in accounts.figures if figure.measure == "debt on the balance sheet")
    assert debt.formula == "15 + 300 + 5 = 320"
    assert [operand.page for operand in debt.operands] == [2, 2, 2]


@pytest.mark.parametrize(
    ("unit", "scale"), [("(in thousands)", 1e3), ("(Rs. in crore)", 1e7), ("(in billions)", 1e9)]
)
def test_scales_are_as_the_page_says(tmp_path: Path, unit: str, scale: float) -> None:
    found = cells(read(draw_accounts(tmp_path / "A.pdf", unit=unit)))
    assert found["revenue", "2023"] == 1_200 * scale
    assert found["diluted earnings per share", "2023"] == 0.90


def test_the_group_goes_before_the_parent_alone(tmp_path: Path) -> None:
    alone = [(label, *["$ 7"] * len(values)) for label, *values in INCOME]
    first = statement("STANDALONE STATEMENTS OF INCOME", alone)
    found = cells(read(draw_accounts(tmp_path / "A.pdf", first=[first])))
    assert found["revenue", "2023"] == 1_200e6


@pytest.mark.parametrize(
    ("rows", "caption", "given"),
    [
        (("Net sales", "Operating profit", "Profit for the period"), "Main figures", True),
        (("Net sales", "Operating profit", "Profit for the period"), "Results by segment", False),
        (("Net sales", "Operating profit", "Employees"), "Main figures", False),
    ],
)
def test_a_table_with_the_rows_of_a_statement_is_one_where_none_is_titled(
    tmp_path: Path, rows: tuple[str, str, str], caption: str, given: bool
) -> None:
    printed = [("", "2024", "2023"), *((label, "3,418", "3,106") for label in rows)]
    path = draw(tmp_path / "A.pdf", [(60, 60, f"{caption} (NOK million)"), *grid(90, printed)])
    assert cells(read(path)).get(("revenue", "2024")) == (3_418e6 if given else None)


def test_quarters_and_days_have_columns_of_their_own(tmp_path: Path) -> None:
    quarter = ("Three months ended June 30, 2023", "Three months ended June 30, 2022")
    half = ("Six months ended June 30, 2023", "Six months ended June 30, 2022")
    days = ("June 30, 2023", "December 31, 2022")
    pages = [
        hit_with("income_statement", table(quarter, INCOME), 1),
        hit_with("balance_sheet", table(days, BALANCE), 2),
        hit_with("cash_flow_statement", table(half, CASH), 3),
    ]
    found = cells(document_figures("A.pdf", 1, pages))
    assert found["revenue", "3 months to June 2023"] == 1_200e6
    assert found["operating cash flow", "6 months to June 2023"] == 165e6
    assert found["total assets", "6 months to June 2023"] == 1_000e6
    assert found["total assets", "December 2022"] == 950e6


def test_quarters_by_number_are_told_apart_and_hold_no_other_day() -> None:
    heads = ("2023 > Q1 > Amount", "2023 > Q2 > Amount", "2023 > SIX MONTHS > Amount")
    pages = [
        hit_with("income_statement", table(heads, (("Revenues", "10", "20", "30"),)), 1),
        hit_with("balance_sheet", table(("June 30, 2023",), (("Total assets", "90"),)), 2),
    ]
    assert cells(document_figures("A.pdf", 1, pages)) == {
        ("revenue", "Q1 2023"): 10e6,
        ("revenue", "Q2 2023"): 20e6,
        ("revenue", "6 months 2023"): 30e6,
        ("total assets", "June 2023"): 90e6,
    }


def test_an_empty_column_of_the_same_head_counts_for_nothing() -> None:
    others = [(f"Row {at}", "1", "2") for at in range(9)]
    made = table(("2023", "2023"), [*others, ("Revenues", "7", "8")])
    rows = tuple(replace(row, cells=(row.cells[0], None)) for row in made.rows)
    page = hit_with("income_statement", replace(made, rows=rows))
    assert cells(document_figures("A.pdf", 1, [page])) == {("revenue", "2023"): 7e6}


RESTATED = [
    (("2022 As previously reported", "2022 As restated"), 2),
    (("2022 Budget", "2022 Actual"), 2),
    (("2022 Other segments", "2022 Consolidated"), 2),
    (("2022", "Percent of sales 2022"), 1),
]


@pytest.mark.parametrize(("heads", "column"), RESTATED)
def test_of_two_columns_of_a_year_the_one_that_counts_is_taken(heads: tuple[str, str], column: int) -> None:
    page = hit_with("income_statement", table(heads, (("Revenues", "10", "20"), ("Net income", "1", "2"))))
    assert cells(document_figures("A.pdf", 1, [page]))["revenue", "2022"] == 10e6 * column


def test_two_columns_of_a_year_that_cannot_be_told_apart_give_nothing() -> None:
    page = hit_with("income_statement", table(("2022", "2022"), (("Revenues", "10", "20"),)))
    assert document_figures("A.pdf", 1, [page]).figures == ()


LEFT_OUT = [
    ("income_statement", "Other revenues"),
    ("income_statement", "Deferred revenue"),
    ("income_statement", "Net income attributable to noncontrolling interests"),
    ("income_statement", "Net income per share"),
    ("income_statement", "Net income from discontinued operations"),
    ("income_statement", "Segment operating income"),
    ("balance_sheet", "Total liabilities and equity"),
    ("balance_sheet", "Restricted cash"),
    ("cash_flow_statement", "Proceeds from sale of property and equipment"),
    ("cash_flow_statement", "Net cash used in investing activities"),
    ("equity_statement", "Net income"),
    ("", "Net income"),
]


@pytest.mark.parametrize(("kind", "label"), LEFT_OUT)
def test_a_row_that_only_sounds_like_a_measure_is_left_out(kind: str, label: str) -> None:
    page = hit_with(kind, table(("2023", "2022"), ((label, "10", "20"),)))
    assert document_figures("A.pdf", 1, [page]).figures == ()


BELOW_ZERO = [
    ("income_statement", "Net loss", "500", -500e6),
    ("income_statement", "Net loss", "(500)", -500e6),
    ("income_statement", "Net income (loss)", "500", 500e6),
    ("income_statement", "Loss for the year", "500", -500e6),
]


@pytest.mark.parametrize(("kind", "label", "printed", "value"), BELOW_ZERO)
def test_a_row_called_a_loss_is_below_zero(kind: str, label: str, printed: str, value: float) -> None:
    page = hit_with(kind, table(("2023", "2022"), ((label, printed, "-"),)))
    assert cells(document_figures("A.pdf", 1, [page])) == {("net income", "2023"): value}


def test_borrowings_are_long_term_in_a_section_that_says_so() -> None:
    made = table(("2023", "2022"), (("Borrowings", "10", "20"),))
    for section, found in (("Non-current liabilities", True), ("Current liabilities", False)):
        rows = (replace(made.rows[0], section=section),)
        page = hit_with("balance_sheet", replace(made, rows=rows))
        given = cells(document_figures("A.pdf", 1, [page]))
        assert (("long-term debt", "2023") in given) is found
        assert given["debt on the balance sheet", "2023"] == 10e6


def test_net_cash_goes_before_cash_generated() -> None:
    rows = (("Cash generated from operations", "10", "20"), ("Net cash from operating activities", "7", "15"))
    page = hit_with("cash_flow_statement", table(("2023", "2022"), rows))
    assert cells(document_figures("A.pdf", 1, [page]))["operating cash flow", "2023"] == 7e6


def test_debt_with_a_subtotal_among_its_rows_is_not_added_up() -> None:
    rows = (
        ("Total assets", "90", "80"),
        ("Notes payable", "5", "6"),
        ("Bonds payable", "7", "8"),
        ("Total long-term debt", "12", "14"),
    )
    found = cells(document_figures("A.pdf", 1, [hit_with("balance_sheet", table(("2023", "2022"), rows))]))
    assert ("debt on the balance sheet", "2023") not in found


def test_a_heading_behind_a_label_is_no_part_of_it() -> None:
    made = table(("2023", "2022"), (("Total revenue", "10", "20"), ("Net income", "1", "2")))
    rows = (Row("Total revenue Expenses", made.rows[0].cells, "", 0, 19), *made.rows[1:])
    page = hit_with("income_statement", Table(made.caption, made.unit, made.heads, rows, BOX))
    assert cells(document_figures("A.pdf", 1, [page]))["revenue", "2023"] == 10e6


def test_what_goes_on_over_the_end_of_a_page_is_read() -> None:
    first = hit_with("balance_sheet", table(("2023", "2022"), (("Total assets", "90", "80"),)), 1)
    rest = table(("2023", "2022"), (("Total liabilities", "50", "45"),))
    rest = Table(rest.caption, rest.unit, rest.heads, rest.rows, BOX, continued=True)
    found = cells(document_figures("A.pdf", 1, [first, hit_with("", rest, 2)]))
    assert found["total liabilities", "2023"] == 50e6


def test_dates_above_a_table_without_heads_head_its_columns() -> None:
    dates = "June 30,\n2023\nDecember 31,\n2022\n"
    made = table(("", ""), (("Total assets", "90", "80"),), above=dates)
    page = hit_with("balance_sheet", made, above=dates)
    assert cells(document_figures("A.pdf", 1, [page])) == {
        ("total assets", "June 2023"): 90e6,
        ("total assets", "December 2022"): 80e6,
    }


# --- budgets
# ------------------------------------------------------------------------------------------------------------

FORECAST = (
    ("", "2024 estimate", "2025 budget", "2026 projection"),
    ("Total revenue", "1,310", "1,422", "1,500"),
    ("Total expenditure", "1,400", "1,455", "1,530"),
    ("Overall balance", "(90)", "(33)", "(30)"),
    ("Overall balance, per cent of GDP", "(1.8)", "(0.6)", "(0.5)"),
    ("Public debt, end of year", "2,900", "2,950", "3,000"),
)
OUTLOOK = (
    ("", "2024", "2025", "2026"),
    ("Real GDP growth", "2.4", "2.1", "2.3"),
    ("Consumer price inflation", "4.1", "2.9", "2.5"),
    ("Unemployment rate", "6.3", "6.1", "5.9"),
)


@pytest.fixture(scope="module")
def budget(tmp_path_factory: pytest.TempPathFactory) -> Cells:
    first: list[Placed] = [
        (60, 60, "Table 1: Budget of the central government"),
        (60, 76, "In millions of crowns"),
    ]
    second: list[Placed] = [
        (60, 60, "Table 2: Economic assumptions of the budget"),
        (60, 76, "Per cent change on the year before"),
    ]
    path = tmp_path_factory.mktemp("budget") / "Budget.pdf"
    return cells(read(draw(path, [*first, *grid(110, FORECAST)], [*second, *grid(110, OUTLOOK)])))


STATED_IN_BUDGET = {
    "government revenue": 1_422e6,
    "government expenditure": 1_455e6,
    "fiscal deficit": -33e6,
    "fiscal deficit, % of GDP": -0.6,
    "public debt": 2_950e6,
    "economic growth": 2.1,
    "inflation": 2.9,
    "unemployment": 6.1,
}


@pytest.mark.parametrize("measure", STATED_IN_BUDGET)
def test_budgets_give_amounts_shares_and_assumptions(budget: Cells, measure: str) -> None:
    assert budget[measure, "2025"] == STATED_IN_BUDGET[measure]


def test_a_budget_has_no_net_income(tmp_path: Path) -> None:
    found = read(draw_revenue(tmp_path / "Budget.pdf"))
    assert found.families == {"budget"}
    assert {figure.measure for figure in found.figures} == {"government revenue"}


def test_a_rate_in_a_scenario_is_no_assumption() -> None:
    rows = (("Real GDP, deviation from baseline (%)", "-8.8", "-7.0"),)
    page = hit_with("forecast", table(("2024", "2025"), rows, unit="Per cent"), above="The government\n")
    assert document_figures("A.pdf", 1, [page]).figures == ()


# --- bad input
# ------------------------------------------------------------------------------------------------------------

BROKEN = [
    Table("", "", (), (), BOX),
    Table("", "", ("2023",), (Row("Revenues", ()),), BOX),
    Table("", "", ("2023", "2022"), (Row("Revenues", (None, None)),), BOX),
    Table("", "", ("2023",), (Row("", (Cell("(((", 0, 3),)),), BOX),
    Table("x" * 5_000, "(" * 500, ("2023 " * 500,), (Row("Revenues " * 500, (Cell("1", 0, 1),)),), BOX),
]


@pytest.mark.parametrize("made", BROKEN, ids=range(len(BROKEN)))
def test_a_broken_table_gives_nothing(made: Table) -> None:
    kinds = ("income_statement", "balance_sheet", "cash_flow_statement")
    page = hit_of("Revenues 1", document="A.pdf", version=1, tables=(made,), kinds=kinds, page=1)
    assert document_figures("A.pdf", 1, [page]).figures == ()


# --- real documents
# ------------------------------------------------------------------------------------------------------------


def test_a_real_report_gives_what_it_prints() -> None:
    path = SHARED / "financebench" / "NETFLIX_2017_10K.pdf"
    if not path.exists():
        pytest.skip("the development data does not stand beside the checkout")
    found = cells(read(path))
    assert found["revenue", "2017"] == 11_692_713e3
    assert found["operating cash flow", "2015"] == -749_439e3
    assert found["debt on the balance sheet", "2016"] == 3_364_311e3


# --- made pages
# ------------------------------------------------------------------------------------------------------------


def table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], *, unit: str = "(in millions)", above: str = ""
) -> Table:
    """A table whose rows stand one below the other in the text that `hit_with` gives its page."""
    made = []
    at = len(above)
    for label, *values in rows:
        start = at
        at += len(label) + 1
        placed = []
        for value in values:
            placed.append(Cell(value, at, at + len(value)))
            at += len(value) + 1
        made.append(Row(label, tuple(placed), "", start, at - 1))
    return Table("", unit, tuple(heads), tuple(made), BOX)


def hit_with(kind: str, made: Table, page: int = 1, *, above: str = "") -> Hit:
    lines = []
    for row in made.rows:
        values = [cell.text for cell in row.cells if cell]
        lines.append(" ".join([row.label, *values]))
    text = above + "\n".join(lines)
    kinds = (kind,) if kind else ()
    return hit_of(text, document="A.pdf", version=1, page=page, tables=(made,), kinds=kinds)
