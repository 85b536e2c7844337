"""Reading processes are forked from one that is ready: fresh each, killed as a group, and from another
where that one has died.
"""

from __future__ import annotations

import os
import resource
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ingestion.errors import ReaderDiedError
from ingestion.reading import forkserver
from ingestion.reading.reader import Reader
from ingestion.reading.worker import MEMORY_LIMIT, NICENESS
from tests.pdfs import make_pdf


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return make_pdf(tmp_path / "a.pdf", ["The deficit ceiling is 3.0 per cent of output."])


@pytest.fixture
def server(path: Path) -> Iterator[int]:
    """The process that forks."""
    with Reader(path):
        yield forkserver._servers[-1].process.pid


def until(true: Callable[[], object]) -> bool:
    end = time.monotonic() + 10
    while not true() and time.monotonic() < end:
        time.sleep(0.02)
    return bool(true())


def status_of(pid: int) -> list[str]:
    """The fields behind the name of a process: its state, its parent and more."""
    _, _, fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")
    return fields.split()


def is_there(pid: int) -> bool:
    """Whether a process runs, rather than waiting for note to be taken of its end."""
    try:
        state, *_ = status_of(pid)
    except FileNotFoundError:
        return False
    return state != "Z"


def test_each_reader_is_a_process_of_its_own_under_limits(path: Path, server: int) -> None:
    with Reader(path) as first, Reader(path) as second:
        assert len({first._process.pid, second._process.pid, server}) == 3
        for reader in (first, second):
            pid = reader._process.pid
            _, parent, *_ = status_of(pid)
            assert int(parent) == server
            soft, _ = resource.prlimit(pid, resource.RLIMIT_AS)
            assert soft == MEMORY_LIMIT
            own, of_server = os.getpriority(os.PRIO_PROCESS, pid), os.getpriority(os.PRIO_PROCESS, server)
            assert own - of_server == NICENESS
    assert not is_there(first._process.pid)
    assert not Path(f"/proc/{second._process.pid}").exists()


def test_nothing_of_one_document_is_open_in_the_reader_of_another(tmp_path: Path, path: Path) -> None:
    other = make_pdf(tmp_path / "b.pdf", ["Debt"])
    with Reader(path) as first, Reader(other) as second:
        for reader in (first, second):
            folder = Path(f"/proc/{reader._process.pid}/fd")
            files = {os.path.realpath(name) for name in folder.iterdir()}
            sockets = {name for name in files if "socket:" in name}
            assert len(sockets) == 1  # its own
            assert not any("pipe:" in name for name in files)
        page, other_page = first.page(1)[0], second.page(1)[0]
        assert page.text != other_page.text


def test_where_the_process_that_forks_has_died_another_is_started(path: Path, server: int) -> None:
    with Reader(path) as lost:
        os.kill(server, signal.SIGKILL)
        assert until(lambda: not is_there(lost._process.pid))  # it is killed too
        with pytest.raises(ReaderDiedError, match="Page 1"):
            lost.page(1)
        with Reader(path) as reader:
            assert "3.0 per cent" in reader.page(1)[0].text
        assert forkserver._servers[-1].process.pid != server


def test_closing_kills_the_group_and_may_be_done_again(path: Path) -> None:
    reader = Reader(path)
    pid = reader._process.pid
    assert os.getpgid(pid) == pid, "what it starts is of its group"
    os.killpg(pid, signal.SIGKILL)
    assert until(lambda: not is_there(pid))
    reader.close()
    reader.close()
    assert not Path(f"/proc/{pid}").exists()


def test_where_no_process_can_be_had_it_is_said(
    path: Path, server: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(self: object, request: object, *pipes: object) -> int:
        raise OSError(11, "Resource temporarily unavailable")

    before = len(os.listdir("/proc/self/fd"))
    with monkeypatch.context() as patch:
        patch.setattr(forkserver._Server, "ask", refused)
        said = "The PDF reader cannot start: Resource temporarily unavailable"
        with pytest.raises(Exception, match=said):
            Reader(path)
    assert len(os.listdir("/proc/self/fd")) == before
