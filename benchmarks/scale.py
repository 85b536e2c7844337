"""Measures how search grows with the store, in folders and on servers, over the same catalogue.

    python benchmarks/scale.py [--chunks 10000 100000 1000000] [--store FOLDER] [--searches 200]
                               [--plot FILE.svg]

The servers are the Postgres and the Chroma of deploy/, to which each store is moved by `finpolicy migrate`.
Texts are drawn by Zipf's law from 60,000 words (see benchmarks/speed.py). Vectors are real ones of the sample
texts, repeated with noise. A store of more than 100,000 passages is one of 100,000 on servers whose documents
are copied there with vectors of their own. A store in --store that is there already is taken as it is. Each
row is a process of its own.

"Same pages" is the share of searches whose first three pages are those found in folders. "Recall" is the
share of the 100 nearest vectors that the index of vectors finds.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.speed import fill_large, made_queries
from benchmarks.store_copies import multiply
from benchmarks.tables import Panel, markdown_table, plot
from chatbot.models.embedders import Embedder, make_embedder
from chatbot.records import Hit
from chatbot.service import Chatbot
from chatbot.settings import Settings, load_settings
from chatbot.store.library import Library
from ingestion.language.terms import content_terms
from tests.deployment import Deployment

__all__ = ["Measured", "NoisyPassages", "measure"]

ENGINES = ("postgres", "chroma")
FOLDERS, SERVERS = "folders", "servers"
# Passages of the largest store that is made document by document.
MADE = 100_000
# A file that stands beside engines whose store is complete.
MARK = "complete"
# Of the noise beside a unit vector: passages of one original have cosines of about 0.8 to each other.
NOISE = 0.5
FIRST_PAGES = 3
CANDIDATES = 100
Floats = NDArray[np.float32]


class NoisyPassages:
    """The real embedder for queries; for passages real vectors of sample texts, repeated with noise."""

    def __init__(self, real: Embedder) -> None:
        self.fingerprint, self.dimension, self.max_tokens = real.fingerprint, real.dimension, real.max_tokens
        samples = sorted((ROOT / "documents" / "content").rglob("*.*"))
        texts = [line for path in samples for line in path.read_text("utf-8").split("\n") if len(line) > 60]
        self._originals = real.embed(texts[:500])
        self._draw = np.random.default_rng(0)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Floats:
        """(n, dimension) unit rows, each near a real one."""
        originals = self._originals[self._draw.integers(len(self._originals), size=len(texts))]
        noise = self._draw.standard_normal(originals.shape) * NOISE / np.sqrt(self.dimension)
        rows = (originals + noise).astype(np.float32)
        unit: Floats = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit

    def split(self, text: str, *, reserve: int = 0) -> list[str]:
        """The text as one window."""
        return [text]


@dataclass(frozen=True, slots=True)
class Measured:
    """What one process measured. Times in milliseconds, as (p50, p95); memory in MiB.

    pages: (document, page) of the first pages of each search.
    filled_seconds: to make the store in folders, or to move it to servers; 0 if it was there.
    recall: share of the nearest vectors that are found.
    disk: MiB of the store.
    """

    recall: float
    everywhere: tuple[float, float]
    one_document: tuple[float, float]
    words: tuple[float, float]
    vectors: tuple[float, float]
    memory: float
    pages: list[list[list[Any]]]
    filled_seconds: float = 0.0
    disk: float = 0.0
    chunks: int = 0
    engines: str = ""


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    options.add_argument("--chunks", type=int, nargs="+", default=[10_000, 100_000])
    options.add_argument("--store", type=Path)
    options.add_argument("--searches", type=int, default=200)
    options.add_argument("--plot", type=Path, metavar="FILE.svg", help="draw how searches grow")
    options.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    options.add_argument("--multiply", type=int, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.measure:
        print(json.dumps(asdict(measure(given.searches))))
        return
    if given.multiply:
        multiply_store(given.multiply)
        return
    with tempfile.TemporaryDirectory() as folder:
        found = list[Measured]()
        for chunks in given.chunks:
            found += compare((given.store or Path(folder)) / str(chunks), chunks, given.searches)
            print(table(found), flush=True)
    if given.plot:
        given.plot.write_text(plot(panels(found)), "utf-8")


def table(found: Sequence[Measured]) -> str:
    """A row for each size in folders, and one on servers."""
    folders = {one.chunks: one for one in found if one.engines == FOLDERS}
    titles = ["chunks", "engines", "filled s", "all p50", "all p95", "one p50", "one p95"]
    titles += ["words p50", "words p95", "vectors p50", "vectors p95"]
    titles += ["recall", "MiB", "disk MiB", "same pages"]
    return markdown_table(titles, [row_of(one, folders.get(one.chunks)) for one in found])


def panels(found: Sequence[Measured]) -> list[Panel]:
    """The 95th percentiles against the passages of the store."""
    drawn = []
    for title, name in (("all documents", "everywhere"), ("one document", "one_document")):
        curves = {engines: curve(found, engines, name) for engines in (FOLDERS, SERVERS)}
        drawn.append(Panel(f"search in {title}, p95", "passages", curves))
    return drawn


def curve(found: Sequence[Measured], engines: str, name: str) -> list[tuple[float, float]]:
    """(passages, seconds) of one measure's 95th percentile."""
    return [(float(one.chunks), getattr(one, name)[1] / 1_000) for one in found if one.engines == engines]


