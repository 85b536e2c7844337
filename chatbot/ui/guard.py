"""Guards every request to the server: host check, sign-in, the owner's cookie and the security headers."""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

from chatbot.api.host import ADDRESSES
from chatbot.ui.streamlit_internals import is_unsafe_path_pattern

__all__ = ["OWNER_COOKIE", "Guard", "is_owner"]

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

# A name, an address or a bracketed one, with a port: nothing that another parser reads as another name, such
# as "a\\@b" or "a#b".
HOST = re.compile(r"(?:[\w.-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?")
OWNER_COOKIE = "finpolicy_owner"
OWNER = re.compile(r"[A-Za-z0-9_-]{22}")
# The longest that browsers keep a cookie. Each visit renews it.
COOKIE_SECONDS = 400 * 86_400
# The page asks for this before it opens its connection. A visitor who came by a link from elsewhere, whose
# browser held the Strict cookie back at first, is thus recognised and not given a second identity.
FIRST_REQUEST = "/_stcore/health"
# What nobody gets without signing in: of our own addresses all that give or stop something, and all of
# Streamlit's inner ones (uploads, metrics, the check of its script, agents) except those that draw the
# sign-in page. The rest is the same for everybody: scripts, styles, the icon.
OWN = ("/original/", "/image/", "/cover/", "/download/", "/stop/")
INNER = "/_stcore/"
OUTSIDE = ("health", "host-config", "stream", "bidi-components/")
# Everything from this server only. Streamlit writes styles into the page and shows some of its images as data
# or blobs.
POLICY = (
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'{scripts}; style-src 'self' "
    "'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src 'self' data:; media-src 'self' blob:; worker-src 'self' blob:; connect-src 'self' {sockets}; "
    "frame-src 'self'; "
    "object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'"
)
# Each with what is wrong and the fix.
FOREIGN_HOST = (
    "This host name is not served here.",
    "Add it to server.allowedHosts in .streamlit/config.toml.",
)
SIGN_IN_FIRST = ("Sign in first:", "load the page again, and it asks you to.")
UNSAFE_PATH = ("This address cannot be served.", "See /api/openapi.json for all addresses.")
POLICY_NAME = b"content-security-policy"
# Browsers show a PDF with a plug-in of their own, which the policy would forbid. It has none of a page's
# scripts and requests.
PDF = b"application/pdf"
HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
)


