"""Makes the text of a model or an endpoint clean where it arrives, so that it can be sent and stored."""

from __future__ import annotations

import unicodedata
from typing import Any

__all__ = ["CleanText", "clean_json"]

# A line of its own begins at "\n" alone.
_KEPT = "\t\n"
_CONTROLS = {code: None for code in range(0xA0) if unicodedata.category(chr(code)) == "Cc"}
_DROPPED = {code: gone for code, gone in _CONTROLS.items() if chr(code) not in _KEPT}


class CleanText:
    """The pieces of one text as they come."""

    def __init__(self) -> None:
        self._half = ""

    def take(self, piece: str, *, last: bool = False) -> str:
        """Returns what is certain of the text with this piece.

        Halves of a character are joined, also across pieces; a half without the other becomes U+FFFD.
        Control characters are dropped, but for tabs and line ends.

        last: whether no more comes.
        """
        text = (self._half + piece).translate(_DROPPED)
        end = len(text)
        if not last and "\ud800" <= text[-1:] <= "\udbff":
            end -= 1
        self._half = text[end:]
        return text[:end].encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def clean_json(value: Any) -> Any:
    """Returns what a model wrote as JSON, with every text in it clean. Raises RecursionError."""
    match value:
        case str():
            return CleanText().take(value, last=True)
        case list():
            return [clean_json(one) for one in value]
        case dict():
            return {clean_json(name): clean_json(one) for name, one in value.items()}
    return value
