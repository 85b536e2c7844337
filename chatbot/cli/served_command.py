"""Knows whether a command runs in a server for another process, and lends it that one's streams."""

from __future__ import annotations

import getpass
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TextIO

from chatbot.errors import StoreError

if TYPE_CHECKING:
    from chatbot.service import Chatbot
    from chatbot.settings import Settings
    from chatbot.store.addition_queue import Additions

__all__ = [
    "ServedCommand",
    "ServedStore",
    "Terminal",
    "ask_password",
    "errors",
    "go_on",
    "is_interactive",
    "refuse_beside_a_server",
    "resolved",
    "routed_streams",
    "running",
    "served",
    "stopped",
]

STREAMS = ("stdin", "stdout", "stderr")


class _Check(Protocol):
    @property
    def running(self) -> bool: ...


class ServedStore(Protocol):
    """The store that a server has open, with all that works on it."""

    @property
    def settings(self) -> Settings: ...

    @property
    def chatbot(self) -> Chatbot: ...

    @property
    def additions(self) -> Additions: ...

    @property
    def check(self) -> _Check: ...

    def restore(self, name: str) -> None: ...

    def erase(self, name: str) -> list[Path]: ...


class Terminal(Protocol):
    """The terminal, or the files, of the process that gave the command."""

    @property
    def streams(self) -> tuple[TextIO, TextIO, TextIO]: ...

    @property
    def stopped(self) -> bool: ...

    def ask(self, prompt: str) -> str: ...

    def go_on(self) -> None: ...


@dataclass(frozen=True, slots=True)
class ServedCommand:
    """A command that a server runs for another process.

    folder: where that process stands, to which its paths are relative.
    url: where the server's pages are, for messages.
    columns: width of its terminal.
    began: when it was received, by time.perf_counter.
    """

    store: ServedStore
    terminal: Terminal
    folder: Path
    url: str
    columns: int
    began: float = field(default_factory=time.perf_counter)

    def must_be_idle(self, command: str) -> None:
        """Raises StoreError while the server changes the store."""
        if self.store.check.running or any(job.busy for job in self.store.additions.jobs()):
            raise StoreError(
                f"`{command}` has to wait: the server is adding documents, or checks the store.",
                hint=f"Try again when {self.url} shows that it is done.",
                retryable=True,
            )


_current: ContextVar[ServedCommand | None] = ContextVar("served_command", default=None)


def served() -> ServedCommand | None:
    """Returns the command that this thread runs for another process, None in a process of its own."""
    return _current.get()


@contextmanager
def running(command: ServedCommand) -> Iterator[None]:
    """Makes this thread run `command` meanwhile."""
    token = _current.set(command)
    try:
        yield
    finally:
        _current.reset(token)


def stopped() -> bool:
    """Tells whether whoever gave the command has stopped it, or is gone.

    In a process of its own, Ctrl+C raises KeyboardInterrupt by itself.
    """
    command = served()
    return command is not None and command.terminal.stopped


def go_on() -> None:
    """Raises KeyboardInterrupt if the command was stopped. To be called now and then in long work."""
    if (command := served()) is not None:
        command.terminal.go_on()


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


def errors() -> tuple[TextIO, int | None]:
    """Returns the stream of errors, for threads that do not know the command, and the terminal's width.

    The width is None where the stream's own terminal tells it.
    """
    command = served()
    if command is None:
        return sys.stderr, None
    _, _, stream = command.terminal.streams
    return stream, command.columns


def is_interactive() -> bool:
    """Tells whether somebody at a terminal can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask_password(prompt: str) -> str:
    """Asks at the terminal, without an echo. Raises EOFError."""
    command = served()
    return getpass.getpass(prompt, sys.stderr) if command is None else command.terminal.ask(prompt)


class _RoutedStream:
    """A standard stream of a server: in a command's thread that of the command, elsewhere its own."""

    def __init__(self, place: int, own: TextIO) -> None:
        self._place, self._own = place, own

    def _stream(self) -> TextIO:
        command = served()
        return self._own if command is None else command.terminal.streams[self._place]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream(), name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._stream())


@contextmanager
def routed_streams() -> Iterator[None]:
    """Lets the commands that a server runs print and read as in a process of their own."""
    own = [getattr(sys, name) for name in STREAMS]
    for place, name in enumerate(STREAMS):
        setattr(sys, name, _RoutedStream(place, own[place]))
    try:
        yield
    finally:
        for name, stream in zip(STREAMS, own, strict=True):
            setattr(sys, name, stream)
