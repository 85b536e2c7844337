"""What every request passes: host names, the owner's cookie, the headers."""

from __future__ import annotations

import asyncio
import json
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

    given = {name.replace("_", "-"): value for name, value in headers.items()}
    given.setdefault("host", "localhost:8501")
    raw = [(name.encode(), value.encode()) for name, value in given.items()]
    scope = {"type": kind, "path": path, "method": method, "scheme": scheme, "headers": raw}
    guard = Guard(app, allowed_hosts=lambda: ALLOWED, scripts=["let x"])
    served = guard(scope, None, send)  # type: ignore[arg-type]
    # In a thread of its own: where a browser is open, this one has a loop already.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, served).result()
    return sent


def headers_of(path: str = "/", **request: str) -> dict[str, str]:
    """Those of the answer to a request as `ask` makes it."""
    start, *_ = ask(path, **request)
    return {name.decode(): value.decode() for name, value in start["headers"]}


def first_type(**request: str) -> str:
    """Of what a request for a socket gets."""
    start, *_ = ask(kind="websocket", **request)
    kind: str = start["type"]
    return kind


KNOWN = "localhost:8501 LOCALHOST 127.0.0.1:1 [::1]:8501 a.example.org localhost.:80"


@pytest.mark.parametrize("host", KNOWN.split())
def test_known_hosts_are_served(host: str) -> None:
    assert ask(host=host)[0]["status"] == 200
    assert first_type(host=host) == "websocket.accept"


OTHERS = r"""
    evil.example localhost.evil.example 127.0.0.1.evil.example [::1 example.org.evil a@evil.example
    evil.example\@127.0.0.1 127.0.0.1#evil
"""


@pytest.mark.parametrize("host", [*OTHERS.split(), ""])
def test_other_hosts_are_refused(host: str) -> None:
    start, body = ask(host=host)
    assert start["status"] == 421
    assert b"allowedHosts" in body["body"]
    assert ask(host=host, kind="websocket") == [{"type": "websocket.close", "code": 1008}]


@pytest.mark.parametrize(
    ("path", "host", "status"),
    [("/api/v1/ask", "evil.example", 421), ("/api/v1/documents/../x", "localhost", 400)],
)
def test_what_is_refused_at_the_apis_addresses_is_a_problem_document(
    path: str, host: str, status: int
) -> None:
    start, body = ask(path, host=host)
    assert start["status"] == status
    assert dict(start["headers"])[b"content-type"] == b"application/problem+json"
    assert json.loads(body["body"])["hint"]


def test_a_new_visitor_gets_a_mark_and_a_known_one_keeps_it() -> None:
    cookie = headers_of(**VISIT)["set-cookie"]
    found = re.fullmatch(rf"{OWNER_COOKIE}=([\w-]+); Path=/; Max-Age=\d+; HttpOnly; SameSite=Strict", cookie)
    assert found
    assert is_owner(found[1])
    again = headers_of(cookie=f"other=1; {OWNER_COOKIE}={found[1]}", **VISIT)
    assert again["set-cookie"] == cookie
    another = headers_of(**VISIT)
    assert another["set-cookie"] != cookie
    secure = headers_of(scheme="https", **VISIT)
    assert "; Secure" in secure["set-cookie"]


@pytest.mark.parametrize("forged", ["x", "a b", "<script>", "é" * 22, "a" * 200])
def test_a_mark_that_is_none_is_replaced(forged: str) -> None:
    assert not is_owner(forged)
    headers = headers_of(cookie=f"{OWNER_COOKIE}={forged}", **VISIT)
    assert f"{OWNER_COOKIE}={forged};" not in headers["set-cookie"]


def test_a_visitor_from_elsewhere_is_recognised_by_the_pages_own_request() -> None:
    elsewhere = VISIT | {"sec-fetch-site": "cross-site"}
    assert "set-cookie" not in headers_of(**elsewhere)
    own = {"sec-fetch-site": "same-origin", "sec-fetch-dest": "empty", "accept": "*/*"}
    unknown = headers_of("/_stcore/health", **own)
    assert OWNER_COOKIE in unknown["set-cookie"]
    known = headers_of("/_stcore/health", cookie=f"{OWNER_COOKIE}={'a' * 22}", **own)
    assert "set-cookie" not in known
    assert "set-cookie" not in headers_of("/static/x.js", **own)
    assert "set-cookie" not in headers_of(method="POST", **VISIT)


def test_the_headers_of_every_answer() -> None:
    headers = headers_of("/media/x.png")
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


@pytest.mark.parametrize("origin", ["http://localhost:8501", "http://LOCALHOST:8501"])
def test_a_socket_is_opened_by_our_own_pages(origin: str) -> None:
    assert first_type(origin=origin) == "websocket.accept"


OTHER_ORIGINS = "http://localhost:8799 http://127.0.0.1:8501 http://[::1 null"


@pytest.mark.parametrize("origin", OTHER_ORIGINS.split())
def test_a_socket_is_opened_by_no_other_pages(origin: str) -> None:
    assert first_type(origin=origin) != "websocket.accept"
