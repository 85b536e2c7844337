"""Number checks against tables whose heads are known: row, column, period, scale and sign, and what is no
error though it looks like one.
"""

from __future__ import annotations

import pytest

from chatbot.answer.citations.citation_spans import check_answer
from chatbot.records import Hit, NumberCheck, Prompt
from ingestion.records import Cell, Rect, Row, Table
from tests.timing import growth

BOX = Rect(0, 0, 1, 1)


Lines = list[tuple[str, str, tuple[str, ...]]]


def page_of(
    tables: list[tuple[str, str, tuple[str, ...], Lines]], prose: str = ""
) -> tuple[str, tuple[Table, ...]]:
    """(page text, its tables) of (caption, unit, heads, [(section, label, cells)]); each row is a line of
    the text.
    """
    text, made = f"{prose}\n" if prose else "", []
    for caption, unit, heads, lines in tables:
        text += f"{caption}\n{unit}\n{' '.join(heads)}\n"
        rows = []
        for section, label, cells in lines:
            start, found = len(text), []
            text += label
            for cell in cells:
                text += " "
                found.append(Cell(cell, len(text), len(text) + len(cell)) if cell else None)
                text += cell
            rows.append(Row(label, tuple(found), section, start, len(text)))
            text += "\n"
        made.append(Table(caption, unit, heads, tuple(rows), BOX))
    return text, tuple(made)


ACCOUNTS: tuple[str, str, tuple[str, ...], Lines] = (
    "Consolidated balance sheet",
    "(in millions, except per share)",
    ("December 31, 2018", "December 31, 2017", "% Change"),
    [
        ("Assets", "Total current assets", ("9,120", "8,450", "7.9%")),
        ("Assets", "Total assets", ("59,268", "55,556", "6.7%")),
        ("Assets", "Level 3 assets", ("440", "310", "41.9%")),
        ("Liabilities", "Accounts payable", ("4,812", "5,140", "(6.4)%")),
        ("", "Net income (loss)", ("(1,431)", "346", "")),
        ("", "Purchases of property, plant and equipment", ("(1,577)", "(1,373)", "14.9%")),
        ("", "Earnings per share", ("3.25", "2.98", "9.1%")),
        ("", "737 MAX 8", ("120", "74", "62.2%")),
    ],
)
BORROWING: tuple[str, str, tuple[str, ...], Lines] = (
    "Borrowing plan, crowns million",
    "",
    ("Domestic > General grant", "Domestic > Equalisation grant", "Abroad"),
    [("", "Northern region", ("450", "300", "75")), ("", "Southern region", ("1,200", "640", "90"))],
)
PROSE = "Revenue of the northern branch grew by 16 per cent in 2018, and 77 branches were closed over 2017."
TEXT, TABLES = page_of([ACCOUNTS, BORROWING], PROSE)


def prompt(question: str = "What does the report say?", tables: tuple[Table, ...] = TABLES) -> Prompt:
    hit = Hit(
        "accounts.pdf",
        1,
        4,
        "4",
        "printed",
        "text",
        None,
        "1:4",
        text=TEXT[:50],
        page_text=TEXT,
        tables=tables,
    )
    return Prompt(question, question, {"S1-7f3a": hit}, (), (), (), "7f3a")


def checks(answer: str, question: str = "What does the report say?") -> tuple[NumberCheck, ...]:
    return check_answer(f"{answer} [S1-7f3a]", prompt(question))[2]


def statuses(answer: str, question: str = "What does the report say?") -> list[str]:
    return [check.status for check in checks(answer, question)]


