"""Figures of tables: the cell of row and year, ratios from operands that are shown, nothing where one is
missing.
"""

from dataclasses import replace

import pytest

from chatbot.answer.citations.citation_spans import check_answer
from chatbot.answer.tables.cell_lookup import stated_unit
from chatbot.answer.tables.table_answers import compute_answer
from chatbot.records import Hit, Prompt, Understanding
from ingestion.records import Cell, Rect, Row, Table

BOX = Rect(0.0, 0.0, 1.0, 1.0)


def hit(
    name: str,
    kind: str,
    heads: tuple[str, ...],
    rows: list[tuple[str, list[str]]],
    unit: str = "(in millions)",
) -> Hit:
    text, made = f"{unit}\n", []
    for label, values in rows:
        start = len(text)
        text += f"{label} {' '.join(values)}\n"
        made.append(
            Row(label, tuple(Cell(value, start, len(text) - 1) for value in values), "", start, len(text) - 1)
        )
    table = Table(name, unit, heads, tuple(made), BOX)
    return Hit(name, 1, 1, None, None, "text", None, "1:0", text, text, tables=(table,), kinds=(kind,))


INCOME = hit(
    "income",
    "income_statement",
    ("Year ended June 30, > 2024", "2023"),
    [
        ("Total revenue", ["$ 2,000", "1,600"]),
        ("Cost of sales", ["1,200", "1,000"]),
        ("Operating income", ["300", "(80)"]),
        ("Net income", ["200", "150"]),
    ],
)
BALANCE = hit(
    "balance",
    "balance_sheet",
    ("2024", "2023"),
    [
        ("Cash and cash equivalents", ["90,000", "80,000"]),
        ("Total current assets", ["500,000", "450,000"]),
        ("Total assets held for sale", ["1", "2"]),
        ("Total assets", ["1,000,000", "900,000"]),
        ("Total current liabilities", ["250,000", "300,000"]),
    ],
    unit="(in thousands)",
)


def answer(subject: str, measures: tuple[str, ...], years: tuple[int, ...] = (), **others: object) -> str:
    asked = Understanding(
        subject,
        subject,
        form="figure",
        years=years,
        measures=measures,
        **others,  # type: ignore[arg-type]
    )
    hits = {"S1-7f3a": INCOME, "S2-7f3a": BALANCE}
    return compute_answer(Prompt(subject, subject, hits, (), (), (), "7f3a"), asked)


def test_the_cell_of_row_and_year_with_its_unit() -> None:
    text = answer("total assets in 2023", ("total assets",), (2023,))
    assert text == (
        "Total assets were 900,000 thousand (2023). [S2-7f3a]\n\nTotal assets 1,000,000 900,000 (2023: "
        "900,000, in thousands) [S2-7f3a]"
    )


def test_without_a_year_the_newest_column_answers() -> None:
    assert "(Year ended June 30, > 2024: $ 2,000, in millions)" in answer("total revenue", ("revenue",))


@pytest.mark.parametrize(
    ("measure", "years", "expected"),
    [
        ("operating margin", (2024,), "Operating margin (2024) was 15.0%: 100 × 300 / $ 2,000 = 15.0%."),
        (
            "working capital",
            (2024,),
            "Working capital (2024) was 250,000, in thousands: 500,000 - 250,000 = 250,000.",
        ),
        (
            "return on assets",
            (2024,),
            "Return on assets (2024) was 0.21: 200 / ((1,000,000 + 900,000) / 2) = 0.21.",
        ),
    ],
)
def test_ratios_show_their_operands_and_mind_scales(
    measure: str, years: tuple[int, ...], expected: str
) -> None:
    assert answer(measure, (measure,), years).split("\n\n")[0] == expected


def test_every_operand_is_cited_with_its_row() -> None:
    parts = answer("current ratio 2024", ("current ratio",), (2024,)).split("\n\n")
    assert parts[0].startswith("Current ratio (2024) was 2.00: 500,000 / 250,000 = 2.00.")
    assert [part.split(" (")[0] for part in parts[1:]] == [
        "Total current assets 500,000 450,000",
        "Total current liabilities 250,000 300,000",
    ]


def test_growth_and_negative_values() -> None:
    text = answer("growth of operating income", ("operating income",), (2023, 2024), compares=True)
    assert "rose from (80) (2023) to 300 (2024)" in text
    assert "%" not in text
    assert "100 × (200 - 150) / 150 = 33.3%" in answer("growth of net income", ("net income",), (2023, 2024))


