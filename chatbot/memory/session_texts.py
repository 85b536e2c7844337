"""Keeps the web pages that were sent to a session for a while, each for its caller alone."""

from __future__ import annotations

import time
from collections.abc import Callable

from chatbot.memory.compression.sessions import MOST_SESSIONS, SESSION_SECONDS
from chatbot.memory.memory_database import MemoryDatabase, Tables

__all__ = ["MOST_OF_SESSION", "TABLES", "SessionTexts"]

# Texts of one session; a further one takes the place of the oldest.
MOST_OF_SESSION = 3
TABLES = Tables(
    "session texts",
    """
create table session_text (session text not null, address text not null, title text not null,
    text text not null, added_at real not null, used_at real not null, primary key (session, address))
    without rowid;
""",
)
KEEP = """insert into session_text values (?1, ?2, ?3, ?4, ?5, ?5) on conflict (session, address) do update
    set title = excluded.title, text = excluded.text, added_at = excluded.added_at"""
LATEST = "select address from session_text where session = ?1 order by added_at desc limit ?2"
LATEST_USED = "select session from session_text group by session order by max(used_at) desc limit ?"


class SessionTexts:
    """The texts of live sessions, (address, title, text). Safe to use from several threads.

    In a database that servers share, whichever server takes the next question has them; else in memory.
    """

    def __init__(self, shared: MemoryDatabase | None, *, clock: Callable[[], float] = time.time) -> None:
        """shared: the database of all servers, None for texts in memory."""
        self._shared, self._clock = shared, clock
        self._database = shared or MemoryDatabase(None)
        self._database.prepare(TABLES)

    def of(self, session: str) -> list[tuple[str, str, str]]:
        """Returns the texts of a session, the newest first. session: its id."""
        now = self._clock()
        with self._database.write() as connection:
            connection.execute("delete from session_text where used_at < ?", (now - SESSION_SECONDS,))
            connection.execute("update session_text set used_at = ? where session = ?", (now, session))
            rows = connection.execute(
                "select address, title, text from session_text where session = ? order by added_at desc",
                (session,),
            )
            return [(row[0], row[1], row[2]) for row in rows]

    def add(self, session: str, address: str, title: str, text: str) -> int:
        """Adds a text, in place of an older one of its address. Returns how many there are."""
        with self._database.write() as connection:
            connection.execute(KEEP, (session, address, title, text, self._clock()))
            connection.execute(
                f"delete from session_text where session = ?1 and address not in ({LATEST})",
                (session, MOST_OF_SESSION),
            )
            connection.execute(
                f"delete from session_text where session not in ({LATEST_USED})", (MOST_SESSIONS,)
            )
        return len(self.of(session))

    def clear(self, session: str) -> int:
        """Forgets the texts of a session. Returns how many there were."""
        return self._database.change("delete from session_text where session = ?", (session,))

    def close(self) -> None:
        """Forgets what is in memory."""
        if self._shared is None:
            self._database.close()
