"""Finds text that gives orders to a machine that reads it, not to a person; judges by wording alone, knows
no page and no document.
"""

from __future__ import annotations

from collections.abc import Iterator

from ingestion.language.sentences import sentence_around
from ingestion.prompt_injection.injection_rules import goes_on, rules, squeezed
from ingestion.prompt_injection.obfuscation import Seen, closed_up, decoded, fold, seen, turned

__all__ = ["find_instructions"]

MARKS = str.maketrans(dict.fromkeys("\n\t,.:;!?()[]'\"-*", " "))
# How far an order's sentence is followed back and on, in characters.
REACH = 400
# Sentences that go on with an order, at most, so that a list of wishes does not take the page.
MOST_FURTHER = 4
CLAUSE_OPENS = ".!?;:\"'(*[]>-•|。！？：।"
OPENERS = frozenset(
    "please and then now but must should you always never to also instead kindly just so".split()
)
# Text is read in a further way where that shows one of these words.
SIGNS_OF_ORDERS = (
    "instruction",
    "prompt",
    "language model",
    "assistant",
    "ignore",
    "disregard",
    "forget",
    "previous",
    "you are now",
    "summari",
)


def find_instructions(text: str) -> tuple[tuple[int, int], ...]:
    """(start, end) of the sentences and lines of `text` that address their reader as a machine, in order,
    none overlapping another.

    Orders in plain words, marks of a chat's roles, and both in disguise: other letters that look alike, gaps,
    codes.
    """
    plain = seen(text)
    found = [_sentence(text, start, end) for start, end in (*_plainly(plain, text), *_disguised(plain, text))]
    found += [
        (start, end) for start, end, said in decoded(text) if any(True for _ in _plainly(seen(said), said))
    ]
    if found:
        return tuple(_joined(found, text))
    return ()


def _plainly(view: Seen, text: str) -> Iterator[tuple[int, int]]:
    """Offsets in `text` of what the rules find in it as seen."""
    words = f" {view.text.translate(MARKS)} "
    for rule in rules():
        if any(need in words for need in rule.needs):
            for match in rule.pattern.finditer(view.text):
                start, end = view.span(*match.span())
                if not rule.opens or _opens(text, start):
                    yield start, end


def _disguised(plain: Seen, text: str) -> Iterator[tuple[int, int]]:
    """The same, of what is written with figures for letters, backwards or letter by letter."""
    for view in turned(plain, SIGNS_OF_ORDERS):
        yield from _plainly(view, text)
    closed, words = closed_up(plain)
    if words:
        yield from _plainly(closed, text)
        yield from (closed.span(*word) for word in words if squeezed().search(closed.text[slice(*word)]))


def _opens(text: str, start: int) -> bool:
    """Whether a sentence or clause begins there: at the start of all, after its mark, after "please" and the
    like, or with a capital on a new line."""
    before = text[max(0, start - 24) : start].rstrip(" \t")
    if not before or before[-1] in CLAUSE_OPENS:
        return True
    if before[-1] == "\n":
        above = before.rstrip()
        return (
            not above
            or above[-1] in CLAUSE_OPENS
            or before.endswith("\n\n")
            or text[start].isupper()
            or fold(text[start]) == text[start].upper()
        )
    return before.split()[-1].rstrip(",").casefold() in OPENERS


def _sentence(text: str, start: int, end: int) -> tuple[int, int]:
    """The sentence around it, with the sentences that go on with the order."""
    start, end = sentence_around(text, start, end, reach=REACH)
    for _ in range(MOST_FURTHER):
        following = text[end : end + 40].lstrip()
        if not following or not goes_on().match(fold(following)):
            break
        opens = text.index(following[0], end)
        _, end = sentence_around(text, opens, opens + 1, reach=REACH)
    return start, end


def _joined(spans: list[tuple[int, int]], text: str) -> Iterator[tuple[int, int]]:
    """Spans in order, those that touch as one."""
    start, end = -1, -1
    for first, last in sorted(spans):
        if start >= 0 and (first <= end or not text[end:first].strip()):
            end = max(end, last)
            continue
        if start >= 0:
            yield start, end
        start, end = first, last
    yield start, end
