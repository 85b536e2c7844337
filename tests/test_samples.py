"""Holds the sample documents to what tests and readers rely on: the same bytes, page numbers, pictures
without text, and where answers stand.
"""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pypdfium2
import pypdfium2.raw
import pytest
from PIL import Image
from pypdf import PdfReader

from documents.sample_content import SAMPLES, Block, Heading, Scan, Table

ROOT = Path(__file__).resolve().parent.parent
LINES = (ROOT / "tests" / "sample_questions.jsonl").read_text(encoding="utf-8").splitlines()
QUESTIONS = list(map(json.loads, LINES))
ANSWERABLE = [question for question in QUESTIONS if question["answerable"]]

STATEMENT, BOOK, POLICY_2019, POLICY_2024 = (sample.file for sample in SAMPLES)
PAGES = {STATEMENT: 14, BOOK: 30, POLICY_2019: 4, POLICY_2024: 5}
BEFORE_BODY = {STATEMENT: 4, BOOK: 5, POLICY_2019: 0, POLICY_2024: 0}  # pages before the one numbered 1
FRONT = {STATEMENT: ["i", "ii", "iii"], BOOK: ["i", "ii", "iii", "iv"], POLICY_2019: [], POLICY_2024: []}
Texts: TypeAlias = dict[str, list[str]]  # of each page, by document
SCANNED = (27, 28, 29)  # physical pages of the Budget Book that are pictures


@pytest.fixture(scope="session")
def texts(samples: Path) -> Texts:
    """The text layer of every page by document, white space as single spaces, line by line where lines
    matter.
    """
    return {name: _texts(samples / name) for name in PAGES}


