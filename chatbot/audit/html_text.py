"""Writes any text as HTML that shows it character by character, and tables of such text.

Nothing in the text takes effect.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from datetime import datetime

from chatbot.records import printed_label
from ingestion.language.months import MONTHS

__all__ = ["joined", "moment", "page_name", "pairs", "paragraphs", "plain", "seen", "table", "tight"]

# Control and bidirectional characters must not rearrange what a reader sees. This set is part of the file
# format: files are rendered again with it.
UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)
# The most characters of a key, year, status or score.
SHORT = 16


def seen(text: str) -> str:
    """Returns the text with control and bidirectional characters written out."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return UNSEEN.sub(lambda found: f"‹U+{ord(found[0]):04X}›", lines)


def plain(text: str) -> str:
    """Returns the text as HTML, with control and bidirectional characters written out."""
    return html.escape(seen(text))


def joined(text: str) -> str:
    """Puts a text on one line. For text whose line breaks are only those of the page."""
    return " ".join(text.split())


def paragraphs(text: str) -> str:
    """Renders the paragraphs and lines of a text."""
    blocks = [block for block in re.split(r"\n[ \t]*\n", text.strip()) if block.strip()]
    return "".join(f'<p dir="auto">{plain(block)}</p>' for block in blocks)


def table(
    caption: str, head: Sequence[str], rows: Iterable[Sequence[str]], *, ids: Sequence[str] = ()
) -> str:
    """Renders a table.

    caption, head: text of the program's own.
    rows: cells as HTML.
    ids: the `id` attributes of the rows.
    """
    heads = "".join(f'<th scope="col">{cell}</th>' for cell in head)
    lines = []
    for at, row in enumerate(rows):
        cells = "".join(f'<td dir="auto">{cell}</td>' for cell in row)
        named = f' id="{ids[at]}"' if ids else ""
        lines.append(f"<tr{named}>{cells}</tr>")
    body = "".join(lines)
    return f"<table><caption>{caption}</caption><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"


def pairs(rows: Iterable[tuple[str, str]]) -> str:
    """Renders a list of terms with their descriptions. The terms are the program's own; descriptions are
    HTML.
    """
    entries = "".join(
        f'<div><dt>{term}</dt><dd dir="auto">{description}</dd></div>' for term, description in rows
    )
    return f"<dl>{entries}</dl>"


def tight(text: str) -> str:
    """Keeps a text on one line if it is as short as expected."""
    if len(text) <= SHORT:
        return f'<span class="tight">{plain(text)}</span>'
    return plain(text)


def moment(text: str) -> str:
    """Writes a time as people do, with its offset from UTC."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return plain(text)
    month = MONTHS[at.month - 1].capitalize()
    zone = f"{at:%z}"
    offset = f"{zone[:3]}:{zone[3:5]}" if zone.strip("+-0") else ""
    return plain(f"on {at.day} {month} {at.year} at {at:%H:%M:%S} UTC{offset}")


def page_name(page: int, label: str | None) -> str:
    """Names the physical page, and the printed number if it differs."""
    if not label or label == str(page):
        return f"p. {page}"
    return f"p. {page} ({plain(printed_label(label))})"
