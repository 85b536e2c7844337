"""Deciphers text that odd letters, spacing or codes hide from a reader or a search."""

from __future__ import annotations

import base64
import codecs
import html
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from typing import NamedTuple
from urllib.parse import unquote

__all__ = ["LOOK_ALIKES", "SPACED_WORD", "Seen", "closed_up", "decoded", "fold", "seen", "turned"]

# Cyrillic and Greek letters, and the Latin letters that they look like.
LOOK_ALIKES = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0445\u0443\u0456\u0458\u0455\u04bb\u0501\u051b\u051d\u043a\u043c"
    "\u0442\u043d\u0432\u03b1\u03bf\u03c1\u03b5\u03b9\u03bd\u03c5\u03c4\u03ba",
    "aeopcxyijshdqwkmthbaopeivutk",
)
# Figures and signs that stand for letters inside words.
FIGURES_AS_LETTERS = str.maketrans("013457@$!", "oieastasi")
# Words of Latin letters with some of another script.
MIXED_SCRIPT = re.compile(r"\b(?=\w*[a-z])(?=\w*[\u0370-\u03ff\u0400-\u052f])\w++")
MIXED_WORD = re.compile(r"(?<![^\s\"'(,;:-])(?:[0-9@$!]{1,3}(?=[a-z])|[a-z]{1,20}[0-9@$!])[a-z0-9@$!]{1,20}+")
# Single letters with one sign between each two: a word, or where no gap is wider, a whole sentence.
SPACED_WORD = re.compile(r"(?<![^\s\"'(])[^\W\d_](?:[ ._*|/\-][^\W\d_](?!\w)){2,}+")
# Codes are decoded from so many characters on; shorter ones hold no order.
BASE32 = re.compile(r"(?<!\w)[A-Z2-7]{32,}+={0,6}")
BINARY = re.compile(r"(?<!\w)[01]{8}(?:[ \n]?[01]{8}){9,}+")
BASE64 = re.compile(r"(?<![\w+/])(?:[A-Za-z0-9+/_-]{20,}+\n?)++={0,2}")
HEXADECIMAL = re.compile(r"(?<!\w)(?:0x|\\x)?[0-9a-fA-F]{2}(?:[ :,]?(?:0x|\\x)?[0-9a-fA-F]{2}){13,}+")
ESCAPED = re.compile(
    r"[^\s%&\\]{0,12}+(?:(?:%[0-9A-Fa-f]{2}|&#[xX]?[0-9A-Fa-f]{2,6};|\\u[0-9A-Fa-f]{4})[^\s%&\\]{0,16}){3,}+"
)
UNICODE_ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})")
# At most so many characters of a code are decoded.
LONGEST_CODE = 20_000
TAGS = range(0xE0020, 0xE007F)


class Seen(NamedTuple):
    """Text as it is seen.

    places: for each of its characters the offset of the original character.
    """

    text: str
    places: Sequence[int]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Offsets in the original text. start, end: of at least one character."""
        first, last = sorted((self.places[start], self.places[end - 1]))
        return first, last + 1


_APOSTROPHES = dict.fromkeys("‘’‚‛′`´", "'")
_QUOTES = dict.fromkeys("“”„‟«»″", '"')
_DASHES = dict.fromkeys("‐‑‒–—―−", "-")
_SIGNS = str.maketrans(_APOSTROPHES | _QUOTES | _DASHES)
_UNSEEN = frozenset({"Mn", "Me", "Cf"})


@cache
def _folded(character: str) -> str:
    code = ord(character)
    plain = chr(code - TAGS.start + 0x20) if code in TAGS else unicodedata.normalize("NFKD", character)
    kept = [letter for letter in plain.casefold() if unicodedata.category(letter) not in _UNSEEN]
    return "".join(kept).translate(_SIGNS)


def fold(text: str) -> str:
    """The text without case, accents, vowel signs above and below, invisible characters and variants of
    letters.
    """
    return "".join(map(_folded, text))


def seen(text: str) -> Seen:
    """The text folded, with look-alike letters of another script within a word replaced."""
    pieces = list(map(_folded, text))
    places = [place for place, piece in enumerate(pieces) for _ in piece]
    return Seen(MIXED_SCRIPT.sub(lambda word: word[0].translate(LOOK_ALIKES), "".join(pieces)), places)


def turned(text: Seen, signs: Sequence[str]) -> Iterator[Seen]:
    """The same text with figures inside words read as letters, with the alphabet turned by 13, and backwards.

    Each is given only where it shows some of the `signs` more often than the text itself.
    """
    plain = text.text
    ways = (
        Seen(MIXED_WORD.sub(lambda word: word[0].translate(FIGURES_AS_LETTERS), plain), text.places),
        Seen(codecs.encode(plain, "rot13"), text.places),
        Seen(plain[::-1], text.places[::-1]),
    )
    for way in ways:
        if any(way.text.count(sign) > plain.count(sign) for sign in signs):
            yield way


def closed_up(text: Seen, words: Iterable[re.Match[str]]) -> Seen:
    """The text with these words, which are set letter by letter, closed up."""
    gaps = {gap for word in words for gap in range(word.start() + 1, word.end(), 2)}
    kept = [place for place in range(len(text.text)) if place not in gaps]
    return Seen("".join(text.text[place] for place in kept), [text.places[place] for place in kept])


def decoded(text: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, plain text) of what is written in base64, base32, hexadecimal or binary digits or in
    escapes of the web; the plain text is not folded.
    """
    for pattern, read in READERS.items():
        for match in pattern.finditer(text):
            if plain := read(match[0][:LONGEST_CODE]):
                yield match.start(), match.start() + len(match[0].rstrip()), plain


# A last character or two that encode no whole byte are left out, and with them at most four bytes.
def _base64(code: str) -> str:
    code = code.translate(str.maketrans("-_", "+/", "\n="))
    return _text(base64.b64decode(code[: len(code) // 4 * 4]))


def _base32(code: str) -> str:
    code = code.rstrip("=")
    return _text(base64.b32decode(code[: len(code) // 8 * 8]))


def _digits(byte: str, base: int, code: str) -> str:
    return _text(bytes(int(digits, base) for digits in re.findall(byte, code)))


def _escaped(code: str) -> str:
    return html.unescape(unquote(UNICODE_ESCAPE.sub(r"&#x\1;", code), errors="replace"))


def _text(data: bytes) -> str:
    """The bytes as text, "" where they are no text."""
    text = data.decode("utf-8", "ignore")
    return text if text.replace("\n", " ").isprintable() else ""


READERS: dict[re.Pattern[str], Callable[[str], str]] = {
    BASE64: _base64,
    BASE32: _base32,
    HEXADECIMAL: partial(_digits, "[0-9a-fA-F]{2}", 16),
    BINARY: partial(_digits, "[01]{8}", 2),
    ESCAPED: _escaped,
}
