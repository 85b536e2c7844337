"""Which documents a search was kept to, as one short mark that changes with any of them; knows no question
and no page.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping

from chatbot.store.catalog import Catalog

__all__ = ["index_fingerprint", "scope_fingerprint"]


def scope_fingerprint(embedder: str, hashes: Iterable[str]) -> str:
    """The mark of these files, by their SHA-256, as an embedder of this fingerprint searches them; their
    order and names do not matter.
    """
    text = json.dumps([embedder, sorted(set(hashes))])
    return f"index-{hashlib.sha256(text.encode()).hexdigest()[:32]}"


def index_fingerprint(catalog: Catalog, embedder: str, scope: Mapping[int, str]) -> str:
    """The mark of these versions (version id -> name)."""
    return scope_fingerprint(
        embedder, (version.sha256 for version in catalog.stored() if version.id in scope)
    )
