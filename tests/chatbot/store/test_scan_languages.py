"""The language of a scan: chosen for a file, kept with its reading, changed by reading it again."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from chatbot.errors import DocumentError
from chatbot.settings import Settings, load_settings
from chatbot.store.addition_queue import Additions, NewFile
from chatbot.store.doctor import examine
from chatbot.store.jobs import Job
from chatbot.store.library import Library
from chatbot.store.rebuilding import rebuild
from tests.chatbot.store.libraries import open_library
from tests.fakes import HashEmbedder
from tests.pdfs import make_scan

LINE = "Überplanmäßige Ausgaben für größere Straßen betrugen 1.234,56 Euro."


@pytest.fixture
def library(home: Path) -> Iterator[Library]:
    made = open_library(home)
    yield made
    made.close()


@pytest.fixture
def additions(library: Library) -> Iterator[Additions]:
    made = Additions(library)
    yield made
    made.close()


def text_of(library: Library, name: str) -> tuple[str, str]:
    """The text of the first page, and the languages it was read in."""
    version = library.catalog.find(name)
    assert version is not None
    return library.catalog.page(version.id, 1).text.strip(), version.languages


def finished(additions: Additions, number: int) -> Job:
    job = additions.wait(number)
    assert job.phase == "done", job
    return job


def test_a_scan_is_read_again_in_its_language_and_keeps_it(
    library: Library, additions: Additions, tmp_path: Path
) -> None:
    path = make_scan(tmp_path / "Scan.pdf", [LINE])
    finished(additions, additions.enqueue([NewFile("Scan.pdf", path)])[0])
    text, languages = text_of(library, "Scan.pdf")
    assert languages == "eng"
    assert text != LINE
    finished(additions, additions.read_again("Scan.pdf", "deu"))
    assert text_of(library, "Scan.pdf") == (LINE, "deu")
    finished(additions, additions.read_again("Scan.pdf"))
    assert text_of(library, "Scan.pdf") == (LINE, "deu")


def test_a_lost_catalogue_does_not_lose_the_language(
    home: Path, library: Library, additions: Additions, tmp_path: Path
) -> None:
    path = make_scan(tmp_path / "Scan.pdf", [LINE])
    finished(additions, additions.enqueue([NewFile("Scan.pdf", path)])[0])
    finished(additions, additions.read_again("Scan.pdf", "deu"))
    additions.close()
    library.close()
    settings = Settings(home=home)
    shutil.rmtree(settings.store)
    assert [result.error for result in rebuild(settings, {}, embedder=HashEmbedder())] == [None]
    with closing(open_library(home)) as rebuilt:
        assert text_of(rebuilt, "Scan.pdf") == (LINE, "deu")
        # What is asked for now is what a further loss finds.
        rebuilt.read_again("Scan.pdf")
        assert rebuilt.copies.beside(rebuilt.copies.all()[0]).languages == "deu"


def test_the_same_bytes_are_read_once_more_only_in_another_language(
    library: Library, additions: Additions, tmp_path: Path
) -> None:
    path = make_scan(tmp_path / "Scan.pdf", [LINE])
    for languages, status in (("deu", "added"), ("", "unchanged"), ("deu", "unchanged"), ("eng", "replaced")):
        (number,) = additions.enqueue([NewFile("Scan.pdf", path, languages=languages)])
        result = finished(additions, number).result
        assert result is not None
        assert result.status == status
    assert text_of(library, "Scan.pdf")[1] == "eng"


def test_a_language_that_is_not_installed_changes_nothing(
    library: Library, additions: Additions, tmp_path: Path
) -> None:
    path = make_scan(tmp_path / "Scan.pdf", [LINE])
    (number,) = additions.enqueue([NewFile("Scan.pdf", path, languages="xyz")])
    result = additions.wait(number).result
    assert result is not None
    assert "Install tesseract-ocr-xyz" in (result.error or "")
    assert not list(library.copies.all())
    finished(additions, additions.enqueue([NewFile("Scan.pdf", path, languages="deu")])[0])
    with pytest.raises(DocumentError, match="not installed"):
        additions.read_again("Scan.pdf", "xyz")
    assert text_of(library, "Scan.pdf") == (LINE, "deu")


def test_the_setting_is_checked_by_doctor(library: Library) -> None:
    assert list(examine(library)) == []
    given = {"FINPOLICY_OCR_LANGUAGES": "eng + xyz", "FINPOLICY_TESSDATA": str(library.folder)}
    languages = load_settings(given).scan_languages
    assert languages == ("eng+xyz", str(library.folder))
    library.adding._languages = languages
    (finding,) = examine(library)
    assert "FINPOLICY_OCR_LANGUAGES" in finding.problem
    assert "xyz.traineddata" in finding.fix
