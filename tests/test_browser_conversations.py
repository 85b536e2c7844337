"""Conversations in a real browser: they outlive a refresh, a stop and the server, belong to one browser,
and are found, renamed, deleted and taken away.
"""

from __future__ import annotations

import json
import re
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import Browser, Locator, Page, TimeoutError, expect

from chatbot.ui.safe_text import JOINER
from tests.browser import (
    Server,
    Visitor,
    answered_by,
    ask,
    at_once,
    begin_to_ask,
    close_dialog,
    messages,
    press,
    see,
    settled,
    store_of_rules,
)
from tests.marks import in_a_browser
from tests.pdfs import make_pdf
from tests.provider import Behaviour, Provider, Say, first_key, numbered_words

pytestmark = in_a_browser

TEXT = (
    "The deficit ceiling is three per cent of output, and the debt anchor is sixty per cent of it.\nThe "
    "reserve is 140 million crowns."
)
CEILING = "What is the deficit ceiling?"
ANCHOR = "What is the debt anchor?"
RESERVE = "How high is the reserve?"
SECRET = "What does the wombat clause say?"
STOPPED = "Stopped. The unfinished answer was kept, unchecked."
# Addresses of conversations.
PRIVATE, NOT_PRIVATE = re.compile(r"\?c=private-"), re.compile(r"\?c=(?!private-)")


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one document."""
    folder = tmp_path_factory.mktemp("conversations")
    return store_of_rules(folder, [TEXT])


@pytest.fixture
def home(stored: Path, tmp_path: Path) -> Path:
    """A store of a test's own."""
    return Path(shutil.copytree(stored, tmp_path / "home"))


@pytest.fixture(scope="module")
def server(stored: Path) -> Iterator[Server]:
    """A server for the tests that stop none; three exchanges are shown at first. Each visitor has
    conversations of their own.
    """
    shown = {"FINPOLICY_WINDOW": "3", "FINPOLICY_PROMPT_EXCHANGES": "2"}
    home = stored.with_name("shared")
    shutil.copytree(stored, home)
    with Server(home, shown) as started:
        yield started
    assert "Traceback" not in started.log.read_text()


def listed(page: Page) -> Locator:
    """The buttons that open conversations."""
    return page.locator("[class*=st-key-go-] button")


def go(page: Page, question: str) -> None:
    """Open a conversation from the list; as the list is drawn anew, a row may stand in it twice for a
    moment.
    """
    listed(page).filter(has_text=question).click()
    expect(questions(page)).to_have_text([question])


def questions(page: Page) -> Locator:
    return page.locator(".question")


def open_menu(page: Page) -> Locator:
    """The open conversation's menu."""
    page.locator("[class*=st-key-menu-open-] button").click()
    inside = page.get_by_test_id("stPopoverBody")
    inside.get_by_label("Title").wait_for()
    return inside


def slowly(body: dict[str, object]) -> list[str]:
    statement = "The deficit ceiling is three per cent of output"
    return [*numbered_words(15), statement, f" [{first_key(body)}]."]


def endlessly(_: object) -> list[str]:
    return numbered_words(900)


def opened(page: Page, mark: Locator) -> Locator:
    """The dialog that a click opens. While a page is drawn twice in a row, what is clicked between is
    lost, so it is clicked again.
    """
    dialog = page.get_by_role("dialog")
    mark.click()
    try:
        dialog.wait_for(timeout=5_000)
    except TimeoutError:
        mark.click()
    return dialog


def opens_its_page(page: Page) -> None:
    """The first citation there is opens the page it names."""
    settled(page)
    citation = page.locator(".cite").first
    dialog = opened(page, citation)
    expect(dialog.locator("img")).to_be_visible()
    close_dialog(page)


@pytest.mark.long
def test_an_answer_outlives_refresh_stop_and_server(browser: Browser, home: Path) -> None:
    stopped, interrupted = Say(endlessly, delay=0.08), Say(endlessly, delay=0.08)
    answers: list[Behaviour] = [Say(slowly, delay=0.08), slowly, stopped, interrupted, slowly]
    with Provider(answers) as provider:
        settings = answered_by(provider.url)
        with Server(home, settings) as server, Visitor(browser, server.url) as page:
            begin_to_ask(page, CEILING)
            page.get_by_text("word3").wait_for()
            expect(page).to_have_url(re.compile(r"\?c=[\w-]{16}$"))
            page.reload()  # in the middle of the answer, which is followed on
            messages(page).nth(1).get_by_text("Details").wait_for()
            expect(messages(page)).to_have_count(2)
            expect(page.locator(".answer")).to_contain_text("word0 word1 word2")
            ask(page, ANCHOR)
            begin_to_ask(page, RESERVE)
            third, fourth = messages(page).nth(5), messages(page).nth(7)
            third.get_by_text("word3").wait_for()
            at_once(page.get_by_test_id("stChatInputStopButton"))
            see(page, STOPPED)
            settled(page)
            page.reload()
            expect(messages(page)).to_have_count(6)
            expect(third).to_contain_text("word0 word1 word2")
            expect(third).to_contain_text(STOPPED)
            assert len(provider.requests) == 3
            begin_to_ask(page, CEILING)
            fourth.get_by_text("word9").wait_for()
            server.kill()
            for sign in (signal.SIGTERM, None):
                with Server(home, settings, port=server.port) as again:
                    page.goto(page.url)
                    expect(messages(page)).to_have_count(8)
                    expect(fourth).to_contain_text("Interrupted because the server stopped.")
                    expect(fourth).to_contain_text("word0 word1")
                    expect(third).to_contain_text("word0 word1 word2")
                    expect(third).to_contain_text(STOPPED)
                    opens_its_page(page)
                    if sign is None:
                        press(fourth, "Ask again")
                        messages(page).nth(9).get_by_text("Details").wait_for()
                        expect(messages(page)).to_have_count(10)
                        sent = provider.requests[-1].body["messages"]
                        assert any(ANCHOR in message["content"] for message in sent)
                assert "Traceback" not in again.log.read_text()


