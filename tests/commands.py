"""The product's commands as another program runs them: each in a process of its own, forked where somebody forks for the tests, started anew where not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests import forkserver

__all__ = ["run"]

ROOT = Path(__file__).resolve().parent.parent


def run(home: Path, *arguments: object, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """`python -m chatbot ARGUMENTS` over the store in `home`. environment: further settings."""
    command = ["-m", "chatbot", *map(str, arguments)]
    given = {**os.environ, "FINPOLICY_HOME": str(home), **environment}
    if forkserver.is_used():
        return forkserver.run(command, cwd=ROOT, env=given, input=stdin)
    return subprocess.run([sys.executable, *command], cwd=ROOT, env=given, input=stdin, capture_output=True, text=True, timeout=60, check=False)
