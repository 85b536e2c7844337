"""Starts reading processes from one that has imported what they need, in 10 ms rather than 300; knows nothing
of what they read.

That process opens nobody's file and runs one thread, so what it forks is as a fresh process would be. It ends
with whoever started it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

__all__ = ["Forked", "leave_network", "serve"]

ROOT = Path(__file__).resolve().parents[2]
# Put last, the neighbours of an installed copy cannot hide Python's own modules.
BEGIN = """
import sys
sys.path.append(sys.argv[1])
from ingestion.reading.worker import main
main()
"""
LONGEST_PATH = 4_096
# PR_SET_PDEATHSIG of prctl(2), and CLONE_NEWNET and CLONE_NEWUSER of unshare(2).
_PDEATHSIG = 1
_NEWNET, _NEWUSER = 0x4000_0000, 0x1000_0000


class Forked:
    """A process that has begun to work, in a process group of its own. pipe: to it and from it."""

    def __init__(self, environment: Mapping[str, str], folder: str) -> None:
        """environment: of the process that forks. folder: for temporary files. Raises OSError where a process
        cannot be had."""
        self.pipe, theirs = socket.socketpair()
        try:
            with theirs:
                self._server = _running(environment)
                self.pid = self._server.ask(folder, theirs)
        except OSError:
            self.pipe.close()
            raise

    def close(self) -> None:
        """End it and all that it has started, and leave nothing of it; safe to call again."""
        if self.pipe.fileno() >= 0:
            self.pipe.close()
            with contextlib.suppress(OSError):  # a server that has died took it along
                self._server.ask(str(self.pid))


class _Server:
    """The process that forks, and the socket by which it is asked."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.pipe, theirs = socket.socketpair()
        self._lock = threading.Lock()
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

    def ask(self, request: str, *pipes: socket.socket) -> int:
        """With a pipe fork a process that uses this folder, without one end that of this number. Returns
        its number. Raises OSError."""
        with self._lock:
            socket.send_fds(self.pipe, [os.fsencode(request)], [pipe.fileno() for pipe in pipes])
            number = int(self.pipe.recv(20) or -1)
        if number < 0:
            raise OSError(-number, os.strerror(-number))
        return number


_servers = list[_Server]()
_starting = threading.Lock()
os.register_at_fork(after_in_child=_servers.clear)


def _running(environment: Mapping[str, str]) -> _Server:
    """The process that forks: another where the first has died."""
    with _starting:
        if _servers and _servers[0].process.poll() is not None:
            _servers.pop().pipe.close()
        if not _servers:
            _servers.append(_Server(environment))
        return _servers[0]


def serve(work: Callable[[socket.socket], None]) -> None:
    """Fork for each request on standard input, until that ends. work: what a child does with its pipe."""
    asked = socket.socket(fileno=os.dup(0))
    while True:
        request, pipes, _, _ = socket.recv_fds(asked, LONGEST_PATH, 1)
        if not request:
            return
        try:
            number = _fork(os.fsdecode(request), pipes[0], asked, work) if pipes else _end(int(request))
        except OSError as error:
            number = -(error.errno or 1)
        for pipe in pipes:
            os.close(pipe)
        asked.sendall(str(number).encode())


def _fork(folder: str, pipe: int, asked: socket.socket, work: Callable[[socket.socket], None]) -> int:
    pid = os.fork()
    if pid:
        os.setpgid(pid, pid)  # it starts nothing before it is asked to
        return pid
    try:
        ctypes.CDLL(None).prctl(_PDEATHSIG, signal.SIGKILL)
        asked.close()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.environ["TMPDIR"] = folder
        work(socket.socket(fileno=pipe))
    finally:
        os._exit(0)


def _end(pid: int) -> int:
    """Kill a child's whole process group. Until note is taken of its end its number is nobody else's."""
    os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return pid


def leave_network() -> bool:
    """Give this process, and all that it starts, a network of its own that leads nowhere.

    Returns False where the system forbids that, as some containers do.
    """
    unshare = ctypes.CDLL(None).unshare
    return not (unshare(_NEWNET) and unshare(_NEWNET | _NEWUSER))
