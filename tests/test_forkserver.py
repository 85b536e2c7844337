"""The helper that forks the product's processes for the tests: what it forks is real, and nothing outlives
whom it is for.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests import forkserver
from tests.commands import ROOT, run

# Another process of a run: holds a server that never ends by itself, says its number, and waits to be killed.
HOLDER = """
import os, sys
from pathlib import Path
from tests import forkserver
forkserver.use(Path(sys.argv[1]), int(sys.argv[2]))
with open(os.devnull, "r+") as nothing:
    held = forkserver.start(["-m", "http.server", "0"], cwd=Path.cwd(), env=dict(os.environ), stdin=nothing,
    stdout=nothing, stderr=nothing)
print(held.pid, flush=True)
sys.stdin.read()
"""


# What it is, and what it was given.
TELLER = """
import os, sys
print(os.getpid(), os.getcwd(), sys.argv[1:], os.environ['TOLD'], sys.stdin.read())
sys.exit(7)
"""


def is_gone(pid: int, seconds: float = 20.0) -> bool:
    """Whether the process has ended, or does within so many seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            _, _, state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")
            if not state.startswith(" Z"):
                time.sleep(0.05)
                continue
        return True
    return False


def started(module: str, *arguments: str) -> forkserver.Process:
    command = ["-m", module, *arguments]
    environment = dict(os.environ)
    with open(os.devnull, "r+b") as nothing:
        return forkserver.start(
            command, cwd=ROOT, env=environment, stdin=nothing, stdout=nothing, stderr=nothing
        )


def held(folder: Path, owner: int) -> subprocess.Popen[str]:
    """A process of HOLDER, in a run of that folder and owner."""
    command = [sys.executable, "-c", HOLDER, str(folder), str(owner)]
    return subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_a_forked_command_says_and_ends_as_a_started_one(tmp_path: Path) -> None:
    given = {**os.environ, "FINPOLICY_HOME": str(tmp_path)}
    for arguments in (["list", "--json"], ["frobnicate"], ["ask", ""], ["remove", "\udcff"]):
        command = [sys.executable, "-m", "chatbot", *arguments]
        alone = subprocess.run(command, cwd=ROOT, env=given, capture_output=True, text=True, check=False)
        forked = run(tmp_path, *arguments)
        assert forked.returncode == alone.returncode
        assert forked.stdout == alone.stdout
        assert forked.stderr == alone.stderr


def test_a_forked_process_is_its_own(tmp_path: Path) -> None:
    (tmp_path / "told.py").write_text(TELLER)
    given = {**os.environ, "TOLD": "so"}
    done = forkserver.run(["-m", "told", "a", "ü"], cwd=tmp_path, env=given, input="hello")
    pid, said = done.stdout.split(" ", 1)
    assert int(pid) != os.getpid()
    assert int(pid) != forkserver.preloaded()["pid"]
    assert said == f"{tmp_path} ['a', 'ü'] so hello\n"
    assert done.returncode == 7


def test_a_child_that_is_killed_or_too_slow_is_told_and_harms_nobody(tmp_path: Path) -> None:
    before = forkserver.preloaded()["pid"]
    server = started("http.server", "0")
    assert server.poll() is None
    server.kill()
    assert server.wait(20) == -signal.SIGKILL
    assert server.poll() == -signal.SIGKILL
    (tmp_path / "slow.py").write_text("import time\ntime.sleep(60)")
    with pytest.raises(subprocess.TimeoutExpired):
        forkserver.run(["-m", "slow"], cwd=tmp_path, env=dict(os.environ), timeout=0.2)
    done = run(tmp_path, "list")
    assert done.returncode == 0
    assert forkserver.preloaded()["pid"] == before


@pytest.mark.long
def test_it_ends_with_its_owner_and_takes_all_along(tmp_path: Path) -> None:
    owner = subprocess.Popen(["sleep", "60"])
    with held(tmp_path, owner.pid) as worker:
        assert worker.stdout
        left = int(worker.stdout.readline())
        owner.kill()
        owner.wait()
        assert is_gone(left)
        worker.kill()
