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
from tests.browser import Server, Visitor, add, ask, at_once, chromium, settled
from tests.pdfs import make_pdf
from tests.provider import Behaviour, Provider, Say, first_key

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(chromium() is None, reason="there is no Chromium on PATH (apt-get install chromium)"),
]

RULES = "Rules.pdf"
TEXT = (
    "The deficit ceiling is three per cent of output, and the debt anchor is sixty per cent of it.\nThe "
    "reserve is 140 million crowns."
)
CEILING, ANCHOR, RESERVE = (
    "What is the deficit ceiling?",
    "What is the debt anchor?",
    "How high is the reserve?",
)
SECRET = "What does the wombat clause say?"


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one document."""
    folder = tmp_path_factory.mktemp("conversations")
    add(folder / "home", [make_pdf(folder / RULES, [TEXT])])
    return folder / "home"


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
    with Server(Path(shutil.copytree(stored, stored.with_name("shared"))), shown) as started:
        yield started
    assert "Traceback" not in started.log.read_text()


def messages(page: Page) -> Locator:
    return page.get_by_test_id("stChatMessage")


def listed(page: Page) -> Locator:
    """The buttons that open conversations."""
    return page.locator("[class*=st-key-go-] button")


def go(page: Page, question: str) -> None:
    """Open a conversation from the list; as the list is drawn anew, a row may stand in it twice for a
    moment.
    """
    listed(page).filter(has_text=question).click()
    expect(page.locator(".question")).to_have_text([question])


def open_menu(page: Page) -> Locator:
    """The open conversation's menu."""
    page.locator("[class*=st-key-menu-open-] button").click()
    inside = page.get_by_test_id("stPopoverBody")
    inside.get_by_label("Title").wait_for()
    return inside


def slowly(body: dict[str, object]) -> list[str]:
    return [
        *[f"word{number} " for number in range(15)],
        "The deficit ceiling is three per cent of output",
        f" [{first_key(body)}].",
    ]


