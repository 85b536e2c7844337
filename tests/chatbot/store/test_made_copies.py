"""Documents of other kinds than PDF: kept as they are, beside the PDF that was made of them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from email.message import EmailMessage
from pathlib import Path

import pypdf
import pytest

from chatbot.errors import EncryptedError
from chatbot.service import Chatbot
from chatbot.settings import Settings
from chatbot.store.copy_files import CopyFiles
from chatbot.store.doctor import examine
from chatbot.store.library import Library, Upload
from chatbot.store.migration.store_migration import compare_copies, move_copies
from chatbot.store.rebuilding import rebuild
from ingestion.reading import reader
from tests.chatbot.store.libraries import open_library
from tests.fakes import HashEmbedder
from tests.offices import NEEDS_OFFICE, make_docx, make_protected
from tests.pdfs import make_pdf
from tests.stores import add_now, hashing

NOTE = "The deficit ceiling is three per cent of output, and the debt anchor is sixty per cent of it.\n"


@pytest.fixture
def library(home: Path) -> Iterator[Library]:
    with closing(open_library(home)) as opened:
        yield opened


@pytest.fixture
def note(tmp_path: Path) -> Path:
    path = tmp_path / "note.txt"
    path.write_text(NOTE)
    return path


def kept(home: Path) -> list[str]:
    return sorted(path.suffix for path in (home / "documents").iterdir() if path.suffix != ".json")


def test_the_original_is_kept_beside_what_is_read_of_it(library: Library, home: Path, note: Path) -> None:
    (result,) = add_now(library, [Upload(note)])
    assert (result.status, result.pages) == ("added", 1)
    assert library.file(result.version).read_text() == NOTE
    assert library.file_to_read(result.version).read_bytes().startswith(b"%PDF")
    assert kept(home) == [".made", ".pdf"]
    assert not list(examine(library))
    library.remove("note.txt", purge=True)
    library.sweep()
    assert not kept(home)


def test_it_is_made_once(library: Library, home: Path, note: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_now(library, [Upload(note)])
    monkeypatch.setattr(reader, "MAKE_SECONDS", 0.0)
    assert library.read_again("note.txt").pages == 1
    library.close()
    shutil.rmtree(home / "chroma_db")
    results = list(rebuild(Settings(home=home), {}, embedder=HashEmbedder()))
    assert [(result.document, result.error) for result in results] == [("note.txt", None)]


def test_a_lost_one_is_named_and_made_again(library: Library, home: Path, note: Path) -> None:
    add_now(library, [Upload(note)])
    (made,) = (home / "documents").glob("*.made")
    made.unlink()
    (finding,) = examine(library)
    assert (finding.document, finding.problem) == ("note.txt", "the PDF made of it is missing")
    assert [found.mended for found in examine(library, repair=True)] == [True]
    assert made.exists()
    assert not list(examine(library))


def test_it_moves_with_its_original(library: Library, home: Path, note: Path, tmp_path: Path) -> None:
    add_now(library, [Upload(note)])
    source, target = CopyFiles(home / "documents"), CopyFiles(tmp_path / "target")
    move_copies(source, target, lambda *_: None)
    assert len(list(target.listed())) == 3
    first, second = compare_copies(source, target, lambda *_: None)
    assert first == second


def test_pages_are_shown_and_quotations_marked(home: Path, note: Path) -> None:
    with closing(Chatbot(Settings(home=home), embedder=hashing())) as chatbot:
        (result,) = add_now(chatbot.library, [Upload(note)])
        png, places = chatbot.page_image(result.version, 1, "the debt anchor is sixty per cent")
        assert png.startswith(b"\x89PNG")
        assert places


def mail(path: Path, attached: Path) -> Path:
    message = EmailMessage()
    message["From"], message["Subject"] = "t@example.org", "Ceilings"
    message.set_content("The ceilings for next year are in the annex.")
    data = attached.read_bytes()
    message.add_attachment(data, maintype="application", subtype="pdf", filename="../annex.pdf")
    path.write_bytes(message.as_bytes())
    return path


def carrying(path: Path, attached: Path) -> Path:
    writer = pypdf.PdfWriter(clone_from=make_pdf(path, ["A cover page with the names of what it carries."]))
    writer.add_attachment("note.txt", attached.read_bytes())
    writer.add_attachment("tool.exe", b"MZ")
    writer.write(path)
    return path


def test_what_a_file_carries_is_added_as_documents(library: Library, note: Path, tmp_path: Path) -> None:
    portfolio = carrying(tmp_path / "all.pdf", note)
    results = add_now(library, [Upload(mail(tmp_path / "a.eml", portfolio))])
    names = ["a.eml", "a.eml › annex.pdf", "a.eml › annex.pdf › note.txt"]
    assert [(result.document, result.status) for result in results] == [(name, "added") for name in names]
    assert [result.warning for result in results] == [
        None,
        "Not read: page 1, the attached file “tool.exe”",
        None,
    ]
    assert not list(examine(library))


@NEEDS_OFFICE
def test_without_its_program_a_file_waits_for_it(home: Path, tmp_path: Path) -> None:
    document = make_docx(tmp_path / "a.docx", [NOTE])
    with closing(open_library(home, soffice="/missing/soffice")) as library:
        (result,) = add_now(library, [Upload(document)])
        assert result.status == "failed"
        assert "apt-get install libreoffice" in (result.error or "")
        (finding,) = examine(library)
        assert finding.document == "a.docx"
        assert "LibreOffice, which opens such files, is not installed" in finding.problem
    with closing(open_library(home)) as library:
        assert [found.status for found in library.resume()] == ["added"]
        assert not list(examine(library))


@NEEDS_OFFICE
def test_a_protected_one_asks_as_a_pdf_does(home: Path, tmp_path: Path) -> None:
    path = make_protected(tmp_path / "a.docx", [NOTE], "secret")
    with closing(Chatbot(Settings(home=home), embedder=hashing())) as chatbot:
        (result,) = add_now(chatbot.library, [Upload(path)])
        assert result.needs_password
        (result,) = add_now(chatbot.library, [Upload(path, password="secret")])
        assert result.status == "added"
        with pytest.raises(EncryptedError):
            chatbot.page_image(result.version, 1)
        assert chatbot.page_image(result.version, 1, password="secret")[0].startswith(b"\x89PNG")
