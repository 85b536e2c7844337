"""What pages do with too much, too long and too quick, in a real browser: nothing breaks or is cut, and no
page scrolls sideways.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import Browser, Page, expect

from chatbot.service import Chatbot
from chatbot.settings import Settings
from chatbot.store.library import Upload
from tests.browser import (
    Server,
    Visitor,
    answered_by,
    arrive,
    ask,
    begin_to_ask,
    close_dialog,
    go,
    messages,
    press,
    see,
    settled,
)
from tests.marks import in_a_browser
from tests.pdfs import make_pdf
from tests.provider import Provider, Say, first_key
from tests.statements import draw_accounts

pytestmark = [*in_a_browser, pytest.mark.long]

PAGES = ("Documents", "Key figures", "Compare", "Memory", "Settings")
SCRIPTS = (
    "Fiscal policy ",
    "Налоговая политика ",
    "Δημοσιονομική πολιτική ",
    "السياسة المالية ",
    "财政政策声明",
)
MANY, LONG = 200, 200
CEILING = "What is the deficit ceiling?"
# What reaches beyond the window's edges, though nothing around it scrolls; texts that are cut though nothing
# says so; and how far the page itself is too wide.
BROKEN = """() => {
  const shown = [...document.querySelectorAll('.stApp *')].filter(one => one.checkVisibility(
    {opacityProperty: true, visibilityProperty: true}) &&
    !one.closest('.unseen, svg, canvas, [aria-hidden=true]'));
  const style = getComputedStyle;
  const around = (one, is) => { while ((one = one.parentElement)) if (is(style(one))) return true; };
  const words = one => [...one.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
  const told = one => `${one.className} ${one.textContent.slice(0, 40)}`;
  const beside = shown.filter(one => {
    const box = one.getBoundingClientRect();
    return words(one) && box.width > 1 && (box.right > innerWidth + 1 || box.left < -1) &&
      !around(one, at => /auto|scroll|hidden|clip/.test(at.overflowX));
  });
  const cut = shown.filter(one => words(one) && one.clientWidth > 1 && style(one).overflowX === 'hidden' &&
    style(one).textOverflow !== 'ellipsis' && one.scrollWidth > one.clientWidth + 1);
  return {beside: beside.map(told), cut: cut.map(told),
    wide: Math.max(0, document.documentElement.scrollWidth - innerWidth)};
}"""
# Buttons, links and fields of the page that cannot be scrolled to where they can be pressed.
OUT_OF_REACH = """async () => {
  const lost = [];
  for (const one of document.querySelectorAll(
      '[data-testid=stMain] :is(button, a, input, textarea, summary, [role=tab])')) {
    if (!one.checkVisibility({opacityProperty: true, visibilityProperty: true}) || one.disabled) continue;
    if (one.getBoundingClientRect().width < 2) continue;
    one.scrollIntoView({block: 'center', inline: 'center', behavior: 'instant'});
    const box = one.getBoundingClientRect();
    const at = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    if (!at || !(one.contains(at) || at.contains(one) || one.closest('label, div')?.contains(at)))
      lost.push(`${one.tagName} ${one.className} ${one.textContent.slice(0, 40)}`);
  }
  return lost;
}"""
FINE = {"beside": [], "cut": [], "wide": 0}


def long_name(number: int) -> str:
    words = SCRIPTS[number % len(SCRIPTS)] * LONG
    return f"{words[: LONG - 8].rstrip()} {number:03}.pdf"


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server over many documents with long names, two of them with accounts."""
    folder = tmp_path_factory.mktemp("many")
    with Chatbot(Settings(home=folder / "home")) as chatbot:
        for number in range(MANY):
            path = folder / f"{number}.pdf"
            if number < 2:
                draw_accounts(path)
                path.write_bytes(path.read_bytes() + b"%" * number)
            else:
                make_pdf(path, [f"The deficit ceiling is {number} per cent of output."])
            list(chatbot.add([Upload(path, long_name(number))]))
    with Server(folder / "home") as server:
        yield server
    assert "Traceback" not in server.log.read_text()


def is_fine(page: Page, what: str) -> None:
    settled(page)
    page.wait_for_timeout(400)
    assert page.evaluate(BROKEN) == FINE, what


@pytest.mark.timeout(600)
@pytest.mark.parametrize("width", [1440, 390])
def test_many_long_names_in_five_scripts_break_nothing(browser: Browser, many: Server, width: int) -> None:
    with Visitor(browser, many.url) as page:
        page.set_viewport_size({"width": width, "height": 844})
        page.locator(".cover").first.wait_for()
        is_fine(page, "first page")
        page.locator(".cover").first.click()
        dialog = page.get_by_role("dialog")
        dialog.locator("img").wait_for()
        is_fine(page, "pane")
        close_dialog(page)
        if width < 640:
            press(page, "Search in: All documents")
        field = page.get_by_role("combobox", name="Search in")
        field.click()
        page.get_by_role("option").first.wait_for()
        is_fine(page, "menu of what is searched")
        page.get_by_role("option").first.click()
        page.keyboard.press("Escape")
        is_fine(page, "a document to search")
        if width < 640:
            page.get_by_test_id("stSidebarCollapseButton").get_by_role("button").click()
        for name in PAGES:
            page.goto(f"{many.url}/{name.lower().replace(' ', '-')}")
            arrive(page, name)
            is_fine(page, name)
            if name == "Documents":
                page.locator("[class*=st-key-Guide-] button:visible").first.click()
                page.locator(".st-key-guide-questions").wait_for()
                is_fine(page, "guide")
        page.goto(f"{many.url}/key-figures")
        page.locator(".figures").first.wait_for(timeout=120_000)
        is_fine(page, "sheet of key figures")
        names = "".join(f"&d={long_name(number)}" for number in range(5))
        page.goto(f"{many.url}/compare?q={CEILING}{names}")
        arrive(page, "Compare")
        press(page, "Compare", exact=True)
        page.get_by_role("link", name="Download as CSV").wait_for(timeout=60_000)
        is_fine(page, "table of a comparison")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server over two documents."""
    folder = tmp_path_factory.mktemp("odd")
    with Chatbot(Settings(home=folder / "home")) as chatbot:
        rules = [
            "The deficit ceiling is three per cent of output.",
            "The debt anchor is 60 per cent of output.",
        ]
        paths = [make_pdf(folder / "Rules.pdf", rules), draw_accounts(folder / "Alder.pdf")]
        list(chatbot.add([Upload(path) for path in paths]))
    shutil.copytree(folder / "home", folder / "spare")
    with Server(folder / "home") as running:
        yield running
    assert "Traceback" not in running.log.read_text()


def test_at_twice_the_size_nothing_is_cut_and_all_is_in_reach(browser: Browser, server: Server) -> None:
    with Visitor(browser, server.url) as page:
        page.set_viewport_size({"width": 720, "height": 450})
        for name in ("Chat", *PAGES):
            page.goto(server.url if name == "Chat" else f"{server.url}/{name.lower().replace(' ', '-')}")
            arrive(page, name)
            is_fine(page, name)
            assert page.evaluate(OUT_OF_REACH) == [], name
        page.goto(server.url)
        ask(page, CEILING).locator("button.key").first.click()
        page.get_by_role("dialog").locator("img").wait_for()
        is_fine(page, "pane")
        expect(page.get_by_role("button", name="Close the page")).to_be_in_viewport()


def test_a_telephone_is_turned_while_a_page_is_open(browser: Browser, server: Server) -> None:
    with Visitor(browser, server.url) as page:
        page.set_viewport_size({"width": 390, "height": 844})
        ask(page, CEILING).locator("button.key").first.click()
        dialog = page.get_by_role("dialog")
        dialog.locator("img").wait_for()
        for size in ((844, 390), (390, 844)):
            page.set_viewport_size({"width": size[0], "height": size[1]})
            is_fine(page, f"at {size}")
            expect(dialog.locator("img")).to_be_in_viewport()
            expect(page.get_by_role("button", name="Close the page")).to_be_in_viewport()
        press(page, "Close the page")
        expect(dialog).to_have_count(0)
        expect(page.get_by_label("Ask about the documents")).to_be_in_viewport()


def test_a_document_goes_while_its_page_is_open_in_another_tab(browser: Browser, server: Server) -> None:
    with Visitor(browser, server.url) as page:
        go(page, "Documents")
        path = make_pdf(server.log.parent / "Gone.pdf", ["The harbour levy is 14 crowns.", "The last page."])
        page.locator("input[type=file]").set_input_files(path)
        see(page, "✓ Gone.pdf: added", timeout=30_000)
        other = page.context.new_page()
        other.goto(server.url)
        arrive(other, "Chat")
        ask(other, "What is the harbour levy?").locator("button.key").first.click()
        dialog, asked = other.get_by_role("dialog"), page.get_by_role("dialog")
        dialog.locator("img").wait_for()
        page.locator("[class*=st-key-Remove-Gone] button:visible").first.click()
        press(asked, "Remove")
        press(other, "Next page")
        see(dialog, re.compile("Page 2"))
        page.get_by_text("Removed documents").click()
        press(page, "Erase")
        press(asked, "Erase for good")
        expect(page.get_by_text("Removed documents")).to_have_count(0, timeout=30_000)
        press(other, "Previous page")
        see(dialog, "This page is gone.")
        press(other, "Close the page")
        ask(other, CEILING)


def halves(body: dict[str, object]) -> list[str]:
    return ["The deficit ceiling is ", "three per cent", f" [{first_key(body)}]. ", "It was "]


def test_a_model_that_dies_in_the_middle_leaves_the_documents_own_words(
    browser: Browser, server: Server
) -> None:
    with (
        Provider([Say(halves, delay=0.2, ending="cut"), Say(halves)]) as provider,
        Server(server.log.parent / "spare", answered_by(provider.url)) as with_model,
        Visitor(browser, with_model.url) as page,
    ):
        begin_to_ask(page, CEILING)
        message = messages(page).nth(1)
        message.get_by_text("Details").wait_for(timeout=60_000)
        expect(message).to_contain_text("The chat model failed")
        expect(message).to_contain_text("Instead, in the documents' own words:")
        expect(message.locator(".cite").first).to_be_visible()
        expect(ask(page, f"And {CEILING}").locator(".answer")).to_contain_text("three per cent")


# Every control there is, once, as soon as it is there, for a second and a half.
PRESS_ALL = """async () => {
  const end = performance.now() + 1500;
  const pressed = new Set();
  while (performance.now() < end) {
    const all = '[data-testid=stMain] :is(button, summary, input[type=checkbox])';
    for (const one of document.querySelectorAll(all)) {
      const name = one.closest('[class*=st-key-]')?.className + one.textContent + one.className;
      if (pressed.has(name) || !one.checkVisibility() || one.disabled) continue;
      pressed.add(name);
      one.click();
    }
    await new Promise(requestAnimationFrame);
  }
  return pressed.size;
}"""


def test_every_setting_is_pressed_in_the_first_second(browser: Browser, server: Server) -> None:
    with Visitor(browser, server.url) as page:
        page.goto(f"{server.url}/settings", wait_until="commit")
        page.locator("[class*=st-key-provider-] button").first.wait_for()
        assert page.evaluate(PRESS_ALL) > 12
        settled(page)
        page.wait_for_timeout(1_500)
        if page.get_by_role("dialog").count():
            close_dialog(page)
        is_fine(page, "settings")
        expect(page.get_by_text("Traceback")).to_have_count(0)
        page.reload()
        arrive(page, "Settings")
        expect(page.get_by_role("alert")).to_have_count(0)
        press(page, "No model", exact=True)
        see(page, "In use: no model. Answers quote the documents.")
