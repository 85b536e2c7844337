"""Knows how models write arithmetic in LaTeX, and writes it as plain text, which is read and checked like
any other; knows no figures.
"""

from __future__ import annotations

import re

__all__ = ["plain_arithmetic"]

_LATEX = re.compile(r"\\(?:frac|text|times|approx|div|cdot|[\[\]()])|\$\$")
# The innermost first, so that a fraction within a fraction is written from the inside.
_FRACTION = re.compile(r"\\[dt]?frac\s?\{([^{}]{0,300})\}\s?\{([^{}]{0,300})\}")
_WORDS = re.compile(r"\\(?:text|mathrm|mathbf|textbf|operatorname)\s?\{([^{}]{0,300})\}")
_SIGNS = {
    "times": "×",
    "cdot": "×",
    "approx": "≈",
    "div": "÷",
    "quad": " ",
    "left": "",
    "right": "",
    "le": "≤",
    "ge": "≥",
}
_SIGN = re.compile(rf"\\({'|'.join(_SIGNS)})(?![A-Za-z])")
_DELIMITER = re.compile(r"\\[\[\]()]|\$\$")
_ESCAPED = re.compile(r"\\([$%&#_{}])|\\[,;! ]|\{,\}")
MOST_NESTED = 5


def plain_arithmetic(text: str) -> str:
    """The text with its LaTeX as plain text, "\\frac{a}{b}" as "(a) / (b)"; as it is where it has none."""
    if not _LATEX.search(text):
        return text
    for _ in range(MOST_NESTED):
        plain = _FRACTION.sub(_fraction, _WORDS.sub(r"\1", text))
        if plain == text:
            break
        text = plain
    text = _DELIMITER.sub("", _SIGN.sub(lambda found: _SIGNS[found[1]], text))
    return _ESCAPED.sub(lambda found: "," if found[0] == "{,}" else found[1] or " ", text)


def _fraction(found: re.Match[str]) -> str:
    above, below = (part if re.fullmatch(r"[^-+*/×÷]*", part) else f"({part})" for part in found.groups())
    return f"{above} / {below}"
