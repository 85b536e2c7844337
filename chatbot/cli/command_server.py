"""Runs commands in the process that has the store open, for processes of the same account that ask it to."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from chatbot.cli.arguments import Command, run_served
from chatbot.cli.command_client import is_our_own, socket_path
from chatbot.cli.output import FAILED
from chatbot.cli.served_command import ServedCommand
from chatbot.errors import StoreError
from ingestion.invisible_characters import visible

if TYPE_CHECKING:
    from chatbot.app.app_context import AppContext

__all__ = ["CommandServer"]

log = logging.getLogger(__name__)

MOST_COMMANDS = 64
# How long a process may take to say what it wants, the store to open, and commands to end with the server.
HELLO_SECONDS, LOOK_SECONDS, CLOSE_SECONDS = 10.0, 0.1, 10.0


class CommandServer:
    """Listens in the store's folder from when the store is open. Each command has a thread of its own."""

    def __init__(
        self, opened: Callable[[], AppContext | None], url: str, *, mcp: Command | None = None
    ) -> None:
        """Starts a thread that waits for the store.

        opened: the open store, None while it is being opened. It holds the store's lock, so that a socket
            that is there already belongs to nobody.
        url: where the server's pages are, for messages.
        mcp: as in `arguments.main`.
        """
        self._opened, self._url, self._mcp = opened, url, mcp
        self._closing = threading.Event()
        self._listener: socket.socket | None = None
        self._commands: dict[threading.Thread, socket.socket] = {}
        self._thread = threading.Thread(target=self._listen, name="commands", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stops the commands on their way."""
        self._closing.set()
        commands = dict(self._commands)
        for waited_on in (self._listener, *commands.values()):
            if waited_on is not None:
                with contextlib.suppress(OSError):
                    waited_on.shutdown(socket.SHUT_RD)
        end = time.monotonic() + CLOSE_SECONDS
        for thread in (self._thread, *commands):
            thread.join(max(0.0, end - time.monotonic()))

    def _listen(self) -> None:
        while (store := self._opened()) is None:
            if self._closing.wait(LOOK_SECONDS):
                return
        path = store.settings.store
        try:
            with _bound(path) as self._listener:
                while not self._closing.is_set():
                    connection, _ = self._listener.accept()
                    thread = threading.Thread(target=self._serve, args=(store, connection), daemon=True)
                    self._commands[thread] = connection
                    thread.start()
        except OSError as error:
            if not self._closing.is_set():
                log.warning("commands cannot be taken at %s: %s", visible(str(path)), error.strerror)

    def _serve(self, store: AppContext, connection: socket.socket) -> None:
        try:
            self._answer(store, connection)
        except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:  # no command of ours
            log.info("a command was not understood: %s", type(error).__name__)
        finally:
            with contextlib.suppress(OSError):  # the command's files may still hold the connection
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()
            self._commands.pop(threading.current_thread(), None)

    def _answer(self, store: AppContext, connection: socket.socket) -> None:
        connection.settimeout(HELLO_SECONDS)
        try:
            if not is_our_own(connection):
                raise StoreError("The store belongs to another account.")
            if len(self._commands) > MOST_COMMANDS:
                raise StoreError("The server runs as many commands as it can. Try again in a moment.")
            command = ServedCommand(connection, store, self._url)
        except StoreError as error:
            connection.sendall(json.dumps({"refused": str(error)}).encode("ascii") + b"\n")
            return
        connection.settimeout(None)
        code = FAILED
        try:
            code = self._run(command)
        except KeyboardInterrupt:  # stopped with its last words
            code = 130
        finally:
            command.end(code)

    def _run(self, command: ServedCommand) -> int:
        try:
            return run_served(command, mcp=self._mcp)
        except SystemExit:  # a command of this version whose arguments this server does not know
            print("Error: The server does not know this command. Restart it.", file=command.streams[-1])
            return FAILED
        except Exception:
            log.exception("a command failed")
            print("Error: Something inside failed. The server's log says what.", file=command.streams[-1])
            return FAILED


@contextlib.contextmanager
def _bound(store: Path) -> Iterator[socket.socket]:
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
