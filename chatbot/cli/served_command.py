"""Runs in a server as a command of another process: with its folder, its streams and its terminal."""

from __future__ import annotations

import getpass
import io
import json
import os
import select
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import chatbot
from chatbot.errors import StoreError
from ingestion.invisible_characters import visible

if TYPE_CHECKING:
    from chatbot.app.app_context import AppContext

__all__ = [
    "ServedCommand",
    "ask_password",
    "errors",
    "go_on",
    "is_interactive",
    "refuse_beside_a_server",
    "resolved",
    "routed_streams",
    "served",
    "stopped",
]

# Longer than all arguments that Linux hands to a process.
MOST_BYTES = 8 * 2**20
AT_ONCE = 64 * 1024

_current: ContextVar[ServedCommand | None] = ContextVar("served_command", default=None)


class ServedCommand:
    """A command that a server runs for another process, which is at the other end of a socket.

    That process hands over its output and errors as open files, which are written without it. Its input, and
    the answer to a prompt, it gives when it is asked: a server must not read the terminal that it was started
    from. It stops the command by closing its side.

    After a stop, the next thing that the command reads or writes raises KeyboardInterrupt, once; what it
    writes then are its last words.

    arguments: the words of the command.
    folder: where that process stands, to which its paths are relative.
    url: where the server's pages are, for messages.
    streams: its standard input, output and errors.
    began: when it was received, by time.perf_counter.
    """

    def __init__(self, connection: socket.socket, store: AppContext, url: str) -> None:
        """Takes the command, which this thread runs from now on.

        Raises StoreError if it is of another version, and OSError, ValueError, LookupError, TypeError or
        RecursionError if none comes.
        """
        self.store, self.url, self.began = store, url, time.perf_counter()
        self._connection, self._told = connection, False
        _, files, _, _ = socket.recv_fds(connection, 1, 2)
        stdout, stderr = (_Output(self, file) for file in files)
        self._answers = connection.makefile("rb")
        given = json.loads(self._answers.readline(MOST_BYTES))
        if given["version"] != chatbot.__version__:
            raise StoreError(
                f"The server at {url} is version {chatbot.__version__}, and this command "
                f"{visible(str(given['version'])[:40])}. Restart the server."
            )
        self.arguments = [str(word) for word in given["arguments"]]
        self.folder = Path(given["folder"])
        stdin = io.BufferedReader(_Input(self, is_terminal=given["terminal"]), AT_ONCE)
        buffers: tuple[Any, ...] = (stdin, io.BufferedWriter(stdout), io.BufferedWriter(stderr))
        self.streams: list[TextIO] = [
            io.TextIOWrapper(buffer, encoding, errors, line_buffering=True)
            for buffer, (encoding, errors) in zip(buffers, given["encodings"], strict=True)
        ]
        _current.set(self)

    @property
    def stopped(self) -> bool:
        """Whether whoever gave the command has stopped it, or is gone."""
        return bool(self._state() & select.POLLRDHUP)

    @property
    def gone(self) -> bool:
        """Whether nobody waits for the command any more."""
        return bool(self._state() & select.POLLHUP)

    def go_on(self) -> None:
        """Raises KeyboardInterrupt once the command is stopped, in its threads alone."""
        if not self._told and served() is not None and self.stopped:
            self._told = True
            raise KeyboardInterrupt

    def end(self, code: int) -> None:
        """Closes the streams and sends the exit code. Nothing stops the command any more."""
        self._told = True
        for stream in self.streams:
            with suppress(OSError):  # said already by what was printed
                stream.close()
        with suppress(OSError), self._answers:
            self._send({"exit": code})

    def ask(self, **wanted: object) -> str | None:
        """Has the process read for the command. Returns what it read, None at an end."""
        self.go_on()
        try:
            self._send(wanted)
            line = self._answers.readline(MOST_BYTES)
        except OSError:
            line = b""
        self.go_on()
        return json.loads(line) if line else None

    def may_write(self, file: io.FileIO) -> bool:
        """Waits until the file takes `select.PIPE_BUF` bytes; False if the command is stopped before."""
        looked = self._looked()
        looked.register(file, select.POLLOUT)
        found = dict(looked.poll())
        self.go_on()
        return file.fileno() in found and not self.gone

    def _send(self, line: dict[str, object]) -> None:
        self._connection.sendall(json.dumps(line).encode("ascii") + b"\n")

    def _looked(self) -> select.poll:
        """What tells that the other end closes."""
        looked = select.poll()
        looked.register(self._connection, select.POLLRDHUP)
        return looked

    def _state(self) -> int:
        return dict(self._looked().poll(0)).get(self._connection.fileno(), 0)


class _Input(io.RawIOBase):
    """Standard input of the process, of which only the process itself reads."""

    def __init__(self, command: ServedCommand, *, is_terminal: bool) -> None:
        self._command, self._is_terminal = command, is_terminal

    def readable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return self._is_terminal

    def readinto(self, buffer: Any) -> int:
        data = (self._command.ask(read=min(len(buffer), AT_ONCE)) or "").encode("latin-1")
        buffer[: len(data)] = data
        return len(data)


class _Output(io.FileIO):
    """Standard output of the process, or its errors."""

    def __init__(self, command: ServedCommand, number: int) -> None:
        super().__init__(number, "w")
        os.set_inheritable(number, False)  # no process that the server starts may have it
        self._command = command

    def write(self, data: Any) -> int:
        return super().write(data[: select.PIPE_BUF]) if self._command.may_write(self) else len(data)


def served() -> ServedCommand | None:
    """Returns the command that this thread runs for another process, None in a process of its own."""
    return _current.get()


def stopped() -> bool:
    """Tells whether whoever gave the command has stopped it, or is gone.

    In a process of its own, Ctrl+C raises KeyboardInterrupt by itself.
    """
    command = served()
    return command is not None and command.stopped


def go_on() -> None:
    """Raises KeyboardInterrupt if the command was stopped. To be called now and then in long work."""
    if (command := served()) is not None:
        command.go_on()


def resolved(path: str | Path) -> Path:
    """Returns the path from where the command was given."""
    command = served()
    return Path(path) if command is None else command.folder / path


def refuse_beside_a_server(command: str) -> None:
    """Raises StoreError in a server, for a command that needs the store for itself."""
    if (given := served()) is not None:
        raise StoreError(
            f"`{command}` needs the store for itself, and the server at {given.url} has it open.",
            hint="Stop the server, and try again.",
        )


def errors() -> TextIO:
    """Returns the stream of errors, for threads that do not know the command."""
    command = served()
    return sys.stderr if command is None else command.streams[-1]


def is_interactive() -> bool:
    """Tells whether somebody at a terminal can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask_password(prompt: str) -> str:
    """Asks at the terminal, without an echo. Returns "" at its end."""
    command = served()
    if command is not None:
        return command.ask(password=prompt) or ""
    with suppress(EOFError):
        return getpass.getpass(prompt, sys.stderr)
    return ""


class _RoutedStream:
    """A standard stream of a server: in a command's thread that of the command, elsewhere its own."""

    def __init__(self, place: int, own: TextIO) -> None:
        self._place, self._own = place, own

    def _stream(self) -> TextIO:
        command = served()
        return self._own if command is None else command.streams[self._place]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream(), name)


@contextmanager
def routed_streams() -> Iterator[None]:
    """Lets the commands that a server runs print and read as in a process of their own."""
    with ExitStack() as restored:
        for place, name in enumerate(("stdin", "stdout", "stderr")):
            own = getattr(sys, name)
            restored.callback(setattr, sys, name, own)
            setattr(sys, name, _RoutedStream(place, own))
        yield
