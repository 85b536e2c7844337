"""Measures how fast cases are recalled, and what situation memory finds of queries on several topics.

    python benchmarks/memories.py [--only cases|situations|signals] [--most 100000] [--seed 0]

Cases are made ones with random vectors, each resting on a document of its own: what is measured is reading,
searching and the one embedding, whose time does not depend on the texts. "All stale" is where every document
was removed, so that all cases are looked through in vain; "a page" is what the Memory page asks at each draw,
how the cases fare and all of them listed. "The original's way" embeds every stored question again at each
recall; that is timed on 300 questions and multiplied.

Situations: what is remembered stands in a query of 2 to 16 windows among text on other matters, and the
whole query is put to the memory.

- "A topic": half a window of a sample document's text is remembered. Each window of the query is on one
  topic, and one of them is the whole of that window.
- "A window": the window is remembered and put into running text at a random place, so that it mostly lies
  across two windows.
- "A paragraph": those of planted_situations.tsv, a fifth of a window, are placed in the same way.

A planted situation counts as found where it comes first, and as rightly matched where chunk_match is the
window that holds most of it. The sample documents have 25 windows to plant, so one more or less found is .04;
--seed makes other queries of them. The text around comes from other pages of the same documents. Some of them
say in similar words what another memory holds (one ministry's budget and the next one's); such a memory may
rightly come first, and counts as a miss.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.intervals import percentile, share_cell
from benchmarks.tables import markdown_table
from chatbot.memory.cases.case_store import Cases, Documents
from chatbot.memory.cases.records import Case, case_line
from chatbot.memory.memory_database import MemoryDatabase
from chatbot.memory.situations.situation_store import Situations
from chatbot.models.embedders import Embedder, LocalEmbedder
from chatbot.search.fusion import STRATEGIES, LongQuery, embed_query
from chatbot.search.subwindow_embedding import embed_subwindows
from chatbot.settings import load_settings
from documents.make_samples import make_samples

__all__ = ["cases", "load_planted", "main", "plant", "right_window", "situations"]

PLANTED = ROOT / "benchmarks" / "planted_situations.tsv"
SIZES = (1_000, 10_000, 100_000)
# Questions that the original's way is timed on, and recalls that ours is.
SAMPLE, RECALLS = 300, 50
WINDOWS = (2, 4, 8, 16)
# What is planted of each kind, at most.
MOST_PLANTED = 60


# --- cases
# ------------------------------------------------------------------------------------------------------------


class ChanceEmbedder:
    """Random unit vectors in the place of an embedder's, for cases that nobody wrote."""

    def __init__(self, other: Embedder) -> None:
        self.fingerprint, self.dimension, self.max_tokens = (
            other.fingerprint,
            other.dimension,
            other.max_tokens,
        )
        self._chance = np.random.default_rng(0)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """As Embedder.embed."""
        rows = self._chance.standard_normal((len(texts), self.dimension), np.float32)
        unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit

    def split(self, text: str, *, reserve: int = 0) -> list[str]:
        """As Embedder.split, of texts that fit."""
        return [text]


def cases(sizes: Sequence[int] = SIZES, *, embedder: Embedder | None = None, sample: int = SAMPLE) -> str:
    """A line a size: seconds to load, milliseconds of a recall with and without its one embedding, of one
    where all are stale and of a page, and what embedding every question again takes."""
    embedder = embedder or LocalEmbedder(load_settings().model_cache)
    embedder.embed(["ready"])
    lines = []
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            lines.append(_measured(Path(folder), size, embedder, sample))
    heads = [
        "cases (made ones)",
        "load s",
        "search ms",
        "recall ms",
        "p95 ms",
        "all stale ms",
        "a page ms",
        "embedding all again s",
        "times slower",
    ]
    return markdown_table(heads, lines)


