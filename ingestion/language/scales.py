"""Reads how the scale of a figure is written: "crore", "mln", "'000"."""

from __future__ import annotations

from collections.abc import Mapping

from ingestion.language.vocabulary import either, table

__all__ = [
    "BARE_LETTER_SCALE",
    "LETTER_SCALE",
    "LETTER_SCALES",
    "MARK_SCALE",
    "MARK_SCALES",
    "SCALES",
    "SCALE_NAMES",
    "SCALE_TERMS",
    "SCALE_WORD",
    "SHORT_SCALE",
    "SHORT_SCALES",
    "UNIT_NAMES",
    "WHOLE_SCALE",
    "ZEROS",
    "scale_of",
]


def _of(*kinds: str) -> dict[str, float]:
    return {word: float(scale) for word, scale, kind in table("scales.tsv") if kind in kinds}


SCALES: Mapping[str, float] = _of("whole", "lower", "short")
LETTER_SCALES: Mapping[str, float] = _of("letter", "bare")
# Scale -> the word it is called by: 1e6 -> "million".
SCALE_NAMES: Mapping[float, str] = {scale: word for word, scale in reversed(_of("whole", "lower").items())}
# Of units that are no scale of their own, as accounts of Japan have them.
UNIT_NAMES: Mapping[float, str] = {1e8: "× 100 million"}
# As words of a text, in lower case: singular, plural and short, but none that mean something else with a
# capital.
SCALE_TERMS = frozenset({*_of("whole", "short"), *(f"{word}s" for word in _of("whole"))})

# Pattern fragments without groups, for patterns that ignore case; what may follow a word is left to them.
SHORT_SCALES = frozenset(_of("short"))
_LOWER = _of("lower")
WHOLE_SCALE = rf"(?:{either(_of('whole'))}{f'|(?-i:{either(_LOWER)})' if _LOWER else ''})"
LETTER_SCALE = f"[{''.join(LETTER_SCALES)}]"
BARE_LETTER_SCALE = f"[{''.join(_of('bare'))}]"
SHORT_SCALE = rf"(?:{either(SHORT_SCALES)})"
SCALE_WORD = rf"(?:{WHOLE_SCALE}s?|{SHORT_SCALE})"
# Every word and letter that scales beside a currency: "NOK mill.", "$mm", "TEUR".
MARK_SCALES: Mapping[str, float] = {**SCALES, **LETTER_SCALES, **_of("mark")}
MARK_SCALE = rf"(?:{SCALE_WORD}|{either(MARK_SCALES)})"
ZEROS = r"(?:['’‘]?000['’]?s|['’‘]000)"


def scale_of(word: str | None) -> float:
    """What a scale word, in any case and number, multiplies by: 1e7 for "Crores", 1 for no word.

    Raises KeyError for a word that is no scale.
    """
    if not word:
        return 1.0
    word = word.lower()
    if word in SCALES:
        return SCALES[word]
    return SCALES[word.removesuffix("s")]
