"""Reading processes wait for the next page of their file, a few and for a while; none outlives a failure,
a password or the closing.
"""

from __future__ import annotations

from pathlib import Path

import pypdf
import pytest

from chatbot.store.reader_pool import Readers
from ingestion.errors import DocumentError
from tests.pdfs import make_pdf


def is_alive(process: int) -> bool:
    return Path("/proc", str(process)).exists()


def process_of(readers: Readers, path: Path) -> int:
    with readers.reading(path) as reader:
        assert reader.png(1).startswith(b"\x89PNG")
        return reader._process.pid


def test_a_process_serves_the_next_page_of_its_file(tmp_path: Path) -> None:
    path, readers = make_pdf(tmp_path / "a.pdf", ["one", "two"]), Readers()
    first = process_of(readers, path)
    assert process_of(readers, path) == first
    readers.close()
    assert not is_alive(first)
    assert not is_alive(process_of(readers, path))


def test_two_at_once_have_a_process_each_and_one_waits(tmp_path: Path) -> None:
    path, readers = make_pdf(tmp_path / "a.pdf", ["one"]), Readers()
    with readers.reading(path) as first, readers.reading(path) as second:
        processes = {first._process.pid, second._process.pid}
    assert len(processes) == 2
    assert sum(map(is_alive, processes)) == 1
    readers.end_waiting()
    assert not any(map(is_alive, processes))


def test_what_failed_or_had_a_password_does_not_wait(tmp_path: Path) -> None:
    path, readers = make_pdf(tmp_path / "a.pdf", ["one"]), Readers()
    with pytest.raises(DocumentError), readers.reading(path) as failed:
        failed.png(7)
    with readers.reading(path, "secret") as protected:
        pass
    assert not is_alive(failed._process.pid)
    assert not is_alive(protected._process.pid)


def test_bookmarks_are_read_and_only_to_pages_that_are_there(tmp_path: Path) -> None:
    path, readers = make_pdf(tmp_path / "a.pdf", ["one", "two"]), Readers()
    writer = pypdf.PdfWriter(clone_from=path)
    chapter = writer.add_outline_item(title="Chapter\u202e  one", page_number=0)
    writer.add_outline_item(title="Debt", page_number=1, parent=chapter)
    writer.add_outline_item(title="No page", page_number=None)
    for _ in range(600):
        writer.add_outline_item(title="Many", page_number=1)
    writer.write(path)
    with readers.reading(path) as reader:
        found = reader.outline()
    readers.close()
    assert found[1:3] == [("Debt", 2, 1), ("Many", 2, 0)]
    assert found[0][1:] == (1, 0) and len(found) < 501
