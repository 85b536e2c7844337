"""The product in a real browser: asking, checking, adding and removing, and that hostile text does
nothing.
"""

from __future__ import annotations

import io
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from PIL import Image, ImageChops, ImageStat
from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, Request, expect
from pypdf import PdfWriter
from pypdfium2 import PdfDocument

from chatbot.evidence.page_marks import YELLOW
from chatbot.store.lock import StoreLock
from chatbot.ui.safe_text import JOINER
from tests.browser import (
    FIRST_PAGE,
    Listener,
    Server,
    add,
    answered_by,
    arrive,
    ask,
    at_once,
    close_dialog,
    go,
    messages,
    open_page,
    press,
    see,
    settled,
)
from tests.commands import run_python
from tests.marks import in_a_browser
from tests.pdfs import make_pdf, make_scan
from tests.provider import Behaviour, Provider, Refuse, Say, first_key, numbered_words

pytestmark = in_a_browser

STATEMENT = "Valmora_Fiscal_Policy_Statement_2025.pdf"
POLICY = "Valmora_Procurement_Policy_2024.pdf"
HOSTILE = "Hostile :red[x] $y$ <img src=x> ![z](a) www.example.com.pdf"
SCAN = "Circular.pdf"
PROTECTED, PASSWORD = "Tax_Ruling.pdf", "sesame-4711"
TEXT_PAGES, SCANNED_PAGES = 112, 8
ANCHOR = "By when must the debt anchor be met?"


# An image that begins above what is seen of it.
# Whether what begins at this share of an open page's height is in sight.
IN_SIGHT = """share => {
  const box = document.querySelector('[role=dialog] img').getBoundingClientRect();
  const top = box.top + box.height * share;
  return 100 < top && top < 800;
}"""


def hostile_text(url: str) -> str:
    return (
        f"The emergency levy is ![x]({url}/a) seven per cent <img src={url}/b>.\n"
        f"See [the page]({url}/c) and {url}/d\nor www.example.com for :red[the $levy$] **now**.\n"
        f"<script>fetch('{url}/e')</script>\n<iframe src={url}/f></iframe> end the levy text."
    )


@pytest.fixture(scope="module")
def listener() -> Iterator[Listener]:
    """Must never be asked for anything."""
    made = Listener()
    yield made
    made.close()
    assert made.requests == []


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory, samples: Path, listener: Listener) -> Path:
    """A folder of PDFs: the samples, a scan and a hostile one."""
    folder = tmp_path_factory.mktemp("browser-samples")
    shutil.copytree(samples, folder, dirs_exist_ok=True)
    make_pdf(folder / HOSTILE, [hostile_text(listener.url)])
    circular = "Circular on travel\n\nThe daily allowance for journeys abroad is 140 crowns per day."
    make_scan(folder / SCAN, [circular])
    return folder


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, samples: Path) -> Path:
    """A store with documents in it."""
    folder = tmp_path_factory.mktemp("browser") / "home"
    add(folder, [samples / name for name in (STATEMENT, POLICY, HOSTILE, SCAN)])
    return folder


@pytest.fixture(scope="module")
def spare_home(home: Path) -> Path:
    """A copy of the store, taken before any server has opened it."""
    return Path(shutil.copytree(home, home.with_name("spare")))


@pytest.fixture(scope="module")
def server(home: Path, spare_home: Path) -> Iterator[Server]:
    with Server(home) as started:
        yield started
    assert "Traceback" not in started.log.read_text()


@pytest.fixture
def page(browser: Browser, server: Server, listener: Listener) -> Iterator[Page]:
    """A new visitor's Chat page. Nothing may be asked of any other server, and nothing may be logged as an
    error.
    """
    faults: list[str] = []
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.set_default_timeout(20_000)
    ours = (server.url, "data:", "blob:", "http://elsewhere.example/")

    def note_request(request: Request) -> None:
        if not request.url.startswith(ours):
            faults.append(request.url)

    def note_message(message: ConsoleMessage) -> None:
        if message.type == "error":
            faults.append(message.text)

    page.on("request", note_request)
    page.on("console", note_message)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(server.url, timeout=FIRST_PAGE)
    arrive(page, "Chat", timeout=FIRST_PAGE)
    yield page
    context.close()
    assert faults == []
    assert listener.requests == []


