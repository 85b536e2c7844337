"""The server of the API's tests, which has the MCP server too."""

from __future__ import annotations

from tests.chatbot.api.conftest import api, served

__all__ = ["api", "served"]
