"""Deletes and replaces the folder of an index so that an interruption leaves no half of it in use."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

__all__ = ["delete", "discard", "finish_discarding", "folder_beside", "put_in_place"]


def discard(folder: Path) -> None:
    """Deletes a folder. It is renamed first: a process stopped while deleting would leave half an index."""
    finish_discarding(folder)
    with suppress(OSError):
        folder.rename(_discarded(folder))
    delete(folder)
    finish_discarding(folder)


def folder_beside(folder: Path) -> Path:
    """Returns where the next contents of a folder are made while it is used. Nothing is there yet."""
    beside = _beside(folder)
    delete(beside)
    return beside


def put_in_place(folder: Path) -> None:
    """Puts what was made beside a folder in its place, and deletes what it was. Raises OSError."""
    delete(_discarded(folder))
    if folder.exists():
        folder.rename(_discarded(folder))
    _beside(folder).rename(folder)
    finish_discarding(folder)


def finish_discarding(folder: Path) -> None:
    """Finishes what an interruption left of discarding or replacing this folder."""
    if os.path.lexists(_beside(folder)):
        # The folder is only out of its place when what replaces it is whole.
        if not folder.exists() and _discarded(folder).exists():
            _beside(folder).rename(folder)
        else:
            delete(_beside(folder))
    delete(_discarded(folder))


def delete(path: Path) -> None:
    """Deletes a folder with all in it, or a file; of a link the link alone. Raises OSError for a file."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _discarded(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.discarded")


def _beside(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.new")
