"""Reads an RSS or Atom feed; runs only inside a reading process and judges nothing it reads."""

from __future__ import annotations

import io
from typing import Any

__all__ = ["MOST_ENTRIES", "parse_feed"]

# Entries of one visit, of which a feed has some dozens; and characters of a field.
MOST_ENTRIES, LONGEST_FIELD = 200, 200_000
FIELDS = ("title", "summary", "link", "id")
TIMES = ("published_parsed", "updated_parsed")


def parse_feed(data: bytes) -> dict[str, Any] | None:
    """The title and the entries of a feed, as JSON values; None for what is no feed."""
    import feedparser

    # As a stream: what is a text could be taken for an address to fetch.
    parsed = feedparser.parse(io.BytesIO(data), sanitize_html=False, resolve_relative_uris=False)
    if not parsed.entries and not parsed.get("version"):
        return None
    return {
        "title": _field(parsed.feed, "title"),
        "entries": [_entry(entry) for entry in parsed.entries[:MOST_ENTRIES]],
    }


def _entry(entry: Any) -> dict[str, Any]:
    found: dict[str, Any] = {name: _field(entry, name) for name in FIELDS}
    told = next((entry.get(name) for name in TIMES if entry.get(name)), None)
    return {**found, "time": list(told) if told else None}


def _field(values: Any, name: str) -> str:
    return str(values.get(name) or "")[:LONGEST_FIELD]
