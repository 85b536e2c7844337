"""The key figures in a real browser: a sheet that makes itself, a figure opened with its row marked, the
files, and labels that are hostile.
"""

from __future__ import annotations

import csv
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import Browser, expect

from tests.browser import Server, Visitor, add, close_dialog, go, see, settled
from tests.marks import in_a_browser
from tests.pdfs import draw_revenue
from tests.statements import draw_accounts

pytestmark = in_a_browser


def test_the_sheet_opens_rows_and_is_downloaded(browser: Browser, tmp_path: Path) -> None:
    files = [draw_accounts(tmp_path / "Alder.pdf"), draw_revenue(tmp_path / "Budget.pdf")]
    add(tmp_path / "home", files)
    with Server(tmp_path / "home") as server, Visitor(browser, server.url) as page:
        go(page, "Compare")
        page.get_by_text("Key figures", exact=True).click()
        sales = page.locator(".st-key-entry-0-0")
        expect(sales).to_contain_text("1,200")
        settled(page)
        assert page.locator("b", has_text="Debt").count() == 0
        sales.get_by_role("button", name="p. 1").click()
        dialog = page.get_by_role("dialog")
        see(dialog, "Marked on the page below:")
        see(dialog, "Net sales $ 1,200 $ 1,100")
        expect(dialog.locator("img")).to_be_visible()
        close_dialog(page)
        for name in ("CSV", "XLSX"):
            with page.expect_download() as download:
                page.get_by_role("link", name=f"Download as {name}").click()
            download.value.save_as(tmp_path / f"figures.{name.lower()}")
        first, *_ = csv.DictReader((tmp_path / "figures.csv").read_text("utf-8-sig").splitlines())
        assert (first["measure"], first["document"], first["page"]) == ("Revenue", "Alder.pdf", "1")
        assert zipfile.ZipFile(tmp_path / "figures.xlsx").testzip() is None
        page.get_by_text("All periods", exact=True).click()
        expect(page.locator(".st-key-entry-0-1")).to_contain_text("1,100")
        assert "Traceback" not in server.log.read_text()
