"""Measures how long people wait for the pages, in a real browser before a real server.

    python benchmarks/browser.py [--runs 5] [--sessions 20] [--beside CHECKOUT] [--json FILE]

Over the sample documents, without a model. With --beside another checkout of the product is measured in the
same run, turn about. Chromium without a window runs on the same machine and takes its share of it; all times
but "ready" are the browser's own clock (performance.now), read inside the page:

- ready: from the start of the process until /ready first answers 200, which it does once the store is open.
  It is polled every 20 ms.
- first page: from the start of the navigation, with an empty browser cache, until the question field accepts
  text and nothing is being drawn. "new server": for the first visitor of a server that has just become ready;
  "visited": for a later one.
- first token: from Enter until words of the answer stand on the page.
- whole answer: from Enter until its rating buttons, which are drawn last, stand there.
- citation: from the click on an answer's mark until the page's image is loaded, in the next frame. Each
  citation's page is opened for the first time, so no image is cached.
- sessions at once: as many browser profiles, each asking a question of its own. "same moment": all press
  Enter in one instant; "in turn": spread evenly over so many half seconds. Times are those of whole answers;
  95 of 100 answers take at most p95. The computing time of the server's processes and that of the browser's
  are listed separately: real visitors would each bring the browser's share on a machine of their own.
- memory: what the server's processes take (PSS) with the sessions open and idle, less what they took before,
  for each session.

The peer is a bare Streamlit page with one st.write, by the same interpreter: what any page on Streamlit
takes; for many sessions, a chat that only repeats what it is asked, with one button. Load is
os.getloadavg()[0] after the measurement.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Browser, Page

from benchmarks.processes import process_tree, processor_seconds, proportional_bytes
from benchmarks.tables import markdown_table
from documents.make_samples import make_samples
from tests.browser import Server, chromium, open_browser

# Milliseconds, but for memory: megabytes of a session. What the product must keep on two cores.
LIMITS = {
    "ready": 4_000,
    "first page, new server": 3_000,
    "first page, visited": 3_000,
    "first token": 500,
    "citation": 400,
    "at once": 2_000,
    "memory": 8,
}
QUESTIONS = (
    "What is the contingency reserve set at for 2025-26?",
    "By when must the debt anchor be met?",
    "Under what conditions may the rules be suspended?",
    "What is the debt anchor?",
    "What is the deficit ceiling?",
)
LOOK_SECONDS, START_SECONDS = 0.02, 60
# After this the pages' own work is done and a session is idle.
IDLE_SECONDS = 4.0
MEGABYTE = 1_000_000
PEER = 'import streamlit as st\n\nst.write("ready")\n'
PEER_CHAT = """import streamlit as st

said = st.session_state.setdefault("said", [])
if question := st.chat_input("Ask"):
    said.append(question)
for number, question in enumerate(said):
    st.html(f'<div class="answer">{question}</div>')
    st.button("Helpful", key=f"helpful-{number}")
