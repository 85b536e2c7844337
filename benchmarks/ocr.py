"""Measures what OCR finds beside plain tesseract: word recall and precision by kind of page.

It also measures what two cores gain.

    python benchmarks/ocr.py [--data ../shared/data]

It reads ocr_dev.jsonl in that folder: image-only PDFs with their true text. Plain is
pytesseract.image_to_string of the same pages at 300 dpi, in the same run. --spoken measures the word error
of pages in other languages instead, whose texts are those of spoken.tsv and languages.tsv with rows of
figures; it needs no data, and leaves out languages that tesseract has not installed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
import textwrap
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.tables import markdown_table
from ingestion.document import Circumstances, read_document
from ingestion.ocr.scan_languages import ScanLanguages, find_tesseract, installed_languages
from ingestion.reading.pdf import PdfFile

PLAIN_DPI = 300
# Pages of the scan that is read by one process and by two.
PAGES = 6
WORD = re.compile(r"\w+")
# Of languages.tsv, with tesseract's names, and what rows of figures begin with.
SPOKEN = {"de": "deu", "fr": "fra", "es": "spa"}
ROWS = {"de": "Einnahmen für öffentliche Güter", "fr": "Dépenses engagées", "es": "Año de previsión"}
LINE, LINES = 80, 45


def words(text: str) -> Counter[str]:
    """How often each case-folded word stands in a text."""
    return Counter(WORD.findall(text.casefold()))


def shares(found: str, truth: str) -> tuple[float, float]:
    """(recall, precision) of the words found, each counted as often as it stands there, in [0, 1]."""
    there, read = words(truth), words(found)
    both = sum((there & read).values())
    return both / max(1, there.total()), both / max(1, read.total())


def plain_text(path: Path, code: str = "eng") -> str:
    """All pages by plain tesseract, in a language that its own folder has."""
    import pytesseract

    command, data = find_tesseract()
    pytesseract.pytesseract.tesseract_cmd = command
    os.environ["OMP_THREAD_LIMIT"] = "1"
    if data:
        os.environ["TESSDATA_PREFIX"] = data
    file = PdfFile(path)
    return "\n".join(
        str(pytesseract.image_to_string(file.image(number, PLAIN_DPI), lang=code))
        for number in range(1, file.count + 1)
    )


def word_error(found: str, truth: str) -> float:
    """Words to insert, delete and replace, as a share of those that are true."""
    read, there = found.split(), truth.split()
    costs = list(range(len(read) + 1))
    for number, word in enumerate(there, 1):
        before, costs[0] = costs[0], number
        for at, other in enumerate(read, 1):
            cost = min(before + (word != other), costs[at] + 1, costs[at - 1] + 1)
            before, costs[at] = costs[at], cost
    return costs[-1] / max(1, len(there))


def spoken_pages(language: str) -> list[str]:
    """The texts of pages in a language: sentences and questions in lines, and rows of figures."""
    lines = list[str]()
    for name in ("spoken.tsv", "languages.tsv"):
        rows = (ROOT / "benchmarks" / name).read_text("utf-8").splitlines()
        texts = [row.split("\t")[-1] for row in rows if row.startswith(f"{language}\t")]
        for number, text in enumerate(texts, 1):
            lines += textwrap.wrap(text, LINE)
            whole = f"{number * 7919 % 900 + 100}.{number * 104729 % 1000:03}"
            lines += [f"{ROWS[language]} {2000 + number % 25} {whole},{number * 37 % 100:02}"]
    return ["\n".join(lines[at : at + LINES]) for at in range(0, len(lines), LINES)]


def spoken_table(folder: Path) -> str:
    """The word error of plain tesseract and of ours, by language."""
    from tests.pdfs import make_scan

    lines = []
    for language, code in SPOKEN.items():
        if code not in installed_languages():
            print(f"{code} is not installed.", file=sys.stderr)
            continue
        pages = spoken_pages(language)
        path = make_scan(folder / f"{code}.pdf", pages)
        how = Circumstances(processes=1, languages=ScanLanguages(code))
        ours = "\n".join(page.text for page in read_document(path, how).pages)
        english = "\n".join(page.text for page in read_document(path).pages)
        truth = "\n".join(pages)
        errors = [word_error(text, truth) for text in (english, plain_text(path, code), ours)]
        lines.append((code, str(len(pages)), str(len(truth.split())), *(f"{error:.4f}" for error in errors)))
    return markdown_table(("language", "pages", "words", "ours in eng", "plain", "ours"), lines)


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
    parser.add_argument("--spoken", action="store_true", help="measure other languages than English")
    options = parser.parse_args()
    if options.spoken:
        with tempfile.TemporaryDirectory() as folder:
            print(spoken_table(Path(folder)))
        return 0
    data: Path = options.data
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
