"""What one does with an answer in a real browser: press its citations, copy it, ask it otherwise, stop it,
and ask about a PDF that comes along.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import Browser, Page, expect

from tests.browser import (
    Server,
    Visitor,
    arrive,
    ask,
    close_dialog,
    messages,
    press,
    see,
    settled,
    store_of_rules,
)
from tests.marks import in_a_browser
from tests.pdfs import make_pdf

pytestmark = in_a_browser

RULES = [
    "The deficit ceiling is three per cent of output.\nThe debt anchor is 60 per cent of output.",
    "The main objectives are low debt and stable prices.",
]
CEILING, ANCHOR = "What is the deficit ceiling?", "What is the debt anchor?"
# The button that the page presses by itself, and the field whose lock makes it do so.
WATCH_WAKING = """() => document.querySelector('.st-key-wake button').addEventListener(
    'click', () => { window.woken = true; })"""
LOCK_FIELD = "() => { document.querySelector('[data-testid=stChatInput] textarea').disabled = true; }"
LEVY = "The harbour levy is 14 crowns for each tonne of cargo."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("chat")


@pytest.fixture(scope="module")
def home(folder: Path) -> Path:
    """A store with one document."""
    stored = store_of_rules(folder, RULES)
    shutil.copytree(stored, folder / "spare")
    return stored


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[Server]:
    with Server(home) as started:
        yield started
    assert "Traceback" not in started.log.read_text()


def panel_is_at(page: Page, said: str) -> None:
    see(page.get_by_role("dialog"), said)


def test_citations_are_pressed_in_the_text_and_lead_from_one_to_the_next(
    browser: Browser, server: Server
) -> None:
    with Visitor(browser, server.url) as page:
        message = ask(page, "What are the deficit ceiling and the debt anchor?")
        chips = message.locator("button.key")
        second_chip = chips.nth(1)
        expect(chips.first).to_have_text("1")
        shown_page = message.locator(".cite")
        expect(shown_page).to_have_text([re.compile("^1, 2 Rules")])
        second_chip.hover()
        tooltip = page.get_by_role("tooltip")
        expect(tooltip).to_contain_text("Rules, p. 1: located on the page")
        message.locator(".figure").first.hover()
        expect(tooltip).to_contain_text("✓ on the cited page")
        second_chip.press("Enter")
        panel_is_at(page, "Citation 2 of")
        page.get_by_role("dialog").locator("img").wait_for()
        page.keyboard.press("k")
        panel_is_at(page, "Citation 1 of")
        page.keyboard.press("j")
        panel_is_at(page, "Citation 2 of")
        page.keyboard.press("k")
        panel_is_at(page, "Citation 1 of")
        page.keyboard.press("ArrowRight")
        panel_is_at(page, "Page 2 of 2")
        panel_is_at(page, "on another page")
        press(page, "Larger")
        expect(page.get_by_role("button", name="Smaller")).to_be_enabled()
        original = page.get_by_role("link", name="Original file")
        address = original.get_attribute("href") or ""
        assert address.endswith("/Rules.pdf#page=2")
        answer = page.request.get(f"{server.url}/{address}")
        assert answer.status == 200
        assert answer.headers["content-type"] == "application/pdf"
        assert answer.body().startswith(b"%PDF-")
        assert "content-security-policy" not in answer.headers
        assert answer.headers["x-content-type-options"] == "nosniff"
        _, _, marked = address.partition("-")
        for wrong in (f"2-{marked}", f"1-{'0' * 32}/x.pdf", "x-y/z", f"²-{marked}"):
            refused = page.request.get(f"{server.url}/original/{wrong}")
            assert refused.status == 404
        page.set_viewport_size({"width": 1440, "height": 900})
        expect(page.get_by_role("button", name="New conversation")).to_be_visible()
        close_dialog(page)
        page.locator("h1").click()
        page.keyboard.press("j")
        panel_is_at(page, "Citation 1 of")
        close_dialog(page)
        page.keyboard.press("/")
        expect(page.get_by_label("Ask about the documents")).to_be_focused()


def test_an_open_page_follows_the_answers_and_has_the_outline_at_hand(
    browser: Browser, server: Server
) -> None:
    with Visitor(browser, server.url) as page:
        page.set_viewport_size({"width": 1440, "height": 900})
        ask(page, CEILING).locator("button.key").first.click()
        dialog = page.get_by_role("dialog")
        expect(dialog.locator(".passage")).to_contain_text("ceiling")
        ask(page, "What is the debt anchor?")
        expect(dialog.locator(".passage")).to_contain_text("anchor")
        expect(dialog).to_have_count(1)
        box, pane = page.get_by_test_id("stChatInput").bounding_box(), dialog.bounding_box()
        assert box and pane
        assert box["x"] + box["width"] <= pane["x"]
        press(dialog, "Outline")
        see(dialog, "No headings were found in this document.")


# From where the finger touches the handle to where it leaves, in pixels below.
@pytest.mark.parametrize(("pulled", "left"), [(200, 0), (30, 1)])
def test_on_a_telephone_a_page_is_a_sheet_that_is_pulled_down(
    browser: Browser, server: Server, pulled: int, left: int
) -> None:
    with Visitor(browser, server.url) as page:
        page.set_viewport_size({"width": 390, "height": 844})
        ask(page, CEILING).locator("button.key").first.click()
        dialog = page.get_by_role("dialog")
        dialog.locator("img").wait_for()
        settled(page)
        box = dialog.locator(".handle").bounding_box()
        assert box
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x, y + pulled, steps=4)
        page.mouse.up()
        page.wait_for_timeout(500)
        expect(dialog).to_have_count(left)


# What is seen where the strip above the title is, at the left edge of the answers.
ABOVE = """() => {
    const message = document.querySelector('[data-testid=stChatMessage]').getBoundingClientRect();
    const at = document.elementFromPoint(message.left + 120, 55);
    return !!(at && at.closest('[data-testid=stChatMessage]'));
}"""


def test_the_first_page_begins_at_its_top_and_nothing_shows_above_a_title(
    browser: Browser, server: Server
) -> None:
    with Visitor(browser, server.url) as page:
        page.set_viewport_size({"width": 1280, "height": 480})
        page.reload()
        page.locator(".cover").first.wait_for()
        settled(page)
        page.wait_for_timeout(500)
        expect(page.locator(".hero")).to_be_in_viewport(ratio=1)
        for _ in range(3):
            ask(page, CEILING)
        page.get_by_test_id("stAppScrollToBottomContainer").evaluate("one => one.scrollTop = 260")
        page.wait_for_timeout(300)
        assert not page.evaluate(ABOVE)
        expect(page.get_by_role("heading", name="Chat")).to_be_in_viewport(ratio=1)
        expect(page.locator("#stChatInputInstructions")).to_be_hidden()


@pytest.mark.long
def test_a_field_that_stays_locked_is_freed(browser: Browser, server: Server) -> None:
    with Visitor(browser, server.url) as page:
        page.locator(".st-key-wake button").wait_for(state="attached")
        expect(page.get_by_role("button", name="Draw the page again")).to_have_count(0)
        page.evaluate(WATCH_WAKING)
        page.wait_for_timeout(2_500)
        woken = page.evaluate("() => window.woken")
        assert not woken
        page.evaluate(LOCK_FIELD)
        page.wait_for_function("() => window.woken")


@pytest.mark.long
def test_an_answer_is_copied_and_its_question_asked_otherwise(browser: Browser, server: Server) -> None:
    with Visitor(browser, server.url) as page:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        message = ask(page, CEILING)
        press(message, "Copy", exact=True)
        see(message, "Copied")
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied.startswith(CEILING)
        assert "three per cent of output. (Rules.pdf, p. 1)" in copied
        change = page.get_by_role("button", name="Change this question and ask it again")
        change.click()
        field = page.get_by_label("Question", exact=True)
        expect(field).to_be_focused()
        expect(field).to_have_value(CEILING)
        page.keyboard.press("Escape")
        expect(field).to_have_count(0)
        expect(change).to_be_focused()
        page.keyboard.press("Enter")
        expect(field).to_be_focused()
        field.fill("The first line")
        page.keyboard.press("Shift+Enter")
        page.keyboard.type("The second")
        expect(field).to_have_value("The first line\nThe second")
        field.fill(ANCHOR)
        page.keyboard.press("Enter")
        expect(messages(page).last).to_contain_text("60 per cent of output")
        questions = page.locator(".question")
        expect(questions.nth(0)).to_have_text(CEILING)
        expect(questions.nth(1)).to_have_text(ANCHOR)


@pytest.mark.long
def test_a_pdf_comes_along_with_a_question(browser: Browser, folder: Path) -> None:
    pdf = make_pdf(folder / "Levies.pdf", [LEVY])
    with Server(folder / "empty") as server, Visitor(browser, server.url) as page:
        see(page, "There are no documents yet")
        page.locator("[data-testid=stChatInput] input[type=file]").set_input_files(pdf)
        expect(page.get_by_label("Attach a document and ask about it")).to_be_visible()
        box = page.get_by_test_id("stChatInput").locator("textarea")  # whose label changes with the first
        box.fill("What is the harbour levy?")
        expect(page.get_by_test_id("stChatInput")).to_contain_text("Levies.pdf")
        press(page, "Send message")
        message = messages(page).last
        citation = message.locator(".cite").first
        expect(message.locator(".answer")).to_contain_text("14 crowns")
        expect(citation).to_contain_text("Levies")
        box.fill("Is the harbour levy for each tonne?")
        box.press("Enter")
        page.locator(".question").nth(1).wait_for()
        searched_in = page.get_by_test_id("stMultiSelect")
        expect(searched_in).to_contain_text("Levies")
        settled(page)
        page.reload()  # what is searched in stands in the address
        expect(searched_in).to_contain_text("Levies")


# Whether a tip that is shown covers a label, and what it says; and how what stands in for a menu looks.
COVERED = """() => {
  const tip = document.querySelector('#finpolicy-tip').getBoundingClientRect();
  return [...document.querySelectorAll('[data-testid=stPopoverBody] label p')].filter(one => {
    const box = one.getBoundingClientRect();
    return box.left < tip.right && tip.left < box.right && box.top < tip.bottom && tip.top < box.bottom;
  }).map(one => one.textContent);
}"""
SEEN = """() => {
  window.grey = 0;
  const look = () => {
    const menu = document.querySelector('[data-testid=stPopoverBody]');
    const empty = menu && !menu.querySelector('input') && getComputedStyle(menu).opacity > 0;
    const block = [...document.querySelectorAll('[data-testid=stSkeleton]')].some(one => one.checkVisibility(
      {visibilityProperty: true}));
    if (empty || block) window.grey += 1;
    requestAnimationFrame(look);
  };
  look();
}"""


def test_a_menu_is_seen_once_it_is_filled_and_tips_cover_none_of_its_labels(
    browser: Browser, server: Server
) -> None:
    with Visitor(browser, server.url) as page:
        ask(page, CEILING)
        settled(page)
        page.evaluate(SEEN)
        page.locator("[class*=st-key-menu-open-] button").click()
        menu = page.get_by_test_id("stPopoverBody")
        menu.get_by_label("Title").wait_for()
        expect(menu).to_have_css("opacity", "1")
        assert page.evaluate("window.grey") == 0
        for told in menu.get_by_test_id("stTooltipHoverTarget").all():
            told.hover()
            expect(page.locator("#finpolicy-tip")).to_be_visible()
            assert page.evaluate(COVERED) == []
        page.mouse.move(5, 5)
        expect(page.locator("#finpolicy-tip")).to_be_hidden()


def test_a_paste_that_is_too_long_is_told(browser: Browser, server: Server) -> None:
    with Visitor(browser, server.url) as page:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        message = ask(page, CEILING)
        press(message, "Helpful", exact=True)
        field = message.get_by_label("Why? (optional)")
        field.click()
        alerts = page.get_by_role("alert")
        told = alerts.filter(has_text="That is too long for this field: nothing was pasted.")
        for text, count in (("clear", 0), ("x" * 2_000, 1)):
            page.evaluate("text => navigator.clipboard.writeText(text)", text)
            page.keyboard.press("Control+V")
            page.wait_for_timeout(400)
            expect(told.locator("visible=true")).to_have_count(count)
        expect(field).to_have_value("clear")


@pytest.mark.long
def test_on_a_narrow_screen_all_is_in_reach_and_the_list_closes_once_something_is_chosen(
    browser: Browser, server: Server
) -> None:
    with Visitor(browser, server.url) as page:
        page.set_viewport_size({"width": 390, "height": 844})
        sidebar = page.get_by_test_id("stSidebar")
        expect(page.get_by_test_id("stFileUploaderDropzone")).to_be_in_viewport()
        for name in ("See all key figures", "Compare documents"):
            expect(page.locator(".st-key-first-ways").get_by_text(name)).to_be_in_viewport()
        press(page, "Search in: All documents")
        expect(sidebar.locator(".st-key-scope input")).to_be_focused()
        page.get_by_test_id("stSidebarCollapseButton").get_by_role("button").click()
        page.locator(".st-key-first-ways").get_by_text("key figures").click()
        arrive(page, "Key figures")
        page.go_back()
        arrive(page, "Chat")
        ask(page, CEILING)
        for chosen in ("New conversation", CEILING):
            if sidebar.get_attribute("data-collapsed") != "false":
                page.get_by_test_id("stExpandSidebarButton").click()
            expect(sidebar).to_have_attribute("data-collapsed", "false")
            press(sidebar, chosen, exact=True)
            expect(sidebar).to_have_attribute("data-collapsed", "true")
        expect(page.locator(".question")).to_have_text([CEILING])
