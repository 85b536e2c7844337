"""Chooses where the indexes are, by the addresses in the settings."""

from __future__ import annotations

import socket
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from chatbot.settings import Settings
from chatbot.store.catalog import Catalog
from chatbot.store.database import Served, open_database
from chatbot.store.discarding import finish_discarding
from chatbot.store.vector_index import Place
from chatbot.store.word_index import WordIndex

__all__ = ["Engines", "engines_of"]

# Key of a value in the catalogue: the name of this store where several share a server.
OWNER = "owner"
OWNER_CHARACTERS = 16


@dataclass(frozen=True, slots=True)
class Engines:
    """What the two indexes stand on.

    place: of the vectors.
    owner: whose collections there are this store's; "" where all are.
    mark: where the vectors are, if another server of the same store has its own; else "".
    words: opens the index of words in a folder. Raises IndexDamagedError, StoreError.
    folder: of the words; None in a Postgres, where each version can be replaced while the index is used.
    """

    place: Place
    owner: str
    mark: str
    words: Callable[[Path], WordIndex]
    folder: Path | None


def engines_of(settings: Settings, catalog: Catalog) -> Engines:
    """Returns the engines that the settings name: servers, or else folders of the store."""
    place, owner = _vectors(settings, catalog)
    if settings.database:
        mark = "" if settings.chroma_url else f" on {socket.gethostname()} in {settings.store}"
        return Engines(place, owner, mark, partial(_open_postgres, settings.database), None)
    folder = settings.store / "keywords"
    finish_discarding(folder)
    return Engines(place, owner, "", _open_tantivy, folder)


def _vectors(settings: Settings, catalog: Catalog) -> tuple[Place, str]:
    if settings.chroma_url:
        from chatbot.store.chroma_server import ChromaServer

        return ChromaServer(settings.chroma_url, settings.chroma_token), _owner(catalog)
    from chatbot.store.chroma_folder import ChromaFolder

    return ChromaFolder(settings.store / "vectors"), ""


def _owner(catalog: Catalog) -> str:
    """Returns the store's name, made at the first use of a server."""
    return catalog.meta(OWNER) or catalog.first_meta(OWNER, uuid.uuid4().hex[:OWNER_CHARACTERS])


def _open_postgres(address: str, _: Path) -> WordIndex:
    from chatbot.store.postgres_words import WORDS, PostgresWords

    return PostgresWords(open_database(Served(address, "words"), WORDS))


def _open_tantivy(folder: Path) -> WordIndex:
    from chatbot.store.keyword_index import KeywordIndex

    return KeywordIndex(folder)
