"""A process that has imported what the product imports, and forks the product's processes from there: each is
real, and costs no second of imports.

    from tests import forkserver
    forkserver.use(folder, owner)          # once in each process of a test run
    process = forkserver.start(["-m", "chatbot", "list"], ...)

One serves all workers of a run. It starts no thread, so what it forks is sound; it ends with the run's owner,
kills what a dead worker has left, and the next who asks starts another when it is gone.
"""

from __future__ import annotations

import atexit
import contextlib
import faulthandler
import fcntl
import gc
import importlib
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple, NoReturn

__all__ = ["Place", "Process", "is_used", "place", "preloaded", "run", "start", "stop", "use"]

ROOT = Path(__file__).resolve().parent.parent
# What the product imports of others as it works; what is not installed is nobody's loss here.
MODULES = """
    anyio._backends._asyncio chatbot.ui.answers chatbot.ui.document_adding chatbot.ui.routes
    chatbot.ui.session chromadb chromadb.api.rust chromadb.telemetry.product.posthog httptools
    itsdangerous langchain_text_splitters onnxruntime openai PIL.BmpImagePlugin PIL.GifImagePlugin
    PIL.JpegImagePlugin PIL.PngImagePlugin pypdf pypdfium2 requests starlette.middleware.sessions
    starlette.staticfiles streamlit.material_icon_names streamlit.starlette streamlit.web.bootstrap
    streamlit.web.cli streamlit.web.server.app_discovery streamlit.web.server.starlette tantivy tokenizers
    tqdm uvicorn.lifespan.on uvicorn.protocols.http.httptools_impl
    uvicorn.protocols.websockets.websockets_sansio_impl uvloop
""".split()
# For a process that starts: seconds until it must listen.
STARTING = 90.0


class Place(NamedTuple):
    """Where the processes of a run find each other. owner: the process it ends with."""

    folder: Path
    owner: int

    @property
    def address(self) -> str:
        return str(self.folder / "fork")


_used: list[Place] = []
_started: list[int] = []


def use(folder: Path, owner: int) -> None:
    """Fork this process's commands and servers from now on. folder: the run's own."""
    _used[:] = [Place(folder, owner)]


def place() -> Place:
    """Where this process asks."""
    return _used[-1]


def is_used() -> bool:
    """Whether there is one to ask; where not, processes are started as ever."""
    return bool(_used)


def stop() -> None:
    """End what this process has started."""
    for pid in _started:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)
    _started.clear()
    _used.clear()


class Process:
    """A forked process; the same to hold as subprocess.Popen."""

    def __init__(self, connection: socket.socket, arguments: Sequence[str]) -> None:
        self.args = list(arguments)
        self.returncode: int | None = None
        self._connection = connection
        self.pid = _number(_received(connection, 4))

    def poll(self) -> int | None:
        """The exit code once it has ended."""
        if self.returncode is None and select.select([self._connection], [], [], 0)[0]:
            self.wait()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """The exit code, negative for a signal. Raises subprocess.TimeoutExpired."""
        if self.returncode is None:
            self._connection.settimeout(timeout)
            try:
                self.returncode = _number(_received(self._connection, 4))
            except TimeoutError as error:
                raise subprocess.TimeoutExpired(self.args, timeout or 0.0) from error
            except EOFError:
                self.returncode = -signal.SIGKILL  # whoever forked it is gone, and took it along
            self._connection.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send it, if it has not ended."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def start(
    arguments: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    stdin: IO[Any] | int,
    stdout: IO[Any] | int,
    stderr: IO[Any] | int,
) -> Process:
    """What `python ARGUMENTS` would be: "-m", a module and its arguments. The streams: files or their
    numbers.
    """
    assert arguments[0] == "-m", arguments
    asked = json.dumps({"arguments": list(arguments[1:]), "cwd": str(cwd), "environment": dict(env)}).encode(
        "ascii"
    )
    streams = [one if isinstance(one, int) else one.fileno() for one in (stdin, stdout, stderr)]
    connection = _connected(_used[-1])
    try:
        socket.send_fds(connection, [struct.pack(">I", len(asked))], streams)
        connection.sendall(asked)
        return Process(connection, arguments)
    except BaseException:
        connection.close()
        raise


