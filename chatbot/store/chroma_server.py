"""Keeps the index of vectors on a Chroma server, and explains its failures: what it did, and what to do."""

from __future__ import annotations

import json
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from chatbot.errors import SettingsError, StoreError
from chatbot.store.chroma_client import collection_of, kept_open, open_server
from chatbot.store.index_errors import REPAIR, IndexDamagedError
from chatbot.store.vector_index import CollectionSpec
from ingestion.invisible_characters import one_line

if TYPE_CHECKING:
    import httpx

__all__ = ["ChromaServer"]

# A search takes milliseconds; the first one after a start of the server reads its files.
SECONDS = 30.0
CONNECT_SECONDS = 5.0
# A server that is busy with other writes, or with a large index, may take longer for a thousand records.
WRITE_SECONDS = 300.0
# Seconds in which no search asks a server again that did not answer in time: each would wait as long.
SILENT_SECONDS = 60.0
MOST_CHARACTERS = 200
# Of an answer that says that a server is starting, stopping or too busy.
PASSING = (429, 502, 503, 504)


class CollectionLostError(IndexDamagedError):
    """The server no longer has the collection. The catalogue has all that was in it."""


class _PassingError(StoreError):
    """May be gone at the second attempt."""


class ChromaServer:
    """A Chroma server, named by its address. It is asked nothing before the first use."""

    upserted = 1_000

    def __init__(self, address: str, token: str = "", *, seconds: float = SECONDS) -> None:
        """address: http(s)://host:port. seconds: for each answer. Raises SettingsError."""
        parts = urlsplit(address)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username or parts.query:
            raise SettingsError(
                "FINPOLICY_CHROMA_URL is not the address of a server.",
                hint="Write it as http://host:8000 or https://host; a token goes in FINPOLICY_CHROMA_TOKEN.",
            )
        self._address, self._host = address, parts.netloc
        # The second is Chroma's own; what stands before a server usually reads the first.
        self._headers = {"Authorization": f"Bearer {token}", "X-Chroma-Token": token} if token else {}
        self._requests = _Requests(parts.netloc, seconds)
        self._lock = threading.Lock()
        self._opened: tuple[Any, Any] | None = None

    def exists(self) -> bool:
        """Always True: only asking the server would tell."""
        return True

    @contextmanager
    def using(self, wanted: CollectionSpec) -> Iterator[tuple[Any, Any]]:
        """Provides the client and the collection.

        One that is gone, as after the server lost its files, is damage: the caller rebuilds it.
        """
        with self._explaining():
            with self._lock:
                if self._opened is None:
                    with kept_open(self._client()) as client:
                        self._opened = client, collection_of(client, wanted)
                opened = self._opened
            yield opened

    def ping(self) -> None:
        """Opens a client, to learn whether the server answers. Raises StoreError."""
        with self._explaining():
            self._client().close()

    def scrub(self) -> None:
        """Does nothing: the files are the server's, and `chroma vacuum` there removes what was deleted."""

    def faults(self) -> list[str]:
        """Returns nothing: the files are the server's."""
        return []

    def close(self) -> None:
        """Forgets the collection and closes idle connections; the next use opens both again."""
        with self._lock:
            opened, self._opened = self._opened, None
        if opened is not None:
            opened[0].close()
        self._requests.close()

    def clear(self, wanted: CollectionSpec) -> None:
        """Deletes the collection. A missing one is ignored."""
        self.close()
        with self._explaining(), kept_open(self._client()) as client:
            with suppress(CollectionLostError):
                client.delete_collection(wanted.name)
            client.close()

    def _client(self) -> Any:
        return open_server(self._address, self._headers, self._requests)

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        """Raises StoreError for what the server did, also where Chroma's client said it in other words."""
        try:
            yield
        except CollectionLostError:
            self.close()
            raise
        except StoreError:
            raise
        except Exception as error:
            cause: BaseException | None = error
            while cause is not None and not isinstance(cause, StoreError):
                cause = cause.__context__
            raise cause or _strange(self._host, str(error)) from None


