"""Deletes the folder of an index so that an interruption leaves no half of it in use."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

__all__ = ["discard", "finish_discarding"]


def discard(folder: Path) -> None:
    """Deletes a folder. It is renamed first: a process stopped while deleting would leave half an index."""
    finish_discarding(folder)
    with suppress(OSError):
        folder.rename(_discarded(folder))
    shutil.rmtree(folder, ignore_errors=True)
    finish_discarding(folder)


def finish_discarding(folder: Path) -> None:
    """Deletes what an interrupted `discard` of this folder left."""
    shutil.rmtree(_discarded(folder), ignore_errors=True)


def _discarded(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.discarded")
