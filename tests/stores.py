"""Small stores of one document, indexed once and copied for every test that asks; knows no test."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from chatbot.models.chat import LLM
from chatbot.service import Chatbot
from chatbot.settings import Settings
from chatbot.store.addition_queue import add_files
from chatbot.store.library import AddResult, Library, Upload
from tests.fakes import HashEmbedder
from tests.pdfs import make_pdf

__all__ = ["RULES", "Make", "Stores", "add_here", "add_now", "hashing", "of_pages", "open_chroma", "read_now"]

# A chatbot over a test's own store: make(model, **settings).
Make = Callable[..., Chatbot]
RULES = (
    (
        "Fiscal rules\nThe deficit ceiling is 3.0 per cent of output in every year.\nA breach is reported "
        "to Parliament within 30 days."
    ),
    (
        "Debt\nThe debt anchor is 60 per cent of output, to be reached by 2030.\nDebt service comes to "
        "1,577 million crowns."
    ),
)


def of_pages(folder: Path, pages: Mapping[str, str], *, model: LLM | None = None) -> Chatbot:
    """A chatbot over documents of one page each, to be closed. pages: by file name."""
    chatbot = Chatbot(Settings(home=folder / "home"), embedder=hashing(), model=model)
    uploads = [Upload(make_pdf(folder / name, [page])) for name, page in pages.items()]
    add_now(chatbot.library, uploads)
    return chatbot


def hashing() -> HashEmbedder:
    """The embedder of these stores."""
    return HashEmbedder(dimension=256)


def add_now(library: Library, uploads: Sequence[Upload]) -> list[AddResult]:
    """Add files as the command line does, and wait."""
    return list(add_files(library, uploads, readers=2, progress=lambda *_: None))


def read_now(library: Library, uploads: Sequence[Upload]) -> list[AddResult]:
    """Take the steps of an addition one after another in this thread, up to where its words are found."""
    taken = [
        library.adding.take(upload.path, upload.name or upload.path.name, upload.password)
        for upload in uploads
    ]
    return [library.read_taken(one, progress=lambda *_: None, cancelled=lambda: False) for one in taken]


def add_here(library: Library, uploads: Sequence[Upload]) -> None:
    """Take all steps of an addition in this thread, so that one of them that ends the process ends the
    call.
    """
    read_now(library, uploads)
    library.resume_vectors()
    for version in library.incomplete():
        library.complete(version.id)
    library.resume_vectors()


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


def open_chroma(folder: Path) -> Any:
    """Chroma's own client over a folder, as another program opens it."""
    import chromadb

    return chromadb.PersistentClient(str(folder), settings=_chroma_settings()(anonymized_telemetry=False))


@cache
def _chroma_settings() -> Any:
    """Without what a `.env` file says. One class for all: Chroma compares settings, and those of two
    classes are never the same.
    """
    from chromadb.config import Settings

    class Here(Settings):
        @classmethod
        def settings_customise_sources(
            cls, settings_cls: Any, init_settings: Any, *_: Any, **__: Any
        ) -> tuple[Any, ...]:
            return (init_settings,)

    return Here