def compare(home: Path, chunks: int, searches: int) -> Iterator[Measured]:
    """What is measured in folders, if the store is made there, and on servers. Makes what is not there."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("FINPOLICY_")}
    clean["FINPOLICY_HOME"] = str(home)
    if chunks <= MADE:
        seconds = in_folders(home, chunks)
        measured = in_process(searches, clean)
        disk = size_of(home / "chroma_db")
        yield replace(measured, chunks=chunks, engines=FOLDERS, filled_seconds=seconds, disk=disk)
    with on_servers(home, chunks, clean) as (seconds, served):
        measured = in_process(searches, served)
    disk = size_of(servers_of(home))
    yield replace(measured, chunks=chunks, engines=SERVERS, filled_seconds=seconds, disk=disk)


def servers_of(home: Path) -> Path:
    """Where the engines keep a store. Beside its home, which is private: Postgres does not run as root."""
    return home.parent / f"{home.name}-servers"


def in_folders(home: Path, chunks: int) -> float:
    """Makes a store, and returns the seconds that it took; 0 if it was there."""
    begun = time.perf_counter()
    if home.exists():
        return 0.0
    part = home.with_name(f"{home.name}-part")
    shutil.rmtree(part, ignore_errors=True)
    fill_large(part, chunks, NoisyPassages(make_embedder(Settings(home=part))))
    part.rename(home)
    return time.perf_counter() - begun


@contextmanager
def on_servers(
    home: Path, chunks: int, environment: Mapping[str, str]
) -> Iterator[tuple[float, Mapping[str, str]]]:
    """Starts the engines of a store, and first makes it if it is not there. Yields the seconds that this
    took, and the environment of who uses it.
    """
    begun = time.perf_counter()
    folder = servers_of(home)
    made = (folder / MARK).exists()
    if not made:
        shutil.rmtree(folder, ignore_errors=True)
    if not made and chunks > MADE:
        smaller = home.with_name(str(MADE))
        in_folders(smaller, MADE)
        with on_servers(smaller, MADE, {**environment, "FINPOLICY_HOME": str(smaller)}):
            pass
        shutil.copytree(servers_of(smaller), folder, ignore=shutil.ignore_patterns(MARK, "log"))
    engines = Deployment(folder, ENGINES)
    served = {"FINPOLICY_DATABASE_URL": engines.database, "FINPOLICY_CHROMA_URL": engines.chroma}
    served = {**environment, **served}
    try:
        engines.wait_for_engines()
        if not made and chunks > MADE:
            run(["--multiply", str(chunks // MADE)], served)
        elif not made:
            move = engines.migration
            subprocess.run(move, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
        (folder / MARK).touch()
        yield 0.0 if made else time.perf_counter() - begun, served
    finally:
        engines.stop()


def multiply_store(times: int) -> None:
    """Copies the documents of the store of the environment, and brings its indexes into step."""
    settings = load_settings()
    multiply(settings, NoisyPassages(make_embedder(settings)), times)
    with Chatbot(settings) as chatbot:
        chatbot.library.sweep()


def run(arguments: Sequence[str], environment: Mapping[str, str]) -> str:
    """Runs this script in a process of its own, and returns what it printed."""
    command = [sys.executable, __file__, *arguments]
    return subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout


def in_process(searches: int, environment: Mapping[str, str]) -> Measured:
    """Measures in a process of its own."""
    printed = run(["--measure", "--searches", str(searches)], environment)
    return Measured(**json.loads(printed.splitlines()[-1]))


def size_of(folder: Path) -> float:
    """MiB of all files below."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 2**20


