"""Opens the store's own files: plain ones, neither links to other places nor pipes that never end."""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path

from chatbot.errors import StoreError

__all__ = ["descriptor_of", "is_plain", "is_strange", "open_plain", "refuse_strange", "strange_in"]


def is_plain(path: Path) -> bool:
    """Tells whether a plain file is there."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def strange_in(folder: Path) -> list[Path]:
    """Returns what is no plain file and no folder among a folder and all below it, but for sockets of a
    server.
    """
    found = (folder, *folder.rglob("*"))
    return sorted(
        path
        for path in found
        if path.is_symlink() or (is_strange(path) and not (path.is_dir() or path.is_socket()))
    )


def is_strange(path: Path) -> bool:
    """Tells whether a link is there, which may lead anywhere, or a pipe, which never ends, or a folder."""
    try:
        return not stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False  # it may be made or deleted by another process at any time


def refuse_strange(path: Path) -> None:
    """Raises StoreError for what is there and no plain file."""
    if is_strange(path):
        raise StoreError(
            f"{path} is a link, or no plain file.", hint="Put the file itself in its place, or delete it."
        )


def descriptor_of(path: Path, flags: int) -> int:
    """Opens a plain file by these flags of os.open. Raises OSError, also for anything but a plain file."""
    opened = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        os.close(opened)
        raise OSError(errno.EINVAL, "It is not a plain file", str(path))
    return opened


def open_plain(path: Path) -> BufferedReader:
    """Opens a plain file to be read. Raises OSError."""
    return os.fdopen(descriptor_of(path, os.O_RDONLY), "rb")