def _measured(folder: Path, size: int, embedder: Embedder, sample: int) -> list[object]:
    made = [f"What was item {number} of the budget for {1990 + number % 40}?" for number in range(size)]
    given = folder / "made.jsonl"
    digests = [hashlib.sha256(question.encode()).hexdigest() for question in made]
    answer = "An answer of some length. " * 6
    lines = []
    for number, (question, digest) in enumerate(zip(made, digests, strict=True)):
        lines.append(case_line(Case(question, answer, number % 3 and 1, document_ids=(digest,))))
    given.write_bytes(b"".join(lines))
    live = set(digests)
    Cases(MemoryDatabase(folder / "made.sqlite3"), ChanceEmbedder(embedder)).import_file("me", given)
    opened = Cases(MemoryDatabase(folder / "made.sqlite3"), embedder, documents=Documents(live=lambda: live))
    load = _seconds(lambda: opened.health("me"))
    question = "What was the deficit of the state in 2021?"
    vector = embedder.embed([question])[0]
    search = statistics.median(
        _seconds(lambda: opened.recall("me", vector, least=-1.0)) for _ in range(RECALLS)
    )
    recalls = [_seconds(lambda: opened.find("me", question, least=-1.0)) for _ in range(RECALLS)]
    page = statistics.median(_seconds(lambda: (opened.health("me"), opened.listed("me"))) for _ in range(5))
    live.clear()
    stale = statistics.median(_seconds(lambda: opened.recall("me", vector, least=-1.0)) for _ in range(5))
    again = _seconds(lambda: embedder.embed(made[:sample])) * size / min(size, sample)
    ours = statistics.median(recalls)
    shown = [1000 * search, 1000 * ours, 1000 * percentile(recalls, 0.95), 1000 * stale, 1000 * page, again]
    return [f"{size:,}", f"{load:.2f}", *(f"{value:.1f}" for value in shown), f"{again / ours:,.0f}"]


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


# --- situations
# ------------------------------------------------------------------------------------------------------------


def load_planted(path: Path = PLANTED) -> list[tuple[str, str]]:
    """(paragraph, recommendation) of each line, which holds a situation in few words, what was advised and
    a paragraph that describes it.
    """
    return [(line.split("\t")[2], line.split("\t")[1]) for line in path.read_text("utf-8").splitlines()]


def plant(paragraph: str, words: Sequence[str], at: int) -> tuple[str, int]:
    """(the words with the paragraph before the one at `at`, offset of the paragraph)."""
    before = "".join(f"{word} " for word in words[:at])
    return f"{before}{paragraph} {' '.join(words[at:])}", len(before)


def right_window(pieces: Sequence[str], start: int, length: int) -> int:
    """Which piece of a text holds the most of text[start:start + length], the first of several."""
    spans = pairwise(accumulate(map(len, pieces), initial=0))
    held = [min(end, start + length) - max(begin, start) for begin, end in spans]
    return held.index(max(held))


def situations(
    *,
    embedder: Embedder | None = None,
    windows: Sequence[int] = WINDOWS,
    most: int = MOST_PLANTED,
    only: str = "",
    strategies: Sequence[str] = STRATEGIES,
    seed: int = 0,
) -> str:
    """A line a kind, length and strategy: the share of planted situations that come first, that are among
    three, and that come first with their window.

    only: one kind of what is planted, "" for all.
    """
    embedder, chance = embedder or LocalEmbedder(load_settings().model_cache), random.Random(seed)
    lines: list[list[object]] = []
    with tempfile.TemporaryDirectory() as folder:
        pages = _sample_pages(Path(folder))
        other = " ".join(pages[1::2]).split()
        windows_of = []
        for half in (pages[::2], pages[1::2]):
            windows_of.append([window for page in half for window in embedder.split(page)[:-1]])
        topics = {_half(window): window for window in windows_of[0]}
        kinds = {
            "a topic": [*topics],
            "a window": windows_of[0],
            "a paragraph": [text for text, _ in load_planted()],
        }
        memory = Situations(MemoryDatabase(Path(folder) / "made.sqlite3"), embedder)
        for kind, texts in kinds.items():
            if only not in ("", kind):
                continue
            memory.add("me", [(text, "As was advised.") for text in texts], scope=kind)
            for count in windows:
                chosen = chance.sample(texts, min(most, len(texts)))
                if kind == "a topic":
                    asked = [
                        _among(text, topics[text], chance.sample(windows_of[1], count - 1), embedder, chance)
                        for text in chosen
                    ]
                else:
                    asked = [_within(text, other, count, embedder, chance) for text in chosen]
                lines += [
                    [kind, count, strategy, *_found(memory, kind, asked, strategy)] for strategy in strategies
                ]
    return markdown_table(
        ["planted", "windows", "strategy", "comes first", "among three", "first, with its window", "ms"],
        lines,
    )


