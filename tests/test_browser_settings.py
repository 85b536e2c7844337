"""Settings in a real browser: what one user chooses answers them and nobody else, and their key is found
nowhere once it is saved.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import Browser, Locator, Page, WebSocket, expect

from tests.browser import (
    Server,
    Visitor,
    answered_by,
    arrive,
    ask,
    go,
    press,
    see,
    settled,
    store_of_rules,
)
from tests.marks import in_a_browser
from tests.provider import Body, Provider, Say, first_key

pytestmark = in_a_browser

TEXT = "The deficit ceiling is three per cent of output, and the debt anchor is sixty per cent of it."
QUESTION = "What is the deficit ceiling?"
# A person who changes their mind is quicker than the page.
PRESS_AT_ONCE = """names => names.forEach(name =>
    [...document.querySelectorAll("button")].find(one => one.innerText.trim() === name).click())"""
KEY, SERVER_KEY = "sk-anns-own-key-4711", "sk-servers-0815"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one document."""
    folder = tmp_path_factory.mktemp("settings")
    return store_of_rules(folder, [TEXT])


def says(name: str) -> Say:
    def pieces(body: Body) -> list[str]:
        return [f"{name} says that the deficit ceiling is three per cent of output [{first_key(body)}]."]

    return Say(pieces)


def choose_model(page: Page, model: str, url: str, key: str) -> None:
    expect(page.get_by_role("button", name="Another endpoint")).to_be_visible()
    page.evaluate(PRESS_AT_ONCE, ["OpenAI", "No model", "Ollama", "Another endpoint"])
    see(page, "Any server with an OpenAI-compatible API")  # the last one counts
    field(page, "Address").fill(url)
    field(page, "Key").fill(key)
    press(page, "Connect", exact=True)
    field(page, "Model").fill(model)
    press(page, "Save", exact=True)


def field(page: Page, label: str) -> Locator:
    return page.get_by_label(label, exact=True)


def sidebar(page: Page) -> Locator:
    return page.get_by_test_id("stSidebar")


@pytest.mark.long
def test_each_user_is_answered_by_their_own_choice_and_the_key_is_found_nowhere(
    browser: Browser, home: Path
) -> None:
    received: list[bytes] = []

    def keep(frame: str | bytes) -> None:
        received.append(frame if isinstance(frame, bytes) else frame.encode())

    def listen(socket: WebSocket) -> None:
        socket.on("framereceived", keep)

    with Provider([says("Server")]) as servers, Provider(["ready", says("Ann")]) as anns:
        settings = answered_by(servers.url, model="for-all", key=SERVER_KEY)
        with (
            Server(home, settings) as server,
            Visitor(browser, server.url) as ann,
            Visitor(browser, server.url) as bob,
        ):
            ann.on("websocket", listen)
            ann.reload()
            arrive(ann, "Chat")
            go(ann, "Settings")
            choose_model(ann, "anns-model", anns.url, KEY)
            host = urlsplit(anns.url).netloc
            see(ann, f"In use: anns-model at {host}. Your key is set.")
            expect(field(ann, "Key")).to_have_value("")
            press(ann, "Test the model")
            see(ann, f"{host} answered in")
            ann.get_by_text("Advanced", exact=True).click()
            exchanges = ann.get_by_label("Questions remembered")
            exchanges.fill("3")
            exchanges.press("Enter")
            expect(ann.get_by_role("button", name="Reset to 10")).to_be_visible()
            go(ann, "Chat")
            expect(ask(ann, QUESTION)).to_contain_text("Ann says")
            expect(ask(bob, QUESTION)).to_contain_text("Server says")
            expect(sidebar(bob)).to_contain_text("(for-all)")
            expect(sidebar(ann)).to_contain_text("(anns-model). You chose this on the Settings page.")
            go(bob, "Settings")
            bob.get_by_text("Advanced", exact=True).click()
            expect(bob.get_by_label("Questions remembered")).to_have_value("10")
            press(bob, "No model", exact=True)
            expect(sidebar(bob)).to_contain_text("Answers: in the documents' own words.")
            go(bob, "Chat")
            answer = ask(bob, "What is the debt anchor?")
            expect(answer).to_contain_text("sixty per cent")
            assert len(servers.requests) == 1
            assert len(anns.requests) == 2
            for request in anns.requests:
                assert request.headers["authorization"] == f"Bearer {KEY}"
            go(ann, "Settings")
            see(ann, "Your key is set.")
            files = [path for path in home.rglob("*") if path.is_file()]
            kept = {path: path.read_bytes() for path in [*files, server.log]}
            assert received
            assert len(kept) > 5
            shown = ann.content() + bob.content()
            for secret in (KEY, SERVER_KEY):
                written = secret.encode()
                assert not [path for path, data in kept.items() if written in data]
                assert not [frame for frame in received if written in frame]
                assert secret not in shown
            assert "Traceback" not in server.log.read_text()


