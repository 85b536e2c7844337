"""Reaches an MCP server over HTTP: only at allowed addresses, and within a size."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import httpcore2
import httpx2
from mcp.client.streamable_http import streamable_http_client

from chatbot.errors import ModelError
from chatbot.models.addresses import tidied
from chatbot.models.endpoints import check_endpoint, checked_addresses, connect_by
from chatbot.settings import Settings
from chatbot.tools.server_file import ServerEntry
from chatbot.tools.started_server import MOST_BYTES

__all__ = ["called_server"]

CONNECT_SECONDS = 10.0


@asynccontextmanager
async def called_server(entry: ServerEntry, settings: Settings) -> AsyncIterator[Any]:
    """Yields the streams to a server at a url. Raises ModelError if that must not be contacted."""
    url = tidied(entry.url)
    # The rules of model endpoints hold, as this is an address that somebody wrote too.
    await asyncio.to_thread(check_endpoint, url, replace(settings, base_url=url))
    timeout = httpx2.Timeout(None, connect=CONNECT_SECONDS)
    async with (
        httpx2.AsyncClient(
            headers=dict(entry.headers), timeout=timeout, transport=_Checked(), trust_env=False
        ) as http,
        streamable_http_client(url, http_client=http, max_sse_event_size=MOST_BYTES) as streams,
    ):
        yield streams


class _Checked(httpx2.AsyncHTTPTransport):
    """Connects only to addresses that are allowed when it connects, and breaks off what does not end."""

    def __init__(self) -> None:
        super().__init__(trust_env=False)
        connect_by(self, _AllowedAddresses())

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        answer = await super().handle_async_request(request)
        assert isinstance(answer.stream, httpx2.AsyncByteStream)
        if not answer.headers.get("content-type", "").startswith("text/event-stream"):
            answer.stream = _BoundedBody(answer.stream)
        return answer


class _AllowedAddresses(httpcore2.AnyIOBackend):
    async def connect_tcp(self, host: str, *given: Any, **options: Any) -> httpcore2.AsyncNetworkStream:
        try:
            addresses = await asyncio.to_thread(checked_addresses, host)
        except ModelError as error:
            raise httpcore2.ConnectError(error.message) from None
        failure: Exception = httpcore2.ConnectError("the name is not known")
        for address in addresses:
            try:
                return await super().connect_tcp(address, *given, **options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        raise failure


class _BoundedBody(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for part in self._inner:
            size += len(part)
            if size > MOST_BYTES:
                raise httpx2.ReadError("the answer does not end")
            yield part

    async def aclose(self) -> None:
        await self._inner.aclose()
