"""Measures how long people wait for an addition to be searchable, for a first search and for a warm one.

The first search runs in a cold process.

    python benchmarks/speed.py [--documents FOLDER] [--runs 7] [--large 100000] [--store FOLDER]

Times are given beside a peer measured in the same run (`import chromadb`, the largest part of any program on
Chroma), because machines differ and are noisy. Without --documents the corpus is made here: 20 documents of
150 pages, 14,500 chunks. Their vectors are then random unit vectors, since finding the nearest costs the same
whatever they mean; queries are embedded for real.

With --large N there are N chunks of made text instead, stored without a PDF, and searches in a warm process
alone are measured. Their words are drawn by Zipf's law from 60,000, of which no less than 50,000 should come
to stand in the keyword index; where they do not, it says so. --store keeps what was made for the next run.

Goals, 95 of 100 searches on two cores (milliseconds):

    chunks     all documents   one document   half of the documents
    14,500     40              8
    100,000    60              15             100
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from chatbot.models.embedders import Embedder, make_embedder
from chatbot.service import Chatbot
from chatbot.settings import Settings
from chatbot.store.library import Library, Upload
from chatbot.store.version_building import cut_up
from ingestion.document import DocumentReading
from ingestion.records import DocumentInfo, Page

# Words of budgets and filings, drawn with Zipf's weights, so that some are in every chunk and some in few, as
# in real text.
WORDS = """
    budget revenue expenditure deficit debt fiscal policy government ministry programme capital current
    transfer grant tax duty excise income corporate interest payment loan bond maturity yield inflation
    growth forecast estimate revised outturn reserve contingency rule ceiling anchor target ratio output
    employment pension health education defence infrastructure municipal council audit procurement tender
    contract supplier asset liability equity goodwill inventory receivable payable depreciation
    amortisation impairment dividend share earnings segment operating margin cash flow statement balance
    sheet note disclosure risk exposure hedge currency commodity energy transition climate subsidy
