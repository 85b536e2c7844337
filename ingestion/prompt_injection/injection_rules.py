"""Reads the rules by which text that gives orders to a machine is known, from the file beside it; finds
nothing itself.
"""

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
# In a written pattern: a class of characters, or a space, which may be left out where "?" follows.
SPACE_OR_CLASS = re.compile(r"(\[(?:\\.|[^\]\\])*+\])| (\??)")
# What lies between two words of an order: no end of a sentence, no clause that begins.
GAP = r"[^.!?;:,。！？；：，।|]{0,40}?"
# A verb that is forbidden is no order to drop anything: "vergessen Sie nicht", "n'oubliez pas".
FORBIDDEN = r"(?![^.!?]{0,12}(?<![a-z])(?:nicht|pas|niet)(?![a-z]))"


@dataclass(frozen=True, slots=True)
class Rule:
    """One way of giving orders. needs: a text without any of these stretches of folded text has none such.
    opens: it counts where a sentence or clause begins only."""

    needs: tuple[str, ...]
    pattern: re.Pattern[str]
    opens: bool


@cache
def rules() -> tuple[Rule, ...]:
    """All rules, read at first use."""
    return tuple(_rules())


@cache
def squeezed() -> re.Pattern[str]:
    """Orders of which only the letters are left, without gaps between words."""
    return _pattern(_parts()["squeezed"])


@cache
def goes_on() -> re.Pattern[str]:
    """How the sentence after an order begins where it goes on with it."""
    return _pattern(_parts()["goes_on"])


def _lines() -> list[str]:
    return [
        line for line in SOURCE.read_text(encoding="utf-8").split("\n") if line and not line.startswith("#")
    ]


@cache
def _parts() -> dict[str, str]:
    """name -> pattern of what patterns have in common, those that it is made of put in."""
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
        every = _filled(needs, _parts()).replace("~", " ").split("|")
        yield Rule(tuple(fold(need) for need in every), _pattern(written), kind == "opening")


def _dropping(verbs: str, before: str, orders: str) -> str:
    """The verb, then that orders were given before and what they are, in either order."""
    return rf"(?:{verbs}){FORBIDDEN}{GAP}(?:(?:{before}){GAP}(?:{orders})|(?:{orders}){GAP}(?:{before}))"


def _filled(written: str, parts: dict[str, str]) -> str:
    for name, part in parts.items():
        written = written.replace(f"{{{name}}}", part)
    return written


def _pattern(written: str) -> re.Pattern[str]:
    """A pattern over folded text: letters beyond ASCII as that has them, a space any white space."""
    folded = "".join(character if character.isascii() else fold(character) for character in written)
    return re.compile(SPACE_OR_CLASS.sub(_white, folded))


def _white(match: re.Match[str]) -> str:
    if match[1]:
        return match[1].replace(" ", r"\s")
    if match[2]:
        return r"\s{0,4}+"
    return r"\s{1,4}+"
