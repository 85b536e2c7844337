"""Runs the examples of docs/python.md one after another, as a reader would in one session beside the sample
documents, and those that call a server against one.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.chatbot.api.conftest import serving
from tests.doc_blocks import blocks_of

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "python.md"
ADDRESS = "http://127.0.0.1:8501"
# Runs blocks in one namespace, and says what each has shown, as a line of JSON.
SESSION = """
import contextlib, io, json, sys
names = {"__name__": "__main__"}
for block in json.load(sys.stdin):
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        exec(compile(block, "block", "exec"), names)
    print(json.dumps(shown.getvalue()), flush=True)
"""


@pytest.fixture(scope="module")
def shown(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What each block shows, by its text."""
    folder = tmp_path_factory.mktemp("python-docs")
    shutil.copytree(samples, folder / "session")
    blocks = [block.text for block in blocks_of(PAGE) if block.info == "python"]
    with serving(folder) as api:
        done = subprocess.run(
            [sys.executable, "-c", SESSION],
            cwd=folder / "session",
            env={**os.environ, "PYTHONPATH": str(ROOT), "FINPOLICY_HOME": str(folder / "unused")},
            input=json.dumps([text.replace(ADDRESS, api.url) for text in blocks]),
            capture_output=True,
            text=True,
            timeout=230,
            check=False,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    assert not (folder / "unused").exists()
    return dict(zip(blocks, map(json.loads, done.stdout.splitlines()), strict=True))


def test_every_example_works_and_shows_something(shown: dict[str, str]) -> None:
    assert len(shown) > 15
    assert not [block for block, text in shown.items() if not text.strip()]


@pytest.mark.parametrize(
    ("part", "wanted"),
    [
        ('with FinPolicy("my-store")', "Deficit ceiling (of GDP): 3.0%"),
        ("in answer.numbers", "Total expenditure was 151,510 million (2025-26 budget)."),
        ("policy.stream(", "(a) real gross domestic product falls"),
        ("comparison.to_pandas()", "145,005 million"),
        ("debt.audit", "59.2%"),
        ('FinPolicy("http', "True"),
        ("except ProjectError", "NotFoundError There is no document named 'Missing.pdf'."),
        ("PolicyRetriever(", "Valmora_Fiscal_Policy_Statement_2025.pdf"),
        ("FinancialSituationMemory(", "Defensive positioning recommended"),
        ("load_jsonl(", "Positive Examples (reward=1):"),
    ],
)
def test_an_example_shows_what_is_right(shown: dict[str, str], part: str, wanted: str) -> None:
    (text,) = (text for block, text in shown.items() if part in block)
    assert wanted in text