@pytest.mark.parametrize(
    "answer",
    [
        "Total assets were $59,268 million in 2018.",
        "In 2017, total assets came to 55,556 million.",
        "Total assets: 59,268 (2018)",
        "Total assets rose from $55,556 million in 2017 to $59,268 million in 2018.",
        "Total assets were 59,268 and 55,556 in 2018 and 2017, respectively.",
        "Total assets were about $59 billion in 2018.",
        "Total current assets stood at $9.12 billion at the end of 2018.",
        "Total assets were $59.3 billion in 2018, up from $56bn in 2017.",
        "Capex was $1,577 million in 2018.",
        "It spent $1,373 million on equipment in 2017.",
        "The company made a net loss of $1,431 million in 2018.",
        "Earnings per share were $3.25 in 2018.",
        "Total assets grew by 6.7% in 2018.",
        "Level 3 assets were 440 million in 2018.",
        "The Northern region gets a general grant of 450 million crowns.",
        "Equalisation grant, Southern region: 640 million",
        "(Domestic > General grant: 1,200; Domestic > Equalisation grant: 640; Abroad: 90): Southern region",
        "Revenue of the northern branch grew by 16 per cent in 2018.",
        "77 branches were closed.",
        (
            "The sum follows from assets, accounts payable of $4,812 million plus total current assets of "
            "$9,120 million in 2018."
        ),
    ],
)
def test_true_statements_are_supported(answer: str) -> None:
    assert set(statuses(answer)) == {"supported"}


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        # row
        ("Total current assets were $59,268 million in 2018.", "the row “Total current assets” has 9,120"),
        ("Total assets were $9,120 million in 2018.", "the row “Total assets” has 59,268"),
        (
            "It is accounts payable of $9,120 million plus total current assets of $4,812 million in 2018.",
            "the row “Accounts payable” has 4,812",
        ),
        ("Accounts payable came to 440 million in 2018.", "the row “Accounts payable” has 4,812"),
        ("Wages came to 4,812 million in 2018.", "which the answer does not name"),
        # period
        ("Total assets were $59,268 million in 2017.", "not of 2017; column “December 31, 2017” has 55,556"),
        ("Total assets rose from $59,268 million in 2017 to $55,556 million in 2018.", "not of 2017"),
        ("Total assets were 55,556 and 59,268 in 2018 and 2017, respectively.", "not of 2018"),
        (
            "Revenue of the northern branch grew by 16 per cent in 2015.",
            "its sentence speaks of 2018, not of 2015",
        ),
        # column
        (
            "Equalisation grant, Southern region: 1,200 million",
            "column “Domestic > Equalisation grant” has 640",
        ),
        (
            "The Northern region gets a general grant of 75 million crowns.",
            "column “Domestic > General grant” has 450",
        ),
        ("Total assets came to 6.7% in 2018.", "column “December 31, 2018” has 59,268"),
        # rounded
        ("Total assets were $9.1 billion in 2018.", "the row “Total assets” has 59,268"),
        ("Total assets were $59.3 billion in 2017.", "not of 2017"),
        # scale, kind
        ("Total assets were $59,268 billion in 2018.", "under another scale, unit or kind"),
        ("Total assets grew by 6.7 percentage points in 2018.", "under another scale, unit or kind"),
        ("Earnings per share were 3.25 million in 2018.", "under another scale, unit or kind"),
    ],
)
def test_the_value_alone_is_present_elsewhere(answer: str, why: str) -> None:
    check = checks(answer)[0]
    assert (check.status, check.citation) == ("present_elsewhere", "S1")
    assert why in (check.reason or "")


@pytest.mark.parametrize(
    "answer",
    [
        "Net income (loss) was 1,431 million in 2018.",
        "Total assets were -59,268 million in 2018.",
        "Total assets were 59,286 million in 2018.",
        "Accounts payable came to -4,812 million in 2018.",
    ],
)
def test_wrong_signs_and_digits_are_unsupported(answer: str) -> None:
    assert statuses(answer) == ["unsupported"]


def test_a_row_read_out_is_held_to_its_order() -> None:
    heads = "December 31, 2018 December 31, 2017 % Change: "
    assert set(statuses(f"{heads}Total assets 59,268 55,556 6.7%")) == {"supported"}
    assert statuses(f"{heads}Total assets 55,556 59,268 6.7%") == [
        "present_elsewhere",
        "present_elsewhere",
        "supported",
    ]
    assert set(statuses(f"{heads}Accounts payable 59,268 55,556 6.7%")) & {
        "contradicted",
        "present_elsewhere",
    }


def test_figures_that_belong_to_names_are_no_amounts() -> None:
    assert set(statuses("737 MAX 8 120 74 62.2%")) == {"supported"}
    assert set(statuses("Level 3 assets 440 310 41.9%")) == {"supported"}
    assert set(statuses("Orders for the 737 MAX 8 were 120 in 2018.")) == {"supported"}


def test_the_question_says_what_the_answer_leaves_out() -> None:
    assert statuses("It was $59,268 million.", "What were total assets in 2018?") == ["supported"]
    assert statuses("It was $59,268 million.", "What were total assets in 2017?") == ["present_elsewhere"]
    assert statuses("It was $59,268 million.", "What was accounts payable in 2018?") == ["present_elsewhere"]


