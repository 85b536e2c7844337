"""A real HTTP server that stands in for an OpenAI-compatible embedding endpoint and misbehaves on request;
knows nothing of the product's store.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.fakes import HashEmbedder

__all__ = ["EmbeddingServer", "Fault", "Received"]

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Fault:
    """What one request gets instead of a good answer: an HTTP error, silence, another body, or rows that
    were tampered with.
    """

    status: int = 200
    message: str = "refused"
    headers: Mapping[str, str] = field(default_factory=dict)
    silent: bool = False
    body: str = ""
    rows: Callable[[Rows], Rows] | None = None


@dataclass(frozen=True)
class Received:
    """A request as it arrived. headers: names in lower case."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]

    @property
    def texts(self) -> list[str]:
        """What was to be embedded."""
        return list(self.body["input"])


class EmbeddingServer:
    """A server on 127.0.0.1 whose vectors are those of HashEmbedder; the first requests get the given faults,
    one each, or all the last one where `forever` is set.

    dimension: of the vectors where the request does not ask for another. requests: all that arrived.
    """

    def __init__(self, faults: Sequence[Fault] = (), *, dimension: int = 64, forever: bool = False) -> None:
        self.requests: list[Received] = []
        self.dimension = dimension
        self._faults, self._forever = list(faults), forever
        self._lock = threading.Lock()
        self.closing = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"owner": self}))
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    @property
    def url(self) -> str:
        """The base URL, ending in /v1."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> EmbeddingServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def take(self, received: Received) -> Fault:
        """What is to happen to a request that has just arrived; a Fault() is none."""
        with self._lock:
            self.requests.append(received)
            if not self._faults:
                return Fault()
            return self._faults[0] if self._forever and len(self._faults) == 1 else self._faults.pop(0)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: EmbeddingServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        received = Received(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
        fault = self.owner.take(received)
        if fault.silent:
            self.owner.closing.wait(60)
            self.close_connection = True
        elif fault.status != 200:
            self._send(fault.status, json.dumps({"error": {"message": fault.message}}), fault.headers)
        else:
            self._send(
                200,
                fault.body or json.dumps({"object": "list", "data": self._rows(received, fault)}),
                fault.headers,
            )

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""

    def _rows(self, received: Received, fault: Fault) -> Rows:
        vectors = HashEmbedder(
            dimension=received.body.get("dimensions", self.owner.dimension), max_tokens=10_000
        ).embed(received.texts)
        rows = [
            {"object": "embedding", "index": index, "embedding": vector.tolist()}
            for index, vector in enumerate(vectors)
        ]
        return fault.rows(rows) if fault.rows else rows

    def _send(self, status: int, body: str, headers: Mapping[str, str]) -> None:
        data = body.encode()
        self.send_response(status)
        for name, value in {
            "Content-Type": "application/json",
            **headers,
            "Content-Length": str(len(data)),
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)
