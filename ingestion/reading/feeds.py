"""Reads an RSS or Atom feed; runs only inside a reading process and judges nothing it reads."""

from __future__ import annotations

import io
from typing import Any

__all__ = ["MOST_ENTRIES", "parse_feed"]

# Entries of one visit, of which a feed has some dozens.
MOST_ENTRIES = 200
FIELDS = ("title", "summary", "link", "id", "published_parsed", "updated_parsed")


def parse_feed(data: bytes) -> dict[str, Any]:
    """The title and the entries of a feed, as JSON values; {} for what is no feed."""
    import feedparser

    # As a stream: what is a text could be taken for an address to fetch.
    parsed = feedparser.parse(io.BytesIO(data), sanitize_html=False, resolve_relative_uris=False)
    if not parsed.entries and not parsed.get("version"):
        return {}
    entries = [
        dict(zip(FIELDS, map(entry.get, FIELDS), strict=True)) for entry in parsed.entries[:MOST_ENTRIES]
    ]
    return {"title": parsed.feed.get("title"), "entries": entries}
