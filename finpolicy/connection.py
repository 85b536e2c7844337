"""Speaks /api/v1 with a store: with a server's over HTTP, or with one that this process has open.

The latter is served by a thread to this process alone, so both ways have the same checks, errors and replies.
"""

from __future__ import annotations

import io
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import replace
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import httpx

from chatbot.errors import (
    BusyError,
    ModelError,
    NotFoundError,
    ProjectError,
    SettingsError,
    StoreError,
    UsageError,
)

if TYPE_CHECKING:
    from chatbot.app.app_context import AppContext
    from chatbot.settings import Settings

__all__ = ["HERE", "STOP", "CallStop", "StoreConnection"]

# The address that a store of this process has here.
HERE = "http://finpolicy.invalid"
ERRORS: dict[int, type[ProjectError]] = {
    401: SettingsError,
    403: SettingsError,
    404: NotFoundError,
    422: UsageError,
    429: BusyError,
    502: ModelError,
    503: StoreError,
}
# A long answer, or a comparison of many documents, comes at once.
READ_SECONDS, CONNECT_SECONDS = 3_600, 10
OPENING_SECONDS, TICK_SECONDS = 3_600.0, 0.005
# Pixels around a mark that are shown with it.
AROUND = 60
# What hints name, as it is called here.
CALLS = {
    "Set FINPOLICY_HOME to a folder": "Name a folder",
    "List them: GET /api/v1/documents": "documents() lists them.",
    "GET /api/v1/documents": "documents()",
}


class CallStop:
    """Stops one call from another thread, for a caller that does not wait for it any more."""

    def __init__(self) -> None:
        self._sockets, self._stopped = list[socket.socket](), False

    def add(self, reached: socket.socket) -> None:
        """Notes what the call waits for."""
        self._sockets.append(reached)
        if self._stopped:
            self.stop()

    def stop(self) -> None:
        """Ends what the call waits for, so that the store stops its work."""
        self._stopped = True
        for reached in self._sockets:
            with suppress(OSError):  # it has ended
                reached.shutdown(socket.SHUT_RDWR)


STOP: ContextVar[CallStop | None] = ContextVar("STOP", default=None)


