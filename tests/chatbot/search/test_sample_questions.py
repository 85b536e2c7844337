"""Example questions read like a person's: of key figures, of rows, of what sentences speak of, of titles."""

from __future__ import annotations

import pytest

from chatbot.comparison.key_figure_records import DocumentFigures, FigurePeriod, KeyFigure
from chatbot.comparison.key_figures import key_figure_sheet
from chatbot.search.sample_questions import (
    Example,
    figure_candidates,
    named,
    row_candidates,
    shared_question,
    spoken_candidates,
    spoken_of,
    summary_candidates,
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


BUDGET = named("Budget.pdf", "Valmora, budget book 2025-26")
FILING = named("10K.pdf", "Netflix, annual report 2017")


def asked(*tables: Table) -> list[str]:
    return [one.question for one in row_candidates(BUDGET, {4: tables}, year=2025)]


def row(label: str, *texts: str | None) -> tuple[str, list[str | None]]:
    return label, list(texts or ("1", "2", "3"))


def test_a_row_is_asked_about_in_the_newest_year() -> None:
    taxes = table(row("Tax revenue"))
    (found,) = row_candidates(BUDGET, {7: [taxes]}, year=2025)
    assert found == Example("What is Valmora's tax revenue in 2025-26?", "Budget.pdf", 7, "3")
    (later,) = row_candidates(BUDGET, {7: [taxes]}, year=2027)
    assert later.question == "What was Valmora's tax revenue in 2025-26?"


def test_labels_are_put_into_the_sentence() -> None:
    growth, wages = asked(table(row("Real GDP growth"), row("Wages and Salaries")))
    assert growth == "What is Valmora's real GDP growth in 2025-26?"
    assert wages == "What are Valmora's wages and salaries in 2025-26?"


@pytest.mark.parametrize(
    ("title", "whose", "called"),
    [
        ("Netflix, annual report 2017", "Netflix's", "Netflix's annual report 2017"),
        ("General Mills, annual report 2022", "General Mills'", "General Mills' annual report 2022"),
        ("Republic of Valmora, Budget Book 2025-26", "Valmora's", "Valmora's Budget Book 2025-26"),
        ("Bank of England, minutes", "the Bank of England's", "the Bank of England's minutes"),
        ("Chair Powell's Press Conference – June 16, 2021", "", "Chair Powell"),
        ("Grants Management: Provisions Could…, September 2006", "", ""),
        ("Scan_0012.pdf", "", ""),
    ],
)
def test_documents_are_called_by_their_issuers(title: str, whose: str, called: str) -> None:
    found = named("A.pdf", title)
    assert (found.whose, found.called) == (whose, called)


def test_key_figures_are_asked_for_as_people_do() -> None:
    def figure(measure: str, text: str, period: FigurePeriod) -> KeyFigure:
        return KeyFigure(measure, period, text, 1.0, page=42)

    year = FigurePeriod("2017", 2017, 2017)
    quarter = FigurePeriod("3 months to July 2023", 2023, 2023, months=3, month=7)
    annual = [figure("revenue", "$ 11,692", year), figure("diluted earnings per share", "$ 1.25", year)]
    sheet = key_figure_sheet([DocumentFigures("10K.pdf", 1, tuple(annual), frozenset({"accounts"}))])
    revenue, earnings = figure_candidates(FILING, sheet, year=2026)
    assert revenue == Example("What was Netflix's revenue in 2017?", "10K.pdf", 42, "11,692")
    assert earnings.question == "What were Netflix's diluted earnings per share in 2017?"
    first, _ = figure_candidates(FILING, sheet, year=2026, first=1)
    assert first == earnings
    quarterly = (figure("revenue", "9", quarter),)
    sheet = key_figure_sheet([DocumentFigures("10Q.pdf", 1, quarterly, frozenset({"accounts"}))])
    (one,) = figure_candidates(FILING, sheet, year=2026)
    assert one.question == "What was Netflix's revenue in the three months to July 2023?"


def test_a_document_is_summed_up_by_the_shortest_name_that_is_understood() -> None:
    def asked(title: str) -> list[str]:
        return [one.question for one in summary_candidates(named("A.pdf", title))]

    netflix = ["Summarise Netflix's annual report 2017", "Summarise Netflix, annual report 2017"]
    assert asked("Netflix, annual report 2017") == netflix
    grants = ["Summarise Grants Management", "Summarise Grants Management: More Could Be Done"]
    assert asked("Grants Management: More Could Be Done") == grants
    assert asked("May 2016: channels") == ["Summarise May 2016: channels"]


def test_what_sentences_give_figures_for_is_asked_where_no_table_does() -> None:
    third = "Inflation fell to 2.1 per cent. The policy rate is 4.5 per cent; unemployment was discussed."
    fifth = (
        "Inflation is expected at 2.0% next year. A levy raises 3 million. The policy rate stays at 4.5 per "
        "cent."
    )
    sixth = "Inflation of 3 per cent came as no surprise. Unemployment stood at 5 per cent."
    spoken = spoken_of([(3, third), (5, fifth), (6, sixth)])
    assert spoken == {"inflation": (3, 3), "policy rate": (2, 3)}, "unemployment is given once"
    inflation, rate = spoken_candidates(BUDGET, spoken)
    assert inflation.question == "What does Valmora's budget book 2025-26 say about inflation?"
    assert rate.question == "What does Valmora's budget book 2025-26 say about the policy rate?"
    untitled = named("Report.pdf", "Report.pdf")
    assert not list(spoken_candidates(untitled, spoken))
    first, _ = spoken_candidates(untitled, spoken, alone=True)
    assert first == Example("What does the document say about inflation?", "Report.pdf")


def test_a_question_to_several_documents_is_of_what_most_give_figures_for() -> None:
    both = {"inflation": (2, 1), "policy rate": (9, 1)}
    spoken = {"A.pdf": both, "B.pdf": {"inflation": (2, 1)}, "C.pdf": {"inflation": (5, 2)}, "D.pdf": {}}
    question, documents = shared_question(spoken)
    assert question == "How high is inflation?"
    assert documents == ("A.pdf", "B.pdf", "C.pdf")
    assert shared_question({"A.pdf": both, "D.pdf": {}}) == ("", ())
    assert shared_question({}) == ("", ())
