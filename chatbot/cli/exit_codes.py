"""Defines what every command shares: exit codes, limits of page counts, and opening the store."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from chatbot.cli.served_command import served
from chatbot.settings import STRATEGIES, Settings

if TYPE_CHECKING:
    from chatbot.service import Chatbot

__all__ = [
    "DONE",
    "FAILED",
    "MOST_PAGES",
    "UNUSABLE",
    "USAGE",
    "open_chatbot",
    "strategy_list",
    "whole",
]

DONE = 0
FAILED = 1
USAGE = 2
UNUSABLE = 3
# The most pages of one search. Equals retrieval.MOST_HITS, which this module must not load before it is
# needed.
MOST_PAGES = 10_000


def strategy_list(text: str) -> list[str]:
    """Parses --strategy. Raises ArgumentTypeError, for which argparse exits with code 2."""
    names = list(dict.fromkeys(name.strip() for name in text.split(",")))
    for name in names:
        if name not in STRATEGIES:
            known = ", ".join(STRATEGIES)
            raise argparse.ArgumentTypeError(f"there is no strategy {name[:20]!r}: choose from {known}")
    return names


def whole(told: str, least: int, most: int) -> Callable[[str], int]:
    """Returns a parser of whole numbers in [least, most]. It raises ArgumentTypeError.

    told: what is wrong with another text, which is put into it.
    """

    def parsed(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if not least <= number <= most:
            raise argparse.ArgumentTypeError(told.format(text[:20]))
        return number

    return parsed


@contextlib.contextmanager
def open_chatbot(settings: Settings, *, mend: bool = False) -> Iterator[Chatbot]:
    """Opens the store, or lends that of the server that runs the command. mend: see Chatbot."""
    if (command := served()) is not None:
        yield command.store.chatbot
        return
    from chatbot.service import Chatbot

    with Chatbot(settings, mend=mend) as chatbot:
        yield chatbot
