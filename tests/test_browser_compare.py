"""The Compare page in a real browser: asked, opened at its page, downloaded, refreshed, stopped and gone
on with, with documents that are hostile.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser import Server, Visitor, add, at_once, chromium, go, settled
from tests.pdfs import make_pdf
from tests.provider import Provider, Say, first_key

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(chromium() is None, reason="there is no Chromium on PATH (apt-get install chromium)"),
]

CEILING = "What is the deficit ceiling?"
NAMES = ("Rules_2023.pdf", "Rules_2024.pdf")
HOSTILE = "<b>_x_</b>.pdf"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with two editions of one policy, and a document whose name and text are markup."""
    folder = tmp_path_factory.mktemp("compare")
    files = [
        make_pdf(folder / name, [f"In 2019 and in 2024 the deficit ceiling is {at} per cent of output."])
        for name, at in zip(NAMES, ("3.0", "2.5"), strict=True)
    ]
    hostile = make_pdf(
        folder / "hostile.pdf", ["The deficit ceiling is <script>alert(1)</script> $4.0$ per cent of output."]
    )
    add(folder / "home", [*files, hostile.rename(folder / HOSTILE.replace("/", "-"))])
    return folder / "home"


def choose(page: Page, label: str, *options: str) -> None:
    """Choose options of a field."""
    box = page.get_by_role("combobox", name=label)
    for option in options:
        box.fill(option.removeprefix("Add: "))
        page.get_by_role("option", name=option, exact=True).click()
    box.press("Tab")
    settled(page)


def entry(page: Page, row: int, column: int = 0) -> Locator:
    return page.locator(f".st-key-entry-{row}-{column}")


def test_a_question_is_compared_opened_downloaded_and_there_after_a_refresh(
    browser: Browser, home: Path, tmp_path: Path
) -> None:
    with Server(home) as server, Visitor(browser, server.url) as page:
        go(page, "Compare")
        page.get_by_label("Question").fill(CEILING)
        page.get_by_label("Question").press("Tab")
        choose(page, "Documents", *NAMES)
        page.get_by_role("button", name="Compare", exact=True).press("Enter")
        expect(page.get_by_text("2 answers: 2 figures.")).to_be_visible()
        expect(entry(page, 0)).to_contain_text("3.0 per cent")
        expect(entry(page, 1)).to_contain_text("−0.5 points from Rules_2023.pdf")
        expect(page.get_by_test_id("stVegaLiteChart")).to_be_visible()
        entry(page, 1).get_by_role("button", name="✓ verified").locator("visible=true").click()
        dialog = page.get_by_role("dialog")
        expect(dialog.get_by_text("Marked on the page below:")).to_be_visible()
        expect(dialog.locator("img")).to_be_visible()
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        with page.expect_download() as download:
            page.get_by_role("link", name="Download as CSV").click()
        download.value.save_as(tmp_path / "table.csv")
        lines = list(csv.DictReader((tmp_path / "table.csv").read_text("utf-8-sig").splitlines()))
        assert [(line["document"], line["figure"], line["verified"]) for line in lines] == [
            (NAMES[0], "3.0 per cent", "yes"),
            (NAMES[1], "2.5 per cent", "yes"),
        ]
        assert "/compare?q=" in page.url
        page.get_by_test_id("stSidebarNav").get_by_role("link", name="Chat").click()
        page.get_by_role("heading", name="Chat", exact=True).wait_for()
        settled(page)
        go(page, "Compare")
        expect(entry(page, 0)).to_contain_text("3.0 per cent")
        assert "/compare?q=" in page.url
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


def test_it_is_stopped_gone_on_with_and_hostile_names_are_text(browser: Browser, home: Path) -> None:
    hostile = HOSTILE.replace("/", "-")
    with Provider([Say(slowly, delay=0.6)]) as provider:
        settings = {
            "FINPOLICY_CHAT_MODEL": "stand-in",
            "OPENAI_API_KEY": "sk-secret",
            "OPENAI_BASE_URL": provider.url,
        }
        with Server(home, settings) as server, Visitor(browser, server.url) as page:
            go(page, "Compare")
            page.get_by_label("Question").fill(CEILING)
            page.get_by_label("Question").press("Tab")
            choose(page, "Documents", hostile, *NAMES)
            choose(page, "Years", "2024", "Add: 2019")
            page.get_by_role("button", name="Compare", exact=True).click()
            entry(page, 0).get_by_role("button").first.wait_for()
            page.evaluate(WATCH)
            at_once(
                page.locator(".st-key-compare-stop button")
            )  # Streamlit may show a button of that name, too
            expect(page.get_by_text("not asked.")).to_be_visible()
            expect(page.get_by_text("Not asked").first).to_be_visible()
            expect(page.locator(".st-key-compared-row-0 .named")).to_have_text(hostile)
            settled(page)
            assert len(page.evaluate("[...window.stood]")) == 1
            page.get_by_role("button", name="Go on").click()
            expect(page.get_by_role("link", name="Download as CSV")).to_be_visible(timeout=60_000)
            expect(page.get_by_text("Not asked")).to_have_count(0)
            assert page.locator("b", has_text="_x_").count() == 0
            assert "Traceback" not in server.log.read_text()
