"""A real server of the product and a real browser before it, for tests and the screenshot; knows no test."""

from __future__ import annotations

import faulthandler
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from tests import forkserver
from tests.commands import run
from tests.pdfs import make_pdf

__all__ = [
    "FIRST_PAGE",
    "Listener",
    "Server",
    "Visitor",
    "add",
    "answered_by",
    "arrive",
    "ask",
    "at_once",
    "begin_to_ask",
    "chromium",
    "close_dialog",
    "go",
    "messages",
    "open_browser",
    "open_page",
    "press",
    "see",
    "settled",
    "store_of_rules",
]

# A busy machine draws a page in seconds; what never comes is told just as well a little later.
expect.set_options(timeout=15_000)

ROOT = Path(__file__).resolve().parent.parent
# Below those that the system gives out by itself, and each process's own: nobody takes the port that a
# stopped server comes back to.
PORTS = iter(range(10_000 + os.getpid() % 1_000 * 20, 32_000))
# Characters of a server's log that the report of a failed test shows.
MOST_REPORTED = 20_000
FLAGS = """
    --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --disable-background-networking
    --disable-component-update --disable-sync --no-first-run --force-color-profile=srgb
""".split()
# The address bar's own pages take half of what it costs to open a page of ours. The later list holds alone,
# so it repeats Playwright's own.
FLAGS.append(
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,AvoidUnnecessaryBeforeUnloadCheckSync,"
    "DestroyProfileOnBrowserClose,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,LensOverlay,MediaRouter,"
    "PaintHolding,ThirdPartyStoragePartitioning,AvoidCorsURLLoaderRestartOnRedirect,"
    "OptimizationHints,NetworkTimeServiceQuerying,AimEnabled,PreconnectToSearch"
)


def chromium() -> str | None:
    """The browser's program, None where there is none."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def add(home: Path, paths: Sequence[Path]) -> None:
    """Add documents on the command line."""
    run(home, "add", *paths).check_returncode()


def store_of_rules(folder: Path, pages: Sequence[str]) -> Path:
    """A store in `folder` with one document, Rules.pdf."""
    home = folder / "home"
    add(home, [make_pdf(folder / "Rules.pdf", pages)])
    return home


def answered_by(url: str, *, model: str = "stand-in", key: str = "sk-secret") -> dict[str, str]:
    """Settings of a server whose answers a chat model writes."""
    return {"FINPOLICY_CHAT_MODEL": model, "OPENAI_API_KEY": key, "OPENAI_BASE_URL": url}


def is_free(port: int) -> bool:
    """Whether a server could listen there."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


class Server:
    """`streamlit run app.py` over `home`, on `port` or on a free one. settings: further environment. script:
    what it runs, in that one's folder. around: a command that runs it in its own process."""

    def __init__(
        self,
        home: Path,
        settings: Mapping[str, str] | None = None,
        *,
        port: int = 0,
        script: Path = ROOT / "app.py",
        around: Sequence[str] = (),
    ) -> None:
        self.port = port = port or next(filter(is_free, PORTS))
        self.url = f"http://127.0.0.1:{port}"
        self.log = home.with_suffix(f".{port}.log")
        command = ["-m", "streamlit", "run", script.name, "--server.port", str(port)]
        environment = {**os.environ, "FINPOLICY_HOME": str(home), **(settings or {})}
        self.process: forkserver.Process | subprocess.Popen[bytes]
        with self.log.open("ab") as output:
            if forkserver.is_used() and not around:
                self.process = forkserver.start(
                    command, cwd=script.parent, env=environment, stdin=0, stdout=output, stderr=output
                )
            else:
                command = [*around, sys.executable, *command]
                self.process = subprocess.Popen(
                    command, cwd=script.parent, env=environment, stdout=output, stderr=subprocess.STDOUT
                )

    def wait(self) -> None:
        """Until it answers."""
        end = time.monotonic() + 60
        while time.monotonic() < end and self.process.poll() is None:
            try:
                with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=5):
                    return
            except OSError:
                time.sleep(0.1)
        raise RuntimeError(f"The server did not start:\n{self.log.read_text()}")

    def client(self) -> httpx.Client:
        """A client of the API, to be closed, once the store is open."""
        end = time.monotonic() + 60
        while httpx.get(f"{self.url}/api/v1/health").status_code != 200 and time.monotonic() < end:
            time.sleep(0.02)
        return httpx.Client(base_url=self.url, timeout=60, limits=httpx.Limits(max_connections=200))

    def stop(self) -> None:
        """As Ctrl-C or a service manager would."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise

    def kill(self) -> None:
        """As a power cut would."""
        self.process.kill()
        self.process.wait(20)

    def __enter__(self) -> Server:
        self.wait()
        return self

    def __exit__(self, failed: type[BaseException] | None, *_: object) -> None:
        if failed is not None:
            self._report()
        self.stop()

    def _report(self) -> None:
        """Where each thread is, and what was logged, for the report of a failed test."""
        faulthandler.dump_traceback()
        if isinstance(self.process, forkserver.Process) and self.process.poll() is None:
            self.process.send_signal(signal.SIGUSR1)
            time.sleep(0.5)
        print(self.log.read_text(errors="replace")[-MOST_REPORTED:])


class Listener:
    """A web server that nobody should ask for anything. requests: the paths that somebody asked for."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        listener = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                listener.requests.append(self.path)
                self.send_response(204)
                self.end_headers()

            do_HEAD = do_POST = do_OPTIONS = do_GET

            def log_message(self, format: str, *args: object) -> None:
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        ).start()

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Chromium without a window."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield browser
        browser.close()


