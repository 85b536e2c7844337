"""Reads the rules that recognise text with orders to a machine, from the file beside this module."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import starmap
from pathlib import Path
from typing import NamedTuple

from ingestion.prompt_injection.obfuscation import fold

__all__ = ["Rule", "part", "rules"]

SOURCE = Path(__file__).with_suffix(".txt")
KINDS = ("when", "opening", "drop")
# What may lie between two words of an order: no end of a sentence and no beginning of a clause.
GAP = r"[^.!?;:,。！？；：，।|]{0,40}?"
# A verb with "not" is no order to drop anything: "vergessen Sie nicht", "n'oubliez pas".
FORBIDDEN = r"(?![^.!?]{0,12}(?<![a-z])(?:nicht|pas|niet)(?![a-z]))"


class Rule(NamedTuple):
    """One way of giving orders.

    needs: pieces of folded text; a text with none of them has no such order.
    pattern: matches the order in folded text.
    opens: whether it counts only where a sentence or clause begins.
    """

    needs: tuple[str, ...]
    pattern: re.Pattern[str]
    opens: bool


@cache
def rules() -> tuple[Rule, ...]:
    """All rules, read at first use."""
    return tuple(starmap(_rule, _read()[0]))


@cache
def part(name: str) -> re.Pattern[str]:
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


def _rule(kind: str, needs: str, body: Sequence[str]) -> Rule:
    """A rule of a kind. body: of KINDS' "drop" the verb, "before" and the word for orders, which stand in
    either order; else ways of giving the order.
    """
    written = "|".join(body)
    if kind == "drop":
        verbs, before, orders = body
        written = (
            rf"(?:{verbs}){FORBIDDEN}{GAP}(?:(?:{before}){GAP}(?:{orders})|(?:{orders}){GAP}(?:{before}))"
        )
    return Rule(tuple(fold(needs.replace("~", " ")).split("|")), _pattern(written), kind == "opening")


def _pattern(written: str) -> re.Pattern[str]:
    """A pattern over folded text: letters beyond ASCII are folded too, and a space is any white space."""
    folded = re.sub("[^\0-\x7f]+", lambda beyond: fold(beyond[0]), written)
    return re.compile(folded.replace(" ?", r"\s{0,4}+").replace(" ", r"\s{1,4}+"))
