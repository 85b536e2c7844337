"""What every request passes: host names, the owner's cookie, the headers."""

from __future__ import annotations

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from chatbot.ui.guard import OWNER_COOKIE, Guard, is_owner

ALLOWED = ["localhost", "127.0.0.1", "::1", "*.example.org"]
VISIT = {"accept": "text/html,*/*", "sec-fetch-site": "none", "sec-fetch-dest": "document"}


def ask(
    path: str = "/", *, kind: str = "http", method: str = "GET", scheme: str = "http", **headers: str
) -> list[dict[str, Any]]:
    """The messages that a request gets. headers: names with _ for -."""
    sent: list[dict[str, Any]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 200, "headers": [(b"server", b"inner")]})
            await send({"type": "http.response.body", "body": b"ok"})
        else:
            await send({"type": "websocket.accept"})

    async def send(message: Any) -> None:
        sent.append(message)

    given = {"host": "localhost:8501", **{name.replace("_", "-"): value for name, value in headers.items()}}
    raw = [(name.encode(), value.encode()) for name, value in given.items()]
    scope = {"type": kind, "path": path, "method": method, "scheme": scheme, "headers": raw}
    guard = Guard(app, allowed_hosts=lambda: ALLOWED, scripts=["let x"])
    # In a thread of its own: where a browser is open, this one has a loop already.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, guard(scope, None, send)).result()  # type: ignore[arg-type]
    return sent


def headers_of(messages: list[dict[str, Any]]) -> dict[str, str]:
    return {name.decode(): value.decode() for name, value in messages[0]["headers"]}


@pytest.mark.parametrize(
    "host", ["localhost:8501", "LOCALHOST", "127.0.0.1:1", "[::1]:8501", "a.example.org", "localhost.:80"]
)
def test_known_hosts_are_served(host: str) -> None:
    assert ask(host=host)[0]["status"] == 200
    assert ask(host=host, kind="websocket")[0]["type"] == "websocket.accept"


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "",
        "[::1",
        "example.org.evil",
        "a@evil.example",
        "evil.example\\@127.0.0.1",
        "127.0.0.1#evil",
    ],
)
def test_other_hosts_are_refused(host: str) -> None:
    refused = ask(host=host)
    assert refused[0]["status"] == 421
    assert b"allowedHosts" in refused[1]["body"]
    assert ask(host=host, kind="websocket") == [{"type": "websocket.close", "code": 1008}]


def test_a_new_visitor_gets_a_mark_and_a_known_one_keeps_it() -> None:
    cookie = headers_of(ask(**VISIT))["set-cookie"]
    found = re.fullmatch(rf"{OWNER_COOKIE}=([\w-]+); Path=/; Max-Age=\d+; HttpOnly; SameSite=Strict", cookie)
    assert found
    assert is_owner(found[1])
    again = headers_of(ask(cookie=f"other=1; {OWNER_COOKIE}={found[1]}", **VISIT))["set-cookie"]
    assert again == cookie
    assert headers_of(ask(**VISIT))["set-cookie"] != cookie
    assert "; Secure" in headers_of(ask(scheme="https", **VISIT))["set-cookie"]


@pytest.mark.parametrize("forged", ["x", "a b", "<script>", "é" * 22, "a" * 200])
def test_a_mark_that_is_none_is_replaced(forged: str) -> None:
    assert not is_owner(forged)
    assert (
        f"{OWNER_COOKIE}={forged};"
        not in headers_of(ask(cookie=f"{OWNER_COOKIE}={forged}", **VISIT))["set-cookie"]
    )


def test_a_visitor_from_elsewhere_is_recognised_by_the_pages_own_request() -> None:
    assert "set-cookie" not in headers_of(ask(**{**VISIT, "sec-fetch-site": "cross-site"}))
    own = {"sec-fetch-site": "same-origin", "sec-fetch-dest": "empty", "accept": "*/*"}
    assert OWNER_COOKIE in headers_of(ask("/_stcore/health", **own))["set-cookie"]
    assert "set-cookie" not in headers_of(ask("/_stcore/health", cookie=f"{OWNER_COOKIE}={'a' * 22}", **own))
    assert "set-cookie" not in headers_of(ask("/static/x.js", **own))
    assert "set-cookie" not in headers_of(ask(method="POST", **VISIT))


def test_the_headers_of_every_answer() -> None:
    headers = headers_of(ask("/media/x.png"))
    assert headers["server"] == "inner"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["x-frame-options"] == "DENY"
    policy = headers["content-security-policy"]
    assert "frame-ancestors 'none'" in policy
    assert "connect-src 'self' ws://localhost:8501 wss://localhost:8501;" in policy
    assert re.search(r"script-src 'self' 'wasm-unsafe-eval' 'sha256-[\w+/=]{44}';", policy)
    assert "unsafe-eval" not in policy.replace("wasm-unsafe-eval", "")
    assert not re.search(r"script-src[^;]*unsafe-inline", policy)


@pytest.mark.parametrize(
    ("origin", "served"),
    [
        ("http://localhost:8501", True),
        ("http://LOCALHOST:8501", True),
        ("http://localhost:8799", False),
        ("http://127.0.0.1:8501", False),
        ("http://[::1", False),
        ("null", False),
    ],
)
def test_a_socket_is_opened_by_our_own_pages_only(origin: str, served: bool) -> None:
    assert (ask(kind="websocket", origin=origin)[0]["type"] == "websocket.accept") is served
