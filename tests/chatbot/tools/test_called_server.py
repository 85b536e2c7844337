"""A server of tools over HTTP: the product's own, with a key in the file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chatbot.settings import Settings
from chatbot.tools.server_connection import ToolError
from chatbot.tools.tool_servers import ToolServers
from tests.chatbot.api.conftest import CEILING, RULES, Api, api, served

__all__ = ["api", "served"]


def never() -> bool:
    return False


def test_a_server_over_http_gets_the_headers_of_the_file(api: Api, tmp_path: Path) -> None:
    api.open = True
    with api.client("read") as client:
        key = client.headers["authorization"]
    url = f"{api.url}/mcp"
    entries = {"rules": {"url": url, "headers": {"Authorization": key}}, "keyless": {"url": url}}
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": entries}))
    servers = ToolServers(Settings(home=tmp_path), tmp_path)
    try:
        offered = servers.offered(never)
        assert [problem.message.partition(" ")[0] for problem in offered.problems] == ["keyless"]
        page = offered.tools["rules__get_page"]
        assert CEILING in servers.call(page, {"document": RULES, "page": 1}, never)
        with pytest.raises(ToolError, match="rules.get_page reports an error: There is no page 9"):
            servers.call(page, {"document": RULES, "page": 9}, never)
    finally:
        servers.close()


def test_offline_no_server_is_called(api: Api, tmp_path: Path) -> None:
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": {"rules": {"url": f"{api.url}/mcp"}}}))
    servers = ToolServers(Settings(home=tmp_path, offline=True), tmp_path)
    try:
        (problem,) = servers.offered(never).problems
        assert "FINPOLICY_OFFLINE is set" in problem.message
    finally:
        servers.close()
