"""Holds the sample documents to what tests and readers rely on: the same bytes, page numbers, pictures
without text, and where answers stand.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pypdfium2
import pypdfium2.raw
import pytest

from documents import sample_content
from documents.sample_content import SAMPLES, Block, Scan, Table
from ingestion.reading.formats import is_named_like_a_document

ROOT = Path(__file__).resolve().parent.parent
LINES = (ROOT / "tests" / "sample_questions.jsonl").read_text(encoding="utf-8").splitlines()
QUESTIONS = list(map(json.loads, LINES))
ANSWERABLE = [question for question in QUESTIONS if question["answerable"]]

STATEMENT, BOOK, POLICY_2019, POLICY_2024 = (sample.file for sample in SAMPLES)
PAGES = {STATEMENT: 14, BOOK: 30, POLICY_2019: 4, POLICY_2024: 5}
SCANNED_ANSWERS = [question for question in ANSWERABLE if question["kind"] == "scanned"]
# pages before the one that is numbered 1
BEFORE_BODY = {STATEMENT: 4, BOOK: 5, POLICY_2019: 0, POLICY_2024: 0}
SCANNED = (27, 28, 29)  # physical pages of the Budget Book that are pictures


@pytest.fixture(scope="session")
def texts(samples: Path) -> dict[str, list[str]]:
    """The text layer of every page by document, white space as single spaces, line by line where lines
    matter.
    """
    return {name: _texts(samples / name) for name in PAGES}


def _texts(path: Path) -> list[str]:
    document = pypdfium2.PdfDocument(path)
    try:
        pages = []
        for page in document:
            text = page.get_textpage()
            pages.append(text.get_text_bounded().replace("\r\n", "\n"))
            text.close()
            page.close()
        return pages
    finally:
        document.close()


def _flat(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def _printed(text: str) -> str:
    """The page number as printed: the end of the footer, which is drawn last."""
    found = re.search(r"(?:Page )?(\w+)(?: of \d+)?\s*$", text)
    assert found, text[-80:]
    return found[1]


def test_the_same_bytes_every_time(samples: Path, tmp_path: Path) -> None:
    script, folder = ROOT / "documents" / "make_samples.py", tmp_path / "new" / "folder"
    command = [sys.executable, str(script), str(folder)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    again = [Path(line) for line in done.stdout.splitlines()]
    assert [path.name for path in again] == list(PAGES)
    for path in again:
        assert path.read_bytes() == (samples / path.name).read_bytes()
    made = [path.name for path in again[0].parent.iterdir()]
    assert sorted(made) == sorted(PAGES)


def test_the_folder_of_documents_offers_nothing_but_the_samples() -> None:
    folder = Path(sample_content.__file__).parent
    tracked = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "."],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if tracked.returncode:
        pytest.skip("not a checkout")
    assert "sample_content.py" in tracked.stdout.split()
    assert not [name for name in tracked.stdout.split() if is_named_like_a_document(name)]


@pytest.mark.parametrize("name", PAGES)
def test_page_counts(texts: dict[str, list[str]], name: str) -> None:
    assert len(texts[name]) == PAGES[name]


FRONT = {STATEMENT: "i ii iii", BOOK: "i ii iii iv", POLICY_2019: "", POLICY_2024: ""}


@pytest.mark.parametrize("name", FRONT)
def test_printed_numbers(texts: dict[str, list[str]], name: str) -> None:
    front = FRONT[name].split()
    numbers = range(1, PAGES[name] - BEFORE_BODY[name] + 1)
    expected = [*front, *map(str, numbers)]
    first = 2 if front else 1
    for page, label in enumerate(expected, start=first):
        text = texts[name][page - 1]
        if name == BOOK and page in SCANNED:
            assert not text
        else:
            assert _printed(text) == label
    assert len(texts[name]) == len(expected) + first - 1


def test_scanned_pages_are_pictures_without_text(samples: Path, texts: dict[str, list[str]]) -> None:
    document = pypdfium2.PdfDocument(samples / BOOK)
    try:
        for number, text in enumerate(texts[BOOK], start=1):
            page = document[number - 1]
            kinds = [thing.type for thing in page.get_objects()]
            page.close()
            is_scanned = number in SCANNED
            is_picture = kinds == [pypdfium2.raw.FPDF_PAGEOBJ_IMAGE]
            assert (not text.strip()) == is_scanned
            assert is_picture == is_scanned
    finally:
        document.close()


def _blocks(name: str) -> Iterator[Block]:
    (sample,) = (sample for sample in SAMPLES if sample.file == name)
    for block in (*sample.front, *sample.body):
        if isinstance(block, Scan):
            for page in block.pages:
                yield from page
        else:
            yield block


def _tables() -> Iterator[tuple[tuple[str, str], Table]]:
    """By document and number."""
    for name in PAGES:
        for block in _blocks(name):
            if isinstance(block, Table):
                number, _, _ = block.caption.partition(":")
                yield (name, number), block


TABLES = dict(_tables())


def _sums_up(table: Table) -> bool:
    """Whether its last line, and no other, is bold."""
    last = len(table.rows) - 1
    return table.bold == (last,)


SUMMED = [key for key, table in TABLES.items() if _sums_up(table)]


def _amount(cell: str) -> float:
    if cell == "–":
        return 0.0
    sign = -1 if cell.startswith("(") else 1
    return sign * float(re.sub("[(,)]", "", cell))


def _row(name: str, number: str, label: str, *, last: bool = False) -> list[float]:
    """The figures of the first row of that name, or of the last."""
    table = TABLES[name, f"Table {number}"]
    rows = [row for row in table.rows if row[0].strip() == label]
    row = rows[-1] if last else rows[0]
    return list(map(_amount, row[table.words :]))


@pytest.mark.parametrize("key", SUMMED, ids=": ".join)
def test_totals_are_sums(key: tuple[str, str]) -> None:
    table = TABLES[key]
    columns = list(zip(table.head, *table.rows, strict=True))
    for head, *cells in columns[table.words :]:
        in_figures = all(re.fullmatch(r"[(\d,)]+|–", cell) for cell in cells)
        if in_figures and head != "Crowns per inhabitant":
            *parts, total = map(_amount, cells)
            assert sum(parts) == total, head


def test_the_figures_agree_with_each_other() -> None:
    balance, interest = _row(BOOK, "1", "Overall balance"), _row(BOOK, "1", "Interest on public debt")
    revenue, expenditure = _row(BOOK, "1", "Total revenue"), _row(BOOK, "1", "Total expenditure")
    primary = _row(BOOK, "1", "Primary expenditure")
    assert [taken - spent for taken, spent in zip(revenue, expenditure, strict=True)] == balance
    assert [spent + paid for spent, paid in zip(primary, interest, strict=True)] == expenditure
    for number in ("4", "5"):
        by_part = _row(BOOK, number, "Total expenditure")
        assert by_part[:3] == expenditure
    goods = _row(BOOK, "5", "Goods and services")
    assert min(goods) > 0
    planned = _row(STATEMENT, "3", "Overall balance", last=True)
    assert planned[:3] == balance
    debt = _row(STATEMENT, "3", "Public debt, end of year", last=True)
    composition = _row(STATEMENT, "6", "Total public debt")
    assert debt[1] == composition[0]
    paid = _row(BOOK, "16", "Total interest")
    assert paid[0] == interest[2]
    repaid = _row(BOOK, "16", "Total principal")
    borrowed = _row(STATEMENT, "8", "All instruments")
    assert borrowed[-1] == repaid[0] - balance[2]


@pytest.mark.parametrize("question", ANSWERABLE, ids=lambda question: question["id"])
def test_the_answer_stands_on_its_page(texts: dict[str, list[str]], question: dict[str, Any]) -> None:
    name, values = question["document"], question["values"]
    assert question["documents"] is None or name in question["documents"]
    for page in question["pages"]:
        if question["kind"] == "scanned":
            assert page in SCANNED
            continue
        text = _flat(texts[name][page - 1])
        assert any(value in text for value in values), f"none of {values} on page {page} of {name}"


@pytest.mark.parametrize("question", SCANNED_ANSWERS, ids=lambda question: question["id"])
def test_the_answer_was_printed_on_the_scanned_page(question: dict[str, Any]) -> None:
    (pictures,) = (block for block in SAMPLES[1].body if isinstance(block, Scan))
    place = question["pages"][0] - SCANNED[0]
    printed = repr(pictures.pages[place])
    assert any(value in printed for value in question["values"])
