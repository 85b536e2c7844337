"""The Documents page in a real browser: a folder is dropped and chosen, a page is opened from the strip
and by its address, a removal is undone by keyboard.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import Browser, Page, expect

from tests.browser import Server, Visitor, add, chromium, go
from tests.pdfs import make_pdf

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(chromium() is None, reason="there is no Chromium on PATH (apt-get install chromium)"),
]

PAGES = [
    "Budget statement 2024\n\nThe deficit ceiling is three per cent of output.",
    "The debt anchor is sixty per cent.",
    "The last page.",
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server over one document, Rules.pdf, of three pages."""
    folder = tmp_path_factory.mktemp("documents")
    add(folder / "home", [make_pdf(folder / "Rules.pdf", PAGES)])
    with Server(folder / "home") as running:
        yield running


@pytest.fixture
def page(browser: Browser, server: Server) -> Iterator[Page]:
    with Visitor(browser, server.url) as visiting:
        go(visiting, "Documents")
        yield visiting


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two budgets of one name, an empty file and a letter."""
    for year in ("2023", "2024"):
        (tmp_path / "drop" / year).mkdir(parents=True)
        make_pdf(tmp_path / "drop" / year / "Budget.pdf", [f"Budget {year}\n\nThe grant is {year} crowns."])
    (tmp_path / "drop" / "empty.pdf").touch()
    (tmp_path / "drop" / "letter.txt").write_text("Dear minister")
    return tmp_path / "drop"


def drop(page: Page, path: Path) -> None:
    """As one drops a folder from the desktop."""
    box = page.get_by_test_id("stFileUploaderDropzone").bounding_box()
    assert box is not None
    session = page.context.new_cdp_session(page)
    for kind in ("dragEnter", "dragOver", "drop"):
        data = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
        session.send(
            "Input.dispatchDragEvent", {"type": kind, "x": box["x"] + 250, "y": box["y"] + 15, "data": data}
        )


def test_what_is_more_than_a_page_may_hold_is_refused_in_words(browser: Browser, tmp_path: Path) -> None:
    big = tmp_path / "Big.pdf"
    big.write_bytes(bytes(30 * 2**20))
    with Server(tmp_path / "home", {"FINPOLICY_SESSION_UPLOADS_MB": "20"}) as server:
        page = browser.new_page()
        page.goto(server.url)
        page.get_by_role("heading", name="Chat", exact=True).wait_for(timeout=60_000)
        go(page, "Documents")
        page.get_by_test_id("stFileUploader").locator("input[type=file]").set_input_files(big)
        expect(
            page.get_by_role("alert").filter(has_text="This page holds files of 20 MiB at most at a time.")
        ).to_be_visible()
        page.context.close()


def test_a_folder_is_dropped_chosen_explained_and_added(page: Page, folder: Path) -> None:
    drop(page, folder)
    expect(page.get_by_text("empty.pdf: The file is empty; left out.")).to_be_visible()
    expect(page.get_by_role("button", name="Add 2 files")).to_be_visible()
    page.get_by_role("button", name="Leave them all out").click()
    page.get_by_role("button", name="Choose a folder instead").click()
    expect(page.get_by_text("Add the PDF files of a folder, and of the folders in it")).to_be_visible()
    expect(page.locator("input[type=file]")).to_have_count(1)
    page.locator("input[type=file]").set_input_files(folder)
    expect(
        page.get_by_text(
            "2024 Budget.pdf: Added under this name, for several of these files are called Budget.pdf."
        )
    ).to_be_visible()
    expect(page.get_by_text("files of other kinds are left out")).to_be_visible()
    page.get_by_role("button", name="Add 2 files").click()
    for name in ("2023 Budget.pdf", "2024 Budget.pdf"):
        expect(page.get_by_text(f"✓ {name}: added, 1 page")).to_be_visible(timeout=30_000)
    expect(page.get_by_text("✓ All 3 documents can be searched.")).to_be_visible()


def test_a_page_of_the_strip_opens_at_an_address_that_can_be_shared(
    page: Page, browser: Browser, server: Server
) -> None:
    row = (
        page.locator(".st-key-documents [data-testid=stHorizontalBlock]")
        .filter(has=page.get_by_text("Rules.pdf", exact=True))
        .first
    )
    row.get_by_role("button", name="Details").click()
    page.get_by_role("dialog").locator(".cells span").nth(1).wait_for()
    page.get_by_role("dialog").locator(".cells span").nth(1).click()
    expect(page.get_by_role("dialog").get_by_text("Page 2 of 3")).to_be_visible()
    expect(page).to_have_url(re.compile(r"/documents\?document=Rules\.pdf&page=2$"))
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile(r"page=3$"))
    address = page.url
    page.keyboard.press("Escape")
    expect(page).to_have_url(re.compile(r"/documents$"))
    other = browser.new_context().new_page()
    other.goto(address)
    expect(other.get_by_role("dialog").get_by_text("Page 3 of 3")).to_be_visible(timeout=30_000)
    expect(other.get_by_role("dialog").locator("img")).to_be_visible()
    other.context.close()


def test_a_removal_is_undone_by_keyboard_and_seen_in_another_tab(page: Page) -> None:
    row = (
        page.locator(".st-key-documents [data-testid=stHorizontalBlock]")
        .filter(has=page.get_by_text("Rules.pdf", exact=True))
        .first
    )
    row.get_by_role("button", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").press("Enter")
    expect(page.get_by_text("Rules.pdf was removed.")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("u")
    expect(page.get_by_text("Rules.pdf was removed.")).to_have_count(0)
    expect(row).to_contain_text("ready")
