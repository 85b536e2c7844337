"""What a client may send before it is answered: so many headers, and not too slowly."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import uvicorn
from uvicorn.config import HTTP_PROTOCOLS

from chatbot.ui import request_heads
from chatbot.ui.request_heads import MOST_BYTES, bound_heads

HEAD = b"POST / HTTP/1.1\r\nHost: localhost\r\n"
PIECES = 100


async def _app(scope: Any, receive: Any, send: Any) -> None:
    size, more = 0, True
    while more:
        message = await receive()
        size += len(message.get("body", b""))
        more = message.get("more_body", False)
    length = str(len(str(size))).encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", length)]})
    await send({"type": "http.response.body", "body": str(size).encode()})


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with pytest.MonkeyPatch.context() as patch, socket.socket() as listening:
        patch.setitem(HTTP_PROTOCOLS, "auto", HTTP_PROTOCOLS["auto"])
        bound_heads()
        listening.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(_app, lifespan="off", log_level="critical"))
        thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield listening.getsockname()[1]
        server.should_exit = True
        thread.join(10)


def _replied(port: int, head: bytes, piece: bytes, pieces: int) -> bytes:
    """What comes back for a request that is not finished; b"" if the connection just ends."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as client:
        try:
            client.sendall(head)
            for _ in range(pieces):
                client.sendall(piece)
                time.sleep(0.001)
            return client.recv(1_000)
        except (BrokenPipeError, ConnectionResetError):
            return b"HTTP/1.1 400 ended while sending"


@pytest.mark.parametrize(
    ("head", "piece"),
    [
        pytest.param(HEAD, b"a: b\r\n" * (MOST_BYTES // 60), id="many"),
        pytest.param(HEAD + b"a: ", b"a" * (MOST_BYTES // 10), id="one that never ends"),
        pytest.param(
            HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n",
            b"a: b\r\n" * (MOST_BYTES // 60),
            id="after a body",
        ),
    ],
)
def test_headers_end_somewhere(port: int, head: bytes, piece: bytes) -> None:
    assert _replied(port, head, piece, PIECES).startswith(b"HTTP/1.1 400")


def test_who_sends_no_headers_is_let_go(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_heads, "MOST_SECONDS", 0.2)
    assert _replied(port, b"", b"", 0) == b""
    assert _replied(port, HEAD, b"", 0) == b""


def test_a_connection_serves_many_requests_with_bodies_of_any_size(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_heads, "MOST_SECONDS", 1.0)
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers={"long": "a" * 20_000}) as client:
        for size in (0, 1, 10 * MOST_BYTES, 0):
            assert client.post("/", content=b"a" * size).text == str(size)
        parts = (b"a" * 1_000 for _ in range(200))
        assert client.post("/", content=parts).text == "200000"
        time.sleep(1.2)
        assert client.post("/").text == "0"
