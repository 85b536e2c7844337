"""Says that what a store holds is damaged, where reading it fails in other ways than the database's own."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from chatbot.errors import StoreError
from chatbot.settings import PROGRAM

__all__ = ["as_damage", "json_in"]

# What packed or written values raise that are not what was stored.
DAMAGE = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    RecursionError,
    OverflowError,
    zlib.error,
    struct.error,
)
READ_AGAIN = f"`{PROGRAM} doctor --repair` names the document and reads it again from its kept copy."


@contextmanager
def as_damage(what: str) -> Iterator[None]:
    """Raises StoreError where something stored is not what it should be. what: such as "A page"."""
    try:
        yield
    except DAMAGE as error:
        raise StoreError(f"{what} is damaged in the store.", hint=READ_AGAIN) from error


def json_in(data: str | bytes) -> object:
    """Returns the value of JSON. Raises ValueError for anything else, also for what is nested too deep."""
    try:
        return json.loads(data)
    except RecursionError as error:
        raise ValueError(f"it is nested too deeply: {error}") from error
