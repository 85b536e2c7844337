"""Keeps the index of vectors on a Chroma server, by version 2 of its HTTP API."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

import numpy as np

from chatbot.errors import SettingsError, StoreError
from chatbot.store.chroma_server_errors import (
    CollectionLostError,
    explain_answer,
    explain_connection,
    explain_silence,
    is_lasting,
)
from chatbot.store.index_errors import IndexDamagedError, check_metadata
from chatbot.store.vector_engine import CONFIGURATION, DATABASE, TENANT, Record, Scalar, Vectors, Wanted

if TYPE_CHECKING:
    import httpx2

__all__ = ["ChromaServer", "ServedCollection", "ServedEngine"]

# A search takes milliseconds; the first one after a start of the server reads its files.
SECONDS = 30.0
CONNECT_SECONDS = 5.0
# A server that is busy with other writes, or with a large index, may take longer for a thousand records.
WRITE_SECONDS = 300.0
# Seconds in which no search asks a server again that did not answer in time: each would wait as long.
SILENT_SECONDS = 60.0
NAMES_PAGE = 1_000


class ChromaServer:
    """A Chroma server, named by its address. It is asked nothing before the first use."""

    def __init__(self, address: str, token: str = "", *, seconds: float = SECONDS) -> None:
        """address: http(s)://host:port. seconds: for each answer. Raises SettingsError."""
        self._calls = _Calls(address, token, seconds)
        self._lock = threading.Lock()
        self._opened: tuple[ServedEngine, ServedCollection] | None = None

    def exists(self) -> bool:
        """Always True: only asking the server would tell."""
        return True

    @contextmanager
    def using(self, wanted: Wanted) -> Iterator[tuple[ServedEngine, ServedCollection]]:
        """Provides the collection.

        One that is gone, as after the server lost its files, is damage: the caller rebuilds it.
        """
        with self._lock:
            if self._opened is None:
                self._opened = self._open(wanted)
            opened = self._opened
        try:
            yield opened
        except CollectionLostError:
            self.close()
            raise

    def ping(self) -> None:
        """Asks for one collection, to learn whether the server answers. Raises StoreError."""
        self._calls.get("/collections?limit=1")

    def scrub(self) -> None:
        """Does nothing: the files are the server's, and `chroma vacuum` there removes what was deleted."""

    def faults(self) -> list[str]:
        """Returns nothing: the files are the server's."""
        return []

    def close(self) -> None:
        """Forgets the collection and closes idle connections; the next use opens both again."""
        with self._lock:
            self._opened = None
        self._calls.close()

    def clear(self, wanted: Wanted) -> None:
        """Deletes the collection."""
        self.close()
        ServedEngine(self._calls).drop(wanted.name)

    def _open(self, wanted: Wanted) -> tuple[ServedEngine, ServedCollection]:
        engine = ServedEngine(self._calls)
        collection = engine.collection(wanted.name, wanted.metadata)
        check_metadata(collection.metadata, wanted.metadata)
        return engine, collection


class ServedEngine:
    """The collections of one database of a server; see vector_engine.Engine."""

    def __init__(self, calls: _Calls) -> None:
        self._calls = calls

    def collection(self, name: str, metadata: dict[str, Scalar]) -> ServedCollection:
        """Returns the collection of this name; creates it in cosine space with this metadata if missing."""
        found = self._calls.post(
            "/collections",
            {
                "name": name,
                "metadata": metadata,
                "configuration": CONFIGURATION,
                "get_or_create": True,
            },
        )
        return ServedCollection(self._calls, str(found["id"]), dict(found["metadata"] or {}))

    def names(self) -> list[str]:
        """Returns the names of all collections."""
        names = list[str]()
        while len(page := self._calls.get(f"/collections?limit={NAMES_PAGE}&offset={len(names)}")):
            names += [str(found["name"]) for found in page]
        return names

    def drop(self, name: str) -> None:
        """Deletes a collection with all its records. A missing one is ignored."""
        try:
            self._calls.delete(f"/collections/{quote(name)}")
        except CollectionLostError:
            return


