"""How often a caller may call."""

from __future__ import annotations

import asyncio

import pytest

from chatbot.api import gate
from chatbot.api.gate import Rates
from tests.chatbot.api.conftest import Api
from tests.loops import run_async


def test_a_bucket_gives_what_a_minute_allows_and_then_says_how_long_to_wait() -> None:
    rates = Rates(120)
    assert [rates.wait("one") for _ in range(120)] == [0.0] * 120
    wait = rates.wait("one")
    assert 0 < wait <= 0.5
    assert rates.wait("another") == 0.0


def test_who_calls_too_often_is_told_when_to_try_again(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Rates, "wait", lambda self, caller: 1.2)
    with api.client() as client:
        refused = client.get("/api/v1/documents")
    assert refused.status_code == 429
    assert refused.headers["retry-after"] == "2"


def test_a_file_is_read_of_nobody_without_a_key(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[str] = []

    def wait(self: Rates, caller: str) -> float:
        counted.append(caller)
        return 0.0

    monkeypatch.setattr(Rates, "wait", wait)
    with api.client("manage") as client:
        assert client.get("/api/v1/documents").status_code == 200
    assert len(counted) == 1, "and who calls is found once"
    api.open = True

    async def call() -> bytes:
        port = int(api.url.rpartition(":")[2])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        head = b"POST /api/v1/documents HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n"
        writer.write(head + b"content-type: multipart/form-data; boundary=B\r\n\r\n3\r\n--B\r\n")
        found = await asyncio.wait_for(reader.read(20), 5)
        writer.close()
        return found

    assert run_async(call()).startswith(b"HTTP/1.1 401")


def test_who_sends_nothing_is_let_go(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "SILENT_SECONDS", 0.1)

    async def call() -> bytes:
        port = int(api.url.rpartition(":")[2])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        head = b"POST /api/v1/ask HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        writer.write(head + b"content-length: 100\r\n\r\n{")
        found = await asyncio.wait_for(reader.read(), 5)
        writer.close()
        return found

    assert run_async(call()).startswith(b"HTTP/1.1 408")
