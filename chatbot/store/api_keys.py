"""Keeps the keys with which programs call the API. Only their hashes are stored."""

from __future__ import annotations

import hashlib
import secrets
import time
from dataclasses import dataclass
from pathlib import Path

from chatbot.errors import NotFoundError, StoreError, UsageError
from chatbot.settings import PROGRAM, Settings
from chatbot.store.database import Schema, Stored, open_database, place_of
from chatbot.store.file_permissions import make_private
from chatbot.store.migration.migration_mark import unless_unfinished
from ingestion.invisible_characters import one_line

__all__ = ["PREFIX", "SCOPES", "ApiKey", "ApiKeys", "open_api_keys"]

# What every key begins with, so that a scanner for leaked secrets can recognise one.
PREFIX = "fpk_"
# What a key may be used for. Each scope includes those before it.
SCOPES = ("read", "ask", "manage")
LONGEST_NAME, MOST_DAYS = 60, 100_000
DAY = 86_400.0
SCHEMA = Schema(
    """
create table api_key (id integer primary key autoincrement, name text not null, digest text not null unique,
scope text not null, created_at real not null, expires_at real, used_at real);
""",
    1,
)
COLUMNS = "id, name, scope, created_at, expires_at, used_at"


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key as it is listed; the key itself is not kept.

    scope: one of SCOPES.
    created_at, expires_at, used_at: seconds since the epoch; expires_at is None if it never expires, used_at
        if it was never used.
    """

    id: int
    name: str
    scope: str
    created_at: float
    expires_at: float | None = None
    used_at: float | None = None

    @property
    def owner(self) -> str:
        """Whose conversations, ratings and memories its calls use."""
        return f"key-{self.id}"

    @property
    def expired(self) -> bool:
        """Whether it is too old to be used."""
        return self.expires_at is not None and self.expires_at <= time.time()

    def allows(self, scope: str) -> bool:
        """Tells whether it may be used for this."""
        return SCOPES.index(scope) <= SCOPES.index(self.scope)


class ApiKeys(Stored):
    """The keys of one store. Several processes may use them, so keys can be made beside a server."""

    def create(self, name: str, scope: str, days: float = 0) -> tuple[str, ApiKey]:
        """Makes a key. Returns its text, which is shown this once, and how it is listed.

        days: how long it is valid, 0 for ever.

        Raises UsageError for a name or scope that cannot be used.
        """
        name = one_line(name).strip()
        if not name or len(name) > LONGEST_NAME:
            raise UsageError(
                f"A key needs a name of 1 to {LONGEST_NAME} characters.",
                hint="Name the program that will use it, such as open-webui.",
            )
        if scope not in SCOPES:
            raise UsageError(f"There is no scope {scope}.", hint=f"Choose one of {', '.join(SCOPES)}.")
        if not 0 <= days < MOST_DAYS:
            raise UsageError(
                f"A key cannot be valid for {days} days.",
                hint=f"Choose less than {MOST_DAYS:,}, or 0 for ever.",
            )
        text = PREFIX + secrets.token_urlsafe(32)
        now = time.time()
        with self.write() as connection:
            made = connection.execute(
                "insert into api_key (name, digest, scope, created_at, expires_at) values (?, ?, ?, ?, ?)"
                " returning id",
                (name, _digest(text), scope, now, now + days * DAY if days else None),
            ).fetchone()
        return text, self._key("id = ?", made[0])

    def listed(self) -> list[ApiKey]:
        """Returns all keys, in the order they were made."""
        return [ApiKey(*row) for row in self.read(f"select {COLUMNS} from api_key order by id")]

    def revoke(self, number: int) -> ApiKey:
        """Deletes a key; calls with it are refused from now on. Raises NotFoundError."""
        key = self._key("id = ?", number)
        with self.write() as connection:
            connection.execute("delete from api_key where id = ?", (number,))
        return key

    def find(self, text: str) -> ApiKey:
        """Returns the key with this text, even if it has expired, and notes its use once a day.

        Raises NotFoundError.
        """
        key = self._key("digest = ?", _digest(text))
        now = time.time()
        if key.used_at is None or now - key.used_at > DAY:
            with self.write() as connection:
                connection.execute("update api_key set used_at = ? where id = ?", (now, key.id))
        return key

    def _key(self, condition: str, value: object) -> ApiKey:
        rows = self.read(f"select {COLUMNS} from api_key where {condition}", (value,))
        if not rows:
            raise NotFoundError("There is no such key.", hint=f"List the keys: {PROGRAM} keys list")
        return ApiKey(*rows[0])


def open_api_keys(settings: Settings) -> ApiKeys:
    """Opens the keys of a store. Raises StoreError."""
    place = place_of(settings, "api_keys")
    if isinstance(place, Path):
        make_private()
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(
                f"The store {place.parent} cannot be written: {error.strerror}.",
                hint="Set FINPOLICY_HOME to a folder you can write to.",
            ) from error
    return unless_unfinished(settings, ApiKeys(open_database(place, SCHEMA)))


def _digest(text: str) -> str:
    """Returns the SHA-256 of a key. Keys are 256 random bits, so a slow hash would add nothing."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
