"""Small disks of their own that tests can fill; knows mount and tmpfs, nothing of the product."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

__all__ = ["fill", "small_disk"]

FILLER = "ballast"


@contextmanager
def small_disk(folder: Path, megabytes: int = 24) -> Iterator[Path]:
    """A disk of so many MiB mounted on a new folder. Skips the test where mounting is not allowed."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "none", str(folder)]
    if not shutil.which("mount") or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root, where mounting is allowed, can make a small disk")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def fill(disk: Path) -> None:
    """Take all that is free on it."""
    with (disk / FILLER).open("ab", 0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))
