"""Pages for everybody: axe-core finds nothing serious on any, the keyboard goes everywhere, nothing jumps,
nothing moves unasked, nothing is logged.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import Browser, Page, expect

from tests.browser import (
    ROOT,
    Server,
    Visitor,
    add,
    arrive,
    ask,
    close_dialog,
    messages,
    press,
    settled,
    store_of_rules,
)
from tests.marks import in_a_browser
from tests.statements import draw_accounts

pytestmark = in_a_browser

AXE = ROOT / ".venv" / "axe-core" / "axe.min.js"
# Pictures of what has a fault, and the reports.
ARTEFACTS = ROOT / ".artefacts"
RULES = [
    "The deficit ceiling is three per cent of output.\nThe debt anchor is 60 per cent of output.",
    "The main objectives are low debt and stable prices.",
]
BOTH = "What are the deficit ceiling and the debt anchor?"
# What is Streamlit's own and cannot be mended from here: (rule, selector, reason). Nothing else is left out.
KNOWN: tuple[tuple[str, str, str], ...] = ()
# Serious or critical violations, each with the elements it was found in; what is dimmed for a moment or not
# shown is not judged.
JUDGE = """async (asked) => {
  const found = await axe.run(document, {resultTypes: ['violations'], runOnly: asked});
  return found.violations.filter(v => ['serious', 'critical'].includes(v.impact)).flatMap(
    v => v.nodes.map(n => ({rule: v.id, target: n.target.join(' '), html: n.html.slice(0, 300), \
why: (n.failureSummary || '').slice(0, 300)})));
}"""
# All of axe-core's rules of these standards in light; in dark nothing but colours is different.
RULES_JUDGED: dict[Literal["light", "dark"], object] = {
    "light": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "dark": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]},
}
SHIFTS = """() => {
  window.shifts = [];
  new PerformanceObserver((list) => {
    for (const one of list.getEntries()) if (!one.hadRecentInput)
      window.shifts.push([one.value, one.sources.map((of) => of.node && (of.node.outerHTML || \
of.node.textContent || '').slice(0, 120))]);
  }).observe({type: 'layout-shift'});
}"""
# What Streamlit fades while a slow page is drawn anew is no colour of the page.
UNFADED = (
    "() => [...document.querySelectorAll('.stElementContainer')].every((one) => ['0', "
    "'1'].includes(getComputedStyle(one).opacity))"
)
# 58rem
STYLED = (
    "() => getComputedStyle(document.querySelector('[data-testid=stMainBlockContainer]')).maxWidth === "
    "'928px'"
)
MOVING = (
    "() => document.getAnimations().filter(one => one.effect.getComputedTiming().duration > 1).map(one "
    "=> String(one.animationName || one))"
)
# Above 0.1 a page counts as one that jumps (https://web.dev/articles/cls); half of it for us.
MOST_SHIFT = 0.05


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    home = store_of_rules(tmp_path_factory.mktemp("accessible"), RULES)
    with Server(home) as started:
        yield started
    assert "Traceback" not in started.log.read_text()


class Judge:
    """Collects what axe-core finds in each state of the pages."""

    def __init__(self, page: Page, name: str) -> None:
        self._page, self._name = page, name
        ARTEFACTS.mkdir(exist_ok=True)
        self._source = AXE.read_text("utf-8")
        self.found: list[dict[str, Any]] = []

    def __call__(self, state: str) -> None:
        """Judge the page as it is, in light and in dark."""
        for theme, rules in RULES_JUDGED.items():
            self._page.emulate_media(color_scheme=theme)
            settled(self._page)
            self._page.wait_for_timeout(300)
            self._page.wait_for_function(UNFADED)
            self._page.evaluate(f"if (!window.axe) {{ {self._source} }}")
            # A page that is still being drawn in the other theme mends itself; a fault stays.
            if found := self._faults(rules):
                self._page.wait_for_timeout(2_000)
                settled(self._page)
                found = self._faults(rules)
            self.found += [{"state": f"{state}, {theme}", **one} for one in found]
            if found:
                self._page.screenshot(path=ARTEFACTS / f"{self._name}, {state}, {theme}.png")

    def _faults(self, rules: object) -> list[dict[str, Any]]:
        """What axe-core finds now, but for what is known."""

        def is_known(one: dict[str, Any]) -> bool:
            selectors = [selector for rule, selector, _ in KNOWN if rule == one["rule"]]
            places = [self._page.locator(f"{one['target']}:is({selector})") for selector in selectors]
            return any(place.count() for place in places)

        return [one for one in self._page.evaluate(JUDGE, rules) if not is_known(one)]

    def report(self) -> None:
        """Write down what was found, which must be nothing."""
        report = ARTEFACTS / f"axe, {self._name}.json"
        report.write_text(json.dumps(self.found, indent=1), "utf-8")
        assert not self.found, report.read_text("utf-8")


def with_examples(page: Page) -> None:
    """Wait until the empty chat has its example questions, and its style, which Streamlit loads after the
    first drawing."""
    page.locator("[class*=st-key-example-]").first.wait_for()
    page.wait_for_function(STYLED)
    settled(page)
    page.wait_for_timeout(300)


def go(page: Page, server: Server, name: str) -> None:
    page.goto(f"{server.url}/{name.lower().replace(' ', '-')}" if name != "Chat" else server.url)
    arrive(page, name)
    settled(page)


@pytest.mark.long
@pytest.mark.timeout(240)
@pytest.mark.skipif(not AXE.exists(), reason="there is no axe-core (bash .ci/browser.sh fetches it by npm)")
def test_the_chat_has_no_serious_fault(browser: Browser, server: Server) -> None:
    with Visitor(browser, server.url) as page:
        judge = Judge(page, "chat")
        with_examples(page)
        judge("empty")
        dialog = page.get_by_role("dialog")
        message = ask(page, BOTH)
        press(message, "Helpful", exact=True)
        page.get_by_text("Rated helpful").wait_for()
        judge("an answer that is rated")
        message.get_by_text("Details").click()
        judge("how it was answered")
        message.locator("button.key").first.click()
        dialog.locator("img").wait_for()
        judge("a page open")
        close_dialog(page)
        press(message, "See what a model would be sent")
        dialog.locator(".kept").first.wait_for()
        judge("the prompt")
        close_dialog(page)
        ask(page, "Who won the football match?")
        judge("not in the documents")
        page.locator("[class*=st-key-menu-open-] button").first.click()
        menu = page.get_by_test_id("stPopoverBody")
        menu.get_by_label("Title").wait_for()
        judge("the menu of a conversation")
        press(menu, "Delete")
        page.get_by_text("Deleted (1)").click()
        press(page, "Erase now")
        dialog.wait_for()
        judge("what is erased for good")
        judge.report()


@pytest.mark.long
@pytest.mark.timeout(240)
@pytest.mark.skipif(not AXE.exists(), reason="there is no axe-core (bash .ci/browser.sh fetches it by npm)")
def test_no_other_page_has_a_serious_fault(browser: Browser, server: Server) -> None:
    with Visitor(browser, server.url) as page:
        judge = Judge(page, "others")
        dialog = page.get_by_role("dialog")
        message = ask(page, BOTH)
        press(message, "Helpful", exact=True)
        page.get_by_text("Rated helpful").wait_for()
        for name in ("Documents", "Key figures", "Compare", "Memory", "Settings"):
            go(page, server, name)
            judge(name)
            for tab in page.get_by_role("tab").all()[1:]:
                tab.click()
                judge(f"{name}, {tab.inner_text()}")
        go(page, server, "Documents")
        page.locator("[class*=st-key-Guide-] button").first.click()
        page.locator(".st-key-guide-questions").wait_for()
        judge("Documents, a guide")
        for label in ("Details", "Remove"):
            page.locator(f"[class*=st-key-{label}-] button").first.click()
            dialog.wait_for()
            judge(f"Documents, {label}")
            page.keyboard.press("Escape")
        go(page, server, "Memory")
        page.get_by_role("button", name="Correct", exact=True).first.click()
        dialog.wait_for()
        judge("Memory, a correction")
        page.goto(f"{server.url}/compare?q=What+is+the+deficit+ceiling%3F&d=Rules.pdf&y=2023&y=2024")
        arrive(page, "Compare")
        press(page, "Compare", exact=True)
        page.get_by_role("link", name="Download as CSV").wait_for()
        judge("Compare, answers side by side")
        judge.report()


@pytest.mark.skipif(not AXE.exists(), reason="there is no axe-core (bash .ci/browser.sh fetches it by npm)")
@pytest.mark.long
def test_pages_without_documents_have_no_serious_fault(browser: Browser, tmp_path: Path) -> None:
    with Server(tmp_path / "empty") as server, Visitor(browser, server.url) as page:
        judge = Judge(page, "nothing")
        for name in ("Chat", "Documents", "Memory"):
            go(page, server, name)
            judge(f"{name}, without documents")
        judge.report()


@pytest.mark.long
@pytest.mark.skipif(not AXE.exists(), reason="there is no axe-core (bash .ci/browser.sh fetches it by npm)")
def test_key_figures_have_no_serious_fault(browser: Browser, tmp_path: Path) -> None:
    add(tmp_path / "home", [draw_accounts(tmp_path / "Alder.pdf")])
    with Server(tmp_path / "home") as server, Visitor(browser, server.url) as page:
        judge = Judge(page, "key figures")
        go(page, server, "Key figures")
        page.get_by_role("link", name="Download as XLSX").wait_for()
        judge("Key figures")
        page.locator(".figures").first.get_by_role("button").first.click()
        page.get_by_role("dialog").locator("img").wait_for()
        press(page, "Outline")
        judge("Key figures, a page and its outline")
        judge.report()


def focused(page: Page) -> str:
    """What has the focus, in the words a screen reader would say."""
    said: str = page.evaluate(
        "() => { const at = document.activeElement; return at.getAttribute('aria-label') || "
        "at.innerText || at.getAttribute('placeholder') || at.tagName }"
    )
    return " ".join(said.split())


@pytest.mark.long
def test_the_keyboard_goes_everywhere(browser: Browser, server: Server) -> None:
    with Visitor(browser, server.url) as page:
        box = page.get_by_label("Ask about the documents")
        expect(box).to_be_focused()
        page.keyboard.type(BOTH)
        page.keyboard.press("Enter")
        message = messages(page).last
        message.get_by_text("Details").wait_for()
        settled(page)
        mark = message.locator("button.key").nth(1)
        for key in ("keyboard", "mouse"):
            if key == "keyboard":
                mark.focus()
                page.keyboard.press("Enter")
                page.get_by_role("dialog").locator("img").wait_for()
                expect(page.get_by_role("dialog")).to_be_focused()
            else:
                mark.click()
                page.get_by_role("dialog").locator("img").wait_for()
                expect(mark).to_be_focused()
            close_dialog(page)
            expect(mark).to_be_focused()
        order = []
        for _ in range(7):
            page.keyboard.press("Tab")
            order.append(focused(page))
        assert any("Rules" in words for words in order), order
        settled(page)
        citation = message.locator(".cite").first
        citation.focus()
        page.keyboard.press("Enter")
        page.get_by_role("dialog").locator("img").wait_for()
        page.keyboard.press("Escape")
        expect(citation).to_be_focused()


@pytest.mark.long
def test_nothing_jumps_while_an_answer_comes(browser: Browser, server: Server) -> None:
    with Visitor(browser, server.url) as page:
        with_examples(page)
        page.evaluate(SHIFTS)
        ask(page, BOTH)
        settled(page)
        page.wait_for_timeout(500)
        shifts = page.evaluate("window.shifts")
        total = sum(value for value, _ in shifts)
        assert total < MOST_SHIFT, shifts


@pytest.mark.long
def test_nothing_moves_for_who_asked_for_that(browser: Browser, server: Server) -> None:
    page = browser.new_context(reduced_motion="reduce").new_page()
    page.goto(server.url)
    arrive(page, "Chat")
    message = ask(page, BOTH)
    message.locator("button.key").first.click()
    page.get_by_role("dialog").wait_for()
    moving = page.evaluate(MOVING)
    assert moving == []
    page.context.close()
