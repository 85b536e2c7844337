"""Carries a command between its own process and the server that runs it, as frames over a Unix socket."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from chatbot.errors import StoreError

__all__ = [
    "ANSWER",
    "END",
    "ERRORS",
    "INPUT",
    "INTERRUPT",
    "OUTPUT",
    "PROMPT",
    "READ",
    "RUN",
    "Frames",
    "is_our_own",
    "socket_path",
]

# What the command's own process sends: its arguments, its standard input, an answer to a prompt, Ctrl+C.
RUN, INPUT, ANSWER, INTERRUPT = b"R", b"I", b"A", b"C"
# What the server sends: output and errors, that it wants input or an answer, and the exit code.
OUTPUT, ERRORS, READ, PROMPT, END = b"O", b"E", b"W", b"P", b"X"
HEAD = struct.Struct(">cI")
# Longer than all arguments that Linux hands to a process.
MOST_BYTES = 8 * 2**20
AT_ONCE = 64 * 1024


class Frames:
    """A socket that sends and receives whole frames. Any thread may send, and one at a time receives."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self._sending = threading.Lock()
        self._received = bytearray()

    def send(self, kind: bytes, data: bytes = b"") -> None:
        """Raises OSError if the other side is gone."""
        for start in range(0, max(1, len(data)), MOST_BYTES):
            part = data[start : start + MOST_BYTES]
            with self._sending:
                self.socket.sendall(HEAD.pack(kind, len(part)) + part)

    def send_json(self, kind: bytes, value: dict[str, Any]) -> None:
        self.send(kind, json.dumps(value).encode("ascii"))

    def received(self) -> tuple[bytes, bytes] | None:
        """Returns the next frame that is here completely, without waiting. Raises ConnectionError."""
        if len(self._received) < HEAD.size:
            return None
        kind, size = HEAD.unpack_from(self._received)
        if size > MOST_BYTES:
            raise ConnectionError("The frame is too long.")
        end = HEAD.size + size
        if len(self._received) < end:
            return None
        data = bytes(self._received[HEAD.size : end])
        del self._received[:end]
        return kind, data

    def wait(self) -> tuple[bytes, bytes]:
        """Waits for a frame. Raises OSError, of which ConnectionError is one: nothing comes any more."""
        while (frame := self.received()) is None:
            self.fill()
        return frame

    def fill(self) -> None:
        """Takes what has come in, and waits if there is nothing. Raises OSError."""
        data = self.socket.recv(AT_ONCE)
        if not data:
            raise ConnectionError("The other side has ended.")
        self._received += data

    def close(self) -> None:
        """Wakes whoever waits in it, too."""
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


@contextlib.contextmanager
def socket_path(store: Path) -> Iterator[str]:
    """Lends the address of the store's socket.

    An address has room for 107 bytes, so a store with a long path is named by its open folder. Raises
    StoreError where the folder cannot be opened.
    """
    try:
        folder = os.open(store, os.O_PATH | os.O_DIRECTORY)
    except OSError as error:
        raise StoreError(f"The store {store} cannot be opened: {error.strerror}.") from error
    try:
        yield f"/proc/self/fd/{folder}/chatbot.sock"
    finally:
        os.close(folder)


def is_our_own(connection: socket.socket) -> bool:
    """Tells whether the process at the other end belongs to the same account."""
    given = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    _, user, _ = struct.unpack("3i", given)
    return bool(user == os.geteuid())