def _texts(path: Path) -> list[str]:
    document = pypdfium2.PdfDocument(path)
    try:
        pages = []
        for page in document:
            layer = page.get_textpage()
            text = layer.get_text_bounded()
            pages.append(text.replace("\r\n", "\n"))
            layer.close()
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
    folder = tmp_path / "new" / "folder"
    command = [sys.executable, str(ROOT / "documents" / "make_samples.py"), str(folder)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    again = [Path(line) for line in done.stdout.splitlines()]
    assert again == [folder / name for name in PAGES]
    for path in again:
        sample = samples / path.name
        assert path.read_bytes() == sample.read_bytes()
    made = {path.name for path in folder.iterdir()}
    assert made == set(PAGES)


def test_small_enough_to_carry_along(samples: Path) -> None:
    files = [samples / name for name in PAGES]
    sizes = [path.stat().st_size for path in files]
    assert sum(sizes) < 2_500_000


@pytest.mark.parametrize("name", PAGES)
def test_page_counts(texts: Texts, name: str) -> None:
    assert len(texts[name]) == PAGES[name]


@pytest.mark.parametrize("name", FRONT)
def test_printed_numbers(texts: Texts, name: str) -> None:
    first = 2 if FRONT[name] else 1  # a document with front pages has a cover before them
    body = range(1, PAGES[name] - BEFORE_BODY[name] + 1)
    expected = [*FRONT[name], *map(str, body)]
    pages = texts[name][first - 1 :]
    assert len(pages) == len(expected)
    for number, (text, label) in enumerate(zip(pages, expected, strict=True), start=first):
        if name == BOOK and number in SCANNED:
            assert not text
        else:
            assert _printed(text) == label


def test_embedded_labels_in_the_statement_only(samples: Path) -> None:
    with PdfReader(samples / STATEMENT) as reader:
        assert reader.page_labels == ["Cover", "i", "ii", "iii", *map(str, range(1, 11))]
    for name in (BOOK, POLICY_2019, POLICY_2024):
        with PdfReader(samples / name) as reader:
            assert "/PageLabels" not in reader.root_object


def test_contents_name_the_printed_page(texts: Texts) -> None:
    for name in (STATEMENT, BOOK):
        contents = "\n".join(texts[name][1:4])
        lines = [line for line in contents.splitlines() if " . . . " in line]
        assert len(lines) > 30
        for line in lines:
            found = re.fullmatch(r"(.+?)(?: \.)+ (\w+)", line)
            assert found, line
            title, label = found.groups()
            if not label.isdigit():
                continue
            page = int(label) + BEFORE_BODY[name]
            if name == BOOK and page in SCANNED:
                continue
            text = _flat(texts[name][page - 1])
            assert title.strip() in text, f"{name}: {line}"


def test_scanned_pages_are_pictures_without_text(samples: Path, texts: Texts) -> None:
    document = pypdfium2.PdfDocument(samples / BOOK)
    try:
        for number, text in enumerate(texts[BOOK], start=1):
            page = document[number - 1]
            kinds = [thing.type for thing in page.get_objects()]
            page.close()
            scanned = number in SCANNED
            has_text = bool(text.strip())
            is_picture = kinds == [pypdfium2.raw.FPDF_PAGEOBJ_IMAGE]
            assert has_text != scanned
            assert is_picture == scanned
    finally:
        document.close()


def test_scanned_pages_are_grey_at_200_dots_an_inch(samples: Path) -> None:
    with PdfReader(samples / BOOK) as reader:
        for number in SCANNED:
            (image,) = reader.pages[number - 1].images
            with Image.open(io.BytesIO(image.data)) as picture:
                assert picture.mode == "L"
                assert picture.size == (1654, 2339)


def test_the_capital_projects_break_across_two_pages(texts: Texts) -> None:
    first, second = texts[BOOK][19:21]
    assert "Table 15: Capital projects" in first
    assert "All projects" not in first
    assert "Table 15" not in second
    assert re.search(r"Later\s+years", first)
    assert re.search(r"Later\s+years", second)  # the heads are repeated
    assert "All projects 45,453" in second


def _blocks(name: str) -> Iterator[Block]:
    (sample,) = (sample for sample in SAMPLES if sample.file == name)
    for block in (*sample.front, *sample.body):
        if isinstance(block, Scan):
            for page in block.pages:
                yield from page
        else:
            yield block


def _tables() -> Iterator[tuple[tuple[str, str], Table]]:
    """The tables, each behind its document and its number."""
    for name in PAGES:
        for block in _blocks(name):
            if isinstance(block, Table):
                number, _, _ = block.caption.partition(":")
                yield (name, number), block


TABLES = dict(_tables())
SUMMED = [key for key, table in TABLES.items() if table.bold == (len(table.rows) - 1,)]


def _amount(cell: str) -> float:
    if cell == "–":
        return 0.0
    amount = float(re.sub("[(,)]", "", cell))
    return -amount if cell.startswith("(") else amount


def _rows(name: str, number: str) -> Sequence[Sequence[str]]:
    """The rows of a table, as printed."""
    return TABLES[name, f"Table {number}"].rows


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
        figures = [cell for cell in cells if re.fullmatch(r"[(\d,)]+|–", cell)]
        if head != "Crowns per inhabitant" and figures == cells:
            *parts, total = map(_amount, cells)
            assert sum(parts) == total, head


def test_twenty_tables_end_with_their_sum() -> None:
    assert len(SUMMED) == 20


def test_the_figures_agree_with_each_other() -> None:
    balance = _row(BOOK, "1", "Overall balance")
    interest = _row(BOOK, "1", "Interest on public debt")
    primary = _row(BOOK, "1", "Primary expenditure")
    revenue = _row(BOOK, "1", "Total revenue")
    expenditure = _row(BOOK, "1", "Total expenditure")
    for taken, spent, rest in zip(revenue, expenditure, balance, strict=True):
        assert taken - spent == rest
    for spent, paid, total in zip(primary, interest, expenditure, strict=True):
        assert spent + paid == total
    for number in ("4", "5"):
        by_part = _row(BOOK, number, "Total expenditure")
        assert by_part[:3] == expenditure
    goods = _row(BOOK, "5", "Goods and services")
    assert min(goods) > 0
    path = _row(STATEMENT, "3", "Overall balance", last=True)
    assert path[:3] == balance
    debt = _row(STATEMENT, "3", "Public debt, end of year", last=True)
    total_debt = _row(STATEMENT, "6", "Total public debt")
    assert debt[1] == total_debt[0]
    interest_due = _row(BOOK, "16", "Total interest")
    principal_due = _row(BOOK, "16", "Total principal")
    borrowed = _row(STATEMENT, "8", "All instruments")
    assert interest_due[0] == interest[2]
    assert borrowed[-1] == principal_due[0] - balance[2]


def test_the_figures_are_those_that_the_rules_need() -> None:
    shares = _row(STATEMENT, "3", "Overall balance")
    debt = _row(STATEMENT, "3", "Public debt, end of year")
    deficit_2024, deficit_2025 = -shares[0], -shares[1]
    assert deficit_2024 > 3.0 > deficit_2025  # Table 2 of the Statement: not met in 2024
    outcome = _rows(STATEMENT, "2")[-1]
    assert outcome[3] == str(deficit_2024)
    assert sorted(debt, reverse=True) == debt
    assert debt[3] > 60 > debt[4]
    growth_of_spending = _rows(STATEMENT, "4")
    limit, growth, margin = map(float, growth_of_spending[2][1:4])
    assert margin == round(limit - growth, 1)
    assert margin > 0
    next_growth = float(growth_of_spending[3][2])
    assert 1.0 < next_growth < 2.0
    last_of_table_10 = _rows(STATEMENT, "10")[-1]
    fourth_of_table_7 = _rows(STATEMENT, "7")[3]
    assert float(last_of_table_10[2]) < 6.0
    assert float(fourth_of_table_7[3]) < 27


def test_each_ministry_has_its_page_with_the_same_figures() -> None:
    headings = [block.text for block in _blocks(BOOK) if isinstance(block, Heading)]
    pages = [text.partition(" ")[2] for text in headings if text.startswith("5.")]
    assert pages == [row[0] for row in _rows(BOOK, "4")[:9]]
    assert pages == [row[0] for row in _rows(BOOK, "18")[:9]]
    for number, ministry in enumerate(pages, start=6):
        page = TABLES[BOOK, f"Table {number}"]
        assert page.caption.startswith(f"Table {number}: {ministry}")
        spending = _row(BOOK, "4", ministry)
        assert _row(BOOK, str(number), "Total") == spending[:3]
        projects = [row for row in _rows(BOOK, "15") if row[0].startswith(f"{ministry[0]}-")]
        costs = [_amount(row[3]) for row in projects]
        capital = _row(BOOK, str(number), "Capital projects")
        assert sum(costs) == capital[2]


def test_questions_are_whole() -> None:
    assert len(QUESTIONS) == 34
    ids = {question["id"] for question in QUESTIONS}
    assert len(ids) == 34
    assert len(ANSWERABLE) == 26
    documents = {question["document"] for question in ANSWERABLE}
    assert documents == set(PAGES)
    kinds = {question["kind"] for question in QUESTIONS}
    assert kinds == set(
        "figure rule list definition table follow-up yes-no absent scanned superseded".split()
    )
    fields = "id question documents history answerable values pages document kind note".split()
    for question in QUESTIONS:
        assert list(question) == fields
        asked_of = question["documents"] or PAGES
        assert set(asked_of) <= set(PAGES)
        answerable, history = question["answerable"], question["history"]
        assert answerable == (question["kind"] != "absent")
        assert answerable == bool(question["values"])
        assert answerable == bool(question["pages"])
        assert bool(history) == (question["kind"] == "follow-up")
        for exchange in history:
            assert exchange.keys() == {"user", "assistant"}


@pytest.mark.parametrize("question", ANSWERABLE, ids=lambda question: question["id"])
def test_the_answer_stands_on_its_page(texts: Texts, question: dict[str, Any]) -> None:
    name = question["document"]
    assert question["documents"] is None or name in question["documents"]
    for page in question["pages"]:
        if question["kind"] == "scanned":
            assert page in SCANNED
            continue
        text = _flat(texts[name][page - 1])
        found = [value for value in question["values"] if value in text]
        assert found, f"none of {question['values']} on page {page} of {name}"


ON_SCANS = [question for question in ANSWERABLE if question["kind"] == "scanned"]


@pytest.mark.parametrize("question", ON_SCANS, ids=lambda question: question["id"])
def test_the_answer_was_printed_on_the_scanned_page(question: dict[str, Any]) -> None:
    (pictures,) = (block for block in SAMPLES[1].body if isinstance(block, Scan))
    number, *_ = question["pages"]
    page = pictures.pages[number - SCANNED[0]]
    printed = repr(page)
    assert any(value in printed for value in question["values"])
