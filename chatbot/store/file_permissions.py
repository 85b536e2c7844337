"""Restricts the store's files and folders to the account that runs the program."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

__all__ = ["give_to_the_user", "make_private", "mend_files", "mend_folder"]

OTHERS = 0o077
# Comes with the checkout, so it is left alone.
TRACKED = ".gitkeep"
_users_umask: list[int] = []


def make_private() -> None:
    """Makes this process create folders as 0700 and files as 0600 from now on.

    SQLite, Chroma and tantivy ask for more and get what the process allows.
    """
    before = os.umask(OTHERS)
    if not _users_umask:
        _users_umask.append(before)


def give_to_the_user(path: Path) -> None:
    """Gives a file that the user asked for the mode of the user's other files."""
    if _users_umask:
        path.chmod(0o666 & ~_users_umask[0])


def mend_folder(folder: Path) -> None:
    """Closes a folder and everything in it to others, as an earlier version left them open.

    Links are not followed, and what may not be changed is left.
    """
    for _, _, files, here in os.fwalk(folder.resolve()):
        for name in (".", *files):
            if name != TRACKED:
                _mend(name, here)


def mend_files(folder: Path, ours: Callable[[str], object]) -> None:
    """Closes the files whose name is `ours` to others, and the folder itself if it holds nothing else."""
    with suppress(OSError):
        names = os.listdir(folder)
        here = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for name in filter(ours, names):
                _mend(name, here)
            if all(map(ours, names)):
                _mend(".", here)
        finally:
            os.close(here)


def _mend(name: str, folder: int) -> None:
    """Closes one file or folder in an open folder to others."""
    with suppress(OSError):
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if not found.st_mode & OTHERS or not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
            return
        # Uses the opened file, so that a link put in its place meanwhile is not followed.
        opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
        try:
            os.fchmod(opened, stat.S_IMODE(found.st_mode) & ~OTHERS)
        finally:
            os.close(opened)
