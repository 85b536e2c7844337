"""Who may read what the store keeps: the account that it runs under, and no other; knows modes of files
and folders, and nothing of what is in them.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

__all__ = ["give_to_the_user", "make_private", "mend_files", "mend_folder"]

OTHERS = 0o077
# Comes with the checkout, and is not ours to change.
TRACKED = ".gitkeep"
_users_umask: list[int] = []


def make_private() -> None:
    """Let this process make folders as 0700 and files as 0600 from now on: SQLite, Chroma and tantivy ask
    for more and take what the process allows.
    """
    before = os.umask(OTHERS)
    if not _users_umask:
        _users_umask.append(before)


def give_to_the_user(path: Path) -> None:
    """Give a file that was made where the user wanted it the mode that the user's other files get."""
    if _users_umask:
        path.chmod(0o666 & ~_users_umask[0])


def mend_folder(folder: Path) -> None:
    """Close a folder, and all in it, to others; an earlier version left them open. Links are not followed,
    and what may not be changed is left.
    """
    for _, _, files, here in os.fwalk(folder.resolve()):
        for name in (".", *files):
            if name != TRACKED:
                _mend(name, here)


def mend_files(folder: Path, ours: Callable[[str], object]) -> None:
    """Close those files in a folder to others whose name is `ours`, and the folder itself where it holds
    nothing else.
    """
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
    """Close one file or folder, named in an open folder, to others."""
    with suppress(OSError):
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if not found.st_mode & OTHERS or not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
            return
        # By what was opened, so that no link that is put in its place meanwhile is followed.
        opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
        try:
            os.fchmod(opened, stat.S_IMODE(found.st_mode) & ~OTHERS)
        finally:
            os.close(opened)
