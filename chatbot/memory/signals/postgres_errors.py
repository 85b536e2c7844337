"""Explains failures of the signal database in the project's words, and never shows a password."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatbot.errors import StoreError
from chatbot.memory.signals.records import SignalsError
from chatbot.settings import PROGRAM
from chatbot.store import postgres_faults
from chatbot.store.postgres_faults import details_of, kind_of, shown_address

if TYPE_CHECKING:
    import psycopg

__all__ = ["explain", "parse_address", "shown_address"]

# Where its address was given; the second one if the first is not set.
SETTING = "MEMORY_DATABASE_URL or FINPOLICY_DATABASE_URL"
# What the stores tell apart and signals need not: kinds of KINDS.
SAME = {
    "missing": "login",
    "crowded": "down",
    "certificate": "down",
    "tls": "down",
    "tables": "schema",
    "damaged": "other",
}
# SQLSTATE, or its first two characters, of what only signals ask of a database.
STATES = {"58P01": "no-vector", "0A000": "no-vector", "42883": "schema", "22": "vector"}
# What the database did, and what to do about it.
KINDS = {
    "slow": (
        "did not answer in time",
        "Check what keeps it busy. Signals return when it answers in time.",
    ),
    "busy": ("was changed by someone else at the same time", "Try again. What was saved so far is kept."),
    "login": ("refused the login", f"Check the user, password and database in {SETTING}."),
    "read-only": ("is read-only", "You can recall signals. To import, make the database writable."),
    "denied": (
        "does not allow that",
        f"Allow the user in {SETTING} to create and use the tables.",
    ),
    "full": ("has no space left", "Free space on the database's disk. What was imported so far is kept."),
    "no-vector": (
        "has no vector extension (pgvector)",
        "Ask its administrator to run CREATE EXTENSION vector, then import again.",
    ),
    "schema": (
        "does not have the tables that this version needs",
        f"Import news to update the tables: {PROGRAM} memory signals import FILE",
    ),
    "vector": (
        "rejected a value",
        "Use the embedding model of the signals, or embed them again.",
    ),
    "down": (
        "cannot be reached",
        f"Start it, or check {SETTING}. Signals return when it answers.",
    ),
    "other": ("failed", ""),
}


def parse_address(address: str) -> dict[str, str]:
    """The parts of a connection string. Raises SignalsError, which quotes none of it."""
    try:
        return postgres_faults.parse_address(address, SETTING)
    except StoreError as error:
        raise SignalsError(error.message, kind="address", hint=error.hint) from None


def explain(error: psycopg.Error, *, address: str, late: bool = False) -> SignalsError:
    """The failure in our words; raise it `from None`.

    address: the one whose secrets are removed. late: whether it was given up because it took too long.
    """
    kind = "slow" if late else _kind(error)
    words, hint = KINDS[kind]
    whole = kind in {"slow", "read-only"}
    details = details_of(address, None if whole else error)
    retryable = kind in {"busy", "down", "slow"}
    return SignalsError(
        f"The signal database {words}.", kind=kind, hint=hint, retryable=retryable, details=details
    )


def _kind(error: psycopg.Error) -> str:
    from psycopg import errors

    state, text = error.sqlstate or "", str(error)
    if '"vector"' in text or '"halfvec"' in text:
        # A type or an extension is missing, or only a superuser may add it.
        return "no-vector"
    if isinstance(error, errors.ConnectionTimeout):
        return "slow"
    own = STATES.get(state) or STATES.get(state[:2])
    kind = own or kind_of(error)
    return SAME.get(kind, kind)
