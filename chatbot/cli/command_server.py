"""Runs commands in the process that has the store open, for processes of the same account that ask it to."""

from __future__ import annotations

import codecs
import contextlib
import io
import json
import logging
import os
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

import chatbot
from chatbot.cli.arguments import Command, run_served
from chatbot.cli.exit_codes import FAILED, UNUSABLE
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
from chatbot.cli.served_command import ServedCommand, ServedStore, running, served
from ingestion.invisible_characters import visible

__all__ = ["CommandServer"]

log = logging.getLogger(__name__)

MOST_COMMANDS = 64
# How long a process may take to say what it wants, the store to open, and commands to end with the server.
HELLO_SECONDS, LOOK_SECONDS, CLOSE_SECONDS = 10.0, 0.1, 10.0


class CommandServer:
    """Listens in the store's folder from when the store is open. Each command has threads of its own."""

    def __init__(
        self, opened: Callable[[], ServedStore | None], url: str, *, mcp: Command | None = None
    ) -> None:
        """Starts a thread that waits for the store.

        opened: the open store, None while it is being opened. It holds the store's lock, so that a socket
            that is there already belongs to nobody.
        url: where the server's pages are, for messages.
        mcp: as in `arguments.main`.
        """
        self._opened, self._url, self._mcp = opened, url, mcp
        self._lock = threading.Lock()
        self._closing = False
        self._listener: socket.socket | None = None
        self._clients: dict[threading.Thread, ClientTerminal] = {}
        self._thread = threading.Thread(target=self._listen, name="commands", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stops the commands on their way."""
        with self._lock:
            self._closing = True
            listener, clients = self._listener, dict(self._clients)
        if listener is not None:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)  # wakes the thread
        for client in clients.values():
            client.stop()
        end = time.monotonic() + CLOSE_SECONDS
        for thread in (self._thread, *clients):
            thread.join(max(0.0, end - time.monotonic()))

    def _listen(self) -> None:
        while (store := self._opened()) is None:
            if self._closing:
                return
            time.sleep(LOOK_SECONDS)
        path = store.settings.store
        try:
            with _bound(path) as listener:
                with self._lock:
                    self._listener = listener
                while not self._closing:
                    connection, _ = listener.accept()
                    self._begin(store, connection)
        except OSError as error:
            if not self._closing:
                log.warning("commands cannot be taken at %s: %s", visible(str(path)), error.strerror)

    def _begin(self, store: ServedStore, connection: socket.socket) -> None:
        frames = Frames(connection)
        with self._lock:
            problem = ""
            if not is_our_own(connection):
                problem = "The store belongs to another account."
            elif len(self._clients) >= MOST_COMMANDS:
                problem = "The server runs as many commands as it can. Try again in a moment."
            if not problem:
                terminal = ClientTerminal(frames)
                thread = threading.Thread(target=self._serve, args=(store, terminal), daemon=True)
                self._clients[thread] = terminal
                thread.start()
                return
        with contextlib.suppress(OSError):
            connection.settimeout(HELLO_SECONDS)
            _refuse(frames, problem)
        frames.close()

    def _serve(self, store: ServedStore, terminal: ClientTerminal) -> None:
        try:
            terminal.serve(store, self._url, self._mcp)
        except (
            OSError,
            ValueError,
            LookupError,
            TypeError,
            OverflowError,
            RecursionError,
        ) as error:  # no command of ours
            log.info("a command was not understood: %s", type(error).__name__)
        finally:
            terminal.frames.close()
            with self._lock:
                self._clients.pop(threading.current_thread(), None)


@contextlib.contextmanager
def _bound(store: Path) -> Any:
    """Lends a listening socket in the store's folder that is only for its owner."""
    with socket_path(store) as path, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        listener.bind(path)
        os.chmod(path, 0o600)
        listener.listen(MOST_COMMANDS)
        try:
            yield listener
        finally:
            with contextlib.suppress(OSError):
                os.unlink(path)


def _refuse(frames: Frames, problem: str) -> None:
    frames.send(ERRORS, f"Error: {problem}\n".encode())
    frames.send(END, str(UNUSABLE).encode())


class ClientTerminal:
    """The terminal of a process that gave a command, at the other end of its socket.

    After a stop, the next thing that the command reads or writes raises KeyboardInterrupt, once; what it
    writes then are its last words.
    """

    def __init__(self, frames: Frames) -> None:
        self.frames = frames
        self.stopped = False
        self.streams: tuple[TextIO, TextIO, TextIO]
        self._changed = threading.Condition()
        self._told, self._gone, self._ended = False, False, False
        self._input: bytes | None = None
        self._answer: dict[str, str] | None = None

    def stop(self) -> None:
        """Stops the command as Ctrl+C does."""
        with self._changed:
            self.stopped = True
            self._changed.notify_all()

    def serve(self, store: ServedStore, url: str, mcp: Command | None) -> None:
        """Runs the command. Raises OSError, ValueError, LookupError or TypeError if none comes."""
        self.frames.socket.settimeout(HELLO_SECONDS)
        kind, data = self.frames.wait()
        self.frames.socket.settimeout(None)
        given = json.loads(data)
        if kind != RUN or given["version"] != chatbot.__version__:
            version = visible(str(given["version"])[:40])
            _refuse(
                self.frames,
                f"The server at {url} is version {chatbot.__version__}, and this command {version}. Restart "
                f"the server.",
            )
            return
        self.streams = self._opened(given["streams"])
        words = [str(word) for word in given["arguments"]]
        command = ServedCommand(store, self, Path(given["folder"]), url, int(given["columns"]))
        listening = threading.Thread(target=self._listen, name="command-input", daemon=True)
        listening.start()
        code = self._run(words, command, mcp)
        self._told = True  # what is left in the buffers of the streams stops nobody
        with contextlib.suppress(OSError):
            self.frames.send(END, str(code).encode())

    def _run(self, words: list[str], command: ServedCommand, mcp: Command | None) -> int:
        with running(command):
            try:
                code = run_served(words, command, mcp=mcp)
                for stream in self.streams[1:]:
                    stream.flush()
                return code
            except KeyboardInterrupt:  # stopped with its last words
                return 130
            except Exception:
                log.exception("a command failed")
                self.write(ERRORS, b"Error: Something inside failed. The server's log says what.\n")
                return FAILED

    def _opened(self, given: list[dict[str, Any]]) -> tuple[TextIO, TextIO, TextIO]:
        stdin, stdout, stderr = (
            (codecs.lookup(one["encoding"]).name, str(one["errors"]), bool(one["terminal"])) for one in given
        )
        return (
            _text(io.BufferedReader(_Stream(self, INPUT, stdin[2])), *stdin),
            _text(io.BufferedWriter(_Stream(self, OUTPUT, stdout[2])), *stdout),
            _text(io.BufferedWriter(_Stream(self, ERRORS, stderr[2])), *stderr[:2], True),
        )

    def _listen(self) -> None:
        """Takes what the process sends, until it is gone or the command has ended."""
        try:
            while True:
                kind, data = self.frames.wait()
                with self._changed:
                    if kind == INPUT:
                        self._input = data
                    elif kind == ANSWER:
                        self._answer = json.loads(data)
                    elif kind == INTERRUPT:
                        self.stopped = True
                    self._changed.notify_all()
        except (OSError, ValueError):
            with self._changed:
                self.stopped = self._gone = True
                self._changed.notify_all()

    # --- what the streams call

    def read(self) -> bytes:
        """Returns what comes next on standard input, b"" at its end."""
        self.go_on()
        if self._ended or self._gone:
            return b""
        self._send(READ, b"")
        with self._changed:
            self._changed.wait_for(lambda: self._input is not None or self.stopped)
            data, self._input = self._input, None
        if data is None:
            self.go_on()
        self._ended = not data
        return data or b""

    def write(self, kind: bytes, data: bytes) -> None:
        self.go_on()
        self._send(kind, data)

    def ask(self, prompt: str) -> str:
        """Asks at the other's terminal, without an echo. Raises EOFError."""
        self.go_on()
        self._send(PROMPT, prompt.encode())
        with self._changed:
            self._changed.wait_for(lambda: self._answer is not None or self.stopped)
            answer, self._answer = self._answer, None
        self.go_on()
        if answer is None or "text" not in answer:
            raise EOFError
        return str(answer["text"])

    def go_on(self) -> None:
        """Raises KeyboardInterrupt once the command is stopped, in its threads alone."""
        with self._changed:
            if self.stopped and not self._told and served() is not None:
                self._told = True
                raise KeyboardInterrupt

    def _send(self, kind: bytes, data: bytes) -> None:
        try:
            if not self._gone:
                self.frames.send(kind, data)
        except OSError:
            with self._changed:
                self.stopped = self._gone = True


class _Stream(io.RawIOBase):
    """One of the streams, in bytes."""

    def __init__(self, terminal: ClientTerminal, kind: bytes, shown: bool) -> None:
        self._terminal, self._kind, self._shown = terminal, kind, shown
        self._left = b""

    def readable(self) -> bool:
        return self._kind == INPUT

    def writable(self) -> bool:
        return self._kind != INPUT

    def isatty(self) -> bool:
        return self._shown

    def readinto(self, buffer: Any) -> int:
        data = self._left or self._terminal.read()
        given = data[: len(buffer)]
        buffer[: len(given)] = given
        self._left = data[len(given) :]
        return len(given)

    def write(self, data: Any) -> int:
        self._terminal.write(self._kind, bytes(data))
        return len(data)


def _text(stream: Any, encoding: str, errors: str, shown: bool) -> TextIO:
    return io.TextIOWrapper(stream, encoding, errors, line_buffering=shown)
