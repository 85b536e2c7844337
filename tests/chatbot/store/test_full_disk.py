"""A disk that is full to the last byte: what is there is read, an answer that cannot be kept says so, and
erasing a document makes room.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chatbot import service
from chatbot.asking.question import Ask
from chatbot.cli import main
from chatbot.records import Answer, Notice
from chatbot.service import Chatbot
from chatbot.settings import Settings
from chatbot.store.addition_queue import Additions
from chatbot.store.doctor import examine
from chatbot.store.library import Upload
from tests.disks import fill, small_disk
from tests.fakes import HashEmbedder
from tests.pdfs import make_pdf

FISCAL = [f"On page {number} the deficit ceiling is {number} per cent of output." for number in range(1, 41)]
DEBT = ["The debt anchor is sixty per cent of output.", "Debt service comes to 1,577 million crowns."]
PURGE = "remove NAME --purge"
Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "disk", 32) as folder:
        yield folder


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], disk: Path) -> Command:
    """The command line on that disk, with a cheap embedder: (exit code, standard output, standard error)."""
    monkeypatch.setattr(service, "make_embedder", lambda settings: HashEmbedder())
    monkeypatch.setenv("FINPOLICY_HOME", str(disk))

    def run(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        return code, *capsys.readouterr()

    return run


@pytest.mark.parametrize("reserved", [True, False], ids=["reserve", "no reserve"])
def test_a_full_disk_is_read_and_room_is_made_on_it(
    disk: Path, tmp_path: Path, command: Command, reserved: bool
) -> None:
    command("add", make_pdf(tmp_path / "Fiscal.pdf", FISCAL), make_pdf(tmp_path / "Debt.pdf", DEBT))
    command("ask", "What is the debt anchor?", "--conversation", "kept")
    if not reserved:  # a store of before, or another program took what was reserved
        (disk / "chroma_db" / "reserve").unlink()
    fill(disk)
    assert shutil.disk_usage(disk).free == 0
    assert json.loads(command("search", "debt anchor", "--json")[1].splitlines()[0])["document"] == "Debt.pdf"
    code, out, err = command("ask", "What is the debt anchor?", "--conversation", "kept", "--json")
    assert (code, "sixty per cent" in out) == (0, True)
    assert ("This exchange is not kept: The disk is full" in err) != reserved
    assert "kept" in command("conversations")[1]
    assert "sixty per cent" in command("conversations", "kept")[1]
    assert "Fiscal.pdf" in command("list")[1]
    code, out, _ = command("doctor", "--json")
    (finding,) = map(json.loads, out.splitlines())
    assert (code, finding["document"], "the disk is full" in finding["problem"], PURGE in finding["fix"]) == (
        1,
        None,
        True,
        True,
    )
    copies = sorted((disk / "documents").glob("*.pdf"), key=lambda path: path.stat().st_size)
    fill(disk)
    assert command("remove", "Fiscal.pdf", "--purge")[:2] == (0, "Erased.\n")
    assert not copies[-1].exists()
    assert shutil.disk_usage(disk).free > 0
    assert "Fiscal.pdf" not in command("list")[1]
    (disk / "ballast").unlink()
    assert command("doctor")[1].count("problem") == 1  # of a disk so small, that little is free
    assert command("add", tmp_path / "Fiscal.pdf")[0] == 0
    assert (disk / "chroma_db" / "reserve").stat().st_size == 4 * 2**20


def test_a_store_that_is_open_when_the_disk_becomes_full_goes_on(disk: Path, tmp_path: Path) -> None:
    with Chatbot(Settings(home=disk), embedder=HashEmbedder()) as chatbot:
        list(
            chatbot.add(
                [
                    Upload(make_pdf(tmp_path / "Fiscal.pdf", FISCAL)),
                    Upload(make_pdf(tmp_path / "Debt.pdf", DEBT)),
                ]
            )
        )
        additions = Additions(chatbot.library)
        fill(disk)
        (hit, *_) = chatbot.search("debt anchor")
        assert hit.document == "Debt.pdf"
        events = list(chatbot.ask(Ask("What is the debt anchor?", conversation="new", owner="me")))
        assert isinstance(events[-1], Answer) and "sixty per cent" in events[-1].text
        (told, *_) = [event for event in events if isinstance(event, Notice)]
        assert told.text.startswith("This exchange is not kept: The disk is full") and PURGE in told.hint
        image, marks = chatbot.page_image(hit.version, 1, "debt anchor is sixty per cent")
        assert image.startswith(b"\x89PNG") and marks
        (failed,) = chatbot.add([Upload(make_pdf(tmp_path / "New.pdf", ["A third document." * 9]))])
        assert failed.status == "failed" and PURGE in (failed.error or "")
        additions.erase("Fiscal.pdf")
        end = time.monotonic() + 20
        while additions.erasing() and time.monotonic() < end:
            time.sleep(0.05)
        additions.close()
        assert [row.name for row in chatbot.documents()] == ["Debt.pdf"]
        assert len(list((disk / "documents").glob("*.pdf"))) == 1
        (disk / "ballast").unlink()
        assert [finding.problem[:4] for finding in examine(chatbot.library)] == ["only"]
        list(chatbot.ask(Ask("What is the debt anchor?", conversation="new", owner="me")))
        assert [row.id for row in chatbot.conversations.listed("me")] == ["new"]


def test_a_document_larger_than_all_room_is_erased_and_the_file_shrinks(disk: Path, tmp_path: Path) -> None:
    page = "\n".join(
        f"Line {line} of the annex says that outlay number {line * 7919} is due." for line in range(60)
    )
    with Chatbot(Settings(home=disk), embedder=HashEmbedder(dimension=1024)) as chatbot:
        (added,) = chatbot.add(
            [Upload(make_pdf(tmp_path / "Large.pdf", [f"{number} {page}" for number in range(160)]))]
        )
        assert chatbot.library.catalog.bytes_of(added.version) > 3 * 2**20
    before = (disk / "chroma_db" / "catalog.sqlite3").stat().st_size
    fill(disk)
    with Chatbot(Settings(home=disk), embedder=HashEmbedder(dimension=1024)) as chatbot:
        chatbot.remove("Large.pdf", purge=True)
        assert chatbot.documents() == []
    assert (disk / "chroma_db" / "catalog.sqlite3").stat().st_size < before / 4
    assert shutil.disk_usage(disk).free + (disk / "chroma_db" / "reserve").stat().st_size > 5 * 2**20
