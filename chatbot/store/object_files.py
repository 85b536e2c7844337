"""Keeps the files of copies in an object store (S3, Google, Azure), and those in use on this machine."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from chatbot.errors import SettingsError, StoreError
from chatbot.store.copy_files import READ_BYTES, CopyFiles, prepared
from chatbot.store.plain_files import is_plain
from ingestion.invisible_characters import one_line
from ingestion.reading.formats import MADE

if TYPE_CHECKING:
    from obstore.store import ClientConfig, ObjectStore, S3Config

__all__ = ["CACHE_BYTES", "ObjectFiles", "explain_objects", "shown_objects"]

# What of the copies is kept on this machine, in bytes. A file used less than so many seconds ago stays.
CACHE_BYTES, IN_USE_SECONDS = 2 * 2**30, 3_600
CONNECT_SECONDS, SILENT_SECONDS, RETRY_SECONDS, RETRIES = "5s", "60s", 20, 2
INSTALL_HINT = "Install it: make setup-served, or by pip the extra `served`."
HERE = ("localhost", "127.0.0.1", "::1")


class ObjectFiles(CopyFiles):
    """The objects under one address; see CopyFiles. Any number of processes may use them.

    An upload becomes visible when it is complete. What is read is checked: a copy is named by its SHA-256.
    """

    def __init__(self, address: str, cache: Path, *, endpoint: str = "", room: int = CACHE_BYTES) -> None:
        """address: such as s3://bucket/prefix. cache: the folder for what is used, created if missing.
        endpoint: of a store that speaks S3 and is not Amazon's, "" for none. room: bytes of the cache.

        Raises SettingsError for an impossible address, OSError if the cache cannot be created.
        """
        self._room, self._shown = room, shown_objects(address)
        self._store = _opened(address, endpoint)
        super().__init__(cache, alone=False)

    def put(self, prepared: Path, name: str) -> None:
        """Uploads a prepared file. A copy is then used from the cache."""
        import obstore

        with self._explained():
            obstore.put(self._store, name, prepared)
        if name.endswith(".pdf"):
            self._make_room(prepared.stat().st_size)
            os.replace(prepared, self.incoming / name)
        else:
            prepared.unlink()

    def size(self, name: str) -> int | None:
        """Returns the size in bytes, None for a missing file."""
        import obstore

        try:
            with self._explained():
                return int(obstore.head(self._store, name)["size"])
        except FileNotFoundError:
            return None

    def parts(self, name: str) -> Iterator[bytes]:
        """Yields the content of a file. It does not look in the cache."""
        import obstore

        with self._explained():
            for part in obstore.get(self._store, name).stream(min_chunk_size=READ_BYTES):
                yield bytes(part)

    def local(self, name: str) -> Path | None:
        """Returns the file in the cache, fetched if it is not there; None for a missing file.

        While the store cannot be reached, what is in the cache is used.
        """
        kept = self.incoming / name
        try:
            size = self.size(name)
        except StoreError as error:
            if error.retryable and is_plain(kept):
                return kept
            raise
        if size is None:
            kept.unlink(missing_ok=True)
            return None
        if is_plain(kept):
            os.utime(kept)
        else:
            self._make_room(size)
            self._fetch(name, kept)
        return kept

    def delete(self, name: str) -> None:
        """Deletes a file here and there. A missing one is ignored."""
        import obstore

        (self.incoming / name).unlink(missing_ok=True)
        with suppress(FileNotFoundError), self._explained():
            obstore.delete(self._store, name)

    def listed(self) -> Iterator[tuple[str, float, int]]:
        """Yields (name, when it was put, size in bytes) of every file.

        Then deletes from the cache what is none of them: others have erased it.
        """
        import obstore

        names = set[str]()
        with self._explained():
            for page in obstore.list(self._store):
                for found in page:
                    names.add(found["path"])
                    yield found["path"], found["last_modified"].timestamp(), found["size"]
        for path in self._cached():
            if path.name not in names:
                path.unlink(missing_ok=True)

    def strange(self) -> list[str]:
        """Returns nothing: an object store has plain objects only."""
        return []

    def _fetch(self, name: str, kept: Path) -> None:
        """Fetches a copy into the cache, where it is visible when it is complete and has its bytes."""
        digest = hashlib.sha256()

        def parts() -> Iterator[bytes]:
            for part in self.parts(name):
                digest.update(part)
                yield part

        with prepared(self.incoming, parts()) as fetched:
            if digest.hexdigest() != kept.stem and kept.suffix != MADE:
                raise StoreError(
                    f"A kept copy in {self._shown} is damaged: {name}.",
                    hint="Add its document again, or restore the copy from a backup.",
                )
            os.replace(fetched, kept)

    def _cached(self) -> list[Path]:
        return [*self.incoming.glob("*.pdf"), *self.incoming.glob(f"*{MADE}")]

    def _make_room(self, size: int) -> None:
        """Deletes from the cache what was not used for longest, until so many bytes have room."""
        found = sorted((path.stat().st_mtime, path.stat().st_size, path) for path in self._cached())
        used = sum(bytes_ for _, bytes_, _ in found)
        for at, bytes_, path in found:
            if used + size <= self._room or at > time.time() - IN_USE_SECONDS:
                return
            path.unlink(missing_ok=True)
            used -= bytes_

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Raises FileNotFoundError for a missing object, StoreError for all else that the store refuses."""
        from obstore.exceptions import BaseError

        try:
            yield
        except (BaseError, OSError) as error:
            raise explain_objects(error, self._shown) from None


