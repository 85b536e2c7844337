"""Programs of others against a real server: the conformance suite of MCP, its Inspector and TypeScript SDK,
OpenAI's client for Node.js, LlamaIndex, LiteLLM, and Schemathesis, which tries what /api/openapi.json allows.

npm and uv fetch them, with the Node.js that they need; where they cannot, these tests are skipped.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.browser import Server, store_of_rules
from tests.commands import run as command

pytestmark = pytest.mark.long

NODE = "node@22.23.3"
CONFORMANCE = "@modelcontextprotocol/conformance@0.1.16"
INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
MCP_SDK, OPENAI = "@modelcontextprotocol/sdk@1.32.2", "openai@7.59.0"
SCHEMATHESIS = "schemathesis==4.32.5"
PACKAGES = (
    "litellm==1.110.2",
    "llama-index-core==0.14.25",
    "llama-index-llms-openai-like==0.8.1",
    "llama-index-embeddings-openai-like==0.4.0",
)
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
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store_of_rules(
        tmp_path_factory.mktemp("store"), ["The deficit ceiling is 3.0 per cent of output."]
    )


@pytest.fixture(scope="module")
def address(home: Path) -> Iterator[str]:
    with Server(home, {"FINPOLICY_API_RATE": "0"}) as server:
        server.client().close()
        yield server.url


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where npm has put the programs."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("there is no npm")
    folder = tmp_path_factory.mktemp("node")
    install = [npm, "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder)]
    done = subprocess.run(
        [*install, NODE, CONFORMANCE, INSPECTOR, MCP_SDK, OPENAI], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(f"npm could not fetch them: {done.stderr[-300:]}")
    return folder


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs one of the programs with the Node.js beside it."""
    programs = folder / "node_modules" / ".bin"
    return subprocess.run(
        [programs / words[0], *words[1:]],
        cwd=folder,
        env={"PATH": f"{programs}:/usr/bin:/bin", "HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_protocol_is_kept(address: str, folder: Path, scenario: str) -> None:
    done = run(folder, "conformance", "server", "--url", f"{address}/mcp", "--scenario", scenario)
    assert done.returncode == 0, done.stdout[-2_000:] + done.stderr[-2_000:]


def inspected(address: str, folder: Path, *words: str) -> tuple[int, Any]:
    done = run(folder, "mcp-inspector", "--cli", f"{address}/mcp", "--transport", "http", "--method", *words)
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


MCP_SCRIPT = """
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
const [address, question] = process.argv.slice(2);
const client = new Client({ name: "test", version: "1" });
await client.connect(new StreamableHTTPClientTransport(new URL(`${address}/mcp`)));
const told = [];
const onprogress = (progress) => told.push(progress.message);
const asked = { name: "ask", arguments: { question } };
const { structuredContent: answer } = await client.callTool(asked, undefined, { onprogress });
const page = await client.readResource({ uri: answer.citations[0].resource });
const unknown = await client.callTool({ name: "forget" }).catch((error) => error.code);
console.log(JSON.stringify({ answer: answer.answer, told, page: page.contents[0].text, unknown }));
await client.close();
"""

OPENAI_SCRIPT = """
import OpenAI from "openai";
const [address, question] = process.argv.slice(2);
const client = new OpenAI({ baseURL: `${address}/v1`, apiKey: "none" });
const asked = { model: "finpolicy", messages: [{ role: "user", content: question }] };
const { message } = (await client.chat.completions.create(asked)).choices[0];
const stream = await client.chat.completions.stream(asked).finalContent();
const vectors = await client.embeddings.create({ model: "finpolicy-embeddings", input: ["a", "b"] });
const link = message.annotations[0].url_citation.url;
const unknown = await client.models.retrieve("nothing").catch((error) => error.status);
const { content } = message;
console.log(JSON.stringify({ content, stream, link, unknown, vectors: vectors.data.length }));
"""


def said_by(script: str, address: str, folder: Path) -> dict[str, Any]:
    (folder / "script.mjs").write_text(script, encoding="utf-8")
    done = run(folder, "node", "script.mjs", address, QUESTION)
    assert done.returncode == 0, done.stderr
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def test_the_sdk_of_mcp_asks_and_reads_the_page(address: str, folder: Path) -> None:
    said = said_by(MCP_SCRIPT, address, folder)
    assert "3.0 per cent" in said["answer"]
    assert "3.0 per cent" in said["page"]
    assert said["told"][0] == "searching"
    assert said["unknown"] == -32602


def test_the_client_of_openai_asks_and_its_links_open(address: str, folder: Path) -> None:
    said = said_by(OPENAI_SCRIPT, address, folder)
    assert "3.0 per cent" in said["content"]
    assert said["stream"] == said["content"]
    assert (said["vectors"], said["unknown"]) == (2, 404)
    page = httpx.get(said["link"], headers={"sec-fetch-site": "cross-site"}, timeout=60)
    assert page.headers["content-type"] == "image/png"


PYTHON_SCRIPT = """
import json, sys
import litellm
from llama_index.core.llms import ChatMessage
from llama_index.embeddings.openai_like import OpenAILikeEmbedding
from llama_index.llms.openai_like import OpenAILike

address, question = sys.argv[1:]
given = {"api_base": f"{address}/v1", "api_key": "none"}
index = OpenAILike(model="finpolicy", is_chat_model=True, **given)
asked = [ChatMessage(role="user", content=question)]
messages = [{"role": "user", "content": question}]
embedder = OpenAILikeEmbedding(model_name="finpolicy-embeddings", **given)
embedded = litellm.embedding("openai/finpolicy-embeddings", ["a"], **given)
print(json.dumps([
    index.chat(asked).message.content,
    "".join(piece.delta for piece in index.stream_chat(asked)),
    litellm.completion("openai/finpolicy", messages, **given).choices[0].message.content,
    len(embedder.get_text_embedding("a")),
    len(embedded.data[0]["embedding"]),
]))
"""


def with_packages(*packages: str) -> list[str]:
    """The Python of an environment with these packages."""
    wanted = [word for package in packages for word in ("--with", package)]
    tool = [sys.executable, "-m", "uv", "run", "--no-project", "--isolated", "--quiet", *wanted, "python"]
    tried = subprocess.run([*tool, "-c", ""], capture_output=True, text=True, check=False)
    if tried.returncode:
        pytest.skip(f"uv could not fetch them: {tried.stderr[-300:]}")
    return tool


def test_llamaindex_and_litellm_ask_and_embed(address: str) -> None:
    python = with_packages(*PACKAGES)
    done = subprocess.run(
        [*python, "-c", PYTHON_SCRIPT, address, QUESTION],
        env={**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3_000:]
    *answers, first, second = json.loads(done.stdout)
    assert all("3.0 per cent" in answer for answer in answers)
    assert first == second


def test_no_request_that_the_description_allows_or_forbids_breaks_the_server(
    address: str, home: Path
) -> None:
    checks = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
    python = with_packages(SCHEMATHESIS)
    made = command(home, "keys", "create", "schemathesis", "--scope", "manage").stdout
    key = re.search(r"fpk_[\w-]+", made)
    assert key
    done = subprocess.run(
        [
            *python,
            *("-m", "schemathesis.cli", "run"),
            f"{address}/api/openapi.json",
            *("-H", f"Authorization: Bearer {key[0]}"),
            *("--max-examples", "5", "--phases", "coverage,fuzzing", "--checks", checks, "--seed", "1"),
            *("--exclude-method", "DELETE", "--request-timeout", "30"),
        ],
        capture_output=True,
        text=True,
        timeout=540,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6_000:]
