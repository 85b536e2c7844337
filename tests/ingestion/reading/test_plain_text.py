"""Plain text and Markdown: drawn so that they read as they were written."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingestion.document import read_document
from ingestion.errors import DocumentError
from ingestion.reading import plain_text

COLUMNS = """BUDGET 2025

Item              2024      2025
Revenue         1,234.5   1,301.2
Expenditure     1,400.0   1,450.9
"""
MARKED = """# Fiscal rules

The **deficit** is [below](http://127.0.0.1/a) *3.2 per cent*.![chart](http://127.0.0.1/b.png)

| Item | 2024 | 2025 |
|---|---:|---:|
| Revenue | 1,234.5 | 1,301.2 |

1. The first <b>point</b>
   - and one within
"""


def text_of(path: Path) -> str:
    return "\n".join(page.text for page in read_document(path).pages)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_text_is_read_in_its_encoding(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.txt"
    path.write_text("The “ceiling” is 3 per cent, says Zoë.", encoding)
    assert text_of(path) == "The “ceiling” is 3 per cent, says Zoë."


def test_text_of_other_alphabets_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("Дефицит бюджета составит 3,2 процента. Έλλειμμα.")
    assert text_of(path) == "Дефицит бюджета составит 3,2 процента. Έλλειμμα."


def test_columns_of_text_are_a_table(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(COLUMNS)
    (page,) = read_document(path).pages
    (table,) = page.tables
    assert [row.label for row in table.rows] == ["Revenue", "Expenditure"]


def test_long_text_has_pages_that_end_with_paragraphs(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("\n\n".join(f"Paragraph {number} says this. " * 12 for number in range(30)))
    pages = read_document(path).pages
    assert [page.text.startswith("Paragraph") for page in pages] == [True] * len(pages)
    assert all(2_000 < len(page.text) < 3_500 for page in pages[:-1])


def test_markdown_is_read_without_its_marks(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text(MARKED)
    reading = read_document(path)
    (page,) = reading.pages
    assert reading.info.title == "Fiscal rules"
    assert "The deficit is below 3.2 per cent.chart" in page.text
    assert "1. The first <b>point</b>\n• and one within" in page.text
    (table,) = page.tables
    (row,) = table.rows
    assert row.label == "Revenue"
    assert [cell.text for cell in row.cells if cell] == ["1,234.5", "1,301.2"]


def test_chapters_of_markdown_begin_pages(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text(
        "\n\n".join(f"## Chapter {number}\n\n{'One more sentence. ' * 90}" for number in range(6))
    )
    pages = read_document(path).pages
    assert [page.text.partition("\n")[0] for page in pages] == [f"Chapter {number}" for number in range(6)]


def test_what_is_no_text_or_too_long_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    for data, said in ((bytes(range(256)) * 9, "not a text file"), (b"x" * 5_000_001, "at most 5,000,000")):
        path.write_bytes(data)
        with pytest.raises(DocumentError, match=said):
            read_document(path)


def test_an_empty_text_is_an_empty_page(tmp_path: Path) -> None:
    for name in ("a.md", "a.txt"):
        (tmp_path / name).write_text("\n")
        assert text_of(tmp_path / name) == ""


def test_lines_are_broken_between_words() -> None:
    assert plain_text.LINE < 100
