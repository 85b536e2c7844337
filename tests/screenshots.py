"""Makes pictures of the pages: the README's, and a gallery of every page, with nothing and with much in it,
wide and narrow, light and dark.

`python tests/screenshots.py` makes the README's, `python tests/screenshots.py FOLDER` the gallery.
"""

from __future__ import annotations

import io
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Browser, Locator, Page

from documents.make_samples import make_samples
from tests.browser import Server, add, ask, go, open_browser, open_page, settled
from tests.pdfs import make_pdf

TARGET = ROOT / "chatbot" / "ui" / "screenshot.png"
QUESTION = "By how much must debt shrink while it is above the anchor?"
MOST_BYTES = 300_000
# Widths and heights in pixels: a desk, a tablet, a telephone.
SIZES = ((1440, 900), (1024, 768), (390, 844))
LONG_NAME = (
    "Statement on the medium-term budgetary framework and on the fiscal rules of the general government "
    "(revised second edition).pdf"
)
HOSTILE = "Hostile :red[x] $y$ <img src=x> ![z](a).pdf"

COMPARED = {
    "compare-years": (
        "q=What+is+total+expenditure%3F&d=Valmora_Budget_Book_2025-26.pdf&y=2023-24&y=2024-25&y=2025-26"
    ),
    "compare-documents": (
        "q=What+is+the+open+tender+threshold%3F"
        "&d=Valmora_Procurement_Policy_2019.pdf&d=Valmora_Procurement_Policy_2024.pdf"
    ),
}

Take = Callable[[Page, str], None]


def take(folder: Path) -> bytes:
    """The README's, as a PNG of 1280 x 900."""
    add(folder / "home", make_samples(folder / "samples"))
    with Server(folder / "home") as server, open_browser() as browser:
        page = open_page(browser, server.url)
        message = ask(page, QUESTION)
        _open_citation(page, message)
        return page.screenshot()


def small(png: bytes) -> bytes:
    """The same image in as many colours as fit into MOST_BYTES."""
    image = Image.open(io.BytesIO(png)).convert("RGB")
    for colours in (256, 128, 64, 32):
        output = io.BytesIO()
        image.quantize(colours, dither=Image.Dither.NONE).save(output, "PNG", optimize=True)
        if output.tell() < MOST_BYTES:
            return output.getvalue()
    raise ValueError(f"The screenshot does not fit into {MOST_BYTES} bytes.")


def make_gallery(target: Path, folder: Path) -> None:
    """Every state as STATE-WIDTH-THEME.png in `target`. folder: for the stores."""
    target.mkdir(parents=True, exist_ok=True)

    def picture(page: Page, state: str) -> None:
        settled(page)
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            for theme in ("light", "dark"):
                page.emulate_media(color_scheme=theme)
                page.wait_for_timeout(700)
                page.screenshot(path=target / f"{state}-{width}-{theme}.png")
        page.emulate_media(color_scheme="light")
        page.set_viewport_size({"width": SIZES[0][0], "height": SIZES[0][1]})
        settled(page)

    with open_browser() as browser:
        with Server(folder / "empty") as server:
            _take_empty(browser, server, picture)
        named = [
            make_pdf(folder / name, [f"The deficit ceiling is {at} per cent of output."])
            for name, at in ((LONG_NAME, 3), (HOSTILE, 4))
        ]
        add(folder / "full", [*make_samples(folder / "samples"), *named])
        with Server(folder / "full") as server:
            page = open_page(browser, server.url)
            page.set_viewport_size({"width": SIZES[0][0], "height": SIZES[0][1]})
            _take_chat(page, picture)
            _take_others(page, picture)


def _take_empty(browser: Browser, server: Server, picture: Take) -> None:
    page = open_page(browser, server.url)
    page.set_viewport_size({"width": SIZES[0][0], "height": SIZES[0][1]})
    picture(page, "empty-chat")
    for name in ("Documents", "Key figures", "Compare", "Memory", "Settings"):
        go(page, name)
        picture(page, f"empty-{name.lower()}")
        for tab in page.get_by_role("tab").all()[1:]:
            tab.click()
            picture(page, f"empty-{name.lower()}-{tab.inner_text().lower().replace(' ', '-')}")
    page.context.close()


def _take_chat(page: Page, picture: Take) -> None:
    page.locator("[class*=st-key-example-]").first.wait_for()
    picture(page, "chat-new")
    message = ask(page, QUESTION)
    picture(page, "chat-answer")
    message.get_by_text("Details").click()
    page.wait_for_timeout(500)
    message.get_by_text("Details").scroll_into_view_if_needed()
    picture(page, "chat-how")
    message.get_by_text("Details").click()
    _open_citation(page, message)
    picture(page, "chat-page")
    page.keyboard.press("Escape")
    message.get_by_role("button", name="Helpful", exact=True).click()
    page.get_by_text("Rated helpful").wait_for()
    ask(page, "Who won the football match?")
    picture(page, "chat-refusal")
    ask(page, "What is the deficit ceiling?")
    ask(page, "when the deficit rises above its ceiling then delay new borrowing")
    picture(page, "chat-several")
    page.get_by_role("button", name="New conversation").click()
    settled(page)
    ask(
        page,
        (
            "What does each document say about the deficit, the debt and the reserve, and what is the "
            "expenditure rule?"
        ),
    )
    picture(page, "chat-long")
    page.locator("[class*=st-key-menu-open-] button").first.click()
    page.get_by_test_id("stPopoverBody").get_by_label("Title").wait_for()
    picture(page, "chat-menu")
    page.keyboard.press("Escape")


def _take_others(page: Page, picture: Take) -> None:
    go(page, "Documents")
    picture(page, "documents")
    page.locator("[class*=st-key-Guide-] button").first.click()
    page.locator(".st-key-guide-questions").wait_for()
    picture(page, "documents-guide")
    page.locator("[class*=st-key-Details-] button").first.click()
    page.get_by_role("dialog").wait_for()
    picture(page, "documents-details")
    page.keyboard.press("Escape")
    go(page, "Key figures")
    page.locator(".figures").first.wait_for()
    picture(page, "key-figures")
    go(page, "Compare")
    page.get_by_role("button", name="Compare", exact=True).wait_for()
    picture(page, "compare")
    for name, address in COMPARED.items():
        page.goto(f"{page.url.split('/compare')[0]}/compare?{address}")
        page.get_by_role("heading", name="Compare", exact=True).wait_for()
        page.get_by_role("button", name="Compare", exact=True).click()
        page.get_by_role("link", name="Download as CSV").wait_for()
        picture(page, name)
    go(page, "Memory")
    picture(page, "memory")
    for tab in page.get_by_role("tab").all()[1:]:
        tab.click()
        picture(page, f"memory-{tab.inner_text().lower().replace(' ', '-')}")
    go(page, "Settings")
    picture(page, "settings")


def _open_citation(page: Page, message: Locator) -> None:
    message.locator(".cite").first.click()
    page.get_by_role("dialog").locator("img").wait_for()
    page.mouse.move(5, 5)
    page.wait_for_timeout(1_500)


def main() -> None:
    """Write what is asked for."""
    with tempfile.TemporaryDirectory() as folder:
        if len(sys.argv) > 1:
            make_gallery(Path(sys.argv[1]), Path(folder))
            return
        TARGET.write_bytes(small(take(Path(folder))))
    print(f"{TARGET} ({TARGET.stat().st_size:,} bytes)")


if __name__ == "__main__":
    main()
