"""The server of the API's tests, which has the MCP server too."""

from __future__ import annotations

from tests.chatbot.api.conftest import api, served

__all__ = ["HELLO", "api", "served"]

# How a client begins that writes the protocol by hand.
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    },
}
