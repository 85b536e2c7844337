"""Bounds what a client sends before its request can be answered: uvicorn would keep any number of headers."""

from __future__ import annotations

import asyncio

from uvicorn import config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

__all__ = ["bound_heads"]

# Bytes between two pieces of bodies: a request's line and headers, and the trailers of a body.
MOST_BYTES = 65_536
# Seconds until the headers are complete.
MOST_SECONDS = 30.0
TOO_LARGE = f"The headers are larger than {MOST_BYTES:,} bytes."


class BoundedHttp(HttpToolsProtocol):
    """A connection that ends if its client sends too many headers, or too slowly."""

    _unused = 0
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._begin()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._unused += len(data)
        super().data_received(data)
        if self._unused > MOST_BYTES and not self.transport.is_closing():
            self.send_400_response(TOO_LARGE)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._begin()

    def on_headers_complete(self) -> None:
        self._end()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._unused = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._unused = 0
        super().on_message_complete()

    def _begin(self) -> None:
        self._end()
        self._timer = self.loop.call_later(MOST_SECONDS, self.transport.close)

    def _end(self) -> None:
        """The headers are complete."""
        self._unused = 0
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def bound_heads() -> None:
    """Has the servers of this process that choose their own parser use `BoundedHttp`."""
    config.HTTP_PROTOCOLS["auto"] = f"{__name__}:{BoundedHttp.__name__}"
