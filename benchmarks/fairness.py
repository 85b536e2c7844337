"""Measures how long one user waits beside another's huge or hostile work.

    python benchmarks/fairness.py [--servers] [--questions 40] [--only NAME ...]

Eve does one of: files with one page 60,000 and 5,000 times, three files of 2,000 different pages, 200 scanned
pages, 50 questions whose answers she does not read, a feed made to be slow; questions to a chat model, and to
one whose tools another server has, of which both mean harm (`hostile_servers.py`); imports of archives and of
rated answers that mean harm (`hostile_files.py`). A few seconds later Ann, who has another key, adds a PDF of
one page and asks questions one after another. Each time is a new store. Compared with it are ten pages that
Ann adds alone, and her questions alone. --servers: the same on the proxy, servers and workers of deploy/,
with its engines, but for the feed.

Exit code 1 if the one page takes longer than the ten pages, or the 95th percentile of her answers more than
doubles.
"""

from __future__ import annotations

import argparse
import http.server
import itertools
import json
import os
import ssl
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, Popen
from typing import TypeAlias

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import httpx

from benchmarks.hostile_files import ARCHIVES, CASES, make_archives, make_cases
from benchmarks.hostile_servers import hostile_servers
from benchmarks.made_pdfs import make_pdf
from benchmarks.tables import markdown_table
from chatbot.settings import Settings
from chatbot.store.api_keys import open_api_keys
from tests.browser import Server
from tests.deployment import Deployment
from tests.pdfs import make_pdf as make_pages
from tests.pdfs import make_scan, repeat_page

__all__ = ["Waits", "judged", "main"]

QUESTIONS = (
    "What is the deficit ceiling?",
    "What is the debt anchor?",
    "By when must the debt anchor be met?",
    "How large is the contingency reserve?",
)
RULES = (
    "The deficit ceiling is three per cent of output.",
    "The debt anchor is sixty per cent of output and must be met by 2030.",
    "The contingency reserve is set at 1.5 per cent of expenditure.",
)
# Seconds for which Eve works before Ann comes, and the most that are waited for Ann's page.
HEAD_START, LONGEST = 5.0, 900.0
UNREAD, LONG_PAGES, SCANS = 50, 2_000, 200
MANY, SAME, SCAN = "Many.pdf", "Same.pdf", "Scan.pdf"
LONG = ("Long 1.pdf", "Long 2.pdf", "Long 3.pdf")
MOST_P95 = 2.0
SLOW_ATTRIBUTES = 32_000
ALONE = "nothing"
FEED, MODEL, TOOLS = "a slow feed", "a hostile chat model", "hostile tools"
# Questions that Eve has answered at the same time by the model.
AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class Waits:
    """What Ann waited for: seconds until her page, or her ten pages, were whole; and for each answer."""

    whole: float
    answers: Sequence[float]

    @property
    def p95(self) -> float:
        """The 95th percentile of her answers, in seconds."""
        return sorted(self.answers)[int(0.95 * (len(self.answers) - 1) + 0.5)]


@dataclass(frozen=True, slots=True)
class Place:
    """A store that is served. ann, eve: clients of its API with keys of their own. home: of commands."""

    ann: httpx.Client
    eve: httpx.Client
    home: Path


Doing: TypeAlias = Callable[[Place, Path, threading.Event], None]


