"""A disk that is full to the last byte: what is there is read, an answer that cannot be kept says so, and
erasing a document makes room.
"""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from chatbot.asking.question import Ask
from chatbot.records import Answer, Notice
from chatbot.service import Chatbot
from chatbot.settings import Settings
from chatbot.store.addition_queue import Additions
from chatbot.store.doctor import examine
from chatbot.store.library import Upload
from tests.chatbot.store.libraries import kept_pdfs
from tests.disks import fill, small_disk
from tests.fakes import HashEmbedder
from tests.pdfs import make_pdf

FISCAL = [f"On page {number} the deficit ceiling is {number} per cent of output." for number in range(1, 41)]
DEBT = ["The debt anchor is sixty per cent of output.", "Debt service comes to 1,577 million crowns."]
PURGE = "remove NAME --purge"
QUESTION = "What is the debt anchor?"
Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "disk", 32) as folder:
        yield folder


@pytest.fixture
def command(command: Command, disk: Path) -> Command:
    """The command line on that disk."""
    return partial(command, disk)


def documents(folder: Path) -> tuple[Path, Path]:
    fiscal = make_pdf(folder / "Fiscal.pdf", FISCAL)
    debt = make_pdf(folder / "Debt.pdf", DEBT)
    return fiscal, debt


def free(disk: Path) -> int:
    return shutil.disk_usage(disk).free


@pytest.mark.parametrize("reserved", [True, False], ids=["reserve", "no reserve"])
def test_a_full_disk_is_read_and_room_is_made_on_it(
    disk: Path, tmp_path: Path, command: Command, reserved: bool
) -> None:
    fiscal, debt = documents(tmp_path)
    reserve = disk / "chroma_db" / "reserve"

    def said(*arguments: object) -> str:
        _, out, _ = command(*arguments)
        return out

    command("add", fiscal, debt)
    command("ask", QUESTION, "--conversation", "kept")
    if not reserved:  # a store of before, or another program took what was reserved
        reserve.unlink()
    fill(disk)
    assert free(disk) == 0
    (first, *_) = said("search", "debt anchor", "--json").splitlines()
    assert json.loads(first)["document"] == "Debt.pdf"
    code, out, err = command("ask", QUESTION, "--conversation", "kept", "--json")
    assert code == 0
    assert "sixty per cent" in out
    unkept = "This exchange was not saved: The disk is full" in err
    assert unkept != reserved
    assert "kept" in said("conversations")
    assert "sixty per cent" in said("conversations", "kept")
    assert "Fiscal.pdf" in said("list")
    code, out, _ = command("doctor", "--json")
    (finding,) = map(json.loads, out.splitlines())
    assert code == 1
    assert finding["document"] is None
    assert "the disk is full" in finding["problem"]
    assert PURGE in finding["fix"]
    largest = max(kept_pdfs(disk), key=lambda path: path.stat().st_size)
    fill(disk)
    code, out, _ = command("remove", "Fiscal.pdf", "--purge")
    assert code == 0
    assert out == "Erased.\n"
    assert not largest.exists()
    assert free(disk) > 0
    assert "Fiscal.pdf" not in said("list")
    (disk / "ballast").unlink()
    assert said("doctor").count("problem") == 1  # of a disk so small, that little is free
    code, _, _ = command("add", fiscal)
    assert code == 0
    assert reserve.stat().st_size == 4 * 2**20


def test_a_store_that_is_open_when_the_disk_becomes_full_goes_on(disk: Path, tmp_path: Path) -> None:
    settings = Settings(home=disk)
    asked = Ask(QUESTION, conversation="new", owner="me")
    with Chatbot(settings, embedder=HashEmbedder()) as chatbot:
        uploads = [Upload(path) for path in documents(tmp_path)]
        list(chatbot.add(uploads))
        additions = Additions(chatbot.library)
        fill(disk)
        (hit, *_) = chatbot.search("debt anchor")
        assert hit.document == "Debt.pdf"
        events = list(chatbot.ask(asked))
        answer = events[-1]
        assert isinstance(answer, Answer)
        assert "sixty per cent" in answer.text
        (told, *_) = [event for event in events if isinstance(event, Notice)]
        assert told.text.startswith("This exchange was not saved: The disk is full")
        assert PURGE in told.hint
        image, marks = chatbot.page_image(hit.version, 1, "debt anchor is sixty per cent")
        assert image.startswith(b"\x89PNG")
        assert marks
        third = make_pdf(tmp_path / "New.pdf", ["A third document." * 9])
        (failed,) = chatbot.add([Upload(third)])
        assert failed.status == "failed"
        assert PURGE in (failed.error or "")
        additions.erase("Fiscal.pdf")
        end = time.monotonic() + 20
        while additions.erasing() and time.monotonic() < end:
            time.sleep(0.05)
        additions.close()
        (left,) = chatbot.documents()
        assert left.name == "Debt.pdf"
        assert len(kept_pdfs(disk)) == 1
        (disk / "ballast").unlink()
        (finding,) = examine(chatbot.library)
        assert re.match(r"only [\d.]+ MiB are free", finding.problem)
        list(chatbot.ask(asked))
        (kept,) = chatbot.conversations.listed("me")
        assert kept.id == "new"


@pytest.mark.long
def test_a_document_larger_than_all_room_is_erased_and_the_file_shrinks(disk: Path, tmp_path: Path) -> None:
    lines = [f"Line {line} of the annex says that outlay number {line * 7919} is due." for line in range(60)]
    page = "\n".join(lines)
    pages = [f"{number} {page}" for number in range(160)]
    path = make_pdf(tmp_path / "Large.pdf", pages)
    catalogue, reserve = disk / "chroma_db" / "catalog.sqlite3", disk / "chroma_db" / "reserve"
    settings, embedder = Settings(home=disk), HashEmbedder(dimension=1024)
    with Chatbot(settings, embedder=embedder) as chatbot:
        (added,) = chatbot.add([Upload(path)])
        assert chatbot.library.catalog.bytes_of(added.version) > 3 * 2**20
    before = catalogue.stat().st_size
    fill(disk)
    with Chatbot(settings, embedder=embedder) as chatbot:
        chatbot.remove("Large.pdf", purge=True)
        assert chatbot.documents() == []
    assert catalogue.stat().st_size < before / 4
    assert free(disk) + reserve.stat().st_size > 5 * 2**20
