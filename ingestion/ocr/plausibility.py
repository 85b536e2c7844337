"""Judges how much of a text is language, by which letters follow which in some hundred languages.

Letters of the Latin, Cyrillic and Greek alphabets are folded to a-z and looked up in one table of letter
triples, which benchmarks/letter_triples.py counts in a folder of texts. Words of other scripts are only
checked for keeping to one script.
"""

from __future__ import annotations

import base64
import re
import unicodedata
import zlib
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

__all__ = ["LETTERS", "LIGATURES", "Judgement", "fold", "judge", "plausibility"]

LETTERS = "abcdefghijklmnopqrstuvwxyz"
# Made by benchmarks/letter_triples.py: two bits a triple, packed, compressed and in base 85.
_TRIPLES = Path(__file__).with_name("letter_triples.txt")
# Letters that Unicode does not decompose, to a letter of like sound: Cyrillic, Greek, and those of single
# Latin alphabets.
ALIKE = dict(
    zip(
        "абвгдежзиклмнопрстуфхцчшщъыьэюяіїєґђјљњћџαβγδεζηθικλμνξοπρστυφχψωςøłæœßıđħŋþðəɛɔ",
        "abvgdezziklmnoprstufhccssqyqeuaiiegzjlnczabgdezitiklmnxoprstyfhposolaesidhntdaeo",
        strict=True,
    )
)
# Shorter runs of letters are as often abbreviations and units as words.
SHORTEST = 4
# Up to this many capitals are a ticker, a code or an acronym, which show neither garbage nor language.
LONGEST_CODE = 5
# German and Danish compounds are longer, but no page measured had more than a fifteenth of its letters in
# such words.
LONGEST = 24
# Identifiers are longer, but their capitals divide them into words; a sentence without spaces has only a
# capital or two.
LONGEST_PART = 15
# A name repeated down a page is one piece of evidence, not fifty.
MOST_TIMES = 3
# The values of the table's four steps: about ten times the mean logarithm within each, see
# benchmarks/letter_triples.py.
STEPS = (-32, -13, 2, 16)
# Symbols that touch letters, figures or other such symbols. Many of them in one word mean that its letters
# are the codes of other glyphs.
SYMBOLS = r"[!\"#*+<=>?@\[\\\]^`{|}~\x80-\xa6\xac-\xaf\xb1-\xb6\xb8-\xba\xbc-\xbf\xd7\xf7]"
TOUCHING = re.compile(
    rf"({SYMBOLS})(?!\1)(?=[^\W_]|{SYMBOLS})|[^\W_](?={SYMBOLS})|[^\W\d_](?=[$%&'(),;:][^\W\d_])"
)
# Symbols that are rare in formulas, code and rows of boxes, which have all the others.
RARE = re.compile(r"[!\"#?@\\`\x80-\xa6\xac-\xaf\xb4-\xb6\xb8\xba\xbc-\xbf]")
FEWEST_TOUCHING = 2
CHARACTERS_A_TOUCH = 4
RUN = re.compile(r"[a-z]+")
# Where one in so many characters is a digit, the word is a code, and not one that lost letters to digits.
DIGIT = re.compile(r"\d")
CHARACTERS_A_DIGIT = 6
_INDIC_BLOCKS = [f"[{chr(start)}-{chr(start + 0x7F)}]+" for start in range(0x900, 0x1000, 0x80)]
# Stretches of one script, for the scripts that are not folded. Jamo, kana and ideographs count as one script.
SCRIPT = re.compile(
    "[\u0530-\u058f]+|[\u0590-\u05ff\ufb1d-\ufb4f]+|[\u0600-\u08ff\ufb50-\ufdff\ufe70-\ufefc]+|"
    + "|".join(_INDIC_BLOCKS)
    + "|[\u1000-\u109f]+|[\u10a0-\u10ff]+|[\u1200-\u139f]+|[\u1400-\u16ff]+|[\u1780-\u17ff]+|[\u1800-\u18af]+"
    + "|[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc]+"
)
# Longer words are not worth the memory of a cached result.
LONGEST_REMEMBERED = 40
# Signs of text that runs backwards are words that end in their capital or begin with a stop: at least so
# many, and this share of all signs of direction. They count only for alphabets with capitals: in text that
# runs to the left, stops stand where the file's maker put them.
_CAPITAL, _SMALL = "[A-ZÀ-ÞΑ-ΩЀ-Я]", "[a-zß-ÿά-ώа-џ]"
FORWARDS = re.compile(rf"(?<!\S)(?:{_CAPITAL}{_SMALL}{{3,}}|{_CAPITAL}?{_SMALL}{{3,}}[.,;:])(?!\S)")
BACKWARDS = re.compile(rf"(?<!\S)(?:{_SMALL}{{3,}}{_CAPITAL}|[.,;:]{_SMALL}{{3,}}{_CAPITAL}?)(?!\S)")
FEWEST_BACKWARDS = 6
MOST_BACKWARDS = 1 / 3
# UTF-8 read as one-byte characters: a first byte of a two- or three-byte letter, then only bytes that
# continue it.
CONTINUED = "[\x80-\xbf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]"
MISREAD = re.compile(f"[ÂÃÄÅÎÏÐÑÒÓ×ØÙÚÛ]{CONTINUED}|[à-í]{CONTINUED}{{2}}")
FEWEST_MISREAD = 5
MOST_MISREAD = 0.03
# Neighbouring words that the same page also writes as one word, where one of the two is rare on it: clean
# pages measured up to two.
FEWEST_BROKEN = 3
MOST_BROKEN = 0.006
SHORTEST_BROKEN = 5
MOST_SEEN = 2
# From here on come alphabets without capitals; Korean, for example, leaves it to the writer which words to
# join.
WRITTEN_APART = "\u0590"
# Ligatures set apart from their words, of at least two kinds: "fi" alone is a word in Romanian, "ff" an
# abbreviation.
LIGATURES = "ff fi fl ffi ffl".split()
FEWEST_LIGATURES = 4
MOST_LIGATURES = 0.01
# Letters standing alone: this share of the words, so many, and so many different ones, which the marks of a
# table are not.
MOST_ALONE = 0.4
FEWEST_ALONE = 20
FEWEST_DIFFERENT = 8


