"""Signs the addresses of pages: whoever has one can open that page for a day, without a key."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time

from chatbot.errors import StoreError
from chatbot.store.catalog import Catalog

__all__ = ["is_link", "link_to"]

# Of the store itself: the secrets of today and yesterday, each behind the number of its day. All servers of
# the store have them, and who has an old copy of the store cannot sign a link any more.
SECRETS = "page links"
HOUR, DAY = 3_600, 86_400


def link_to(catalog: Catalog, document_id: str, page: int) -> str:
    """Returns what to put behind the address of a page, from "?"; "" if the store cannot be written."""
    # The same for an hour, so that readers' programs see one page as one source.
    until = str(int(time.time()) // HOUR * HOUR + DAY)
    try:
        secret = _secrets(catalog).get(_day(until)) or _secret_of(catalog, _day(until))
    except StoreError:
        return ""
    return f"?until={until}&mark={_mark(secret, document_id, page, until)}"


def is_link(catalog: Catalog, document_id: str, page: str, until: str, mark: str) -> bool:
    """Tells whether these are the marks of a link to this page that has not ended.

    document_id, page: as they are in the address.
    """
    if not (until.isascii() and until.isdecimal() and len(until) < 18) or int(until) < time.time():
        return False
    secret = _secrets(catalog).get(_day(until))
    return secret is not None and hmac.compare_digest(
        mark.encode("utf-8", "surrogatepass"), _mark(secret, document_id, page, until).encode()
    )


def _day(until: str) -> int:
    """Returns the number of the day on which a link was made."""
    return int(until) // DAY - 1


def _secrets(catalog: Catalog) -> dict[int, str]:
    return _read(catalog.meta(SECRETS) or "")


def _read(text: str) -> dict[int, str]:
    pairs = (one.partition(":") for one in text.split())
    return {int(day): secret for day, _, secret in pairs if day.isdecimal()}


def _secret_of(catalog: Catalog, day: int) -> str:
    """Makes the secret of a day, unless another server has, and forgets those before the day before it."""

    def with_day(text: str) -> str:
        kept = {day: secrets.token_hex(32)} | _read(text)
        return " ".join(f"{one}:{secret}" for one, secret in sorted(kept.items()) if one >= day - 1)

    catalog.change_meta(SECRETS, with_day)
    return _secrets(catalog)[day]


def _mark(secret: str, document_id: str, page: object, until: str) -> str:
    said = f"{document_id}\n{page}\n{until}".encode()
    return hmac.new(bytes.fromhex(secret), said, hashlib.sha256).hexdigest()[:32]
