"""The sheet of key figures on the command line: as text, as JSON lines, as files, and how a run ends."""

from __future__ import annotations

import csv
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from chatbot import service
from chatbot.cli import main
from tests.fakes import HashEmbedder
from tests.pdfs import draw_revenue, make_pdf, make_scan
from tests.statements import draw_accounts

# (exit code, output, errors) of a command.
Run = Callable[..., tuple[int, str, str]]
ACCOUNTS, BUDGET, WORDS, EMPTY = "Alder.pdf", "Budget.pdf", "Words.pdf", "Empty.pdf"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Commands over accounts, a budget, a document without tables and one without text."""
    monkeypatch.setenv("FINPOLICY_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(service, "make_embedder", lambda settings: HashEmbedder(dimension=256))

    def command(*arguments: str) -> tuple[int, str, str]:
        code = main(list(arguments))
        printed = capfdbinary.readouterr()
        return code, printed.out.decode("utf-8"), printed.err.decode("utf-8")

    paths = [
        draw_accounts(tmp_path / ACCOUNTS),
        draw_revenue(tmp_path / BUDGET),
        make_pdf(tmp_path / WORDS, ["The board met in June."]),
        make_scan(tmp_path / EMPTY, [""]),
    ]
    code, _, errors = command("add", *map(str, paths))
    assert code == 0, errors
    return command


def test_every_cell_with_its_page_and_row(run: Run) -> None:
    code, output, _ = run("key-figures", ACCOUNTS)
    assert code == 0
    lines = output.splitlines()
    assert f"Revenue, {ACCOUNTS}, 2023: 1,200 $ million - page 1, “Net sales”" in lines
    margin = (
        f"Net margin, {ACCOUNTS}, 2023: 7.5% (100 × 90 / 1,200 = 7.5%) - page 1, “Net income”; “Net sales”"
    )
    assert margin in lines


def test_all_documents_with_what_is_lacking(run: Run) -> None:
    code, output, _ = run("key-figures")
    assert code == 0
    assert f"Government revenue, {BUDGET}, 2024: 1,585 crowns" in output.replace("million crowns", "crowns")
    assert f"{WORDS}: no tables found." in output
    assert f"{EMPTY}: no text found." in output
    assert "Not found in these documents: " in output


def test_as_json_lines(run: Run) -> None:
    _, output, _ = run("key-figures", ACCOUNTS, "--json")
    lines = [json.loads(line) for line in output.splitlines()]
    sales = next(line for line in lines if line["measure"] == "Revenue" and line["period"] == "2023")
    assert sales["value"] == 1_200e6
    assert sales["page"] == 1
    assert sales["row"] == "Net sales"


def test_as_files(run: Run, tmp_path: Path) -> None:
    table, book = tmp_path / "figures.csv", tmp_path / "figures.xlsx"
    code, _, _ = run("key-figures", ACCOUNTS, "--csv", str(table), "--xlsx", str(book))
    assert code == 0
    rows = list(csv.DictReader(table.read_text("utf-8-sig").splitlines()))
    assert rows[0]["measure"] == "Revenue"
    assert "xl/workbook.xml" in zipfile.ZipFile(book).namelist()


def test_what_cannot_be_done_is_said_with_its_exit_code(run: Run, tmp_path: Path) -> None:
    code, _, errors = run("key-figures", "gone.pdf")
    assert code == 1
    assert "gone.pdf" in errors
    code, _, errors = run("key-figures", ACCOUNTS, "--csv", str(tmp_path / "no" / "folder.csv"))
    assert code == 1
    assert "cannot be written" in errors
