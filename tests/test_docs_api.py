"""Runs the examples of docs/api.md as a reader would, against a real server over the sample documents.

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

PAGE = Path(__file__).resolve().parent.parent / "docs" / "api.md"
ADDRESS = "http://127.0.0.1:8501"
BLOCKS = [block for block in blocks_of(PAGE) if block.info in {"sh", "python"}]


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
        env={**os.environ, "PYTHONPATH": str(PAGE.parent.parent)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip(), "it shows nothing"
    assert "request_id" not in done.stdout, done.stdout
