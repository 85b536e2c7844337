"""The chat below a path of another host, behind a proxy that is set up as docs/deploy.md says."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import Browser, expect

from tests.browser import PORTS, Server, ask, go, is_free, open_page, store_of_rules
from tests.doc_blocks import blocks_of
from tests.marks import in_a_browser

pytestmark = [
    *in_a_browser,
    pytest.mark.long,
    pytest.mark.skipif(shutil.which("caddy") is None, reason="there is no Caddy"),
]

DEPLOY = Path(__file__).resolve().parent.parent / "docs" / "deploy.md"
TEXT = "The deficit ceiling is three per cent of output."
QUESTION = "What is the deficit ceiling?"
HEAD = "{\n\tadmin off\n\tauto_https off\n}\n"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the chat below a path."""
    folder = tmp_path_factory.mktemp("path")
    home = store_of_rules(folder, [TEXT])
    (given,) = (block.text for block in blocks_of(DEPLOY) if "handle_path" in block.text)
    port = next(filter(is_free, PORTS))
    address = f"http://127.0.0.1:{port}/policy"
    with Server(home, {"FINPOLICY_PUBLIC_URL": address}) as server:
        site = given.replace("https://example.org", f"http://127.0.0.1:{port}")
        (folder / "Caddyfile").write_text(HEAD + site.replace("127.0.0.1:8501", f"127.0.0.1:{server.port}"))
        proxy = subprocess.Popen(
            ["caddy", "run", "--config", folder / "Caddyfile", "--adapter", "caddyfile"],
            env={"PATH": "/usr/bin:/bin", "HOME": str(folder)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            end = time.monotonic() + 60
            while is_free(port) or httpx.get(f"{address}/ready").status_code != 200:
                assert time.monotonic() < end
                time.sleep(0.1)
            yield address
        finally:
            proxy.terminate()
            proxy.wait()


def test_pages_are_asked_and_cited_pages_drawn(address: str, browser: Browser) -> None:
    page = open_page(browser, f"{address}/")
    failed = list[str]()
    page.on("response", lambda reply: failed.append(reply.url) if reply.status >= 400 else None)
    assert "three per cent" in ask(page, QUESTION).inner_text()
    page.locator(".cite").first.click()
    picture = page.get_by_role("dialog").locator("img").first
    expect(picture).to_be_visible()
    assert picture.evaluate("image => image.complete && image.naturalWidth > 0")
    page.reload()
    expect(page.locator(".question", has_text=QUESTION)).to_be_visible()
    go(page, "Documents")
    expect(page.get_by_text("You can ask about the document.")).to_be_visible()
    assert failed == []
    page.context.close()


def test_programs_are_answered_with_links_that_lead_there(address: str) -> None:
    given = {"model": "extractive", "messages": [{"role": "user", "content": QUESTION}]}
    message = httpx.post(f"{address}/v1/chat/completions", json=given, timeout=60).json()["choices"][0][
        "message"
    ]
    link = message["annotations"][0]["url_citation"]["url"]
    assert link.startswith(f"{address}/api/v1/documents/")
    assert httpx.get(link, headers={"sec-fetch-site": "cross-site"}).headers["content-type"] == "image/png"
