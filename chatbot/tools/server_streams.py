"""Opens the streams to an MCP server: one that is started as a process, or one that is called over HTTP.

Of a process, lines are read within a limit, which the package's own client does not have. Over HTTP only
allowed addresses are reached, and a reply has a limit too.
"""

from __future__ import annotations

import asyncio
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import httpcore2
import httpx2
from mcp.client.stdio import get_default_environment
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp.types import jsonrpc_message_adapter

from chatbot.errors import ModelError
from chatbot.models.addresses import tidied
from chatbot.models.endpoints import check_endpoint, checked_addresses, connect_by
from chatbot.settings import Settings
from chatbot.tools.server_file import ServerEntry

__all__ = ["MOST_BYTES", "called_server", "started_server"]

# Bytes of one message. What a model gets of it is far shorter.
MOST_BYTES = 2_000_000
# Seconds that a server has to end by itself once its input is closed.
END_SECONDS = 2.0


@asynccontextmanager
async def started_server(entry: ServerEntry, folder: Path) -> AsyncIterator[Any]:
    """Starts a server in `folder` and yields its streams; ends it and what it started afterwards.

    It gets none of our settings and keys, only the variables that any program needs and those of its entry.
    Raises OSError if it cannot be started.
    """
    read_end, write_end = os.pipe()
    lines = asyncio.StreamReader(MOST_BYTES)
    pipe, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(lines), os.fdopen(read_end, "rb")
    )
    try:
        process = await asyncio.create_subprocess_exec(
            entry.command,
            *entry.args,
            stdin=PIPE,
            stdout=write_end,
            stderr=DEVNULL,
            env={**get_default_environment(), **entry.env},
            cwd=folder,
            start_new_session=True,
        )
    except BaseException:
        pipe.close()
        raise
    finally:
        os.close(write_end)
    to_us, incoming = anyio.create_memory_object_stream[SessionMessage | Exception]()
    outgoing, from_us = anyio.create_memory_object_stream[SessionMessage]()
    tasks = [asyncio.create_task(_read(lines, to_us)), asyncio.create_task(_write(process, from_us))]
    try:
        yield incoming, outgoing
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for stream in (to_us, incoming, outgoing, from_us):
            await stream.aclose()
        await asyncio.shield(_end(process))
        pipe.close()  # another process may hold the other end


async def _read(lines: asyncio.StreamReader, to_us: Any) -> None:
    """Passes the server's messages on until it ends, or sends a line that is too long."""
    async with to_us:
        with suppress(ValueError):  # a line above the limit
            while line := await lines.readline():
                await to_us.send(_message(line))


def _message(line: bytes) -> SessionMessage | Exception:
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:
        return error


async def _write(process: Process, from_us: Any) -> None:
    assert process.stdin is not None
    async with from_us:
        with suppress(OSError):
            async for message in from_us:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                process.stdin.write(text.encode() + b"\n")
                await process.stdin.drain()


async def _end(process: Process) -> None:
    assert process.stdin is not None
    with suppress(OSError):
        process.stdin.close()
    with suppress(TimeoutError):
        await asyncio.wait_for(process.wait(), END_SECONDS)
    with suppress(ProcessLookupError):  # it, and what it left behind
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


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
