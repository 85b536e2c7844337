"""Judges whether a page's extracted text is language or must be read again from the image, and cleans it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache

from ingestion.ocr.plausibility import judge
from ingestion.pages.margins import is_number_line
from ingestion.records import Page, Span

__all__ = [
    "better_reading",
    "is_unreadable",
    "join_line_breaks",
    "needs_reading_again",
    "normalise",
    "normalised_words",
    "vocabulary",
]

# A running header and a page number alone have about this many letters; a page with fewer has its content in
# an image.
FEWEST_LETTERS = 40
# Real pages measured up to .03 of such characters (bullets from symbol fonts); broken encodings start at .2.
MOST_UNREADABLE = 0.10
# Share of letters in words that no language spells. Of 14,000 clean pages in 130 languages half are under
# .02, and the worst have .17 (pictures drawn in letters aside). Pages whose glyphs have lost their letters
# have .7 and more, so that a page half of which is garbled is found too.
MOST_IMPLAUSIBLE = 0.22
# Letters added to what is right: a few words prove nothing.
DOUBT = 80
# A second reading replaces the first only where it has this many times its letters.
CLEARLY_MORE = 1.2
# tesseract is at least this sure, of 100, of words that are there; of what it reads in pictures and in
# unknown scripts it is less sure.
LEAST_CONFIDENCE = 40.0
# From here on a character is a syllable or a word; the same page in another script would have about so many
# letters for it.
IDEOGRAPHS = "\u2e80"
LETTERS_AN_IDEOGRAPH = 3
# What letters with wrong spaces, order or encoding are worth: a search finds few of their words.
DISORDERED = 0.5
# Halves of characters, which no file can be written with.
SURROGATE = re.compile(r"[\ud800-\udfff]")
CID = re.compile(r"\(cid:\d+\)|/G\d{2}")
UNREADABLE = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ufffd\ue000-\uf8ff]")
# PDFium writes U+FFFE, older builds U+0002, for a hyphen and a line break; U+00AD is the soft hyphen itself.
LINE_BREAK_HYPHEN = re.compile(r"[\u0002\ufffe\u00ad]+\s{0,8}")
# Letters read on each side of a mark; longer runs are no words.
LONGEST_PART = 40
WORD_BEFORE = re.compile(r"\w+$")
WORD_AFTER = re.compile(r"\w+")
LIGATURES = {code: unicodedata.normalize("NFKC", chr(code)) for code in range(0xFB00, 0xFB07)}
WORD = re.compile(r"\w+(?:-\w+)*")
_WHOLE = r"\w++(?:-\w++)*+"
HALVES = re.compile(rf"(?:(?<!\w)(?<!\w-){_WHOLE})?{LINE_BREAK_HYPHEN.pattern}(?:{_WHOLE})?")
NO_SPACE = re.compile(r"[^\s\x00]+")


def normalise(text: str) -> str:
    """`text` with LF line ends, ligatures spelt out, form feeds as line ends and NULs as spaces.

    Hyphen marks stay for join_line_breaks.
    """
    if SURROGATE.search(text):
        text = SURROGATE.sub("\ufffd", text)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = text.replace("\x0c", "\n").replace("\x00", " ")
    return re.sub(r"(?<![ \t])[ \t]+(?=\n)", "", text.translate(LIGATURES))


def normalised_words(text: str) -> tuple[str, list[tuple[int, int, Span]]]:
    """normalise(text), and for each word its start and end there and its (start, end) in `text`."""
    parts = list[str]()
    spans = list[tuple[int, int, Span]]()
    length = at = 0
    tidy = cache(normalise)
    for match in NO_SPACE.finditer(text):
        word = match[0] if match[0].isascii() else normalise(match[0])
        gap = tidy(text[at : match.start()])
        parts += (gap, word)
        start = length + len(gap)
        length = start + len(word)
        spans.append((start, length, match.span()))
        at = match.end()
    return "".join([*parts, normalise(text[at:])]), spans


def vocabulary(texts: Iterable[str]) -> frozenset[str]:
    """The case-folded words of normalised page texts, hyphenated words whole.

    Halves of words at a line end are left out.
    """
    return frozenset(word.casefold() for text in texts for word in WORD.findall(HALVES.sub(" ", text)))


def join_line_breaks(text: str, words: frozenset[str]) -> tuple[str, Callable[[int], int]]:
    """`text` with each hyphen at a line end removed or kept, and a function from offsets in `text` to offsets
    in the result.

    The document's own words decide: a word that they have joined is joined. The hyphen stays where they have
    the word with a hyphen or both halves as words. Else the word is joined. At the end of the text, a page's
    number is no part of a word.

    words: see vocabulary.
    """
    parts = list[str]()
    places: list[int] = []  # of each offset in `text` the offset in the result
    at = length = 0
    for match in LINE_BREAK_HYPHEN.finditer(text):
        hyphen = _resolved(text, match, words)
        parts += (text[at : match.start()], hyphen)
        mark = length + match.start() - at
        places += range(length, mark)
        # What ends inside a mark, as a word does that the mark is part of, ends with the mark's replacement.
        places += (mark + min(inside, len(hyphen)) for inside in range(len(match[0])))
        length = mark + len(hyphen)
        at = match.end()
    places += range(length, length + len(text) - at + 1)
    return "".join([*parts, text[at:]]), lambda offset: places[offset] if offset >= 0 else offset


def _resolved(text: str, match: re.Match[str], words: frozenset[str]) -> str:
    """What replaces one mark."""
    start, end = match.span()
    before = WORD_BEFORE.search(text[max(0, start - LONGEST_PART) : start])
    after = WORD_AFTER.match(text[end : end + LONGEST_PART])
    last = text[end:].strip()
    if "\n" not in last and (last.isdigit() or is_number_line(last)):
        return "-\n"
    if before is None or after is None:
        return "-" + match.group().lstrip("\u0002\ufffe\u00ad")
    first, second = before[0].casefold(), after[0].casefold()
    if f"{first}-{second}" in words:
        return "-"
    if first + second in words:
        return ""
    return "-" if words.issuperset((first, second)) or not after[0][0].islower() else ""


def needs_reading_again(text: str) -> bool:
    """Whether `text` is too short or too garbled, so that the page's image should be read instead."""
    unreadable = _unreadable(text)
    if sum(map(str.isalnum, text)) < FEWEST_LETTERS or unreadable > MOST_UNREADABLE * len(text):
        return True
    found = judge(text)
    wrong = found.implausible + unreadable
    return found.disordered or wrong > MOST_IMPLAUSIBLE * (found.plausible + wrong + DOUBT)


