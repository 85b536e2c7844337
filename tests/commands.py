"""The product's commands as another program runs them, each in a process of its own.

A command is forked where somebody forks for the tests, and started anew where not.
"""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from tests import forkserver

__all__ = ["run", "run_at_terminal", "run_in", "run_python"]

ROOT = Path(__file__).resolve().parent.parent


Done: TypeAlias = subprocess.CompletedProcess[str]


def run(home: Path, *arguments: object, stdin: str = "", **environment: str) -> Done:
    """`python -m chatbot ARGUMENTS` over the store in `home`. environment: further settings."""
    return _run(ROOT, arguments, stdin, {"FINPOLICY_HOME": str(home), **environment})


def run_in(folder: Path, home: Path, *arguments: object, stdin: str = "", **environment: str) -> Done:
    """The same where somebody stands in `folder`, to which the paths among the arguments are relative."""
    settings = {"FINPOLICY_HOME": str(home), "PYTHONPATH": str(ROOT), **environment}
    return _run(folder, arguments, stdin, settings)


def run_at_terminal(home: Path, *arguments: object, prompt: str, replies: Sequence[str]) -> tuple[int, str]:
    """The same at a terminal of its own, where each reply is typed at a prompt: exit code and output."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "chatbot", *map(str, arguments)]
    given = {**os.environ, "FINPOLICY_HOME": str(home)}
    with subprocess.Popen(
        command, env=given, stdin=theirs, stderr=theirs, stdout=-1, text=True, start_new_session=True
    ) as process:
        os.close(theirs)
        for reply in replies:
            shown = ""
            while prompt not in shown:
                shown += os.read(ours, 1000).decode()
            os.write(ours, f"{reply}\n".encode())
        assert process.stdout
        output = process.stdout.read()
    os.close(ours)
    return process.returncode, output


def run_python(*arguments: str) -> Done:
    """`python ARGUMENTS` in the checkout."""
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def _run(folder: Path, arguments: Sequence[object], stdin: str, settings: Mapping[str, str]) -> Done:
    command = ["-m", "chatbot", *map(str, arguments)]
    given = {**os.environ, **settings}
    if forkserver.is_used():
        return forkserver.run(command, cwd=folder, env=given, input=stdin)
    started = [sys.executable, *command]
    return subprocess.run(
        started,
        cwd=folder,
        env=given,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
