"""A home of its own for each test, a library in it, and the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chatbot import service
from chatbot.cli import main
from chatbot.store.library import Library
from tests.chatbot.store.libraries import open_library
from tests.fakes import HashEmbedder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def library(home: Path) -> Iterator[Library]:
    """An empty one; a module that needs documents in it has its own."""
    made = open_library(home)
    yield made
    made.close()


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """The command line with a home, and a cheap embedder: (exit code, standard output, standard error)."""
    monkeypatch.setattr(service, "make_embedder", lambda settings: HashEmbedder())

    def run(home: Path, *arguments: object) -> tuple[int, str, str]:
        monkeypatch.setenv("FINPOLICY_HOME", str(home))
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        return code, *capsys.readouterr()

    return run
