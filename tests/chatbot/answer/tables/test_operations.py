"""Sums by the operation that is asked for, over rows that the question names in its own words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chatbot.answer.tables.operations import asked_operation, by_operation, decided_by
from chatbot.records import Hit, Prompt, Understanding
from ingestion.records import Cell, Rect, Row, Table

HEADS = ("Year ended May 31, > 2019", "Year ended May 31, > 2018", "Year ended May 31, > 2017")
ROWS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("Research and development", "Expenses", ("126", "67", "60")),
    ("Selling costs", "Expenses", ("453", "361", "384")),
    ("Total expenses", "Expenses", ("579", "428", "444")),
    ("Asia Pacific", "Revenue", ("4,100", "3,900", "3,700")),
    ("Total revenue", "Revenue", ("12,629", "10,310", "9,100")),
    ("Net cash used in investing", "", ("(97)", "(20)", "(30)")),
    ("Result of discontinued units", "", ("(5)", "4", "3")),
    ("Dividend yield", "", ("1.7%", "1.5%", "1.6%")),
)


def hit(*, doubled: bool = False, heads: tuple[str, ...] = HEADS) -> Hit:
    text, rows = "Results\n", []
    for label, section, cells in (
        *ROWS,
        *((("Selling costs", "Other", ("1", "2", "3")),) if doubled else ()),
    ):
        begun = len(text)
        found = []
        line = label
        for cell in cells:
            found.append(Cell(cell, begun + len(line) + 1, begun + len(line) + 1 + len(cell)))
            line += f" {cell}"
        text += f"{line}\n"
        rows.append(Row(label, tuple(found), section, begun, begun + len(line)))
    table = Table("Results", "(in millions)", heads, tuple(rows), Rect(0, 0, 1, 1))
    return Hit(
        "Report.pdf",
        1,
        1,
        None,
        None,
        "text",
        None,
        "1:0",
        text=text,
        page_text=text,
        body=text,
        tables=(table,),
    )


def test_actual_figures_are_compared_with_those_that_were_planned() -> None:
    made = hit(heads=("Budget 2019", "Actual 2019", "Actual 2018"))
    question = "By how much did selling costs exceed the 2019 budget?"
    said = by_operation(
        Prompt(question, question, {"S1-7f3a": made}, (), (), (), "7f3a"),
        Understanding(question, question, years=(2019,)),
    )
    assert (
        "Selling costs, Actual 2019 less Budget 2019: 361 - 453 = -92, in millions; 100 × (361 - 453) / "
        "453 = -20.3%."
    ) in said
    # Without a budget nothing is compared with one.
    assert answer(question, 2019) == ""


def answer(question: str, *years: int, doubled: bool = False) -> str:
    prompt = Prompt(question, question, {"S1-7f3a": hit(doubled=doubled)}, (), (), (), "7f3a")
    return by_operation(prompt, Understanding(question, question, years=years))


@pytest.mark.parametrize(
    ("question", "years", "formula"),
    [
        (
            "What was the change in research and development from 2018 to 2019?",
            (2018, 2019),
            "126 - 67 = 59, in millions.",
        ),
        (
            "What is the percentage change in selling costs between 2018 and 2019?",
            (2018, 2019),
            "100 × (453 - 361) / 361 = 25.5%.",
        ),
        ("What is the average of selling costs?", (), "(384 + 361 + 453) / 3 = 399.33, in millions."),
        ("What is the average dividend yield for 2018 and 2019?", (2018, 2019), "(1.5% + 1.7%) / 2 = 1.60%."),
        (
            "What is the sum of research and development in 2018 and 2019?",
            (2018, 2019),
            "67 + 126 = 193, in millions.",
        ),
        ("What is the ratio of selling costs to total expenses in 2019?", (2019,), "453 / 579 = 0.78."),
        (
            "What percentage of total expenses is research and development in 2018?",
            (2018,),
            "100 × 67 / 428 = 15.7%.",
        ),
        (
            "What is the difference between total expenses and selling costs in 2019?",
            (2019,),
            "579 - 453 = 126, in millions.",
        ),
        (
            (
                "By what percentage did net cash used in investing increase from 2018 to 2019, i.e. the "
                "percentage change?"
            ),
            (2018, 2019),
            "= 385.0%.",
        ),
        # Of the total of its block, though the question does not call it one, and against the newest year.
        ("What share of expenses were selling costs in 2019?", (2019,), "100 × 453 / 579 = 78.2%."),
        ("How much of revenue came from Asia Pacific in 2018?", (2018,), "100 × 3,900 / 10,310 = 37.8%."),
        (
            "Did research and development grow compared with 2017, and by how much?",
            (2017,),
            "126 - 60 = 66, in millions.",
        ),
        (
            "What was the average revenue from Asia Pacific in 2018 and 2019?",
            (2018, 2019),
            "(3,900 + 4,100) / 2 = 4,000",
        ),
    ],
)
def test_the_operation_that_is_asked_for_is_worked_out_and_its_rows_are_cited(
    question: str, years: tuple[int, ...], formula: str
) -> None:
    said = answer(question, *years)
    assert formula in said and said.count("[S1-7f3a]") >= 1


@pytest.mark.parametrize(
    ("question", "years"),
    [
        ("What was the change in marketing from 2018 to 2019?", (2018, 2019)),
        ("What was the change in selling costs from 2015 to 2019?", (2015, 2019)),
        ("What is the average revenue from Europe in 2018 and 2019?", (2018, 2019)),
        # One operation upon another.
        ("What is the change in the average of selling costs between 2018 and 2019?", (2018, 2019)),
        # Of a base on the other side of nought a percentage says nothing.
        (
            "What is the percentage change in the result of discontinued units from 2018 to 2019?",
            (2018, 2019),
        ),
        ("What were selling costs in 2019?", (2019,)),
    ],
)
def test_where_a_row_a_year_or_the_operation_is_in_doubt_nothing_is_worked_out(
    question: str, years: tuple[int, ...]
) -> None:
    assert answer(question, *years) == ""


@pytest.mark.parametrize(
    ("question", "years", "begins"),
    [
        (
            "Did selling costs rise in 2019?",
            (2019,),
            "Yes. Selling costs, Year ended May 31, 2018 to Year ended May 31, 2019: 453 - 361 = 92",
        ),
        ("Were selling costs lower in 2019 than in 2018?", (2018, 2019), "No. Selling costs"),
        ("Did selling costs rise by more than 30% in 2019?", (2019,), "No. Selling costs"),
        (
            "Were total expenses above 500 million in 2019?",
            (2019,),
            "Yes. Total expenses were 579 million (Year ended May 31, 2019). [S1-7f3a]",
        ),
        (
            "Is the dividend yield below 1.6% in 2019?",
            (2019,),
            "No. Dividend yield was 1.7% (Year ended May 31, 2019). [S1-7f3a]",
        ),
    ],
)
def test_yes_or_no_stands_before_what_decides_it(question: str, years: tuple[int, ...], begins: str) -> None:
    assert answer(question, *years).startswith(begins)


def test_a_row_that_says_yes_or_no_must_have_the_question_s_words() -> None:
    made = hit()
    table = made.tables[0]
    asked = Understanding("q", "Were selling costs above 400 million in 2019?", years=(2019,), whose="Tern")
    assert (
        decided_by("S1-7f3a", made, table, table.rows[1], asked)
        == "Yes. Tern's selling costs were 453 million (Year ended May 31, 2019)."
    )
    assert decided_by("S1-7f3a", made, table, table.rows[0], asked) == ""
    assert decided_by("S1-7f3a", made, table, table.rows[1], replace(asked, years=(2012,))) == ""


def test_of_two_rows_that_are_named_alike_none_is_taken() -> None:
    assert answer("What is the average of selling costs?")
    assert answer("What is the average of selling costs?", doubled=True) == ""


def test_a_row_that_another_page_rounds_is_the_same() -> None:
    made, question = hit(), "What was the change in selling costs from 2018 to 2019?"
    table = made.tables[0]
    cells = tuple(replace(cell, text=f"{cell.text}.4") for cell in table.rows[1].cells if cell)
    finer = replace(made, page=2, tables=(replace(table, rows=(replace(table.rows[1], cells=cells),)),))
    other = replace(
        finer, tables=(replace(table, rows=(replace(table.rows[1], cells=table.rows[0].cells),)),)
    )
    asked = Understanding(question, question, years=(2018, 2019))
    for second, there in ((finer, True), (other, False)):
        prompt = Prompt(question, question, {"S1-7f3a": made, "S2-7f3a": second}, (), (), (), "7f3a")
        assert bool(by_operation(prompt, asked)) == there


def test_a_question_that_asks_for_no_operation_has_none() -> None:
    assert asked_operation("Who audits the accounts of water boards?") is None


@pytest.mark.parametrize(
    "heads",
    [
        ("Year ended May 31, 2019", "Three months ended May 31, 2018", "2017"),
        ("2019 budget", "2018 actual", "2017 actual"),
        ("December 31, 2019", "June 30, 2018", "June 30, 2017"),
        ("2019", "Note 2018", "2017"),
    ],
)
def test_columns_of_another_kind_are_not_reckoned_together(heads: tuple[str, ...]) -> None:
    prompt = Prompt("q", "q", {"S1-7f3a": hit(heads=heads)}, (), (), (), "7f3a")
    question = "What was the change in selling costs from 2018 to 2019?"
    assert by_operation(prompt, Understanding(question, question, years=(2018, 2019))) == ""