class Judgement(NamedTuple):
    """What `judge` finds. Figures, codes and short words are neither plausible nor implausible.

    plausible: letters in words that are spelt as some language spells.
    implausible: letters in words that no language spells so.
    disordered: whether letters are right but spaces, direction or encoding are wrong throughout the text.
    """

    plausible: int
    implausible: int
    disordered: bool


def judge(text: str) -> Judgement:
    """How much of `text` is language. Linear in its length."""
    words = text.split()
    seen = Counter(words)
    right = wrong = 0
    for word, count in seen.items():
        plausible, implausible = (_remembered if len(word) <= LONGEST_REMEMBERED else _letters)(word)
        right += min(count, MOST_TIMES) * plausible
        wrong += min(count, MOST_TIMES) * implausible
    # Whether UTF-8 was read as one-byte characters.
    misread = 0 if text.isascii() else len(MISREAD.findall(text))
    backwards, forwards = (len({*signs.findall(text)}) for signs in (BACKWARDS, FORWARDS))
    is_backwards = backwards >= max(FEWEST_BACKWARDS, MOST_BACKWARDS * (forwards + backwards))
    is_misread = misread >= max(FEWEST_MISREAD, MOST_MISREAD * len(words))
    # How often the letters of each word stand alone.
    alone = [times for word, times in seen.items() if len(word) == 1 and word.isalpha() and fold(word) < "{"]
    fewest = max(FEWEST_ALONE, MOST_ALONE * len(words))
    is_spaced_out = len(alone) >= FEWEST_DIFFERENT and sum(alone) >= fewest
    disordered = is_misread or is_backwards or is_spaced_out or _is_broken(words)
    return Judgement(right, wrong, disordered)


def fold(text: str) -> str:
    """`text` in lower case, Latin, Cyrillic and Greek letters as a-z without their accents."""
    if text.isascii():
        return text.lower()
    return text.lower().translate(_folding())


