"""Sees text through what hides it from a reader or a search: odd letters, spacing, codes; knows no
language and judges nothing.
"""

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

__all__ = ["Seen", "closed_up", "decoded", "fold", "seen", "turned"]

# Characters with which words of one script are written to look like those of another, as pairs.
LOOK_ALIKES = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0445\u0443\u0456\u0458\u0455\u04bb\u0501\u051b\u051d\u043a\u043c\u0442\u043d\u0432\u03b1\u03bf\u03c1\u03b5\u03b9\u03bd\u03c5\u03c4\u03ba",
    "aeopcxyijshdqwkmthbaopeivutk",
)
# Figures and signs that stand for letters inside words.
FIGURES_AS_LETTERS = str.maketrans("013457@$!", "oieastasi")
OTHER_SCRIPT = re.compile("[\u0370-\u03ff\u0400-\u052f]")
WORD = re.compile(r"\w{2,}+")
MIXED_WORD = re.compile(r"(?<![^\s\"'(,;:-])(?:[0-9@$!]{1,3}(?=[a-z])|[a-z]{1,20}[0-9@$!])[a-z0-9@$!]{1,20}+")
# Some letters, each by itself with one sign between: a word, or where no gap is wider, a whole sentence.
SPACED_WORD = re.compile(r"(?<![^\s\"'(])[^\W\d_](?:[ ._*|/\-][^\W\d_](?!\w)){2,}+")
# Codes are looked into from so many characters on: shorter ones hold no order.
BASE32 = re.compile(r"(?<!\w)[A-Z2-7]{32,}+={0,6}")
BINARY = re.compile(r"(?<!\w)[01]{8}(?:[ \n]?[01]{8}){9,}+")
BASE64 = re.compile(r"(?<![\w+/])(?:[A-Za-z0-9+/_-]{20,}+\n?)++={0,2}")
HEXADECIMAL = re.compile(r"(?<!\w)(?:0x|\\x)?[0-9a-fA-F]{2}(?:[ :,]?(?:0x|\\x)?[0-9a-fA-F]{2}){13,}+")
ESCAPED = re.compile(
    r"(?:(?:%[0-9A-Fa-f]{2}|&#[xX]?[0-9A-Fa-f]{2,6};|\\u[0-9A-Fa-f]{4})[^\s%&\\]{0,16}){3,}+"
)
BEFORE_ESCAPED = re.compile(r"\S{1,20}\Z")
UNICODE_ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})")
# Most characters of one code that are looked into.
LONGEST_CODE = 20_000
TAGS = range(0xE0020, 0xE007F)