def is_unreadable(text: str) -> bool:
    """Whether the few characters of a page are glyphs without a meaning: mostly no letters or digits, or
    letters that spell nothing.
    """
    shown = sum(not letter.isspace() for letter in text)
    found = judge(text)
    return 2 * sum(map(str.isalnum, text)) < shown or found.implausible > found.plausible


def better_reading(first: Page, second: Page) -> Page:
    """The better of two readings of a page: the image's where that is clearly more language, else the text
    layer's.

    A reading with a problem loses to anything readable.

    first: from the text layer. second: from the image.
    """
    if first.problem is not None:
        return second if second.problem is None and any(map(str.isalnum, second.text)) else first
    if second.method == "none":
        if first.text.strip() or second.problem is None:
            return first
        return replace(first, problem=second.problem, method="none")
    # What was found out about the image holds for the page, whichever reading it has.
    return second if _worth(second) > _worth(first) * CLEARLY_MORE else replace(first, remarks=second.remarks)


def _worth(page: Page) -> float:
    """How many letters and digits a page has, counting garbage twice against it.

    Garbage counts twice because its letters are missing and what stands in their place misleads.
    """
    text = page.text
    if page.words:
        text = " ".join(
            word.text for word in page.words if word.confidence is None or word.sure >= LEAST_CONFIDENCE
        )
    found = judge(text)
    wrong = found.implausible + _unreadable(text)
    share = max(0.0, 1.0 - 2.0 * wrong / (found.plausible + wrong + DOUBT))
    letters = filter(str.isalnum, CID.sub("", text))
    worth = share * sum(LETTERS_AN_IDEOGRAPH if letter >= IDEOGRAPHS else 1 for letter in letters)
    return worth * DISORDERED if found.disordered else worth


def _unreadable(text: str) -> int:
    """Characters that stand for glyphs without a meaning."""
    return len(UNREADABLE.findall(text)) + sum(map(len, CID.findall(text)))
