"""Knows the live sessions of the browser extension's addresses.

A session that nobody names belongs to the browser, by a cookie. Each is for its caller alone.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from fastapi import Request, Response

from chatbot.errors import NotFoundError
from chatbot.memory.compression.sessions import MOST_SESSIONS, SESSION_SECONDS
from chatbot.memory.conversations.conversation_names import PRIVATE
from chatbot.memory.conversations.conversation_store import Conversations
from chatbot.memory.memory_database import keep_latest

__all__ = ["COOKIE", "BrowserSessions", "Session"]

COOKIE = "finpolicy_session"
# What the cookie holds.
MARK = re.compile(r"[A-Za-z0-9_-]{22}")


@dataclass(frozen=True, slots=True)
class Session:
    """A caller's session.

    id: by which it is known. owner: whose it is.
    conversation: the id of what is said in it.
    """

    id: str
    owner: str
    conversation: str


class BrowserSessions:
    """The live sessions. Safe to use from several threads."""

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._live = OrderedDict[str, tuple[float, str]]()

    def named(self, owner: str, name: str) -> Session:
        """A caller's session of this name, "" for the caller's only one.

        Two callers that choose one name get two sessions.
        """
        return _session("session", owner, name)

    def of_browser(
        self, request: Request, response: Response | None, owner: str, conversations: Conversations
    ) -> Session:
        """The session of the browser that calls, by its cookie, which the response renews, if there is one.

        It is a new one if the cookie is missing, is not the caller's or has expired.
        """
        mark = request.cookies.get(COOKIE, "")
        session = _session("browser", owner, mark)
        if not (MARK.fullmatch(mark) and self._is_live(session, conversations)):
            mark = secrets.token_urlsafe(16)
            session = _session("browser", owner, mark)
        if response is not None:
            response.set_cookie(
                COOKIE,
                mark,
                max_age=SESSION_SECONDS,
                httponly=True,
                samesite="lax",
                secure=request.url.scheme == "https",
            )
        return session

    def _is_live(self, session: Session, conversations: Conversations) -> bool:
        """Whether it was used of late, here or, if it is kept, where the store was open before."""
        with self._lock:
            if session.id in self._live:
                return True
        with suppress(NotFoundError):
            row = conversations.get(session.id, session.owner)
            return self._clock() - row.changed_at <= SESSION_SECONDS
        return False

    def use(self, session: Session, conversations: Conversations) -> None:
        """Note that a session is used, for which its conversation must be `conversations`'."""
        with self._lock:
            keep_latest(self._live, session.id, (self._clock(), session.owner), 2 * MOST_SESSIONS)
        self.sweep(conversations)

    def sweep(self, conversations: Conversations) -> None:
        """End the sessions that expired, and the least recently used of too many.

        What was said in them is erased, unless it is kept on disk.
        """
        with self._lock:
            since = self._clock() - SESSION_SECONDS
            spare = len(self._live) - MOST_SESSIONS
            ended = [
                (id, owner)
                for at, (id, (used, owner)) in enumerate(self._live.items())
                if used < since or at < spare
            ]
            for id, _ in ended:
                del self._live[id]
        for id, owner in ended:
            with suppress(NotFoundError):
                conversations.erase(PRIVATE + id, owner)


def _session(kind: str, owner: str, name: str) -> Session:
    both = "\0".join((owner, name)).encode("utf-8", "replace")
    id = f"{kind}-{hashlib.sha256(both).hexdigest()[:40]}"
    return Session(id, owner, PRIVATE + id)
