"""A page's way of writing figures, from its PDF to sums, key figures and the checks of answers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from chatbot.answer.compare.key_figure_lookup import document_figures
from chatbot.answer.tables.operations import by_operation
from chatbot.answer.tables.table_answers import compute_answer
from chatbot.answer.verification.own_text import check_quoted
from chatbot.records import FINE, Hit
from chatbot.search.question_terms import understand
from ingestion.document import read_document
from tests.case_rows import case_rows
from tests.chatbot.cited_pages import hit_of, prompt_over
from tests.pdfs import draw, grid

CHANGE = "How did operating income change from 2023 to 2024?"
MARGIN = "What was the operating margin in 2024?"


def page_of(path: Path, rows: str, *more: str, title: str = "Income statement (EUR million)") -> Hit:
    """A page with a table of 2024 and 2023, as it is read. rows: label | 2024 | 2023. more: lines below."""
    lines = [("", "2024", "2023"), *case_rows(rows)]
    below = [(60.0, 300.0 + 15 * number, line) for number, line in enumerate(more)]
    draw(path, [(60, 60, title), *grid(110, lines, rights=(350, 450)), *below])
    (page,) = read_document(path).pages
    fields = {"tables": page.tables, "kinds": ("income_statement",), "body": page.text}
    return hit_of(page.text, document=path.name, version=1, **fields)


def answer(question: str, page: Hit) -> str:
    prompt = prompt_over(page, question=question)
    asked = understand(question, question)
    return compute_answer(prompt, asked) or by_operation(prompt, asked)


def key_figures(page: Hit) -> dict[tuple[str, str], float]:
    found = document_figures(page.document, 1, [page])
    return {(figure.measure, figure.period.text): figure.magnitude for figure in found.figures}


def statuses(said: str, page: Hit) -> list[str]:
    return [check.status for check in check_quoted(f"{said} [S1-7f3a]", prompt_over(page)).numbers]


# revenue | operating income 2024 | 2023 | difference | margin
FORMS = case_rows("""
18 410 | (1 240) | 310 | -1,550 | -6.7%
18 410 | -1 240 | 310 | -1,550 | -6.7%
1 018 410 | -1 001 240 | 310 | -1,001,550 | -98.3%
8,410 | 1,240- | 310 | -1,550 | -14.7%
8,410 | <1,240> | 310 | -1,550 | -14.7%
8,410 | [1,240] | [310] | -930 | -14.7%
8.410 | -1.240 | 310 | -1,550 | -14.7%
18.410,5 | -1.240,7 | 310,2 | -1,550.9 | -6.7%
18 410,5 | (1 240,7) | 310,2 | -1,550.9 | -6.7%
18'410.5 | -1'240.7 | 310.2 | -1,550.9 | -6.7%
1,84,10,000 | (12,40,000) | 3,10,000 | -1,550,000 | -6.7%
8,410 CR | 1,240 CR | 310 CR | 930 | 14.7%
8,410% | -1,240% | 310% | -1.550 percentage points | -14.7%
""")[:-1]


@pytest.mark.parametrize(("revenue", "now", "before", "difference", "margin"), FORMS)
def test_sums_have_the_sign_and_size_of_their_cells(
    tmp_path: Path, revenue: str, now: str, before: str, difference: str, margin: str
) -> None:
    rows = (
        f"Revenue | {revenue} | {revenue}\nOperating income | {now} | {before}\nNet income | {now} | {before}"
    )
    page = page_of(tmp_path / "Form.pdf", rows)
    assert f" = {difference}" in answer(CHANGE, page)
    said = answer(MARGIN, page)
    assert said.partition("\n")[0].endswith(f"= {margin}.")
    found = key_figures(page)
    size = float(difference.replace(",", "")) * 1e6
    assert found["operating income", "2024"] - found["operating income", "2023"] == pytest.approx(size)
    # What the program says itself is not doubted, however the page writes it.
    assert set(statuses(said.partition("\n")[0], page)) <= FINE


# Nothing tells how these are to be read.
UNTOLD = case_rows("""
8.410 | 1.240 | 1.310
8,410 | 1,240 DR | 310 CR
""")


@pytest.mark.parametrize(("revenue", "now", "before"), UNTOLD)
def test_what_may_be_read_in_two_ways_is_not_reckoned_with(
    tmp_path: Path, revenue: str, now: str, before: str
) -> None:
    rows = (
        f"Revenue | {revenue} | {revenue}\nOperating income | {now} | {before}\nNet income | {now} | {before}"
    )
    page = page_of(tmp_path / "Form.pdf", rows)
    assert answer(CHANGE, page) == ""
    assert answer(MARGIN, page) == ""
    found = document_figures(page.document, 1, [page])
    assert ("operating income", "2024") not in key_figures(page)
    assert "page 1 has figures that can be read in two ways" in found.remark


GERMAN = """
Personalaufwendungen | -31.208.990,44 | -29.874.001,08
Transferaufwendungen | (18.450.120,00) | (17.990.450,50)
Jahresergebnis | 1.234,56 | -987,65
"""
ABOUT_GERMAN = case_rows("""
unsupported | Personnel expenses in 2024 were 44 EUR.
supported | Personnel expenses in 2024 were -31,208,990.44 EUR.
supported | Die Personalaufwendungen 2024 waren \u221231.208.990,44 EUR.
supported | Das Jahresergebnis 2024 war 1.234,56 EUR.
unsupported | Das Jahresergebnis 2024 war 1,234 EUR.
supported | Die Kreditaufnahme ist auf 2.500.000 EUR begrenzt.
""")


@pytest.mark.parametrize(("status", "said"), ABOUT_GERMAN)
def test_an_answer_may_write_figures_as_its_page_or_as_its_own_language_does(
    tmp_path: Path, status: str, said: str
) -> None:
    limit = "Die Kreditaufnahme ist auf 2.500.000,00 EUR begrenzt. Der Plan wurde am 17.12.2024 beschlossen."
    title = "Ergebnisrechnung der Stadt (in EUR)"
    page = page_of(tmp_path / "Stadt.pdf", GERMAN, limit, title=title)
    assert statuses(said, page) == [status]


ENQUIRIES = """
EU Institutions | 3.597 | 3.411
Air passengers | 1.726 | 1.690
Customs | 556 | 498
"""
ABOUT_ENQUIRIES = case_rows("""
supported | EU Institutions received 3,597 enquiries in 2024.
supported | EU Institutions received 3.597 enquiries in 2024.
supported | EU Institutions received 3597 enquiries in 2024.
unsupported | EU Institutions received 3,579 enquiries in 2024.
""")


@pytest.mark.parametrize(("status", "said"), ABOUT_ENQUIRIES)
def test_the_column_tells_what_its_points_are(tmp_path: Path, status: str, said: str) -> None:
    page = page_of(tmp_path / "Enquiries.pdf", ENQUIRIES, title="Enquiries by topic")
    assert statuses(said, page) == [status]


def test_a_comma_for_a_point_is_wrong_about_an_english_page(tmp_path: Path) -> None:
    page = page_of(
        tmp_path / "Form.pdf", "Revenue | 59,268 | 57,120\nMargin | 4.5% | 4.1%\nCosts | 412 | 380"
    )
    assert statuses("Revenue was EUR 59,268 million in 2024.", page) == ["supported"]
    assert statuses("Revenue was EUR 59.268 million in 2024.", page) != ["supported"]


def test_a_credit_is_no_crore_but_beside_rupees(tmp_path: Path) -> None:
    rows = "Treasury | 730 CR | 655 CR\nOverheads | 940 DR | 901 DR\nLeasing | 415 CR | 220 CR"
    page = page_of(tmp_path / "Accounts.pdf", rows, title="Trial balance (EUR thousand)")
    assert statuses("Treasury had 730 thousand in 2024.", page) == ["supported"]
    assert statuses("Treasury had 730 crore in 2024.", page) != ["supported"]
    rupees = replace(page, page_text=page.page_text.replace("(EUR thousand)", "of the State, in rupees"))
    rupees = replace(rupees, page_text=rupees.page_text.replace("DR", "Cr"), tables=())
    assert statuses("Treasury had 730 crore in 2024.", rupees) == ["supported"]