def test_a_check_says_where_and_of_which_period() -> None:
    (check,) = checks("Total assets were $59,268 million.")
    assert (check.period, check.reason) == (
        "2018",
        "stands in row “Total assets”, column “December 31, 2018”",
    )
    assert checks("It was $55,556 million.", "What were total assets in 2017?")[0].period == "2017"
    assert checks("Total assets were $59,286 million.")[0].reason


def test_without_known_tables_the_value_in_its_words_is_enough() -> None:
    answer = "Total current assets were $59,268 million in 2018 [S1-7f3a]"
    assert [check.status for check in check_answer(answer, prompt(tables=()))[2]] == ["supported"]


@pytest.mark.parametrize(
    ("scale", "status"),
    [("million", "supported"), ("billion", "present_elsewhere"), ("thousand", "present_elsewhere")],
)
def test_two_cells_side_by_side_are_no_figure_together(scale: str, status: str) -> None:
    lines: Lines = [("", "Furniture and fixtures", ("145", "150")), ("", "Computers", ("310", "290"))]
    text, tables = page_of([("Property and equipment", "(in millions)", ("2022", "2021"), lines)])
    hit = Hit(
        "property.pdf", 1, 1, None, None, "text", None, "1:1", text=text[:50], page_text=text, tables=tables
    )
    prompt_ = Prompt("?", "?", {"S1-7f3a": hit}, (), (), (), "7f3a")
    said = f"Furniture and fixtures was 150 {scale} in 2021 [S1-7f3a]."
    assert [check.status for check in check_answer(said, prompt_)[2]] == [
        status
    ]  # not 145,150 million, rounded


def test_tables_of_one_figure_take_no_more_than_their_size() -> None:
    lines: Lines = [("", "Total", ("0",) * 12)] * 300
    text, tables = page_of([("Noughts", "", tuple(f"Part {letter}" for letter in "abcdefghijkl"), lines)])
    hit = Hit(
        "noughts.pdf", 1, 1, None, None, "text", None, "1:1", text=text[:50], page_text=text, tables=tables
    )
    check_answer(
        "Total 0 of part b. " * 100 + "[S1-7f3a]", Prompt("?", "?", {"S1-7f3a": hit}, (), (), (), "7f3a")
    )  # the suite's limit asserts


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


def statuses_in_prose(answer: str, page: str = SENTENCES) -> set[str]:
    hit = Hit("report.pdf", 1, 4, "4", "printed", "text", None, "1:4", text=page[:50], page_text=page)
    return {
        check.status
        for check in check_answer(
            f"{answer} [S1-7f3a].", Prompt("?", "?", {"S1-7f3a": hit}, (), (), (), "7f3a")
        )[2]
    }


@pytest.mark.parametrize(
    "answer",
    [
        "Net debt was -40 million marks in 2022",
        "The balance was a deficit of 2.1 percent of GDP in 2022",
        "The old age grant is R2,315 and the disability grant R560 a month",
        "There are 9,300 health workers",
        "Wages are no more than 55 million marks",
        "Bonds outstanding fell from $48.6 million in 2023 to $45.1 million in 2024",
        "In 2024, bonds outstanding fell from $48.6 million to $45.1 million",
        "Growth fell to 4.5 per cent in 2022 from 5.5 per cent in 2021",
        (
            "The current account moved from a deficit of 5.0 billion marks in 2022 to a surplus of 2.0 "
            "billion marks in 2023"
        ),
        "The loss was 4 million in 2021, the profit 6 million in 2022",
        "The deficit was 8.5 billion in 2022",
        "Exports increased by 7.1 percent, and imports saw a 3.2 percent decline",
        "Output was 990 million in 2022",
        "Grants were 33 million in 2022",
        "Aid was 77 million in 2023",
        "Debt was 60.3 percent of GDP at 31 January 2023",
        "The allocation to each district rises to K36.1 million in 2023",
    ],
)
def test_what_sentences_say_in_other_words_is_supported(answer: str) -> None:
    assert statuses_in_prose(answer) == {"supported"}


@pytest.mark.parametrize(
    "answer",
    [
        "Net debt was 40 million marks in 2022",
        "The balance was a surplus of 2.1 percent of GDP in 2022",
        "The disability grant is R999 a month",
        "There are 300 health workers",
        "Spending on prisons was 50 million marks in 2022",
        "Wages are not 55 million marks",
        "Bonds outstanding were $45.1 million at 30 June 2023",
        "Growth was 4.5 per cent in 2021",
        "The current account was a surplus of 5.0 billion marks in 2022",
        "The profit was 4 million in 2021",
        "Exports fell by 7.1 percent in 2022",
        "There was a 3.2 percent increase in imports",
        "The allocation to each district was K30.6 million in 2021",
        "The growth of exports to the islands stood at 6.4 per cent in 2023",
    ],
)
def test_the_opposite_or_another_period_of_what_sentences_say_is_not(answer: str) -> None:
    assert "supported" not in statuses_in_prose(answer)