def run(
    arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str], input: str = "", timeout: float = 60.0
) -> subprocess.CompletedProcess[str]:
    """As subprocess.run with capture_output and text."""
    with contextlib.ExitStack() as opened:
        given, out, err = (
            opened.enter_context(os.fdopen(os.memfd_create(name), "w+b"))
            for name in ("stdin", "stdout", "stderr")
        )
        given.write(input.encode("utf-8", "surrogateescape"))
        given.seek(0)
        process = start(arguments, cwd=cwd, env=env, stdin=given, stdout=out, stderr=err)
        try:
            code = process.wait(timeout)
        except BaseException:
            process.kill()
            process.wait(10)
            raise
        said = [file.read().decode("utf-8").replace("\r\n", "\n") for file in (out, err) if file.seek(0) == 0]
    return subprocess.CompletedProcess([sys.executable, *arguments], code, *said)


def preloaded() -> dict[str, int]:
    """Its process id and the number of its threads, for who wants to know that it is sound."""
    with _connected(_used[-1]) as connection:
        socket.send_fds(connection, [struct.pack(">I", 0)], [])
        pid = _number(_received(connection, 4))
    return {"pid": pid, "threads": len(os.listdir(f"/proc/{pid}/task"))}


def _connected(at: Place) -> socket.socket:
    """A connection; starts who is to answer where nobody does. Of several that find nobody, one does."""
    with contextlib.suppress(OSError):
        return _connection(at)
    with (at.folder / "fork.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with contextlib.suppress(OSError):
            return _connection(at)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(at.address)
        log = at.folder / "fork.log"
        pid = _spawned([sys.executable, "-m", "tests.forkserver", str(at.folder), str(at.owner)], log)
        end = time.monotonic() + STARTING
        while time.monotonic() < end and os.waitpid(pid, os.WNOHANG) == (0, 0):
            with contextlib.suppress(OSError):
                connection = _connection(at)
                _started.append(pid)
                return connection
            time.sleep(0.02)
    raise RuntimeError(f"Nobody forks processes for the tests:\n{log.read_text()}")


def _connection(at: Place) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(at.address)
    except OSError:
        connection.close()
        raise
    return connection


def _spawned(command: Sequence[str], log: Path) -> int:
    """A process in a session of its own, so that Ctrl-C ends the tests and not what they still need; none
    of the product's settings reach it.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("FINPOLICY_")}
    # pyarrow's allocator starts a thread when it is imported, and numpy's arithmetic one for each core.
    environment |= {
        "OPENBLAS_NUM_THREADS": "1",
        "ARROW_DEFAULT_MEMORY_POOL": "system",
        "JE_ARROW_MALLOC_CONF": "background_thread:false",
    }
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), environment.get("PYTHONPATH")]))
    files = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(log), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    return os.posix_spawn(command[0], list(command), environment, file_actions=files, setsid=True)


def _received(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = connection.recv(size - len(data))
        if not more:
            raise EOFError
        data += more
    return data


def _number(data: bytes) -> int:
    number: int = struct.unpack(">i", data)[0]
    return number


class _Child(NamedTuple):
    pid: int
    ended: int  # a file that can be read once it has
    connection: socket.socket


def _serve(at: Place) -> dict[str, Any]:
    """Fork for whoever asks. Returns in a child alone, what it is to be; the parent never does."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(at.address)
    listener.listen(64)
    owner = os.pidfd_open(at.owner)
    children: list[_Child] = []
    while True:
        watched = [
            listener.fileno(),
            owner,
            *(child.ended for child in children),
            *(child.connection.fileno() for child in children),
        ]
        ready = set(select.select(watched, [], [])[0])
        if owner in ready:
            _end(children)
        for child in list(children):
            if child.ended in ready:
                _tell(child)
                children.remove(child)
            elif child.connection.fileno() in ready:  # nobody says anything: who asked is gone
                os.kill(child.pid, signal.SIGKILL)
                _tell(child)
                children.remove(child)
        if listener.fileno() in ready:
            connection, _ = listener.accept()
            with contextlib.suppress(OSError, EOFError):
                asked, streams = _asked(connection)
                if asked is None:
                    connection.sendall(struct.pack(">i", os.getpid()))
                    connection.close()
                    continue
                pid = os.fork()
                if not pid:
                    for file in (listener, connection, *(child.connection for child in children)):
                        file.close()
                    for number in (owner, *(child.ended for child in children)):
                        os.close(number)
                    _set_streams(streams)
                    return asked
                for number in streams:
                    os.close(number)
                children.append(_Child(pid, os.pidfd_open(pid), connection))
                connection.sendall(struct.pack(">i", pid))


def _asked(connection: socket.socket) -> tuple[dict[str, Any] | None, list[int]]:
    header, streams, *_ = socket.recv_fds(connection, 4, 3)
    size = _number(header)
    return (json.loads(_received(connection, size)) if size else None), streams


def _tell(child: _Child) -> None:
    _, status = os.waitpid(child.pid, 0)
    with contextlib.suppress(OSError), child.connection as connection:
        connection.sendall(struct.pack(">i", os.waitstatus_to_exitcode(status)))
    os.close(child.ended)


def _end(children: Sequence[_Child]) -> NoReturn:
    for child in children:
        os.kill(child.pid, signal.SIGKILL)
    os._exit(0)


def _set_streams(streams: Sequence[int]) -> None:
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin = os.fdopen(0, encoding="utf-8", errors=sys.stdin.errors, closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", errors=sys.stdout.errors, closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)
    faulthandler.register(signal.SIGUSR1)  # tells where each thread is, for whoever looks into a failed test


def _become(asked: Mapping[str, Any]) -> int:
    """Be the module that is asked for, in its folder and environment. Returns its exit code, as Python
    would.
    """
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    module, *arguments = asked["arguments"]
    sys.argv[:] = [module, *arguments]
    sys.path[0] = asked["cwd"]
    _measure_anew()
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if isinstance(end.code, int | None):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def _leave(code: int) -> NoReturn:
    """End as Python does, but for taking apart what was imported."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def _keep_measured() -> None:
    """Where the run measures coverage, write what importing has covered; a child measures anew."""
    if "COVERAGE_PROCESS_CONFIG" in os.environ:
        from coverage import Coverage

        if measuring := Coverage.current():
            measuring.stop()
            measuring.save()


def _measure_anew() -> None:
    if "COVERAGE_PROCESS_CONFIG" in os.environ:
        from coverage import process_startup

        process_startup(force=True)


def _import_all() -> None:
    """The product first: it tells others not to start threads or ask a server when they are imported. Its
    pages want to be in a server.
    """
    for package in ("ingestion", "chatbot"):
        for found in pkgutil.walk_packages([str(ROOT / package)], f"{package}."):
            if not found.name.endswith(".__main__") and not found.name.startswith("chatbot.ui"):
                importlib.import_module(found.name)
    for module in MODULES:
        with contextlib.suppress(ImportError):
            importlib.import_module(module)


def main() -> None:
    """Import, and serve until the owner ends."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _import_all()
    if (threads := len(os.listdir("/proc/self/task"))) > 1:
        raise SystemExit(f"importing has started {threads - 1} threads")
    _keep_measured()
    gc.collect()
    gc.freeze()
    _leave(_become(_serve(Place(Path(sys.argv[1]), int(sys.argv[2])))))


if __name__ == "__main__":
    main()
