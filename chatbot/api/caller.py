"""Finds out who calls and what they may do: a key, a signed-in user, or anybody on this machine."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from math import ceil
from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import Depends, Request, Response, Security
from fastapi.routing import APIRoute
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.concurrency import run_in_threadpool

from chatbot.api.browser_sessions import BrowserSessions
from chatbot.api.gate import Rates
from chatbot.api.host import Host
from chatbot.api.metrics import Metrics
from chatbot.api.page_links import is_link
from chatbot.api.problems import ProblemError
from chatbot.app.app_context import AppContext
from chatbot.errors import NotFoundError
from chatbot.memory.conversations.conversation_names import LOCAL
from chatbot.service import Chatbot
from chatbot.settings import PROGRAM
from chatbot.store.api_keys import PREFIX, SCOPES, ApiKey, ApiKeys

__all__ = [
    "MOST_WAITING",
    "REQUESTS_AT_ONCE",
    "Asks",
    "Caller",
    "CallerFirst",
    "CallerTurns",
    "Manages",
    "Reads",
    "ReadsPage",
    "Store",
    "TheChatbot",
    "Turn",
    "caller_of",
    "door_of",
    "opened_store",
]

# Comparisons and the like of one caller that are worked on at the same time, and those that wait or are.
REQUESTS_AT_ONCE, MOST_WAITING = 4, 32


class CallerTurns:
    """Who works and who waits, by caller. For one event loop."""

    def __init__(self) -> None:
        self._here = Counter[str]()
        self._places = dict[str, asyncio.Semaphore]()

    @asynccontextmanager
    async def of(self, owner: str) -> AsyncIterator[None]:
        """Waits for this caller's turn, and holds it. Raises ProblemError if too many of theirs wait."""
        if self._here[owner] >= MOST_WAITING:
            raise ProblemError(
                429,
                f"{MOST_WAITING} long requests of this caller are not answered yet.",
                hint="Wait for the answers.",
                headers={"retry-after": "10"},
            )
        self._here[owner] += 1
        try:
            async with self._places.setdefault(owner, asyncio.Semaphore(REQUESTS_AT_ONCE)):
                yield
        finally:
            self._here[owner] -= 1
            if not self._here[owner]:
                del self._here[owner], self._places[owner]


OPENING = "The store is still being opened."
BEARER = HTTPBearer(auto_error=False, description=f"A key made by `{PROGRAM} keys create`.")
CREATE = f"{PROGRAM} keys create NAME"
SEND = f"Send one as Authorization: Bearer KEY. Create one on the server: {CREATE}"
# Below this address, clients always send a key.
ANY_KEY = "/v1/"
HERE = {None, "none", "same-origin"}
# What every browser calls itself, and no program that does not pretend to be one.
BROWSER = "Mozilla/"
# What `needs` has made.
_LET_IN = set[Callable[..., Awaitable[Any]]]()


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls.

    owner: whose conversations, ratings and memories the call uses.
    scope: the most that the caller may do, one of SCOPES.
    key: the number of the key, 0 without one.
    """

    owner: str
    scope: str
    key: int = 0


@dataclass(frozen=True, slots=True)
class Door:
    """What every address of the API uses, kept in the application's state.

    keys: opens the keys of the store.
    origins: web pages of these origins may call too.
    telegram_secret: what Telegram sends with each update, "" to take none.
    rates: how often each caller may.
    metrics: what is counted.
    sessions: of the browser extension.
    turns: whose long work waits.
    """

    host: Host
    keys: Callable[[], ApiKeys]
    rates: Rates
    metrics: Metrics
    origins: tuple[str, ...] = ()
    telegram_secret: str = field(default="", repr=False)
    sessions: BrowserSessions = field(default_factory=BrowserSessions)
    turns: CallerTurns = field(default_factory=CallerTurns)


def door_of(request: Request) -> Door:
    """Returns the door that a request came through."""
    door: Door = request.app.state.door
    return door


def opened_store(request: Request) -> AppContext:
    """Returns the open store. Raises ProblemError while it is being opened."""
    opened = door_of(request).host.opened()
    if opened is None:
        raise ProblemError(503, OPENING, hint="Try again in a moment.", headers={"retry-after": "2"})
    return opened


async def _store(request: Request) -> AppContext:
    return opened_store(request)


async def _chatbot(request: Request) -> Chatbot:
    return opened_store(request).chatbot


def caller_of(request: Request) -> Caller:
    """Returns who was let in with a request."""
    found: Caller = request.scope["state"]["caller"]
    return found


async def _turn(request: Request) -> AsyncIterator[None]:
    async with door_of(request).turns.of(caller_of(request).owner):
        yield


async def find_caller(request: Request, credentials: HTTPAuthorizationCredentials | None) -> Caller:
    """Returns who calls. Raises ProblemError with status 401 or 403.

    On this machine, a text that is no key counts as none for OpenAI's clients, which send one always.
    """
    door = door_of(request)
    text = credentials.credentials if credentials else ""
    if text.startswith(PREFIX):
        key = await run_in_threadpool(_valid_key, door.keys(), text)
        return Caller(key.owner, key.scope, key.id)
    _check_origin(request, door.origins)
    owner = door.host.signed_in(request.cookies)
    if owner:
        return Caller(owner, SCOPES[-1])
    sent = request.headers.get("authorization") or request.headers.get("x-api-key")
    if sent and not (text and request.url.path.startswith(ANY_KEY) and not door.host.is_open_to_others()):
        raise _unauthorized(f"What was sent is no key: keys begin with {PREFIX}.", SEND)
    if door.host.is_open_to_others():
        raise _unauthorized("This server needs a key.", SEND)
    return Caller(door.host.visitor(request.cookies) or LOCAL, SCOPES[-1])


def needs(scope: str) -> Callable[..., Awaitable[Caller]]:
    """Returns a dependency that lets only callers through who may do this."""

    async def caller(
        request: Request,
        credentials: Annotated[HTTPAuthorizationCredentials | None, Security(BEARER)],
    ) -> Caller:
        state = request.scope.setdefault("state", {})
        if state.get("let_in") == scope:  # by CallerFirst
            return caller_of(request)
        found = await find_caller(request, credentials)
        state["caller"] = found
        _count(request, found.owner)
        if scope != SCOPES[0] and not found.key and _is_opened_link(request):
            raise ProblemError(
                403,
                "A link that is opened changes nothing here.",
                hint="Call this address from a program or a script, or ask on the chat page.",
            )
        if SCOPES.index(scope) > SCOPES.index(found.scope):
            raise ProblemError(
                403,
                f"This key may {found.scope}, and this call needs the scope {scope}.",
                hint=f"Create another key: {CREATE} --scope {scope}",
            )
        state["let_in"] = scope
        return found

    _LET_IN.add(caller)
    return caller


class CallerFirst(APIRoute):
    """Finds out who calls before a body is read, which FastAPI does first.

    So nobody without a key fills the disk.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def let_in(request: Request) -> Response:
            for needed in self.dependant.dependencies:
                if needed.call in _LET_IN:
                    await needed.call(request, await BEARER(request))
            return await handle(request)

        return let_in


