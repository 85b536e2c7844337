"""Opens Chroma's own Python clients. What they have no public way for is here, as chromadb 1.5.9 has it."""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from chatbot.store.index_errors import check_metadata
from chatbot.store.vector_index import CollectionSpec

__all__ = ["collection_of", "kept_open", "open_folder", "open_server"]

# How new collections are made; those that are there keep what they have. Among 20,417 passages of real
# documents a search for 100 finds 99 % of the nearest, in 4 ms; with Chroma's own ef_search of 100 it finds
# 91 %, in 2 ms.
CONFIGURATION = {"hnsw": {"space": "cosine", "ef_search": 400}}
# What would send measurements, and a command of httpx: a third of the time and half of the memory that the
# import would take.
UNUSED = (
    "httpx._main",
    "opentelemetry.exporter.otlp.proto.grpc.trace_exporter",
    "opentelemetry.sdk.resources",
    "opentelemetry.sdk.trace",
    "opentelemetry.sdk.trace.export",
)
_alone = threading.RLock()


def open_folder(folder: Path) -> Any:
    """Returns a client of the files in a folder, which is made if missing. Raises what Chroma raises."""
    place = str(folder)
    try:
        return _chroma("chromadb").PersistentClient(place, settings=_settings())
    except BaseException:
        # Chroma keeps what it could not open, and would return that for the same folder again.
        shared = _chroma("chromadb.api.shared_system_client").SharedSystemClient
        while place in shared._identifier_to_system:
            with suppress(AttributeError):
                shared._release_system(place)
        raise


def open_server(address: str, headers: Mapping[str, str], transport: Any) -> Any:
    """Returns a client of the server at http(s)://host:port. Raises what Chroma and the transport raise.

    transport: of httpx; it sends the requests. Chroma's own waits without end, and goes through proxies.
    """
    chromadb, fastapi = _chroma("chromadb"), _chroma("chromadb.api.fastapi")
    with _alone:
        httpx = fastapi.httpx
        fastapi.httpx = SimpleNamespace(Client=partial(httpx.Client, transport=transport))
        try:
            return chromadb.HttpClient(address, headers=dict(headers), settings=_settings())
        finally:
            fastapi.httpx = httpx


@contextmanager
def kept_open(client: Any) -> Iterator[Any]:
    """Provides a client, which is closed only if something fails meanwhile."""
    try:
        yield client
    except BaseException:
        client.close()
        raise


def collection_of(client: Any, wanted: CollectionSpec) -> Any:
    """Returns the wanted collection, which is made if missing. Raises IndexDamagedError if it is another."""
    collection = client.get_or_create_collection(
        wanted.name, metadata=wanted.metadata, configuration=CONFIGURATION, embedding_function=None
    )
    check_metadata(collection.metadata, wanted.metadata)
    return collection


def _settings() -> Any:
    """Returns Chroma's settings as they are by default, whatever the environment says; it tells nobody."""
    return _chroma("chromadb.config").Settings.model_construct(anonymized_telemetry=False)


def _chroma(module: str) -> Any:
    """Returns a module of Chroma. The first import takes 0.4 s."""
    with _alone, nullcontext() if "chromadb" in sys.modules else _leaving_out():
        return importlib.import_module(module)


@contextmanager
def _leaving_out() -> Iterator[None]:
    """Keeps Chroma from reading settings while it is imported, and from importing what is not used.

    It would read them from the environment and from `.env` in the working folder, and fail with those of
    another program. So its class of settings is made an ordinary one.
    """
    import pydantic
    import pydantic_settings

    former = pydantic_settings.BaseSettings
    left_out = {name: _Unused(name) for name in UNUSED if name not in sys.modules}
    sys.modules.update(left_out)
    pydantic_settings.BaseSettings = pydantic.BaseModel  # type: ignore[assignment,misc]
    try:
        yield
    finally:
        pydantic_settings.BaseSettings = former  # type: ignore[misc]
        for name in left_out:
            del sys.modules[name]


class _Unused(ModuleType):
    """Stands for a module while others import what they name of it."""

    def __getattr__(self, name: str) -> type:
        return type(name, (), {})