# Milliseconds until a server that has just started has drawn a page, on a machine where much else runs; two
# seconds on a quiet one.
FIRST_PAGE = 60_000

# What a browser logs where its server has stopped; the last two only where it is away for longer, as on a
# busy machine.
STOPPED = (
    "ERR_CONNECTION",
    "WebSocket connection",
    "Client Error in reaching server endpoint",
    "Streamlit server is not responding",
)


class Visitor:
    """A page in a browser of its own. At the end nothing may have been logged as an error, nor any other
    server asked, but what a stopped server brings.
    """

    def __init__(self, browser: Browser, url: str) -> None:
        self._faults: list[str] = []
        self._page = open_page(browser, url)
        ours = (url.split("?")[0].rstrip("/"), "data:", "blob:")
        self._page.context.on(
            "request",
            lambda request: self._faults.append(request.url) if not request.url.startswith(ours) else None,
        )
        self._page.context.on(
            "console",
            lambda message: (
                self._faults.append(f"{message.text} {message.location['url']}")
                if message.type == "error"
                else None
            ),
        )
        self._page.context.on("weberror", lambda error: self._faults.append(str(error.error)))

    def __enter__(self) -> Page:
        return self._page

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._page.context.close()
        faults = [fault for fault in self._faults if not _is_of_stopping(fault)]
        if kind is None:
            assert not faults, faults


def _is_of_stopping(fault: str) -> bool:
    return any(words in fault for words in STOPPED)


# How Streamlit marks a page that it does not draw just now.
DRAWN = '[data-test-script-state="notRunning"]'


def settled(page: Page) -> None:
    """Wait until the page is drawn: what is clicked before may be lost."""
    page.locator(DRAWN).wait_for()


def at_once(what: Locator) -> None:
    """Click although the page is being drawn, as on a stop button."""
    CLICK(what)


def _once_drawn(act: Callable[..., None]) -> Callable[..., None]:
    """Do it when it is there and the page is drawn, as a person would who sees it move; a page without
    Streamlit is always drawn.
    """

    @wraps(act)
    def patient(of: Locator, *values: Any, **options: Any) -> None:
        of.first.wait_for(state="attached")  # which may come while the page is being drawn
        of.page.locator(f"{DRAWN}, html:not(:has([data-test-script-state]))").first.wait_for()
        act(of, *values, **options)

    return patient


CLICK = Locator.click
for name in ("click", "hover", "fill", "press", "check", "set_input_files", "select_option"):
    setattr(Locator, name, _once_drawn(getattr(Locator, name)))


def arrive(page: Page, heading: str, *, timeout: float | None = None) -> None:
    """Wait until a page of this heading is there."""
    page.get_by_role("heading", name=heading, exact=True).wait_for(timeout=timeout)


def go(page: Page, name: str) -> None:
    """Go to a page by the navigation."""
    page.get_by_test_id("stSidebarNav").get_by_role("link", name=name).click()
    arrive(page, name)
    settled(page)


def see(place: Page | Locator, text: str | re.Pattern[str], *, timeout: float | None = None) -> None:
    """Wait until this can be read there, in one place."""
    expect(place.get_by_text(text)).to_be_visible(timeout=timeout)


def press(place: Page | Locator, name: str, *, exact: bool = False) -> None:
    """Click a button by its name."""
    place.get_by_role("button", name=name, exact=exact).click()


def close_dialog(page: Page) -> None:
    """As one does by keyboard."""
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def messages(page: Page) -> Locator:
    """The questions and answers on the Chat page."""
    return page.get_by_test_id("stChatMessage")


def begin_to_ask(page: Page, question: str) -> None:
    """Ask by keyboard, and wait for nothing."""
    page.get_by_label("Ask about the documents").fill(question)
    page.keyboard.press("Enter")


def open_page(browser: Browser, url: str, *, heading: str = "Chat") -> Page:
    """A page in a browser of its own, at 1280 x 900, once its heading is there."""
    page = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce").new_page()
    page.set_default_timeout(20_000)
    page.goto(url, timeout=FIRST_PAGE)
    arrive(page, heading, timeout=FIRST_PAGE)
    return page


def ask(page: Page, question: str) -> Locator:
    """Ask by keyboard and wait until the answer is complete; returns the last message, which is its own
    until more is asked.
    """
    settled(page)
    box = page.get_by_label("Ask about the documents")
    box.fill(question)
    expect(
        page.get_by_test_id("stChatInputSubmitButton")
    ).to_be_enabled()  # Enter does nothing while an attachment is on its way
    box.press("Enter")
    page.locator(".question", has_text=question).last.wait_for()
    message = messages(page).last
    message.get_by_text("Details").wait_for()
    return message
