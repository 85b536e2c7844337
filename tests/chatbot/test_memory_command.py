"""The memories on the command line: listed, added, imported, searched, removed, and how they fare."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chatbot import service
from chatbot.cli import main
from tests.fakes import HashEmbedder

# (exit code, output, errors) of a command.
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.setenv("FINPOLICY_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(service, "make_embedder", lambda settings: HashEmbedder(dimension=256))

    def command(*arguments: str) -> tuple[int, str, str]:
        code = main(["memory", *arguments])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return command


def lines(told: tuple[int, str, str]) -> list[dict[str, Any]]:
    assert told[0] == 0, told
    return [json.loads(line) for line in told[1].splitlines()]


def test_rated_answers(run: Run, tmp_path: Path) -> None:
    assert lines(run("cases", "list", "--json")) == []
    run("cases", "add", "What is the deficit ceiling?", "3 per cent.")
    run("cases", "add", "Who audits?", "Nobody.", "--not-helpful")
    file = tmp_path / "cases.jsonl"
    file.write_text('{"case": "What is debt?", "plan": "60 per cent.", "case_label": "positive"}\nbroken\n')
    code, out, err = run("cases", "import", str(file), "--json")
    assert code == 1 and json.loads(out)["added"] == 1 and err.startswith("Line 2: ")
    found = lines(run("cases", "list", "--json"))
    assert sorted((one["question"], one["reward"]) for one in found) == [
        ("What is debt?", 1),
        ("What is the deficit ceiling?", 1),
        ("Who audits?", 0),
    ]
    best = lines(run("cases", "search", "what is the deficit ceiling", "--json"))[0]
    assert best["rank"] == 1 and best["plan"] == "3 per cent."
    assert len(run("cases", "export")[1].splitlines()) == 3
    assert run("cases", "remove", best["key"])[0] == 0 and run("cases", "remove", best["key"])[0] == 1
    assert lines(run("cases", "health", "--json"))[0]["cases"] == 2


def test_situations(run: Run) -> None:
    run("situations", "add", "inflation rises above target", "shorten duration", "--scope", "bonds")
    assert lines(run("situations", "search", "inflation rises", "--json")) == []
    (found,) = lines(run("situations", "search", "inflation rises above target", "--scope", "Bonds", "--json"))
    assert found["recommendation"] == "shorten duration" and found["similarity_score"] == pytest.approx(1, abs=0.01)
    (kept,) = lines(run("situations", "list", "--json"))
    code, _, err = run("situations", "remove", kept["key"])
    assert code == 0, err
    assert lines(run("situations", "health", "--json"))[0]["situations"] == 0


def test_signals_are_off_until_something_is_imported(run: Run) -> None:
    health = lines(run("signals", "health", "--json"))[0]
    assert health["state"] == "off" and "No news has been imported" in health["message"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["cases", "reembed"], "has no 'reembed'"),
        (["cases", "add", "one text"], "takes TEXT TEXT"),
        (["situations", "list", "more"], "takes nothing more"),
        (["signals", "remove", "x"], "is no event"),
    ],
)
def test_wrong_usage_is_said(run: Run, arguments: list[str], said: str) -> None:
    code, _, err = run(*arguments)
    assert code == 2 and said in err
