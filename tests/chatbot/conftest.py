"""Chatbots over a small store of a test's own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from chatbot.models.chat import LLM
from chatbot.service import Chatbot
from chatbot.settings import Settings
from tests.stores import RULES, Make, Stores, hashing


@pytest.fixture(scope="session")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Stores:
    return Stores(tmp_path_factory.mktemp("stores"))


@pytest.fixture
def pages() -> Sequence[str]:
    """What the pages of Rules.pdf say; a module that needs others has its own."""
    return RULES


@pytest.fixture
def make(tmp_path: Path, stores: Stores, pages: Sequence[str]) -> Iterator[Make]:
    """Opens chatbots over `tmp_path`/home, where Rules.pdf is; each is closed after the test."""
    with ExitStack() as opened:

        def build(model: LLM | None = None, **settings: object) -> Chatbot:
            home = tmp_path / "home"
            if not home.exists():
                stores.copy(pages, home)
            made = Settings(home=home, **settings)  # type: ignore[arg-type]
            return opened.enter_context(Chatbot(made, embedder=hashing(), model=model))

        yield build