"""
# Notes in the page when something is asked or pressed, and when what follows from it can be seen.
WATCH = """
window.watched = {};
const count = (what) => document.querySelectorAll(what).length;
document.addEventListener('keydown', (event) => {
  if (event.key === 'Enter') window.watched = {asked: performance.now(), answers: count('.answer'), \
rated: count('[class*=st-key-helpful-]')};
}, true);
document.addEventListener('click', (event) => {
  if (event.target.closest && event.target.closest('button.key')) {
    window.watched = {pressed: performance.now()};
    wait(window.watched);
  }
}, true);
const look = () => {
  const seen = window.watched, answers = document.querySelectorAll('.answer');
  if (seen.asked && !seen.first && answers.length > seen.answers && answers[answers.length - \
1].textContent.trim()) seen.first = performance.now();
  if (seen.asked && !seen.whole && count('[class*=st-key-helpful-]') > seen.rated) seen.whole = \
performance.now();
};
new MutationObserver(look).observe(document, {subtree: true, childList: true, characterData: true});
const wait = (seen) => {
  if (seen !== window.watched) return;
  const image = document.querySelector('[role="dialog"] .st-key-page-image img');
  if (image && image.complete && image.naturalHeight) \
requestAnimationFrame(() => { seen.drawn = performance.now(); });
  else requestAnimationFrame(() => wait(seen));
};
"""
USABLE = """() => { const box = document.querySelector('[data-testid="stChatInput"] textarea');
return box && !box.disabled && document.querySelector('[data-test-script-state="notRunning"]') && \
performance.now() }"""
WRITTEN = """() => document.querySelector('[data-testid="stMarkdownContainer"] p') && \
document.querySelector('[data-test-script-state="notRunning"]') &&
performance.now()"""
# Presses Enter in the question's field at a moment of the machine's clock, in milliseconds.
PRESS_AT = """(moment) => { setTimeout(() => \
document.querySelector('[data-testid="stChatInput"] textarea').dispatchEvent(
new KeyboardEvent('keydown', {key: 'Enter', code: 'Enter', keyCode: 13, which: 13, \
bubbles: true, cancelable: true})), moment - Date.now()) }"""


@dataclass(slots=True)
class Measured:
    """What was measured of one thing. limit: not to be passed, 0 for none."""

    what: str
    unit: str = "ms"
    limit: float = 0.0
    values: list[float] = field(default_factory=list)
    load: float = 0.0

    def take(self, *values: float) -> None:
        """Add to it."""
        self.values.extend(values)
        self.load = os.getloadavg()[0]

    def judged(self) -> float:
        """The value that is held to the limit: the 95th of 100 where many wait at once, else the median."""
        return p95(self.values) if "at once" in self.what else statistics.median(self.values)

    def row(self) -> list[str]:
        """Its line in the table."""
        digits = 1 if self.unit == "MB" else 0
        median = statistics.median(self.values)
        cells = [
            f"{value:.{digits}f}" for value in (median, p95(self.values), min(self.values), max(self.values))
        ]
        kept = "–"
        if self.limit:
            verdict = "kept" if self.judged() < self.limit else "NOT kept"
            kept = f"{verdict}, {self.limit:.0f}"
        return [f"{self.what}, {self.unit}", *cells, str(len(self.values)), kept, f"{self.load:.1f}"]


class Measurements:
    """All that was measured of one product."""

    def __init__(self) -> None:
        self.all: dict[str, Measured] = {}

    def take(self, what: str, *values: float, unit: str = "ms") -> None:
        """Add to what has that name."""
        limit = LIMITS.get(what) or (LIMITS["at once"] if "at once" in what else 0)
        self.all.setdefault(what, Measured(what, unit, limit)).take(*values)

    def table(self) -> str:
        """In Markdown."""
        return markdown_table(
            ["", "median", "p95", "least", "most", "n", "limit", "load"],
            [one.row() for one in self.all.values()],
        )


def p95(values: Sequence[float]) -> float:
    """The least of the values that 95 of 100 do not exceed."""
    return sorted(values)[math.ceil(0.95 * len(values)) - 1]


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    options.add_argument("--runs", type=int, default=5)
    options.add_argument("--sessions", type=int, default=20, help="0: none at once, and no memory")
    options.add_argument("--beside", type=Path, help="another checkout, to be measured in turn with this one")
    options.add_argument("--json", type=Path)
    given = options.parse_args()
    if chromium() is None:
        sys.exit("There is no Chromium on PATH (apt-get install chromium).")
    products = {"this": ROOT, **({"beside": given.beside.resolve()} if given.beside else {})}
    measured = {name: Measurements() for name in (*products, "bare Streamlit")}
    with tempfile.TemporaryDirectory() as folder, open_browser() as browser:
        samples = make_samples(Path(folder) / "samples")
        homes = {name: Path(folder) / name for name in products}  # one version need not read another's store
        for name, root in products.items():
            add(homes[name], root, samples)
        for run in range(given.runs):
            for name, root in list(products.items())[:: 1 if run % 2 else -1]:
                measure_one(homes[name], root, browser, measured[name])
            measure_peer(Path(folder), browser, measured["bare Streamlit"])
            print(
                f"run {run + 1} of {given.runs}, load {os.getloadavg()[0]:.1f}", file=sys.stderr, flush=True
            )
        for name, root in products.items() if given.sessions else ():
            measure_many(
                partial(Server, homes[name], script=root / "app.py"),
                "ready",
                browser,
                measured[name],
                given.sessions,
            )
        if given.sessions:
            chat = partial(Server, Path(folder) / "peer", script=Path(folder) / "chat_page.py")
            (Path(folder) / "chat_page.py").write_text(PEER_CHAT, "utf-8")
            measure_many(chat, "_stcore/health", browser, measured["bare Streamlit"], given.sessions)
    for name, one in measured.items():
        print(f"\n{name}\n\n{one.table()}")
    if given.json:
        found = {}
        for name, measurements in measured.items():
            found[name] = [asdict(one) for one in measurements.all.values()]
        written = {"cores": os.cpu_count(), "load": os.getloadavg(), "measured": found}
        given.json.write_text(json.dumps(written, indent=1) + "\n", "utf-8")


def add(home: Path, root: Path, paths: Sequence[Path]) -> None:
    """Adds documents with the product of a checkout."""
    subprocess.run(
        [sys.executable, "-m", "chatbot", "add", *map(str, paths)],
        cwd=root,
        env={**os.environ, "FINPOLICY_HOME": str(home)},
        check=True,
        stdout=subprocess.DEVNULL,
    )


def measure_one(home: Path, root: Path, browser: Browser, into: Measurements) -> None:
    """One start, two visits, and the questions with their citations."""
    started = time.perf_counter()
    with stopping(Server(home, script=root / "app.py")) as server:
        wait_for(f"{server.url}/ready", server)
        into.take("ready", 1000 * (time.perf_counter() - started))
        with visit(browser, server.url) as page:
            into.take("first page, new server", usable(page, USABLE))
        with visit(browser, server.url) as page:
            into.take("first page, visited", usable(page, USABLE))
            for question in QUESTIONS:
                first, whole = answer_times(page, question)
                into.take("first token", first)
                into.take("whole answer", whole)
                for time_of in citation_times(page):
                    into.take("citation", time_of)


def measure_peer(folder: Path, browser: Browser, into: Measurements) -> None:
    """One start of the bare page, and two visits."""
    (folder / "peer.py").write_text(PEER, "utf-8")
    started = time.perf_counter()
    with stopping(Server(folder / "peer", script=folder / "peer.py")) as server:
        wait_for(f"{server.url}/_stcore/health", server)
        into.take("ready", 1000 * (time.perf_counter() - started))
        for what in ("first page, new server", "first page, visited"):
            with visit(browser, server.url) as page:
                into.take(what, usable(page, WRITTEN))


def measure_many(
    start: Callable[[], Server], ready: str, browser: Browser, into: Measurements, sessions: int
) -> None:
    """Many sessions before one server: what they take of its memory, and how long their answers take.
    ready: the address that says it is there.
    """
    with stopping(start()) as server:
        wait_for(f"{server.url}/{ready}", server)
        with visit(browser, server.url) as page:
            usable(page, USABLE)
            answer_times(page, QUESTIONS[0])
        time.sleep(IDLE_SECONDS)
        before = server_bytes(server)
        pages = [
            browser.new_context(viewport={"width": 1280, "height": 900}).new_page() for _ in range(sessions)
        ]
        for page in pages:
            page.add_init_script(WATCH)
            page.goto(server.url)
            usable(page, USABLE)
        time.sleep(IDLE_SECONDS)
        into.take("memory", (server_bytes(server) - before) / sessions / MEGABYTE, unit="MB")
        for name, apart in (("in turn", 0.5), ("same moment", 0.0)):
            whole, ours = (
                processor_seconds(process_tree(root)) for root in (os.getpid(), server.process.pid)
            )
            into.take(f"{sessions} at once, {name}", *many_times(pages, apart))
            by_server = processor_seconds(process_tree(server.process.pid)) - ours
            by_browser = processor_seconds(process_tree(os.getpid())) - whole - by_server
            into.take(f"processor time of an answer, {name}: server", 1000 * by_server / sessions)
            into.take(f"processor time of an answer, {name}: browser", 1000 * by_browser / sessions)
        into.take(
            "memory, each with 2 answers", (server_bytes(server) - before) / sessions / MEGABYTE, unit="MB"
        )
        for page in pages:
            page.context.close()


def many_times(pages: Sequence[Page], apart: float) -> list[float]:
    """Milliseconds of each session's answer. apart: seconds between one's Enter and the next one's."""
    for number, page in enumerate(pages):
        page.wait_for_function(USABLE, timeout=60_000)  # what is still being drawn takes no Enter
        page.locator('[data-testid="stChatInput"] textarea').fill(QUESTIONS[number % len(QUESTIONS)])
    begin = 1000 * (time.time() + 3)
    for number, page in enumerate(pages):
        page.evaluate("window.watched = {}")
        page.evaluate(PRESS_AT, begin + 1000 * apart * number)
    return [seen(page, "whole") for page in pages]