def test_growth_in_one_year_is_against_the_year_before() -> None:
    text = answer("What was the growth of net income in 2024?", ("net income",), (2024,))
    assert "Net income rose from 150 (2023) to 200 (2024)" in text
    assert "100 × (200 - 150) / 150 = 33.3%" in text
    # The year before is not printed.
    assert (
        answer("What was the growth of net income in 2023?", ("net income",), (2023,))
        == "Net income 200 150 (2023: 150, in millions) [S1-7f3a]"
    )


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (["300", "-80"], "300 - (-80) = 380."),
        (["-300", "-80"], "(-300) - (-80) = -220."),
        (["$ -5.0", "-7.5"], "($ -5.0) - (-7.5) = 2.5."),
    ],
)
def test_negative_operands_stand_in_brackets_and_are_recomputed_by_the_checks(
    values: list[str], said: str
) -> None:
    table = made([("Net income", values)])
    text = computed("growth of net income", ("net income",), (2023, 2024), table)
    assert said in text
    _, _, numbers = check_answer(text, Prompt("q", "q", {"S1-7f3a": table}, (), (), (), "7f3a"))
    result = said.rpartition(" ")[2].rstrip(".")
    assert {number.status for number in numbers if number.text == result} == {"derived"}


def test_one_segment_of_several_is_not_the_company() -> None:
    north, south = (
        made([("Total revenues", values)], name=name, kind="segments")
        for name, values in (("north", ["900", "800"]), ("south", ["500", "450"]))
    )
    assert computed("revenue in 2024", ("revenue",), (2024,), north, south) == ""
    assert "900" in computed("revenue in 2024", ("revenue",), (2024,), north)
    assert "2,000" in computed("revenue in 2024", ("revenue",), (2024,), INCOME, north, south)


def test_a_share_of_another_measure_and_an_average_over_years() -> None:
    assert "60.0%" in answer("cost of sales as a % of revenue in 2024", ("cost of sales", "revenue"), (2024,))
    text = answer("2 year average of operating margin", ("operating margin",), (2023, 2024))
    assert "(-5.0% + 15.0%) / 2 = 5.0%" in text


@pytest.mark.parametrize(
    ("measure", "years"), [("quick ratio", (2024,)), ("revenue", (2019,)), ("total debt", (2024,))]
)
def test_a_missing_operand_year_or_row_gives_nothing(measure: str, years: tuple[int, ...]) -> None:
    assert answer(measure, (measure,), years) == ""


def test_questions_without_a_measure_are_left_to_passages() -> None:
    assert answer("Who chairs the board?", ()) == ""


def made(rows: list[tuple[str, list[str]]], **others: object) -> Hit:
    given = {
        "heads": ("2024", "2023"),
        "unit": "(in millions)",
        "kind": "income_statement",
        "name": "other",
        **others,
    }
    name, kind, unit = str(given["name"]), str(given["kind"]), str(given["unit"])
    return hit(name, kind, given["heads"], rows, unit)  # type: ignore[arg-type]


def computed(subject: str, measures: tuple[str, ...], years: tuple[int, ...], *hits: Hit) -> str:
    asked = Understanding(subject, subject, form="figure", years=years, measures=measures)
    return compute_answer(
        Prompt(subject, subject, {f"S{n}-7f3a": one for n, one in enumerate(hits, 1)}, (), (), (), "7f3a"),
        asked,
    )


def test_a_word_that_makes_the_measure_narrower_is_left_to_passages() -> None:
    page = made([("Total revenue", ["2,000", "1,600"]), ("Cloud revenue", ["500", "400"])])
    assert computed("total revenue in 2024", ("revenue",), (2024,), page) != ""
    assert computed("cloud revenue in 2024", ("revenue",), (2024,), page) == ""
    assert computed("revenue in the second quarter of 2024", ("revenue",), (2024,), page) == ""


def test_costs_in_brackets_are_amounts_and_taxes_in_brackets_are_not_guessed() -> None:
    page = made(
        [
            ("Operating income", ["100", "90"]),
            ("Interest expense", ["(25)", "(20)"]),
            ("Income taxes", ["(20)", "5"]),
            ("Income before taxes", ["80", "70"]),
        ]
    )
    assert ": 100 / 25 = 4.00" in computed("interest coverage 2024", ("interest coverage",), (2024,), page)
    assert computed("effective tax rate 2024", ("effective tax rate",), (2024,), page) == ""