def test_one_browser_does_not_open_what_another_asked_and_two_tabs_share_it(
    browser: Browser, home: Path
) -> None:
    with (
        Provider([slowly, slowly, Say(slowly, delay=0.12), slowly]) as provider,
        Server(home, answered_by(provider.url)) as server,
        Visitor(browser, server.url) as page,
    ):
        ask(page, CEILING)
        with Visitor(browser, page.url) as stranger:
            see(stranger, "This conversation is not here. It may belong to another browser.")
            expect(messages(stranger)).to_have_count(0)
            expect(listed(stranger)).to_have_count(0)
            ask(stranger, ANCHOR)
            assert stranger.url != page.url
            expect(messages(stranger)).to_have_count(2)
            expect(listed(stranger)).to_have_count(1)
        with page.context.expect_page() as opened:
            page.evaluate("() => { window.open(location.href); }")
        second = opened.value
        expect(messages(second)).to_have_count(2)
        begin_to_ask(page, ANCHOR)
        messages(page).nth(3).get_by_text("word2").wait_for()
        begin_to_ask(second, RESERVE)  # while the other is on its way
        answer = messages(second).nth(5)
        answer.get_by_text("Details").wait_for(timeout=20_000)
        expect(questions(second)).to_have_text([CEILING, ANCHOR, RESERVE])
        page.reload()
        expect(questions(page)).to_have_text([CEILING, ANCHOR, RESERVE])
        expect(page.get_by_text("Details")).to_have_count(3)
        assert len(provider.requests) == 4


@pytest.mark.long
def test_conversations_are_found_renamed_deleted_and_taken_away(
    browser: Browser, server: Server, tmp_path: Path
) -> None:
    with Visitor(browser, server.url) as page:
        see(page, "Your conversations will appear here.")
        for question in (CEILING, ANCHOR):
            ask(page, question)
            press(page, "New conversation")
            expect(messages(page)).to_have_count(0)
        expect(listed(page)).to_have_text([ANCHOR, CEILING])
        expect(page.locator("h3.day")).to_have_text(["Today"])
        go(page, CEILING)
        address = page.url
        title = open_menu(page).get_by_label("Title")
        title.fill("The <b>ceiling</b> $x$ :red[y]")
        title.press("Enter")
        expect(listed(page).nth(1)).to_have_text(f"The <b>ceiling</b> $x$ :{JOINER}red[y]")
        menu = page.get_by_test_id("stPopoverBody")
        expect(menu).to_have_count(0)
        inside = open_menu(page)
        recall = "Use my other conversations"
        inside.locator("label").filter(has_text=recall).click()
        expect(inside.get_by_role("switch", name=recall)).to_be_checked()
        settled(page)
        for label, ending in (("Markdown", "md"), ("JSON", "json")):
            with page.expect_download() as download:
                inside.get_by_role("link", name=f"Export as {label}").click()
            name = download.value.suggested_filename
            assert name.endswith(f".{ending}")
            download.value.save_as(tmp_path / f"taken.{ending}")
        markdown = (tmp_path / "taken.md").read_text()
        assert "three per cent" in markdown
        taken = json.loads((tmp_path / "taken.json").read_text())
        first, *_ = taken["exchanges"]
        assert first["details"]["citations"]
        page.keyboard.press("Escape")
        page.reload()
        inside = open_menu(page)
        expect(inside.get_by_role("switch", name=recall)).to_be_checked()
        press(inside, "Delete")
        expect(messages(page)).to_have_count(0)
        expect(listed(page)).to_have_text([ANCHOR])
        press(page, "Undo")
        expect(questions(page)).to_have_text([CEILING])
        assert page.url == address
        search = page.get_by_label("Search conversations")
        search.fill("CEILING <b>")
        expect(listed(page)).to_have_count(1)
        expect(listed(page)).to_contain_text("ceiling")


