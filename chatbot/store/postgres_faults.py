"""Explains what a Postgres refuses, and where it is, in the project's words and without any secret."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from chatbot.errors import StoreError
from ingestion.invisible_characters import one_line

if TYPE_CHECKING:
    import psycopg

__all__ = [
    "KEEPALIVES",
    "SETTING",
    "as_store_error",
    "details_of",
    "kind_of",
    "parse_address",
    "shown_address",
    "without_secrets",
]

# For the server too: what a machine that was lost held there is free within a minute.
KEEPALIVES = {
    "tcp_keepalives_idle": 20,
    "tcp_keepalives_interval": 10,
    "tcp_keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
# Enough for a server's own sentence.
MOST_CHARACTERS = 200
SECRETS = ("password", "sslpassword", "passfile")
# Characters of a secret from which it is no part of common words.
SHORTEST_CUT = 6


def parse_address(address: str, setting: str) -> dict[str, str]:
    """Returns the parts of a connection string.

    setting: where it was given.

    Raises StoreError, which quotes none of it: a misspelt one may hold a password anywhere.
    """
    from psycopg import Error
    from psycopg.conninfo import conninfo_to_dict

    try:
        parts = conninfo_to_dict(address)
    except Error:
        raise StoreError(
            f"{setting} is not a Postgres connection string.",
            hint="Write it as postgresql://user:password@host:5432/database.",
        ) from None
    if "@" in str(parts.get("host") or "")[1:]:  # an address may begin with one: a socket without a file
        # What stands before it is the end of the password, which would be shown as the host.
        raise StoreError(
            f"{setting} has more than one @.", hint="Write an @ in a user's name or a password as %40."
        )
    return {name: str(value) for name, value in parts.items() if value is not None}


def shown_address(address: str) -> str:
    """Returns where an address leads, for display: user, host, port and database; never a password."""
    try:
        parts = parse_address(address, "The address")
    except StoreError:
        return "an unreadable address"
    host = parts.get("host", "this machine")
    user = f"{parts['user']}@" if "user" in parts else ""
    port = f":{parts['port']}" if "port" in parts else ""
    return f"{user}{host}{port}/{parts.get('dbname', '')}"


def without_secrets(text: str, address: str) -> str:
    """Returns one printable line without any secret of the address, as it stands or percent-encoded."""
    line = one_line(text)
    try:
        parts = parse_address(address, "The address")
    except StoreError:
        return ""
    for name in SECRETS:
        secret = parts.get(name, "")
        for form in filter(None, {secret, quote(secret, safe="")}):
            if len(form) < SHORTEST_CUT and form in line:  # stars in the midst of words would tell it
                return ""
            line = line.replace(form, "***")
    return one_line(line, MOST_CHARACTERS)


SETTING = "FINPOLICY_DATABASE_URL"
# SQLSTATE, or its first characters: kind.
STATES = {
    "28": "login",
    "3D000": "missing",
    "57014": "slow",
    "55P03": "busy",
    "25P03": "slow",
    "40": "busy",
    "53100": "full",
    "53300": "crowded",
    "25006": "read-only",
    "42501": "denied",
    "53": "down",
    "57P": "down",
    "08": "down",
    "3F000": "tables",
    "42P01": "tables",
    "42703": "tables",
    "XX001": "damaged",
    "XX002": "damaged",
}
# What a server or the client library says at the door, where no SQLSTATE comes with it.
AT_THE_DOOR = (
    ("too many clients", "crowded"),
    ("too many connections", "crowded"),
    ("reserved for", "crowded"),
    ("certificate", "certificate"),
    ("SSL", "tls"),
    ("database", "missing"),
    ("authentication failed", "login"),
    ("no password supplied", "login"),
    ("no pg_hba.conf entry", "login"),
    ('" does not exist', "login"),
)
# What it did, what to do about it, and whether that may pass by itself.
KINDS = {
    "login": ("refused the login", f"Check the user and password in {SETTING}.", False),
    "missing": ("has no such database", f"Create it, or check its name in {SETTING}.", False),
    "slow": ("did not answer in time", "Check what keeps it busy, then try again.", True),
    "busy": ("is being written by another server or worker", "Try again. Nothing stored is lost.", True),
    "crowded": (
        "has too many connections",
        "Raise its max_connections, or run fewer servers and workers.",
        True,
    ),
    "full": ("has no space left", "Free space on its disk, then try again. Nothing stored is lost.", True),
    "read-only": ("is read-only", f"Name the server that takes writes in {SETTING}.", True),
    "denied": (
        "does not allow that",
        "Let the user create schemas in that database, or give it the schemas finpolicy_… as their owner.",
        False,
    ),
    "tables": (
        "lacks tables that this program made, or does not let this user see them",
        "Make the user the owner of the schemas finpolicy_…. If tables are gone, restore the last backup.",
        False,
    ),
    "damaged": ("is damaged", "Restore its last backup.", False),
    "certificate": (
        "has a certificate that is not trusted or has expired",
        f"Renew it, or check sslmode and sslrootcert in {SETTING}.",
        False,
    ),
    "tls": ("did not agree on TLS", f"Check sslmode in {SETTING}.", False),
    "down": ("cannot be reached", f"Start it, or check {SETTING}. All works again when it answers.", True),
    "other": ("failed", "", False),
}


def as_store_error(error: psycopg.Error, address: str, *, late: bool = False) -> StoreError:
    """Returns the failure in our words; raise it `from None`.

    address: the one whose secrets are removed.
    late: whether it was given up because it took too long.
    """
    kind = "slow" if late else kind_of(error)
    words, hint, retryable = KINDS[kind]
    whole = kind in {"slow", "busy", "read-only"}
    details = details_of(address, None if whole else error)
    return StoreError(f"The database {words}.", hint=hint, retryable=retryable, details=details)


def details_of(address: str, error: psycopg.Error | None) -> str:
    """Returns which database it was, with its own words if these add anything.

    error: with its words, of which secrets of the address are removed; None for nothing to add.
    """
    said = "" if error is None else without_secrets(str(error), address)
    return f"{shown_address(address)}: {said}" if said else shown_address(address)


def kind_of(error: psycopg.Error) -> str:
    """Returns the kind of failure, one of KINDS."""
    from psycopg import OperationalError, errors

    state = error.sqlstate or ""
    if isinstance(error, errors.ConnectionTimeout):
        return "down"
    for known in (state, state[:3], state[:2]):
        if known and known in STATES:
            return STATES[known]
    if not isinstance(error, OperationalError):
        return "other"
    text = str(error)
    for words, kind in AT_THE_DOOR:
        if words in text and (words != "database" or '" does not exist' in text):
            return kind
    return "down"