def endlessly(_: object) -> list[str]:
    return [f"word{number} " for number in range(900)]


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
    dialog = opened(page, page.locator("[class*=st-key-cite-] button").first)
    expect(dialog.locator("img")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_an_answer_outlives_refresh_stop_and_server(browser: Browser, home: Path) -> None:
    settings = {"FINPOLICY_CHAT_MODEL": "stand-in", "OPENAI_API_KEY": "sk-secret"}
    answers: list[Behaviour] = [
        Say(slowly, delay=0.08),
        slowly,
        Say(endlessly, delay=0.08),
        Say(endlessly, delay=0.08),
        slowly,
    ]
    with Provider(answers) as provider:
        settings |= {"OPENAI_BASE_URL": provider.url}
        with Server(home, settings) as server, Visitor(browser, server.url) as page:
            page.get_by_label("Ask about the documents").fill(CEILING)
            page.keyboard.press("Enter")
            page.get_by_text("word3").wait_for()
            expect(page).to_have_url(re.compile(r"\?c=[\w-]{16}$"))
            page.reload()  # in the middle of the answer, which is followed on
            messages(page).nth(1).get_by_text("How this was answered").wait_for()
            expect(messages(page)).to_have_count(2)
            expect(page.locator(".answer")).to_contain_text("word0 word1 word2")
            ask(page, ANCHOR)
            page.get_by_label("Ask about the documents").fill(RESERVE)
            page.keyboard.press("Enter")
            messages(page).nth(5).get_by_text("word3").wait_for()
            at_once(page.get_by_test_id("stChatInputStopButton"))
            expect(page.get_by_text("Stopped. What had come is kept, unchecked.")).to_be_visible()
            settled(page)
            page.reload()
            expect(messages(page)).to_have_count(6)
            expect(messages(page).nth(5)).to_contain_text("word0 word1 word2")
            expect(messages(page).nth(5)).to_contain_text("Stopped. What had come is kept, unchecked.")
            assert len(provider.requests) == 3
            page.get_by_label("Ask about the documents").fill(CEILING)
            page.keyboard.press("Enter")
            messages(page).nth(7).get_by_text("word9").wait_for()
            server.kill()
            for sign in (signal.SIGTERM, None):
                with Server(home, settings, port=server.port) as again:
                    page.goto(page.url)
                    expect(messages(page)).to_have_count(8)
                    expect(messages(page).nth(7)).to_contain_text(
                        "Interrupted: the server stopped while this was written."
                    )
                    expect(messages(page).nth(7)).to_contain_text("word0 word1")
                    expect(messages(page).nth(5)).to_contain_text("word0 word1 word2")
                    expect(messages(page).nth(5)).to_contain_text(
                        "Stopped. What had come is kept, unchecked."
                    )
                    opens_its_page(page)
                    if sign is None:
                        messages(page).nth(7).get_by_role("button", name="Ask again").click()
                        messages(page).nth(9).get_by_text("How this was answered").wait_for()
                        expect(messages(page)).to_have_count(10)
                        earlier = [message["content"] for message in provider.requests[-1].body["messages"]]
                        assert any(ANCHOR in content for content in earlier)
                assert "Traceback" not in again.log.read_text()


def test_one_browser_does_not_open_what_another_asked_and_two_tabs_share_it(
    browser: Browser, home: Path
) -> None:
    with Provider([slowly, slowly, Say(slowly, delay=0.12), slowly]) as provider:
        settings = {
            "FINPOLICY_CHAT_MODEL": "stand-in",
            "OPENAI_API_KEY": "sk-secret",
            "OPENAI_BASE_URL": provider.url,
        }
        with Server(home, settings) as server, Visitor(browser, server.url) as page:
            ask(page, CEILING)
            with Visitor(browser, page.url) as stranger:
                expect(
                    stranger.get_by_text("There is no such conversation here, or it is another browser's.")
                ).to_be_visible()
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
            page.get_by_label("Ask about the documents").fill(ANCHOR)
            page.keyboard.press("Enter")
            messages(page).nth(3).get_by_text("word2").wait_for()
            second.get_by_label("Ask about the documents").fill(RESERVE)  # while the other is on its way
            second.keyboard.press("Enter")
            messages(second).nth(5).get_by_text("How this was answered").wait_for(timeout=20_000)
            expect(second.locator(".question")).to_have_text([CEILING, ANCHOR, RESERVE])
            page.reload()
            expect(page.locator(".question")).to_have_text([CEILING, ANCHOR, RESERVE])
            expect(page.get_by_text("How this was answered")).to_have_count(3)
            assert len(provider.requests) == 4


def test_conversations_are_found_renamed_deleted_restored_and_taken_away(
    browser: Browser, server: Server, tmp_path: Path
) -> None:
    with Visitor(browser, server.url) as page:
        expect(page.get_by_text("Your conversations will stand here.")).to_be_visible()
        for question in (CEILING, ANCHOR):
            ask(page, question)
            page.get_by_role("button", name="New conversation").click()
            expect(messages(page)).to_have_count(0)
        expect(listed(page)).to_have_text([ANCHOR, CEILING])
        expect(page.locator("h3.day")).to_have_text(["Today"])
        go(page, CEILING)
        address = page.url
        inside = open_menu(page)
        inside.get_by_label("Title").fill("The <b>ceiling</b> $x$ :red[y]")
        inside.get_by_label("Title").press("Enter")
        expect(listed(page).nth(1)).to_have_text(f"The <b>ceiling</b> $x$ :{JOINER}red[y]")
        expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)
        inside = open_menu(page)
        recall = "May recall my other conversations"
        inside.locator("label").filter(has_text=recall).click()
        expect(inside.get_by_role("switch", name=recall)).to_be_checked()
        settled(page)
        for label, ending in (("Markdown", "md"), ("JSON", "json")):
            with page.expect_download() as download:
                inside.get_by_role("link", name=f"Export as {label}").click()
            assert download.value.suggested_filename.endswith(f".{ending}")
            download.value.save_as(tmp_path / f"taken.{ending}")
        assert "three per cent" in (tmp_path / "taken.md").read_text()
        assert json.loads((tmp_path / "taken.json").read_text())["exchanges"][0]["details"]["citations"]
        page.keyboard.press("Escape")
        page.reload()
        expect(open_menu(page).get_by_role("switch", name=recall)).to_be_checked()
        page.get_by_test_id("stPopoverBody").get_by_role("button", name="Delete").click()
        expect(messages(page)).to_have_count(0)
        expect(listed(page)).to_have_text([ANCHOR])
        page.get_by_role("button", name="Undo").click()
        expect(page.locator(".question")).to_have_text([CEILING])
        assert page.url == address
        page.get_by_label("Search conversations").fill("CEILING <b>")
        expect(listed(page)).to_have_count(1)
        expect(listed(page)).to_contain_text("ceiling")
        page.get_by_label("Search conversations").fill("wombat")
        expect(page.get_by_text("No conversation holds all of these words.")).to_be_visible()
        page.get_by_label("Search conversations").fill("")
        open_menu(page).get_by_role("button", name="Delete").click()
        page.get_by_role("button", name="Dismiss").click()
        page.goto(address)
        expect(page.get_by_text("This conversation is deleted.")).to_be_visible()
        page.get_by_role("button", name="Restore", exact=True).click()
        expect(page.locator(".question")).to_have_text([CEILING])
        open_menu(page).get_by_role("button", name="Delete").click()
        page.get_by_text("Deleted (1)").click()
        opened(page, page.get_by_role("button", name="Erase now")).get_by_role(
            "button", name="Erase for good"
        ).click()
        expect(page.get_by_text("Deleted (1)")).to_have_count(0)
        page.goto(address)
        expect(page.get_by_text("There is no such conversation here")).to_be_visible()


