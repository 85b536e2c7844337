"""Settings in a real browser: what one user chooses answers them and nobody else, and their key is found
nowhere once it is saved.
"""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import Browser, Page, WebSocket, expect

from tests.browser import Server, Visitor, add, ask, chromium, go
from tests.pdfs import make_pdf
from tests.provider import Body, Provider, Say, first_key

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(chromium() is None, reason="there is no Chromium on PATH (apt-get install chromium)"),
]

TEXT = "The deficit ceiling is three per cent of output, and the debt anchor is sixty per cent of it."
QUESTION = "What is the deficit ceiling?"
KEY, SERVER_KEY = "sk-anns-own-key-4711", "sk-servers-0815"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one document."""
    folder = tmp_path_factory.mktemp("settings")
    add(folder / "home", [make_pdf(folder / "Rules.pdf", [TEXT])])
    return folder / "home"


def says(name: str) -> Say:
    def pieces(body: Body) -> list[str]:
        return [f"{name} says that the deficit ceiling is three per cent of output [{first_key(body)}]."]

    return Say(pieces)


def choose_model(page: Page, model: str, url: str, key: str) -> None:
    page.get_by_text("A model of my own", exact=True).click()
    page.get_by_label("Model", exact=True).fill(model)
    page.get_by_label("Endpoint", exact=True).fill(url)
    page.get_by_label("Key", exact=True).fill(key)
    page.get_by_role("button", name="Save", exact=True).click()


def test_each_user_is_answered_by_their_own_choice_and_the_key_is_found_nowhere(
    browser: Browser, home: Path
) -> None:
    received: list[bytes] = []

    def listen(socket: WebSocket) -> None:
        socket.on(
            "framereceived",
            lambda frame: received.append(frame if isinstance(frame, bytes) else frame.encode()),
        )

    with Provider([says("Server")]) as servers, Provider(["ready", says("Ann")]) as anns:
        settings = {
            "FINPOLICY_CHAT_MODEL": "for-all",
            "OPENAI_API_KEY": SERVER_KEY,
            "OPENAI_BASE_URL": servers.url,
        }
        with (
            Server(home, settings) as server,
            Visitor(browser, server.url) as ann,
            Visitor(browser, server.url) as bob,
        ):
            ann.on("websocket", listen)
            ann.reload()
            ann.get_by_role("heading", name="Chat", exact=True).wait_for()
            go(ann, "Settings")
            choose_model(ann, "anns-model", anns.url, KEY)
            host = anns.url.split("/")[2]
            expect(ann.get_by_text(f"In use: anns-model at {host}. Your key is set.")).to_be_visible()
            expect(ann.get_by_label("Key", exact=True)).to_have_value("")
            ann.get_by_role("button", name="Test the model").click()
            expect(ann.get_by_text(f"{host} answered in")).to_be_visible()
            ann.get_by_label("Exchanges that follow-ups lean on").fill("3")
            ann.get_by_label("Exchanges that follow-ups lean on").press("Enter")
            expect(ann.get_by_role("button", name="Reset to 10")).to_be_visible()
            go(ann, "Chat")
            expect(ask(ann, QUESTION)).to_contain_text("Ann says")
            expect(ask(bob, QUESTION)).to_contain_text("Server says")
            expect(bob.get_by_test_id("stSidebar")).to_contain_text("(for-all)")
            expect(ann.get_by_test_id("stSidebar")).to_contain_text(
                "(anns-model). You chose this on the Settings page."
            )
            go(bob, "Settings")
            expect(bob.get_by_label("Exchanges that follow-ups lean on")).to_have_value("10")
            bob.get_by_text("No model: the documents' own words").click()
            expect(bob.get_by_test_id("stSidebar")).to_contain_text("Answers: in the documents' own words.")
            go(bob, "Chat")
            expect(ask(bob, "What is the debt anchor?")).to_contain_text("sixty per cent")
            assert (len(servers.requests), len(anns.requests)) == (1, 2)
            assert {one.headers["authorization"] for one in anns.requests} == {f"Bearer {KEY}"}
            go(ann, "Settings")
            expect(ann.get_by_text("Your key is set.")).to_be_visible()
            kept = {str(path): path.read_bytes() for path in [*home.rglob("*"), server.log] if path.is_file()}
            assert received and len(kept) > 5
            for secret in (KEY.encode(), SERVER_KEY.encode()):
                assert not [name for name, data in kept.items() if secret in data]
                assert not [frame for frame in received if secret in frame]
                assert secret.decode() not in ann.content() + bob.content()
            assert "Traceback" not in server.log.read_text()


def test_a_choice_survives_the_server_and_the_key_does_not(browser: Browser, home: Path) -> None:
    with Provider(["ready"]) as provider:
        with Server(home) as server:
            port = server.port
            with Visitor(browser, server.url) as page:
                go(page, "Settings")
                choose_model(page, "m-7", provider.url, KEY)
                expect(page.get_by_text("Your key is set.")).to_be_visible()
                cookies = page.context.cookies()
        with Server(home, port=port) as server, Visitor(browser, server.url) as page:
            page.context.add_cookies(cookies)  # type: ignore[arg-type]
            page.reload()
            page.get_by_role("heading", name="Chat", exact=True).wait_for()
            go(page, "Settings")
            expect(page.get_by_label("Model", exact=True)).to_have_value("m-7")
            expect(page.get_by_text("No key is set.")).to_be_visible()
            page.get_by_label("Endpoint", exact=True).fill("http://169.254.169.254/v1")
            page.get_by_role("button", name="Save", exact=True).click()
            expect(page.get_by_role("alert")).to_contain_text("a link-local or cloud metadata address")
            page.get_by_role("button", name="Reset all settings").click()
            expect(page.get_by_test_id("stSidebar")).to_contain_text("Nothing leaves this machine.")
            assert provider.requests == []


@pytest.mark.parametrize(
    "opened",
    [
        {"STREAMLIT_SERVER_ADDRESS": "0.0.0.0"},
        {"STREAMLIT_SERVER_ALLOWED_HOSTS": "policy.example.org 127.0.0.1"},
    ],
    ids=["address", "host"],
)
def test_open_to_others_it_warns_and_lets_nobody_choose_an_endpoint(
    browser: Browser, home: Path, opened: dict[str, str]
) -> None:
    with Server(home, opened) as server, Visitor(browser, server.url) as page:
        expect(page.get_by_role("alert")).to_contain_text(
            "can be opened from beyond this machine, and asks nobody to sign in"
        )
        go(page, "Settings")
        expect(page.get_by_text("lets nobody choose an endpoint of their own")).to_be_visible()
        expect(page.get_by_text("A model of my own", exact=True)).to_have_count(0)
        assert "can be opened from beyond this machine, and asks nobody to sign in" in server.log.read_text()


def test_a_slip_in_the_secrets_does_not_open_the_pages(browser: Browser, home: Path, tmp_path: Path) -> None:
    secrets = tmp_path / "secrets.toml"
    secrets.write_text('[auth\nclient_id = "x"\n', encoding="utf-8")
    with Server(home, {"STREAMLIT_SECRETS_FILES": str(secrets)}) as server:
        page = browser.new_page()
        page.goto(server.url)
        page.get_by_role("heading", name="Sign in", exact=True).wait_for()
        expect(page.get_by_role("alert")).to_contain_text("Signing in is not set up rightly, so nobody can.")
        expect(page.get_by_label("Ask about the documents")).to_have_count(0)
        assert "secrets.toml cannot be read, and nobody can sign in" in server.log.read_text()
        page.close()