def _opened(address: str, endpoint: str) -> ObjectStore:
    """Makes the client, which asks nothing yet. Its keys are those of the environment."""
    if importlib.util.find_spec("obstore") is None:
        raise SettingsError("The client of object stores (obstore) is not installed.", hint=INSTALL_HINT)
    from obstore.exceptions import BaseError
    from obstore.store import LocalStore, MemoryStore, from_url

    config: S3Config | None = None
    if address.startswith(("s3://", "s3a://")) and endpoint:
        config = {"endpoint": endpoint}
    client: ClientConfig = {"connect_timeout": CONNECT_SECONDS, "timeout": SILENT_SECONDS}
    if urlsplit(endpoint).scheme == "http" and urlsplit(endpoint).hostname in HERE:
        client["allow_http"] = True
    try:
        if address.startswith("memory:"):
            return MemoryStore()
        if address.startswith("file:"):
            return LocalStore.from_url(address, mkdir=True)
        return from_url(
            address,
            client_options=client,
            retry_config={"max_retries": RETRIES, "retry_timeout": timedelta(seconds=RETRY_SECONDS)},
            config=config,
        )
    except (BaseError, ValueError) as error:
        raise SettingsError(
            f"FINPOLICY_FILES is not the address of an object store: {shown_objects(address)}.",
            hint="Write it as s3://bucket/prefix, gs://bucket/prefix or az://container/prefix.",
        ) from error


def shown_objects(address: str) -> str:
    """Where the copies are, for display, without a user or a query."""
    parts = urlsplit(address)
    return f"{parts.scheme or '?'}://{parts.hostname or ''}{parts.path}"


MOST_CHARACTERS = 200
KEYS = "Check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the keys of your provider."
# What a failure says, what happened, the fix, and whether it passes by itself. The first that fits counts.
SIGNS = (
    (
        "NoSuchBucket|ContainerNotFound|bucket does not exist",
        "does not exist",
        "Create the bucket, or check FINPOLICY_FILES.",
        False,
    ),
    ("169\\.254\\.169\\.254|NoCredentials|no credentials", "was given no keys", KEYS, False),
    (
        "InvalidAccessKeyId|SignatureDoesNotMatch|401 |Unauthenticated|ExpiredToken|invalid_grant",
        "refused the keys",
        KEYS,
        False,
    ),
    (
        "AccessDenied|403 Forbidden|Permission",
        "does not allow that",
        "Allow these keys to read, write, list and delete there.",
        False,
    ),
    (
        "507 |StorageFull|QuotaExceeded|No space left",
        "is full",
        "Free space there. Nothing stored is lost.",
        True,
    ),
    (
        "[Cc]ertificate",
        "has a certificate that this machine does not trust",
        "Check AWS_ENDPOINT_URL.",
        False,
    ),
    (
        "builder error",
        "is not asked over plain http",
        "Use https, or allow it by AWS_ALLOW_HTTP=true in a network of your own.",
        False,
    ),
    ("timed out|TimedOut|timeout: true", "did not answer in time", "Check what keeps it busy.", True),
    (
        "error sending request|dns error|Connect|503 |502 |500 |SlowDown",
        "cannot be reached",
        "Start it, or check AWS_ENDPOINT_URL and FINPOLICY_FILES.",
        True,
    ),
)


def explain_objects(error: Exception, shown: str) -> Exception:
    """Returns FileNotFoundError for a missing object, StoreError for all else.

    shown: the store's address, for display.
    """
    text = f"{type(error).__name__} {error}"
    for sign, happened, fix, passes in SIGNS:
        if re.search(sign, text):
            return StoreError(f"The object store {shown} {happened}.", hint=fix, retryable=passes)
    if isinstance(error, FileNotFoundError):
        return error
    said = one_line(str(error).partition("\n")[0], MOST_CHARACTERS)
    return StoreError(f"The object store {shown} failed: {said}", hint="See its log.", retryable=True)