def main() -> int:
    """Measure, print, and return the exit code."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    options.add_argument("--servers", action="store_true")
    options.add_argument("--questions", type=int, default=40)
    options.add_argument("--only", nargs="*", choices=sorted(DOINGS))
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        folder.chmod(0o755)
        ten = make_pdf(folder / "Ten.pdf", 10)
        one = make_pdf(folder / "One.pdf", 1, seed=1)
        _make_files(folder)
        alone = _waits(folder / "alone", ten, given, ALONE)
        found = {}
        for number, doing in enumerate(given.only or DOINGS):
            if not (given.servers and doing == FEED):
                found[doing] = _waits(folder / str(number), one, given, doing)
                print(f"{doing}: {found[doing].whole:.1f} s, p95 {found[doing].p95:.2f} s", file=sys.stderr)
    text, holds = judged(alone, found)
    print(text)
    return 0 if holds else 1


def judged(alone: Waits, found: dict[str, Waits]) -> tuple[str, bool]:
    """A table, and whether nobody waited too long. alone: of ten pages, and questions with nothing beside."""
    rows = [(f"{ALONE} (ten pages)", f"{alone.whole:.1f}", "", f"{1000 * alone.p95:.0f}", "")]
    holds = True
    for doing, waits in found.items():
        whole, p95 = waits.whole / alone.whole, waits.p95 / alone.p95
        holds = holds and whole <= 1 and p95 <= MOST_P95
        rows.append((doing, f"{waits.whole:.1f}", f"{whole:.2f}", f"{1000 * waits.p95:.0f}", f"{p95:.2f}"))
    heads = ["beside", "one page whole, s", "of ten pages alone", "answer p95, ms", "of it alone"]
    return markdown_table(heads, rows), holds


def _waits(folder: Path, page: Path, given: argparse.Namespace, doing: str) -> Waits:
    folder.mkdir()
    folder.chmod(0o755)
    with ExitStack() as stack:
        settings = {"FINPOLICY_API_RATE": "0"}
        homes = [folder / "data/server1", folder / "data/server2"] if given.servers else [folder / "home"]
        for home in homes:
            home.mkdir(parents=True)
        if doing == FEED:
            settings["FINPOLICY_FEEDS"] = stack.enter_context(_slow_feed())
        elif doing in (MODEL, TOOLS):
            url = stack.enter_context(hostile_servers())
            model = f"{url}/{'model' if doing == MODEL else 'calls'}"
            settings |= {"FINPOLICY_CHAT_MODEL": "m", "OPENAI_API_KEY": "k", "OPENAI_BASE_URL": model}
            for home in homes:
                (home / "mcp.json").write_text(json.dumps({"mcpServers": {"weather": {"url": f"{url}/mcp"}}}))
        opened = _servers(folder, settings) if given.servers else _server(folder, settings)
        place = stack.enter_context(opened)
        _send(place.ann, make_pages(folder / "Rules.pdf", RULES))
        _wait("Rules.pdf")
        _ask(place.ann, len(QUESTIONS))
        if doing in DOINGS:
            stack.enter_context(_beside(lambda stop: DOINGS[doing](place, folder, stop)))
            time.sleep(HEAD_START)
        begun = time.monotonic()
        _send(place.ann, page)
        answers = _ask(place.ann, given.questions)
        _wait(page.name)
        # Questions go on while the page is added, so its end may be seen late.
        return Waits(_ENDS.get(page.name, begun + LONGEST) - begun, answers)


# File -> when it was whole.
_ENDS: dict[str, float] = {}


def _send(client: httpx.Client, *paths: Path) -> None:
    files = [("files", (path.name, path.read_bytes())) for path in paths]
    client.post("/api/v1/documents", files=files).raise_for_status()
    for path in paths:
        _ENDS.pop(path.name, None)
        threading.Thread(target=_watch, args=(client, path.name), daemon=True).start()


def _watch(client: httpx.Client, name: str) -> None:
    """Note when a file is whole."""
    end = time.monotonic() + LONGEST
    while time.monotonic() < end:
        with suppress(httpx.HTTPError, RuntimeError):
            jobs = [job for job in client.get("/api/v1/jobs").json() if job["name"] == name]
            if jobs and jobs[-1]["phase"] in {"done", "failed"}:
                _ENDS[name] = time.monotonic()
                return
        time.sleep(0.1)


def _wait(name: str) -> None:
    end = time.monotonic() + LONGEST
    while name not in _ENDS and time.monotonic() < end:
        time.sleep(0.05)


def _ask(client: httpx.Client, count: int) -> list[float]:
    """Seconds of each answer."""
    times = []
    for number in range(count):
        begun = time.perf_counter()
        asked = {"question": QUESTIONS[number % len(QUESTIONS)], "model": "none"}
        answer = client.post("/api/v1/ask", json=asked)
        answer.raise_for_status()
        times.append(time.perf_counter() - begun)
    return times


# --- what Eve does
# ------------------------------------------------------------------------------------------------------------


@contextmanager
def _beside(work: Callable[[threading.Event], None]) -> Iterator[None]:
    stop = threading.Event()
    thread = threading.Thread(target=work, args=(stop,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(30)


def _make_files(folder: Path) -> None:
    """Make Eve's files, which would else take Ann's time."""
    repeat_page(folder / MANY, RULES[0], 60_000)
    repeat_page(folder / SAME, "\n".join(RULES * 15), 5_000)
    for seed, name in enumerate(LONG):
        make_pdf(folder / name, LONG_PAGES, seed=seed)
    page = "\n".join(f"Line {line} of a scanned page of the budget" for line in range(30))
    make_scan(folder / SCAN, [page] * SCANS)
    make_archives(folder)
    make_cases(folder)


def _sending(*names: str) -> Doing:
    return lambda place, folder, stop: _send(place.eve, *(folder.parent / name for name in names))


def _unread_answers(place: Place, folder: Path, stop: threading.Event) -> None:
    with ExitStack() as streams:
        for _ in range(UNREAD):
            body = {"question": QUESTIONS[0], "stream": True, "model": "none"}
            with suppress(httpx.HTTPError):
                streams.enter_context(place.eve.stream("POST", "/api/v1/ask", json=body))
        stop.wait()


def _asking_the_model(place: Place, folder: Path, stop: threading.Event) -> None:
    """Asks it, with its tools, again and again."""

    def ask() -> None:
        for question in itertools.cycle(QUESTIONS):
            if stop.is_set():
                return
            with suppress(httpx.HTTPError):
                place.eve.post("/api/v1/ask", json={"question": question, "tools": True})

    threads = [threading.Thread(target=ask, daemon=True) for _ in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    stop.wait()


def _commanding(*files: str, words: Sequence[str] = ("import",)) -> Doing:
    """Runs a command of the program with one file after another, again and again."""

    def run(place: Place, folder: Path, stop: threading.Event) -> None:
        environment = {**os.environ, "FINPOLICY_HOME": str(place.home)}
        for name in itertools.cycle(files):
            command = [sys.executable, "-m", "chatbot", *words, str(folder.parent / name)]
            process = Popen(command, cwd=ROOT, env=environment, stdout=DEVNULL, stderr=DEVNULL)
            while process.poll() is None and not stop.wait(0.1):
                pass
            if stop.is_set():
                process.kill()
                process.wait()
                return

    return run


def _nothing(place: Place, folder: Path, stop: threading.Event) -> None:
    return


DOINGS: dict[str, Doing] = {
    "a page 60,000 times": _sending(MANY),
    "a page 5,000 times": _sending(SAME),
    "2,000 pages, three times": _sending(*LONG),
    "200 scanned pages": _sending(SCAN),
    "50 unread answers": _unread_answers,
    FEED: _nothing,
    MODEL: _asking_the_model,
    TOOLS: _asking_the_model,
    "hostile archives": _commanding(*ARCHIVES),
    "hostile rated answers": _commanding(*CASES, words=("memory", "cases", "import")),
}


# --- where
# ------------------------------------------------------------------------------------------------------------


@contextmanager
def _slow_feed() -> Iterator[str]:
    """The address of a feed that takes long to parse."""
    attributes = " ".join(f'a{number}="b"' for number in range(SLOW_ATTRIBUTES))
    feed = f"<rss version='2.0'><channel><item {attributes}><title>x</title></item></channel></rss>".encode()

    class Feed(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-length", str(len(feed)))
            self.end_headers()
            self.wfile.write(feed)

        def log_message(self, format: str, *_: object) -> None:
            return

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Feed)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/feed"
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def _server(folder: Path, settings: Mapping[str, str]) -> Iterator[Place]:
    home = folder / "home"
    keys = _keys(Settings(home=home))
    server = Server(home, settings)
    try:
        server.wait()
        server.client().close()
        with _clients(server.url, keys, home) as place:
            yield place
    finally:
        server.kill()


@contextmanager
def _servers(folder: Path, settings: Mapping[str, str]) -> Iterator[Place]:
    deployment = Deployment(folder / "data", **settings)
    try:
        deployment.wait()
        keys = _keys(Settings(home=folder, database=deployment.database))
        home = folder / "data/server1"
        with _clients(deployment.url, keys, home, verify=deployment.trusted()) as place:
            yield place
    finally:
        deployment.stop()


def _keys(settings: Settings) -> list[str]:
    settings.store.mkdir(parents=True, exist_ok=True)
    kept = open_api_keys(settings)
    try:
        return [kept.create(name, "manage")[0] for name in ("ann", "eve")]
    finally:
        kept.close()


@contextmanager
def _clients(
    url: str, keys: Sequence[str], home: Path, *, verify: ssl.SSLContext | bool = True
) -> Iterator[Place]:
    limits = httpx.Limits(max_connections=200)

    def client(key: str) -> httpx.Client:
        headers = {"authorization": f"Bearer {key}"}
        return httpx.Client(base_url=url, headers=headers, verify=verify, timeout=300, limits=limits)

    ann, eve = map(client, keys)
    with ann, eve:
        yield Place(ann, eve, home)


if __name__ == "__main__":
    sys.exit(main())