def test_a_choice_survives_the_server_and_the_key_does_not(browser: Browser, home: Path) -> None:
    with Provider(["ready"]) as provider:
        with Server(home) as server:
            port = server.port
            with Visitor(browser, server.url) as page:
                go(page, "Settings")
                choose_model(page, "m-7", provider.url, KEY)
                see(page, "Your key is set.")
                cookies = page.context.cookies()
        with Server(home, port=port) as server, Visitor(browser, server.url) as page:
            page.context.add_cookies(cookies)  # type: ignore[arg-type]
            page.reload()
            arrive(page, "Chat")
            go(page, "Settings")
            see(page, "In use: m-7 at ")
            see(page, "No key is set.")
            expect(field(page, "Address")).to_have_value(provider.url)
            field(page, "Address").fill("http://169.254.169.254/v1")
            press(page, "Connect", exact=True)
            expect(page.get_by_role("alert")).to_contain_text("a link-local or cloud metadata address")
            press(page, "Reset all settings")
            press(page.get_by_role("dialog"), "Reset", exact=True)
            expect(sidebar(page)).to_contain_text("Nothing leaves this machine.")
            assert not [one for one in provider.requests if one.body]


def test_open_to_others_it_warns_and_lets_nobody_choose_an_endpoint(browser: Browser, home: Path) -> None:
    opened = {"STREAMLIT_SERVER_ALLOWED_HOSTS": "policy.example.org 127.0.0.1"}
    warning = "can be opened from other machines, and nobody has to sign in"
    with Server(home, opened) as server, Visitor(browser, server.url) as page:
        expect(page.get_by_role("alert")).to_contain_text(warning)
        go(page, "Settings")
        see(page, "does not allow models of your own")
        expect(page.get_by_role("button", name="Another endpoint")).to_have_count(0)
        assert warning in server.log.read_text()


def test_a_slip_in_the_secrets_does_not_open_the_pages(browser: Browser, home: Path, tmp_path: Path) -> None:
    secrets = tmp_path / "secrets.toml"
    secrets.write_text('[auth\nclient_id = "x"\n', encoding="utf-8")
    with Server(home, {"STREAMLIT_SECRETS_FILES": str(secrets)}) as server:
        page = browser.new_page()
        page.goto(server.url)
        arrive(page, "Sign in")
        expect(page.get_by_role("alert")).to_contain_text(
            "Sign-in is not set up correctly, so nobody can sign in."
        )
        expect(page.get_by_label("Ask about the documents")).to_have_count(0)
        assert "secrets.toml cannot be read, so nobody can sign in" in server.log.read_text()
        page.close()


CARDS = """openai anthropic azure deepseek openrouter ollama lmstudio vllm llamacpp other""".split()
# As soon as the card is there, and then the other settings.
PRESS_CARD = """async card => {
    const there = () => document.querySelector(`.st-key-provider-${card} button`);
    while (!there()) await new Promise(requestAnimationFrame);
    there().click();
    document.querySelector('.st-key-advanced summary')?.click();
}"""


@pytest.mark.long
def test_a_card_pressed_in_the_first_second_changes_no_setting(browser: Browser, home: Path) -> None:
    with Server(home) as server:
        for trial in range(30):
            with Visitor(browser, server.url) as page:
                page.goto(f"{server.url}/settings", wait_until="commit")
                page.evaluate(PRESS_CARD, CARDS[trial % len(CARDS)])
                settled(page)
                page.wait_for_timeout(1_000)
                expect(page.locator('[class*="st-key-reset-"] button[kind="tertiary"]')).to_have_count(0)
                go(page, "Chat")
                go(page, "Settings")
                expect(page.get_by_role("button", name="Reset all settings")).to_be_disabled()
