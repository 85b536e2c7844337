"""Holds the sample documents to what tests and readers rely on: the same bytes, page numbers, pictures without text, and where answers stand."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pypdfium2
import pypdfium2.raw
import pytest
from PIL import Image
from pypdf import PdfReader

from documents import sample_content as content

ROOT = Path(__file__).resolve().parent.parent
QUESTIONS = [json.loads(line) for line in (ROOT / "tests" / "sample_questions.jsonl").read_text(encoding="utf-8").splitlines()]
ANSWERABLE = [question for question in QUESTIONS if question["answerable"]]

STATEMENT, BOOK, POLICY_2019, POLICY_2024 = (sample.file for sample in content.SAMPLES)
PAGES = {STATEMENT: 14, BOOK: 30, POLICY_2019: 4, POLICY_2024: 5}
BEFORE_BODY = {STATEMENT: 4, BOOK: 5, POLICY_2019: 0, POLICY_2024: 0}  # pages before the one that is numbered 1
SCANNED = (27, 28, 29)  # physical pages of the Budget Book that are pictures


@pytest.fixture(scope="session")
def texts(samples: Path) -> dict[str, list[str]]:
    """The text layer of every page by document, white space as single spaces, line by line where lines matter."""
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


@pytest.mark.parametrize(("name", "front"), [(STATEMENT, ["i", "ii", "iii"]), (BOOK, ["i", "ii", "iii", "iv"]), (POLICY_2019, []), (POLICY_2024, [])])
def test_printed_numbers(texts: dict[str, list[str]], name: str, front: list[str]) -> None:
    printed = [_printed(text) if text else None for text in texts[name][1 if front else 0 :]]
    expected = front + [str(number + 1) for number in range(PAGES[name] - BEFORE_BODY[name])]
    assert [there for there, _ in zip(printed, expected, strict=True)] == [
        None if name == BOOK and page in SCANNED else label for page, label in enumerate(expected, start=2 if front else 1)
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
            if label.isdigit() and (page := int(label) + BEFORE_BODY[name]) not in (SCANNED if name == BOOK else ()):
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


def test_the_figures_agree_with_each_other() -> None:
    assert sum(amount for _, amount in content.DEBT_PARTS) == content.DEBT[1]
    assert sum(map(sum, content.ISSUES.values())) == content.FINANCING_NEED
    assert content.INTEREST[2:] == content.YEARLY_INTEREST[:3]
    assert all(goods > 0 for goods in content.GOODS)
    assert content.DEFICIT_SHARE[0] > 3.0 > content.DEFICIT_SHARE[1]  # Table 2 of the Statement: not met in 2024
    assert [round(share, 1) for share in content.DEFICIT_SHARE[:1]] == [float(content.RECORD[-1][3])]
    assert content.SPENDING_GROWTH[1] < content.SPENDING_LIMIT
    assert 0.01 < content.RESERVE_NEW / content.PRIMARY_SPENDING[2] < 0.02
    assert tuple(sorted(content.DEBT_SHARE, reverse=True)) == content.DEBT_SHARE
    assert content.DEBT_SHARE[3] > 60 > content.DEBT_SHARE[4]
    assert content.GUARANTEED / content.GDP[1] < 0.06
    assert content.FOREIGN_SHARE < 27
    assert content.CAPITAL.keys() == content.PROGRAMMES.keys() == content.STAFF.keys() == content.MINISTRY_WORDS.keys()


def test_questions_are_whole() -> None:
    assert len(QUESTIONS) == 34
    assert len({question["id"] for question in QUESTIONS}) == 34
    assert len(ANSWERABLE) == 26
    assert {question["document"] for question in ANSWERABLE} == set(PAGES)
    kinds = {"figure", "rule", "list", "definition", "table", "follow-up", "yes-no", "absent", "scanned", "superseded"}
    assert {question["kind"] for question in QUESTIONS} == kinds
    for question in QUESTIONS:
        assert list(question) == ["id", "question", "documents", "history", "answerable", "values", "pages", "document", "kind", "note"]
        assert set(question["documents"] or PAGES) <= set(PAGES)
        assert question["answerable"] == (question["kind"] != "absent") == bool(question["values"]) == bool(question["pages"])
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
        assert any(value in text for value in question["values"]), f"none of {question['values']} on page {page} of {name}"


@pytest.mark.parametrize("question", [q for q in ANSWERABLE if q["kind"] == "scanned"], ids=lambda question: question["id"])
def test_the_answer_was_printed_on_the_scanned_page(question: dict[str, Any]) -> None:
    page = content.SCANNED.pages[question["pages"][0] - SCANNED[0]]
    assert any(value in repr(page) for value in question["values"])
