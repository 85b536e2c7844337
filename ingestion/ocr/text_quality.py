"""Judges whether a page's extracted text is language or needs to be read again from the image; knows no
language and no font.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import replace

from ingestion.ocr.plausibility import judge
from ingestion.records import Page

__all__ = [
    "better_reading",
    "is_contents",
    "is_unreadable",
    "join_line_breaks",
    "needs_reading_again",
    "normalise",
    "normalised_lines",
    "normalised_words",
    "vocabulary",
]

# A running header and a page number alone come to about this many letters: a page with fewer carries its
# content as an image.
FEWEST_LETTERS = 40
# Real pages measured up to .03 of such characters (bullets from symbol fonts); broken encodings start at .2.
MOST_UNREADABLE = 0.10
# Share of letters in words that no language spells: of 14,000 clean pages in 130 languages half are under
# .02, the worst have .17 (pictures drawn in letters aside); pages whose glyphs have lost their letters have
# .7 and more, so that half of one is seen too.
MOST_IMPLAUSIBLE = 0.22
# Letters added to what is right: a few words prove nothing.
DOUBT = 80
# A second reading replaces the first only where it has this many times its letters.
CLEARLY_MORE = 1.2
# tesseract is this sure, of 100, of words that are there; what it makes of pictures and of unknown scripts
# lies below.
LEAST_CONFIDENCE = 40.0
# From here on a character is a syllable or a word, and the same page in another script has about so many
# letters for it.
IDEOGRAPHS = "\u2e80"
LETTERS_AN_IDEOGRAPH = 3
# What letters are worth whose spaces, order or encoding are wrong: a search finds few of their words.
DISORDERED = 0.5
# A page of contents has at least this many entries; fewer may stand on any page.
FEWEST_ENTRIES = 4
LEADER = re.compile(r"(?:\. ?){5}|\u2026{2}|_{5}")
PAGE_NUMBER = re.compile(r"[\divxl]{1,5}", re.I)
CONTENTS = re.compile(r"(table of )?contents\b|index$|list of (tables|figures|charts)", re.I)
# Halves of characters, which no file can be written with.
SURROGATE = re.compile(r"[\ud800-\udfff]")
CID = re.compile(r"\(cid:\d+\)|/G\d{2}")
UNREADABLE = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ufffd\ue000-\uf8ff]")
# PDFium writes U+FFFE, older builds U+0002, in place of a hyphen and line break; U+00AD is the soft hyphen
# itself.
LINE_BREAK_HYPHEN = re.compile(r"[\u0002\ufffe\u00ad]+\s{0,8}")
# Letters looked at on each side of a mark; longer runs are no words.
LONGEST_PART = 40
WORD_BEFORE = re.compile(r"\w+$")
WORD_AFTER = re.compile(r"\w+")
LIGATURES = {code: unicodedata.normalize("NFKC", chr(code)) for code in range(0xFB00, 0xFB07)}
WORD = re.compile(r"\w+(?:-\w+)*")
LINE_END = re.compile(r"\r\n|[\r\n\x0c]")
NO_SPACE = re.compile(r"[^\s\x00]+")


def is_contents(text: str) -> bool:
    """True for a page of contents or a list of tables: it names every subject and says nothing of any.

    Most of its lines lead by dots to a page number, or it calls itself contents and most of its lines end in
    one.
    """
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    leading = sum(bool(LEADER.search(line)) for line in lines)
    if leading >= FEWEST_ENTRIES and leading >= len(lines) / 3:
        return True
    if not any(CONTENTS.match(line) for line in lines[:5]):
        return False
    ending = sum(bool(PAGE_NUMBER.fullmatch(line.rsplit(None, 1)[-1])) and " " in line for line in lines)
    return ending >= FEWEST_ENTRIES and ending >= len(lines) / 2


def normalise(text: str) -> str:
    """`text` with LF line ends, ligatures spelt out, form feeds and NULs as line ends and spaces; hyphen
    marks stay for join_line_breaks.
    """
    if SURROGATE.search(text):
        text = SURROGATE.sub("\ufffd", text)
    else:
        text = text
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x0c", "\n").replace("\x00", " ")
    return re.sub(r"(?<![ \t])[ \t]+(?=\n)", "", text.translate(LIGATURES))


def normalised_lines(text: str) -> tuple[str, list[tuple[int, int, tuple[int, int]]]]:
    """(normalise(text), for each line that is not blank its start and end in that, and its (start, end) in
    `text`); blanks around it left out.
    """
    whole = normalise(text)
    spans = list[tuple[int, int, tuple[int, int]]]()
    at = 0
    ends = [match.span() for match in LINE_END.finditer(text)]
    starts = [0, *(end for _, end in ends)]
    for line, start, (end, _) in zip(whole.split("\n"), starts, [*ends, (len(text), 0)], strict=True):
        if kept := line.strip():
            given = text[start:end].replace("\x00", " ")
            first = at + line.index(kept[0])
            start += len(given) - len(given.lstrip())
            spans.append((first, first + len(kept), (start, start + len(given.strip()))))
        at += len(line) + 1
    return whole, spans


def normalised_words(text: str) -> tuple[str, list[tuple[int, int, tuple[int, int]]]]:
    """(normalise(text), for each word its start and end in that, and its (start, end) in `text`)."""
    parts: list[str] = []
    spans: list[tuple[int, int, tuple[int, int]]] = []
    length = at = 0
    gaps = {" ": " ", "\r\n": "\n", "": ""}
    for match in NO_SPACE.finditer(text):
        start, end = match.span()
        between = text[at:start]
        word = match.group()
        if between in gaps:
            gap = gaps[between]
        else:
            gap = gaps.setdefault(between, normalise(between))
        if word.isascii():
            word = word
        else:
            word = normalise(word)
        parts += (gap, word)
        length += len(gap)
        spans.append((length, length + len(word), (start, end)))
        length = length + len(word)
        at = end
    return "".join([*parts, normalise(text[at:])]), spans


def vocabulary(texts: list[str]) -> frozenset[str]:
    """The case-folded words, hyphenated ones whole, of normalised page texts; halves of words at a line
    end are none.
    """
    words: set[str] = set()
    for text in texts:
        parts = LINE_BREAK_HYPHEN.split(text)
        for number, part in enumerate(parts):
            found = list(WORD.finditer(part))
            first = number > 0 and bool(found) and found[0].start() == 0
            last = number + 1 < len(parts) and bool(found) and found[-1].end() == len(part)
            words.update(match.group().casefold() for match in found[first : len(found) - last])
    return frozenset(words)


def join_line_breaks(text: str, words: frozenset[str]) -> tuple[str, Callable[[int], int]]:
    """`text` with every hyphen at a line end either removed or kept, as the document itself writes that word
    elsewhere, and a function from offsets in `text` to offsets in that.

    words: see vocabulary. Seen joined: joined. Seen hyphenated, or both halves seen as words: the hyphen
    stays. Else joined.
    """
    parts: list[str] = []
    ends = [0]
    shifts = [0]
    puts = [(0, 0)]
    at = 0
    for match in LINE_BREAK_HYPHEN.finditer(text):
        put = _resolved(text, match, words)
        parts += (text[at : match.start()], put)
        at = match.end()
        ends.append(at)
        puts.append((match.start(), match.start() + shifts[-1] + len(put)))
        shifts.append(shifts[-1] + len(put) - len(match.group()))

    def moved(offset: int) -> int:
        before = bisect_right(ends, offset)
        plain = offset + shifts[before - 1]
        if offset < 0 or before == len(ends):
            return offset if offset < 0 else plain
        # What ends inside a mark, as a word does that the mark is part of, ends where the mark's place does.
        start, place = puts[before]
        if offset > start:
            return min(plain, place)
        return plain

    return "".join([*parts, text[at:]]), moved


def _resolved(text: str, match: re.Match[str], words: frozenset[str]) -> str:
    """What comes in place of one mark."""
    before = WORD_BEFORE.search(text[max(0, match.start() - LONGEST_PART) : match.start()])
    after = WORD_AFTER.match(text[match.end() : match.end() + LONGEST_PART])
    if before is None or after is None:
        return "-" + match.group().lstrip("\u0002\ufffe\u00ad")
    first = before.group()
    second = after.group()
    if f"{first}-{second}".casefold() in words:
        return "-"
    if (first + second).casefold() in words:
        return ""
    both_are_words = first.casefold() in words and second.casefold() in words
    if both_are_words or not second[0].islower():
        return "-"
    return ""


def needs_reading_again(text: str) -> bool:
    """True where `text` is too little or too broken to be the page's language, so that its image should be
    read instead.
    """
    letters = sum(map(str.isalnum, text))
    if letters < FEWEST_LETTERS:
        return True
    unreadable = _unreadable(text)
    if unreadable > MOST_UNREADABLE * len(text):
        return True
    found = judge(text)
    wrong = found.implausible + unreadable
    return found.disordered or wrong > MOST_IMPLAUSIBLE * (found.plausible + wrong + DOUBT)


def is_unreadable(text: str) -> bool:
    """True where the few characters of a page are mostly no letters or digits, or letters that spell
    nothing: glyphs without a meaning.
    """
    shown = sum(not letter.isspace() for letter in text)
    found = judge(text)
    return 2 * sum(map(str.isalnum, text)) < shown or found.implausible > found.plausible


def better_reading(first: Page, second: Page) -> Page:
    """Of two readings of one page, text layer and image, the one that reads clearly more as language; the
    text layer wins a tie, a problem loses to anything readable."""
    if first.problem is not None and second.problem is not None:
        return first
    if second.method == "none" and first.problem is None:
        if first.text.strip() or second.problem is None:
            return first
        return replace(first, problem=second.problem, method="none")
    if first.problem is not None:
        if any(map(str.isalnum, second.text)):
            return second
        return first
    if _worth(second) > _worth(first) * CLEARLY_MORE:
        return second
    return first


def _worth(page: Page) -> float:
    """Letters and digits of a page, less those that are garbage twice: they are not there, and what is
    there misleads.
    """
    words = [
        word.text for word in page.words if word.confidence is None or word.confidence >= LEAST_CONFIDENCE
    ]
    if page.words:
        text = " ".join(words)
    else:
        text = page.text
    found = judge(text)
    wrong = found.implausible + _unreadable(text)
    share = max(0.0, 1.0 - 2.0 * wrong / (found.plausible + wrong + DOUBT))
    letters = sum(
        LETTERS_AN_IDEOGRAPH if letter >= IDEOGRAPHS else 1
        for letter in CID.sub("", text)
        if letter.isalnum()
    )
    return letters * share * (DISORDERED if found.disordered else 1.0)


def _unreadable(text: str) -> int:
    """Characters that stand for glyphs without a meaning."""
    return len(UNREADABLE.findall(text)) + sum(map(len, CID.findall(text)))