class _Requests:
    """Sends the requests of Chroma's client, each repeated once if the connection breaks: all of them can be.

    A transport of httpx. Raises IndexDamagedError, StoreError for what is no answer.
    """

    def __init__(self, host: str, seconds: float) -> None:
        self._host, self._seconds = host, seconds
        self._silent_until = 0.0
        self._connections: httpx.HTTPTransport | None = None

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Returns the answer, all of it read. A search fails at once while the server is silent."""
        if request.url.path.endswith("/query") and time.monotonic() < self._silent_until:
            raise _silence(self._host, self._seconds)
        try:
            return self._once(request)
        except _PassingError:
            return self._once(request)

    def close(self) -> None:
        """Closes idle connections; the next request opens another."""
        connections, self._connections = self._connections, None
        if connections is not None:
            connections.close()

    def _once(self, request: httpx.Request) -> httpx.Response:
        import httpx

        seconds = self._seconds
        if request.url.path.endswith("/upsert"):
            seconds = max(seconds, WRITE_SECONDS)
        timeout = httpx.Timeout(seconds, connect=min(CONNECT_SECONDS, seconds))
        request.extensions["timeout"] = timeout.as_dict()
        if self._connections is None:
            self._connections = httpx.HTTPTransport(verify=ssl.create_default_context())
        try:
            answer = self._connections.handle_request(request)
            answer.read()
        except httpx.TimeoutException as error:
            if isinstance(error, httpx.ReadTimeout):
                self._silent_until = time.monotonic() + SILENT_SECONDS
            raise _silence(self._host, seconds) from None
        except httpx.HTTPError as error:
            raise _unreachable(self._host, one_line(str(error), MOST_CHARACTERS)) from None
        self._silent_until = 0.0
        if not answer.is_success:
            raise _refusal(self._host, answer.status_code, answer.text)
        return answer


def _unreachable(host: str, said: str) -> StoreError:
    """The failure of a request that had no answer."""
    if "CERTIFICATE_VERIFY" in said:
        return StoreError(
            f"The Chroma server {host} has a certificate that this machine does not trust: {said}",
            hint="Renew it, or name the file of your own authority in SSL_CERT_FILE.",
        )
    if "SSL" in said:
        return StoreError(
            f"The Chroma server {host} does not answer by https: {said}",
            hint="Check FINPOLICY_CHROMA_URL: a server without TLS needs http://.",
        )
    return _PassingError(
        f"The Chroma server {host} cannot be reached: {said}",
        hint="Start it, or check FINPOLICY_CHROMA_URL. Search by meaning returns when it answers.",
        retryable=True,
    )


def _silence(host: str, seconds: float) -> StoreError:
    """The failure of a request that a server did not answer in time."""
    return StoreError(
        f"The Chroma server {host} did not answer in {seconds:g} seconds.",
        hint="Check what keeps it busy. Search by meaning returns when it answers in time.",
        retryable=True,
    )


def _strange(host: str, said: str) -> StoreError:
    """The failure of a server that is another one."""
    return StoreError(
        f"{host} does not answer like a Chroma server of version 1 ({one_line(said, MOST_CHARACTERS)}).",
        hint="Check FINPOLICY_CHROMA_URL, and run chromadb 1.0 or later there.",
    )


def _refusal(host: str, status: int, text: str) -> StoreError:
    """The failure that an answer tells. text: of its body."""
    kind, said = _told(text)
    if status in (401, 403):
        return StoreError(
            f"The Chroma server {host} refused the token (status {status}).",
            hint="Check FINPOLICY_CHROMA_TOKEN, and that it may write.",
        )
    if status == 404 and kind == "NotFoundError" and "ollection" in said:
        return CollectionLostError(f"The Chroma server {host} has lost the vector index.", hint=REPAIR)
    if status == 404 and kind == "NotFoundError":
        return StoreError(
            f"The Chroma server {host} has not the usual tenant and database: {said}",
            hint="Create default_tenant and default_database there, or use a server with Chroma's defaults.",
        )
    if "dimension" in said:
        return IndexDamagedError(
            f"The vector index on {host} belongs to another embedding model: {said}", hint=REPAIR
        )
    if status in (404, 405, 410, 501) or status < 400:
        return _strange(host, f"status {status}")
    if status in PASSING:
        return _PassingError(
            f"The Chroma server {host} is starting or busy (status {status}).",
            hint="Search by meaning returns when it answers.",
            retryable=True,
        )
    if status == 507 or "disk is full" in said or "No space left" in said:
        return StoreError(
            f"The disk of the Chroma server {host} is full.",
            hint="Free space there. Nothing is lost: the catalogue has all vectors.",
            retryable=True,
        )
    return StoreError(
        f"The Chroma server {host} failed (status {status}): {said or 'it says nothing'}",
        hint="See its log.",
        retryable=status >= 500,
    )


def _told(text: str) -> tuple[str, str]:
    """(kind, message) of the body of a failure, as one line."""
    try:
        told = json.loads(text)
        return str(told["error"]), one_line(str(told["message"]), MOST_CHARACTERS)
    except (ValueError, KeyError, TypeError):
        return "", one_line(text, MOST_CHARACTERS)
