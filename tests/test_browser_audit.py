"""The audit file in a real browser: taken below an answer, opened from the disk without a request, and
verified on the command line.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser import Server, Visitor, ask, at_once, messages, settled, store_of_rules
from tests.commands import run
from tests.marks import in_a_browser

pytestmark = in_a_browser

TEXT = (
    "The deficit ceiling is three per cent of output, and the debt anchor is sixty per cent of it.\nDebt "
    "service comes to 1,577 million crowns."
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one document."""
    folder = tmp_path_factory.mktemp("audit")
    return store_of_rules(folder, [TEXT])


def take(page: Page, message: Locator, folder: Path) -> Path:
    """Press the button; the file, under the name that the browser gives it."""
    with page.expect_download() as download:
        at_once(message.get_by_role("link", name="Audit file"))
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def verify(path: Path, home: Path) -> None:
    """The file is as it was taken."""
    done = run(home, "verify", path)
    assert done.returncode == 0, done.stdout


def test_an_answer_is_taken_away_looked_at_offline_and_verified(
    browser: Browser, home: Path, tmp_path: Path
) -> None:
    with Server(home) as server, Visitor(browser, server.url) as page:
        message = ask(page, "What does debt service come to?")
        settled(page)
        path = take(page, message, tmp_path)
        assert re.fullmatch(r"audit-\d{4}-\d\d-\d\d-debt-service-come\.html", path.name)
        message = ask(page, "Who wrote the opera about a magic flute?")
        refusal = take(page, message, tmp_path)
        page.reload()
        settled(page)
        again = take(page, messages(page).nth(1), tmp_path / "again")
        for one in (path, refusal, again):  # the chat has the store meanwhile
            verify(one, home)
        assert "Traceback" not in server.log.read_text()
    asked: list[str] = []
    told: list[str] = []
    context = browser.new_context(offline=True)
    sheet = context.new_page()
    sheet.on("request", lambda request: asked.append(request.url))
    sheet.on("console", lambda line: told.append(line.text))
    sheet.goto(path.as_uri())
    heading = sheet.get_by_role("heading", name="What does debt service come to?")
    expect(heading).to_be_visible()
    image = sheet.locator("article img")
    assert image.evaluate("image => image.complete && image.naturalWidth > 500")
    expect(sheet.locator(".sheet svg rect").first).to_be_attached()
    sheet.get_by_role("link", name="[S1]").first.click()
    expect(sheet.locator("tr:target")).to_contain_text("1,577 million crowns")
    assert sheet.evaluate("document.scripts.length") == 0
    assert [url for url in asked if not url.startswith("data:")] == [path.as_uri()]
    assert told == []
    context.close()
