"""Has a command run by the server that has the store open, and lends it this process's streams."""

from __future__ import annotations

import contextlib
import getpass
import json
import os
import select
import socket
import struct
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import chatbot
from chatbot.errors import StoreError

__all__ = ["is_our_own", "run_there", "socket_path"]

SOCKET = "chatbot.sock"
# How long a command that was stopped may say what is left.
LAST_WORDS_SECONDS = 1.0
CONNECT_SECONDS = 10.0


@contextlib.contextmanager
def socket_path(store: Path) -> Iterator[str]:
    """Lends the address of the store's socket. Raises OSError where the folder cannot be opened.

    An address has room for 107 bytes, so a store with a long path is named by its open folder.
    """
    folder = os.open(store, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{SOCKET}"
    finally:
        os.close(folder)


def is_our_own(connection: socket.socket) -> bool:
    """Tells whether the process at the other end belongs to the same account."""
    given = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    _, user, _ = struct.unpack("3i", given)
    return bool(user == os.geteuid())


def run_there(store: Path, words: Sequence[str]) -> int | None:
    """Runs a command in the server that has the store open. Returns its exit code, None without a server.

    words: the arguments. Raises StoreError if the server belongs to another account, refuses, does not answer
    or ends first.
    """
    try:
        if not (store / SOCKET).is_socket():
            return None
    except PermissionError:  # opening the store says so
        return None
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.settimeout(CONNECT_SECONDS)
        try:
            with socket_path(store) as path:
                server.connect(path)
        except (
            ConnectionRefusedError,
            FileNotFoundError,
        ):  # it was killed; the lock says who has the store now
            return None
        except OSError as error:
            raise StoreError(
                f"The server that has the store open does not answer: {error}.",
                hint="Run the command as the account that started it, or restart it.",
                retryable=True,
            ) from error
        server.settimeout(None)
        if not is_our_own(server):
            raise StoreError(
                "The server that has the store open belongs to another account.",
                hint="Run the command as that account.",
            )
        with contextlib.suppress(OSError):  # it says why before it hangs up
            _begin(server, words)
        lines = server.makefile("rb")
        try:
            return _result(server, lines)
        except KeyboardInterrupt:
            server.settimeout(LAST_WORDS_SECONDS)
            with contextlib.suppress(OSError, StoreError):
                server.shutdown(socket.SHUT_WR)
                return _result(server, lines, stopped=True)
            raise


def _begin(server: socket.socket, words: Sequence[str]) -> None:
    """Sends the command with this process's streams, see ServedCommand."""
    try:
        folder = os.getcwd()
    except FileNotFoundError:  # it was deleted
        folder = "/"
    streams = (sys.stdin, sys.stdout, sys.stderr)
    given = {
        "version": chatbot.__version__,
        "arguments": list(words),
        "folder": folder,
        "terminal": sys.stdin.isatty(),
        "encodings": [(stream.encoding, stream.errors) for stream in streams],
    }
    socket.send_fds(server, [b"\n"], [stream.fileno() for stream in streams[1:]])
    server.sendall(json.dumps(given).encode("ascii") + b"\n")


def _result(server: socket.socket, lines: BinaryIO, *, stopped: bool = False) -> int:
    """Reads for the command what it asks for, until it ends. Raises StoreError if the server ends first.

    stopped: nothing is read any more.
    """
    with contextlib.suppress(ConnectionError):
        for line in lines:
            told = json.loads(line)
            if "exit" in told:
                return int(told["exit"])
            if "refused" in told:
                raise StoreError(told["refused"])
            if not stopped:
                _answer(server, told)
    raise StoreError(
        "The server that ran the command has ended.",
        hint="What was finished is kept. Try again.",
        retryable=True,
    )


def _answer(server: socket.socket, wanted: dict[str, Any]) -> None:
    answer = None
    if "password" in wanted:
        with contextlib.suppress(EOFError):
            answer = getpass.getpass(wanted["password"], sys.stderr)
    else:
        ready, _, _ = select.select([server, sys.stdin], [], [])
        if server in ready:  # it wants no input any more
            return
        answer = os.read(sys.stdin.fileno(), wanted["read"]).decode("latin-1")
    server.sendall(json.dumps(answer).encode("ascii") + b"\n")
