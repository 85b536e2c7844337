"""Reads which measures a sheet of key figures has, and what the rows that state them are called."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache, lru_cache

from ingestion.language.vocabulary import parts, table

__all__ = ["KeyMeasure", "key_measures", "plain_label"]

WORKED_OUT = "="
BRACKETS = re.compile(r"\([^()]{0,120}\)|\[[^\[\]]{0,120}\]")
NOTES = re.compile(r"\bnotes? ?\d.*$|\bsee note.*$|\bnotes?$")
NUMBERING = re.compile(r"^(?:[ivx]{1,5}|[a-h]|\d{1,2})[.)]\s+")
OF_GDP = re.compile(
    r",?\s*(?:as )?(?:an? )?(?:share|per ?cent(?:age)?|%|ratio)?(?: ?\(%\))?\s*(?:of|to|/)\s*(?:the )?"
    r"g[a-z]{0,2}dp\b"
)
UNIT_TAIL = re.compile(r",?\s*(?:in )?(?:per ?cent|%)(?: change| a year| y/y)?\s*$")
APOSTROPHES = re.compile("['’‘`]")
MARKS = re.compile(r"[^a-z&]+")
LONGEST_LABEL = 200


@dataclass(frozen=True, slots=True)
class KeyMeasure:
    """One row of a sheet.

    name: of the measure.
    shown: its name on the sheet.
    family: "accounts" (what was earned), "position" (what is owned, owed and paid) or "budget".
    kinds: the primary statements that state it.
    labels: patterns that the label of its row matches as a whole, the best first; () where it is worked out.
    """

    name: str
    shown: str
    family: str
    kinds: tuple[str, ...]
    labels: tuple[re.Pattern[str], ...]

    def rank(self, label: str) -> int | None:
        """The place of the first name that a plain label has, 0 for the best; None where it has none."""
        return next((rank for rank, name in enumerate(self.labels) if name.fullmatch(label)), None)


@cache
def key_measures() -> tuple[KeyMeasure, ...]:
    """All rows that a sheet can have, in its order."""
    return tuple(map(_measure, table("key_figures.tsv")))


def _measure(cells: list[str]) -> KeyMeasure:
    name, shown, family, kinds, labels = cells
    patterns = () if labels == WORKED_OUT else tuple(map(re.compile, parts(labels)))
    return KeyMeasure(name, shown, family, parts(kinds), patterns)


@lru_cache(maxsize=20_000)
def plain_label(label: str) -> str:
    """A row's label as the patterns know it: in lower case, without brackets, notes, numbers and marks."""
    text = unicodedata.normalize("NFKC", label[:LONGEST_LABEL]).casefold()
    text = NUMBERING.sub("", text.strip())
    text = OF_GDP.sub("", BRACKETS.sub(" ", text))
    text = UNIT_TAIL.sub("", NOTES.sub("", text))
    text = MARKS.sub(" ", APOSTROPHES.sub("", text)).strip()
    return text.removeprefix("consolidated ").removesuffix(" consolidated")
