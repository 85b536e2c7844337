"""What tests of every memory begin with: the file that all of them are kept in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chatbot.memory.memory_database import NAME, MemoryDatabase

Reopen = Callable[[], MemoryDatabase]


@pytest.fixture
def reopen(tmp_path: Path) -> Iterator[Reopen]:
    """Opens the one file once more, as another process would; all are closed at the end."""
    opened: list[MemoryDatabase] = []

    def again() -> MemoryDatabase:
        opened.append(MemoryDatabase(tmp_path / NAME))
        return opened[-1]

    yield again
    for one in opened:
        one.close()


@pytest.fixture
def memories(reopen: Reopen) -> MemoryDatabase:
    return reopen()


def stands_on_disk(text: bytes, folder: Path) -> bool:
    """Whether a file of the folder holds the text."""
    return any(text in path.read_bytes() for path in folder.iterdir())