def test_a_letter_that_only_the_answer_shows_to_be_a_currency_is_one_on_the_page() -> None:
    page = "Monthly grants\nOld age R620\nTop-up R130\n"
    assert statuses_in_prose("The top-up is R130 a month", page) == {"supported"}
    assert statuses_in_prose("The top-up is R131 a month", page) == {"unsupported"}


DEBT: tuple[str, str, tuple[str, ...], Lines] = (
    "Statement of change in net debt",
    "(in thousands)",
    ("2024", "2023", "Population (mln)"),
    [
        ("", "Annual surplus", ("27,320", "16,765", "")),
        ("", "Change in net debt", ("4,210", "5,686", "")),
        ("", "Debentures due 2023", ("64", "63", "")),
        ("", "Total equity", ("18,078", "18,705", "")),
        ("", "Total liabilities and equity", ("59,268", "55,556", "")),
        ("", "Northland", ("410", "400", "5.2")),
    ],
)


def statuses_of_debt(answer: str) -> list[str]:
    text, tables = page_of([DEBT])
    hit = Hit(
        "debt.pdf", 1, 4, "4", "printed", "text", None, "1:4", text=text[:50], page_text=text, tables=tables
    )
    return [
        check.status
        for check in check_answer(
            f"{answer} [S1-7f3a].", Prompt("?", "?", {"S1-7f3a": hit}, (), (), (), "7f3a")
        )[2]
    ]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Northland has 5.2 million people", "supported"),  # the column's own scale goes before the table's
        ("Northland has 5.2 thousand people", "present_elsewhere"),
        ("In 2024, debentures due 2023 were 64 thousand", "supported"),
        (
            "In 2024, debentures due 2023 were 63 thousand",
            "present_elsewhere",
        ),  # the year of a name is not the figure's
        (
            "The annual surplus was $27,320 thousand in 2024, up from $16,765 thousand a year earlier",
            "supported",
        ),
        (
            "The annual surplus was $27,320 thousand in 2024, up from $16,765 thousand at December 31, 2023",
            "supported",
        ),
        (
            "Statement of change in net debt: Annual surplus 27,320 16,765 (2023: 16,765 thousand)",
            "supported",
        ),  # its title names another row
        (
            "Statement of change in net debt: Annual surplus 27,320 16,765 (2023: 5,686 thousand)",
            "present_elsewhere",
        ),
        ("TOTAL EQUITY 18,078", "supported"),
        ("Total liabilities and total equity: TOTAL EQUITY 18,078 in 2024", "supported"),
    ],
)
def test_a_figure_has_the_scale_row_and_period_of_its_own_cell(answer: str, expected: str) -> None:
    assert statuses_of_debt(answer)[-1] == expected


PERIODS = """The tax rate for 2021 was 23.1% compared to 23.4% for 2020. Growth is projected at 2.3 percent \
in 2024
compared to 5.4 percent recorded in 2023. In 2025, growth is projected at 3.3 percent in the plan. Charges \
rose by $385 million or 7% in 2016."""


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("In 2021, the tax rate was 23.1%", "supported"),
        (
            "In 2020, the tax rate was 23.1%",
            "present_elsewhere",
        ),  # its sentence speaks of both years, and ties it to one
        ("Growth slowed to 2.3 percent in 2024 from 5.4 percent in 2023", "supported"),
        ("Charges rose by $385 million, or 7%, in 2016", "supported"),
    ],
)
def test_a_figure_of_a_sentence_has_the_period_it_is_tied_to(answer: str, expected: str) -> None:
    assert statuses_in_prose(answer, PERIODS) == {expected}


def test_brackets_of_an_aside_are_no_minus() -> None:
    page = "Abstentions 59,530 (0.13%) of the votes. Net change (634) in all."
    assert statuses_in_prose("There were 59,530 abstentions (0.13%)", page) == {"supported"}


def test_money_without_the_scale_of_its_table_is_doubted_for_that_and_contradicts_nothing() -> None:
    (check,) = checks("Accounts payable came to $4,812 in 2018.")
    assert (check.status, check.reason) == (
        "present_elsewhere",
        "the page has it in millions, which the answer does not say",
    )


