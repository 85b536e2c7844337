"""MCP clients of others against a real server: the conformance suite of the protocol and the Inspector.

npm fetches them, with the Node.js that they need; where it cannot, these tests are skipped.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser import Server, store_of_rules

pytestmark = pytest.mark.long

NODE = "node@22.23.3"
CONFORMANCE = "@modelcontextprotocol/conformance@0.1.16"
INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
# All scenarios that call no tool, prompt or resource of the suite's own example server.
SCENARIOS = (
    "server-initialize",
    "ping",
    "tools-list",
    "server-sse-multiple-streams",
    "resources-list",
    "dns-rebinding-protection",
)
QUESTION = "What is the deficit ceiling?"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = store_of_rules(tmp_path_factory.mktemp("mcp"), ["The deficit ceiling is 3.0 per cent of output."])
    with Server(home) as server:
        server.client().close()
        yield f"{server.url}/mcp"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where npm has put the programs."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("there is no npm")
    folder = tmp_path_factory.mktemp("node")
    command = [npm, "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder)]
    done = subprocess.run(
        [*command, NODE, CONFORMANCE, INSPECTOR], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(f"npm could not fetch them: {done.stderr[-300:]}")
    return folder


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Runs one of the programs with the Node.js beside it."""
    programs = folder / "node_modules" / ".bin"
    return subprocess.run(
        [programs / command[0], *command[1:]],
        cwd=folder,
        env={"PATH": f"{programs}:/usr/bin:/bin", "HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_protocol_is_kept(address: str, folder: Path, scenario: str) -> None:
    done = run(folder, "conformance", "server", "--url", address, "--scenario", scenario)
    assert done.returncode == 0, done.stdout[-2_000:] + done.stderr[-2_000:]


def inspected(address: str, folder: Path, *words: str) -> tuple[int, Any]:
    done = run(folder, "mcp-inspector", "--cli", address, "--transport", "http", "--method", *words)
    return done.returncode, json.loads(done.stdout or done.stderr)


def test_the_inspector_lists_asks_and_is_told_of_what_there_is_not(address: str, folder: Path) -> None:
    code, listed = inspected(address, folder, "tools/list")
    assert code == 0
    assert "ask" in [tool["name"] for tool in listed["tools"]]
    code, answer = inspected(
        address, folder, "tools/call", "--tool-name", "ask", "--tool-arg", f"question={QUESTION}"
    )
    assert code == 0
    assert "3.0 per cent" in answer["structuredContent"]["answer"]
    code, error = inspected(address, folder, "tools/call", "--tool-name", "forget")
    assert code != 0
    assert "forget" in error["error"]["message"]