@dataclass(frozen=True, slots=True)
class Seen:
    """Text as it is seen. places: for each of its characters the offset of the one it stands for; empty
    where each stands in its own place.
    """

    text: str
    places: tuple[int, ...] = ()

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Offsets in the text that it was made from. start, end: of at least one character."""
        if not self.places:
            return start, end
        first, last = sorted((self.places[start], self.places[end - 1]))
        return first, last + 1


class _Folding(dict[int, str]):
    """Character -> what it is folded to, worked out once for each."""

    def __missing__(self, code: int) -> str:
        if code in TAGS:
            made = chr(code - TAGS.start + 0x20)
        else:
            made = unicodedata.normalize("NFKD", chr(code))
        kept = "".join(
            character
            for character in made.casefold()
            if unicodedata.category(character) not in {"Mn", "Me", "Cf"}
        )
        folded = self[code] = kept.translate(_SIGNS)
        return folded


class _Lengths(dict[int, str]):
    """Character -> a character that has the length of what it is folded to as its code."""

    def __missing__(self, code: int) -> str:
        length = self[code] = chr(len(_FOLDING[code]))
        return length


_SIGNS = str.maketrans(
    dict.fromkeys("‘’‚‛′`´", "'") | dict.fromkeys("“”„‟«»″", '"') | dict.fromkeys("‐‑‒–—―−", "-")
)
_FOLDING = _Folding()
_LENGTHS = _Lengths()


def fold(text: str) -> str:
    """Text without case, accents, vowel signs above and below, invisible characters and other forms of the
    same letters.
    """
    return text.translate(_FOLDING)


def seen(text: str) -> Seen:
    """Text folded, with letters of one script that stand in words of another as these."""
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
    """The same text with figures inside words read as letters, with the alphabet turned by 13, and backwards;
    each where it shows more of the `signs` than the text itself."""
    words = text.text.translate(FIGURES_AS_LETTERS)
    if any(words.count(sign) > text.text.count(sign) for sign in signs):
        yield Seen(
            MIXED_WORD.sub(lambda match: match[0].translate(FIGURES_AS_LETTERS), text.text), text.places
        )
    if any(codecs.encode(sign, "rot13") in text.text for sign in signs):
        yield Seen(codecs.encode(text.text, "rot13"), text.places)
    if any(sign[::-1] in text.text for sign in signs):
        yield Seen(text.text[::-1], (text.places or tuple(range(len(text.text))))[::-1])


def closed_up(text: Seen) -> tuple[Seen, tuple[tuple[int, int], ...]]:
    """The text with words that are set letter by letter closed up, and where in it these stand; the same
    text where there are none.
    """
    spans = list[tuple[int, int]]()
    pieces = list[str]()
    places = list[int]()
    position = length = 0
    for match in SPACED_WORD.finditer(text.text):
        letters = range(match.start(), match.end(), 2)
        pieces += [text.text[position : match.start()], match[0][::2]]
        places += [*range(position, match.start()), *letters]
        spans.append((length + match.start() - position, length + match.start() - position + len(letters)))
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
    escapes of the web; not folded.
    """
    for pattern, read in READERS.items():
        for match in pattern.finditer(text):
            if pattern is ESCAPED:
                word = BEFORE_ESCAPED.search(text, max(0, match.start() - 20), match.start())
            else:
                word = None
            if word:
                start = word.start()
            else:
                start = match.start()
            if plain := read(text[start : min(match.end(), start + LONGEST_CODE)]):
                yield start, start + len(text[start : match.end()].rstrip()), plain


def _one_script(match: re.Match[str]) -> str:
    word = match[0]
    mixed = OTHER_SCRIPT.search(word) and any("a" <= letter <= "z" for letter in word)
    if mixed:
        return word.translate(LOOK_ALIKES)
    return word


def _base64(code: str) -> str:
    code = code.replace("\n", "").rstrip("=").replace("-", "+").replace("_", "/")
    return _text(base64.b64decode(code[: len(code) - (len(code) % 4 == 1)] + "==="))


def _base32(code: str) -> str:
    code = code.rstrip("=")
    whole = code[: len(code) - len(code) % 8 + {2: 2, 4: 4, 5: 5, 7: 7}.get(len(code) % 8, 0)]
    return _text(base64.b32decode(whole + "=" * (-len(whole) % 8)))


def _binary(code: str) -> str:
    return _text(bytes(int(digits, 2) for digits in re.findall("[01]{8}", code)))


def _hexadecimal(code: str) -> str:
    try:
        return _text(binascii.unhexlify(re.sub(r"0x|\\x|[ :,]", "", code)))
    except binascii.Error:
        return ""


def _escaped(code: str) -> str:
    return html.unescape(
        unquote(UNICODE_ESCAPE.sub(lambda match: chr(int(match[1], 16)), code), errors="replace")
    )


def _text(data: bytes) -> str:
    """The bytes as text, "" where they are none."""
    text = data.decode("utf-8", "ignore")
    if text.isprintable() or text.replace("\n", " ").isprintable():
        return text
    return ""


READERS = {BASE64: _base64, BASE32: _base32, HEXADECIMAL: _hexadecimal, BINARY: _binary, ESCAPED: _escaped}
