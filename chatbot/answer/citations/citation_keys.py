"""Defines how citation keys are written, and makes harmless what could be taken for one."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["ANY_KEY", "KEY", "KEYS_IN_BRACKETS", "escape_keys"]

KEY = re.compile(r"(?<![A-Za-z0-9])S[1-9][0-9]{0,3}-[0-9a-f]{4,8}(?![A-Za-z0-9])")
# A key as an answer may have it, known or not.
ANY_KEY = re.compile(r"S[0-9]{1,4}(?:-[0-9A-Za-z]{1,16})?")
# What counts as a citation in an answer: keys in brackets, known or not, "[S1]" and "[S1-7f3a; S2-7f3a]" too.
KEYS_IN_BRACKETS = re.compile(rf"\[[ ]?{ANY_KEY.pattern}(?:[ ]?[,;][ ]?{ANY_KEY.pattern}){{0,20}}+[ ]?\]")


def _like(letters: str, *ranges: tuple[int, int]) -> str:
    """Characters in these ranges that stand for one of the letters."""
    characters = (chr(code) for low, high in ranges for code in range(low, high))
    wanted = tuple(letters)
    return "".join(each for each in characters if unicodedata.normalize("NFKC", each) in wanted)


_OPENING_BRACKETS = "\\[［【〔〖〘〚❲⁅⦋⦍⦏⟬﹝〈《｢「『⟨⟪⎡"
_CLOSING_BRACKETS = "\\]］】〕〗〙〛❳⁆⦌⦎⦐⟭﹞〉》｣」』⟩⟫⎤"
# Blanks, invisible characters, combining marks and Markdown's own signs, which may stand unseen between
# bracket, letter and digit.
_UNSEEN = (
    r"[\s*_~`\\\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    r"\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\U000e0000-\U000e0fff]*+"
)
_LETTER_S = (
    "Ss"
    + _like("Ss", (0xFF00, 0xFFF0), (0x1D400, 0x1D800), (0x24B6, 0x24EA), (0x1F110, 0x1F18A))
    + "\u0405\u0455\u054f\u13da\u017f\ua731Ⓢⓢ🅢🅂🆂"
)
_DIGIT = "\\d⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉①②③④⑤⑥⑦⑧⑨⓪"
_LOOK_ALIKE = re.compile(rf"[{_OPENING_BRACKETS}]{_UNSEEN}[{_LETTER_S}]{_UNSEEN}[{_DIGIT}]")
_CLOSING = re.compile(rf"[{_CLOSING_BRACKETS}]")
_LONGEST_LOOK_ALIKE = 200  # characters to the closing bracket; further on it belongs to something else


def escape_keys(text: str) -> str:
    """Makes what looks like a citation key in brackets inert.

    Its brackets become ⟦ and ⟧, letters and digits stay. Idempotent, of equal length.
    """
    pieces: list[str] = []
    position = 0
    for match in _LOOK_ALIKE.finditer(text):
        if match.start() < position:
            continue
        closing = _CLOSING.search(text, match.end(), match.end() + _LONGEST_LOOK_ALIKE)
        pieces += [text[position : match.start()], _without_bracket(match)]
        position = match.end()
        if closing:
            pieces += [_LOOK_ALIKE.sub(_without_bracket, text[position : closing.start()]), "⟧"]
            position = closing.end()
    return "".join([*pieces, text[position:]])


def _without_bracket(match: re.Match[str]) -> str:
    """What looks like a key, with an inert sign for its opening bracket."""
    return "⟦" + match[0][1:]
