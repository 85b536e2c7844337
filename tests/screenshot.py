"""Makes the README's screenshot: a sample question answered, and the cited page opened with its passage marked."""

from __future__ import annotations

import io
import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from documents.make_samples import make_samples  # noqa: E402
from tests.browser import Server, add, ask, open_browser, open_page  # noqa: E402

TARGET = ROOT / "chatbot" / "ui" / "screenshot.png"
QUESTION = "Under what conditions may the rules be suspended?"
MOST_BYTES = 300_000


def take(folder: Path) -> bytes:
    """The screenshot as a PNG of 1280 x 900."""
    add(folder / "home", make_samples(folder / "samples"))
    with Server(folder / "home") as server, open_browser() as browser:
        page = open_page(browser, server.url)
        message = ask(page, QUESTION)
        message.locator("[class*=st-key-cite-] button").first.click()
        page.get_by_role("dialog").locator("img").wait_for()
        page.mouse.move(5, 5)
        page.wait_for_timeout(1_500)
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


def main() -> None:
    """Write it."""
    with tempfile.TemporaryDirectory() as folder:
        TARGET.write_bytes(small(take(Path(folder))))
    print(f"{TARGET} ({TARGET.stat().st_size:,} bytes)")


if __name__ == "__main__":
    main()