class ServedCollection:
    """Records by id; see vector_engine.Collection."""

    def __init__(self, calls: _Calls, identity: str, metadata: dict[str, Scalar]) -> None:
        self._calls, self._place, self.metadata = calls, f"/collections/{quote(identity)}", metadata

    def upsert(self, records: Sequence[Record]) -> None:
        """Stores records, at most 5,461 a call, replacing those with the same id."""
        ids, vectors, texts, metadata = map(list, zip(*records, strict=True))
        packed = [
            base64.b64encode(np.ascontiguousarray(vector, "<f4").tobytes()).decode() for vector in vectors
        ]
        given = {"ids": ids, "embeddings": packed, "documents": texts, "metadatas": metadata}
        self._calls.post(f"{self._place}/upsert", given, seconds=WRITE_SECONDS)

    def nearest(self, vector: Vectors, limit: int) -> list[tuple[str, float]]:
        """Returns (id, cosine) of at most `limit` records, best first. vector: (dimension,)."""
        asked = {"query_embeddings": [vector.tolist()], "n_results": limit, "include": ["distances"]}
        found = self._calls.post(f"{self._place}/query", asked, waits=False)
        return [
            (key, 1.0 - float(distance))
            for key, distance in zip(found["ids"][0], found["distances"][0], strict=True)
        ]

    def ids(self, *, limit: int, offset: int) -> list[str]:
        """Returns some of the ids, in the order in which they are stored."""
        asked = {"limit": limit, "offset": offset, "include": []}
        return list(self._calls.post(f"{self._place}/get", asked)["ids"])

    def metadata_of(self, ids: Sequence[str]) -> dict[str, dict[str, Scalar]]:
        """Returns id -> metadata, for those ids that exist."""
        found = self._calls.post(f"{self._place}/get", {"ids": list(ids), "include": ["metadatas"]})
        return {key: dict(metadata) for key, metadata in zip(found["ids"], found["metadatas"], strict=True)}

    def vectors_of(self, ids: Sequence[str]) -> dict[str, Vectors]:
        """Returns id -> vector, for those ids that exist."""
        found = self._calls.post(f"{self._place}/get", {"ids": list(ids), "include": ["embeddings"]})
        return {
            key: np.array(vector, np.float32)
            for key, vector in zip(found["ids"], found["embeddings"], strict=True)
        }

    def delete(self, **where: Scalar) -> None:
        """Deletes the records whose metadata has these values."""
        self._calls.post(f"{self._place}/delete", {"where": where})

    def discard(self, ids: Sequence[str]) -> None:
        """Deletes these records. Missing ones are ignored."""
        self._calls.post(f"{self._place}/delete", {"ids": list(ids)})

    def count(self) -> int:
        """Returns the number of records."""
        return int(self._calls.get(f"{self._place}/count"))


class _Calls:
    """Calls of one server, each repeated once if the connection breaks: all of them can be."""

    def __init__(self, address: str, token: str, seconds: float) -> None:
        parts = urlsplit(address)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username or parts.query:
            raise SettingsError(
                "FINPOLICY_CHROMA_URL is not the address of a server.",
                hint="Write it as http://host:8000 or https://host; a token goes in FINPOLICY_CHROMA_TOKEN.",
            )
        self._base = f"{address.rstrip('/')}/api/v2/tenants/{TENANT}/databases/{DATABASE}"
        self._host, self._token, self._seconds = parts.netloc, token, seconds
        self._lock = threading.Lock()
        self._client: httpx2.Client | None = None
        self._silent_until = 0.0

    def get(self, path: str) -> Any:
        return self._call("GET", path)

    def post(self, path: str, given: dict[str, Any], *, waits: bool = True, seconds: float = 0.0) -> Any:
        """waits: False for a call that fails at once while the server is silent.

        seconds: for the answer, if more than for other calls.
        """
        if not waits and time.monotonic() < self._silent_until:
            raise explain_silence(self._host, self._seconds)
        return self._call("POST", path, json.dumps(given).encode(), max(seconds, self._seconds))

    def delete(self, path: str) -> None:
        self._call("DELETE", path)

    def close(self) -> None:
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _call(self, method: str, path: str, content: bytes | None = None, seconds: float = 0.0) -> Any:
        """The server's answer. Raises IndexDamagedError, StoreError."""
        seconds = seconds or self._seconds
        try:
            return self._once(method, path, content, seconds)
        except StoreError as error:
            if isinstance(error, IndexDamagedError) or is_lasting(error):
                raise
        return self._once(method, path, content, seconds)

    def _once(self, method: str, path: str, content: bytes | None, seconds: float) -> Any:
        import httpx2

        timeout = httpx2.Timeout(seconds, connect=min(CONNECT_SECONDS, seconds))
        try:
            answer = self._connected().request(method, self._base + path, content=content, timeout=timeout)
        except (httpx2.HTTPError, RuntimeError) as error:
            # RuntimeError: closed by another thread meanwhile.
            if isinstance(error, httpx2.ReadTimeout):
                self._silent_until = time.monotonic() + SILENT_SECONDS
            raise explain_connection(error, self._host, seconds) from None
        self._silent_until = 0.0
        if answer.is_success:
            try:
                return answer.json()
            except ValueError:
                raise explain_answer(answer.status_code, "", self._host) from None
        raise explain_answer(answer.status_code, answer.text, self._host)

    def _connected(self) -> httpx2.Client:
        import httpx2

        with self._lock:
            if self._client is None:
                headers = {"Content-Type": "application/json"}
                if self._token:
                    # The second is Chroma's own; what stands before a server usually reads the first.
                    headers |= {"Authorization": f"Bearer {self._token}", "X-Chroma-Token": self._token}
                self._client = httpx2.Client(headers=headers, transport=httpx2.HTTPTransport())
            return self._client