def test_operands_of_two_documents_are_never_mixed() -> None:
    first = made([("Net income", ["200", "150"])])
    second = replace(made([("Total revenue", ["1,000", "900"])], name="another"), version=2)
    assert computed("net margin 2024", ("net margin",), (2024,), first, second) == ""


def test_a_column_that_may_be_meant_twice_is_not_chosen() -> None:
    assert (
        computed(
            "revenue 2024", ("revenue",), (2024,), made([("Revenue", ["1", "2"])], heads=("2024", "2024"))
        )
        == ""
    )
    text = computed(
        "revenue 2024",
        ("revenue",),
        (2024,),
        made([("Revenue", ["1", "2"])], heads=("Three months 2024", "Year 2024")),
    )
    assert "Year 2024: 2" in text
    assert (
        computed(
            "revenue 2023",
            ("revenue",),
            (2023,),
            made([("Revenue", ["20", "2"])], heads=("2024 vs 2023", "2022")),
        )
        == ""
    )


def sectioned(rows: list[tuple[str, list[str]]], section: str, **others: object) -> Hit:
    page = made(rows, **others)
    table = page.tables[0]
    return replace(
        page,
        page_text=f"{section}\n{page.page_text}",
        tables=(replace(table, rows=tuple(replace(row, section=section) for row in table.rows)),),
    )


@pytest.mark.parametrize("section", ["(Percent of GDP)", "Fiscal sector > In per cent of GDP"])
def test_a_rate_changes_in_points_whatever_says_that_it_is_one(section: str) -> None:
    page = sectioned([("Public debt", ["65.0", "68.4"])], section, kind="forecast", unit="")
    text = computed("change in public debt 2023 to 2024", ("public debt",), (2023, 2024), page)
    unit = section.rpartition(" > ")[2].strip("()").replace("In", "in")
    assert (
        text.split("\n\n")[0]
        == f"Public debt fell from 68.4 (2023) to 65.0 (2024), {unit}: 65.0 - 68.4 = -3.4 percentage points."
    )
    assert f"(2024: 65.0, {unit})" in computed("public debt 2024", ("public debt",), (2024,), page)
    for rows, unit in ((["65.0", "68.4"], "(percent)"), (["65.0%", "68.4%"], "")):
        page = made([("Public debt", rows)], kind="forecast", unit=unit)
        assert "= -3.4 percentage points." in computed(
            "change in public debt 2023 to 2024", ("public debt",), (2023, 2024), page
        )
    page = made([("Public debt (% of GDP)", ["65.0", "68.4"])], kind="forecast")
    assert "(2024): 65.0 - 68.4 = -3.4 percentage points." in computed(
        "change in public debt 2023 to 2024", ("public debt",), (2023, 2024), page
    )


def test_an_amount_among_rates_is_an_amount() -> None:
    page = sectioned(
        [("Public debt", ["650", "640"])], "(Millions of dollars)", kind="forecast", unit="(percent of GDP)"
    )
    assert "(2024), Millions of dollars: 650 - 640 = 10; 100" in computed(
        "change in public debt", ("public debt",), (2023, 2024), page
    )
    page = made([("Public debt, 5% notes", ["650", "640"])], kind="forecast")
    assert "percentage points" not in computed("change in public debt", ("public debt",), (2023, 2024), page)


def test_a_change_has_the_decimals_of_its_operands_and_a_balance_its_rows_name() -> None:
    page = made([("Overall balance", ["-2.9", "-3.7"])], kind="budget_summary", unit="(billions)")
    text = computed("change in the fiscal deficit 2023 to 2024", ("fiscal deficit",), (2023, 2024), page)
    assert text.startswith(
        "Overall balance rose from -3.7 (2023) to -2.9 (2024), billions: (-2.9) - (-3.7) = 0.8."
    )


DEBT = [
    ("Current portion of long-term debt", ["44", "395"]),
    ("Notes payable", ["9", "8"]),
    ("Long-term debt", ["1,321", "1,339"]),
    ("Total equity", ["2,748", "1"]),
]


def test_total_debt_is_all_of_its_parts() -> None:
    page = made(DEBT, kind="balance_sheet")
    assert "Total debt (2024) was 1,374, in millions: 1,321 + 44 + 9 = 1,374." in computed(
        "total debt 2024", ("total debt",), (2024,), page
    )
    assert "Debt to equity (2024) was 0.50: (1,321 + 44 + 9) / 2,748 = 0.50." in computed(
        "debt to equity 2024", ("debt to equity",), (2024,), page
    )
    printed = made([*DEBT, ("Total debt", ["1,400", "1"])], kind="balance_sheet")
    assert computed("total debt 2024", ("total debt",), (2024,), printed).endswith(
        "(2024: 1,400, in millions) [S1-7f3a]"
    )


