"""Measures what adding documents costs, beside the usual pipeline in the same run.

It prints times, cost curves, memory, and the machine they were measured on.

    python benchmarks/ingest.py [--peer] [--documents FOLDER ...] [--count 6] [--quick] [--json FILE]
                                [--plot FILE.svg]

Extraction is the text of all pages, for both; first search is a keyword search of ours, and of the peer's the
first it can do; whole is until all is embedded and inserted; complete, ours alone, until tables, printed
numbers and pictures of text are read too.

The peer is LangChain's PyPDFLoader, its recursive splitter (1000/200) and its Chroma, with the product's own
embedder; with --peer its packages are installed into .venv-benchmarks/, once. Both run warm, in turn,
document by document, and ratios are of pairs, because machines differ and are noisy. Without --documents the
PDFs are development data where they are present, else made here; those of the curves are made always.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.made_pdfs import make_pdf
from benchmarks.pipelines import Ours, Peer, frequent_words, memory_of_addition
from benchmarks.tables import Panel, markdown_table, plot, ratios, spread

SHARED = [ROOT.parent / "shared" / "data" / name for name in ("financebench", "policy")]
PAGES, QUICK_PAGES = (20, 60, 200, 600, 2000), (20, 60, 200)
DOCUMENTS, QUICK_DOCUMENTS = (1, 5, 20, 50, 200), (1, 5, 20)
PAGES_A_DOCUMENT = 10
# Documents of the curves hold these words, see benchmarks/speed.py.
QUERY = "expenditure revenue budget"
MEMORY_PAGES, QUICK_MEMORY_PAGES = 600, 100
MEMORY_MARKS, QUICK_MEMORY_MARKS = (10, 50, 100), (5, 10, 20)


@dataclass(frozen=True, slots=True)
class Compared:
    """One real document. Seconds; the peer's are 0 where it was not measured. windows: texts embedded
    until `whole`; again: after.
    """

    document: str
    pages: int
    ocr_pages: int
    windows: int
    extraction: float
    searchable: float
    whole: float
    complete: float
    embedding: float
    again: int = 0
    peer_extraction: float = 0.0
    peer_whole: float = 0.0


@dataclass(frozen=True, slots=True)
class Point:
    """One point of a cost curve. Seconds; the peer's are 0 where it was not measured."""

    documents: int
    pages: int
    searchable: float
    whole: float
    complete: float
    peer_whole: float = 0.0


@dataclass(slots=True)
class Measured:
    """All of one run. memory: what was measured -> bytes."""

    machine: str
    compared: list[Compared] = field(default_factory=list)
    by_pages: list[Point] = field(default_factory=list)
    by_documents: list[Point] = field(default_factory=list)
    memory: dict[str, int] = field(default_factory=dict)


def main() -> None:
    """Measure and print."""
    given = parse_options()
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as stack:
        folder = Path(scratch)
        peer = None
        if given.peer:
            peer = Peer(folder / "peer")
            stack.callback(peer.close)
        ours = Ours(folder / "ours", make_pdf(folder / "warm.pdf", 3))
        measured = Measured(machine())
        for turn, path in enumerate(choose(given.documents, given.count, folder)):
            measured.compared.append(compare(path, ours, peer, ours_first=turn % 2 == 0))
            say(measured.compared[-1])
        for pages in QUICK_PAGES if given.quick else PAGES:
            paths = [make_pdf(folder / f"pages_{pages}.pdf", pages, seed=pages)]
            measured.by_pages.append(cost(paths, pages, ours, peer))
            say(measured.by_pages[-1])
        for count in QUICK_DOCUMENTS if given.quick else DOCUMENTS:
            measured.by_documents.append(cost(made(folder, count), PAGES_A_DOCUMENT * count, ours, peer))
            say(measured.by_documents[-1])
        measured.memory = measure_memory(folder, quick=given.quick, peer=given.peer)
    print(report(measured))
    if given.json:
        given.json.write_text(json.dumps(asdict(measured), indent=1) + "\n", "utf-8")
    if given.plot:
        given.plot.write_text(draw(measured), "utf-8")


