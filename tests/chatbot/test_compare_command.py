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
CEILING = (
    "compare",
    "What is the deficit ceiling?",
    "--document",
    "Rules_2023.pdf",
    "--document",
    "Rules_2024.pdf",
)


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
        assert (
            command(
                "add",
                str(make_pdf(tmp_path / name, [f"The deficit ceiling is {ceiling} per cent of output."])),
            )[0]
            == 0
        )
    return command


def test_the_answers_stand_side_by_side_with_what_changed(run: Run) -> None:
    code, out, _ = run(*CEILING)
    assert code == 0
    assert out.splitlines()[0] == "Rules_2023.pdf: 3.0 per cent - page 1, verified, figure supported"
    assert (
        "    from Rules_2023.pdf: −0.5 percentage points: 2.5 − 3.0 = −0.5 percentage points"
        in out.splitlines()
    )


def test_as_json_lines_and_as_csv(run: Run) -> None:
    code, out, _ = run(*CEILING, "--json")
    lines = [json.loads(line) for line in out.splitlines()]
    assert code == 0 and [
        (line["document"], line["value"], line["page"], line["verified"]) for line in lines
    ] == [
        ("Rules_2023.pdf", 3, 1, "yes"),
        ("Rules_2024.pdf", 2.5, 1, "yes"),
    ]
    code, out, _ = run(*CEILING, "--csv", "--year", "2019")
    rows = list(csv.DictReader(out.removeprefix("\ufeff").splitlines()))
    assert (
        out.startswith("\ufeff")
        and [(row["year"], row["found"]) for row in rows] == [("2019", "not in this document")] * 2
    )


def test_what_is_not_all_read_is_said_once(run: Run, tmp_path: Path) -> None:
    library = Library(Settings(home=tmp_path / "home"), HashEmbedder(dimension=256))
    read_now(
        library,
        [Upload(make_pdf(tmp_path / "Rules_2025.pdf", ["The deficit ceiling is 2.0 per cent of output."]))],
    )
    library.close()
    code, out, said = run(
        "compare", *CEILING[1:4], "--document", "Rules_2025.pdf", "--year", "2024", "--year", "2025"
    )
    assert code == 0 and len(out) > 0
    assert said.count("Still being indexed, found by words alone so far: Rules_2025.pdf.") == 1


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ((*CEILING, "--json", "--csv"), 2, "two forms of one table"),
        ((*CEILING[:4],), 2, "nothing to compare"),
        ((*CEILING, "--year", "soon"), 2, "“soon” is no year"),
        (("compare", "What?", "--document", "Rules_2023.pdf", "--document", "gone.pdf"), 1, "gone.pdf"),
    ],
)
def test_what_cannot_be_compared_is_said_with_its_exit_code(
    run: Run, arguments: tuple[str, ...], code: int, said: str
) -> None:
    done, out, err = run(*arguments)
    assert (done, out) == (code, "") and said in err