""".split()
QUERIES = [
    "What is the deficit ceiling?",
    "capital expenditure of the health ministry in 2024",
    "How much interest was paid on government bonds?",
]
PAGES, LINES, DOCUMENTS = 150, 44, 20
# Of the made text of a large store: words to draw from, those that must come to stand in it, and those of a
# page.
VOCABULARY, DISTINCT, WORDS_A_PAGE = 60_000, 50_000, 480


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    options.add_argument("--documents", type=Path)
    options.add_argument("--runs", type=int, default=7)
    options.add_argument("--large", type=int, metavar="CHUNKS")
    options.add_argument("--store", type=Path)
    given = options.parse_args()
    if given.large:
        with tempfile.TemporaryDirectory() as folder:
            home = given.store or Path(folder)
            fill_large(home, given.large)
            measure_warm(home, made_queries())
        return
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        paths = sorted(given.documents.glob("*.pdf")) if given.documents else make_corpus(home / "pdfs")
        measure_addition(make_document(home / "filing.pdf", seed=99), home / "addition", given.runs)
        fill(home / "store", paths, real=given.documents is not None)
        measure_cold(home / "store", given.runs)
        measure_warm(home / "store")


def make_corpus(folder: Path) -> list[Path]:
    """DOCUMENTS text filings of PAGES pages."""
    folder.mkdir()
    return [make_document(folder / f"filing_{number}.pdf", seed=number) for number in range(DOCUMENTS)]


def make_document(path: Path, *, seed: int) -> Path:
    """A text filing of PAGES pages, always the same for a seed."""
    from reportlab.pdfgen.canvas import Canvas

    draw = random.Random(seed)
    weights = [1 / rank for rank in range(1, len(WORDS) + 1)]
    words = draw.sample(WORDS, len(WORDS))
    canvas = Canvas(str(path), invariant=1)
    for page in range(1, PAGES + 1):
        text = canvas.beginText(50, 800)
        for _ in range(LINES):
            text.textLine(" ".join(draw.choices(words, weights, k=9)) + f" {draw.randint(1, 99_999):,}.")
        text.textLine(f"Page {page}")
        canvas.drawText(text)
        canvas.showPage()
    canvas.save()
    return path


def measure_addition(path: Path, home: Path, runs: int) -> None:
    """Seconds from the command until keyword search finds a text filing of 150 pages, imports included."""
    seconds = []
    for run in range(max(3, runs // 2)):
        environment = {**os.environ, "FINPOLICY_HOME": str(home / str(run))}
        process = subprocess.run(
            [sys.executable, "-m", "chatbot", "add", path, "--json"],
            env=environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        seconds.append(json.loads(process.stdout)["searchable_seconds"])
    report("a 150-page filing searchable after", seconds)


class RandomPassages:
    """The real embedder for queries, random unit vectors for passages."""

    def __init__(self, real: Embedder) -> None:
        self.fingerprint, self.dimension, self.max_tokens = real.fingerprint, real.dimension, real.max_tokens
        self._draw = np.random.default_rng(0)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """(n, dimension) unit rows that mean nothing."""
        rows = self._draw.standard_normal((len(texts), self.dimension)).astype(np.float32)
        unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit

    def split(self, text: str, *, reserve: int = 0) -> list[str]:
        """The text as one window."""
        return [text]


def fill(home: Path, paths: Sequence[Path], *, real: bool) -> None:
    """Add the corpus."""
    settings = Settings(home=home)
    embedder = make_embedder(settings)
    with Chatbot(settings, embedder=embedder if real else RandomPassages(embedder)) as chatbot:
        started = time.perf_counter()
        uploads = [Upload(path) for path in paths]
        failed = [result.document for result in chatbot.add(uploads) if result.status == "failed"]
        chunks = sum(row.chunks for row in chatbot.documents())
        print(
            f"{len(paths)} documents, {chunks:,} chunks, added in {time.perf_counter() - started:.0f} "
            f"s, failed: {failed or 'none'}"
        )


def fill_large(home: Path, chunks: int, passages: Embedder | None = None) -> None:
    """Add documents of made text until there are so many chunks; a store that has them already is taken as
    it is.

    passages: makes their vectors; random ones if None.
    """
    settings = Settings(home=home)
    draw, words = np.random.default_rng(1), made_words()
    weights = 1 / np.arange(1, len(words) + 1)
    started, seen = time.perf_counter(), set[str]()
    with closing(Library(settings, passages or RandomPassages(make_embedder(settings)))) as library:
        made = sum(row.chunks for row in library.catalog.documents())
        for number in itertools.count():
            if made >= chunks:
                break
            drawn = draw.choice(words, (PAGES, WORDS_A_PAGE), p=weights / weights.sum())
            seen.update(drawn.flat)
            pages = tuple(
                Page(page, " ".join(row) + ".", str(page), "printed") for page, row in enumerate(drawn, 1)
            )
            taken = library.adding.take(BytesIO(f"{number}".encode()), f"report_{number}.pdf")
            reading = DocumentReading(DocumentInfo(len(pages), None, (), False), pages)
            made += library.adding.store(taken, cut_up(taken.name, reading)).chunks
        library.resume()
        few = bool(seen) and sum(map(bool, library.indexes.keywords.frequencies(seen).values())) < DISTINCT
        print(
            (
                f"{len(library.catalog.documents())} documents, {made:,} chunks, added in "
                f"{time.perf_counter() - started:.0f} s"
            ),
            "too few words!" if few else "",
        )


def made_words() -> NDArray[np.str_]:
    """About VOCABULARY words, the commonest first, always the same."""
    draw, letters = np.random.default_rng(0), np.array(list("bcdfgklmnprstvz"))
    return np.array(sorted({"".join(draw.choice(letters, 7)) for _ in range(VOCABULARY)}))


def made_queries() -> list[str]:
    """Questions of made words, each of common, of less common and of rare ones."""
    words = made_words()
    ranks = np.array([4, 40, 400, 4_000, 20_000])
    return [" ".join(words[ranks + number]) for number in range(20)]


def measure_cold(home: Path, runs: int) -> None:
    """Whole processes, in turn with the peer: `python -m chatbot search` against `import chromadb` alone."""
    environment = {**os.environ, "FINPOLICY_HOME": str(home)}
    ours, peer = [], []
    for _ in range(runs):
        peer.append(timed([sys.executable, "-c", "import chromadb"], environment))
        ours.append(timed([sys.executable, "-m", "chatbot", "search", QUERIES[0]], environment))
    report("cold search of all documents", ours)
    report("import chromadb alone", peer)
    print(
        f"cold search / import chromadb: "
        f"{statistics.median(a / b for a, b in zip(ours, peer, strict=True)):.2f} (median of pairs, "
        f"{runs} runs)"
    )


def timed(command: Sequence[str], environment: dict[str, str]) -> float:
    """Wall seconds of one process."""
    started = time.perf_counter()
    subprocess.run(command, env=environment, cwd=ROOT, check=True, capture_output=True)
    return time.perf_counter() - started


def measure_warm(home: Path, queries: Sequence[str] = QUERIES) -> None:
    """Milliseconds of a search in a warm process, the query's embedding included, over all documents and
    within one.
    """
    with Chatbot(Settings(home=home)) as chatbot:
        names = [row.name for row in chatbot.documents()]
        scopes: dict[str, list[list[str]]] = {
            "all documents": [[]],
            "one document": [[name] for name in names],
            "half of the documents": [names[::2]],
        }
        for label, choices in scopes.items():
            for names_in_scope in choices:
                chatbot.search(queries[0], names=names_in_scope)
            times = []
            for turn in range(200):
                started = time.perf_counter()
                chatbot.search(f"{queries[turn % len(queries)]} {turn}", names=choices[turn % len(choices)])
                times.append(1000 * (time.perf_counter() - started))
            times.sort()
            print(f"warm search, {label}: p50 {times[100]:.1f} ms, p95 {times[190]:.1f} ms")


def report(what: str, seconds: Sequence[float]) -> None:
    """One line: median and range."""
    print(
        f"{what}: {statistics.median(seconds):.2f} s (from {min(seconds):.2f} to {max(seconds):.2f}, "
        f"{len(seconds)} runs)"
    )


if __name__ == "__main__":
    main()
