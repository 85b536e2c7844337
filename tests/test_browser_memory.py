"""Ratings and the Memory page in a real browser: what is rated comes back marked, is seen and corrected,
and disturbs no answer on its way.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser import (
    Server,
    Visitor,
    answered_by,
    ask,
    at_once,
    begin_to_ask,
    go,
    messages,
    press,
    see,
    store_of_rules,
)
from tests.marks import in_a_browser
from tests.provider import Provider, Say, first_key, numbered_words

pytestmark = in_a_browser

TEXT = "The deficit ceiling is three per cent of output, and the debt anchor is sixty per cent of it."
CEILING, ANCHOR = "What is the deficit ceiling?", "What is the debt anchor?"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one document."""
    folder = tmp_path_factory.mktemp("memory")
    return store_of_rules(folder, [TEXT])


def thumb(message: Locator, name: str) -> Locator:
    return message.get_by_role("button", name=name, exact=True)


def verdict(place: Page | Locator) -> Locator:
    return place.locator(".verdict")


def slowly(body: dict[str, object]) -> list[str]:
    statement = "The deficit ceiling is three per cent of output"
    return [*numbered_words(25), statement, f" [{first_key(body)}]."]


def test_what_is_rated_is_remembered_seen_corrected_and_deleted(browser: Browser, home: Path) -> None:
    with Server(home) as server, Visitor(browser, server.url) as page:
        message = ask(page, CEILING)
        thumb(message, "Helpful").click()
        see(verdict(message), "Rated helpful")
        again = ask(page, CEILING)
        expect(again).to_contain_text("Remembered: you rated this answer helpful on")
        see(verdict(again), "Rated helpful")
        thumb(again, "Not helpful").click()
        see(verdict(again), "Rated not helpful")
        reason = again.get_by_placeholder("Why? (optional)")
        reason.fill("Too <b>short</b>")
        reason.press("Enter")
        see(again, "Rated not helpful: “Too <b>short</b>”")
        third = ask(page, CEILING)
        expect(third).not_to_contain_text("Remembered:")
        go(page, "Memory")
        see(page, "1 rated answer: 0 helpful, 1 not.")
        listed = page.locator(".memory")
        expect(listed).to_contain_text(CEILING)
        expect(listed).to_contain_text("“Too <b>short</b>”")
        dialog = page.get_by_role("dialog")
        press(page, "Correct", exact=True)
        dialog.get_by_text("Helpful", exact=True).click()
        press(dialog, "Save")
        see(page, "1 rated answer: 1 helpful, 0 not.")
        press(page, "Delete", exact=True)
        press(dialog, "Delete", exact=True)
        see(page, "You have not rated any answers yet.")
        page.get_by_role("tab", name="Advice").click()
        situation = page.get_by_label("When …")
        situation.fill("the deficit rises above its ceiling")
        page.get_by_label("then …").fill("delay new borrowing")
        press(page, "Add advice")
        see(page, "1 situation with advice.")
        expect(situation).to_have_value("")
        go(page, "Chat")
        expect(page.locator(".question")).to_have_count(3)
        expect(verdict(page)).to_have_count(0)
        assert "Traceback" not in server.log.read_text()


@pytest.mark.long
def test_a_rating_does_not_disturb_an_answer_on_its_way(browser: Browser, home: Path) -> None:
    with (
        Provider([slowly, Say(slowly, delay=0.15)]) as provider,
        Server(home, answered_by(provider.url)) as server,
        Visitor(browser, server.url) as page,
    ):
        ask(page, CEILING)
        begin_to_ask(page, ANCHOR)
        first, second = messages(page).nth(1), messages(page).nth(3)
        second.get_by_text("word3").wait_for()
        at_once(thumb(first, "Helpful"))
        see(verdict(first), "Rated helpful")
        expect(second).not_to_contain_text("word24")  # it was still coming
        second.get_by_text("Details").wait_for()
        expect(second.locator(".answer")).to_contain_text(re.compile("word0 .* word24 "))
        expect(second).not_to_contain_text("Stopped")
        assert len(provider.requests) == 2
        thumb(second, "Not helpful").click()
        see(verdict(second), "Rated not helpful")
