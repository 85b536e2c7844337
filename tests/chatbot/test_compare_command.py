"""One question over several documents and years on the command line: as text, as JSON lines and as CSV,
and how a run ends.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from chatbot import service
from chatbot.cli import main
from chatbot.settings import Settings
from chatbot.store.library import Library, Upload
from tests.fakes import HashEmbedder
from tests.pdfs import make_pdf
from tests.stores import read_now

# (exit code, output, errors) of a command.
Run = Callable[..., tuple[int, str, str]]
QUESTION = "What is the deficit ceiling?"
EDITIONS = ("--document", "Rules_2023.pdf", "--document", "Rules_2024.pdf")
CEILING = ("compare", QUESTION, *EDITIONS)


def edition(folder: Path, name: str, ceiling: str) -> Path:
    return make_pdf(folder / name, [f"The deficit ceiling is {ceiling} per cent of output."])


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Commands over two editions of one policy."""
    monkeypatch.setenv("FINPOLICY_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(service, "make_embedder", lambda settings: HashEmbedder(dimension=256))

    def command(*arguments: str) -> tuple[int, str, str]:
        code = main(list(arguments))
        printed = capfdbinary.readouterr()
        return code, printed.out.decode("utf-8"), printed.err.decode("utf-8")

    for name, ceiling in (("Rules_2023.pdf", "3.0"), ("Rules_2024.pdf", "2.5")):
        path = edition(tmp_path, name, ceiling)
        code, _, _ = command("add", str(path))
        assert code == 0
    return command


def test_the_answers_stand_side_by_side_with_what_changed(run: Run) -> None:
    code, output, _ = run(*CEILING)
    assert code == 0
    first, *others = output.splitlines()
    assert first == "Rules_2023.pdf: 3.0 per cent - page 1, verified, figure supported"
    change = "    from Rules_2023.pdf: −0.5 percentage points: 2.5 − 3.0 = −0.5 percentage points"
    assert change in others


def test_as_json_lines(run: Run) -> None:
    code, output, _ = run(*CEILING, "--json")
    assert code == 0
    before, after = [json.loads(line) for line in output.splitlines()]
    assert before["document"] == "Rules_2023.pdf"
    assert before["value"] == 3
    assert after["document"] == "Rules_2024.pdf"
    assert after["value"] == 2.5
    for line in (before, after):
        assert line["page"] == 1
        assert line["verified"] == "yes"


def test_as_csv(run: Run) -> None:
    _, output, _ = run(*CEILING, "--csv", "--year", "2019")
    assert output.startswith("\ufeff")
    rows = list(csv.DictReader(output.removeprefix("\ufeff").splitlines()))
    assert len(rows) == 2
    for row in rows:
        assert row["year"] == "2019"
        assert row["found"] == "not in this document"


def test_what_is_not_all_read_is_said_once(run: Run, tmp_path: Path) -> None:
    library = Library(Settings(home=tmp_path / "home"), HashEmbedder(dimension=256))
    read_now(library, [Upload(edition(tmp_path, "Rules_2025.pdf", "2.0"))])
    library.close()
    documents = ("--document", "Rules_2023.pdf", "--document", "Rules_2025.pdf")
    code, output, told = run("compare", QUESTION, *documents, "--year", "2024", "--year", "2025")
    assert code == 0
    assert output
    assert told.count("Still being indexed, so searched by words only: Rules_2025.pdf.") == 1


GONE = ("compare", "What?", "--document", "Rules_2023.pdf", "--document", "gone.pdf")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ((*CEILING, "--json", "--csv"), 2, "cannot be used together"),
        (("compare", QUESTION, "--document", "Rules_2023.pdf"), 2, "nothing to compare"),
        ((*CEILING, "--year", "soon"), 2, "“soon” is not a year"),
        (GONE, 1, "gone.pdf"),
    ],
)
def test_what_cannot_be_compared_is_said_with_its_exit_code(
    run: Run, arguments: tuple[str, ...], code: int, said: str
) -> None:
    done, output, errors = run(*arguments)
    assert done == code
    assert output == ""
    assert said in errors
