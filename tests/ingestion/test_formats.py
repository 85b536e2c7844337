"""Formats: a file is read by what it is, not by what it is called, and a further format is one row."""

from pathlib import Path

import pytest

from ingestion import formats
from ingestion.document import Circumstances, Reading
from ingestion.errors import DocumentError
from ingestion.formats import Format, format_of, is_named_like_a_document, read_file
from ingestion.records import DocumentInfo, Page
from tests.pdfs import make_pdf


def read_note(path: Path, how: Circumstances) -> Reading:
    how.progress("reading", 1, 1)
    return Reading(DocumentInfo(1, None, (None,), encrypted=False), (Page(1, path.read_text("utf-8")),))


def test_a_pdf_is_read_whatever_it_is_called(tmp_path: Path) -> None:
    path = make_pdf(tmp_path / "a.pdf", ["The ceiling is three per cent."]).rename(tmp_path / "a.bin")
    assert "three per cent" in read_file(path).pages[0].text


def test_what_is_of_no_known_format_fails_as_a_pdf_does(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_text("no document")
    with pytest.raises(DocumentError):
        read_file(tmp_path / "a.pdf")
    with pytest.raises(DocumentError):
        read_file(tmp_path / "missing.pdf")


def test_a_further_format_is_one_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "FORMATS", (*formats.FORMATS, Format("note", (".note",), b"NOTE:", read_note)))
    (tmp_path / "a.note").write_text("NOTE: the ceiling is two per cent.")
    assert format_of(tmp_path / "a.note").name == "note"
    assert read_file(tmp_path / "a.note").pages[0].text == "NOTE: the ceiling is two per cent."


@pytest.mark.parametrize(("name", "expected"), [("Budget.PDF", True), ("a/b.pdf", True), ("pdf", False), ("Budget.pdf.txt", False)])
def test_names_tell_what_may_be_a_document(name: str, *, expected: bool) -> None:
    assert is_named_like_a_document(name) is expected
