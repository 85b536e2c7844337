"""Measures whether a question for a cell of a workbook gets that cell, with its sheet and address.

    python benchmarks/workbooks.py [--count 200] [--seed 1] [--show] [--times] [--hostile]

Twenty workbooks are made by seed, one of each layout of benchmarks/made_workbooks.py, and cells are drawn by
seed, as many from each. Each is asked for by its row, its column and its sheet, "capital expenditure 2024 in
Revenue", of its workbook. An answer is right if its first paragraph has the amount as the cell shows it, and
a citation names the sheet and that cell alone. The store is made anew in a folder that is then deleted.

--times measures what adding takes instead, beside the same sheets exported to PDF by LibreOffice; --hostile
prints what becomes of files that mean harm, and whether a server that they name hears of it.
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.hostile_workbooks import make_hostile
from benchmarks.intervals import share_cell
from benchmarks.made_workbooks import LAYOUTS, AskedCell, make_workbook
from benchmarks.tables import markdown_table
from chatbot.asking.question import Ask
from chatbot.records import Answer
from chatbot.service import Chatbot
from chatbot.settings import load_settings
from chatbot.store.library import Upload
from ingestion.document import read_document
from ingestion.errors import DocumentError

__all__ = ["KINDS", "drawn", "kind_of"]

KINDS = ("right", "in a row of cells cited", "other cells cited", "another amount", "refused")


def drawn(cells: Sequence[AskedCell], count: int, seed: int) -> list[AskedCell]:
    """So many cells, as many of each workbook as can be."""
    draw = random.Random(seed)
    ordered = list[tuple[int, AskedCell]]()
    for workbook in dict.fromkeys(cell.workbook for cell in cells):
        own = [cell for cell in cells if cell.workbook == workbook]
        draw.shuffle(own)
        ordered += enumerate(own)
    return [cell for _, cell in sorted(ordered, key=lambda one: one[0])][:count]


def kind_of(cell: AskedCell, answer: Answer) -> str:
    """One of KINDS."""
    if not answer.answered:
        return KINDS[4]
    first, _, _ = answer.text.partition("\n\n")
    amount = re.escape(cell.shown.strip("()"))
    if not re.search(rf"(?<![\d.,]){amount}(?![\d%]|[.,]\d)", first.replace("\\", "")):
        return KINDS[3]
    labels = [citation.page_label or "" for citation in answer.citations]
    if f"{cell.sheet}!{cell.address}" in labels:
        return KINDS[0]
    named = (label.rpartition("!") for label in labels)
    cited = any(sheet == cell.sheet and cell.address in cells.split(", ") for sheet, _, cells in named)
    return KINDS[1] if cited else KINDS[2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200, help="how many cells (default 200)")
    parser.add_argument("--seed", type=int, default=1, help="of the workbooks and the cells (default 1)")
    parser.add_argument("--show", action="store_true", help="print the questions that were not right")
    parser.add_argument("--times", action="store_true", help="measure adding, beside PDFs of the same sheets")
    parser.add_argument("--hostile", action="store_true", help="read files that mean harm")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "workbooks")
        folder.mkdir()
        if given.hostile:
            for line in of_hostile(folder):
                print(line, flush=True)
            return
        cells = list[AskedCell]()
        for layout in LAYOUTS:
            cells += make_workbook(folder, layout, seed=given.seed)
        if given.times:
            print(times(folder))
            return
        with Chatbot(replace(load_settings(), home=Path(scratch, "home"))) as chatbot:
            add(chatbot, folder)
            print(report(chatbot, drawn(cells, given.count, given.seed), show=given.show))


def add(chatbot: Chatbot, folder: Path) -> float:
    """Adds the files of a folder one after the other. Returns the seconds that took. Raises SystemExit."""
    begun = time.monotonic()
    for path in sorted(folder.iterdir()):
        for result in chatbot.add([Upload(path)]):
            if result.error:
                raise SystemExit(f"{result.document}: {result.error}")
    return time.monotonic() - begun


def times(folder: Path) -> str:
    """What adding takes for the workbooks of a folder, and for PDFs that LibreOffice exports of them."""
    pdfs = folder.with_name("pdfs")
    paths = sorted(folder.iterdir())
    command = ["soffice", "--headless", f"-env:UserInstallation={pdfs.with_name('profile').as_uri()}"]
    subprocess.run(
        [*command, "--convert-to", "pdf", "--outdir", pdfs, *paths], check=True, capture_output=True
    )
    rows = list[tuple[str, str, str, str]]()
    for name, files in (("workbooks", folder), ("PDFs of the same sheets", pdfs)):
        begun = time.monotonic()
        pages = sum(len(read_document(path).pages) for path in files.iterdir())
        read = time.monotonic() - begun
        home = files.with_name(f"home-of-{files.name}")
        with Chatbot(replace(load_settings(), home=home)) as chatbot:
            added = add(chatbot, files)
        rows.append((name, str(pages), f"{read:.1f} s", f"{added:.1f} s"))
    return markdown_table((f"{len(paths)} files", "pages", "read", "added"), rows)


def of_hostile(folder: Path) -> Iterator[str]:
    """What becomes of each file that means harm, in a line, and what the server heard that they name."""
    heard = list[str]()

    class Listener(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.append(self.path)

    with ThreadingHTTPServer(("127.0.0.1", 0), Listener) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for path in make_hostile(folder, f"http://127.0.0.1:{server.server_port}"):
            begun = time.monotonic()
            try:
                pages = read_document(path).pages
                said = dict.fromkeys(remark for page in pages for remark in page.remarks)
                outcome = "; ".join([f"{len(pages)} pages", *said])
            except DocumentError as error:
                outcome = str(error)
            yield f"{path.name}: {outcome} ({time.monotonic() - begun:.1f} s)"
        server.shutdown()
    yield f"requests that left: {len(heard)}"


def report(chatbot: Chatbot, cells: Sequence[AskedCell], *, show: bool) -> str:
    """Asks, and returns the lines of the report."""
    kinds, missed = Counter[str](), Counter[str]()
    lines = list[str]()
    for cell in cells:
        events = chatbot.ask(Ask(cell.question, (cell.workbook,)))
        (answer,) = [event for event in events if isinstance(event, Answer)]
        kind = kind_of(cell, answer)
        kinds[kind] += 1
        if kind != KINDS[0]:
            missed[cell.workbook] += 1
            labels = [citation.page_label for citation in answer.citations]
            first = answer.text.partition("\n\n")[0]
            lines += [
                f"{cell.workbook} {kind}: {cell.question} {cell.address} {cell.shown} | {first} | {labels}"
            ] * show
    found = [f"{kind}: {share_cell(kinds[kind], kinds.total())}" for kind in KINDS]
    return "\n".join([*lines, *found, *(f"missed in {name}: {count}" for name, count in missed.items())])


if __name__ == "__main__":
    main()