_reader = needs("read")


async def page_reader(
    request: Request,
    credentials: Annotated[HTTPAuthorizationCredentials | None, Security(BEARER)],
    until: str = "",
    mark: str = "",
) -> Caller:
    """Lets in who may read, and who opens a link to this page.

    until, mark: as `page_links` has made them.
    """
    catalog = opened_store(request).chatbot.library.catalog
    document, page = (request.path_params[name] for name in ("document_id", "page"))
    if await run_in_threadpool(is_link, catalog, document, page, until, mark):
        _count(request, mark)
        request.scope["state"]["caller"] = Caller("", SCOPES[0])
        return caller_of(request)
    try:
        return await _reader(request, credentials)
    except ProblemError as error:
        if not mark:
            raise
        raise ProblemError(
            403,
            "This link to a page is no longer valid.",
            hint="Ask again: an answer has new links, which can be opened for a day.",
        ) from error


Reads = Annotated[Caller, Depends(_reader)]
ReadsPage = Annotated[Caller, Depends(page_reader)]
Asks = Annotated[Caller, Depends(needs("ask"))]
Manages = Annotated[Caller, Depends(needs("manage"))]
# These come after the caller: the store, and a turn, which long work holds while it is done.
Store = Annotated[AppContext, Depends(_store)]
TheChatbot = Annotated[Chatbot, Depends(_chatbot)]
Turn = Annotated[None, Depends(_turn, scope="function")]


def _count(request: Request, owner: str) -> None:
    """Counts a request. Raises ProblemError for one too many."""
    wait = door_of(request).rates.wait(owner)
    if wait:
        raise ProblemError(
            429,
            "Too many requests within a minute.",
            hint=f"Try again in {wait:.0f} s; FINPOLICY_API_RATE sets how many there may be.",
            headers={"retry-after": str(ceil(wait))},
        )


def _valid_key(keys: ApiKeys, text: str) -> ApiKey:
    try:
        key = keys.find(text)
    except NotFoundError as error:
        raise _unauthorized(
            "This key is unknown.", f"It may have been revoked. Create another: {CREATE}"
        ) from error
    if key.expired:
        day = time.strftime("%Y-%m-%d", time.gmtime(key.expires_at))
        raise _unauthorized(f"The key {key.name} expired on {day}.", f"Create another: {CREATE}")
    return key


def _unauthorized(detail: str, hint: str) -> ProblemError:
    return ProblemError(401, detail, hint=hint, headers={"www-authenticate": "Bearer"})


def _check_origin(request: Request, origins: tuple[str, ...]) -> None:
    """Raises ProblemError for a call that another site's page made in the browser of somebody here.

    It would carry that person's cookie, or come from this machine. A program is no browser and sends none of
    these headers. A browser that says nothing else still sends the Referer.
    """
    site, page = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if page is None and site is None:
        page = request.headers.get("referer")
    if any(f"{page}/".startswith(f"{origin}/") for origin in origins):
        return
    if site not in HERE or not _is_own(page, request.headers.get("host", "")):
        raise ProblemError(
            403,
            "Pages of other sites may not call this server.",
            hint="Call with a key, or add the page's origin to FINPOLICY_CORS_ORIGINS.",
        )


def _is_opened_link(request: Request) -> bool:
    """Tells whether a browser opens an address as a page: by a link, a bookmark or the address bar.

    Browsers that say nothing of it, as on plain HTTP, ask for a web page, or for the image of a page that
    hides where it stands. A page of ours, or of an extension, says where it stands.
    """
    if request.method != "GET":
        return False
    headers = request.headers
    if (mode := headers.get("sec-fetch-mode")) is not None:
        return mode == "navigate"
    hides = headers.get("user-agent", "").startswith(BROWSER) and not {"origin", "referer"} & {*headers}
    return hides or "text/html" in headers.get("accept", "")


def _is_own(page: str | None, host: str) -> bool:
    try:
        return page is None or urlsplit(page).netloc.lower() == host.lower()
    except ValueError:
        return False
