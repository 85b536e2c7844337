"""Conversations on the command line: begun by asking, listed, shown, exported, renamed, deleted and
brought back.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from chatbot import service
from chatbot.cli import main
from chatbot.store.lock import StoreLock
from tests.case_rows import case_lines
from tests.fakes import HashEmbedder
from tests.pdfs import make_pdf

# (exit code, output, errors) of a command.
Done: TypeAlias = tuple[int, str, str]
Run = Callable[..., Done]
PAGES = [
    "Fiscal rules\nThe deficit ceiling is 3.0 per cent of output in every year.",
    "Debt\nThe debt anchor is 60 per cent of output, to be reached by 2030.",
]


def code_of(done: Done) -> int:
    code, _, _ = done
    return code


def output_of(done: Done) -> str:
    _, output, _ = done
    return output


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.setenv("FINPOLICY_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(service, "make_embedder", lambda settings: HashEmbedder(dimension=256))

    def command(*arguments: str) -> Done:
        code = main(list(arguments))
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    path = make_pdf(tmp_path / "Rules.pdf", PAGES)
    assert code_of(command("add", str(path))) == 0
    return command


def test_a_conversation_from_its_first_question_to_its_end(run: Run, tmp_path: Path) -> None:
    def talk(question: str) -> dict[str, Any]:
        answered: dict[str, Any] = json.loads(
            output_of(run("ask", question, "--conversation", "rules", "--json"))
        )
        return answered

    _, _, none = run("conversations")
    assert "No conversations yet. Start one with: ask --conversation" in none
    first = talk("What is the deficit ceiling?")
    assert first["conversation"] == "rules"
    assert first["exchange"] == 1
    assert first["compression"] is None
    second = talk("Let's go back to the deficit topic")
    assert second["exchange"] == 2
    assert second["search_query"] == "What is the deficit ceiling?"
    (text,) = output_of(run("conversations", "--search", "CEILING", "--json")).splitlines()
    line = json.loads(text)
    assert line["conversation"] == "rules"
    assert line["title"] == "What is the deficit ceiling?"
    assert line["exchanges"] == 2
    assert "3.0 per cent" in output_of(run("conversations", "rules"))
    assert "located on the page" in output_of(run("conversations", "rules", "--export", "markdown"))
    whole = json.loads(output_of(run("conversations", "rules", "--export", "json")))
    assert whole["exchanges"][0]["details"]["citations"][0]["page"] == 1
    renamed = output_of(run("conversations", "rules", "--rename", "The rules", "--json"))
    assert json.loads(renamed)["title"] == "The rules"
    code, output, _ = run("conversations", "rules", "--delete")
    assert code == 0
    assert "--restore -- rules" in output
    assert output_of(run("conversations", "--json")) == ""
    assert "The rules" in output_of(run("conversations", "--deleted"))
    assert code_of(run("ask", "And the anchor?", "--conversation", "rules")) == 1
    for arguments in (["rules"], ["rules", "--export", "json"]):
        code, _, errors = run("conversations", *arguments)
        assert code == 1
        assert "is deleted" in errors
        assert "--restore" in errors
    assert code_of(run("conversations", "rules", "--restore")) == 0
    assert "The rules" in output_of(run("conversations"))


def test_what_cannot_be_done_is_said(run: Run, tmp_path: Path) -> None:
    assert code_of(run("conversations", "nothing")) == 1
    assert code_of(run("conversations", "\udcff")) == 1
    code, _, errors = run("conversations", "--delete")
    assert code == 2
    assert "No conversation was named." in errors
    lock = StoreLock(tmp_path / "home" / "chroma_db" / "store.lock")
    code, _, errors = run("conversations")
    lock.close()
    assert code == 3
    assert "in use by process" in errors


LONG = """
What is the deficit ceiling?
What is the debt anchor?
What is the deficit ceiling in every year?
"""


def test_a_long_conversation_says_that_it_was_shortened(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FINPOLICY_COMPRESSION", "1")
    monkeypatch.setenv("FINPOLICY_COMPRESSION_TOKENS", "100")
    monkeypatch.setenv("FINPOLICY_PROMPT_EXCHANGES", "1")
    for question in case_lines(LONG):
        run("ask", question, "--conversation", "long")
    last = ("ask", "What is the debt anchor?", "--conversation", "long")
    compression = json.loads(output_of(run(*last, "--json")))["compression"]
    assert compression["original_tokens"] > compression["compressed_tokens"] > 0
    assert set(compression["kept_exchanges"]) <= {1, 2, 3}
    assert "Earlier exchanges were shortened for this answer: " in output_of(run(*last))