@pytest.mark.parametrize(
    "rows",
    [
        DEBT[:2] + DEBT[3:],
        DEBT[2:],
        [*DEBT, ("Bank overdrafts", ["7", "1"])],
        [DEBT[1], DEBT[3], ("Borrowings", ["90", "80"])],
    ],
)
def test_a_part_of_the_debt_is_not_the_total(rows: list[tuple[str, list[str]]]) -> None:
    page = made(rows, kind="balance_sheet")
    assert computed("total debt 2024", ("total debt",), (2024,), page) == ""
    assert computed("debt to equity 2024", ("debt to equity",), (2024,), page) == ""


def test_another_statements_row_is_not_taken() -> None:
    flows = made([("Accounts receivable", ["(274)", "48"])], kind="cash_flow_statement")
    assert computed("accounts receivable 2024", ("accounts receivable",), (2024,), flows) == ""


def test_keys_that_a_table_prints_stay_inert() -> None:
    text = computed(
        "revenue growth 2023 to 2024",
        ("revenue",),
        (2023, 2024),
        made([("Revenue [S9]", ["2", "1"])], unit="(in millions) [S2]"),
    )
    assert text.count("[S") == text.count("[S1-7f3a]") > 0


def test_one_row_is_never_two_measures() -> None:
    page = made([("Income before income taxes", ["6,008", "5,705"])])
    assert computed("effective tax rate 2024", ("effective tax rate",), (2024,), page) == ""


@pytest.mark.parametrize(
    ("section", "label", "head", "unit", "expected"),
    [
        ("", "Lending spread (basis points)", "2024", "(in millions)", "(basis points)"),
        ("Spreads (basis points)", "Lending", "2024", "(in millions)", "Spreads (basis points)"),
        ("", "Lending", "Change > Percentage points", "(in millions)", "Percentage points"),
        ("", "Lending", "2024", "(in millions)", "(in millions)"),
    ],
)
def test_what_stands_nearest_to_a_cell_gives_its_unit(
    section: str, label: str, head: str, unit: str, expected: str
) -> None:
    row = Row(label, (), section, 0, 0)
    found = stated_unit(Table("Loans (thousands)", unit, (head,), (row,), Rect(0, 0, 1, 1)), row, 0)
    assert found.strip("()") == expected.strip("()")


def test_a_question_that_spells_its_ratio_out_asks_for_nothing_narrower() -> None:
    flows = hit(
        "flows",
        "cash_flow_statement",
        ("2024", "2023"),
        [
            ("Cash generated by operating activities", ["900", "800"]),
            ("Payments for acquisition of property, plant and equipment", ["(250)", "(200)"]),
        ],
    )
    text = computed(
        "operating cash flow less payments for plant in 2024", ("free cash flow",), (2024,), flows
    )
    assert text.startswith("Free cash flow (2024) was 650, in millions: 900 - 250 = 650")


def test_a_balance_at_the_years_end_is_not_averaged() -> None:
    income = hit("income", "income_statement", ("2024", "2023"), [("Total revenue", ["3,650", "3,000"])])
    balance = hit(
        "balance", "balance_sheet", ("2024", "2023"), [("Receivables, less allowances of $5", ["500", "300"])]
    )
    measures = ("days sales outstanding", "accounts receivable", "revenue")
    assert "365 × 500 / 3,650 = 50.00 days" in computed(
        "days of sales in year-end receivables in 2024", measures, (2024,), income, balance
    )
    assert "= 40.00 days" in computed(
        "days of sales in receivables in 2024", measures, (2024,), income, balance
    )


def test_other_revenue_is_not_the_revenue() -> None:
    page = made(
        [("Sales to members", ["90", "80"]), ("Other revenue", ["7", "6"]), ("Total revenue", ["97", "86"])],
        kind="income_statement",
    )
    assert computed("revenue 2024", ("revenue",), (2024,), page).startswith("Total revenue was 97")
    assert computed("What was other revenue in 2024?", ("revenue",), (2024,), page).startswith(
        "Other revenue was 7"
    )
    alone = made([("Other revenue", ["7", "6"])], kind="income_statement")
    assert computed("revenue 2024", ("revenue",), (2024,), alone) == ""


