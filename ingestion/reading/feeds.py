"""Reads an RSS or Atom feed; runs only inside a reading process and judges nothing it reads."""

from __future__ import annotations

import io
from typing import Any

__all__ = ["parse_feed"]

# Entries of one visit, of which a feed has some dozens.
MOST_ENTRIES = 200
FIELDS = ("title", "summary", "link", "id", "published_parsed", "updated_parsed")


def parse_feed(data: bytes) -> dict[str, Any]:
    """The title and the entries of a feed, as JSON values; {} for what is no feed."""
    import feedparser

    try:
        # As a stream: what is a text could be taken for an address to fetch.
        parsed = feedparser.parse(io.BytesIO(data), sanitize_html=False, resolve_relative_uris=False)
    except (ValueError, LookupError, RecursionError):  # such as halves of characters
        return {}
    if not parsed.entries and not parsed.get("version"):
        return {}
    entries = list(map(_entry, parsed.entries[:MOST_ENTRIES]))
    return {"title": parsed.feed.get("title"), "entries": entries}


def _entry(entry: Any) -> dict[str, Any]:
    return {name: entry.get(name) for name in FIELDS}