def answer_times(page: Page, question: str) -> tuple[float, float]:
    """Milliseconds from Enter to the first words, and to the whole answer."""
    box = page.locator('[data-testid="stChatInput"] textarea')
    box.fill(question)
    box.press("Enter")
    times = seen(page, "first"), seen(page, "whole")
    page.wait_for_function(USABLE)
    return times


def citation_times(page: Page) -> Iterator[float]:
    """Milliseconds of each citation of the last answer, opened one after the other and closed again."""
    marks = page.get_by_test_id("stChatMessage").last.locator("button.key:visible")
    for number in range(marks.count()):
        marks.nth(number).click()
        yield seen(page, "drawn", since="pressed")
        page.wait_for_function(USABLE)
        close = page.get_by_role("button", name=re.compile("^Close( the page)?$"))
        close.click()
        close.wait_for(state="detached")
        page.wait_for_function(USABLE)


def seen(page: Page, what: str, *, since: str = "asked") -> float:
    """Milliseconds between two moments that the page noted, once both are."""
    page.wait_for_function("what => window.watched[what]", arg=what, timeout=60_000)
    difference: float = page.evaluate(
        "([what, since]) => window.watched[what] - window.watched[since]", [what, since]
    )
    return difference


def usable(page: Page, expression: str) -> float:
    """Milliseconds from the start of the navigation until the expression holds."""
    found: float = page.wait_for_function(expression, timeout=60_000).json_value()
    return found


def server_bytes(server: Server) -> int:
    """Memory of the server's processes."""
    return proportional_bytes(process_tree(server.process.pid))


@contextmanager
def visit(browser: Browser, url: str) -> Iterator[Page]:
    """A page in a profile of its own."""
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.add_init_script(WATCH)
    page.goto(url, wait_until="commit", timeout=60_000)
    yield page
    page.context.close()


@contextmanager
def stopping(server: Server) -> Iterator[Server]:
    """Stop it at the end."""
    try:
        yield server
    finally:
        server.stop()


def wait_for(url: str, server: Server, *, now: Callable[[], float] = time.monotonic) -> None:
    """Ask until it answers 200."""
    end = now() + START_SECONDS
    while now() < end and server.process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(LOOK_SECONDS)
    raise RuntimeError(f"{url} did not answer:\n{server.log.read_text()}")


if __name__ == "__main__":
    main()
