"""Has a command run by the server that has the store open, and lends it this process's terminal."""

from __future__ import annotations

import contextlib
import getpass
import json
import os
import select
import shutil
import socket
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

import chatbot
from chatbot.cli.frames import (
    ANSWER,
    END,
    ERRORS,
    INPUT,
    INTERRUPT,
    OUTPUT,
    PROMPT,
    READ,
    RUN,
    Frames,
    is_our_own,
    socket_path,
)
from chatbot.errors import StoreError

__all__ = ["run_there", "server_of"]

AT_ONCE = 64 * 1024
# How long a command that was stopped may say what is left.
LAST_WORDS_SECONDS = 1.0
CONNECT_SECONDS = 10.0


def server_of(store: Path) -> Frames | None:
    """Connects to the server that has the store open. None if there is none.

    Raises StoreError if it belongs to another account, or does not answer.
    """
    try:
        if not (store / "chatbot.sock").is_socket():
            return None
    except PermissionError:  # opening the store says so
        return None
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(CONNECT_SECONDS)
    try:
        with socket_path(store) as path:
            connection.connect(path)
        connection.settimeout(None)
        if not is_our_own(connection):
            raise StoreError(
                "The server that has the store open belongs to another account.",
                hint="Run the command as that account.",
            )
    except (ConnectionRefusedError, FileNotFoundError):  # it was killed; the lock says who has the store now
        connection.close()
        return None
    except OSError as error:
        connection.close()
        raise StoreError(
            f"The server that has the store open does not answer: {error}.",
            hint="Run the command as the account that started it, or restart it.",
            retryable=True,
        ) from error
    except BaseException:
        connection.close()
        raise
    return Frames(connection)


def run_there(server: Frames, words: Sequence[str]) -> int:
    """Runs a command in the server. Returns its exit code.

    words: the arguments. Raises StoreError if the server ends first, OSError if the output cannot be written.
    """
    with contextlib.closing(server):
        relay = _Relay(server)
        _begin(server, words)
        while True:
            try:
                return relay.run()
            except KeyboardInterrupt:
                relay.interrupt()


def _begin(server: Frames, words: Sequence[str]) -> None:
    try:
        folder = os.getcwd()
    except FileNotFoundError:  # it was deleted
        folder = "/"
    given = {
        "version": chatbot.__version__,
        "arguments": list(words),
        "folder": folder,
        "columns": shutil.get_terminal_size().columns,
        "streams": [_stream(stream) for stream in (sys.stdin, sys.stdout, sys.stderr)],
    }
    try:
        server.send_json(RUN, given)
    except OSError:  # it says why before it hangs up
        return


def _stream(stream: TextIO) -> dict[str, object]:
    return {
        "terminal": stream.isatty(),
        "encoding": stream.encoding or "utf-8",
        "errors": stream.errors or "strict",
    }


class _Relay:
    """Passes frames on until the command ends."""

    def __init__(self, server: Frames) -> None:
        self._server, self._reads, self._end = server, False, 0.0

    def run(self) -> int:
        while True:
            while (frame := self._received()) is not None:
                kind, data = frame
                if kind == END:
                    return int(data)
                self._take(kind, data)
            self._wait()

    def interrupt(self) -> None:
        """Stops the command, and waits a moment for its last words. The second time it waits no longer."""
        if self._end:
            raise KeyboardInterrupt
        self._end = time.monotonic() + LAST_WORDS_SECONDS
        self._reads = False
        with contextlib.suppress(OSError):
            self._server.send(INTERRUPT)

    def _received(self) -> tuple[bytes, bytes] | None:
        try:
            return self._server.received()
        except OSError as error:
            raise self._ended() from error

    def _take(self, kind: bytes, data: bytes) -> None:
        if kind in (OUTPUT, ERRORS):
            stream = (sys.stdout if kind == OUTPUT else sys.stderr).buffer
            stream.write(data)
            stream.flush()
        elif kind == READ:
            self._reads = True
        elif kind == PROMPT:
            try:
                answer = {"text": getpass.getpass(data.decode(), sys.stderr)}
            except EOFError:
                answer = {}
            self._send(ANSWER, json.dumps(answer).encode("ascii"))

    def _wait(self) -> None:
        """Waits for something from the server, or for input that it wants."""
        files: list[Any] = [self._server.socket, *([sys.stdin] if self._reads else [])]
        left = max(0.0, self._end - time.monotonic()) if self._end else None
        ready, _, _ = select.select(files, [], [], left)
        if self._end and not ready:
            raise KeyboardInterrupt
        if sys.stdin in ready:
            self._reads = False
            self._send(INPUT, os.read(sys.stdin.fileno(), AT_ONCE))
        if self._server.socket in ready:
            try:
                self._server.fill()
            except OSError as error:
                raise self._ended() from error

    def _send(self, kind: bytes, data: bytes) -> None:
        try:
            self._server.send(kind, data)
        except OSError as error:
            raise self._ended() from error

    def _ended(self) -> BaseException:
        if self._end:
            return KeyboardInterrupt()
        return StoreError(
            "The server that ran the command has ended.",
            hint="What was finished is kept. Try again.",
            retryable=True,
        )
