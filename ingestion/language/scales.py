"""Reads how the scale of a figure is written, "crore", "mln", "'000", and gives patterns for what else
belongs to a number: blanks, signs, per cent and points.
"""

from __future__ import annotations

from collections.abc import Mapping

from ingestion.language.vocabulary import either, table

__all__ = [
    "BARE_LETTER_SCALE",
    "BASIS",
    "GAP",
    "LETTER_SCALE",
    "LETTER_SCALES",
    "MARK_SCALE",
    "MARK_SCALES",
    "MINUS",
    "PERCENT",
    "POINTS",
    "SCALES",
    "SCALE_NAMES",
    "SCALE_TERMS",
    "SCALE_WORD",
    "SHORT_SCALE",
    "SHORT_SCALES",
    "SPACE",
    "TOUCHING_SCALE",
    "UNIT_AHEAD",
    "UNIT_NAMES",
    "UNIT_TERMS",
    "WHOLE_SCALE",
    "ZEROS",
    "scale_of",
]


_LINES = [([*line, ""])[:4] for line in table("scales.tsv")]
# (word, what it stands beside) -> what it multiplies by there: "mil" of Brazil and of Romania.
_BESIDE = {(word, one): float(scale) for word, scale, _, beside in _LINES for one in beside.split()}


def _of(*kinds: str) -> dict[str, float]:
    return {word: float(scale) for word, scale, kind, beside in _LINES if kind in kinds and not beside}


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
_COMPOUNDS = either(word for word in MARK_SCALES if " " in word).replace(r"\ ", "[ \u00a0]")
MARK_SCALE = rf"(?:{_COMPOUNDS}|{SCALE_WORD}|{either(MARK_SCALES)})"
# Before the sign that they touch: "MMUS$", "kEUR", "ThUS$".
_TOUCHING = [(word, beside.split()) for word, _, kind, beside in _LINES if kind == "touch"]
_TOUCHING_SOME = "".join(rf"|{word}[ \u00a0]?(?=(?:{either(some)}))" for word, some in _TOUCHING if some)
TOUCHING_SCALE = f"(?:{either(word for word, some in _TOUCHING if not some)}{_TOUCHING_SOME})"
ZEROS = r"(?:['’‘]?000['’]?s|['’‘]000)"

# Every repetition in these fragments, and in the patterns made of them, is bounded or possessive: linear time
# on any text.
SPACE = "[ \\t\u00a0\u2007\u2009\u202f]"
# At most one line break between a number and what belongs to it.
GAP = rf"{SPACE}{{0,3}}+(?:\r?\n{SPACE}{{0,3}}+)?+"
MINUS = "-\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d"
POINTS = (
    r"(?:percentage|percent|per ?cent|%)[\s-]{0,2}points?\b|p?pts?\b|pp\b(?!\.? ?[0-9])|p\.p\."
    r"|pro[zc]ent(?:punkt|enhet)\w{0,3}|p[ou]\w{3,4}\s(?:de\spourcentage|p[eo]rcentua\w{2,4})"
)
BASIS = r"basis[\s-]{1,2}points?\b|bps?\b"
PERCENT_WORD = r"(?:p(?:er|our|or)\s{0,2}cento?|por\s{1,2}ciento|pro[zc]ent|pct)"
PERCENT = rf"(?<!\n)%|{PERCENT_WORD}\b"
UNIT_AHEAD = rf"{GAP}(?i:%|{PERCENT_WORD}|basis|bps?\b|pp\b|(?:{SCALE_WORD})\b)"
# The words among them.
UNIT_TERMS = frozenset("per cent percent percentage point points basis bps pct pp".split())


def scale_of(word: str | None, *beside: str) -> float:
    """What a scale word, in any case and number, multiplies by: 1e7 for "Crores", 1 for no word.

    beside: what it stands beside, as written or as a code, the most telling first. Raises KeyError for a word
        that is no scale.
    """
    if not word:
        return 1.0
    # "İ" and "ı" match an "i" whose case is ignored
    plain = " ".join(word.casefold().replace("\u0307", "").replace("ı", "i").split())
    for one in beside:
        for form in (word, plain):
            if (form, one) in _BESIDE:
                return _BESIDE[form, one]
    return MARK_SCALES[plain] if plain in MARK_SCALES else MARK_SCALES[plain.removesuffix("s")]