class StoreConnection:
    """A store behind /api/v1, until closed. Several threads may use it.

    context: the open store, None if a server has it.
    """

    def __init__(self, http: httpx.Client, context: AppContext | None = None) -> None:
        self._http, self.context = http, context
        self._end = ExitStack()

    @classmethod
    def opened(cls, settings: Settings) -> StoreConnection:
        """Opens a store. Raises StoreError and SettingsError."""
        import uvicorn

        from chatbot.api.application import build_api
        from chatbot.api.host import Host
        from chatbot.app.app_context import AppOpening

        opening = AppOpening(lambda: settings)
        opening.wait(OPENING_SECONDS)
        context = opening.context
        if context is None:
            error = opening.error or StoreError("The store did not open in an hour.")
            error.hint = _called(error.hint)
            raise error
        host = Host(lambda: context, lambda: False, lambda _: "", lambda _: "")
        app = build_api(host, replace(settings, api_rate=0))
        with ExitStack() as opened:
            opened.callback(opening.close)
            # Nobody else can open its folder.
            path = f"{opened.enter_context(TemporaryDirectory(prefix='finpolicy-'))}/api.sock"
            config = uvicorn.Config(
                app, uds=path, log_config=None, lifespan="off", timeout_graceful_shutdown=1
            )
            server = uvicorn.Server(config)
            thread = threading.Thread(target=server.run, name="finpolicy", daemon=True)
            thread.start()
            opened.callback(thread.join)
            opened.callback(setattr, server, "should_exit", True)
            while not server.started and thread.is_alive():
                time.sleep(TICK_SECONDS)
            transport = httpx.HTTPTransport(uds=path)
            found = cls(httpx.Client(transport=transport, base_url=HERE, timeout=None), context)
            found._end.push(opened.pop_all())
            return found

    @classmethod
    def reached(cls, address: str, key: str) -> StoreConnection:
        """Connects to a server. Raises StoreError, and SettingsError for a key that it refuses."""
        headers = {"authorization": f"Bearer {key}"} if key else {}
        timeout = httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)
        try:
            http = httpx.Client(base_url=address, headers=headers, timeout=timeout)
        except (httpx.InvalidURL, UnicodeError) as error:
            raise UsageError(f"{address} is no address of a server: {error}.") from error
        found = cls(http)
        try:
            found.call("GET", "jobs")
        except BaseException:
            found.close()
            raise
        return found

    def close(self) -> None:
        """Closes the store, or the connection. May be called again."""
        self._http.close()
        self._end.close()

    def call(self, method: str, path: str, **sent: Any) -> Any:
        """Returns the JSON of a reply, None for an empty one. sent: as httpx takes it."""
        data = self.fetch(method, path, **sent)
        return self._json(data) if data else None

    def fetch(self, method: str, path: str, **sent: Any) -> bytes:
        """Returns the bytes of a reply. Raises ProjectError for a problem."""
        with self._reply(method, path, **sent) as reply:
            return reply.read()

    def events(self, method: str, path: str, **sent: Any) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yields (name, data) of server-sent events. Closing it stops the work. Raises ProjectError."""
        name = ""
        with self._reply(method, path, **sent) as reply:
            for line in reply.iter_lines():
                field, _, text = line.partition(": ")
                if field == "event":
                    name = text
                elif field == "data":
                    data = self._json(text.encode())
                    if name == "problem":
                        raise _error_of(data)
                    yield name, data

    def page_image(self, document: str, page: int, passage: str, *, crop: bool) -> bytes:
        """Returns a page as a PNG with a passage marked, or the part around the mark."""
        path = f"documents/{document}/pages/{page}"
        marked = self.fetch("GET", path, params={"passage": passage})
        if not crop:
            return marked
        from PIL import Image, ImageChops

        plain, drawn = (
            Image.open(io.BytesIO(one)).convert("RGB") for one in (self.fetch("GET", path), marked)
        )
        box = ImageChops.difference(plain, drawn).getbbox()
        if box is None:
            return marked
        part = drawn.crop((0, max(box[1] - AROUND, 0), drawn.width, min(box[3] + AROUND, drawn.height)))
        output = io.BytesIO()
        part.save(output, "PNG")
        return output.getvalue()

    @contextmanager
    def _reply(self, method: str, path: str, **sent: Any) -> Iterator[httpx.Response]:
        if self._http.is_closed:
            raise StoreError("This FinPolicy is closed.", hint="Open another, and use it inside its `with`.")
        stop = STOP.get()
        try:
            request = self._http.build_request(method, f"/api/v1/{path}", **sent)
            with closing(self._http.send(request, stream=True)) as reply:
                connection = reply.extensions.get("network_stream")
                if stop is not None and connection is not None:
                    stop.add(connection.get_extra_info("socket"))
                if not reply.is_success:
                    raise _error_of(self._json(reply.read()), reply.status_code)
                yield reply
        except (httpx.HTTPError, httpx.StreamError) as error:
            told = str(error).rstrip(".") or type(error).__name__
            raise StoreError(
                f"The server at {self._http.base_url} does not answer: {told}.",
                hint="Start it with `finpolicy serve`, or check its address: http://HOST:PORT.",
                retryable=True,
            ) from error

    def _json(self, data: bytes) -> Any:
        try:
            return json.loads(data)
        except ValueError as error:
            raise StoreError(
                f"What answers at {self._http.base_url} is no server of finpolicy.", hint="Check its address."
            ) from error


def _called(hint: str) -> str:
    """Returns a hint with what it names as it is called here."""
    for named, call in CALLS.items():
        hint = hint.replace(named, call)
    return hint


def _error_of(problem: Any, status: int = 500) -> ProjectError:
    """Returns the error that a problem document stands for."""
    told = problem if isinstance(problem, dict) else {}
    status = told.get("status", status)
    wrong = "; ".join(one.removeprefix("body.") for one in told.get("errors") or ())
    hint = "" if wrong else _called(str(told.get("hint", "")))
    message = wrong or str(told.get("detail") or f"The server answered {status}.")
    return ERRORS.get(status, ProjectError)(message, hint=hint, retryable=status in {429, 503})
