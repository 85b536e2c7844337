"""Reads the rules that recognise text with orders to a machine, from the file beside this module."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ingestion.prompt_injection.obfuscation import fold

__all__ = ["Rule", "goes_on", "rules", "squeezed"]

SOURCE = Path(__file__).with_suffix(".txt")
KINDS = ("when", "opening", "drop")
# In a pattern as written: a class of characters, or a space, which may be left out where "?" follows.
SPACE_OR_CLASS = re.compile(r"(\[(?:\\.|[^\]\\])*+\])| (\??)")
# What may lie between two words of an order: no end of a sentence and no beginning of a clause.
GAP = r"[^.!?;:,。！？；：，।|]{0,40}?"
# A verb with "not" is no order to drop anything: "vergessen Sie nicht", "n'oubliez pas".
FORBIDDEN = r"(?![^.!?]{0,12}(?<![a-z])(?:nicht|pas|niet)(?![a-z]))"


@dataclass(frozen=True, slots=True)
class Rule:
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
    return tuple(_rules())


@cache
def squeezed() -> re.Pattern[str]:
    """The pattern for orders written without gaps between words."""
    return _pattern(_parts()["squeezed"])


@cache
def goes_on() -> re.Pattern[str]:
    """The pattern for the beginning of a sentence that continues the order before it."""
    return _pattern(_parts()["goes_on"])


def _lines() -> list[str]:
    lines = SOURCE.read_text(encoding="utf-8").split("\n")
    return [line for line in lines if line and not line.startswith("#")]


@cache
def _parts() -> dict[str, str]:
    """name -> pattern of each part that rules share, with the parts it refers to filled in."""
    parts: dict[str, str] = {}
    for line in _lines():
        if line.startswith("let "):
            _, name, pattern = line.split(" ", 2)
            parts[name] = _filled(pattern, parts)
    return parts


def _rules() -> Iterator[Rule]:
    heads: list[tuple[str, str]] = []
    bodies: list[list[str]] = []
    for line in _lines():
        kind, _, needs = line.partition(" ")
        if kind in KINDS:
            heads.append((kind, needs))
            bodies.append([])
        elif line.startswith("  "):
            bodies[-1].append(_filled(line.strip(), _parts()))
    for (kind, needs), body in zip(heads, bodies, strict=True):
        if kind == "drop":
            written = _dropping(*body)
        else:
            written = "|".join(body)
        pieces = _filled(needs, _parts()).replace("~", " ").split("|")
        yield Rule(tuple(map(fold, pieces)), _pattern(written), kind == "opening")


def _dropping(verbs: str, before: str, orders: str) -> str:
    """A pattern for the verb, then "before" and the word for orders, in either order."""
    return rf"(?:{verbs}){FORBIDDEN}{GAP}(?:(?:{before}){GAP}(?:{orders})|(?:{orders}){GAP}(?:{before}))"


def _filled(written: str, parts: dict[str, str]) -> str:
    for name, part in parts.items():
        written = written.replace(f"{{{name}}}", part)
    return written


def _pattern(written: str) -> re.Pattern[str]:
    """A pattern over folded text: letters beyond ASCII are folded too, and a space is any white space."""
    folded = "".join(character if character.isascii() else fold(character) for character in written)
    return re.compile(SPACE_OR_CLASS.sub(_white, folded))


def _white(match: re.Match[str]) -> str:
    if match[1]:
        return match[1].replace(" ", r"\s")
    if match[2]:
        return r"\s{0,4}+"
    return r"\s{1,4}+"
