"""Tells who can open the pages, this machine alone or others, and whether they sign in; opens the application
with that.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import cache
from ipaddress import ip_address
from pathlib import Path

import streamlit as st

from chatbot.app import app_context
from chatbot.app.app_context import AppOpening
from chatbot.settings import Settings, load_settings

__all__ = ["OPEN_WARNING", "is_open_to_others", "lacks_sign_in", "opening", "signs_in", "warn_if_open"]

log = logging.getLogger(__name__)

OPEN_WARNING = (
    "This server can be opened from other machines, and nobody has to sign in. Anyone who can reach it can "
    "read all documents. Set up sign-in (docs/deploy.md, “Sign-in”). Or, in .streamlit/config.toml, set "
    "server.address to 127.0.0.1 and keep only localhost, 127.0.0.1 and ::1 in server.allowedHosts."
)


@cache
def signs_in() -> bool:
    """Tells whether users sign in: whether .streamlit/secrets.toml had a section [auth] at the first call.

    Returns True if that file cannot be read, because a typo in it must not open the pages.
    """
    try:
        return "auth" in st.secrets
    except (OSError, ValueError) as error:  # Streamlit raises the same for a file that is broken and for none
        if not _has_secrets():
            return False
        log.error("secrets.toml cannot be read, so nobody can sign in until it is fixed: %s", error)
        return True


def _has_secrets() -> bool:
    return any(Path(path).exists() for path in st.get_option("secrets.files"))


def is_open_to_others() -> bool:
    """Tells whether people elsewhere may use the pages.

    That is the case if the server can be reached from beyond this machine, or asks users to sign in.
    """
    return _is_reachable() or signs_in()


def lacks_sign_in() -> bool:
    """Tells whether the server can be reached from beyond this machine without sign-in."""
    return _is_reachable() and not signs_in()


def warn_if_open() -> None:
    """Warns about this in the log."""
    if lacks_sign_in():
        log.warning(OPEN_WARNING)


def _is_reachable() -> bool:
    """Tells whether the server listens beyond this machine, or serves a host name that is not this machine's.

    In the latter case a proxy in front of it lets others in. No names at all allow any.
    """
    hosts = st.get_option("server.allowedHosts")
    return not (_is_loopback(st.get_option("server.address")) and hosts and all(map(_is_loopback, hosts)))


def _is_loopback(address: str | None) -> bool:
    """Tells whether this address or host name is of this machine alone. No address means all addresses."""
    if not address:
        return False
    address = address.strip()
    try:
        return ip_address(address.strip("[]")).is_loopback
    except ValueError:
        return address.rstrip(".").lower() == "localhost"


def opening(*, again: bool = False) -> AppOpening:
    """See `app_context.opening`."""
    return app_context.opening(_settings, again=again)


def _settings() -> Settings:
    return replace(load_settings(), open_to_others=is_open_to_others())
