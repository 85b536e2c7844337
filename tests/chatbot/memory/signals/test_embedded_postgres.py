"""The embedded Postgres: starts on demand, ends with its process however that ends, keeps its data to
itself.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from chatbot.memory.memory_database import MemoryDatabase
from chatbot.memory.signals.embedded_postgres import HERE, EmbeddedServer, _check_reach
from chatbot.memory.signals.records import SignalsError
from chatbot.memory.signals.signal_layer import SignalLayer
from chatbot.memory.signals.signal_store import Signals
from chatbot.memory.signals.state import Switch
from chatbot.records import Notice
from tests.chatbot.memory.signals.postgres import ask, connect, news
from tests.fakes import HashEmbedder

OWNER = """
import sys, time
from pathlib import Path
from chatbot.memory.signals.embedded_postgres import EmbeddedServer
server = EmbeddedServer(Path(sys.argv[1]))
print(server.address(), flush=True)
print(server.pid(), flush=True)
if sys.argv[2] == "stay":
    time.sleep(60)
"""


def gone(pid: int) -> bool:
    """Whether that process ends within ten seconds."""
    for _ in range(200):
        if not Path(f"/proc/{pid}").exists():
            return True
        time.sleep(0.05)
    return False


def address_when_back(server: EmbeddedServer) -> str:
    """Asked until it runs again, for ten seconds."""
    for _ in range(200):
        with suppress(SignalsError):
            return server.address()
        time.sleep(0.05)
    return server.address()


@pytest.mark.parametrize("end", ["by itself", "killed"])
def test_the_server_ends_with_its_process(reachable: Path, root: Path, end: str) -> None:
    command = [sys.executable, "-c", OWNER, str(reachable / "owned"), "stay" if end == "killed" else "go"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) as owner:
        assert owner.stdout is not None
        address = owner.stdout.readline().strip()
        pid = int(owner.stdout.readline())
        if end == "killed":
            with connect(address) as connection:
                assert connection.execute("SELECT 1").fetchone() == (1,)
            owner.send_signal(signal.SIGKILL)
    assert gone(pid)
    with pytest.raises(psycopg.OperationalError):
        connect(address)


def test_data_survive_a_stop_and_a_kill(reachable: Path) -> None:
    server = EmbeddedServer(reachable / "survivor")
    try:
        with connect(server.address()) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 1 AS one")
        server.stop()
        assert server.pid() == 0
        with connect(server.address()) as connection:
            assert connection.execute("SELECT one FROM kept").fetchone() == (1,)
        os.kill(server.pid(), signal.SIGKILL)
        while server.pid():
            time.sleep(0.01)
        with pytest.raises(SignalsError, match="is starting again"):
            server.address()
        with connect(address_when_back(server)) as connection:
            assert connection.execute("SELECT one FROM kept").fetchone() == (1,)
    finally:
        server.stop()


@pytest.mark.long
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files to another user")
def test_data_that_root_copied_are_given_to_the_servers_user(reachable: Path) -> None:
    server = EmbeddedServer(reachable / "first")
    with connect(server.address()) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 1 AS one")
    server.stop()
    outside = reachable / "outside"
    outside.write_text("mine")
    shutil.copytree(reachable / "first", reachable / "copy", symlinks=True)
    (reachable / "copy" / "data" / "stray").symlink_to(outside)
    copy = EmbeddedServer(reachable / "copy")
    try:
        with connect(copy.address()) as connection:
            assert connection.execute("SELECT one FROM kept").fetchone() == (1,)
    finally:
        copy.stop()
    assert outside.stat().st_uid == 0


@pytest.mark.alone
def test_whoever_asks_while_it_is_started_again_does_not_wait(
    reachable: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = EmbeddedServer(reachable / "again")
    slowly = threading.Event()
    try:
        server.address()
        os.kill(server.pid(), signal.SIGKILL)
        while server.pid():
            time.sleep(0.01)
        start = server._start
        monkeypatch.setattr(server, "_start", lambda: (slowly.wait(20), start()))
        for _ in range(5):
            started = time.monotonic()
            with pytest.raises(SignalsError, match="is starting again") as told:
                server.address()
            assert time.monotonic() - started < 0.3
            assert told.value.kind == "starting"
            time.sleep(0.05)
        slowly.set()
        assert address_when_back(server)
        assert server.pid()
    finally:
        slowly.set()
        server.stop()


@pytest.mark.alone
def test_whoever_asks_while_another_starts_it_waits_no_longer_than_it_says(reachable: Path) -> None:
    server = EmbeddedServer(reachable / "held")
    with server._lock:
        failed = list[SignalsError]()

        def wait() -> None:
            started = time.monotonic()
            with pytest.raises(SignalsError) as told:
                server.address(seconds=0.1)
            assert time.monotonic() - started < 2
            failed.append(told.value)

        thread = threading.Thread(target=wait)
        thread.start()
        thread.join()
    assert [error.kind for error in failed] == ["starting"]


@pytest.mark.parametrize("name", ["o'brien", "a, b", 'quo"ted', "back\\slash"])
def test_a_folder_of_any_name_can_be_used(reachable: Path, name: str) -> None:
    server = EmbeddedServer(reachable / name)
    try:
        with connect(server.address()) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
    finally:
        server.stop()


@pytest.mark.parametrize("fault", ["server.log", "data.new", "data", "folder"])
def test_a_file_in_the_place_of_a_folder_is_named_and_the_answer_goes_on(reachable: Path, fault: str) -> None:
    folder = reachable / f"fault-{fault}"
    if fault == "folder":
        (folder.with_name("fault-file")).write_text("")
        folder = folder.with_name("fault-file")
        signals = Signals(folder, HashEmbedder(dimension=64))
        with pytest.raises(SignalsError, match="cannot be used"):
            signals.add(news("Rates rose."))
        return
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    if fault == "server.log":
        (folder / fault).mkdir()
    else:
        (folder / fault).write_text("")
    memories = MemoryDatabase(None)
    Switch(memories).change(imported=True)
    signals = Signals(folder, HashEmbedder(dimension=64), database=memories)
    try:
        told: list[Notice] = []
        asked = replace(ask("Was an exchange hacked?"), tell=told.append)
        notes = SignalLayer(signals).recall(asked, 3)
        assert "local template" in notes[0].source
        assert "Answered without news signals" in told[0].text
        assert told[0].hint
        assert signals.health().state == "failed"
    finally:
        signals.close()


def test_a_first_try_that_ends_at_once_is_tried_again_and_leaves_no_pipe_open(
    reachable: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = EmbeddedServer(reachable / "twice")
    spawn = server._spawn
    tried = list[subprocess.Popen[bytes]]()

    def first_ends(command: Sequence[str], user: str) -> subprocess.Popen[bytes]:
        tried.append(spawn(command if tried else ["/bin/false"], user))
        return tried[-1]

    monkeypatch.setattr(server, "_spawn", first_ends)
    try:
        assert server.address()
        assert server.pid()
        assert [one.stdin is not None and one.stdin.closed for one in tried] == [True, False]
    finally:
        server.stop()


def test_a_start_that_takes_for_ever_is_named(reachable: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forever(*_: object, **__: object) -> None:
        raise subprocess.TimeoutExpired("initdb", 120)

    server = EmbeddedServer(reachable / "forever")
    monkeypatch.setattr(server, "_initialise", forever)
    with pytest.raises(SignalsError, match="did not start in 120 seconds") as told:
        server.address()
    assert told.value.retryable


def test_only_its_own_user_reaches_data_and_socket_and_nothing_listens_on_the_network(
    server: EmbeddedServer, reachable: Path
) -> None:
    assert (reachable / "session" / "data").stat().st_mode & 0o077 == 0
    with connect(server.address()) as connection:
        assert connection.execute("SHOW listen_addresses").fetchone() == ("",)
        folder = HERE if os.geteuid() == 0 else reachable / "session" / "data"
        assert connection.execute("SHOW unix_socket_directories").fetchone() == (str(folder),)


def test_a_path_too_long_for_a_socket_is_no_hindrance(reachable: Path) -> None:
    server = EmbeddedServer(reachable / ("long" * 30))
    try:
        with connect(server.address()) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
    finally:
        server.stop()


def test_a_start_cut_short_is_begun_again(reachable: Path) -> None:
    (reachable / "cut" / "data.new").mkdir(parents=True)
    (reachable / "cut" / "data.new" / "PG_VERSION").write_text("18\n")
    server = EmbeddedServer(reachable / "cut")
    try:
        assert server.address()
        assert server.pid()
    finally:
        server.stop()


def test_data_of_another_version_are_named_and_left_alone(reachable: Path) -> None:
    (reachable / "old" / "data").mkdir(parents=True)
    (reachable / "old" / "data" / "PG_VERSION").write_text("9\n")
    with pytest.raises(SignalsError, match="with Postgres 9, but 18"):
        EmbeddedServer(reachable / "old").address()
    assert (reachable / "old" / "data" / "PG_VERSION").read_text() == "9\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root needs another user for the server")
def test_folders_that_are_closed_to_the_servers_user_stay_closed_and_do_no_harm(reachable: Path) -> None:
    closed = reachable / "closed"
    signals = closed / "signals"
    signals.mkdir(parents=True)
    for folder in (closed, signals):
        folder.chmod(0o700)
    server = EmbeddedServer(signals)
    another = EmbeddedServer(signals)
    try:
        with connect(server.address()) as connection, connect(another.address()) as shared:
            assert connection.execute("SELECT 1").fetchone() == (1,)
            assert shared.execute("SELECT 1").fetchone() == (1,)
        data = signals / "data"
        for path in (closed, signals, *data.rglob("*")):
            assert path.stat().st_mode & 0o077 == 0
    finally:
        server.stop()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root needs another user for the server")
def test_programs_that_are_closed_to_the_servers_user_are_named_and_stay_closed(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    with pytest.raises(SignalsError, match="does not run as root") as named:
        _check_reach("postgres", closed)
    assert named.value.kind == "denied"
    assert f"chmod o+x {closed}" in named.value.hint
    assert closed.stat().st_mode & 0o777 == 0o700
