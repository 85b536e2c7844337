"""Formats: a file is read by what it is, not by what it is called, and a further format is one row."""

from pathlib import Path
from typing import Any

import pytest

from ingestion.document import read_document
from ingestion.errors import DocumentError, EncryptedError
from ingestion.reading import formats
from ingestion.reading.formats import (
    MADE,
    Format,
    MadePage,
    format_of,
    is_document,
    is_named_like_a_document,
    open_document,
)
from ingestion.reading.made import with_pages
from ingestion.reading.wire import page_from
from ingestion.reading.worker import answer
from ingestion.records import Line, Page, Rect, Word
from ingestion.tables.ruling_lines import Rules
from tests.case_rows import case_rows
from tests.pdfs import make_pdf


class Note:
    """A file of text, of one page."""

    def __init__(self, path: Path, password: str | None) -> None:
        self.written = path.read_text("utf-8")

    def given(self, number: int) -> None:
        return None

    def label(self, number: int) -> None:
        return None

    def words(self, number: int, *, clear: bool = False) -> tuple[str, str, list[Word]]:
        return self.written, "text", []

    def rules(self, number: int) -> Rules:
        return Rules()

    def pictures(self, number: int) -> tuple[Any, ...]:
        return ()

    def additions(self, number: int) -> list[tuple[str, Any]]:
        return []

    def remarks(self, number: int) -> list[str]:
        return []


def test_a_pdf_is_read_whatever_it_is_called(tmp_path: Path) -> None:
    pdf = make_pdf(tmp_path / "a.pdf", ["The ceiling is three per cent."])
    renamed = pdf.rename(tmp_path / "a.bin")
    (page,) = read_document(renamed).pages
    assert "three per cent" in page.text
    assert is_document(renamed)


def test_what_is_of_no_known_format_fails_as_a_pdf_does(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_text("no document")
    assert not is_document(tmp_path / "a.pdf")
    for name in ("a.pdf", "missing.pdf"):
        with pytest.raises(DocumentError):
            read_document(tmp_path / name)


def test_a_further_format_is_one_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    note = Format("note", (".note",), (b"note:",), "tests.ingestion.reading.test_formats:Note")
    monkeypatch.setattr(formats, "FORMATS", (*formats.FORMATS, note))
    path = tmp_path / "a.note"
    path.write_text("Note: the ceiling is two per cent.")
    assert format_of(path).name == "note"
    assert is_document(path)
    answered = answer(open_document(path), {"op": "page", "page": 1, "tables": False})
    page = page_from(answered["read"])
    assert page.text == "Note: the ceiling is two per cent."


FILE_NAMES = case_rows("""
Budget.PDF     | yes
a/b.pdf        | yes
pdf            | no
Budget.pdf.zip | no
report.DOCX    | yes
mail.eml       | yes
""")


@pytest.mark.parametrize(("name", "expected"), FILE_NAMES)
def test_names_tell_what_may_be_a_document(name: str, *, expected: str) -> None:
    assert is_named_like_a_document(name) is (expected == "yes")


def make_note(original: Path, target: Path, name: str, password: str | None) -> list[MadePage]:
    """A maker of PDFs of notes."""
    text = original.read_text("utf-8")
    make_pdf(target, [f"{name} says more than ten words, all of them on its first page.", text])
    given = Page(2, text, lines=(Line(0, len(text), Rect(0.1, 0.1, 0.9, 0.2)),))
    return [MadePage(1, notes=("Said beside it.",)), MadePage(2, label="Sheet!A1:B2", read=given)]


def test_a_pdf_is_made_of_a_kind_that_has_a_maker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    maker = "tests.ingestion.reading.test_formats:make_note"
    monkeypatch.setattr(formats, "FORMATS", (*formats.FORMATS, Format("note", (".note",), maker=maker)))
    original = tmp_path / "kept"
    original.write_text("The ceiling is two per cent.")
    assert format_of(original).name == "PDF", "by its name alone"
    for password in (None, "secret"):
        target = tmp_path / f"{password}{MADE}"
        formats.make_pdf(original, target, "a.note", password)
        made = open_document(target, password)
        pages = [page_from(answer(made, {"op": "page", "page": at, "tables": True})["read"]) for at in (1, 2)]
        assert "a.note says" in pages[0].text
        assert pages[0].text.endswith("Said beside it.")
        assert (pages[1].text, pages[1].label) == ("The ceiling is two per cent.", "Sheet!A1:B2")
        assert len(made.glyphs(2)) > 20
    with pytest.raises(EncryptedError):
        open_document(target)


def test_what_others_say_of_pages_is_not_believed(tmp_path: Path) -> None:
    target = make_pdf(tmp_path / "a.pdf", ["The ceiling is three per cent."])
    with_pages(target, [MadePage(1, notes=("The ceiling is four per cent.",))], None)
    (page,) = read_document(target).pages
    assert "four" not in page.text
