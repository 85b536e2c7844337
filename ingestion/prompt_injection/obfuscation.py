"""Deciphers text that odd letters, spacing or codes hide from a reader or a search."""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

__all__ = ["LOOK_ALIKES", "Seen", "closed_up", "decoded", "fold", "seen", "turned"]

# Cyrillic and Greek letters, and the Latin letters that they look like.
LOOK_ALIKES = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0445\u0443\u0456\u0458\u0455\u04bb\u0501\u051b\u051d\u043a\u043c"
    "\u0442\u043d\u0432\u03b1\u03bf\u03c1\u03b5\u03b9\u03bd\u03c5\u03c4\u03ba",
    "aeopcxyijshdqwkmthbaopeivutk",
)
# Figures and signs that stand for letters inside words.
FIGURES_AS_LETTERS = str.maketrans("013457@$!", "oieastasi")
OTHER_SCRIPT = re.compile("[\u0370-\u03ff\u0400-\u052f]")
WORD = re.compile(r"\w{2,}+")
MIXED_WORD = re.compile(r"(?<![^\s\"'(,;:-])(?:[0-9@$!]{1,3}(?=[a-z])|[a-z]{1,20}[0-9@$!])[a-z0-9@$!]{1,20}+")
# Single letters with one sign between each two: a word, or where no gap is wider, a whole sentence.
SPACED_WORD = re.compile(r"(?<![^\s\"'(])[^\W\d_](?:[ ._*|/\-][^\W\d_](?!\w)){2,}+")
# Codes are decoded from so many characters on; shorter ones hold no order.
BASE32 = re.compile(r"(?<!\w)[A-Z2-7]{32,}+={0,6}")
BINARY = re.compile(r"(?<!\w)[01]{8}(?:[ \n]?[01]{8}){9,}+")
BASE64 = re.compile(r"(?<![\w+/])(?:[A-Za-z0-9+/_-]{20,}+\n?)++={0,2}")
HEXADECIMAL = re.compile(r"(?<!\w)(?:0x|\\x)?[0-9a-fA-F]{2}(?:[ :,]?(?:0x|\\x)?[0-9a-fA-F]{2}){13,}+")
ESCAPED = re.compile(
    r"(?:(?:%[0-9A-Fa-f]{2}|&#[xX]?[0-9A-Fa-f]{2,6};|\\u[0-9A-Fa-f]{4})[^\s%&\\]{0,16}){3,}+"
)
BEFORE_ESCAPED = re.compile(r"\S{1,20}\Z")
UNICODE_ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})")
# At most so many characters of a code are decoded.
LONGEST_CODE = 20_000
TAGS = range(0xE0020, 0xE007F)


