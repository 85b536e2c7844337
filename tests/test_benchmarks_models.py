"""What the benchmark of models counts of their answers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from benchmarks.models import asked, report
from benchmarks.questions import Question
from chatbot.service import Chatbot
from chatbot.settings import Settings
from chatbot.store.library import Upload
from tests.fakes import HashEmbedder, ScriptedModel
from tests.pdfs import make_pdf

ROOT = Path(__file__).resolve().parent.parent
QUESTION = Question(
    "1", "What is the deficit ceiling?", "Rules.pdf", pages=frozenset({1}), values=("3 per cent",)
)


def test_keys_and_values_are_counted(tmp_path: Path) -> None:
    model = ScriptedModel(
        ["The deficit ceiling is 3 per cent of output [1]. The reserve fund is held abroad."],
        ["NOT IN THESE DOCUMENTS."],
    )
    with Chatbot(
        Settings(home=tmp_path / "home"), embedder=HashEmbedder(dimension=64), model=model
    ) as chatbot:
        list(
            chatbot.add(
                [Upload(make_pdf(tmp_path / "Rules.pdf", ["The deficit ceiling is 3 per cent of output."]))]
            )
        )
        rows = [asked(chatbot, QUESTION), asked(chatbot, QUESTION)]
    assert (
        [row["right"] for row in rows] == [True, False]
        and rows[0]["gold"]
        and rows[0]["wrote"].endswith("abroad.")
    )
    assert rows[0]["statements"] == {"cited": 1, "not_checked": 1}
    table = " ".join(report(rows).split())
    assert (
        "| statements with a key of its own | 1 | 0.50 of 2 |" in table
        and "| right values | 1 | 0.50 of 2 |" in table
    )


def test_a_command_with_the_small_model_gets_its_key_and_is_interrupted_without_an_error() -> None:
    said = "import os, time; print(os.environ['OPENAI_API_KEY'], flush=True); time.sleep(60)"
    command = [sys.executable, "benchmarks/small_model.py", "--", sys.executable, "-c", said]
    with subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout
        served, key, given = (process.stdout.readline().strip() for _ in range(3))
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(30) == 0
    assert served.endswith("/v1. The chat uses it.")
    assert key.endswith(given) and given