def citations(message: Locator) -> Locator:
    return message.locator(".cite")


def image_of(page: Page) -> tuple[Image.Image, str]:
    """The page image in the open dialog, and its description."""
    shown = page.get_by_role("dialog").locator("img")
    shown.wait_for()
    source = shown.evaluate("image => image.src")
    data = page.request.get(source).body()
    image = Image.open(io.BytesIO(data))
    return image.convert("RGB"), shown.get_attribute("alt") or ""


def yellow_box(image: Image.Image) -> tuple[int, int, int, int] | None:
    """The smallest rectangle around what is marked."""
    yellow = Image.new("RGB", image.size, YELLOW)
    difference = ImageChops.difference(image, yellow).convert("L")
    same = difference.point([255] + [0] * 255)
    return same.getbbox()


def differs(first: Image.Image, second: Image.Image) -> float:
    """How far two pictures are apart, on the average of the colour in which they are most."""
    statistics = ImageStat.Stat(ImageChops.difference(first, second))
    return max(statistics.mean)


def drawn(path: Path, number: int, size: tuple[int, int]) -> Image.Image:
    """Page `number` as PDFium draws it by itself."""
    with PdfDocument(path) as document:
        page = document[number - 1]
        image: Image.Image = page.render(scale=size[0] / page.get_width()).to_pil()
        return image.convert("RGB").resize(size)


def arrive_from_elsewhere(page: Page, address: str) -> None:
    """Follow a link on another site, with which the browser holds the owner's Strict cookie back."""
    link = f'<a href="{address}">there</a>'
    page.route("http://elsewhere.example/", lambda route: route.fulfill(content_type="text/html", body=link))
    page.goto("http://elsewhere.example/")
    with page.expect_request(address) as sent:
        page.get_by_text("there").click()
    headers = sent.value.all_headers()
    assert "finpolicy_owner" not in headers.get("cookie", "")
    arrive(page, "Chat")


def test_a_question_is_answered_with_a_citation_that_opens_the_marked_page(page: Page, samples: Path) -> None:
    message, dialog = ask(page, ANCHOR), page.get_by_role("dialog")
    answer = message.locator(".answer")
    expect(answer).to_contain_text("The anchor must be met at the latest on 31 March 2030.")
    button = citations(message).first
    expect(button).to_contain_text("Fiscal Policy Statement 2025 · p. 6 (printed 2) located on the page")
    button.click()
    expect(dialog).to_contain_text("Page 6 (printed 2)")
    image, described = image_of(page)
    assert described.endswith("Page 6 (printed\xa02)")
    plain = drawn(samples / STATEMENT, 6, image.size)
    box = yellow_box(image)
    assert box is not None
    left, top, right, bottom = box
    assert right - left > 0.25 * image.width
    assert bottom - top < 0.05 * image.height
    assert 0.3 < top / image.height < 0.6  # in the section on the debt anchor
    above = (0, 0, image.width, top)
    below = (0, bottom, image.width, image.height)
    for part in (above, below):
        assert differs(image.crop(part), plain.crop(part)) < 8
    press(page, "Next page")
    expect(dialog).to_contain_text("Page 7 (printed 3)")
    close_dialog(page)


@pytest.mark.long
def test_a_mark_far_down_the_page_is_brought_into_sight(page: Page) -> None:
    message = ask(page, "Under what conditions may the rules be suspended?")
    citations(message).first.click()
    image, _ = image_of(page)
    box = yellow_box(image)
    assert box is not None
    _, top, _, _ = box
    page.wait_for_function(IN_SIGHT, arg=top / image.height)


