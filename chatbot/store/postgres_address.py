"""Takes the address of a Postgres apart, and shows it and what its server says without any secret."""

from __future__ import annotations

from urllib.parse import quote

from chatbot.errors import StoreError
from ingestion.invisible_characters import one_line

__all__ = ["KEEPALIVES", "parse_address", "shown_address", "without_secrets"]

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
