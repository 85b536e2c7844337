"""`ask --audit` and `verify` as commands: what they print, how they end, and that verifying waits for
nobody.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chatbot.store.lock import StoreLock
from tests.commands import run
from tests.pdfs import make_pdf

PAGE = "The deficit ceiling is three per cent of output.\nDebt service comes to 1,577 million crowns."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a document, a store and the audit file of an answer from it."""
    folder = tmp_path_factory.mktemp("command")
    run(folder / "home", "add", make_pdf(folder / "Rules.pdf", [PAGE]))
    done = run(folder / "home", "ask", "What does debt service come to?", "--audit", folder / "audit.html")
    assert done.returncode == 0, done.stderr
    assert "Audit file:" in done.stderr
    return folder


def test_a_file_is_verified_beside_an_open_chat(folder: Path) -> None:
    lock = StoreLock(folder / "home" / "chroma_db" / "store.lock")
    try:
        done = run(folder / "home", "verify", folder / "audit.html")
    finally:
        lock.close(settled=True)
    assert done.returncode == 0, done.stdout
    assert "figure 1,577 million crowns: supported" in done.stdout
    assert {line[:9] for line in done.stdout.splitlines()} == {"confirmed"}
    assert "audit.html: " in done.stderr


def test_elsewhere_it_is_verified_with_the_documents_alone(folder: Path, tmp_path: Path) -> None:
    done = run(tmp_path, "verify", folder / "audit.html", "--json")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 1
    assert {line["status"] for line in lines} == {"confirmed", "cannot be checked"}
    assert set(lines[0]) == {"file", "check", "status", "detail"}
    assert run(tmp_path, "verify", folder / "audit.html", "--documents", folder).returncode == 0
    assert not list(tmp_path.iterdir())


def test_the_worst_of_several_files_says_how_it_ends(folder: Path, tmp_path: Path) -> None:
    changed = tmp_path / "changed.html"
    changed.write_bytes((folder / "audit.html").read_bytes().replace(b"1,577", b"1,575", 1))
    done = run(folder / "home", "verify", folder / "audit.html", changed)
    assert done.returncode == 1
    assert "does not hold      visible part" in done.stdout
    assert "1,575" in done.stdout
    done = run(folder / "home", "verify", folder / "Rules.pdf", folder / "audit.html")
    assert done.returncode == 2
    assert "not an audit file" in done.stderr
    assert "confirmed" in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["verify"],
        ["verify", "{file}", "--documents", "{folder}/nowhere"],
        ["ask", "--batch", "--audit", "x.html"],
    ],
)
def test_wrong_usage(folder: Path, arguments: list[str]) -> None:
    given = [argument.format(file=folder / "audit.html", folder=folder) for argument in arguments]
    assert run(folder / "home", *given).returncode == 2


def test_a_file_that_cannot_be_written_is_named(folder: Path) -> None:
    done = run(
        folder / "home",
        "ask",
        "What does debt service come to?",
        "--audit",
        folder / "nowhere" / "audit.html",
    )
    assert done.returncode == 2
    assert "1,577" in done.stdout
    assert "cannot be written" in done.stderr