@pytest.mark.long
def test_a_passage_is_marked_on_a_scanned_page(page: Page) -> None:
    message = ask(page, "What is the daily allowance for journeys abroad?")
    citations(message).filter(has_text="Circular").first.click()
    expect(page.get_by_role("dialog")).to_contain_text("read from the page's image by OCR")
    image, _ = image_of(page)
    assert yellow_box(image) is not None


def test_a_refusal_names_its_reason_and_shows_what_was_considered(page: Page) -> None:
    message = ask(page, "Who composed the opera about the flying Dutchman?")
    expect(message).to_contain_text("Not in these documents")
    expect(citations(message)).to_have_count(0)
    message.get_by_text("Details").click()
    expect(message).to_contain_text("without a model")


def test_a_refresh_keeps_the_conversation_and_a_new_one_is_empty(page: Page, browser: Browser) -> None:
    ask(page, ANCHOR)
    ask(page, "And what about the deficit?")
    see(page, "Searched as:")
    page.reload()
    expect(messages(page)).to_have_count(4)
    expect(page.locator(".cite").first).to_be_visible()
    address = page.url
    assert "?c=" in address
    go(page, "Documents")
    page.get_by_role("link", name="Chat").click()
    expect(messages(page)).to_have_count(4)
    press(page, "New conversation")
    expect(messages(page)).to_have_count(0)
    page.goto(address)
    expect(messages(page)).to_have_count(4)
    arrive_from_elsewhere(page, address)
    expect(messages(page)).to_have_count(4)
    somebody_else = open_page(browser, address)
    see(somebody_else, "This conversation is not here. It may belong to another browser.")
    see(somebody_else, "Try asking")
    expect(messages(somebody_else)).to_have_count(0)
    somebody_else.context.close()


def test_hostile_text_is_shown_as_it_is_and_asks_for_nothing(page: Page, listener: Listener) -> None:
    message = ask(page, "How high is the emergency levy?")
    answer = message.locator(".answer")
    text = f"![x]({listener.url}/a) seven per cent <img src={listener.url}/b>"
    expect(answer).to_contain_text(text)
    links = "a:not([href^=download], [data-testid^=stPageLink])"
    drawn_of_it = f"img, {links}, iframe, script, .katex, strong:has-text('now')"
    expect(message.locator(drawn_of_it)).to_have_count(0)

    def says(place: Locator, words: str) -> bool:
        return words in place.inner_text().replace(JOINER, "")

    # It need not be the first that is quoted: other pages speak of levies too.
    marks = message.locator("button.key").all()
    hostile = [mark for mark in marks if "Hostile :red[x]" in str(mark.get_attribute("aria-label"))]
    if not hostile[0].is_visible():
        message.locator("details.further summary").click()
    hostile[0].click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator("img")).to_have_count(1)
    assert says(dialog, HOSTILE)
    expect(dialog.locator("iframe, .katex")).to_have_count(0)
    original = dialog.get_by_role("link", name="Original file").first
    led_to = {link.get_attribute("href") for link in dialog.locator("a").all()}
    assert led_to <= {original.get_attribute("href")}
    page.keyboard.press("Escape")
    page.get_by_test_id("stSidebarNav").get_by_role("link", name="Documents").click()
    title = page.locator("[class*=st-key-Guide-] button", has_text="Hostile").first
    assert says(title, "Hostile :red[x] $y$ <img src=x>")
    title.click()
    expect(page.locator(".st-key-guide dd").last).to_have_text(HOSTILE)
    expect(page.locator(".st-key-guide img")).to_have_count(1)


def open_ruling(page: Page) -> Locator:
    """The dialog with the page that the protected ruling is cited from."""
    message = ask(page, "What relief does the ruling on tidal mills allow?")
    citations(message).filter(has_text="Ruling").first.click()
    return page.get_by_role("dialog")