@dataclass(frozen=True, slots=True)
class Seen:
    """Text as it is seen.

    places: for each of its characters the offset of the original character; empty where all offsets are
        unchanged.
    """

    text: str
    places: tuple[int, ...] = ()

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Offsets in the original text. start, end: of at least one character."""
        if not self.places:
            return start, end
        first, last = sorted((self.places[start], self.places[end - 1]))
        return first, last + 1


class _Folding(dict[int, str]):
    """Character -> what it is folded to, computed once for each character."""

    def __missing__(self, code: int) -> str:
        if code in TAGS:
            made = chr(code - TAGS.start + 0x20)
        else:
            made = unicodedata.normalize("NFKD", chr(code))
        kept = "".join(filter(_is_visible, made.casefold()))
        folded = self[code] = kept.translate(_SIGNS)
        return folded


class _Lengths(dict[int, str]):
    """Character -> a character whose code is the length of what the first is folded to."""

    def __missing__(self, code: int) -> str:
        length = self[code] = chr(len(_FOLDING[code]))
        return length


def _is_visible(character: str) -> bool:
    return unicodedata.category(character) not in {"Mn", "Me", "Cf"}


_APOSTROPHES = dict.fromkeys("‘’‚‛′`´", "'")
_QUOTES = dict.fromkeys("“”„‟«»″", '"')
_DASHES = dict.fromkeys("‐‑‒–—―−", "-")
_SIGNS = str.maketrans(_APOSTROPHES | _QUOTES | _DASHES)
_FOLDING = _Folding()
_LENGTHS = _Lengths()


def fold(text: str) -> str:
    """The text without case, accents, vowel signs above and below, invisible characters and variants of
    letters.
    """
    return text.translate(_FOLDING)


def seen(text: str) -> Seen:
    """The text folded, with look-alike letters of another script within a word replaced."""
    if text.isascii():
        return Seen(text.lower())
    folded = fold(text)
    lengths = text.translate(_LENGTHS)
    if OTHER_SCRIPT.search(folded):
        folded = WORD.sub(_one_script, folded)
    if lengths.count("\x01") == len(text):
        return Seen(folded)
    places = [place for place, length in enumerate(lengths) for _ in range(ord(length))]
    return Seen(folded, tuple(places))


def turned(text: Seen, signs: Sequence[str]) -> Iterator[Seen]:
    """The same text with figures inside words read as letters, with the alphabet turned by 13, and backwards.

    Each is given only where it shows some of the `signs`, with figures as letters more than the text itself.
    """
    words = text.text.translate(FIGURES_AS_LETTERS)
    if any(words.count(sign) > text.text.count(sign) for sign in signs):
        yield Seen(MIXED_WORD.sub(_figures_as_letters, text.text), text.places)
    if any(codecs.encode(sign, "rot13") in text.text for sign in signs):
        yield Seen(codecs.encode(text.text, "rot13"), text.places)
    if any(sign[::-1] in text.text for sign in signs):
        places = text.places or tuple(range(len(text.text)))
        yield Seen(text.text[::-1], places[::-1])


def _figures_as_letters(match: re.Match[str]) -> str:
    return match[0].translate(FIGURES_AS_LETTERS)


def closed_up(text: Seen) -> tuple[Seen, tuple[tuple[int, int], ...]]:
    """The text with words set letter by letter closed up, and the spans of these words in it.

    The same text where there are none.
    """
    spans = list[tuple[int, int]]()
    pieces = list[str]()
    places = list[int]()
    position = length = 0
    for match in SPACED_WORD.finditer(text.text):
        start = match.start()
        letters = range(start, match.end(), 2)
        pieces += [text.text[position:start], match[0][::2]]
        places += [*range(position, start), *letters]
        closed_start = length + start - position
        spans.append((closed_start, closed_start + len(letters)))
        position = match.end()
        length = len(places)
    if not spans:
        return text, ()
    places += range(position, len(text.text))
    if text.places:
        own = [text.places[place] for place in places]
    else:
        own = places
    return Seen("".join([*pieces, text.text[position:]]), tuple(own)), tuple(spans)


def decoded(text: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, plain text) of what is written in base64, base32, hexadecimal or binary digits or in
    escapes of the web; the plain text is not folded.
    """
    for pattern, read in READERS.items():
        for match in pattern.finditer(text):
            start, end = match.span()
            if pattern is ESCAPED:
                word = BEFORE_ESCAPED.search(text, max(0, start - 20), start)
                start = word.start() if word else start
            if plain := read(text[start : min(end, start + LONGEST_CODE)]):
                yield start, start + len(text[start:end].rstrip()), plain


def _one_script(match: re.Match[str]) -> str:
    word = match[0]
    mixed = OTHER_SCRIPT.search(word) and any("a" <= letter <= "z" for letter in word)
    if mixed:
        return word.translate(LOOK_ALIKES)
    return word


def _base64(code: str) -> str:
    code = code.replace("\n", "").rstrip("=").replace("-", "+").replace("_", "/")
    if len(code) % 4 == 1:
        code = code[:-1]  # a last character alone encodes no byte
    return _text(base64.b64decode(code + "==="))


def _base32(code: str) -> str:
    code = code.rstrip("=")
    rest = len(code) % 8
    if rest not in {2, 4, 5, 7}:  # other numbers of characters end in no whole byte
        code = code[: len(code) - rest]
    return _text(base64.b32decode(code + "=" * (-len(code) % 8)))


def _binary(code: str) -> str:
    return _text(bytes(int(digits, 2) for digits in re.findall("[01]{8}", code)))


def _hexadecimal(code: str) -> str:
    try:
        return _text(binascii.unhexlify(re.sub(r"0x|\\x|[ :,]", "", code)))
    except binascii.Error:
        return ""


def _escaped(code: str) -> str:
    characters = UNICODE_ESCAPE.sub(_escaped_character, code)
    return html.unescape(unquote(characters, errors="replace"))


def _escaped_character(match: re.Match[str]) -> str:
    return chr(int(match[1], 16))


def _text(data: bytes) -> str:
    """The bytes as text, "" where they are no text."""
    text = data.decode("utf-8", "ignore")
    if text.isprintable() or text.replace("\n", " ").isprintable():
        return text
    return ""


READERS = {BASE64: _base64, BASE32: _base32, HEXADECIMAL: _hexadecimal, BINARY: _binary, ESCAPED: _escaped}
