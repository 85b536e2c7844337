"""Reads a request for what stands in a place: "What does page 4 say?", "the second table on page 7".

A message is one if it names a place. What it has beside words of asking and the name of a document is what
it asks about there.
"Quote the sentence before it" names a place beside what was quoted last.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace

from chatbot.search.intents import DOCUMENT, without_document
from ingestion.language.terms import content_terms
from ingestion.language.vocabulary import either

__all__ = ["PagePlace", "names_place", "place_of"]

COUNTS = "first second third fourth fifth sixth seventh eighth ninth tenth".split()
NUMBERS = "one two three four five six seven eight nine ten".split()
FROM_THE_END = {"last": -1, "final": -1, "penultimate": -2, "second-to-last": -2, "last but one": -2}
_COUNT = rf"(?:{either([*COUNTS, *FROM_THE_END])}|\d{{1,3}}(?:st|nd|rd|th))"
_NUMBER = rf"(?:\d{{1,4}}|{either(NUMBERS)})"
_UNIT = r"(?:table|paragraph|sentence)"
_PRINTED = r"(?:printed|numbered|labell?ed)"
_PAGE = re.compile(
    rf"\b(?:(?:the )?(?P<count>{_COUNT}) page|(?P<printed>{_PRINTED} )?(?:page|pg\.?|p\.?) ?"
    rf"(?:no\.? |number )?(?P<labelled>{_PRINTED} )?(?P<number>{_NUMBER}|[ivxlc]{{1,7}}))\b(?![.,]\d)",
    re.IGNORECASE,
)
_PART = re.compile(
    rf"\b(?:(?P<count>{_COUNT}) (?P<counted>{_UNIT})"
    rf"|(?P<unit>{_UNIT})s?(?: (?:no\.? |number )?(?P<number>{_NUMBER}))?)\b",
    re.IGNORECASE,
)
_QUOTED = r"(?:one|sentence|paragraph|table|page|row|passage|quote|quotation)"
_THAT = rf"(?:(?:this|that|the) {_QUOTED}|it|this|that|these|those)"
_SIDE = r"before|after|above|below|following|preceding"
_BESIDE = re.compile(
    rf"\b(?:(?:(?P<unit>{_UNIT}|page) (?:(?:that|which) )?(?:comes? |stands? |is )?"
    rf"|(?:comes?|stands?|written) )(?:just |right )?(?P<side>{_SIDE})(?: {_THAT}|(?=\W*$))"
    rf"|(?:(?P<of>{_UNIT}|page) (?:that|which) )?(?P<verb>follows|precedes)(?: {_THAT}|(?=\W*$))"
    rf"|(?P<turned>previous|next|preceding|following) (?P<named>{_UNIT}|page)|comes (?P<then>next))\b",
    re.IGNORECASE,
)
AHEAD = frozenset(("after", "below", "following", "follows", "next"))
# Words of asking, which name no subject.
ASKING = frozenset(
    """
    a about all also and anything are at can cite complete contain contains content contents could
    describe display do document does entire everything exact exactly file find follow for from full
    give go has have here i in information is it key like list literally main me need now of ok okay on
    open out paper pdf please point points print printed provide put quote read reads recite repeat
    report reproduce s said say says see show shows standing stands state stated states sum summarise
    summarize summary tell text that the then there to transcribe up us verbatim want was we what whats
    which whole with word words would write written you
    """.split()
)
SUMMING_UP = re.compile(r"\bsum(?:mar\w+| up)\b|\b(?:main|key) points\b", re.IGNORECASE)
MOST_WORDS = 30
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class PagePlace:
    """A place in a document.

    unit: "page", "table", "paragraph" or "sentence".
    number: which of them on the page, 1-based, or from the end, -1 being the last; 0 for the page itself.
    page: its number, negative from the last page, or its printed label; "" beside what was quoted last.
    printed: whether the page is named by its printed number.
    step: -1 before what was quoted last, 1 after it, 0 if the page is named.
    sums_up: whether it is to be summed up.
    document: the one it names, "" for none.
    topic: terms of what is asked about there, () for all that stands there.
    """

    unit: str
    number: int = 0
    page: str = ""
    printed: bool = False
    step: int = 0
    sums_up: bool = False
    document: str = ""
    topic: tuple[str, ...] = ()


def names_place(message: str) -> bool:
    """Whether a message names a place, whatever it asks for."""
    return bool(_PAGE.search(message) or _BESIDE.search(message))


def place_of(message: str, documents: Collection[str]) -> PagePlace | None:
    """The place that a message asks for, None if it asks for anything else.

    documents: names of those in reach.
    """
    if len(message.split()) > MOST_WORDS:
        return None
    plain = " ".join(message.replace("’", "'").split())
    found = _on_page(plain) or _beside(plain)
    if found is None:
        return None
    place, rest = found
    document, rest = without_document(rest, documents)
    words = [word for word in _WORD.findall(rest.replace(DOCUMENT, " ")) if word.casefold() not in ASKING]
    topic = tuple(content_terms(" ".join(words)))
    if words and (place.step or not topic or _PAGE.search(rest)):
        return None
    return replace(place, sums_up=SUMMING_UP.search(plain) is not None, document=document, topic=topic)


def _beside(message: str) -> tuple[PagePlace, str] | None:
    """(the place beside what was quoted last, the rest of the message)."""
    found = _BESIDE.search(message)
    if found is None:
        return None
    side = (found["side"] or found["verb"] or found["turned"] or found["then"]).casefold()
    unit = (found["unit"] or found["of"] or found["named"] or "sentence").casefold()
    return PagePlace(unit, step=1 if side in AHEAD else -1), _without(message, found)


def _on_page(message: str) -> tuple[PagePlace, str] | None:
    """(the place on a page that is named, the rest of the message)."""
    page = _PAGE.search(message)
    if page is None:
        return None
    rest = _without(message, page)
    counted = _counted(page["count"] or page["number"])
    name = str(counted) if counted else page["number"].casefold()
    printed = bool(page["printed"] or page["labelled"])
    part = _PART.search(rest)
    if part is None:
        return PagePlace("page", page=name, printed=printed), rest
    unit = (part["counted"] or part["unit"]).casefold()
    return PagePlace(unit, _counted(part["count"] or part["number"] or "1"), name, printed), _without(
        rest, part
    )


def _without(message: str, found: re.Match[str]) -> str:
    return f"{message[: found.start()]} {message[found.end() :]}"


def _counted(word: str) -> int:
    """The number of a word such as "second", "2nd", "two", "2" or "last"; 0 for any other."""
    word = word.casefold()
    for words in (COUNTS, NUMBERS):
        if word in words:
            return words.index(word) + 1
    digits = word.rstrip("stndrh")
    return FROM_THE_END.get(word) or (int(digits) if digits.isdigit() else 0)
