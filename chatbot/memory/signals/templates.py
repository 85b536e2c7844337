"""Loads local templates of what usually follows kinds of news, and matches them by their keywords."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path

from chatbot.memory.signals.records import checked
from chatbot.memory.signals.writing_scripts import assets_in, stems_of

__all__ = ["TEMPLATES", "Template", "match_templates", "templates_in"]

log = logging.getLogger(__name__)

TEMPLATES = Path(__file__).parent / "templates"
# Far more than a hand-written template has.
MOST_BYTES = 100_000
# Separators: between the parts of a keyword that may be apart, and between the ways to say a part.
PARTS, WAYS = "+", "/"


@dataclass(frozen=True, slots=True)
class Template:
    """A kind of news.

    id: its id.
    title: its title.
    summary: what usually follows.
    keywords: any of them indicates it, with any forms of its words. A keyword is a phrase, whose words are
        side by side ("rate cut"), or parts in any order, each with its alternatives ("opec
        + cut/reduce + output/oil production").
    assets: in upper case, those that it moves whatever it is about.
    action: what it speaks for.
    base_confidence: 0 to 1.
    """

    id: str
    title: str
    summary: str
    keywords: tuple[str, ...]
    assets: tuple[str, ...]
    action: str
    base_confidence: float


def templates_in(*folders: Path) -> list[Template]:
    """The templates of folders, which may be missing. Of several with one id the last counts.

    A file that is no template is skipped and logged. No file name ever leads out of its folder.
    """
    found = dict[str, Template]()
    for path in chain.from_iterable(sorted(folder.glob("*.json")) for folder in folders):
        try:
            if path.is_symlink() or path.stat().st_size > MOST_BYTES:
                raise ValueError("it is a link, or too large")
            template = _template(json.loads(path.read_text("utf-8")))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            log.warning("the template %s cannot be used: %s", path.name, error)
        else:
            found[template.id] = template
    return list(found.values())


def match_templates(text: str, templates: Sequence[Template]) -> list[Template]:
    """The templates with a keyword in the text: most keywords first, then by confidence."""
    held, matched = _phrase(text), list[tuple[int, float, str, Template]]()
    for one in templates:
        if count := sum(_holds(held, keyword) for keyword in one.keywords):
            matched.append((-count, -one.base_confidence, one.id, one))
    return [one for *_, one in sorted(matched)]


def _holds(held: str, keyword: str) -> bool:
    """Whether a text holds each part of a keyword in one of its ways."""
    return all(any(map(held.__contains__, ways)) for ways in _parts(keyword))


@lru_cache(maxsize=10_000)
def _parts(keyword: str) -> tuple[tuple[str, ...], ...]:
    """The ways to say each part of a keyword. Raises ValueError for a part without words."""
    parts = tuple(tuple(filter(str.strip, map(_phrase, part.split(WAYS)))) for part in keyword.split(PARTS))
    if not all(parts):
        raise ValueError(f"its keyword {keyword!r} has a part without words")
    return parts


def _phrase(text: str) -> str:
    """The stems of the words, each between blanks."""
    return f" {' '.join(stems_of(text))} "


def _template(fields: dict[str, object]) -> Template:
    """The template of a file. Raises ValueError, KeyError or TypeError for what is none.

    `confidence` stands in for `base_confidence` if only that is given.
    """
    keywords, assets = fields["keywords"], fields.get("assets", [])
    if not isinstance(keywords, list) or not isinstance(assets, list):
        raise TypeError("keywords or assets are not a list")
    confidence = fields.get("base_confidence", fields.get("confidence"))
    action, confidence = checked(fields.get("action", "observe"), confidence)
    phrases = tuple(map(str, keywords))
    for phrase in phrases:
        _parts(phrase)
    summary = " ".join(str(fields["summary"]).split())
    names = tuple(str(asset).upper() for asset in assets) or assets_in(summary)
    title = str(fields.get("title", fields["id"]))
    return Template(str(fields["id"]), title, summary, phrases, names, action, confidence)
