"""Conversations on the command line: begun by asking, listed, shown, exported, renamed, deleted and
brought back.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from chatbot import service
from chatbot.cli import main
from chatbot.store.lock import StoreLock
from tests.fakes import HashEmbedder
from tests.pdfs import make_pdf

# (exit code, output, errors) of a command.
Run = Callable[..., tuple[int, str, str]]
PAGES = [
    "Fiscal rules\nThe deficit ceiling is 3.0 per cent of output in every year.",
    "Debt\nThe debt anchor is 60 per cent of output, to be reached by 2030.",
]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.setenv("FINPOLICY_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(service, "make_embedder", lambda settings: HashEmbedder(dimension=256))

    def command(*arguments: str) -> tuple[int, str, str]:
        code = main(list(arguments))
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    assert command("add", str(make_pdf(tmp_path / "Rules.pdf", PAGES)))[0] == 0
    return command


def test_a_conversation_from_its_first_question_to_its_end(run: Run, tmp_path: Path) -> None:
    assert "None. Ask with --conversation" in run("conversations")[2]
    first = json.loads(run("ask", "What is the deficit ceiling?", "--conversation", "rules", "--json")[1])
    assert (first["conversation"], first["exchange"], first["compression"]) == ("rules", 1, None)
    second = json.loads(
        run("ask", "Let's go back to the deficit topic", "--conversation", "rules", "--json")[1]
    )
    assert second["exchange"] == 2 and second["search_query"] == "What is the deficit ceiling?"
    (line,) = [
        json.loads(text) for text in run("conversations", "--search", "CEILING", "--json")[1].splitlines()
    ]
    assert (line["conversation"], line["title"], line["exchanges"]) == (
        "rules",
        "What is the deficit ceiling?",
        2,
    )
    assert "3.0 per cent" in run("conversations", "rules")[1]
    assert "verified" in run("conversations", "rules", "--export", "markdown")[1]
    whole = json.loads(run("conversations", "rules", "--export", "json")[1])
    assert whole["exchanges"][0]["details"]["citations"][0]["page"] == 1
    assert (
        json.loads(run("conversations", "rules", "--rename", "The rules", "--json")[1])["title"]
        == "The rules"
    )
    code, out, _ = run("conversations", "rules", "--delete")
    assert code == 0 and "--restore -- rules" in out
    assert run("conversations", "--json")[1] == "" and "The rules" in run("conversations", "--deleted")[1]
    assert run("ask", "And the anchor?", "--conversation", "rules")[0] == 1
    for arguments in (["rules"], ["rules", "--export", "json"]):
        code, _, err = run("conversations", *arguments)
        assert code == 1 and "is deleted" in err and "--restore" in err
    assert run("conversations", "rules", "--restore")[0] == 0
    assert "The rules" in run("conversations")[1]


def test_what_cannot_be_done_is_said(run: Run, tmp_path: Path) -> None:
    assert run("conversations", "nothing")[0] == 1 and run("conversations", "\udcff")[0] == 1
    code, _, err = run("conversations", "--delete")
    assert code == 2 and "Which conversation?" in err
    lock = StoreLock(tmp_path / "home" / "chroma_db" / "store.lock")
    code, _, err = run("conversations")
    lock.close()
    assert code == 3 and "in use by process" in err


def test_a_long_conversation_says_that_it_was_shortened(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FINPOLICY_COMPRESSION_TOKENS", "100")
    monkeypatch.setenv("FINPOLICY_PROMPT_EXCHANGES", "1")
    for question in (
        "What is the deficit ceiling?",
        "What is the debt anchor?",
        "What is the deficit ceiling in every year?",
    ):
        run("ask", question, "--conversation", "long")
    line = json.loads(run("ask", "What is the debt anchor?", "--conversation", "long", "--json")[1])
    assert line["compression"]["original_tokens"] > line["compression"]["compressed_tokens"] > 0
    assert set(line["compression"]["kept_exchanges"]) <= {1, 2}
    assert (
        "Earlier exchanges were shortened for this answer: "
        in run("ask", "What is the debt anchor?", "--conversation", "long")[1]
    )
