"""Says whether a file may have content on layers that are off, which its readers do not draw."""

from __future__ import annotations

import mmap
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["has_hidden_layers"]

# What shows content while a layer is off, or hides it whatever the layers' list says.
CONDITIONS = (b"/AllOff", b"/AnyOff", b"/VE", b"/ViewState")
# A name of which a letter is written as its code.
ESCAPED = re.compile(rb"/\w*#[4-7]")


def has_hidden_layers(path: Path, reader: Callable[[], Any]) -> bool:
    """Whether a PDF that opens has layers of which one may be off.

    reader: gives pypdf's view of the file. It is asked only where the file's bytes do not tell.
    """
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        escaped = ESCAPED.search(data) is not None
        if (
            not escaped
            and data.find(b"/OCProperties") < 0
            and (data.find(b"/Catalog") >= 0 or data.find(b"/ObjStm") < 0)
        ):
            return False
        conditional = escaped or any(data.find(word) >= 0 for word in (*CONDITIONS, b"/ObjStm"))
    try:
        properties = reader().trailer["/Root"].get("/OCProperties")
        if properties is None:
            return False
        default = properties["/D"]
        return (
            conditional
            or bool(default.get("/OFF") or default.get("/AS"))
            or default.get("/BaseState") == "/OFF"
        )
    except Exception:  # pypdf raises anything on a broken file; the page's picture will tell
        return True
