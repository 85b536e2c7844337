"""Titles in place of file names wherever a reader looks, and the file's name where the details are."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from chatbot.app.app_context import AppContext
from chatbot.comparison import Comparison, EntryPlace
from chatbot.store.library import Upload
from chatbot.ui.compare_chart import chart_spec
from chatbot.ui.safe_text import plain_markdown
from tests.chatbot.ui.visitor import ask
from tests.pages import click, keys, open_context, shown, visit
from tests.pdfs import make_pdf

NAMES = ("fr_23.pdf", "fr_24.pdf")
COVER = "Republic of Norland\nFiscal Rules Report {}\nThe deficit ceiling is {} per cent of output.\n"
TITLES = tuple(f"Republic of Norland, Fiscal Rules Report {year}" for year in (2023, 2024))
HOSTILE = "<b>x</b> [y](https:z) $m$.pdf"


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppContext]:
    """A chatbot with two editions of one report, and a file whose name is markup."""
    folder = tmp_path_factory.mktemp("chatbot")
    with open_context(folder / "home") as opened:
        for name, year, ceiling in zip(NAMES, (2023, 2024), ("3.0", "2.5"), strict=True):
            list(opened.chatbot.add([Upload(make_pdf(folder / name, [COVER.format(year, ceiling)]))]))
        odd = make_pdf(folder / "odd.pdf", ["17 4\n"], title="<script>alert(1)</script>")
        list(opened.chatbot.add([Upload(odd, HOSTILE)]))
        yield opened


def test_the_service_tells_titles_and_tidies_names_of_others(context: AppContext) -> None:
    assert [context.chatbot.titles()[name] for name in NAMES] == list(TITLES)
    assert context.chatbot.title(NAMES[0]) == TITLES[0]
    assert context.chatbot.title("net_debt_2024.pdf") == "Net debt 2024"


def test_citations_have_titles_and_their_tips_the_names(context: AppContext) -> None:
    app = visit()
    ask(app, "What is the deficit ceiling of Norland in 2024?")
    said = shown(app)
    (tip, label), *_ = re.findall(r'class="cite" data-open="[^"]*" data-tip="([^"]*)">(.*?)</button>', said)
    assert f"</strong> {TITLES[1]} · p." in label
    assert tip.endswith(f"” {NAMES[1]}")
    assert f'aria-label="Citation 1: {TITLES[1]}, p.\u00a01: ' in said
    assert f"{TITLES[1]}, p.\u00a01</td>" in said  # among the pages considered


def test_documents_are_chosen_by_title(context: AppContext) -> None:
    app = visit()
    assert set(TITLES) <= set(app.multiselect(key="scope").options)
    compare = visit("compare_page.py")
    assert set(TITLES) <= set(compare.multiselect(key="compare-documents").options)
    app.multiselect(key="scope").select(TITLES[0]).run()
    assert app.session_state["scope"] == [NAMES[0]]


def test_an_address_names_the_documents_to_search_by_title_or_by_file(context: AppContext) -> None:
    for said in (NAMES[1], TITLES[1]):
        app = visit(address={"scope": said})
        assert app.session_state["scope"] == [NAMES[1]]


def test_the_list_has_titles_and_the_guide_the_file(context: AppContext) -> None:
    app = visit("documents_page.py")
    labels = {button.key: button.label for button in app.button}
    said = shown(app)
    for name, title in zip(NAMES, TITLES, strict=True):
        assert labels[f"Guide-{name}"] == plain_markdown(title)
        assert name not in said
    assert f"<dd>{NAMES[0]}</dd>" in click(app, f"Guide-{NAMES[0]}")
    (odd,) = [key for key in keys(app, "Guide-") if key.removeprefix("Guide-") not in NAMES]
    said = click(app, odd)
    assert "<dt>File</dt>" in said
    assert "<script>alert" not in said
    assert "<b>x" not in said


def test_a_chart_may_be_drawn_with_titles() -> None:
    asked = Comparison("What is the ceiling?", TITLES)
    places = [(EntryPlace(title), 1.0) for title in TITLES]
    rows = chart_spec(asked, places, "%")["data"]["values"]
    assert [row["document"].endswith(("2023", "2024")) for row in rows] == [True, True]
