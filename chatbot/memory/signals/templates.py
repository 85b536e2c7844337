"""What usually follows upon kinds of news: local templates, read from one folder and matched by their
keywords; knows no database.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from chatbot.memory.signals.records import checked
from chatbot.memory.signals.writing_scripts import assets_in, stems_of

__all__ = ["TEMPLATES", "Template", "load_templates", "match_templates"]

log = logging.getLogger(__name__)

TEMPLATES = Path(__file__).parent / "templates"
# Far above what a hand-written one has.
MOST_BYTES = 100_000
# Between the parts of a keyword that may stand apart, and between the ways to say one of them.
PARTS, WAYS = "+", "/"
# Words within which all parts must stand: a clause with what is put into it.
REACH = 12
Phrase = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Template:
    """A kind of news. base_confidence: 0 to 1. assets: upper case, those it moves whatever it is about.

    keywords: any of which names it, in any forms of its words: a phrase, whose words stand side by side
    ("rate cut"), or parts that stand within REACH words in any order, each with its ways to be said ("opec +
    cut/reduce + output/oil production").
    """

    id: str
    title: str
    summary: str
    keywords: tuple[str, ...]
    assets: tuple[str, ...]
    action: str
    base_confidence: float


@cache
def load_templates(folder: Path = TEMPLATES) -> tuple[Template, ...]:
    """The templates of a folder, by file name. A file that is none is passed over and logged; no name ever
    leads out of the folder.
    """
    found = []
    for path in sorted(folder.glob("*.json")):
        try:
            if path.is_symlink() or path.stat().st_size > MOST_BYTES:
                raise ValueError("it is a link, or too large")
            found.append(_template(json.loads(path.read_text("utf-8"))))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            log.warning("the template %s cannot be used: %s", path.name, error)
    return tuple(found)


def match_templates(text: str, templates: Sequence[Template]) -> list[Template]:
    """Those with a keyword of theirs in the text, most keywords first, then the surer."""
    said = stems_of(text)
    words = frozenset(said)
    counts = [
        (sum(_holds(said, words, parts) for parts in map(_parts, one.keywords)), one) for one in templates
    ]
    matched = [(count, one) for count, one in counts if count]
    return [
        one for _, one in sorted(matched, key=lambda pair: (-pair[0], -pair[1].base_confidence, pair[1].id))
    ]


@lru_cache(maxsize=10_000)
def _parts(keyword: str) -> tuple[tuple[Phrase, ...], ...]:
    """The parts of a keyword, each with its ways; () for one of no words."""
    parts = [[tuple(stems_of(way)) for way in part.split(WAYS)] for part in keyword.split(PARTS)]
    if all(any(ways) for ways in parts):
        return tuple(tuple(filter(None, ways)) for ways in parts)
    return ()


def _holds(said: Sequence[str], words: frozenset[str], parts: Sequence[Sequence[Phrase]]) -> bool:
    if not parts or not all(any(words.issuperset(way) for way in ways) for ways in parts):
        return False
    # Of each part the place that was passed last: where the furthest of them is near, all are.
    last = [-len(said) - REACH] * len(parts)
    for at in range(len(said)):
        for number, ways in enumerate(parts):
            if any(tuple(said[at : at + len(way)]) == way for way in ways):
                last[number] = at
        if at - min(last) < REACH:
            return True
    return False


def _template(fields: dict[str, object]) -> Template:
    """Raises ValueError, KeyError or TypeError for what is no template. `confidence` stands in for
    `base_confidence` where only that is given.
    """
    keywords = fields["keywords"]
    assets = fields.get("assets", [])
    if not isinstance(keywords, list) or not isinstance(assets, list):
        raise TypeError("keywords or assets are no list")
    action, confidence = checked(
        fields.get("action", "observe"),
        fields["base_confidence" if "base_confidence" in fields else "confidence"],
    )
    phrases = tuple(str(one) for one in keywords if _parts(str(one)))
    summary = " ".join(str(fields["summary"]).split())
    names = tuple(str(one).upper() for one in assets) or assets_in(summary)
    return Template(
        str(fields["id"]), str(fields.get("title", fields["id"])), summary, phrases, names, action, confidence
    )
