"""Holds the sample documents to what tests and readers rely on: the same bytes, page numbers, pictures
without text, and where answers stand.
"""

from __future__ import annotations

import io
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
from PIL import Image
from pypdf import PdfReader

from documents.sample_content import SAMPLES, Block, Heading, Scan, Table

ROOT = Path(__file__).resolve().parent.parent
QUESTIONS = [
    json.loads(line)
    for line in (ROOT / "tests" / "sample_questions.jsonl").read_text(encoding="utf-8").splitlines()
]
ANSWERABLE = [question for question in QUESTIONS if question["answerable"]]

STATEMENT, BOOK, POLICY_2019, POLICY_2024 = (sample.file for sample in SAMPLES)
PAGES = {STATEMENT: 14, BOOK: 30, POLICY_2019: 4, POLICY_2024: 5}
BEFORE_BODY = {
    STATEMENT: 4,
    BOOK: 5,
    POLICY_2019: 0,
    POLICY_2024: 0,
}  # pages before the one that is numbered 1
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
    command = [sys.executable, str(ROOT / "documents" / "make_samples.py"), str(tmp_path / "new" / "folder")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    again = [Path(line) for line in done.stdout.splitlines()]
    assert [path.name for path in again] == list(PAGES)
    assert [path.read_bytes() for path in again] == [(samples / name).read_bytes() for name in PAGES]
    assert sorted(path.name for path in again[0].parent.iterdir()) == sorted(PAGES)


def test_small_enough_to_carry_along(samples: Path) -> None:
    assert sum((samples / name).stat().st_size for name in PAGES) < 2_500_000


@pytest.mark.parametrize("name", PAGES)
def test_page_counts(texts: dict[str, list[str]], name: str) -> None:
    assert len(texts[name]) == PAGES[name]


@pytest.mark.parametrize(
    ("name", "front"),
    [(STATEMENT, ["i", "ii", "iii"]), (BOOK, ["i", "ii", "iii", "iv"]), (POLICY_2019, []), (POLICY_2024, [])],
)
def test_printed_numbers(texts: dict[str, list[str]], name: str, front: list[str]) -> None:
    printed = [_printed(text) if text else None for text in texts[name][1 if front else 0 :]]
    expected = front + [str(number + 1) for number in range(PAGES[name] - BEFORE_BODY[name])]
    assert [there for there, _ in zip(printed, expected, strict=True)] == [
        None if name == BOOK and page in SCANNED else label
        for page, label in enumerate(expected, start=2 if front else 1)
    ]


def test_embedded_labels_in_the_statement_only(samples: Path) -> None:
    with PdfReader(samples / STATEMENT) as reader:
        assert reader.page_labels == ["Cover", "i", "ii", "iii", *map(str, range(1, 11))]
    for name in (BOOK, POLICY_2019, POLICY_2024):
        with PdfReader(samples / name) as reader:
            assert "/PageLabels" not in reader.root_object


def test_contents_name_the_printed_page(texts: dict[str, list[str]]) -> None:
    for name in (STATEMENT, BOOK):
        lines = [line for text in texts[name][1:4] for line in text.splitlines() if " . . . " in line]
        assert len(lines) > 30
        for line in lines:
            found = re.fullmatch(r"(.+?)(?: \.)+ (\w+)", line)
            assert found, line
            title, label = found.groups()
            if label.isdigit() and (page := int(label) + BEFORE_BODY[name]) not in (
                SCANNED if name == BOOK else ()
            ):
                assert title.strip() in _flat(texts[name][page - 1]), f"{name}: {line}"


def test_scanned_pages_are_pictures_without_text(samples: Path, texts: dict[str, list[str]]) -> None:
    document = pypdfium2.PdfDocument(samples / BOOK)
    try:
        for number, text in enumerate(texts[BOOK], start=1):
            page = document[number - 1]
            kinds = [thing.type for thing in page.get_objects()]
            page.close()
            assert (not text.strip()) == (number in SCANNED)
            assert (kinds == [pypdfium2.raw.FPDF_PAGEOBJ_IMAGE]) == (number in SCANNED)
    finally:
        document.close()


def test_scanned_pages_are_grey_at_200_dots_an_inch(samples: Path) -> None:
    with PdfReader(samples / BOOK) as reader:
        for number in SCANNED:
            (image,) = reader.pages[number - 1].images
            with Image.open(io.BytesIO(image.data)) as picture:
                assert (picture.mode, picture.size) == ("L", (1654, 2339))


def test_the_capital_projects_break_across_two_pages(texts: dict[str, list[str]]) -> None:
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
        yield from (inside for page in block.pages for inside in page) if isinstance(block, Scan) else [block]


TABLES = {
    (name, block.caption.partition(":")[0]): block
    for name in PAGES
    for block in _blocks(name)
    if isinstance(block, Table)
}
SUMMED = [key for key, table in TABLES.items() if table.bold == (len(table.rows) - 1,)]


def _amount(cell: str) -> float:
    if cell == "–":
        return 0.0
    sign = -1 if cell.startswith("(") else 1
    return sign * float(re.sub("[(,)]", "", cell))


def _row(name: str, number: str, label: str, *, last: bool = False) -> list[float]:
    """The figures of the first row of that name, or of the last."""
    table = TABLES[name, f"Table {number}"]
    rows = [row for row in table.rows if row[0].strip() == label]
    return [_amount(cell) for cell in rows[-1 if last else 0][table.words :]]


@pytest.mark.parametrize("key", SUMMED, ids=": ".join)
def test_totals_are_sums(key: tuple[str, str]) -> None:
    table = TABLES[key]
    for head, *cells in list(zip(table.head, *table.rows, strict=True))[table.words :]:
        if head != "Crowns per inhabitant" and all(re.fullmatch(r"[(\d,)]+|–", cell) for cell in cells):
            *parts, total = map(_amount, cells)
            assert sum(parts) == total, head


def test_twenty_tables_end_with_their_sum() -> None:
    assert len(SUMMED) == 20


def test_the_figures_agree_with_each_other() -> None:
    balance, interest = _row(BOOK, "1", "Overall balance"), _row(BOOK, "1", "Interest on public debt")
    revenue, expenditure = _row(BOOK, "1", "Total revenue"), _row(BOOK, "1", "Total expenditure")
    assert [taken - spent for taken, spent in zip(revenue, expenditure, strict=True)] == balance
    assert [
        spent + paid for spent, paid in zip(_row(BOOK, "1", "Primary expenditure"), interest, strict=True)
    ] == expenditure
    for number in ("4", "5"):
        assert _row(BOOK, number, "Total expenditure")[:3] == expenditure
    assert all(goods > 0 for goods in _row(BOOK, "5", "Goods and services"))
    assert _row(STATEMENT, "3", "Overall balance", last=True)[:3] == balance
    assert (
        _row(STATEMENT, "3", "Public debt, end of year", last=True)[1]
        == _row(STATEMENT, "6", "Total public debt")[0]
    )
    assert _row(BOOK, "16", "Total interest")[0] == interest[2]
    assert _row(STATEMENT, "8", "All instruments")[-1] == _row(BOOK, "16", "Total principal")[0] - balance[2]


def test_the_figures_are_those_that_the_rules_need() -> None:
    shares, debt = _row(STATEMENT, "3", "Overall balance"), _row(STATEMENT, "3", "Public debt, end of year")
    assert -shares[0] > 3.0 > -shares[1]  # Table 2 of the Statement: not met in 2024
    assert TABLES[STATEMENT, "Table 2"].rows[-1][3] == str(-shares[0])
    assert sorted(debt, reverse=True) == debt
    assert debt[3] > 60 > debt[4]
    limit, growth, margin, _ = TABLES[STATEMENT, "Table 4"].rows[2][1:]
    assert float(margin) == round(float(limit) - float(growth), 1) > 0
    assert 1.0 < float(TABLES[STATEMENT, "Table 4"].rows[3][2]) < 2.0
    assert float(TABLES[STATEMENT, "Table 10"].rows[-1][2]) < 6.0
    assert float(TABLES[STATEMENT, "Table 7"].rows[3][3]) < 27


def test_each_ministry_has_its_page_with_the_same_figures() -> None:
    pages = [
        block.text.partition(" ")[2]
        for block in _blocks(BOOK)
        if isinstance(block, Heading) and block.text.startswith("5.")
    ]
    assert (
        pages
        == [row[0] for row in TABLES[BOOK, "Table 4"].rows[:9]]
        == [row[0] for row in TABLES[BOOK, "Table 18"].rows[:9]]
    )
    for number, ministry in enumerate(pages, start=6):
        assert TABLES[BOOK, f"Table {number}"].caption.startswith(f"Table {number}: {ministry}")
        assert _row(BOOK, str(number), "Total") == _row(BOOK, "4", ministry)[:3]
        projects = [row for row in TABLES[BOOK, "Table 15"].rows if re.match(f"{ministry[0]}-", row[0])]
        assert sum(_amount(row[3]) for row in projects) == _row(BOOK, str(number), "Capital projects")[2]


def test_questions_are_whole() -> None:
    assert len(QUESTIONS) == 34
    assert len({question["id"] for question in QUESTIONS}) == 34
    assert len(ANSWERABLE) == 26
    assert {question["document"] for question in ANSWERABLE} == set(PAGES)
    kinds = {
        "figure",
        "rule",
        "list",
        "definition",
        "table",
        "follow-up",
        "yes-no",
        "absent",
        "scanned",
        "superseded",
    }
    assert {question["kind"] for question in QUESTIONS} == kinds
    for question in QUESTIONS:
        assert list(question) == [
            "id",
            "question",
            "documents",
            "history",
            "answerable",
            "values",
            "pages",
            "document",
            "kind",
            "note",
        ]
        assert set(question["documents"] or PAGES) <= set(PAGES)
        assert (
            question["answerable"]
            == (question["kind"] != "absent")
            == bool(question["values"])
            == bool(question["pages"])
        )
        assert (question["kind"] == "follow-up") == bool(question["history"])
        assert all(exchange.keys() == {"user", "assistant"} for exchange in question["history"])


@pytest.mark.parametrize("question", ANSWERABLE, ids=lambda question: question["id"])
def test_the_answer_stands_on_its_page(texts: dict[str, list[str]], question: dict[str, Any]) -> None:
    name = question["document"]
    assert question["documents"] is None or name in question["documents"]
    for page in question["pages"]:
        if question["kind"] == "scanned":
            assert page in SCANNED
            continue
        text = _flat(texts[name][page - 1])
        assert any(value in text for value in question["values"]), (
            f"none of {question['values']} on page {page} of {name}"
        )


@pytest.mark.parametrize(
    "question", [q for q in ANSWERABLE if q["kind"] == "scanned"], ids=lambda question: question["id"]
)
def test_the_answer_was_printed_on_the_scanned_page(question: dict[str, Any]) -> None:
    (pictures,) = (block for block in SAMPLES[1].body if isinstance(block, Scan))
    page = pictures.pages[question["pages"][0] - SCANNED[0]]
    assert any(value in repr(page) for value in question["values"])
