"""The key figures on the Compare page, over a real store and without a browser: the sheet, its pages and
gaps, what is chosen, files, and hostile labels.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from chatbot.app.app_context import AppContext
from chatbot.comparison.key_figures import KeyFigureSheet
from chatbot.store.library import Upload
from chatbot.ui import compare_key_figures
from tests.pages import click, keys, open_context, shown, visit
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
    page = visit("compare_page.py")
    page.session_state["compare-view"] = "Key figures"
    if names:
        page.session_state["figures-documents"] = list(names)
    page.run()
    assert not page.exception
    return page


def test_the_sheet_makes_itself_and_a_figure_opens_its_row(context: AppContext) -> None:
    page = open_figures(ACCOUNTS)
    said = shown(page)
    assert '<p class="amount" title="$ 1,200 (in millions), row “Net sales”, column “2023”">1,200</p>' in said
    assert "100 × 150 / 1,200 = 12.5%" in said
    click(page, "cite-figure-0-0-0")
    opened = page.session_state["open_page"]
    assert opened.document == ACCOUNTS
    assert opened.page == opened.quoted == 1
    assert opened.quote == "Net sales $ 1,200 $ 1,100"


def test_gaps_and_documents_without_tables_are_said(context: AppContext) -> None:
    said = shown(open_figures())
    assert f"{context.chatbot.title(WORDS)}: no tables found." in said
    assert "Not in the tables of any of these documents: " in said


def test_one_period_of_each_document_or_all(context: AppContext) -> None:
    page = open_figures(ACCOUNTS, BUDGET)
    few = len(keys(page, "cite-figure-"))
    page.radio(key="figures-periods").set_value("All periods").run()
    assert len(keys(page, "cite-figure-")) > few


def test_markup_in_a_label_takes_no_effect(context: AppContext) -> None:
    said = shown(open_figures(ACCOUNTS))
    assert HOSTILE not in said
    assert "&lt;b&gt;" in said


def test_both_files_are_offered(context: AppContext) -> None:
    page = open_figures(ACCOUNTS)
    assert len(page.get("link_button")) >= 2


class Slow:
    """Key figures that wait until they are stopped."""

    def __init__(self) -> None:
        self.begun = threading.Event()

    def key_figures(
        self, names: tuple[str, ...], *, progress: Callable[..., None], stop: Callable[[], bool]
    ) -> KeyFigureSheet:
        progress(names[0], 0, len(names))
        self.begun.set()
        while not stop():
            threading.Event().wait(0.01)
        return KeyFigureSheet()


def test_a_long_sheet_shows_how_far_it_is_and_can_be_stopped(
    context: AppContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Slow()
    monkeypatch.setattr(compare_key_figures, "WAIT_SECONDS", 0.0)
    monkeypatch.setattr(context.chatbot, "key_figures", slow.key_figures)
    page = open_figures(ACCOUNTS)
    assert slow.begun.wait(10)
    page.run()
    said = click(page, "figures-stop")
    page.session_state["figures-run"].wait(10)
    page.run()
    said = shown(page)
    assert "You stopped it, so some documents are missing." in said
