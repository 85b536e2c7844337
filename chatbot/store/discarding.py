"""Deletes and replaces the folder of an index so that an interruption leaves no half of it in use."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

__all__ = ["discard", "finish_discarding", "folder_beside", "put_in_place"]


def discard(folder: Path) -> None:
    """Deletes a folder. It is renamed first: a process stopped while deleting would leave half an index."""
    finish_discarding(folder)
    with suppress(OSError):
        folder.rename(_discarded(folder))
    shutil.rmtree(folder, ignore_errors=True)
    finish_discarding(folder)


def folder_beside(folder: Path) -> Path:
    """Returns where the next contents of a folder are made while it is used. Nothing is there yet."""
    beside = _beside(folder)
    shutil.rmtree(beside, ignore_errors=True)
    return beside


def put_in_place(folder: Path) -> None:
    """Puts what was made beside a folder in its place, and deletes what it was. Raises OSError."""
    shutil.rmtree(_discarded(folder), ignore_errors=True)
    if folder.exists():
        folder.rename(_discarded(folder))
    _beside(folder).rename(folder)
    finish_discarding(folder)


def finish_discarding(folder: Path) -> None:
    """Finishes what an interruption left of discarding or replacing this folder."""
    if _beside(folder).exists():
        # The folder is only out of its place when what replaces it is whole.
        if not folder.exists() and _discarded(folder).exists():
            _beside(folder).rename(folder)
        else:
            shutil.rmtree(_beside(folder), ignore_errors=True)
    shutil.rmtree(_discarded(folder), ignore_errors=True)


def _discarded(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.discarded")


def _beside(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.new")
