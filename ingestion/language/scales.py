"""Knows how the scale of a figure is written, "crore", "mln", "'000"; knows no figure and no table."""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["LETTER_SCALES", "SCALES", "SCALE_NAMES", "SCALE_WORD", "SHORT_SCALE", "WHOLE_SCALE", "ZEROS", "scale_of"]

# A new scale word is entered here and nowhere else. Whole words may be in the plural; the first of a scale is its name.
_WHOLE = {"thousand": 1e3, "lakh": 1e5, "lac": 1e5, "million": 1e6, "crore": 1e7, "billion": 1e9, "trillion": 1e12}
_SHORT = {
    "mn": 1e6, "mln": 1e6, "mil": 1e6, "cr": 1e7, "crs": 1e7, "bn": 1e9, "bln": 1e9, "tn": 1e12, "trn": 1e12, "tln": 1e12,
}  # fmt: skip
SCALES: Mapping[str, float] = _WHOLE | _SHORT
LETTER_SCALES: Mapping[str, float] = {"k": 1e3, "m": 1e6, "b": 1e9}
# Scale -> the word it is called by: 1e6 -> "million".
SCALE_NAMES: Mapping[float, str] = {scale: word for word, scale in reversed(_WHOLE.items())}

# Pattern fragments without groups, for patterns that ignore case; what may follow a word is left to them.
WHOLE_SCALE = rf"(?:{'|'.join(map(re.escape, _WHOLE))})"
SHORT_SCALE = rf"(?:{'|'.join(sorted(map(re.escape, _SHORT), key=len, reverse=True))})"
SCALE_WORD = rf"(?:{WHOLE_SCALE}s?|{SHORT_SCALE})"
ZEROS = r"(?:['’‘]?000['’]?s|['’‘]000)"


def scale_of(word: str | None) -> float:
    """What a scale word multiplies by, in any case and number: "Crores" is 1e7, no word is 1. Raises KeyError for a word that is no scale."""
    if not word:
        return 1.0
    word = word.lower()
    return SCALES[word] if word in SCALES else SCALES[word.removesuffix("s")]
