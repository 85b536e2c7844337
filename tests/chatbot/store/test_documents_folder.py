"""PDFs copied into the folder of documents by hand: each is added once, at the start or by `add`; what was
removed or failed stays away, and is named.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from chatbot.app.app_context import pick_up
from chatbot.cli import main
from chatbot.service import Chatbot
from chatbot.settings import Settings
from chatbot.store.addition_queue import Additions
from chatbot.store.documents_folder import unadded_files
from tests.disks import small_disk
from tests.fakes import HashEmbedder
from tests.pdfs import lock_pdf, make_pdf

RULE = ["The deficit ceiling is three per cent of output."]
OTHER = ["The debt anchor is sixty per cent of output."]
Command = Callable[..., tuple[int, list[dict[str, object]]]]


def place(path: Path, pages: list[str]) -> Path:
    """A PDF that was copied there a while ago."""
    path.parent.mkdir(parents=True, exist_ok=True)
    make_pdf(path, pages)
    return aged(path)


def aged(path: Path) -> Path:
    before = time.time() - 60
    os.utime(path, (before, before))
    return path


@pytest.fixture
def folder(home: Path) -> Path:
    return home / "documents"


@pytest.fixture
def command(command: Callable[..., tuple[int, str, str]], folder: Path) -> Command:
    """The command line with `--json` in that home: (exit code, lines)."""

    def run(*arguments: object) -> tuple[int, list[dict[str, object]]]:
        code, out, _ = command(folder.parent, *arguments, "--json")
        return code, [json.loads(line) for line in out.splitlines()]

    return run


def start(folder: Path) -> Sequence[tuple[str, str]]:
    """As the server starts: (name, phase) of what was queued, when all is done."""
    settings = Settings(home=folder.parent)
    with Chatbot(settings, embedder=HashEmbedder()) as chatbot:
        additions = Additions(chatbot.library)
        pick_up(chatbot.library, additions)
        end = time.monotonic() + 30
        while any(job.busy for job in additions.jobs()) and time.monotonic() < end:
            time.sleep(0.05)
        jobs = [(job.name, job.phase) for job in additions.jobs()]
        additions.close()
    return jobs


def unread(command: Command) -> list[dict[str, object]]:
    """What doctor says of the folder."""
    _, lines = command("doctor")
    return [line for line in lines if "copied there" in str(line["problem"])]


def added(command: Command, *arguments: object) -> list[tuple[object, object]]:
    """What became of each document when that was added: (document, status)."""
    _, lines = command("add", *arguments)
    return [(line["document"], line["status"]) for line in lines]


@pytest.mark.parametrize("by", ["add", "start"])
def test_what_is_copied_there_is_named_and_added_once(folder: Path, command: Command, by: str) -> None:
    place(folder / "Rule.pdf", RULE)
    place(folder / "2024" / "Debt.PDF", OTHER)
    place(folder / ".Hidden.pdf", ["Hidden."])
    place(folder / ".partial" / "Hidden too.pdf", ["Hidden too."])
    rule, debt = unread(command)
    assert rule["document"] == "Rule.pdf"
    assert debt["document"] == "Debt.PDF"
    for line in (rule, debt):
        assert line["fix"] == "Run `python -m chatbot add`, or start the server."
    if by == "add":
        code, lines = command("add")
        assert code == 0
        statuses = [(line["document"], line["status"]) for line in lines]
        assert statuses == [("Rule.pdf", "added"), ("Debt.PDF", "added")]
    else:
        assert sorted(start(folder)) == [("Debt.PDF", "done"), ("Rule.pdf", "done")]
    assert unread(command) == []
    assert command("add") == (0, [])
    assert start(folder) == []
    _, lines = command("list")
    listed = [str(line["document"]) for line in lines]
    assert sorted(listed) == ["Debt.PDF", "Rule.pdf"]


def test_erasing_says_that_what_was_copied_there_stays(
    folder: Path, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    path = place(folder / "Rule.pdf", RULE)
    command("add")
    assert main(["remove", "Rule.pdf", "--purge"]) == 0
    assert path.exists()
    assert str(path) in capsys.readouterr().err


@pytest.mark.parametrize("purge", [[], ["--purge"]], ids=["hidden", "erased"])
@pytest.mark.parametrize("by_path", [True, False], ids=["added by its path", "picked up"])
def test_what_was_removed_does_not_come_back_by_itself(
    folder: Path, command: Command, purge: list[str], by_path: bool
) -> None:
    path = place(folder / "samples" / "Rule.pdf", RULE)
    command("add", *([path] if by_path else []))
    code, _ = command("remove", "Rule.pdf", *purge)
    assert code == 0
    assert start(folder) == []
    assert command("add") == (0, [])
    assert unread(command) == []
    assert added(command, path) == [("Rule.pdf", "added")]


def test_what_cannot_be_read_is_tried_again_when_it_changed(folder: Path, command: Command) -> None:
    path = place(folder / "Broken.pdf", RULE)
    whole = path.read_bytes()
    path.write_bytes(b"%PDF-1.7\nnothing else")
    aged(path)
    assert start(folder) == [("Broken.pdf", "failed")]
    assert start(folder) == []
    assert command("add") == (0, [])
    (line,) = unread(command)
    assert line["document"] == "Broken.pdf"
    assert "damaged" in str(line["problem"])
    assert "Replace it with a readable file" in str(line["fix"])
    path.write_bytes(whole)
    aged(path)
    assert start(folder) == [("Broken.pdf", "done")]
    assert unread(command) == []


def test_a_protected_file_is_added_with_its_password(folder: Path, tmp_path: Path, command: Command) -> None:
    locked = place(folder / "Locked.pdf", RULE)
    lock_pdf(locked, "sesame")
    aged(locked)
    code, _ = command("add")
    assert code == 1
    (line,) = unread(command)
    assert "password" in str(line["problem"])
    passwords = tmp_path / "passwords.tsv"
    passwords.write_text("Locked.pdf\tsesame\n")
    assert added(command, "--passwords", passwords) == [("Locked.pdf", "added")]
    assert unread(command) == []


def test_files_of_one_name_in_two_folders_are_two_documents_and_a_changed_file_is_a_new_version(
    folder: Path, command: Command
) -> None:
    place(folder / "2024" / "Report.pdf", RULE)
    place(folder / "2025" / "Report.pdf", OTHER)
    place(folder / "copy" / "Report.pdf", RULE)
    assert added(command) == [("Report.pdf", "added"), ("Report (2).pdf", "added")]
    place(folder / "2026" / "Report.pdf", ["A third one."])
    assert start(folder) == [("Report (3).pdf", "done")]
    (folder / "copy" / "Report.pdf").unlink()
    place(folder / "2024" / "Report.pdf", ["The ceiling was changed."])
    assert added(command) == [("Report.pdf", "replaced")]


def test_links_that_lead_out_of_the_folder_are_not_followed(folder: Path, tmp_path: Path) -> None:
    outside = place(tmp_path / "outside" / "Secret.pdf", RULE)
    inside = place(folder / "Rule.pdf", OTHER)
    (folder / "Link.pdf").symlink_to(outside)
    (folder / "linked").symlink_to(outside.parent)
    (folder / "Gone.pdf").symlink_to(tmp_path / "nowhere.pdf")
    os.mkfifo(folder / "Pipe.pdf")
    assert list(unadded_files(folder)) == [inside]


def test_a_file_that_is_still_being_copied_is_waited_for(folder: Path, tmp_path: Path) -> None:
    path = make_pdf(tmp_path / "Rule.pdf", RULE)
    whole = path.read_bytes()
    step = len(whole) // 8
    folder.mkdir(parents=True)

    def copy() -> None:
        with (folder / "Rule.pdf").open("wb", 0) as file:
            for at in range(0, len(whole), step):
                file.write(whole[at : at + step])
                time.sleep(0.3)

    copying = threading.Thread(target=copy)
    copying.start()
    time.sleep(0.5)
    assert start(folder) == [("Rule.pdf", "done")]
    copying.join()


def test_what_a_full_disk_keeps_out_is_tried_at_the_next_start(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 40) as disk:
        large = place(disk / "documents" / "Large.pdf", RULE)
        with large.open("ab") as file:
            file.write(b"%" + bytes(11 * 2**20))
        aged(large)
        others = disk / "others"
        others.write_bytes(bytes(14 * 2**20))
        assert start(large.parent) == [("Large.pdf", "failed")]
        others.unlink()
        assert start(large.parent) == [("Large.pdf", "done")]


def test_one_of_a_long_name_that_is_too_large_keeps_no_other_out(
    folder: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FINPOLICY_MAX_UPLOAD_MB", "1")
    huge = folder / f"Report-on-{'the-fiscal-position-' * 4}.pdf"
    place(folder / "Rule.pdf", RULE)
    with huge.open("wb") as file:
        file.truncate(50 * 2**30)  # takes no room on the disk, and minutes to read
    aged(huge)
    code, lines = command("add")
    assert code == 1
    statuses = {line["document"]: line["status"] for line in lines}
    assert len(lines) == 2
    assert statuses == {huge.name: "failed", "Rule.pdf": "added"}
    (line,) = unread(command)
    assert line["document"] == huge.name
    assert "1 MiB" in str(line["problem"])
    assert start(folder) == []
