"""Signing in, in a real browser, with a server that stands in for the provider: nothing is shown before,
and a person is the same everywhere.
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("authlib", reason="signing in is not installed (make setup-signin)")

from playwright.sync_api import APIResponse, Browser, ConsoleMessage, Locator, Page, expect

from tests.browser import Server, arrive, ask, press, settled, store_of_rules
from tests.identity_provider import CLIENT_SECRET, IdentityProvider
from tests.marks import in_a_browser
from tests.pdfs import make_pdf

pytestmark = in_a_browser

TEXT = "The deficit ceiling is three per cent of output, and the debt anchor is sixty per cent of it."
QUESTION = "What is the deficit ceiling?"


@pytest.fixture(scope="module")
def provider() -> Iterator[IdentityProvider]:
    with IdentityProvider(["Ann", "Bob"]) as running:
        yield running


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, provider: IdentityProvider) -> Iterator[Server]:
    """One with sign-in and one document."""
    folder = tmp_path_factory.mktemp("sign-in")
    home = store_of_rules(folder, [TEXT])
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    secrets = folder / "secrets.toml"
    text = provider.secrets_toml(f"http://127.0.0.1:{port}")
    secrets.write_text(text, encoding="utf-8")
    with Server(home, {"STREAMLIT_SECRETS_FILES": str(secrets)}, port=port) as running:
        yield running


def visit(browser: Browser, server: Server, path: str = "") -> tuple[Page, list[str]]:
    """A page in a browser of its own, before it is signed in; and the errors of its console, but for what
    a nested address asks in vain.
    """
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page, errors = context.new_page(), list[str]()

    def note(message: ConsoleMessage) -> None:
        if message.type == "error" and "404" not in message.text:
            errors.append(message.text)

    page.on("console", note)
    page.set_default_timeout(20_000)
    page.goto(f"{server.url}{path}")
    arrive(page, "Sign in")
    return page, errors


def sign_in(page: Page, person: str) -> None:
    press(page, "Sign in", exact=True)
    page.get_by_role("link", name=person, exact=True).click()


def sidebar(page: Page) -> Locator:
    return page.get_by_test_id("stSidebar")


def expect_no_chat(page: Page) -> None:
    expect(page.get_by_label("Ask about the documents")).to_have_count(0)


@pytest.mark.long
def test_nothing_is_shown_before_and_a_person_is_the_same_on_two_browsers(
    browser: Browser, server: Server, provider: IdentityProvider
) -> None:
    first, errors = visit(browser, server)
    second, _ = visit(browser, server, "/documents")
    third, _ = visit(browser, server)
    expect(second.get_by_text("Rules.pdf")).to_have_count(0)
    expect_no_chat(first)
    sign_in(first, "Ann")
    arrive(first, "Chat")
    expect(sidebar(first)).to_contain_text("Signed in as Ann")
    ask(first, QUESTION)
    expect(sidebar(first)).to_contain_text(QUESTION)
    address = first.url
    sign_in(second, "Ann")
    arrive(second, "Chat")
    expect(sidebar(second)).to_contain_text(QUESTION)
    sign_in(third, "Bob")
    arrive(third, "Chat")
    settled(third)
    expect(sidebar(third)).to_contain_text("Signed in as Bob")
    expect(sidebar(third)).not_to_contain_text(QUESTION)
    third.goto(address)
    arrive(third, "Chat")
    expect(third.locator(".question")).to_have_count(0)
    press(first, "Sign out")
    arrive(first, "Sign in")
    assert provider.out == [f"{server.url}/oauth2callback"], "the address that docs/deploy.md names"
    expect(first.get_by_role("alert")).to_have_count(0)
    first.reload()
    arrive(first, "Sign in")
    assert errors == []
    log = server.log.read_text()
    assert "Traceback" not in log
    assert CLIENT_SECRET not in log
    for page in (first, second, third):
        page.context.close()


@pytest.mark.parametrize(
    "wrong",
    [
        {"forged": True},
        {"aud": "another"},
        {"iss": "https://elsewhere.example"},
        {"nonce": "replayed"},
        {"exp": 1},
    ],
)
def test_a_token_that_is_not_right_opens_nothing(
    browser: Browser, server: Server, provider: IdentityProvider, wrong: dict[str, object]
) -> None:
    page, _ = visit(browser, server)
    changes = dict(wrong)
    provider.forged = changes.pop("forged", False) is True
    provider.changes = changes
    try:
        sign_in(page, "Ann")
        arrive(page, "Sign in")
        expect(page.get_by_role("alert")).to_contain_text("its reply could not be used")
        expect_no_chat(page)
        cookies = [cookie["name"] for cookie in page.context.cookies()]
        assert not [name for name in cookies if name.startswith("_streamlit_user")]
    finally:
        provider.forged, provider.changes = False, {}
        page.context.close()


@contextmanager
def refusing(provider: IdentityProvider, *prompts: str) -> Iterator[None]:
    """The provider as one that does not know these values of `prompt`."""
    provider.refused_prompts = frozenset(prompts)
    try:
        yield
    finally:
        provider.refused_prompts = frozenset()


def test_the_page_says_why_the_provider_refused(
    browser: Browser, server: Server, provider: IdentityProvider
) -> None:
    page, _ = visit(browser, server)
    with refusing(provider, "select_account"):
        press(page, "Sign in", exact=True)
        said = page.get_by_role("alert")
        expect(said).to_contain_text("The provider refused to sign you in: invalid_request.")
        expect(said).to_contain_text("client_kwargs")
    expect_no_chat(page)
    sign_in(page, "Ann")
    arrive(page, "Chat")
    page.goto(f"{server.url}/oauth2callback?error=Your account is locked. Call 555")
    arrive(page, "Chat")
    page.context.clear_cookies()
    for error, text in [
        ("Your account is locked. Call 555", "refused to sign you in: unknown_error."),
        ("access_denied", "did not let you in"),
    ]:
        page.goto(f"{server.url}/oauth2callback?error={error}&error_description=Call 555")
        arrive(page, "Sign in")
        expect(page.get_by_role("alert")).to_contain_text(text)
        expect(page.get_by_text("555")).to_have_count(0)
    page.context.close()


def test_files_are_taken_once_one_is_signed_in(browser: Browser, server: Server, tmp_path: Path) -> None:
    page, errors = visit(browser, server)

    def answer_to(path: str) -> APIResponse:
        return page.request.get(f"{server.url}{path}")

    metrics, image = answer_to("/_stcore/metrics"), answer_to("/image/x.png")
    assert metrics.status == 403
    assert image.status == 403
    sign_in(page, "Ann")
    arrive(page, "Chat")
    metrics = answer_to("/_stcore/metrics")
    assert metrics.status == 200
    path = make_pdf(tmp_path / "More.pdf", ["The reserve is 140 million."])
    field = page.get_by_test_id("stChatInput")
    field.locator("input[type=file]").first.set_input_files(path)
    field.get_by_text("More.pdf").wait_for()
    ask(page, "How high is the reserve?")
    expect(page.locator(".answer")).to_contain_text("140 million")
    end = time.monotonic() + 15
    # What was taken is held no longer; it looks every five seconds.
    while "UploadedFileManager" in answer_to("/_stcore/metrics").text():
        assert time.monotonic() < end
        time.sleep(1)
    page.locator(".cite").first.click()
    image_of_page = page.get_by_role("dialog").locator("img").first
    expect(image_of_page).to_be_visible()
    assert errors == []
    page.context.close()


def test_a_made_up_cookie_opens_nothing(browser: Browser, server: Server) -> None:
    page, _ = visit(browser, server)
    person = {"iss": "x", "sub": "id-of-Ann", "is_logged_in": True, "origin": server.url}
    made_up = json.dumps(person).replace('"', "%22")
    page.context.add_cookies(
        [
            {"name": "_streamlit_user", "value": made_up, "url": server.url},
            {"name": "finpolicy_owner", "value": "a" * 22, "url": server.url},
        ]
    )
    page.reload()
    arrive(page, "Sign in")
    settled(page)
    expect_no_chat(page)
    page.context.close()
