"""Measures what the API adds to the chatbot itself, in the same run.

    python benchmarks/api.py [--rounds 20] [--asks 50] [--json FILE]

Over the sample documents. The server is a process of its own, and the core is this one,
over a copy of the same store; they never work at the same time.

- overhead: the median of a question through the API, less its median by `Chatbot.ask`, turn about.
- throughput: so many questions at once, in questions a second, five times turn about; judged by the median
  ratio. The core answers them with eight threads, as many as the server uses. The client works on the same
  machine.
- first byte: a streamed answer's first text, less the model's own first word. The model is a stand-in on this
  machine that waits for a while before each word.
- gone: from the moment a client breaks off until the model's stand-in sees its connection closed.

Load is os.getloadavg()[0] after the measurement.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import shutil
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import httpx

from benchmarks.tables import markdown_table, ratios
from chatbot.asking.question import Ask
from chatbot.service import Chatbot
from chatbot.settings import Settings
from documents.make_samples import make_samples
from tests.browser import Server, add
from tests.provider import Body, Provider, Say

QUESTIONS = (
    "What is the contingency reserve set at for 2025-26?",
    "By when must the debt anchor be met?",
    "Under what conditions may the rules be suspended?",
    "What is the debt anchor?",
    "What is the deficit ceiling?",
)
THREADS, PAIRS = 8, 5
WORD_SECONDS = 0.5
UNITS = {"overhead": "ms", "throughput": "questions/s", "first byte": "ms", "gone": "ms"}
# Neither the rate nor the length of the queue is what is measured.
QUICK = {"FINPOLICY_API_RATE": "0", "FINPOLICY_WAITING_QUESTIONS": "0"}
WORDS = ("The ", "ceiling ", "is ", "three ", "per ", "cent ") * 5
HEADERS = {"content-type": "application/json"}
# Milliseconds, but for throughput: a share of the core's.
LIMITS = {"overhead": 15.0, "throughput": 0.9, "first byte": 150.0, "gone": 1_000.0}


def ask_core(chatbot: Chatbot, question: str) -> None:
    """One question to the chatbot itself."""
    for _ in chatbot.ask(Ask(question)):
        pass


def ask_api(client: httpx.Client, question: str) -> None:
    """One question through the API."""
    client.post("/api/v1/ask", json={"question": question}).raise_for_status()


class LeanClient:
    """Asks the API with a connection for each thread, and as little work of its own as can be.

    It shares the machine with the server whose throughput is measured.
    """

    def __init__(self, port: int) -> None:
        self._port = port
        self._local = threading.local()

    def __call__(self, question: str) -> None:
        """One question through the API."""
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = http.client.HTTPConnection("127.0.0.1", self._port)
        connection.request("POST", "/api/v1/ask", json.dumps({"question": question}), HEADERS)
        reply = connection.getresponse()
        reply.read()
        if reply.status != 200:
            raise RuntimeError(f"HTTP {reply.status}")


def seconds_of(ask: Callable[[str], None], question: str) -> float:
    """How long one question takes."""
    began = time.perf_counter()
    ask(question)
    return time.perf_counter() - began


def medians(chatbot: Chatbot, client: httpx.Client, rounds: int) -> tuple[float, float]:
    """(core, API): the median seconds of a question."""
    through = (partial(ask_core, chatbot), partial(ask_api, client))
    times: tuple[list[float], list[float]] = ([], [])
    for turn in range(rounds + 1):
        for question in QUESTIONS:
            for ask, taken in zip(through, times, strict=True):
                seconds = seconds_of(ask, question)
                if turn:  # the first opens what is opened once
                    taken.append(seconds)
    core, api = map(statistics.median, times)
    return core, api


def rate_of(ask: Callable[[str], None], count: int, threads: int) -> float:
    """Questions a second, so many asked at once."""
    asked = [QUESTIONS[number % len(QUESTIONS)] for number in range(count)]
    began = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(ask, asked))
    return count / (time.perf_counter() - began)


def rates(chatbot: Chatbot, port: int, asks: int) -> tuple[float, float]:
    """(core, API): questions a second, one after the other."""
    core = rate_of(partial(ask_core, chatbot), asks, THREADS)
    return core, rate_of(LeanClient(port), asks, asks)


class Model:
    """The text of a model that waits before each word. at: when it was last asked, by time.monotonic."""

    def __init__(self) -> None:
        self.at = 0.0

    def __call__(self, _: Body) -> Sequence[str]:
        self.at = time.monotonic()
        return WORDS


def first_bytes(client: httpx.Client, provider: Provider, model: Model) -> float:
    """Seconds from the model's first word to the first text of the stream."""
    provider.hung_up.clear()
    with client.stream("POST", "/api/v1/ask", json={"question": QUESTIONS[-1], "stream": True}) as answer:
        for line in answer.iter_lines():
            if line == "event: token":
                came = time.monotonic()
                break
    provider.hung_up.wait(20)
    return came - model.at - WORD_SECONDS