def parse_options() -> argparse.Namespace:
    """The command line's options."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    options.add_argument(
        "--peer",
        action="store_true",
        help="measure the usual pipeline too; makes .venv-benchmarks/ where it is missing",
    )
    options.add_argument(
        "--documents", type=Path, nargs="+", metavar="FOLDER", help="folders of PDFs to compare on"
    )
    options.add_argument(
        "--count", type=int, help="how many of them, spread over their sizes (default 6, quick 2)"
    )
    options.add_argument("--quick", action="store_true", help="short curves, few documents: a minute or two")
    options.add_argument("--json", type=Path, metavar="FILE")
    options.add_argument("--plot", type=Path, metavar="FILE.svg", help="draw the cost curves")
    given = options.parse_args()
    given.count = given.count or (2 if given.quick else 6)
    return given


def machine() -> str:
    """Cores, their kind and the memory, as far as this system tells."""
    kinds = [
        line.partition(":")[2].strip()
        for line in _lines(Path("/proc/cpuinfo"))
        if line.startswith("model name")
    ]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{len(os.sched_getaffinity(0))} cores ({kinds[0] if kinds else platform.machine()}), {memory:.0f} "
        f"GB, Python {platform.python_version()}"
    )


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8", "replace").splitlines() if path.exists() else []


def say(what: object) -> None:
    """Progress, on standard error."""
    print(what, file=sys.stderr, flush=True)


def choose(folders: Sequence[Path] | None, count: int, scratch: Path) -> list[Path]:
    """`count` PDFs of these folders, spread over their sizes; made ones where there are none. Raises
    SystemExit where a given folder has none.
    """
    found = [path for folder in folders or SHARED for path in folder.glob("*.pdf")]
    if not found and folders:
        raise SystemExit(f"there is no PDF in {', '.join(map(str, folders))}")
    if not found:
        return [
            make_pdf(scratch / f"made_{number}.pdf", 30 * (number + 1), seed=number)
            for number in range(count)
        ]
    return spread_over(sorted(found, key=lambda path: (path.stat().st_size, path.name)), count)


def spread_over(paths: Sequence[Path], count: int) -> list[Path]:
    """At most `count` of them at even distances, the first and the last among them where there are two or
    more.
    """
    if count >= len(paths):
        return list(paths)
    if count == 1:
        return [paths[len(paths) // 2]]
    return [paths[round(index * (len(paths) - 1) / (count - 1))] for index in range(count)]


def made(folder: Path, count: int) -> list[Path]:
    """`count` documents of PAGES_A_DOCUMENT pages, each different."""
    return [
        make_pdf(folder / f"document_{number}.pdf", PAGES_A_DOCUMENT, seed=10_000 + number)
        for number in range(count)
    ]


def compare(path: Path, ours: Ours, peer: Peer | None, *, ours_first: bool) -> Compared:
    """Both on one document, close together in time. ours_first: who begins; it should change from document
    to document.
    """
    peers = (peer.extract(path), 0.0) if peer and not ours_first else (0.0, 0.0)
    extraction, reading = ours.extract(path)
    query = frequent_words(reading)
    if peer and not ours_first:
        peers = (peers[0], peer.index([path], query))
    indexed = ours.index([path], query, embed_alone=True)
    if peer and ours_first:
        peers = (peer.extract(path), peer.index([path], query))
    times = (extraction, indexed.searchable, indexed.whole, indexed.complete, indexed.embedding)
    return Compared(
        path.name, len(reading.pages), indexed.ocr_pages, indexed.windows, *times, indexed.again, *peers
    )


def cost(paths: Sequence[Path], pages: int, ours: Ours, peer: Peer | None) -> Point:
    """One point of a curve."""
    indexed = ours.index(paths, QUERY)
    return Point(
        len(paths),
        pages,
        indexed.searchable,
        indexed.whole,
        indexed.complete,
        peer.index(paths, QUERY) if peer else 0.0,
    )


def measure_memory(folder: Path, *, quick: bool, peer: bool) -> dict[str, int]:
    """Bytes of the whole tree of processes, each shared page counted once: the peak over one long PDF, and
    along many short ones.
    """
    from benchmarks.processes import Sampler, proportional_bytes

    pages, marks = (QUICK_MEMORY_PAGES, QUICK_MEMORY_MARKS) if quick else (MEMORY_PAGES, MEMORY_MARKS)
    path = make_pdf(folder / "memory.pdf", pages, seed=1)
    found = {f"peak, one PDF of {pages} pages": memory_of_addition([path], folder / "memory_one")[0]}
    if peer:
        beside = Peer(folder / "memory_peer")
        with Sampler(beside.process, proportional_bytes) as sampler:
            beside.index([path], QUERY)
        beside.close()
        found["the same, the usual pipeline"] = sampler.peak
    peak, at = memory_of_addition(made(folder, marks[-1]), folder / "memory_many", marks)
    return {
        **found,
        **{f"after {count} documents": size for count, size in at.items()},
        f"peak, {marks[-1]} documents": peak,
    }


def report(measured: Measured) -> str:
    """Everything as Markdown tables."""
    documents = []
    for one in measured.compared:
        times = seconds(
            one.extraction, one.peer_extraction, one.searchable, one.whole, one.complete, one.peer_whole
        )
        documents.append([one.document, one.pages, one.ocr_pages, one.windows, one.again, *times])
    heads = [
        "document",
        "pages",
        "by OCR",
        "windows",
        "again",
        "extraction s",
        "peer",
        "searchable s",
        "whole s",
        "complete s",
        "peer",
    ]
    spreads = [[name, *spread(values)] for name, values in compared_ratios(measured.compared).items()]
    memory = [[name, f"{size / 1e6:,.0f}"] for name, size in measured.memory.items()]
    parts = [
        f"{measured.machine}; times in seconds, ratios are ours / the peer's, document by document.",
        markdown_table(["ratio", "median", "least", "most"], spreads),
        markdown_table(heads, documents),
        curve_table(measured.by_pages),
        curve_table(measured.by_documents),
        markdown_table(["memory, whole tree of processes (PSS)", "MB"], memory),
    ]
    return "\n\n".join(parts)


def compared_ratios(compared: Sequence[Compared]) -> Mapping[str, Sequence[float]]:
    """What is compared -> a ratio for each document; the peer's rows are missing where it was not
    measured.
    """
    whole = [one.whole for one in compared]
    alone = ratios(whole, [one.embedding for one in compared])
    peer_whole = [one.peer_whole for one in compared]
    extraction = [one.extraction for one in compared]
    pairs: dict[str, tuple[list[float], list[float]]] = {
        "extraction": (extraction, [one.peer_extraction for one in compared]),
        "first search": ([one.searchable for one in compared], peer_whole),
        "everything embedded and inserted": (whole, peer_whole),
        "complete, with tables and pictures of text": ([one.complete for one in compared], peer_whole),
    }
    found = {name: ratios(own, other) for name, (own, other) in pairs.items() if all(other)}
    return {**found, "full indexing / embedding the same texts alone": alone}


def curve_table(points: Sequence[Point]) -> str:
    """A cost curve as a table, with milliseconds a page."""
    rows = []
    for point in points:
        times = seconds(point.searchable, point.whole, point.complete, point.peer_whole)
        by_page = a_page(point.whole, point.peer_whole, point.pages)
        rows.append([point.documents, point.pages, *times, *by_page, *rates(point)])
    heads = [
        "documents",
        "pages",
        "searchable s",
        "whole s",
        "complete s",
        "peer s",
        "whole, ms a page",
        "peer, ms a page",
    ]
    return markdown_table([*heads, "first search / peer", "whole / peer"], rows)


def seconds(*values: float) -> list[str]:
    """As printed; a dash for what was not measured."""
    return [f"{value:.2f}" if value else "–" for value in values]


def rates(point: Point) -> list[str]:
    """Ours beside the peer's, as printed."""
    return [
        f"{value / point.peer_whole:.2f}" if point.peer_whole else "–"
        for value in (point.searchable, point.whole)
    ]


def a_page(whole: float, peer: float, pages: int) -> list[str]:
    """Milliseconds a page as printed."""
    return [f"{1000 * value / pages:.1f}" if value else "–" for value in (whole, peer)]


def draw(measured: Measured) -> str:
    """The cost curves as an SVG."""

    def curves(points: Sequence[Point], along: str) -> dict[str, list[tuple[float, float]]]:
        named: dict[str, Any] = {
            "ours: first search": "searchable",
            "ours: all embedded": "whole",
            "ours: tables too": "complete",
            "PyPDFLoader + Chroma, same embedder": "peer_whole",
        }
        drawn = {}
        for name, what in named.items():
            places = [(getattr(point, along), getattr(point, what)) for point in points]
            if all(y for _, y in places):
                drawn[name] = places
        return drawn

    return plot(
        [
            Panel("One document", "pages", curves(measured.by_pages, "pages")),
            Panel(
                f"Documents of {PAGES_A_DOCUMENT} pages",
                "documents",
                curves(measured.by_documents, "documents"),
            ),
        ]
    )


if __name__ == "__main__":
    main()
