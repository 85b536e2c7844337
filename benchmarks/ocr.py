"""Measures what OCR finds beside plain tesseract: word recall and precision by kind of page.

It also measures what two cores gain.

    python benchmarks/ocr.py [--data ../shared/data]

It reads ocr_dev.jsonl in that folder: image-only PDFs with their true text. Plain is
pytesseract.image_to_string of the same pages at 300 dpi, in the same run.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.tables import markdown_table
from ingestion.document import Circumstances, read_document
from ingestion.ocr.scan_languages import find_tesseract
from ingestion.reading.pdf import PdfFile

PLAIN_DPI = 300
# Pages of the scan that is read by one process and by two.
PAGES = 6
WORD = re.compile(r"\w+")


def words(text: str) -> Counter[str]:
    """How often each case-folded word stands in a text."""
    return Counter(WORD.findall(text.casefold()))


def shares(found: str, truth: str) -> tuple[float, float]:
    """(recall, precision) of the words found, each counted as often as it stands there, in [0, 1]."""
    there, read = words(truth), words(found)
    both = sum((there & read).values())
    return both / max(1, there.total()), both / max(1, read.total())


def plain_text(path: Path) -> str:
    """All pages by plain tesseract."""
    import pytesseract

    command, data = find_tesseract()
    pytesseract.pytesseract.tesseract_cmd = command
    os.environ["OMP_THREAD_LIMIT"] = "1"
    if data:
        os.environ["TESSDATA_PREFIX"] = data
    file = PdfFile(path)
    return "\n".join(
        str(pytesseract.image_to_string(file.image(number, PLAIN_DPI))) for number in range(1, file.count + 1)
    )


def measured(path: Path, truth: str) -> tuple[float, float, float, float, float, float]:
    """(plain recall, ours, plain precision, ours, plain seconds, ours) of one PDF; ours from file to
    pages, the process's start included.
    """
    begun = time.perf_counter()
    plain = plain_text(path)
    between = time.perf_counter()
    ours = "\n".join(page.text for page in read_document(path, Circumstances(processes=1)).pages)
    ended = time.perf_counter()
    (plain_recall, plain_precision), (recall, precision) = shares(plain, truth), shares(ours, truth)
    return plain_recall, recall, plain_precision, precision, between - begun, ended - between


def speed_up(folder: Path) -> float:
    """How many times faster PAGES scanned pages are read by two processes than by one."""
    from tests.pdfs import make_scan

    lines = [
        f"Line {number} of the annex shows {number * 37} million crowns of arrears at the end of the year"
        for number in range(1, 40)
    ]
    path = make_scan(folder / "scan.pdf", ["\n".join(lines)] * PAGES)
    seconds = []
    for processes in (1, 2):
        begun = time.perf_counter()
        read_document(path, Circumstances(processes=processes))
        seconds.append(time.perf_counter() - begun)
    return seconds[0] / seconds[1]


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean; 0 of none."""
    return sum(values) / len(values) if values else 0.0


def main() -> int:
    """Print both tables; 2 where the data are not there."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data", type=Path, default=ROOT.parent / "shared" / "data", help="folder with ocr_dev.jsonl"
    )
    data: Path = parser.parse_args().data
    table = data / "ocr_dev.jsonl"
    if not table.exists():
        print(f"There is no {table}: name the folder that has it with --data.", file=sys.stderr)
        return 2
    rows = [json.loads(line) for line in table.read_text("utf-8").splitlines()]
    results = []
    for row in rows:
        truth = (data / row["truth"]).read_text("utf-8")
        results.append((row["kind"], row["id"], measured(data / row["pdf"], truth)))
    lines = []
    for kind, name, found in results:
        shares = [f"{value:.3f}" for value in found[:4]]
        lines.append((kind, name, *shares, f"{found[5] / found[4]:.2f}"))
    means = []
    for index in range(4):
        means.append(mean([found[index] for _, _, found in results]))
    ratio = sum(found[5] for *_, found in results) / sum(found[4] for *_, found in results)
    lines.append(("all", "mean", *(f"{value:.3f}" for value in means), f"{ratio:.2f}"))
    print(
        markdown_table(
            (
                "kind",
                "page",
                "recall, plain",
                "recall, ours",
                "precision, plain",
                "precision, ours",
                "time, ours / plain",
            ),
            lines,
        )
    )
    with tempfile.TemporaryDirectory() as folder:
        print(f"\n{PAGES} scanned pages by two processes: {speed_up(Path(folder)):.2f} x as fast as by one.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
