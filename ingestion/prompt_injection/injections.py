"""Finds text that gives orders to a machine reading it, rather than to a person, by its wording alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import starmap
from pathlib import Path
from typing import NamedTuple

from ingestion.language.sentences import sentence_around
from ingestion.language.vocabulary import parts
from ingestion.prompt_injection.obfuscation import (
    SPACED_WORD,
    Seen,
    closed_up,
    decoded,
    fold,
    seen,
    turned,
)
from ingestion.records import Span

__all__ = ["find_instructions"]

SOURCE = Path(__file__).with_name("injection_rules.txt")
KINDS = ("when", "opening", "drop")
# What may lie between two words of an order: no end of a sentence and no beginning of a clause.
GAP = r"[^.!?;:,。！？；：，।|]{0,40}?"
# A verb with "not" is no order to drop anything: "vergessen Sie nicht", "n'oubliez pas".
FORBIDDEN = r"(?![^.!?]{0,12}(?<![a-z])(?:nicht|pas|niet)(?![a-z]))"
MARKS = str.maketrans(dict.fromkeys("\n\t,.:;!?()[]'\"-*", " "))
# How far back and on the ends of an order's sentence are searched, in characters.
REACH = 400
# At most so many sentences count as continuing an order, so that a list of wishes does not take the page.
MOST_FURTHER = 4
CLAUSE_OPENS = ".!?;:\"'(*[]>-•|。！？：।"
OPENERS = frozenset(
    "please and then now but must should you always never to also instead kindly just so".split()
)
# Text is deciphered in a further way only where that shows one of these words.
SIGNS_OF_ORDERS = parts(
    "instruction;prompt;language model;assistant;ignore;disregard;forget;previous;you are now;summari"
)


def find_instructions(text: str) -> tuple[Span, ...]:
    """(start, end) of the sentences and lines of `text` that address a machine, in order and without overlap.

    It finds orders in plain words and marks of a chat's roles, and both in disguise: as look-alike letters,
    with gaps or in codes.
    """
    plain = seen(text)
    orders = (*_orders(plain, text), *_disguised(plain, text))
    found = [_sentence(text, start, end) for start, end in orders]
    codes = ((start, end) for start, end, message in decoded(text) if any(_orders(seen(message), message)))
    return _joined([*found, *codes], text)


def _orders(view: Seen, text: str) -> Iterator[Span]:
    """(start, end) in `text` of what the rules find in it as seen."""
    words = f" {view.text.translate(MARKS)} "
    for rule in _rules():
        if any(need in words for need in rule.needs):
            for match in rule.pattern.finditer(view.text):
                start, end = view.span(*match.span())
                if not rule.opens or _opens(text, start):
                    yield start, end


def _disguised(plain: Seen, text: str) -> Iterator[Span]:
    """(start, end) in `text` of orders written with figures for letters, backwards or letter by letter."""
    for view in turned(plain, SIGNS_OF_ORDERS):
        yield from _orders(view, text)
    words = list(SPACED_WORD.finditer(plain.text))
    if words:
        yield from _orders(closed_up(plain, words), text)
    for word in words:
        if _part("squeezed").search(word[0][::2]):
            yield plain.span(*word.span())


def _opens(text: str, start: int) -> bool:
    """Whether a sentence or clause begins at `start`.

    It does at the start of the text, after a mark that ends a clause, after "please" and the like, at the
    start of a paragraph, and on a new line that begins with no small letter.
    """
    before = text[max(0, start - 24) : start].rstrip(" \t")
    above = before.rstrip()
    if not above or above[-1] in CLAUSE_OPENS or before.endswith("\n\n"):
        return True
    if before.endswith("\n"):
        return not text[start].islower()
    return above.split()[-1].rstrip(",").casefold() in OPENERS


def _sentence(text: str, start: int, end: int) -> Span:
    """The sentence around an order, with the sentences that continue it."""
    start, end = sentence_around(text, start, end, reach=REACH)
    for _ in range(MOST_FURTHER):
        following = text[end : end + 40].lstrip()
        if not following or not _part("goes_on").match(fold(following)):
            break
        opens = text.index(following[0], end)
        _, end = sentence_around(text, opens, opens + 1, reach=REACH)
    return start, end


def _joined(spans: Iterable[Span], text: str) -> tuple[Span, ...]:
    """The spans in order, joined where they touch."""
    joined = list[Span]()
    for start, end in sorted(spans):
        if joined and not text[joined[-1][1] : start].strip():
            start, before = joined.pop()
            end = max(before, end)
        joined.append((start, end))
    return tuple(joined)


class _Rule(NamedTuple):
    """One way of giving orders.

    needs: pieces of folded text; a text with none of them has no such order.
    pattern: matches the order in folded text.
    opens: whether it counts only where a sentence or clause begins.
    """

    needs: tuple[str, ...]
    pattern: re.Pattern[str]
    opens: bool


@cache
def _rules() -> tuple[_Rule, ...]:
    """All rules, read at first use."""
    return tuple(starmap(_rule, _read()[0]))


@cache
def _part(name: str) -> re.Pattern[str]:
    """The pattern of a part that rules share, or that stands alone.

    squeezed: orders written without gaps between words. goes_on: the beginning of a sentence that continues
    the order before it.
    """
    return _pattern(_read()[1][name])


@cache
def _read() -> tuple[Sequence[tuple[str, str, Sequence[str]]], Mapping[str, str]]:
    """Kind, needs and patterns of each rule, and the parts by name, all with the parts they refer to filled
    in.
    """
    parts = dict[str, str]()
    found = list[tuple[str, str, list[str]]]()
    for line in SOURCE.read_text(encoding="utf-8").split("\n"):
        word, _, rest = line.partition(" ")
        for name, pattern in parts.items():
            rest = rest.replace(f"{{{name}}}", pattern)
        if word == "let":
            name, _, parts[name] = rest.partition(" ")
        elif word in KINDS:
            found.append((word, rest, []))
        elif not word and rest:
            found[-1][2].append(rest.strip())
    return found, parts


def _rule(kind: str, needs: str, body: Sequence[str]) -> _Rule:
    """A rule of a kind. body: of KINDS' "drop" the verb, "before" and the word for orders, which stand in
    either order; else ways of giving the order.
    """
    written = "|".join(body)
    if kind == "drop":
        verbs, before, orders = body
        written = (
            rf"(?:{verbs}){FORBIDDEN}{GAP}(?:(?:{before}){GAP}(?:{orders})|(?:{orders}){GAP}(?:{before}))"
        )
    return _Rule(tuple(fold(needs.replace("~", " ")).split("|")), _pattern(written), kind == "opening")


def _pattern(written: str) -> re.Pattern[str]:
    """A pattern over folded text: letters beyond ASCII are folded too, and a space is any white space."""
    folded = re.sub("[^\0-\x7f]+", lambda beyond: fold(beyond[0]), written)
    return re.compile(folded.replace(" ?", r"\s{0,4}+").replace(" ", r"\s{1,4}+"))
