"""The Documents page in a real browser: a folder is dropped and chosen, a page is opened from the strip
and by its address, a removal is undone by keyboard.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser import Server, Visitor, arrive, go, press, see, store_of_rules
from tests.marks import in_a_browser
from tests.pdfs import make_pdf

pytestmark = in_a_browser

PAGES = [
    "Budget statement 2024\n\nThe deficit ceiling is three per cent of output.",
    "The debt anchor is sixty per cent.",
    "The last page.",
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server over one document, Rules.pdf, of three pages."""
    home = store_of_rules(tmp_path_factory.mktemp("documents"), PAGES)
    with Server(home) as running:
        yield running


@pytest.fixture
def page(browser: Browser, server: Server) -> Iterator[Page]:
    with Visitor(browser, server.url) as visiting:
        go(visiting, "Documents")
        yield visiting


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two budgets of one name, an empty file and a letter."""
    folder = tmp_path / "drop"
    for year in ("2023", "2024"):
        path = folder / year / "Budget.pdf"
        path.parent.mkdir(parents=True)
        make_pdf(path, [f"Budget {year}\n\nThe grant is {year} crowns."])
    (folder / "empty.pdf").touch()
    (folder / "letter.zip").write_text("Dear minister")
    return folder


def drop(page: Page, path: Path) -> None:
    """As one drops a folder from the desktop."""
    box = page.get_by_test_id("stFileUploaderDropzone").bounding_box()
    assert box is not None
    session = page.context.new_cdp_session(page)
    data = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
    event = {"x": box["x"] + 250, "y": box["y"] + 15, "data": data}
    for kind in ("dragEnter", "dragOver", "drop"):
        session.send("Input.dispatchDragEvent", {"type": kind, **event})


def title_of_rules(page: Page) -> Locator:
    """The button that opens its guide."""
    return page.locator("[class*=st-key-Guide-Rules] button").first


def test_a_file_that_is_too_large_is_named_and_the_others_are_added(page: Page, tmp_path: Path) -> None:
    big = tmp_path / "Big.pdf"
    with big.open("wb") as file:
        file.truncate(201 * 2**20)
    good = make_pdf(tmp_path / "Good.pdf", ["Growth was two per cent."])
    page.locator("input[type=file]").set_input_files([big, good])
    expect(page.get_by_role("alert").filter(has_text="Big.pdf is too large.")).to_be_visible()
    see(page, "✓ Good.pdf: added, 1 page", timeout=30_000)
    press(page, "Undo")
    expect(page.get_by_text("✓ Good.pdf")).to_have_count(0)


@pytest.mark.long
def test_what_is_more_than_a_page_may_hold_is_refused_in_words(browser: Browser, tmp_path: Path) -> None:
    big = tmp_path / "Big.pdf"
    big.write_bytes(bytes(30 * 2**20))
    with Server(tmp_path / "home", {"FINPOLICY_SESSION_UPLOADS_MB": "20"}) as server:
        page = browser.new_page()
        page.goto(server.url)
        arrive(page, "Chat", timeout=60_000)
        go(page, "Documents")
        uploader = page.get_by_test_id("stFileUploader")
        uploader.locator("input[type=file]").set_input_files(big)
        alerts = page.get_by_role("alert")
        refusal = alerts.filter(has_text="This page takes up to 20 MiB of files at a time.")
        expect(refusal).to_be_visible()
        page.context.close()


def test_a_folder_is_dropped_undone_chosen_and_added(page: Page, folder: Path) -> None:
    drop(page, folder)
    see(page, "empty.pdf: The file is empty, so it was not added.")
    see(page, "letter.zip: Not of a kind that is read, so it was not added.")
    see(page, "✓ 2 files added.", timeout=30_000)
    press(page, "Undo")
    see(page, "✓ You can ask about the document.")
    press(page, "Choose a folder instead")
    see(page, re.compile("Add all documents in a folder and its subfolders"))
    files = page.locator("input[type=file]")
    expect(files).to_have_count(1)
    files.set_input_files(folder)
    see(page, "2024 Budget.pdf: Added under this name, because several files are called Budget.pdf.")
    see(page, "✓ 2 files added.", timeout=30_000)
    expect(page.get_by_role("progressbar")).to_have_count(0)
    page.get_by_text("Files", exact=True).click()
    for name in ("2023 Budget.pdf", "2024 Budget.pdf"):
        see(page, f"✓ {name}: added, 1 page")
    see(page, "✓ You can ask about all 3 documents.")


def test_the_guide_opens_pages_and_takes_a_question_to_the_chat(page: Page) -> None:
    title_of_rules(page).press("Enter")
    guide = page.locator(".st-key-guide")
    see(guide, "Rules.pdf")
    guide.get_by_role("button", name="Open the first page").click()
    see(page.get_by_role("dialog"), "Page 1 of 3")
    page.keyboard.press("Escape")
    press(guide, "Summarise this document")
    arrive(page, "Chat")
    expect(page.locator(".question")).to_have_text("Summarise this document")
    expect(page.get_by_test_id("stMultiSelect")).to_contain_text("Budget statement 2024")


def test_a_page_of_the_strip_opens_at_an_address_that_can_be_shared(
    page: Page, browser: Browser, server: Server
) -> None:
    title_of_rules(page).click()
    press(page, "Details")
    dialog = page.get_by_role("dialog")
    second_page = dialog.locator(".cells span").nth(1)
    second_page.wait_for()
    second_page.click()
    see(dialog, "Page 2 of 3")
    expect(page).to_have_url(re.compile(r"/documents\?document=Rules\.pdf&page=2$"))
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile(r"page=3$"))
    address = page.url
    page.keyboard.press("Escape")
    expect(page).to_have_url(re.compile(r"/documents$"))
    other = browser.new_context().new_page()
    other.goto(address)
    dialog = other.get_by_role("dialog")
    see(dialog, "Page 3 of 3", timeout=30_000)
    expect(dialog.locator("img")).to_be_visible()
    other.context.close()


@pytest.mark.long
def test_a_removal_is_undone_by_keyboard_and_seen_in_another_tab(page: Page) -> None:
    row, dialog = title_of_rules(page), page.get_by_role("dialog")
    page.locator("[class*=st-key-Remove-Rules] button").first.click()
    dialog.get_by_role("button", name="Remove").press("Enter")
    removed = page.get_by_text("was removed.")
    expect(removed).to_be_visible()
    expect(dialog).to_have_count(0)
    page.keyboard.press("u")
    expect(removed).to_have_count(0)
    expect(row).to_be_visible()