@pytest.mark.long
def test_a_protected_file_asks_for_its_password_and_keeps_it_nowhere(
    page: Page, browser: Browser, server: Server, home: Path, tmp_path: Path
) -> None:
    ruling = "Ruling on tidal mills\n\nThe ruling on tidal mills allows a relief of 12 per cent."
    path = make_pdf(tmp_path / PROTECTED, [ruling], user_password=PASSWORD)
    go(page, "Documents")
    begin_adding(page, path)
    field = page.get_by_label("Password for Tax Ruling pdf")
    field.wait_for()
    field.fill("sesame")
    field.press("Enter")
    see(page, "That password is wrong")
    field.fill(PASSWORD)
    field.press("Enter")
    see(page, f"✓ {PROTECTED}: added, 1 page", timeout=30_000)
    page.get_by_role("link", name="Chat").click()
    dialog = open_ruling(page)
    see(dialog, "This file is protected")
    dialog.get_by_role("button", name="Show the page").wait_for()
    field = dialog.get_by_label("Password", exact=True)
    field.fill("sesame")
    field.press("Enter")
    see(dialog, "The given password is wrong.")
    settled(page)
    expect(dialog.locator("img")).to_have_count(0)
    field.fill(PASSWORD)
    field.press("Enter")
    image, _ = image_of(page)
    assert yellow_box(image) is not None
    close_dialog(page)
    citations(messages(page).last).filter(has_text="Ruling").first.click()
    expect(dialog.locator("img")).to_be_visible()  # this session is not asked again
    somebody_else = open_page(browser, server.url)
    dialog = open_ruling(somebody_else)
    see(dialog, "This file is protected")
    expect(dialog.locator("img")).to_have_count(0)
    somebody_else.context.close()
    kept = [path for path in home.rglob("*") if path.is_file()]
    assert len(kept) > 10
    secret = PASSWORD.encode()
    assert [path for path in [*kept, server.log] if secret in path.read_bytes()] == []


def make_volume(folder: Path) -> Path:
    """A volume of pages of text with scanned ones after them."""
    heads = range(1, TEXT_PAGES + 1)
    annexes = range(1, SCANNED_PAGES + 1)
    texts = [f"Head {number} of the estimates\n\nThe grant is {number} million crowns." for number in heads]
    scanned = [f"Annex {number}\n\nThe reserve is {number} million crowns." for number in annexes]
    text = make_pdf(folder / "text.pdf", texts)
    scan = make_scan(folder / "scan.pdf", scanned)
    volume = folder / "Volume.pdf"
    with PdfWriter() as writer:
        writer.append(text)
        writer.append(scan)
        writer.write(volume)
    return volume


def begin_adding(page: Page, path: Path) -> None:
    page.locator("input[type=file]").set_input_files(path)


@pytest.mark.long
def test_an_addition_is_followed_cancelled_and_outlives_the_server(browser: Browser, tmp_path: Path) -> None:
    volume, home = make_volume(tmp_path), tmp_path / "home"
    with Server(home, {"FINPOLICY_WORKERS": "1"}) as server:
        page = open_page(browser, f"{server.url}/documents", heading="Documents")
        begin_adding(page, volume)
        reading = page.get_by_text(re.compile(r"reading page \d+ of 120|can ask about it now"))
        expect(reading.first).to_be_visible()
        press(page, "Undo")
        see(page, re.compile(r"cancelling|cancelled. Nothing of it was kept"), timeout=3_000)
        see(page, "Volume.pdf: cancelled. Nothing of it was kept.")
        see(page, "There are no documents yet")
        begin_adding(page, volume)
        # A quick machine reads so few images before it makes vectors.
        see(page, re.compile(r"reading (?:text in images|scanned pages), [2-6] of 8"), timeout=30_000)
        server.kill()
    with Server(home, {"FINPOLICY_WORKERS": "1"}, port=server.port) as again:
        read = re.compile(r"✓ Volume.pdf: (?:now read completely|added), 120 pages, 8 of them scanned")
        see(page, read, timeout=60_000)
        page.locator("[class*=st-key-Guide-] button").first.click()
        press(page, "Details")
        report = page.get_by_role("dialog")
        cells = report.locator(".cells span")
        expect(cells).to_have_count(120)
        expect(report.locator(".legend")).to_contain_text("112 text of the PDF8 read by OCR")
        read_by_ocr = re.compile("^Page 119.*: read by OCR, confidence")
        expect(cells.nth(118)).to_have_attribute("title", read_by_ocr)
        press(report, "3")
        expect(report.locator("tbody tr")).to_have_count(20)
        page.context.close()
    assert "Traceback" not in again.log.read_text()