def _letters(word: str) -> tuple[int, int]:
    """(letters in plausible runs, letters in implausible runs) of a word."""
    folded = fold(word)
    right, wrong = (0, 0) if folded.isascii() else _foreign_letters(folded)
    # So many symbols are among its letters that these must be codes of other glyphs.
    fewest = max(FEWEST_TOUCHING, len(word) / CHARACTERS_A_TOUCH)
    if not word.isalpha() and RARE.search(word) and len(TOUCHING.findall(word)) >= fewest:
        return right, wrong + len(word)
    digits = len(DIGIT.findall(word))
    is_code = word.isupper() and (digits > 0 or len(word) <= LONGEST_CODE)
    is_code |= digits * CHARACTERS_A_DIGIT >= len(word)
    for run in filter(lambda run: len(run) >= SHORTEST, RUN.findall(folded)):
        # It has more letters than a word, and the word too few capitals within to be an identifier.
        together = len(run) > LONGEST and len(run) > LONGEST_PART * (
            1 + sum(before.islower() and after.isupper() for before, after in pairwise(word))
        )
        if not together and plausibility(run) >= 0:
            right += len(run)
        elif together or not is_code:
            wrong += len(run)
    return right, wrong


# The words of a document recur from page to page; so many results take 5 MB.
_remembered = lru_cache(20_000)(_letters)


def _foreign_letters(folded: str) -> tuple[int, int]:
    """(right, wrong) letters of a word among those that do not fold; wrong where the script changes at every
    other letter.
    """
    runs = SCRIPT.findall(folded)
    letters = sum(map(len, runs))
    # A low byte of zero is one ideograph in 256, but every Latin letter whose two bytes were swapped.
    swapped = sum(not ord(letter) & 0xFF for run in runs for letter in run)
    is_wrong = letters >= SHORTEST and 2 * max(len(runs), swapped) > letters
    return (0, letters) if is_wrong else (letters, 0)


def plausibility(run: str) -> int:
    """How much speaks for a run of a-z being spelt as some language spells; below 0 nothing does."""
    table = _table()
    state = total = 0
    for code in (*run.encode("ascii", "ignore"), 96):
        state = (state % 729 * 27 + code - 96) % len(table)
        total += table[state]
    return total


def _is_broken(words: Sequence[str]) -> bool:
    """Whether spaces break words: the same page has a word broken here and whole there, often enough."""
    # A capital apart from its word is a drop or small capital, set apart on paper too.
    words = [word.strip(".,;:()").casefold() for word in words if len(word) > 1 or not word.isupper()]
    seen = Counter(words)
    ligatures = [seen[ligature] for ligature in LIGATURES if ligature in seen]
    if len(ligatures) > 1 and sum(ligatures) >= max(FEWEST_LIGATURES, MOST_LIGATURES * len(words)):
        return True
    pairs = {
        pair
        for pair in pairwise(words)
        if (whole := "".join(pair)) in seen
        and all(pair)
        and min(map(seen.__getitem__, pair)) <= MOST_SEEN
        and len(whole) >= SHORTEST_BROKEN
        and whole.isalpha()
        and whole < WRITTEN_APART
    }
    return len(pairs) >= max(FEWEST_BROKEN, MOST_BROKEN * len(seen))


@cache
def _folding() -> dict[int, str | None]:
    """Code points of accents -> None, of letters -> a letter of a-z."""
    folding: dict[int, str | None] = dict.fromkeys(range(0x300, 0x370))
    for code in (*range(0xC0, 0x530), *range(0x1E00, 0x2000)):
        letter = unicodedata.normalize("NFKD", chr(code).lower())[0]
        base = ALIKE.get(letter, letter)
        if chr(code).isalpha() and base in LETTERS:
            folding[code] = base
    return folding


@cache
def _table() -> tuple[int, ...]:
    """How much each triple speaks for language, by its number in base 27.

    The digits of the number are 0 for a word's end and 1 to 26 for letters, the first the most significant.
    """
    written = "".join(_TRIPLES.read_text("ascii").split())
    packed = zlib.decompress(base64.b85decode(written))
    return tuple(STEPS[byte >> shift & 3] for byte in packed for shift in (0, 2, 4, 6))
