"""Runs the examples of docs/api.md as a reader would, against a real server over the sample documents, and
holds the answers to all questions of the documentation to what the documents say.

Blocks of `sh` are commands with curl, blocks of `python` are scripts; a block that ends in an error, or whose
reply is a problem, is wrong. Other blocks show settings of other programs, and are not run.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from chatbot.api.application import build_api
from chatbot.api.host import Host
from chatbot.settings import Settings
from tests.browser import Server, add
from tests.doc_blocks import Block, blocks_of

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "api.md"
ADDRESS = "http://127.0.0.1:8501"
BLOCKS = [block for block in blocks_of(PAGE) if block.info in {"sh", "python"}]


# How an example asks: on the command line, over HTTP and in Python.
ASKED = re.compile(
    r"""(?:\bask\ |"question":\s|question=|"role":\ "user",\ "content":\ |\binvoke\()"?([A-Z][^"]*\?)""",
    re.VERBOSE,
)
CONDITIONS = (
    "(a) real gross domestic product falls by 2.0 per cent or more in a year",
    "(b) a natural disaster causes costs to the budget of more than 1.5 per cent of gross domestic product",
    "(c) Parliament has declared a state of emergency for reasons of national security or public health",
)
# What an answer must begin with, or have in its first paragraph, over all samples; () for a refusal.
RIGHT = {
    "What is the deficit ceiling?": ("Deficit ceiling (of GDP): 3.0%",),
    "By when must the debt anchor be met?": ("The anchor must be met at the latest on 31 March 2030.",),
    "Under what conditions may the rules be suspended?": CONDITIONS,
    "What is public debt at the end of 2026?": ("Public debt, end of year was 61.2% (2026 budget).",),
    "And in 2028?": ("Public debt, end of year was 59.2% (2028 projection).",),
    "Who publishes the assessment of compliance?": ("The Fiscal Council publishes its assessment",),
    "What is total expenditure?": ("Total expenditure was 151,510 million (2025-26 budget).",),
    "What was the inflation rate in Ruritania?": (),
}
# It needs a server of tools.
ELSEWHERE = {"What is the deficit ceiling, and what is today's rate of the ringgit?"}


def test_the_answers_to_all_questions_of_the_documentation_are_right(server: Server) -> None:
    asked = {
        question
        for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md")))
        for block in blocks_of(path)
        if "finpolicy compress" not in block.text and path.name != "python.md"  # run by its own test
        for question in ASKED.findall(block.text)
    }
    assert asked - ELSEWHERE == RIGHT.keys()
    with server.client() as client:
        for question, parts in RIGHT.items():
            given = {"question": question, "model": "none", "conversation": "docs"}
            answer = client.post("/api/v1/ask", json=given).raise_for_status().json()
            assert answer["answered"] == bool(parts), question
            assert all(part in answer["answer"] for part in parts), f"{question}\n{answer['answer']}"
            assert all(citation["verified"] for citation in answer["citations"]), question


def test_every_address_is_on_the_page() -> None:
    host = Host(lambda: None, lambda: False, lambda _: "", lambda _: "")
    text = PAGE.read_text(encoding="utf-8")
    missing = []
    for path in build_api(host, Settings()).openapi()["paths"]:
        parts = re.split(r"\{\w+\}", path)
        pattern = r"[^/\s`?]+".join(map(re.escape, parts))
        if not re.search(rf"{pattern}/?(?=[\s`?\"])", text):
            missing.append(path)
    assert not missing


@pytest.fixture(scope="module")
def server(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    home = tmp_path_factory.mktemp("api-docs") / "home"
    add(home, sorted(samples.glob("*.pdf")))
    with Server(home) as running:
        running.client().close()
        yield running


def command_of(block: Block, text: str) -> list[str]:
    if block.info == "python":
        return [sys.executable, "-c", text]
    return ["bash", "-euo", "pipefail", "-c", text]


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl to run the examples with")
@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"line {block.line}")
def test_an_example_works_as_it_stands(block: Block, server: Server, samples: Path) -> None:
    assert ADDRESS in block.text
    text = block.text.replace(ADDRESS, server.url)
    done = subprocess.run(
        command_of(block, text),
        cwd=samples,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip(), "it shows nothing"
    assert "request_id" not in done.stdout, done.stdout
