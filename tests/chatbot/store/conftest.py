"""A home of its own for each test, and a library in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from chatbot.store.library import Library
from tests.chatbot.store.libraries import open_library


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def library(home: Path) -> Iterator[Library]:
    """An empty one; a module that needs documents in it has its own."""
    made = open_library(home)
    yield made
    made.close()
