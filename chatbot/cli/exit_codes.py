"""What every command shares: how a run ends, how many pages may be asked for, and the store opened for a
while.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chatbot.settings import Settings

if TYPE_CHECKING:
    from chatbot.service import Chatbot

__all__ = ["DONE", "FAILED", "MOST_PAGES", "STRATEGIES", "UNUSABLE", "USAGE", "is_page_count", "open_chatbot"]

DONE = 0
FAILED = 1
USAGE = 2
UNUSABLE = 3
# Pages that one search may be asked for; retrieval.MOST_HITS, which this module must not load before it is
# needed.
MOST_PAGES = 10_000
# How the pieces of a long query are combined, as fusion.STRATEGIES.
STRATEGIES = ("average", "weighted", "per_chunk", "rrf", "union", "intersection")


def is_page_count(value: object) -> bool:
    """Whether so many pages may be asked for."""
    return type(value) is int and 1 <= value <= MOST_PAGES  # True is an int to isinstance


@contextlib.contextmanager
def open_chatbot(settings: Settings) -> Iterator[Chatbot]:
    from chatbot.service import Chatbot

    with Chatbot(settings) as chatbot:
        yield chatbot
