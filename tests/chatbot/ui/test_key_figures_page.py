"""The Key figures page, over a real store and without a browser: the sheet, its pages and
gaps, what is chosen, files, and hostile labels.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from chatbot.app.app_context import AppContext
from chatbot.comparison.key_figure_records import DocumentFigures
from chatbot.store.library import Upload
from chatbot.ui import key_figures_page
from tests.pages import click, open_context, press, shown, visit
from tests.pdfs import draw_revenue, make_pdf
from tests.statements import HOSTILE, draw_accounts

ACCOUNTS, BUDGET, WORDS = "Alder_2023.pdf", "Budget_2025.pdf", "Words.pdf"


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppContext]:
    folder = tmp_path_factory.mktemp("figures")
    with open_context(folder / "home") as opened:
        paths = [draw_accounts(folder / ACCOUNTS), draw_budget(folder), words(folder)]
        list(opened.chatbot.add([Upload(path) for path in paths]))
        yield opened


def draw_budget(folder: Path) -> Path:
    return draw_revenue(folder / BUDGET)


def words(folder: Path) -> Path:
    return make_pdf(folder / WORDS, ["The government reports to Parliament on its budget."])


def open_figures(*names: str) -> AppTest:
    page = visit("key_figures_page.py")
    if names:
        page.multiselect(key="figures-documents").set_value(list(names)).run()
    assert not page.exception
    return page


def test_the_sheet_makes_itself_and_a_figure_opens_its_row(context: AppContext) -> None:
    page = open_figures(ACCOUNTS)
    said = shown(page)
    told = "p.\u00a01, as printed: $ 1,200 (in millions), row “Net sales”, column “2023”"
    assert f'data-tip="{told}"><span class="amount">1,200</span>' in said
    assert '<th scope="row">Revenue<small>$ million</small></th>' in said
    assert "100 × 150 / 1,200 = 12.5%" in said
    press(page, "0-0-0-0")
    opened = page.session_state["open_page"]
    assert opened.document == ACCOUNTS
    assert opened.page == opened.quoted == 1
    assert opened.quote == "Net sales $ 1,200 $ 1,100"


def test_gaps_and_documents_without_tables_are_said(context: AppContext) -> None:
    said = shown(open_figures())
    assert f"{context.chatbot.title(WORDS)}: no tables found." in said
    assert "Not recognised in these tables: " in said


def test_one_period_of_each_document_or_all(context: AppContext) -> None:
    page = open_figures(ACCOUNTS, BUDGET)
    few = shown(page).count("data-open=")
    page.toggle(key="figures-periods").set_value(True).run()
    assert shown(page).count("data-open=") > few


def test_what_no_cell_opens_opens_nothing(context: AppContext) -> None:
    page = open_figures(ACCOUNTS)
    press(page, "../../secret")
    assert "open_page" not in page.session_state


def test_markup_in_a_label_takes_no_effect(context: AppContext) -> None:
    said = shown(open_figures(ACCOUNTS))
    assert HOSTILE not in said
    assert "&lt;b&gt;" in said


def test_both_files_are_offered(context: AppContext) -> None:
    page = open_figures(ACCOUNTS)
    assert len(page.get("link_button")) >= 2


class Slow:
    """Key figures whose second document waits until it may come."""

    def __init__(self) -> None:
        self.begun, self.go = threading.Event(), threading.Event()

    def figures_of(self, names: Sequence[str]) -> Iterator[DocumentFigures]:
        for number, name in enumerate(names):
            if number:
                self.begun.set()
                self.go.wait(60)
            yield DocumentFigures(name, 1, remark="no tables found")


def test_a_long_sheet_shows_how_far_it_is_and_can_be_stopped(
    context: AppContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Slow()
    monkeypatch.setattr(key_figures_page, "WAIT_SECONDS", 0.0)
    monkeypatch.setattr(context.chatbot, "figures_of", slow.figures_of)
    page = open_figures(WORDS, BUDGET)
    assert slow.begun.wait(10)
    page.run()
    assert page.button(key="compare-stop")
    said = click(page, "compare-stop")
    assert "You stopped it, so some documents are missing." in said
    slow.go.set()
    click(page, "compare-on")
    page.session_state["figures-run"].wait(10)
    page.run()
    assert "You stopped it" not in shown(page)
