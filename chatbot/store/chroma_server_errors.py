"""Explains failures of a Chroma server: what it did, and what to do about it."""

from __future__ import annotations

import json

from chatbot.errors import StoreError
from chatbot.store.index_errors import REPAIR, IndexDamagedError
from ingestion.invisible_characters import one_line

__all__ = ["CollectionLostError", "explain_answer", "explain_connection", "explain_silence", "is_lasting"]

MOST_CHARACTERS = 200
# Of an answer that says that a server is starting, stopping or too busy.
PASSING = (429, 502, 503, 504)


class CollectionLostError(IndexDamagedError):
    """The server no longer has the collection. The catalogue has all that was in it."""


class _PassingError(StoreError):
    """May be gone at the second attempt."""


def is_lasting(error: StoreError) -> bool:
    """Tells whether a second attempt cannot help at once."""
    return not isinstance(error, _PassingError)


def explain_connection(error: Exception, host: str, seconds: float) -> StoreError:
    """The failure of a call that had no answer. seconds: that were waited at most."""
    import httpx2

    if isinstance(error, httpx2.TimeoutException):
        return explain_silence(host, seconds)
    said = one_line(str(error), MOST_CHARACTERS)
    if "CERTIFICATE_VERIFY" in said:
        return StoreError(
            f"The Chroma server {host} has a certificate that this machine does not trust: {said}",
            hint="Renew it, or name the file of your own authority in SSL_CERT_FILE.",
        )
    if "SSL" in said:
        return StoreError(
            f"The Chroma server {host} does not answer by https: {said}",
            hint="Check FINPOLICY_CHROMA_URL: a server without TLS needs http://.",
        )
    return _PassingError(
        f"The Chroma server {host} cannot be reached: {said}",
        hint="Start it, or check FINPOLICY_CHROMA_URL. Search by meaning returns when it answers.",
        retryable=True,
    )


def explain_silence(host: str, seconds: float) -> StoreError:
    """The failure of a call that a server did not answer in time."""
    return StoreError(
        f"The Chroma server {host} did not answer in {seconds:g} seconds.",
        hint="Check what keeps it busy. Search by meaning returns when it answers in time.",
        retryable=True,
    )


def explain_answer(status: int, text: str, host: str) -> StoreError:
    """The failure that an answer tells. text: of its body."""
    kind, said = _told(text)
    if status in (401, 403):
        return StoreError(
            f"The Chroma server {host} refused the token (status {status}).",
            hint="Check FINPOLICY_CHROMA_TOKEN, and that it may write.",
        )
    if status == 404 and kind == "NotFoundError" and "ollection" in said:
        return CollectionLostError(f"The Chroma server {host} has lost the vector index.", hint=REPAIR)
    if status == 404 and kind == "NotFoundError":
        return StoreError(
            f"The Chroma server {host} has not the usual tenant and database: {said}",
            hint="Create default_tenant and default_database there, or use a server with Chroma's defaults.",
        )
    if "dimension" in said:
        return IndexDamagedError(
            f"The vector index on {host} belongs to another embedding model: {said}", hint=REPAIR
        )
    if status in (404, 405, 410, 501) or status < 400:
        return StoreError(
            f"{host} does not answer like a Chroma server of version 1 (status {status}).",
            hint="Check FINPOLICY_CHROMA_URL, and run chromadb 1.0 or later there.",
        )
    if status in PASSING:
        return _PassingError(
            f"The Chroma server {host} is starting or busy (status {status}).",
            hint="Search by meaning returns when it answers.",
            retryable=True,
        )
    if status == 507 or "disk is full" in said or "No space left" in said:
        return StoreError(
            f"The disk of the Chroma server {host} is full.",
            hint="Free space there. Nothing is lost: the catalogue has all vectors.",
            retryable=True,
        )
    return StoreError(
        f"The Chroma server {host} failed (status {status}): {said or 'it says nothing'}",
        hint="See its log.",
        retryable=status >= 500,
    )


def _told(text: str) -> tuple[str, str]:
    """(kind, message) of the body of a failure, as one line."""
    try:
        told = json.loads(text)
        return str(told["error"]), one_line(str(told["message"]), MOST_CHARACTERS)
    except (ValueError, KeyError, TypeError):
        return "", one_line(text, MOST_CHARACTERS)