# Press a button and ask at once, before the server can have said what came of it.
HASTE = """([key, question]) => {
const box = document.querySelector('[data-testid="stChatInput"] textarea');
document.querySelector(`.st-key-${key} button`).click();
Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value').set.call(box, question);
box.dispatchEvent(new Event('input', {bubbles: true}));
setTimeout(() => box.dispatchEvent(new KeyboardEvent('keydown', \
{key: 'Enter', code: 'Enter', keyCode: 13, bubbles: true, cancelable: true})), 10);
}"""


@pytest.mark.long
def test_what_is_asked_just_after_a_click_stands_where_the_click_led(
    browser: Browser, server: Server
) -> None:
    with Visitor(browser, server.url) as page:
        ask(page, CEILING)
        second = page.context.new_page()
        second.goto(page.url)
        second.locator(".question").wait_for()
        addresses = {"new": NOT_PRIVATE, "new-private": PRIVATE}
        asked = {
            ANCHOR: "new",
            RESERVE: "new",
            SECRET: "new-private",
            f"And {CEILING}": "new",
            f"And {SECRET}": "new-private",
        }
        for question, key in asked.items():
            settled(page)
            page.evaluate(HASTE, [key, question])
            expect(questions(page)).to_have_text([question])
            messages(page).last.get_by_text("Details").wait_for()
            expect(page).to_have_url(addresses[key])
        page.go_back()  # what the browser itself goes back to is not taken for a click that came late
        expect(questions(page)).not_to_have_text([f"And {SECRET}"])


@pytest.mark.long
def test_a_private_conversation_leaves_nothing(browser: Browser, home: Path) -> None:
    with Server(home) as server, Visitor(browser, server.url) as page:
        press(page, "Private conversation")
        see(page, "Private: nothing of this is stored, and it ends when the server stops.")
        attach = page.get_by_test_id("stChatInputFileUploadButton")
        expect(attach).to_be_hidden()  # what is attached would be kept
        attached = make_pdf(home.parent / "x.pdf", ["Not to be kept."])
        field = page.get_by_test_id("stChatInput")
        field.locator("input[type=file]").first.set_input_files(attached)
        field.get_by_text("x.pdf").wait_for()
        ask(page, SECRET)
        pdfs = list(home.rglob("*.pdf"))
        assert len(pdfs) == 1  # the one that was there
        page.reload()
        expect(questions(page)).to_have_text([SECRET])
        press(page, "New conversation")
        expect(messages(page)).to_have_count(0)
        expect(attach).to_be_visible()
        ask(page, CEILING)
        go(page, SECRET)
        address = page.url
        server.stop()
        see(page, "Connection lost. Trying again…")
        expect(page.get_by_text("Streamlit server")).not_to_be_visible()
        files = [path for path in home.rglob("*") if path.is_file()]
        kept = {path: path.read_bytes() for path in [*files, server.log]}
        assert [path for path in files if b"deficit ceiling?" in kept[path]]
        assert [path for path, data in kept.items() if b"wombat" in data] == []
        with Server(home, port=server.port):
            expect(page.locator(".connection")).to_be_hidden(timeout=30_000)
            page.goto(address)
            see(page, "This conversation is not here.")
            expect(listed(page)).to_have_text([CEILING])
            ask(page, SECRET)
            expect(page).to_have_url(PRIVATE)


NOTE_PLACE = """document.addEventListener('click', () => { window.stood = \
document.querySelector('[data-exchange="3"]').getBoundingClientRect().top },
{capture: true, once: true})"""


@pytest.mark.long
def test_earlier_exchanges_come_above_and_what_one_reads_stays_where_it_is(
    browser: Browser, server: Server
) -> None:
    with Visitor(browser, server.url) as page:
        asked = [f"{CEILING} ({number})" for number in range(1, 6)]
        for question in asked:
            ask(page, question)
        expect(questions(page)).to_have_count(5)  # nothing leaves the page while one asks
        page.reload()
        expect(questions(page)).to_have_text(asked[2:])
        settled(page)
        third = page.locator("[data-exchange='3']")
        page.locator("[class*=st-key-how-3] summary").click()
        earlier = page.get_by_role("button", name="Show 2 earlier")
        earlier.scroll_into_view_if_needed()
        settled(page)
        # Noted in the click itself: the page may still be on its way to the end when a test looks.
        page.evaluate(NOTE_PLACE)
        earlier.click()
        expect(questions(page)).to_have_count(5)
        settled(page)
        page.wait_for_timeout(2_500)  # by then nothing is held any more
        stood = page.evaluate("window.stood")
        after = third.bounding_box()
        assert after
        assert abs(stood - after["y"]) < 3, (stood, after)
        details_of_third = page.locator("[class*=st-key-how-3] details")
        details_of_first = page.locator("[class*=st-key-how-1] details")
        expect(details_of_third).to_have_attribute("open", "")
        expect(details_of_first).not_to_have_attribute("open", "")