@pytest.mark.parametrize(
    ("question", "begins"),
    [
        ("Did net income increase in 2024?", "Yes. Net income rose from 150 (2023) to 200 (2024)"),
        ("Was net income lower in 2024 than in 2023?", "No. Net income rose from 150"),
        ("Was net income higher in 2023 than in 2024?", "No. Net income rose from 150"),
        ("Did net income rise by more than 40% in 2024?", "No. Net income rose from 150"),
        ("Did net income rise by at least 30% in 2024?", "Yes. Net income rose from 150"),
        ("Is net income above $180 million in 2024?", "Yes. Net income was 200 million (2024)."),
        ("Is net income above 180 in 2024?", "Net income was 200 million (2024)."),  # 180 of what?
        ("Is net income above 180 billion euros in 2024?", "No. Net income was 200 million (2024)."),
        ("Did net income not increase in 2024?", "Net income rose from 150"),
    ],
)
def test_yes_or_no_stands_before_the_figures_that_decide_it(question: str, begins: str) -> None:
    page = made([("Net income", ["200", "150"])], kind="income_statement", unit="(in millions)")
    text = computed(question, ("net income",), (2023, 2024) if "2023" in question else (2024,), page)
    assert text.startswith(begins)


def test_a_sentence_says_whose_a_figure_is() -> None:
    page = made([("Net income", ["200", "150"])], kind="income_statement", unit="(in millions)")
    prompt = Prompt("q", "q", {"S1-7f3a": page}, (), (), (), "7f3a")
    asked = Understanding(
        "q", "net income of Tern", "figure", (2024,), measures=("net income",), whose="Tern"
    )
    assert compute_answer(prompt, asked).startswith("Tern's net income was 200 million (2024).")


def test_what_pages_put_before_a_measure_makes_it_narrower() -> None:
    page = made([("Net sales", ["200", "150"])])
    page = replace(page, page_text=f"{page.page_text}Tablet net sales fell in both years.")
    assert computed("Were tablet sales lower in 2024?", ("revenue",), (2024,), page) == ""
    assert computed("Were sales lower in 2024?", ("revenue",), (2024,), page).startswith("No. Net sales rose")


def test_over_the_years_all_of_the_row_is_said() -> None:
    page = made([("Net sales", ["200", "150", "120"])], heads=("2024", "2023", "2022"))
    text = computed("How did net sales develop over the years?", ("revenue",), (), page)
    assert text.startswith(
        "Net sales were 200 million (2024); 150 million (2023); and 120 million (2022). [S1-7f3a]"
    )


def test_diluted_is_not_basic() -> None:
    page = made([("Earnings per share, basic", ["2.80", "2.10"])])
    assert computed("diluted EPS 2024", ("earnings per share",), (2024,), page) == ""
    assert "2.80" in computed("basic EPS 2024", ("earnings per share",), (2024,), page)


def test_payments_in_brackets_are_compared_as_amounts() -> None:
    page = made([("Capital expenditures", ["(6,174)", "(6,763)"])], kind="cash_flow_statement")
    text = computed("Did capex go up in 2024?", ("capital expenditure",), (2024,), page)
    assert text.startswith(
        "No. Capital expenditures fell from 6,763 (2023) to 6,174 (2024), in millions: 6,174 - 6,763 = -589"
    )


def test_a_quarter_is_not_set_against_a_year() -> None:
    page = made([("Net sales", ["210", "50"])], heads=("2024", "Q4 2023"))
    assert "rose" not in computed("Did sales rise in 2024?", ("revenue",), (2024,), page)


def test_what_else_is_asked_of_a_figure_leaves_yes_or_no_open() -> None:
    page = made([("Net sales", ["200", "150"])])
    assert computed("Did foreign sales rise in 2024?", ("revenue",), (2024,), page).startswith(
        "Net sales rose from 150"
    )


def test_total_other_assets_are_not_total_assets() -> None:
    page = made([("Total other assets", ["8", "7"]), ("Total assets", ["50", "53"])], kind="balance_sheet")
    assert computed("Were total assets lower in 2024?", ("total assets",), (2024,), page).startswith(
        "Yes. Total assets fell from 53 (2023) to 50 (2024)"
    )


def test_a_fiscal_year_over_two_is_named_as_its_head_has_it() -> None:
    page = made([("Net sales", ["58", "49"])], heads=("2006-07 Estimate", "2005-06 Budget"))
    assert "rose from 49 (2005-06) to 58 (2006-07)" in computed(
        "change in net sales", ("revenue",), (2006, 2007), page
    )