@pytest.mark.long
def test_a_second_server_is_refused_with_the_holder_and_what_to_do(
    browser: Browser, home: Path, server: Server
) -> None:
    with Server(home) as second:
        page = open_page(browser, second.url, heading="The documents cannot be opened")
        see(page, f"in use by process {server.process.pid}")
        expect(page.get_by_role("button", name="Try again")).to_be_visible()
        page.context.close()
    empty = home.with_name("empty")
    with Server(empty) as third:
        page = open_page(browser, third.url)
        expect(page.get_by_text("There are no documents yet").first).to_be_visible()
        settled(page)  # a page that is still being drawn may lose the click
        expect(page.get_by_text("Add documents to ask about")).to_be_visible()
        page.context.close()
    StoreLock(empty / "chroma_db" / "store.lock").close()


def test_other_host_names_are_refused(server: Server) -> None:
    program = (
        "import sys, urllib.request as u; print(u.urlopen(u.Request(sys.argv[1], headers={'Host': "
        "'evil.example'})).status)"
    )
    done = run_python("-c", program, server.url)
    assert "421" in done.stderr


def test_with_a_model(browser: Browser, spare_home: Path, listener: Listener) -> None:
    """Streaming, a refresh and a stop on the way, forged keys, hostile tokens, and a model that fails."""

    def slowly(body: dict[str, object]) -> list[str]:
        statement = ["The deficit may not exceed 3.0 per cent", f" [{first_key(body)}]. "]
        image = ["<img src=", listener.url, "/g.png> "]
        linked = ["![", "x](", listener.url, "/h.png) $a$ ", "[S9-000000]."]
        return numbered_words(25) + statement + image + linked

    script: list[Behaviour] = [Say(slowly, delay=0.08), Say(slowly, delay=0.08), Refuse(401, "bad key")]
    with (
        Provider(script) as provider,
        Server(spare_home, answered_by(provider.url, key="sk-secret-secret")) as server,
    ):
        page = open_page(browser, server.url)
        host = urlsplit(provider.url).netloc
        expect(page.get_by_test_id("stSidebar")).to_contain_text(host)
        box = page.get_by_label("Ask about the documents")
        box.fill("What is the deficit ceiling?")
        box.press("Enter")
        page.get_by_text("word3").wait_for()
        page.reload()
        message = messages(page).nth(1)
        message.get_by_text("Details").wait_for()
        answer = message.locator(".answer")
        expect(answer).to_contain_text("word0 word1 word2 word3 word4 word5")
        expect(answer).to_contain_text("S9-000000: no such source")
        expect(message.locator("img, a:not([href^=download]), .katex")).to_have_count(0)
        assert len(provider.requests) == 1
        box.fill("What is the debt anchor?")
        box.press("Enter")
        page.locator(".answer").nth(1).get_by_text("word3").wait_for()
        at_once(page.get_by_test_id("stChatInputStopButton"))
        see(page, "Stopped. The unfinished answer was kept, unchecked.")
        assert provider.hung_up.wait(5)
        last = ask(page, "By when must the debt anchor be met?")
        expect(last).to_contain_text("The chat model failed")
        expect(last).to_contain_text("Instead, in the documents' own words:")
        expect(last).to_contain_text("31 March 2030")
        assert "sk-secret" not in page.content()
        page.context.close()
    assert listener.requests == []