def measure(searches: int) -> Measured:
    """Searches in the store of the environment."""
    made = made_queries()
    queries = [f"{made[turn % len(made)]} {turn}" for turn in range(searches)]
    with Chatbot(load_settings()) as chatbot:
        library = chatbot.library
        names = [row.name for row in chatbot.documents()]
        for name in names[:20]:
            chatbot.search(queries[0], names=[name])
        for query in queries[:40]:
            chatbot.search(query)
        hits = list[list[Hit]]()
        everywhere = timed([partial(chatbot.search, query) for query in queries], hits.append)
        one = timed([partial(chatbot.search, query, names=names[:1]) for query in queries])
        terms = [content_terms(query) for query in queries]
        by_words = timed([partial(library.indexes.keywords.search, words, CANDIDATES) for words in terms])
        vectors = library.embedder.embed(queries, query=True)
        nearest = list[list[tuple[int, int, float]]]()
        by_vectors = timed(
            [partial(library.indexes.vectors.search, vector, CANDIDATES) for vector in vectors],
            nearest.append,
        )
        memory = resident()
        recall = recall_of(library, vectors, nearest)
    return Measured(recall, everywhere, one, by_words, by_vectors, memory, list(map(first_pages, hits)))


def recall_of(
    library: Library, vectors: Floats, nearest: Sequence[Sequence[tuple[int, int, float]]]
) -> float:
    """The share of the CANDIDATES best cosines of all passages that the index of vectors found."""
    best = np.full((len(vectors), CANDIDATES), -1, np.float32)
    for version in library.catalog.chunk_counts():
        rows = [data for _, data in library.catalog.vectors(version, library.embedder.fingerprint)]
        scores = vectors @ np.frombuffer(b"".join(rows), np.float32).reshape(-1, vectors.shape[1]).T
        best = np.sort(np.hstack([best, scores]), axis=1)[:, -CANDIDATES:]
    found = 0
    for ours, least in zip(nearest, best[:, 0], strict=True):
        found += sum(score >= least - 1e-4 for _, _, score in ours)
    return found / best.size


def timed(
    calls: Sequence[Callable[[], Any]], keep: Callable[[Any], object] = lambda found: None
) -> tuple[float, float]:
    """The median and the 95th percentile of these calls, in milliseconds."""
    times = []
    for call in calls:
        started = time.perf_counter()
        found = call()
        times.append(1_000 * (time.perf_counter() - started))
        keep(found)
    return float(np.percentile(times, 50)), float(np.percentile(times, 95))


def first_pages(hits: Sequence[Hit]) -> list[list[Any]]:
    """Document and page of the first hits."""
    return [[hit.document, hit.page] for hit in hits[:FIRST_PAGES]]


def resident() -> float:
    """Memory of this process, in MiB; what the system keeps of files does not count."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (size,) = [line.split()[1] for line in lines if line.startswith("RssAnon:")]
    return int(size) / 1024


def row_of(found: Measured, expected: Measured | None) -> list[str]:
    """A row of the table. expected: of the same store in folders."""
    times = (*found.everywhere, *found.one_document, *found.words, *found.vectors)
    same = "–"
    if expected:
        pairs = zip(found.pages, expected.pages, strict=True)
        same = f"{np.mean([ours == theirs for ours, theirs in pairs]):.1%}"
    return [
        f"{found.chunks:,}",
        found.engines,
        f"{found.filled_seconds:.0f}",
        *[f"{number:.1f}" for number in times],
        f"{found.recall:.3f}",
        f"{found.memory:.0f}",
        f"{found.disk:.0f}",
        same,
    ]


if __name__ == "__main__":
    main()
