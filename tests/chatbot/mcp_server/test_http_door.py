"""The real MCP client over streamable HTTP: tools, resources, keys and scopes."""

from __future__ import annotations

import asyncio
import base64
import json
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, ImageContent, TextContent, TextResourceContents
from mcp_types.version import LATEST_MODERN_VERSION

from chatbot.lookup.lookup_forms import LOOKUP_TOOLS
from tests.chatbot.api.conftest import CEILING, RULES, Api
from tests.loops import run_async
from tests.pdfs import make_pdf

QUESTION = "What is the deficit ceiling?"
ALL = {"ask", "compare", "add_document", *LOOKUP_TOOLS}


@asynccontextmanager
async def connected(api: Api, scope: str = "", mode: str = "auto", **headers: str) -> AsyncIterator[Client]:
    """A client with a key of this scope, "" for none."""
    with api.client(scope, **headers) as keyed:
        given = dict(keyed.headers)
    async with httpx2.AsyncClient(headers=given, timeout=60) as http:
        transport = streamable_http_client(f"{api.url}/mcp", http_client=http)
        async with Client(transport, mode=mode) as client:
            yield client


def said(result: CallToolResult) -> str:
    """The text of a result."""
    (content, *_) = result.content
    assert isinstance(content, TextContent)
    return content.text


def run(work: Callable[[Client], Awaitable[None]], api: Api, scope: str = "", mode: str = "auto") -> None:
    """Does the work with a connected client."""

    async def main() -> None:
        async with connected(api, scope, mode) as client:
            await work(client)

    run_async(main())


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_client_asks_and_reads_the_page_that_is_cited(api: Api, mode: str) -> None:
    async def work(client: Client) -> None:
        tools = (await client.list_tools()).tools
        assert {tool.name for tool in tools} == ALL
        assert all(tool.output_schema for tool in tools)
        answer = await client.call_tool("ask", {"question": QUESTION})
        found: Any = answer.structured_content
        assert json.loads(said(answer)) == found
        assert found["answered"]
        (citation,) = found["citations"]
        assert (citation["document"], citation["page"], citation["verified"]) == (RULES, 1, True)
        read = await client.read_resource(citation["resource"])
        (page,) = read.contents
        assert isinstance(page, TextResourceContents)
        assert CEILING in page.text

    run(work, api, mode=mode)


def test_pages_are_searched_read_drawn_and_listed(api: Api) -> None:
    async def work(client: Client) -> None:
        hits: Any = (
            await client.call_tool("search_documents", {"query": "ceiling", "k": 1})
        ).structured_content
        assert hits["hits"][0]["document"] == RULES
        page = await client.call_tool("get_page", {"document": RULES, "page": 1, "image": True})
        assert CEILING in said(page)
        picture = page.content[1]
        assert isinstance(picture, ImageContent)
        assert base64.b64decode(picture.data).startswith(b"\x89PNG")
        rows: Any = (await client.call_tool("list_documents", {})).structured_content
        assert RULES in [row["name"] for row in rows["documents"]]
        outline = (await client.call_tool("get_outline", {"document": RULES})).structured_content
        assert outline["document"] == RULES
        found = (
            await client.call_tool("find_text", {"document": RULES, "words": "DEFICIT"})
        ).structured_content
        assert found["places"][0]["page"] == 1
        figures = (await client.call_tool("key_figures", {"document": RULES})).structured_content
        assert set(figures) == {"figures", "lacking", "remarks"}
        sum_ = (await client.call_tool("calculate", {"expression": "(3 - 2) / 2"})).structured_content
        assert sum_ == {"expression": "(3 - 2) / 2", "value": 0.5}
        resources = (await client.list_resources()).resources
        assert hits["hits"][0]["resource"] in [resource.uri for resource in resources]
        (template,) = (await client.list_resource_templates()).resource_templates
        assert template.uri_template == "finpolicy://documents/{id}/pages/{page}"

    run(work, api)


def test_a_file_is_added_by_its_content(api: Api, tmp_path: Path) -> None:
    data = make_pdf(tmp_path / "Plan.pdf", ["The plan foresees a surplus of two per cent."]).read_bytes()

    async def work(client: Client) -> None:
        given = {"name": "Plan.pdf", "content": base64.b64encode(data).decode()}
        added = await client.call_tool("add_document", given)
        assert not added.is_error, said(added)
        page = await client.call_tool("get_page", {"document": "Plan.pdf", "page": 1})
        assert "surplus of two per cent" in said(page)
        for wrong in ({"path": "/etc/hostname"}, {"name": "x.pdf", "content": "%%"}):
            refused = await client.call_tool("add_document", wrong)
            assert refused.is_error

    run(work, api, "manage")