YEARS: tuple[str, str, tuple[str, ...], Lines] = (
    "Accounts",
    "(in millions)",
    ("2018", "2017"),
    [("", "Revenue", ("12", "10")), ("", "Other revenue", ("15", "14"))],
)


def checks_of(answer: str, table: tuple[str, str, tuple[str, ...], Lines] = YEARS) -> list[NumberCheck]:
    text, tables = page_of([table])
    hit = Hit(
        "table.pdf", 1, 4, "4", "printed", "text", None, "1:4", text=text[:50], page_text=text, tables=tables
    )
    return list(
        check_answer(f"{answer} [S1-7f3a].", Prompt("?", "?", {"S1-7f3a": hit}, (), (), (), "7f3a"))[2]
    )


def test_a_year_earlier_is_said_of_the_last_figure_alone() -> None:
    first, _ = checks_of("Revenue was 10 million in 2018 against 12 million a year earlier")
    assert first.status == "present_elsewhere"
    first, _ = checks_of("Revenue was 10 in 2018 against 12 a year earlier")
    assert first.status == "present_elsewhere"
    assert [
        check.status
        for check in checks_of("Revenue was 12 million in 2018 against 10 million a year earlier")
    ] == ["supported"] * 2


STATED = "The total expenditure of the state is expected at {} in the coming year."


@pytest.mark.parametrize(
    ("page", "answer", "expected"),
    [
        ("4,500 crowns", "450 crowns", "contradicted"),
        ("4,500 crowns", "45,000 crowns", "contradicted"),
        ("4.5 per cent", "45 per cent", "contradicted"),
        ("4,500 million crowns", "450 million crowns", "contradicted"),
        ("4,500 crore", "4,500 lakh", "contradicted"),
        ("4.5 million crowns", "4,500 crowns", "unsupported"),  # it may be in thousands, which are not said
        ("4,500 million crowns", "4,500 crowns", "present_elsewhere"),
    ],
)
def test_noughts_too_many_or_too_few_contradict(page: str, answer: str, expected: str) -> None:
    assert statuses_in_prose(STATED.format(answer).rstrip("."), STATED.format(page)) == {expected}


def test_a_row_without_a_label_is_named_by_its_column() -> None:
    table: tuple[str, str, tuple[str, ...], Lines] = (
        "Accounts",
        "",
        ("2018", "2017"),
        [("", "", ("150", "140")), ("", "Revenue", ("120", "110"))],
    )
    check = checks_of("Revenue 120 110 (2018: 150)", table)[-1]
    assert (check.status, check.reason) == (
        "present_elsewhere",
        "its value stands in column “2018”; another row is read out",
    )


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Other Revenue 12 10 in millions, so other revenue was 12 million", "present_elsewhere"),
        ("Other Revenue 12 10 in millions", "present_elsewhere"),
        ("Revenue 12 10 in millions, so other revenue was 12 million", "present_elsewhere"),
        ("other revenue 15 14 (2017: 14)", "supported"),
        ("REVENUE 12 10 (2017: 10)", "supported"),
        ("The table shows Revenue 12 10 (2017: 10)", "supported"),
    ],
)
def test_a_row_is_read_out_under_its_whole_label_alone(answer: str, expected: str) -> None:
    assert checks_of(answer)[-1].status == expected


@pytest.mark.timed
def test_a_table_read_out_takes_time_in_proportion() -> None:
    lines: Lines = [
        ("", f"Item {'abcdefghij'[at // 20]}{'abcdefghijklmnopqrst'[at % 20]}", ("101", "102"))
        for at in range(200)
    ]

    def read_out(rows: int) -> None:
        said = "; ".join(f"{label} (2018: {cells[0]})" for _, label, cells in lines[:rows])
        assert len(checks_of(said, ("Items", "", ("2018", "2017"), lines))) >= rows

    assert growth(read_out, small=20, large=200) < 4


def test_debits_and_credits_are_no_crores() -> None:
    cash: tuple[str, str, tuple[str, ...], Lines] = (
        "Trial balance",
        "",
        ("Dr", "Cr"),
        [("", "Cash", ("500", "300"))],
    )
    assert checks_of("Cash has a credit of 300 crore", cash)[0].status == "present_elsewhere"
    assert checks_of("Cash has a credit of 300", cash)[0].status == "supported"
    assert (
        checks_of("Cash has a credit of 300 crore", (cash[0], "Amounts, cr", *cash[2:]))[0].status
        == "supported"
    )
