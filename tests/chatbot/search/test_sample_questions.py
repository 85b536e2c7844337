"""Example questions come from rows that can be asked about, newest year first, one document after the
other.
"""

from __future__ import annotations

import pytest

from chatbot.search.sample_questions import (
    Example,
    candidates,
    in_turn,
    shared_question,
    spoken_candidates,
    spoken_of,
)
from ingestion.records import Cell, Rect, Row, Table


def table(
    *rows: tuple[str, list[str | None]],
    heads: tuple[str, ...] = ("2023-24 outturn", "2024-25 revised", "2025-26 budget"),
) -> Table:
    read = []
    for label, texts in rows:
        cells = [None if text is None else Cell(text, 0, 1) for text in texts]
        read.append(Row(label, tuple(cells), "", 0, 1))
    return Table("Table 1", "", heads, tuple(read), Rect(0, 0, 1, 1))


def asked(*tables: Table) -> list[str]:
    return [one.question for one in candidates("Budget.pdf", {4: tables})]


def row(label: str, *texts: str | None) -> tuple[str, list[str | None]]:
    return label, list(texts or ("1", "2", "3"))


def test_a_row_is_asked_about_in_the_newest_year() -> None:
    taxes = table(row("Tax revenue"))
    (found,) = candidates("Budget.pdf", {7: [taxes]})
    assert found == Example("What figure is given for tax revenue in 2025-26?", "Budget.pdf", 7)


def test_names_keep_their_capitals() -> None:
    growth, science = asked(table(row("Real GDP growth"), row("Education and Science")))
    assert growth == "What figure is given for Real GDP growth in 2025-26?"
    assert science == "What figure is given for Education and Science in 2025-26?"


LEANING = """
Total
Other taxes
of which: interest
Less: refunds
Tax
<b>bold row</b>
Rate of 5 per cent
All ministries
Second quarter
January to March
""".strip().split("\n")
LEANING += ["x" * 300]


@pytest.mark.parametrize("label", LEANING)
def test_rows_that_lean_on_others_are_left_out(label: str) -> None:
    assert asked(table(row(label))) == []


@pytest.mark.parametrize("cell", [None, "–", "n.a.", "suspended"])
def test_a_cell_must_hold_a_figure(cell: str | None) -> None:
    taxes = row("Tax revenue", "1", "2", cell)
    assert asked(table(taxes)) == []


def test_tables_without_years_or_with_several_in_a_head_give_none() -> None:
    without = table(row("Tax revenue", "1", "2"), heads=("Amount", "Share"))
    several = table(row("Tax revenue", "1"), heads=("2024 to 2025",))
    assert asked(without) == []
    assert asked(several) == []


def test_two_questions_of_a_table_at_most() -> None:
    taxes = table(row("Tax revenue"), row("Stamp duty"), row("Carbon levy"))
    assert len(asked(taxes)) == 2


def test_documents_take_turns_and_no_question_comes_twice() -> None:
    of_first = [Example("a?", "A.pdf", 1), Example("b?", "A.pdf", 2), Example("c?", "A.pdf", 3)]
    of_second = [Example("a?", "B.pdf", 1), Example("d?", "B.pdf", 1)]
    questions = [one.question for one in in_turn([of_first, of_second, []])]
    assert questions == ["a?", "b?", "d?", "c?"]


def test_what_sentences_give_figures_for_is_asked_where_no_table_does() -> None:
    third = "Inflation fell to 2.1 per cent. The policy rate is 4.5 per cent; unemployment was discussed."
    fifth = (
        "Inflation is expected at 2.0% next year. A levy raises 3 million. The policy rate stays at 4.5 per "
        "cent."
    )
    sixth = "Inflation of 3 per cent came as no surprise. Unemployment stood at 5 per cent."
    spoken = spoken_of([(3, third), (5, fifth), (6, sixth)])
    assert spoken == {"inflation": (3, 3), "policy rate": (2, 3)}, "unemployment is given once"
    inflation, rate = spoken_candidates("Report.pdf", spoken)
    assert inflation == Example("What is said about inflation?", "Report.pdf", 0)
    assert rate == Example("What is said about the policy rate?", "Report.pdf", 0)


def test_a_question_to_several_documents_is_of_what_most_give_figures_for() -> None:
    both = {"inflation": (2, 1), "policy rate": (9, 1)}
    spoken = {"A.pdf": both, "B.pdf": {"inflation": (2, 1)}, "C.pdf": {"inflation": (5, 2)}, "D.pdf": {}}
    question, documents = shared_question(spoken)
    assert question == "What figure is given for inflation?"
    assert documents == ("A.pdf", "B.pdf", "C.pdf")
    assert shared_question({"A.pdf": both, "D.pdf": {}}) == ("", ())
    assert shared_question({}) == ("", ())