def gone(client: httpx.Client, provider: Provider) -> float:
    """Seconds from a client's end until the model's stand-in sees its connection closed."""
    provider.hung_up.clear()
    with client.stream("POST", "/api/v1/ask", json={"question": QUESTIONS[-1], "stream": True}) as answer:
        for line in answer.iter_lines():
            if line == "event: token":
                break
        left = time.monotonic()
    if not provider.hung_up.wait(20):
        raise RuntimeError("the model was asked on")
    return time.monotonic() - left


def measured(folder: Path, rounds: int, asks: int) -> dict[str, dict[str, float]]:
    """Every figure by its name: ours, the core's where there is one, and what is compared with the limit."""
    home, copy = folder / "home", folder / "copy"
    add(home, make_samples(folder / "samples"))
    shutil.copytree(home, copy)
    found: dict[str, dict[str, float]] = {}
    with Server(home, QUICK) as server, server.client() as client, Chatbot(Settings(home=copy)) as chatbot:
        core, api = medians(chatbot, client, rounds)
        found["overhead"] = {"core": core * 1e3, "api": api * 1e3, "judged": (api - core) * 1e3}
        pairs = [rates(chatbot, server.port, asks) for _ in range(PAIRS)]
        cores, apis = zip(*pairs, strict=True)
        found["throughput"] = {
            "core": statistics.median(cores),
            "api": statistics.median(apis),
            "judged": statistics.median(ratios(apis, cores)),
        }
    model = Model()
    with Provider([Say(model, delay=WORD_SECONDS)]) as provider:
        settings = {**QUICK, "OPENAI_BASE_URL": provider.url, "FINPOLICY_CHAT_MODEL": "stand-in"}
        with Server(home, settings) as server, server.client() as client:
            ask_api(client, QUESTIONS[0])
            first = statistics.median(first_bytes(client, provider, model) for _ in range(5))
            found["first byte"] = {"api": first * 1e3, "judged": first * 1e3}
            left = max(gone(client, provider) for _ in range(3))
            found["gone"] = {"api": left * 1e3, "judged": left * 1e3}
    return found


def is_kept(name: str, judged: float) -> bool:
    """Whether a figure is within its limit."""
    if name == "throughput":
        return judged >= LIMITS[name]
    return judged <= LIMITS[name]


def table(found: dict[str, dict[str, float]]) -> str:
    """The figures as a Markdown table."""
    rows = []
    for name, figures in found.items():
        shown = [f"{figures[part]:,.1f}" if part in figures else "" for part in ("core", "api")]
        verdict = "kept" if is_kept(name, figures["judged"]) else "NOT kept"
        rows.append([name, UNITS[name], *shown, f"{figures['judged']:,.2f}", f"{verdict}, {LIMITS[name]:g}"])
    return markdown_table(["", "unit", "core", "API", "judged", "limit"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--asks", type=int, default=50)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measured(Path(folder), options.rounds, options.asks)
    print(table(found))
    print(f"\nload {os.getloadavg()[0]:.2f}")
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
