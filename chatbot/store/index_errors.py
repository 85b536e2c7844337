"""Interprets the errors of the two index libraries.

They may mean a full disk, an unwritable folder, or damage that can be repaired from the catalogue.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from chatbot.errors import StoreError
from chatbot.settings import PROGRAM
from chatbot.store.disk_reserve import disk_is_full, is_full

__all__ = ["REPAIR", "IndexDamagedError", "check_metadata", "explained", "explaining"]

REPAIR = f"`{PROGRAM} doctor --repair` rebuilds it from the catalogue."
PANIC = "PanicException"
FULL = ("no space left", "disk is full", "disk full", "database or disk is full", "os error 28", "quota")


class IndexDamagedError(StoreError):
    """An index cannot be used as it is. Everything in it can be rebuilt from the catalogue."""


def check_metadata(found: Mapping[str, object], wanted: Mapping[str, object]) -> None:
    """Raises IndexDamagedError for a collection that is not the wanted one.

    Chroma keeps a collection's first space and silently ignores another, so the stored one is checked.
    """
    if found != wanted:
        raise IndexDamagedError(f"The vector index was built with {found}, not {wanted}.", hint=REPAIR)


def explained(error: BaseException, what: str, folder: Path) -> StoreError:
    """Returns the error as the user, or the repair, should see it.

    what: such as "The keyword index".
    folder: where the index is.
    """
    text = str(error)[:200]
    if (
        (isinstance(error, OSError) and error.errno == errno.ENOSPC)
        or any(sign in text.casefold() for sign in FULL)
        or is_full(folder)
    ):
        return disk_is_full(folder)
    if folder.exists() and not os.access(folder, os.W_OK):
        return StoreError(
            f"{what} cannot be written: {folder}.", hint="Set FINPOLICY_HOME to a folder you can write to."
        )
    return IndexDamagedError(f"{what} cannot be used: {text}", hint=REPAIR)


@contextmanager
def explaining(what: str, folder: Path) -> Iterator[None]:
    """Raises errors as `explained` puts them. The store's own errors pass unchanged."""
    try:
        yield
    except StoreError:
        raise
    except (
        BaseException
    ) as error:  # the libraries raise their own, sqlite's and Rust's, of which a panic is no Exception
        if not isinstance(error, Exception) and type(error).__name__ != PANIC:
            raise
        raise explained(error, what, folder) from error
