"""Whether the memory of signals is in use, in a small file beside its data: told without opening a database."""

from __future__ import annotations

import json
import os
import tempfile
import threading
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

__all__ = ["State", "read_state", "write_state"]

NAME = "state.json"
# Two changes at once must both be kept. Other processes have no part in it: a store has one.
_changing = threading.Lock()


@dataclass(frozen=True, slots=True)
class State:
    """imported: something was, ever. on: nobody switched it off."""

    imported: bool = False
    on: bool = True


def read_state(folder: Path) -> State:
    """The state kept in a folder; the first one where there is none or it cannot be read."""
    try:
        fields = json.loads((folder / NAME).read_text("utf-8"))
        return State(bool(fields["imported"]), bool(fields["on"]))
    except (OSError, ValueError, KeyError, TypeError):
        return State()


def write_state(folder: Path, **changes: bool) -> State:
    """Change the state and keep it. Raises OSError."""
    with _changing:
        state = replace(read_state(folder), **changes)
        folder.mkdir(parents=True, exist_ok=True)
        file, fresh = tempfile.mkstemp(prefix=f"{NAME}.", dir=folder)
        try:
            with os.fdopen(file, "w", encoding="utf-8") as opened:
                opened.write(json.dumps(asdict(state)))
            os.replace(fresh, folder / NAME)
        except BaseException:
            with suppress(OSError):
                os.unlink(fresh)
            raise
        return state
