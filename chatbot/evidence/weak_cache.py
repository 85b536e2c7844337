"""Keeps the results of pure functions about an object as long as that object lives."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar, TypeVarTuple

__all__ = ["WeakCache"]

Given = TypeVarTuple("Given")
Found = TypeVar("Found")
MOST_KEPT = 1_024


class WeakCache:
    """Calls a function once for the same arguments.

    Everything is dropped when the cache is full, and with its owner.
    """

    def __init__(self) -> None:
        self._found: dict[Hashable, object] = {}

    def __call__(self, function: Callable[[*Given], Found], *given: *Given) -> Found:
        """The function's result; its arguments are hashable."""
        key = (function, given)
        if key not in self._found:
            if len(self._found) >= MOST_KEPT:
                self._found.clear()
            self._found[key] = function(*given)
        return self._found[key]  # type: ignore[return-value]  # of this very function
