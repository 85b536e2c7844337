"""Reads documents on a Dask cluster, with the reader that reads them here.

A cluster runs what it is sent, so both sides must trust each other: use an address that begins with tls://.
"""

from __future__ import annotations

import importlib.util
import tempfile
import threading
from pathlib import Path
from typing import Any

from chatbot.errors import CancelledError, StoreError
from ingestion.document import Circumstances, DocumentReading, read_document
from ingestion.ocr.scan_languages import ScanLanguages

__all__ = ["Cluster"]

INSTALL_HINT = "Install it: make setup-served, or by pip the extra `served`."
CONNECT_SECONDS, LOOK_SECONDS = 10, 0.2


class Cluster:
    """A Dask cluster that reads files.

    places: how many files it reads at once.
    """

    def __init__(self, scheduler: str) -> None:
        """scheduler: its address, such as tcp://host:8786. Raises StoreError if it cannot be used."""
        if importlib.util.find_spec("distributed") is None:
            raise StoreError("Dask (distributed) is not installed.", hint=INSTALL_HINT)
        self._client = _connected(scheduler)
        self.places = sum(self._client.nthreads().values())
        if not self.places:
            self.close()
            raise StoreError(
                f"The Dask cluster at {scheduler} has no workers.",
                hint=f"Start some: dask worker {scheduler}",
            )

    def read(self, path: Path, how: Circumstances) -> DocumentReading:
        """Reads a file; see read_document."""
        # Not result(timeout=…): distributed fails if that ends in the moment in which the answer comes.
        finished = threading.Event()
        given = (path.read_bytes(), path.suffix, how.password, how.most_pages, how.languages.codes)
        call = self._client.submit(_read, *given, pure=False, retries=1)
        call.add_done_callback(lambda _: finished.set())
        while not how.cancelled():
            if finished.wait(LOOK_SECONDS):
                reading: DocumentReading = call.result()
                return reading
        call.cancel()
        raise CancelledError("Cancelled.")

    def close(self) -> None:
        """Leaves the cluster, which goes on."""
        self._client.close()


def _connected(scheduler: str) -> Any:
    """Returns a client, of which distributed says no types."""
    from distributed import Client

    try:
        return Client(scheduler, timeout=CONNECT_SECONDS)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise StoreError(
            f"The Dask scheduler at {scheduler} cannot be reached.",
            hint="Start it (dask scheduler), or correct the address, such as tcp://host:8786.",
            retryable=True,
        ) from error


def _read(data: bytes, suffix: str, password: str | None, most_pages: int, languages: str) -> DocumentReading:
    """Reads all of a document, on a worker of the cluster."""
    with tempfile.NamedTemporaryFile(suffix=suffix) as file:
        file.write(data)
        file.flush()
        spoken = ScanLanguages(languages)
        how = Circumstances(password=password, processes=1, most_pages=most_pages, languages=spoken)
        return read_document(Path(file.name), how)
