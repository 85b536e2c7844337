"""The real MCP client over standard input and output of `finpolicy mcp`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from chatbot.mcp_server.stdio_door import run_stdio
from tests.browser import Server, add
from tests.chatbot.api.conftest import CEILING, Api
from tests.chatbot.mcp_server.conftest import HELLO
from tests.commands import ROOT, run
from tests.loops import run_async
from tests.pdfs import make_pdf

COMMAND = [sys.executable, "-m", "chatbot", "mcp"]


def test_a_client_asks_and_adds_files_by_their_paths(tmp_path: Path) -> None:
    home = tmp_path / "home"
    added = make_pdf(tmp_path / "Rules.pdf", [CEILING])
    command = StdioServerParameters(
        command=COMMAND[0], args=COMMAND[1:], env={"FINPOLICY_HOME": str(home)}, cwd=ROOT
    )

    async def main() -> None:
        async with Client(command) as client:
            job: Any = (await client.call_tool("add_document", {"path": str(added)})).structured_content
            assert job["document"] == "Rules.pdf"
            answer: Any = (
                await client.call_tool("ask", {"question": "What is the deficit ceiling?"})
            ).structured_content
            assert answer["citations"][0]["verified"]
            missing = await client.call_tool("add_document", {"path": str(tmp_path / "Nothing.pdf")})
            assert missing.is_error

    run_async(main())
    listed = run(home, "list", "--json")
    assert json.loads(listed.stdout)["document"] == "Rules.pdf", "the store is closed and whole"


@pytest.mark.parametrize("order", [signal.SIGTERM, signal.SIGINT])
def test_an_order_to_end_is_followed_though_nothing_comes(tmp_path: Path, order: signal.Signals) -> None:
    env = {**os.environ, "FINPOLICY_HOME": str(tmp_path)}
    with subprocess.Popen(
        COMMAND, cwd=ROOT, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps(HELLO).encode() + b"\nnot JSON\n")
        server.stdin.flush()
        lines = [server.stdout.readline()]
        server.send_signal(order)
        assert server.wait(20) == 130
        lines += server.stdout.readlines()
    for line in lines:
        assert json.loads(line)["jsonrpc"] == "2.0", "nothing but the protocol comes out"


def test_a_server_that_has_the_store_serves_over_streams_that_it_is_given(api: Api) -> None:
    asking, answered = os.pipe(), os.pipe()
    with (
        open(asking[0], encoding="utf-8") as read,
        open(answered[1], "w", encoding="utf-8") as write,
        open(asking[1], "w", encoding="utf-8") as to_server,
        open(answered[0], encoding="utf-8") as from_server,
    ):
        serving = threading.Thread(target=run_stdio, args=(api.context, read, write))
        serving.start()
        to_server.write(json.dumps(HELLO) + "\n")
        to_server.flush()
        assert json.loads(from_server.readline())["result"]["serverInfo"]["name"] == "finpolicy"
        to_server.close()
        serving.join(10)
        assert not serving.is_alive()


def test_beside_an_open_chat_a_client_works_through_its_server(tmp_path: Path) -> None:
    home = tmp_path / "home"
    add(home, [make_pdf(tmp_path / "Rules.pdf", [CEILING])])
    command = StdioServerParameters(
        command=COMMAND[0], args=COMMAND[1:], env={"FINPOLICY_HOME": str(home)}, cwd=ROOT
    )

    async def main() -> None:
        async with Client(command) as client:
            answer: Any = (
                await client.call_tool("ask", {"question": "What is the deficit ceiling?"})
            ).structured_content
            assert answer["citations"][0]["verified"]

    with Server(home) as server:
        server.client().close()
        run_async(main())
