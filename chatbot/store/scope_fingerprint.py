"""Makes a short fingerprint of the documents a search was limited to; it changes with any of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping

from chatbot.store.catalog import Catalog

__all__ = ["index_fingerprint", "scope_fingerprint"]


def scope_fingerprint(embedder: str, hashes: Iterable[str]) -> str:
    """Returns the fingerprint of these files, by SHA-256, as searched with an embedder of this fingerprint.

    Order and names of the files do not matter.
    """
    text = json.dumps([embedder, sorted(set(hashes))])
    return f"index-{hashlib.sha256(text.encode()).hexdigest()[:32]}"


def index_fingerprint(catalog: Catalog, embedder: str, scope: Mapping[int, str]) -> str:
    """Returns the fingerprint of these versions (version id -> name)."""
    return scope_fingerprint(
        embedder, (version.sha256 for version in catalog.stored() if version.id in scope)
    )
