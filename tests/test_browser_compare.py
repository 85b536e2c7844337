"""The Compare page in a real browser: asked, opened at its page, downloaded, refreshed, stopped and gone
on with, with documents that are hostile.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser import (
    Server,
    Visitor,
    add,
    answered_by,
    arrive,
    ask,
    at_once,
    close_dialog,
    go,
    press,
    see,
    settled,
)
from tests.marks import in_a_browser
from tests.pdfs import make_pdf
from tests.provider import Provider, Say, first_key

pytestmark = in_a_browser

CEILING = "What is the deficit ceiling?"
# What the pages call them.
TITLES = ("Rules 2023", "Rules 2024")
HOSTILE = "<b>_x_<-b>.pdf"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with two editions of one policy, and a document whose name and text are markup."""
    folder = tmp_path_factory.mktemp("compare")
    ceilings = {
        "Rules_2023.pdf": "In 2019 and in 2024 the deficit ceiling is 3.0 per cent of output.",
        "Rules_2024.pdf": "In 2019 and in 2024 the deficit ceiling is 2.5 per cent of output.",
        HOSTILE: "The deficit ceiling is <script>alert(1)</script> $4.0$ per cent of output.",
    }
    files = [make_pdf(folder / name, [text]) for name, text in ceilings.items()]
    add(folder / "home", files)
    return folder / "home"


def choose(page: Page, label: str, *options: str) -> None:
    """Choose options of a field."""
    box = page.get_by_role("combobox", name=label)
    for option in options:
        box.fill(option.removeprefix("Add: "))
        page.get_by_role("option", name=option, exact=True).click()
    box.press("Tab")
    settled(page)


def choose_question(page: Page) -> None:
    field = page.get_by_label("Question")
    field.fill(CEILING)
    field.press("Tab")


def entry(page: Page, column: int, row: int = 0) -> Locator:
    return page.locator(".figures tbody tr").nth(row).locator("td").nth(column)


def test_a_question_is_compared_opened_downloaded_and_there_after_a_refresh(
    browser: Browser, home: Path, tmp_path: Path
) -> None:
    with Server(home) as server, Visitor(browser, server.url) as page:
        go(page, "Compare")
        choose_question(page)
        choose(page, "Documents", *TITLES)
        page.get_by_role("button", name="Compare", exact=True).press("Enter")
        see(page, "2 answers: 2 figures.")
        expect(page.get_by_role("button", name="Stop")).to_have_count(0)
        expect(entry(page, 0)).to_contain_text("3.0 per cent")
        expect(entry(page, 1)).to_contain_text("−0.5 points from 2023")
        expect(page.get_by_test_id("stVegaLiteChart")).to_be_visible()
        entry(page, 1).get_by_role("button", name="located on the page").click()
        dialog = page.get_by_role("dialog")
        see(dialog, "Marked on the page below:")
        expect(dialog.locator("img")).to_be_visible()
        close_dialog(page)
        table = tmp_path / "table.csv"
        with page.expect_download() as download:
            page.get_by_role("link", name="Download as CSV").click()
        download.value.save_as(table)
        text = table.read_text("utf-8-sig")
        first, second = csv.DictReader(text.splitlines())
        assert first["document"] == "Rules_2023.pdf"
        assert first["figure"] == "3.0 per cent"
        assert first["verified"] == "yes"
        assert second["document"] == "Rules_2024.pdf"
        assert second["figure"] == "2.5 per cent"
        assert second["verified"] == "yes"
        assert "/compare?q=" in page.url
        go(page, "Chat")
        go(page, "Compare")
        expect(entry(page, 0)).to_contain_text("3.0 per cent")
        assert "/compare?q=" in page.url
        assert "Traceback" not in server.log.read_text()


@pytest.mark.long
def test_an_answer_with_a_figure_leads_to_compare(browser: Browser, home: Path) -> None:
    with Server(home) as server, Visitor(browser, server.url) as page:
        message = ask(page, "What is the deficit ceiling in 2024?")
        message.get_by_role("button", name="Compare", exact=True).click()
        arrive(page, "Compare")
        expect(page.get_by_label("Question")).to_have_value(CEILING)
        see(page, "This question comes from Chat. Add documents or years, then press Compare.")
        see(page.get_by_test_id("stMain"), re.compile("^2024$"))
        choose(page, "Years", "Add: 2019")
        page.get_by_role("button", name="Compare", exact=True).press("Enter")
        see(page, re.compile("figures"), timeout=60_000)
        assert "Traceback" not in server.log.read_text()


# Where the button stands in each frame, from now on.
WATCH = """() => {
    window.stood = new Set();
    const look = () => {
        const found = document.querySelector('.st-key-compare-on button')?.getBoundingClientRect();
        if (found) window.stood.add(Math.round(found.x));
        requestAnimationFrame(look);
    };
    look();
}"""


def slowly(body: dict[str, object]) -> list[str]:
    return ["The deficit ceiling is ", "3.0 per cent of output", f" [{first_key(body)}]."]


@pytest.mark.long
def test_it_is_stopped_gone_on_with_and_hostile_names_are_text(browser: Browser, home: Path) -> None:
    with (
        Provider([Say(slowly, delay=0.6)]) as provider,
        Server(home, answered_by(provider.url)) as server,
        Visitor(browser, server.url) as page,
    ):
        go(page, "Compare")
        choose_question(page)
        choose(page, "Documents", HOSTILE, *TITLES)
        choose(page, "Years", "2024", "Add: 2019")
        press(page, "Compare", exact=True)
        entry(page, 0).get_by_role("button").first.wait_for()
        page.evaluate(WATCH)
        stop = page.locator(".st-key-compare-stop button")  # Streamlit may show one of that name, too
        at_once(stop)
        see(page, "not asked.")
        expect(page.get_by_text("Not asked").first).to_be_visible()
        expect(page.get_by_role("columnheader").first).to_have_text(HOSTILE)
        settled(page)
        places = page.evaluate("[...window.stood]")
        assert len(places) == 1
        press(page, "Continue")
        expect(page.get_by_role("link", name="Download as CSV")).to_be_visible(timeout=60_000)
        expect(page.get_by_text("Not asked")).to_have_count(0)
        assert page.locator("b", has_text="_x_").count() == 0
        assert "Traceback" not in server.log.read_text()
