"""Small stores of one document, indexed once and copied for every test that asks; knows no test."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from chatbot.service import Chatbot
from chatbot.settings import Settings
from chatbot.store.library import Upload
from tests.fakes import HashEmbedder
from tests.pdfs import make_pdf

__all__ = ["RULES", "Make", "Stores", "hashing"]

# A chatbot over a test's own store: make(model, **settings).
Make = Callable[..., Chatbot]
RULES = (
    "Fiscal rules\nThe deficit ceiling is 3.0 per cent of output in every year.\nA breach is reported to Parliament within 30 days.",
    "Debt\nThe debt anchor is 60 per cent of output, to be reached by 2030.\nDebt service comes to 1,577 million crowns.",
)


def hashing() -> HashEmbedder:
    """The embedder of these stores."""
    return HashEmbedder(dimension=256)


class Stores:
    """Homes that hold one document, Rules.pdf. folder: where the ones that are copied stand."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._indexed: dict[tuple[str, ...], Path] = {}

    def copy(self, pages: Sequence[str], home: Path) -> None:
        """Make `home`, with a document of these pages."""
        shutil.copytree(self._home_of(tuple(pages)), home, ignore=shutil.ignore_patterns("reserve"))

    def _home_of(self, pages: tuple[str, ...]) -> Path:
        if pages not in self._indexed:
            folder = self._folder / str(len(self._indexed))
            folder.mkdir()
            with Chatbot(Settings(home=folder / "home"), embedder=hashing()) as chatbot:
                (added,) = chatbot.add([Upload(make_pdf(folder / "Rules.pdf", pages))])
                assert added.status == "added", added
            self._indexed[pages] = folder / "home"
        return self._indexed[pages]
