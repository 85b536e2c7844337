"""The key figures in a real browser: a sheet that makes itself, a figure opened with its row marked, the
files, and labels that are hostile.
"""

from __future__ import annotations

import csv
import re
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import Browser, expect

from tests.browser import Server, Visitor, add, arrive, close_dialog, go, see, settled
from tests.marks import in_a_browser
from tests.pdfs import draw_revenue
from tests.statements import draw_accounts

pytestmark = in_a_browser
# How far the table scrolls and its first column moves with it, figures over two lines, and how far the page
# itself is wider than the window.
STOOD = """table => {
    const head = table.querySelector('th[scope="row"]');
    const before = head.getBoundingClientRect().left;
    table.scrollLeft = 10000;
    const broken = [...table.querySelectorAll('.amount')].filter(one => one.getClientRects().length > 1);
    return {
        scrolls: table.scrollLeft,
        moved: Math.round(head.getBoundingClientRect().left - before),
        broken: broken.map(one => one.textContent),
        beside: document.documentElement.scrollWidth - innerWidth,
    };
}"""


def test_the_sheet_opens_rows_and_is_downloaded(browser: Browser, tmp_path: Path) -> None:
    files = [draw_accounts(tmp_path / "Alder.pdf"), draw_revenue(tmp_path / "Budget.pdf")]
    add(tmp_path / "home", files)
    with Server(tmp_path / "home") as server, Visitor(browser, server.url) as page:
        go(page, "Key figures")
        revenue = page.locator(".figures").first.get_by_role("row", name="Revenue")
        sales = revenue.get_by_role("button")
        expect(sales).to_have_text(re.compile("1,200"))
        settled(page)
        assert page.locator("b", has_text="Debt").count() == 0
        sales.click()
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
        before = revenue.get_by_role("button", name="1,100")
        for _ in range(2):  # and again once it is closed
            before.click()
            see(page.get_by_role("dialog"), "Net sales $ 1,200 $ 1,100")
            close_dialog(page)


@pytest.mark.parametrize("width", [1440, 390])
def test_no_figure_breaks_and_the_first_column_stays(browser: Browser, tmp_path: Path, width: int) -> None:
    long = "of the northern and southern regions " * 3
    files = [draw_accounts(tmp_path / f"{name} {long}{name}.pdf") for name in "ABCDEF"]
    for file in files:
        file.write_bytes(file.read_bytes() + f"% {file.stem[0]}\n".encode())  # or they count as one document
    add(tmp_path / "home", files)
    with Server(tmp_path / "home") as server, Visitor(browser, server.url) as page:
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(f"{server.url}/key-figures")
        arrive(page, "Key figures")
        table = page.locator(".figures").first
        table.get_by_role("button").first.wait_for()
        page.get_by_text("All periods", exact=True).click()
        expect(table.get_by_role("columnheader")).to_have_count(2 * len(files))
        stood = table.evaluate(STOOD)
        assert stood["scrolls"] > 0
        assert stood["moved"] == 0
        assert stood["broken"] == []
        assert stood["beside"] <= 0
        assert "Traceback" not in server.log.read_text()