class Guard:
    """ASGI middleware that refuses requests.

    Requests under a foreign host name are refused, so that no web page elsewhere can read this one by DNS
    rebinding. Requests of users who must sign in first are refused too, except for what the sign-in page
    needs.
    """

    def __init__(
        self,
        app: App,
        *,
        allowed_hosts: Callable[[], Sequence[str]],
        may_enter: Callable[[Mapping[str, str]], bool] = lambda _: True,
        scripts: Iterable[str] = (),
    ) -> None:
        """allowed_hosts: host names without ports, "*.example.org" for all below, "*" for any; an empty list
            allows any.
        may_enter: tells whether a request with these cookies is from a signed-in user, or nobody need sign
            in.
        scripts: the only inline scripts that may run.
        """
        self._app, self._allowed_hosts, self._may_enter = app, allowed_hosts, may_enter
        self._scripts = "".join(f" 'sha256-{_digest(script)}'" for script in scripts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        host = headers.get("host", "")
        if not _is_allowed(host, self._allowed_hosts()) or (
            scope["type"] == "websocket" and not _is_same_origin(headers.get("origin"), host)
        ):
            await _refuse(scope, send, 421, FOREIGN_HOST)
        elif scope["type"] == "websocket":
            await self._app(scope, receive, send)
        elif _is_of_api(scope["path"]) and is_unsafe_path_pattern(scope["path"].lstrip("/")):
            # Streamlit would refuse it too, in words that a program cannot read.
            await _refuse(scope, send, 400, UNSAFE_PATH)
        elif _is_inside(scope["path"]) and not self._may_enter(HTTPConnection(scope).cookies):
            await _refuse(scope, send, 403, SIGN_IN_FIRST)
        else:
            added = [*HEADERS, (POLICY_NAME, _policy(host, self._scripts)), *_cookie(scope, headers)]
            await self._app(scope, receive, lambda message: send(_with(message, added)))


def is_owner(text: object) -> bool:
    """Tells whether this is an owner's mark as the cookie holds it."""
    return isinstance(text, str) and OWNER.fullmatch(text) is not None


def _is_inside(path: str) -> bool:
    """Tells whether what is at this path is only for users who may see the pages.

    The path may be below the server's own address.
    """
    _, inner, rest = path.partition(INNER)
    return not rest.startswith(OUTSIDE) if inner else path.startswith(OWN)


def _is_allowed(host: str, allowed: Sequence[str]) -> bool:
    if not allowed:
        return True
    try:
        name = (urlsplit(f"//{host}").hostname or "").rstrip(".") if HOST.fullmatch(host) else ""
    except ValueError:
        return False
    for entry in (entry.strip().lower().rstrip(".") for entry in allowed):
        if entry == "*" or (name and name == entry) or (entry.startswith("*.") and name.endswith(entry[1:])):
            return True
    return False


def _is_same_origin(origin: str | None, host: str) -> bool:
    """Tells whether our own pages open a socket.

    Cookies do not tell ports apart, so another server on this machine must not pass. A client that is no
    browser sends no origin.
    """
    try:
        return origin is None or urlsplit(origin).netloc.lower() == host.lower()
    except ValueError:
        return False


def _policy(host: str, scripts: str) -> bytes:
    """Returns the policy, with the socket's address for browsers in which 'self' does not cover it."""
    plain = re.fullmatch(r"[\w.:\[\]-]+", host)
    sockets = f"ws://{host} wss://{host}" if plain else ""
    return POLICY.format(scripts=scripts, sockets=sockets).encode("latin-1")


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _cookie(scope: Scope, headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    """Returns the header that sets or renews a visitor's owner mark; none if the request is not a visit."""
    site = headers.get("sec-fetch-site", "none")
    visit = (
        "text/html" in headers.get("accept", "") and headers.get("sec-fetch-dest", "document") == "document"
    )
    if (
        scope["method"] != "GET"
        or site not in {"none", "same-origin"}
        or not (visit or scope["path"].endswith(FIRST_REQUEST))
    ):
        return []
    given = _owner_of(headers.get("cookie", ""))
    if given and not visit:
        return []
    secure = "; Secure" if scope.get("scheme") == "https" else ""
    mark = given or secrets.token_urlsafe(16)
    text = f"{OWNER_COOKIE}={mark}; Path=/; Max-Age={COOKIE_SECONDS}; HttpOnly; SameSite=Strict{secure}"
    return [(b"set-cookie", text.encode("ascii"))]


def _owner_of(cookies: str) -> str | None:
    for cookie in cookies.split(";"):
        name, _, value = cookie.strip().partition("=")
        if name == OWNER_COOKIE and is_owner(value):
            return value
    return None


def _with(message: Message, added: Sequence[tuple[bytes, bytes]]) -> Message:
    if message["type"] == "http.response.start":
        headers = list(message.get("headers", []))
        pdf = any(name.lower() == b"content-type" and value.startswith(PDF) for name, value in headers)
        message["headers"] = [
            *headers,
            *(header for header in added if not (pdf and header[0] == POLICY_NAME)),
        ]
    return message


def _is_of_api(path: str) -> bool:
    """Tells whether an address is the API's, whose callers read problem documents."""
    return path.removeprefix("/").partition("/")[0] in ADDRESSES


async def _refuse(scope: Scope, send: Send, status: int, said: tuple[str, str]) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
        return
    if _is_of_api(scope["path"]):
        from chatbot.api.problems import refusal

        response = refusal(scope, status, *said)
        headers, body = [*response.raw_headers, *HEADERS], bytes(response.body)
    else:
        body = f"{said[0]} {said[1]}\n".encode()
        length = str(len(body)).encode()
        headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", length), *HEADERS]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
