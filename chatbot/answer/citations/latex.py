"""Writes a model's arithmetic in LaTeX as plain text, which is read and checked like any other."""

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
    """The text with its LaTeX as plain text: "\\frac{a}{b}" as "(a) / (b)".

    A text without LaTeX stays as it is.
    """
    if not _LATEX.search(text):
        return text
    for _ in range(MOST_NESTED):
        plain = _FRACTION.sub(_fraction, _WORDS.sub(r"\1", text))
        if plain == text:
            break
        text = plain
    text = _SIGN.sub(lambda found: _SIGNS[found[1]], text)
    text = _DELIMITER.sub("", text)
    return _ESCAPED.sub(_unescaped, text)


def _unescaped(found: re.Match[str]) -> str:
    if found[0] == "{,}":
        return ","
    return found[1] or " "


def _fraction(found: re.Match[str]) -> str:
    above, below = map(_in_brackets, found.groups())
    return f"{above} / {below}"


def _in_brackets(part: str) -> str:
    """A part of a fraction, in brackets where it is a calculation."""
    if re.fullmatch(r"[^-+*/×÷]*", part):
        return part
    return f"({part})"
