"""Keeps the downloads that are made on request, each as long as the session that it was offered to.

Streamlit's own deferred downloads get a new address each time a page is drawn, so one that is pressed
meanwhile leads nowhere.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Download", "Downloads"]

# What some hundred sessions have on their pages at a time.
MOST_OFFERS = 5_000


@dataclass(frozen=True, slots=True)
class Download:
    """A file to download.

    make: returns its bytes; called in a thread without a session; raises ProjectError.
    mime: its type.
    browser: the mark of the browser that may have it, "" if it takes no cookie.
    """

    make: Callable[[], bytes]
    name: str
    mime: str
    browser: str = ""


class Downloads:
    """The files that pages offer, each as long as its session. Several threads may use it."""

    def __init__(self) -> None:
        self._secret = secrets.token_bytes(32)
        self._offered: OrderedDict[str, tuple[str, Download]] = OrderedDict()
        self._lock = threading.Lock()

    def offer(self, session: str, key: str, download: Download, *, is_there: Callable[[str], bool]) -> str:
        """Returns the mark under which a session's browser can have the file, the same for the same `key`.

        It cannot be guessed.

        is_there: whether a session has not ended; what was offered to others is dropped.
        """
        mark = hmac.new(self._secret, f"{session} {key}".encode(), hashlib.sha256).hexdigest()[:32]
        with self._lock:
            for other in [other for other, (of, _) in self._offered.items() if not is_there(of)]:
                del self._offered[other]
            self._offered[mark] = (session, download)
            self._offered.move_to_end(mark)
            while len(self._offered) > MOST_OFFERS:
                self._offered.popitem(last=False)
        return mark

    def offered(self, mark: str, *, is_there: Callable[[str], bool]) -> Download | None:
        """Returns what is offered under this mark; None if nothing is, or if its session has ended."""
        with self._lock:
            session, download = self._offered.get(mark, ("", None))
        if is_there(session):
            return download
        return None

    def forget(self) -> None:
        """Offers nothing until pages are drawn again."""
        with self._lock:
            self._offered.clear()
