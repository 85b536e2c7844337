"""Chooses where the indexes are, by the addresses in the settings."""

from __future__ import annotations

import socket
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from chatbot.settings import Settings
from chatbot.store.catalog import Catalog
from chatbot.store.database import Served, open_database
from chatbot.store.discarding import discard, finish_discarding, folder_beside, put_in_place
from chatbot.store.index_errors import explained
from chatbot.store.vector_place import Place
from chatbot.store.word_index import WordIndex

__all__ = ["Engines", "engines_of"]

# Key of a value in the catalogue: the name of this store where several share a server.
OWNER = "owner"
OWNER_CHARACTERS = 16


@dataclass(frozen=True, slots=True)
class WordEngine:
    """How an index of words is opened and replaced.

    open: opens it. Raises IndexDamagedError, StoreError.
    new: opens one that is to be filled anew: an empty one beside it, or one in which each version can be
        replaced while it is used.
    take: puts the new one in its place, once it is filled, and opens it there.
    give_up: deletes it, to make room, and opens an empty one. None where that makes none.
    """

    open: Callable[[], WordIndex]
    new: Callable[[], WordIndex]
    take: Callable[[], WordIndex]
    give_up: Callable[[], WordIndex] | None = None


@dataclass(frozen=True, slots=True)
class Engines:
    """What the two indexes stand on.

    place: of the vectors.
    owner: whose collections there are this store's; "" where all are.
    mark: where the vectors are, if another server of the same store has its own; else "".
    words: the index of words.
    """

    place: Place
    owner: str
    mark: str
    words: WordEngine


def engines_of(settings: Settings, catalog: Catalog) -> Engines:
    """Returns the engines that the settings name: servers, or else folders of the store."""
    place, owner = _vectors(settings, catalog)
    mark = ""
    if settings.database and not settings.chroma_url:
        mark = f" on {socket.gethostname()} in {settings.store}"
    return Engines(place, owner, mark, _words(settings))


def _vectors(settings: Settings, catalog: Catalog) -> tuple[Place, str]:
    if settings.chroma_url:
        from chatbot.store.chroma_server import ChromaServer

        return ChromaServer(settings.chroma_url, settings.chroma_token), _owner(catalog)
    from chatbot.store.chroma_folder import ChromaFolder

    return ChromaFolder(settings.store / "vectors"), ""


def _owner(catalog: Catalog) -> str:
    """Returns the store's name, made at the first use of a server."""
    return catalog.meta(OWNER) or catalog.first_meta(OWNER, uuid.uuid4().hex[:OWNER_CHARACTERS])


def _words(settings: Settings) -> WordEngine:
    if settings.database:
        words = cache(partial(_open_postgres, settings.database))
        return WordEngine(words, words, words)
    folder = settings.store / "keywords"
    finish_discarding(folder)
    steps = (_open_tantivy, _new_tantivy, _take_tantivy, _anew_tantivy)
    return WordEngine(*(partial(step, folder) for step in steps))


def _open_postgres(address: str) -> WordIndex:
    from chatbot.store.postgres_words import WORDS, PostgresWords

    return PostgresWords(open_database(Served(address, "words"), WORDS))


def _open_tantivy(folder: Path) -> WordIndex:
    from chatbot.store.keyword_index import KeywordIndex

    return KeywordIndex(folder)


def _new_tantivy(folder: Path) -> WordIndex:
    return _open_tantivy(folder_beside(folder))


def _take_tantivy(folder: Path) -> WordIndex:
    try:
        put_in_place(folder)
    except OSError as error:
        raise explained(error, "The keyword index", folder) from error
    return _open_tantivy(folder)


def _anew_tantivy(folder: Path) -> WordIndex:
    folder_beside(folder)
    discard(folder)
    return _open_tantivy(folder)