def _sample_pages(folder: Path) -> list[str]:
    """The text of each page of the sample documents, in one line."""
    import pypdfium2

    pages: list[str] = []
    for path in make_samples(folder / "documents"):
        with pypdfium2.PdfDocument(path) as document:
            pages += [" ".join(page.get_textpage().get_text_range().split()) for page in document]
    return pages


@dataclass(frozen=True, slots=True)
class _Asked:
    """planted: what stands in the query; window: which of its windows holds most of it."""

    planted: str
    query: LongQuery
    window: int


def _half(text: str) -> str:
    words = text.split()
    return " ".join(words[: len(words) // 2])


def _among(
    remembered: str, window: str, others: Sequence[str], embedder: Embedder, chance: random.Random
) -> _Asked:
    """A query of whole windows, the one that holds what is remembered at a place by chance."""
    at = chance.randrange(len(others) + 1)
    parts = [f"{part.strip()} " for part in [*others[:at], window, *others[at:]]]
    text = "".join(parts)
    start = sum(map(len, parts[:at]))
    return _Asked(
        remembered, _embedded(embedder, text), right_window(embedder.split(text), start, len(parts[at]))
    )


def _within(
    planted: str, words: Sequence[str], count: int, embedder: Embedder, chance: random.Random
) -> _Asked:
    """A query of about so many windows of these words, the planted text between two of them."""
    start = chance.randrange(len(words))
    windows = embedder.split(" ".join([*words[start:], *words[:start]]))
    room = "".join(windows[:count])[: -len(planted)].split()
    text, at = plant(planted, room, chance.randrange(len(room) + 1))
    return _Asked(planted, _embedded(embedder, text), right_window(embedder.split(text), at, len(planted)))


def _embedded(embedder: Embedder, text: str) -> LongQuery:
    """As situation memory embeds it: the strategies that search with a mean make no use of the stretches."""
    return embed_subwindows(embedder, embed_query(embedder, text))


def _found(memory: Situations, scope: str, asked: Sequence[_Asked], strategy: str) -> list[str]:
    first = among = right = 0
    times = []
    for one in asked:
        started = time.perf_counter()
        found = memory.search(one.query, "me", [scope], strategy=strategy, n=3)[:3]
        times.append(1000 * (time.perf_counter() - started))
        texts = [each.situation.situation for each in found]
        first += texts[:1] == [one.planted]
        among += one.planted in texts
        right += texts[:1] == [one.planted] and found[0].chunk_match == one.window
    tells = share_cell(right, len(asked)) if strategy in ("per_chunk", "union", "intersection") else "–"
    return [
        share_cell(first, len(asked)),
        share_cell(among, len(asked)),
        tells,
        f"{statistics.median(times):.0f}",
    ]


# --- all
# ------------------------------------------------------------------------------------------------------------


def main() -> int:
    """Print the tables."""
    parts: dict[str, Callable[[], str]] = {
        "cases": lambda: cases([size for size in SIZES if size <= given.most]),
        "situations": lambda: situations(seed=given.seed),
    }
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    options.add_argument("--only", choices=[*parts, "signals"], help="one of the parts alone")
    options.add_argument("--most", type=int, default=SIZES[-1], help="cases at most")
    options.add_argument("--seed", type=int, default=0, help="of the queries that situations are planted in")
    given = options.parse_args()
    for name, part in parts.items():
        if given.only in (None, name):
            print(f"{name.capitalize()}:\n\n{part()}\n")
    if given.only in (None, "signals"):
        from benchmarks import signals  # needs the extra of requirements-signals.txt

        signals.report()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