@pytest.mark.parametrize(
    ("scope", "tools"),
    [("read", ALL - {"ask", "compare", "add_document"}), ("ask", ALL - {"add_document"}), ("manage", ALL)],
)
def test_a_key_sees_and_uses_what_its_scope_says(api: Api, scope: str, tools: set[str]) -> None:
    api.open = True

    async def work(client: Client) -> None:
        assert {tool.name for tool in (await client.list_tools()).tools} == tools
        answer = await client.call_tool("ask", {"question": QUESTION})
        assert answer.is_error == ("ask" not in tools)
        if answer.is_error:
            assert "keys create NAME --scope ask" in said(answer)

    run(work, api, scope)


def test_nobody_comes_in_without_a_key_or_with_a_wrong_one(api: Api) -> None:
    api.open = True
    hello = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    for header in ({}, {"authorization": "Bearer fpk_0000"}):
        with api.client(**header) as client:
            refused = client.post("/mcp", json=hello)
            assert refused.status_code == 401
            assert refused.headers["www-authenticate"] == "Bearer"
            assert refused.headers["content-type"] == "application/problem+json"
    api.open = False
    with api.client(origin="https://evil.example") as client:
        assert client.post("/mcp", json=hello).status_code == 403


def test_any_server_takes_any_request_and_replies_as_the_client_accepts(api: Api) -> None:
    """As where the session was begun at another server, or before a restart."""
    call = {"name": "ask", "arguments": {"question": QUESTION, "documents": None}}
    asked = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}
    for accept, kind in (
        ("application/json, text/event-stream", "text/event-stream"),
        ("application/json", "application/json"),
        ("*/*", "text/event-stream"),
        (None, "application/json"),
    ):
        with api.client("ask", mcp_session_id="begun-elsewhere") as client:
            if accept is None:
                del client.headers["accept"]
            else:
                client.headers["accept"] = accept
            answer = client.post("/mcp", json=asked)
            assert answer.status_code == 200
            assert answer.headers["content-type"].startswith(kind), accept
            data = answer.text.partition("data: ")[2] if kind.startswith("text") else answer.text
            result = json.loads(data)["result"]
            assert result["structuredContent"]["citations"][0]["verified"]
            assert answer.headers["mcp-session-id"] == "begun-elsewhere"
            stream = client.get("/mcp", headers={"accept": "text/event-stream"})
            assert (stream.status_code, stream.headers["allow"]) == (405, "POST")


def test_errors_name_the_fix(api: Api) -> None:
    async def work(client: Client) -> None:
        wrong = await client.call_tool("ask", {"question": QUESTION, "documnets": [RULES]})
        assert wrong.is_error
        assert "documnets: there is no such field" in said(wrong)
        missing = await client.call_tool("ask", {"question": QUESTION, "documents": ["Nothing.pdf"]})
        assert "list_documents" in said(missing)
        far = await client.call_tool("get_page", {"document": RULES, "page": 9})
        assert "Its last page is 1." in said(far)
        with pytest.raises(MCPError, match="There are ask,"):
            await client.call_tool("forget", {})
        for address in ("finpolicy://documents/x/pages/1", "file:///etc/passwd"):
            with pytest.raises(MCPError, match="list_documents"):
                await client.read_resource(address)

    run(work, api)


def test_blanks_around_a_header_are_no_part_of_its_value(api: Api) -> None:
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {
            "name": "list_documents",
            "arguments": {},
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": LATEST_MODERN_VERSION,
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        },
    }
    body = json.dumps(call)
    place = urlsplit(api.url)
    head = [
        "POST /mcp HTTP/1.1",
        f"Host: {place.netloc}",
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        f"Content-Length: {len(body)}",
        "Connection: close",
        f"MCP-Protocol-Version:\t{LATEST_MODERN_VERSION} ",
        "Mcp-Method: tools/call  ",
        "Mcp-Name: list_documents \t",
    ]
    with socket.create_connection((place.hostname or "", place.port or 0), timeout=30) as connection:
        connection.sendall("\r\n".join([*head, "", body]).encode())
        replied = b"".join(iter(lambda: connection.recv(65_536), b""))
    assert replied.startswith(b"HTTP/1.1 200"), replied
    assert RULES.encode() in replied


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_cancelled_call_stops_the_work(api: Api, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped: list[bool] = []

    def endless(ask: object, *, stop: Callable[[], bool]) -> Any:
        end = time.monotonic() + 20
        while not stop() and time.monotonic() < end:
            time.sleep(0.01)
        stopped.append(stop())
        yield from ()

    monkeypatch.setattr(api.context.chatbot, "ask", endless)
    cancelled = {"method": "notifications/cancelled", "params": {"requestId": 2}}
    with api.client() as other:  # has a session of its own, in which nothing is to cancel
        assert other.post("/mcp", json={"jsonrpc": "2.0", **cancelled}).status_code == 202

    async def work(client: Client) -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(client.call_tool("ask", {"question": QUESTION}), 0.5)
        end = time.monotonic() + 5
        while not stopped and time.monotonic() < end:
            await asyncio.sleep(0.02)
        assert stopped == [True]

    run(work, api, mode=mode)
