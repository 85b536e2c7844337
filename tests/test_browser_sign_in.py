"""Signing in, in a real browser, with a server that stands in for the provider: nothing is shown before,
and a person is the same everywhere.
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("authlib", reason="signing in is not installed (make setup-signin)")

from playwright.sync_api import Browser, Page, expect

from tests.browser import Server, add, ask, chromium, settled
from tests.identity_provider import CLIENT_SECRET, IdentityProvider
from tests.pdfs import make_pdf

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(chromium() is None, reason="there is no Chromium on PATH (apt-get install chromium)"),
]

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
    add(folder / "home", [make_pdf(folder / "Rules.pdf", [TEXT])])
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    secrets = folder / "secrets.toml"
    secrets.write_text(provider.secrets_toml(f"http://127.0.0.1:{port}"), encoding="utf-8")
    with Server(folder / "home", {"STREAMLIT_SECRETS_FILES": str(secrets)}, port=port) as running:
        yield running


def visit(browser: Browser, server: Server, path: str = "") -> tuple[Page, list[str]]:
    """A page in a browser of its own, before it is signed in; and the errors of its console, but for what
    a nested address asks in vain.
    """
    page, errors = browser.new_context(viewport={"width": 1280, "height": 900}).new_page(), list[str]()
    page.on(
        "console",
        lambda message: (
            errors.append(message.text) if message.type == "error" and "404" not in message.text else None
        ),
    )
    page.set_default_timeout(20_000)
    page.goto(f"{server.url}{path}")
    page.get_by_role("heading", name="Sign in", exact=True).wait_for()
    return page, errors


def sign_in(page: Page, person: str) -> None:
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("link", name=person, exact=True).click()


def test_nothing_is_shown_before_and_a_person_is_the_same_on_two_browsers(
    browser: Browser, server: Server, provider: IdentityProvider
) -> None:
    (first, errors), (second, _), (third, _) = (
        visit(browser, server, path) for path in ("", "/documents", "")
    )
    expect(second.get_by_text("Rules.pdf")).to_have_count(0)
    expect(first.get_by_label("Ask about the documents")).to_have_count(0)
    sign_in(first, "Ann")
    first.get_by_role("heading", name="Chat", exact=True).wait_for()
    expect(first.get_by_test_id("stSidebar")).to_contain_text("Signed in as Ann")
    ask(first, QUESTION)
    expect(first.get_by_test_id("stSidebar")).to_contain_text(QUESTION)
    address = first.url
    sign_in(second, "Ann")
    second.get_by_role("heading", name="Chat", exact=True).wait_for()
    expect(second.get_by_test_id("stSidebar")).to_contain_text(QUESTION)
    sign_in(third, "Bob")
    third.get_by_role("heading", name="Chat", exact=True).wait_for()
    settled(third)
    expect(third.get_by_test_id("stSidebar")).to_contain_text("Signed in as Bob")
    expect(third.get_by_test_id("stSidebar")).not_to_contain_text(QUESTION)
    third.goto(address)
    third.get_by_role("heading", name="Chat", exact=True).wait_for()
    expect(third.locator(".question")).to_have_count(0)
    first.get_by_role("button", name="Sign out").click()
    first.get_by_role("heading", name="Sign in", exact=True).wait_for()
    first.reload()
    first.get_by_role("heading", name="Sign in", exact=True).wait_for()
    assert errors == []
    log = server.log.read_text()
    assert "Traceback" not in log and CLIENT_SECRET not in log
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
    provider.forged, provider.changes = (
        bool(wrong.get("forged")),
        {name: value for name, value in wrong.items() if name != "forged"},
    )
    try:
        sign_in(page, "Ann")
        page.get_by_role("heading", name="Sign in", exact=True).wait_for()
        settled(page)
        expect(page.get_by_label("Ask about the documents")).to_have_count(0)
        assert not [
            cookie for cookie in page.context.cookies() if cookie["name"].startswith("_streamlit_user")
        ]
    finally:
        provider.forged, provider.changes = False, {}
        page.context.close()


def test_files_are_taken_once_one_is_signed_in(browser: Browser, server: Server, tmp_path: Path) -> None:
    page, errors = visit(browser, server)
    for path in ("/_stcore/metrics", "/image/x.png"):
        assert page.request.get(f"{server.url}{path}").status == 403
    sign_in(page, "Ann")
    page.get_by_role("heading", name="Chat", exact=True).wait_for()
    assert page.request.get(f"{server.url}/_stcore/metrics").status == 200
    page.get_by_test_id("stChatInput").locator("input[type=file]").first.set_input_files(
        make_pdf(tmp_path / "More.pdf", ["The reserve is 140 million."])
    )
    page.get_by_test_id("stChatInput").get_by_text("More.pdf").wait_for()
    ask(page, "How high is the reserve?")
    expect(page.locator(".answer")).to_contain_text("140 million")
    end = time.monotonic() + 15
    while (
        "UploadedFileManager" in page.request.get(f"{server.url}/_stcore/metrics").text()
    ):  # what was taken is held no longer; it looks every five seconds
        assert time.monotonic() < end
        time.sleep(1)
    page.locator("[class*=st-key-cite-] button").first.click()
    expect(page.get_by_role("dialog").locator("img").first).to_be_visible()
    assert errors == []
    page.context.close()


def test_a_made_up_cookie_opens_nothing(browser: Browser, server: Server) -> None:
    page, _ = visit(browser, server)
    made_up = json.dumps({"iss": "x", "sub": "id-of-Ann", "is_logged_in": True, "origin": server.url})
    for name, value in (("_streamlit_user", made_up), ("finpolicy_owner", "a" * 22)):
        page.context.add_cookies([{"name": name, "value": value.replace('"', "%22"), "url": server.url}])
    page.reload()
    page.get_by_role("heading", name="Sign in", exact=True).wait_for()
    settled(page)
    expect(page.get_by_label("Ask about the documents")).to_have_count(0)
    page.context.close()