# Press a button and ask at once, before the server can have said what came of it.
HASTE = """([key, question]) => {
const box = document.querySelector('[data-testid="stChatInput"] textarea');
document.querySelector(`.st-key-${key} button`).click();
Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value').set.call(box, question);
box.dispatchEvent(new Event('input', {bubbles: true}));
setTimeout(() => box.dispatchEvent(new KeyboardEvent('keydown', \
{key: 'Enter', code: 'Enter', keyCode: 13, bubbles: true, cancelable: true})), 10);
}"""


def test_what_is_asked_just_after_a_click_stands_where_the_click_led(
    browser: Browser, server: Server
) -> None:
    with Visitor(browser, server.url) as page:
        ask(page, CEILING)
        second = page.context.new_page()
        second.goto(page.url)
        second.locator(".question").wait_for()
        for key, question in (
            ("new", ANCHOR),
            ("new", RESERVE),
            ("new-private", SECRET),
            ("new", f"And {CEILING}"),
            ("new-private", f"And {SECRET}"),
        ):
            settled(page)
            page.evaluate(HASTE, [key, question])
            expect(page.locator(".question")).to_have_text([question])
            messages(page).last.get_by_text("How this was answered").wait_for()
            expect(page).to_have_url(
                re.compile(r"\?c=private-" if key == "new-private" else r"\?c=(?!private-)")
            )
        page.go_back()  # what the browser itself goes back to is not taken for a click that came late
        expect(page.locator(".question")).not_to_have_text([f"And {SECRET}"])


def test_a_private_conversation_leaves_nothing(browser: Browser, home: Path) -> None:
    with Server(home) as server, Visitor(browser, server.url) as page:
        page.get_by_role("button", name="Private conversation").click()
        expect(
            page.get_by_text("Private: nothing of this is kept on disk; it is gone when the server stops.")
        ).to_be_visible()
        expect(
            page.get_by_test_id("stChatInputFileUploadButton")
        ).to_be_hidden()  # what is attached would be kept
        attached = make_pdf(home.parent / "x.pdf", ["Not to be kept."])
        page.get_by_test_id("stChatInput").locator("input[type=file]").first.set_input_files(attached)
        page.get_by_test_id("stChatInput").get_by_text("x.pdf").wait_for()
        ask(page, SECRET)
        assert len(list(home.rglob("*.pdf"))) == 1  # the one that was there
        page.reload()
        expect(page.locator(".question")).to_have_text([SECRET])
        page.get_by_role("button", name="New conversation").click()
        expect(messages(page)).to_have_count(0)
        expect(page.get_by_test_id("stChatInputFileUploadButton")).to_be_visible()
        ask(page, CEILING)
        go(page, SECRET)
        address = page.url
        server.stop()
        files = [path for path in home.rglob("*") if path.is_file()]
        assert [path.name for path in files if b"deficit ceiling?" in path.read_bytes()]
        assert [path.name for path in [*files, server.log] if b"wombat" in path.read_bytes()] == []
        with Server(home, port=server.port):
            page.goto(address)
            expect(page.get_by_text("There is no such conversation here")).to_be_visible()
            expect(listed(page)).to_have_text([CEILING])
            ask(page, SECRET)
            expect(page).to_have_url(re.compile(r"\?c=private-"))


def test_earlier_exchanges_come_above_and_what_one_reads_stays_where_it_is(
    browser: Browser, server: Server
) -> None:
    with Visitor(browser, server.url) as page:
        for number in range(1, 6):
            ask(page, f"{CEILING} ({number})")
        expect(page.locator(".question")).to_have_count(5)  # nothing leaves the page while one asks
        page.reload()
        expect(page.locator(".question")).to_have_text([f"{CEILING} ({number})" for number in (3, 4, 5)])
        settled(page)
        third = page.locator("[data-exchange='3']")
        page.locator("[class*=st-key-how-3] summary").click()
        page.get_by_role("button", name="Show 2 earlier").scroll_into_view_if_needed()
        settled(page)
        # Noted in the click itself: the page may still be on its way to the end when a test looks.
        page.evaluate(
            """document.addEventListener('click', () => { window.stood = \
document.querySelector('[data-exchange="3"]').getBoundingClientRect().top },
            {capture: true, once: true})"""
        )
        page.get_by_role("button", name="Show 2 earlier").click()
        expect(page.locator(".question")).to_have_count(5)
        settled(page)
        page.wait_for_timeout(2_500)  # by then nothing is held any more
        stood, after = page.evaluate("window.stood"), third.bounding_box()
        assert after and abs(stood - after["y"]) < 3, (stood, after)
        expect(page.locator("[class*=st-key-how-3] details")).to_have_attribute("open", "")
        expect(page.locator("[class*=st-key-how-1] details")).not_to_have_attribute("open", "")
