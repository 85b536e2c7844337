"""Starts an MCP server as a process, and reads its lines within a limit.

The package's own client for such servers reads a line of any length.
"""

from __future__ import annotations

import asyncio
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage
from mcp.types import jsonrpc_message_adapter

from chatbot.tools.server_file import ServerEntry

__all__ = ["MOST_BYTES", "started_server"]

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
