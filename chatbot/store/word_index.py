"""Says what holds an index of words: files of tantivy, or a Postgres."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from chatbot.store.keyword_index import KeywordIndex
    from chatbot.store.postgres_words import PostgresWords

__all__ = ["MOST_TERMS", "ORDINAL_BITS", "WordIndex"]

# One change at a time for each version; any thread may search. Rows of an earlier attempt are replaced.
WordIndex: TypeAlias = "KeywordIndex | PostgresWords"
# A chunk's key: its version above this many bits, its ordinal below. That allows 16 million chunks a
# document.
ORDINAL_BITS = 24
# Longer queries are cut to their rarest terms. Beyond this the common ones add time but no page.
MOST_TERMS = 64
