"""Gives each request an id, limits its size, rate and idle time, and logs it (ASGI middleware)."""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import time
from collections import OrderedDict

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from chatbot.api.metrics import Metrics
from chatbot.api.problems import ProblemError

__all__ = ["Gate", "Rates"]

log = logging.getLogger(__name__)

REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
# Bytes of any request but an upload. A question of the longest kind takes a quarter of it.
MOST_BYTES = 2_000_000
# Beside the largest file, an upload has its form around it.
FORM_BYTES = 100_000
MIB = 1 << 20
TOO_LARGE_FILE = "Send fewer files at once; FINPOLICY_MAX_UPLOAD_MB sets the largest file."
TOO_LARGE = "Send a shorter text. Files go to POST /api/v1/documents."
# A method that is made up would be a name in the log and in the metrics.
METHODS = frozenset("GET HEAD POST PUT PATCH DELETE OPTIONS".split())
# Seconds a client may take for its next piece of a request.
SILENT_SECONDS = 30.0
MINUTE = 60.0
MOST_CALLERS = 10_000


class Rates:
    """Counts each caller's requests of a minute, by a bucket that fills steadily.

    per_minute: how many each may make; 0 for any number.
    """

    def __init__(self, per_minute: int) -> None:
        self._most = per_minute
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, caller: str) -> float:
        """Counts one request. Returns 0 if it may go on, else the seconds after which the next one may."""
        if not self._most:
            return 0.0
        now = time.monotonic()
        left, at = self._buckets.pop(caller, (float(self._most), now))
        left = min(float(self._most), left + (now - at) * self._most / MINUTE)
        allowed = left >= 1
        self._buckets[caller] = (left - 1 if allowed else left, now)
        if len(self._buckets) > MOST_CALLERS:
            self._buckets.popitem(last=False)
        return 0.0 if allowed else (1 - left) * MINUTE / self._most


class Gate:
    """ASGI middleware around the API."""

    def __init__(
        self, app: ASGIApp, *, metrics: Metrics, most_upload_mb: int, uploads: tuple[str, ...] = ()
    ) -> None:
        """metrics: counts the requests.
        most_upload_mb: the size of the largest file, in MiB.
        uploads: the paths that take files.
        """
        self._app, self._metrics = app, metrics
        self._most_upload_mb, self._uploads = most_upload_mb, uploads

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # Blanks around a value are no part of it, but uvicorn leaves those at its end.
        scope["headers"] = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
        given = dict(scope["headers"]).get(b"x-request-id", b"").decode("latin-1")
        request_id = given if REQUEST_ID.fullmatch(given) else secrets.token_hex(8)
        scope["state"] = {**scope.get("state", {}), "request_id": request_id}
        call = _Call(request_id, send)
        body = _Body(receive, *self._limit(scope["path"]))
        self._metrics.began()
        try:
            await self._app(scope, body.receive, call.send)
        finally:
            call.end(scope, self._metrics)

    def _limit(self, path: str) -> tuple[int, str]:
        """The most bytes at an address, and what to do about more."""
        if path.rstrip("/") in self._uploads:
            return self._most_upload_mb * MIB + FORM_BYTES, TOO_LARGE_FILE
        return MOST_BYTES, TOO_LARGE


class _Call:
    """One request on its way through the gate."""

    def __init__(self, request_id: str, send: Send) -> None:
        self._id, self._send, self.status, self._began = request_id, send, 0, time.perf_counter()

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [*message.get("headers", []), (b"x-request-id", self._id.encode())]
        await self._send(message)

    def end(self, scope: Scope, metrics: Metrics) -> None:
        """Counts it, and writes a line with the address's pattern: the address itself could be content."""
        route = getattr(scope.get("route"), "path", "") or "(unknown)"
        method = scope["method"] if scope["method"] in METHODS else "(unknown)"
        seconds = time.perf_counter() - self._began
        metrics.ended(method, route, self.status, seconds)
        caller = scope["state"].get("caller")
        log.info(
            "%s %s %d %.0f ms id=%s key=%d",
            method,
            route,
            self.status,
            seconds * 1000,
            self._id,
            caller.key if caller else 0,
        )


class _Body:
    """A request's body, read piece by piece."""

    def __init__(self, receive: Receive, limit: int, hint: str) -> None:
        self._receive, self._limit, self._hint = receive, limit, hint
        self._left, self._whole = limit, False

    async def receive(self) -> Message:
        if self._whole:  # what comes now is that the client has gone
            return await self._receive()
        try:
            message = await asyncio.wait_for(self._receive(), SILENT_SECONDS)
        except TimeoutError as error:
            raise ProblemError(
                408,
                f"Nothing came for {SILENT_SECONDS:.0f} seconds.",
                hint="Send the whole request at once.",
                headers={"connection": "close"},
            ) from error
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            raise ProblemError(
                413,
                f"The request is larger than {self._limit:,} bytes.",
                hint=self._hint,
                headers={"connection": "close"},
            )
        self._whole = not message.get("more_body", False)
        return message
