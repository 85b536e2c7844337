"""Starts reading processes from one that has imported what they need, in 10 ms rather than 300; knows nothing
of what they read.

That process opens nobody's file and runs one thread, so what it forks is as a fresh process would be. It ends
with whoever started it.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["Forked", "serve"]

ROOT = Path(__file__).resolve().parents[2]
# An installed copy is found as it is; put first, its neighbours could hide Python's own modules.
BEGIN = """
import sys
if sys.argv[1] not in sys.path:
    sys.path.insert(0, sys.argv[1])
from ingestion.reading.worker import main
main()
"""
# What a reader imports beside what reads text: brought in one after another, while nobody asks.
LATER = (
    "ingestion.reading.pdf",
    "ingestion.reading.layout",
    "ingestion.tables.detection",
    "ingestion.ocr.recognition",
)
# Of an environment and some words.
LARGEST_REQUEST = 2**16
_NUMBER = struct.Struct(">q")
# PR_SET_PDEATHSIG of prctl(2).
_PDEATHSIG = 1


class Forked:
    """A process that has begun to work, in a process group of its own. stdin, stdout: pipes to it."""

    def __init__(self, work: Sequence[str], environment: Mapping[str, str]) -> None:
        """work: as in `serve`. Raises OSError where a process or a pipe cannot be had."""
        with contextlib.ExitStack() as theirs:
            pipes = [os.pipe() for _ in range(2)]
            (taken, given), (read, answered) = pipes
            theirs.callback(os.close, taken)
            theirs.callback(os.close, answered)
            self.stdin, self.stdout = open(given, "wb"), open(read, "rb")  # noqa: SIM115
            try:
                self._server, self.pid = _forked(work, environment, (taken, answered))
            except OSError:
                self._close()
                raise

    def kill(self) -> None:
        """End it and all that it has started."""
        self._tell("kill")

    def close(self) -> None:
        """End it and leave nothing of it; safe to call again."""
        if not self.stdout.closed:
            self._tell("end")
            self._close()

    def _tell(self, what: str) -> None:
        with contextlib.suppress(OSError):  # a server that has died took it along
            self._server.ask({what: self.pid})

    def _close(self) -> None:
        for pipe in (self.stdin, self.stdout):
            with contextlib.suppress(OSError):
                pipe.close()


class _Server:
    """The process that forks, and the socket by which it is asked."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-c", BEGIN, str(ROOT)],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=ROOT,
                env=dict(environment),
                start_new_session=True,  # an interrupt at the keyboard is the parent's to handle
            )
        self._socket, self._lock = ours, threading.Lock()

    def ask(self, request: Mapping[str, Any], pipes: Sequence[int] = ()) -> int:
        """A request and what is answered: a process's id. Raises OSError, of errno EPIPE or ECONNRESET
        where the process has died.
        """
        with self._lock:
            socket.send_fds(self._socket, [json.dumps(request).encode()], list(pipes))
            answer = self._socket.recv(_NUMBER.size)
        if not answer:
            raise BrokenPipeError
        (number,) = _NUMBER.unpack(answer)
        if number < 0:
            raise OSError(-number, os.strerror(-number))
        return int(number)

    def close(self) -> None:
        self._socket.close()
        self.process.kill()
        self.process.wait()


_servers: list[_Server] = []
_starting = threading.Lock()
os.register_at_fork(after_in_child=_servers.clear)


def _forked(work: Sequence[str], environment: Mapping[str, str], pipes: Sequence[int]) -> tuple[_Server, int]:
    """A process, and the server that forked it: another where the first has died."""
    while True:
        with _starting:
            new = not _servers
            if new:
                _servers.append(_Server(environment))
            server = _servers[-1]
        try:
            return server, server.ask({"work": list(work), "environment": dict(environment)}, pipes)
        except ConnectionError:
            with _starting:
                if server in _servers:
                    _servers.remove(server)
                    server.close()
            if new:
                raise


def serve(work: Callable[[Sequence[str]], None]) -> None:
    """Fork for each request on standard input, until that ends. work: what a child does with the words that
    it was given; it has its pipes as standard input and output and the environment that came with them."""
    asked = socket.socket(fileno=os.dup(0))
    later = list(LATER)
    while True:
        while later and not select.select([asked], [], [], 0)[0]:
            importlib.import_module(later.pop(0))
        data, pipes, _, _ = socket.recv_fds(asked, LARGEST_REQUEST, 2)
        if not data:
            return
        request = json.loads(data)
        try:
            if "work" in request:
                answer = _fork(asked, request, pipes, work)
            else:
                answer = _end(request)
        except OSError as error:
            answer = -(error.errno or 1)
        for pipe in pipes:
            os.close(pipe)
        asked.sendall(_NUMBER.pack(answer))


def _fork(
    asked: socket.socket,
    request: Mapping[str, Any],
    pipes: Sequence[int],
    work: Callable[[Sequence[str]], None],
) -> int:
    pid = os.fork()
    if pid:
        with contextlib.suppress(
            OSError
        ):  # the child was first; both do it, so that it can be killed as a group from now on
            os.setpgid(pid, pid)
        return pid
    status = 1
    try:
        os.setpgid(0, 0)
        _end_with_parent()
        asked.close()
        for standard, pipe in enumerate(pipes):
            os.dup2(pipe, standard)
            os.close(pipe)
        os.environ.clear()
        os.environ.update(request["environment"])
        work(request["work"])
        status = 0
    finally:
        os._exit(status)


def _end_with_parent() -> None:
    """Have the system kill this process when the one that forked it ends; where that cannot be had, it
    ends when its pipes do.
    """
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PDEATHSIG, signal.SIGKILL)


def _end(request: Mapping[str, int]) -> int:
    """Kill a child's whole process group; with "end" also take note of its end. Until then its number is
    nobody else's.
    """
    ((what, pid),) = request.items()
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    if what == "end":
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)
    return pid
