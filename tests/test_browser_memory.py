"""Ratings and the Memory page in a real browser: what is rated comes back marked, is seen and corrected,
and disturbs no answer on its way.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import Browser, Locator, expect

from tests.browser import Server, Visitor, add, ask, at_once, chromium, go
from tests.pdfs import make_pdf
from tests.provider import Provider, Say, first_key

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(chromium() is None, reason="there is no Chromium on PATH (apt-get install chromium)"),
]

TEXT = "The deficit ceiling is three per cent of output, and the debt anchor is sixty per cent of it."
CEILING, ANCHOR = "What is the deficit ceiling?", "What is the debt anchor?"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one document."""
    folder = tmp_path_factory.mktemp("memory")
    add(folder / "home", [make_pdf(folder / "Rules.pdf", [TEXT])])
    return folder / "home"


def thumb(message: Locator, name: str) -> Locator:
    return message.get_by_role("button", name=name, exact=True)


def slowly(body: dict[str, object]) -> list[str]:
    return [
        *[f"word{number} " for number in range(25)],
        "The deficit ceiling is three per cent of output",
        f" [{first_key(body)}].",
    ]


def test_what_is_rated_is_remembered_seen_corrected_and_deleted(browser: Browser, home: Path) -> None:
    with Server(home) as server, Visitor(browser, server.url) as page:
        message = ask(page, CEILING)
        thumb(message, "Helpful").click()
        expect(message.locator(".verdict").get_by_text("Rated helpful")).to_be_visible()
        again = ask(page, CEILING)
        expect(again).to_contain_text("Remembered: you rated this answer helpful on")
        expect(again.locator(".verdict").get_by_text("Rated helpful")).to_be_visible()
        thumb(again, "Not helpful").click()
        expect(again.locator(".verdict").get_by_text("Rated not helpful")).to_be_visible()
        again.get_by_placeholder("Why? (optional)").fill("Too <b>short</b>")
        again.get_by_placeholder("Why? (optional)").press("Enter")
        expect(again.get_by_text("Rated not helpful: “Too <b>short</b>”")).to_be_visible()
        third = ask(page, CEILING)
        expect(third).not_to_contain_text("Remembered:")
        go(page, "Memory")
        expect(page.get_by_text("1 rated answer: 0 helpful, 1 not.")).to_be_visible()
        listed = page.locator(".memory")
        expect(listed).to_contain_text(CEILING)
        expect(listed).to_contain_text("“Too <b>short</b>”")
        page.get_by_role("button", name="Correct", exact=True).click()
        page.get_by_role("dialog").get_by_text("Helpful", exact=True).click()
        page.get_by_role("dialog").get_by_role("button", name="Save").click()
        expect(page.get_by_text("1 rated answer: 1 helpful, 0 not.")).to_be_visible()
        page.get_by_role("button", name="Delete", exact=True).click()
        page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).click()
        expect(page.get_by_text("No answer is rated yet.")).to_be_visible()
        page.get_by_role("tab", name="Advice").click()
        page.get_by_label("When …").fill("the deficit rises above its ceiling")
        page.get_by_label("then …").fill("delay new borrowing")
        page.get_by_role("button", name="Add advice").click()
        expect(page.get_by_text("1 situation with advice.")).to_be_visible()
        expect(page.get_by_label("When …")).to_have_value("")
        go(page, "Chat")
        expect(page.locator(".question")).to_have_count(3)
        expect(page.locator(".verdict")).to_have_count(0)
        assert "Traceback" not in server.log.read_text()


def test_a_rating_does_not_disturb_an_answer_on_its_way(browser: Browser, home: Path) -> None:
    with Provider([slowly, Say(slowly, delay=0.15)]) as provider:
        settings = {
            "FINPOLICY_CHAT_MODEL": "stand-in",
            "OPENAI_API_KEY": "sk-secret",
            "OPENAI_BASE_URL": provider.url,
        }
        with Server(home, settings) as server, Visitor(browser, server.url) as page:
            first = ask(page, CEILING)
            page.get_by_label("Ask about the documents").fill(ANCHOR)
            page.keyboard.press("Enter")
            second = page.get_by_test_id("stChatMessage").nth(3)
            second.get_by_text("word3").wait_for()
            first = page.get_by_test_id("stChatMessage").nth(1)
            at_once(thumb(first, "Helpful"))
            expect(first.locator(".verdict").get_by_text("Rated helpful")).to_be_visible()
            expect(second).not_to_contain_text("word24")  # it was still coming
            second.get_by_text("How this was answered").wait_for()
            expect(second.locator(".answer")).to_contain_text(re.compile("word0 .* word24 "))
            expect(second).not_to_contain_text("Stopped")
            assert len(provider.requests) == 2
            thumb(second, "Not helpful").click()
            expect(second.locator(".verdict").get_by_text("Rated not helpful")).to_be_visible()
