"""What usually follows upon kinds of news: local templates, read from one folder and matched by their keywords; knows no database."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from chatbot.memory.signals.records import ACTIONS
from chatbot.memory.signals.scripts import assets_in, stems_of

__all__ = ["TEMPLATES", "Template", "load_templates", "match_templates"]

log = logging.getLogger(__name__)

TEMPLATES = Path(__file__).parent / "templates"
# Far above what a hand-written one has.
MOST_BYTES = 100_000


@dataclass(frozen=True, slots=True)
class Template:
    """A kind of news. keywords: phrases, any of which names it. base_confidence: 0 to 1. assets: upper case, those it moves whatever it is about."""

    id: str
    title: str
    summary: str
    keywords: tuple[str, ...]
    assets: tuple[str, ...]
    action: str
    base_confidence: float


@cache
def load_templates(folder: Path = TEMPLATES) -> tuple[Template, ...]:
    """The templates of a folder, by file name. A file that is none is passed over and logged; no name ever leads out of the folder."""
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
    """Those with a phrase of theirs in the text, most phrases first, then the surer; the words of a phrase stand side by side, in any of their forms."""
    said = stems_of(text)
    words = frozenset(said)
    counts = [(sum(words.issuperset(phrase) and _holds(said, phrase) for phrase in map(_phrase, one.keywords)), one) for one in templates]
    matched = [(count, one) for count, one in counts if count]
    return [one for _, one in sorted(matched, key=lambda pair: (-pair[0], -pair[1].base_confidence, pair[1].id))]


@lru_cache(maxsize=10_000)
def _phrase(text: str) -> tuple[str, ...]:
    return tuple(stems_of(text))


def _holds(said: Sequence[str], phrase: tuple[str, ...]) -> bool:
    return bool(phrase) and any(tuple(said[at : at + len(phrase)]) == phrase for at in range(len(said) - len(phrase) + 1))


def _template(fields: dict[str, object]) -> Template:
    """Raises ValueError, KeyError or TypeError for what is no template. `confidence` stands in for `base_confidence` where only that is given."""
    keywords, assets = fields["keywords"], fields.get("assets", [])
    if not isinstance(keywords, list) or not isinstance(assets, list):
        raise TypeError("keywords or assets are no list")
    confidence = fields["base_confidence"] if "base_confidence" in fields else fields["confidence"]
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
        raise ValueError(f"its confidence is {confidence!r}")
    action = str(fields.get("action", "observe"))
    if action not in ACTIONS:
        raise ValueError(f"its action is {action!r}")
    phrases = tuple(str(one) for one in keywords if _phrase(str(one)))
    summary = " ".join(str(fields["summary"]).split())
    names = tuple(str(one).upper() for one in assets) or assets_in(summary)
    return Template(str(fields["id"]), str(fields.get("title", fields["id"])), summary, phrases, names, action, float(confidence))
