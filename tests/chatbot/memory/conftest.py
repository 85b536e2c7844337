"""What tests of every memory begin with: the file that all of them are kept in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from chatbot.memory.memory_database import NAME, MemoryDatabase
from tests.engines import on_postgres, place_at, stands_in_rows

Reopen = Callable[[], MemoryDatabase]


@pytest.fixture
def reopen(tmp_path: Path) -> Iterator[Reopen]:
    """Opens the one file once more, as another process would; all are closed at the end."""
    place = place_at(tmp_path / f"{NAME}.sqlite3")
    with ExitStack() as opened:
        yield lambda: opened.enter_context(closing(MemoryDatabase(place)))


@pytest.fixture
def memories(reopen: Reopen) -> MemoryDatabase:
    return reopen()


def stands_on_disk(text: bytes, folder: Path) -> bool:
    """Whether a file of the folder holds the text, or a row of the database."""
    if on_postgres():
        return stands_in_rows(text)
    return any(text in path.read_bytes() for path in folder.iterdir())
