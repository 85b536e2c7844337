"""Turns among the workers of a run: what waits has an end, and a worker that dies ends the run red instead
of keeping the others.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.turns import TurnError, turn

ROOT = Path(__file__).resolve().parent.parent
DYING = """
import os, time, pytest

def test_before(): pass

@pytest.mark.parametrize("number", [1, 2])
def test_that_kills_its_worker(number): os._exit(3)

@pytest.mark.alone
def test_that_kills_while_all_wait_for_it():
    time.sleep(0.5)
    os._exit(3)

@pytest.mark.alone
def test_alone_after(): pass

def test_after(): pass
"""
OTHER = """
import pytest, time

@pytest.mark.parametrize("number", range(4))
def test_other(number): time.sleep(0.2)

@pytest.mark.alone
def test_other_alone(): pass
"""


OPTIONS = "-n 2 --dist loadfile --no-loadscope-reorder -p tests.conftest -p no:cacheprovider --color=no"


@pytest.mark.long
def test_a_worker_that_dies_ends_the_run_red_and_all_others_are_passed(tmp_path: Path) -> None:
    (tmp_path / "test_dying.py").write_text(DYING)
    (tmp_path / "test_other.py").write_text(OTHER)
    configuration = ["-c", str(ROOT / "pyproject.toml"), f"--rootdir={tmp_path}"]
    command = [sys.executable, "-m", "pytest", *configuration, *OPTIONS.split(), str(tmp_path)]
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV"))
    }
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 1, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert "3 failed, 8 passed" in lines[-1]
    crashes = [line for line in lines if "crashed while running" in line]
    assert len(crashes) >= 3


def test_who_waits_too_long_says_so(tmp_path: Path) -> None:
    with (
        turn(tmp_path, alone=True),
        pytest.raises(TurnError, match="for too long"),
        turn(tmp_path, alone=False, patience=0.1),
    ):
        pytest.fail("two at once")
    with (
        turn(tmp_path, alone=False),
        pytest.raises(TurnError, match="room"),
        turn(tmp_path, alone=True, patience=0.1),
    ):
        pytest.fail("alone with another")
    with turn(tmp_path, alone=True, patience=0.1):
        pass
