"""Anybody's text as HTML that shows it character by character, and tables of it; nothing in it takes
effect.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from datetime import datetime

from ingestion.language.months import MONTHS

__all__ = ["joined", "moment", "page_name", "pairs", "paragraphs", "plain", "seen", "table", "tight"]

# Control and bidirectional characters must not rearrange what a reader sees. Part of the file's format: files
# made before are drawn anew with these.
UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)
# Characters of a key, a year, a status, a score.
SHORT = 16


def seen(text: str) -> str:
    """Text with control and bidirectional characters written out."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return UNSEEN.sub(lambda found: f"‹U+{ord(found[0]):04X}›", lines)


def plain(text: str) -> str:
    """Text as it is, control and bidirectional characters written out."""
    return html.escape(seen(text))


def joined(text: str) -> str:
    """On one line, as far as lines are only where the page's ended."""
    return " ".join(text.split())


def paragraphs(text: str) -> str:
    """Text in its paragraphs and lines."""
    blocks = [block for block in re.split(r"\n[ \t]*\n", text.strip()) if block.strip()]
    return "".join(f'<p dir="auto">{plain(block)}</p>' for block in blocks)


def table(
    caption: str, head: Sequence[str], rows: Iterable[Sequence[str]], *, ids: Sequence[str] = ()
) -> str:
    """caption, head: ours; rows: HTML. ids: of the rows."""
    heads = "".join(f'<th scope="col">{cell}</th>' for cell in head)
    lines = [
        f"<tr{f' id={chr(34)}{ids[at]}{chr(34)}' if ids else ''}>{''.join(f'<td dir={chr(34)}auto{chr(34)}>{cell}</td>' for cell in row)}</tr>"
        for at, row in enumerate(rows)
    ]
    return f"<table><caption>{caption}</caption><thead><tr>{heads}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def pairs(rows: Iterable[tuple[str, str]]) -> str:
    """A list of terms, ours, and what they are, HTML."""
    return f"<dl>{''.join(f'<div><dt>{term}</dt><dd dir={chr(34)}auto{chr(34)}>{said}</dd></div>' for term, said in rows)}</dl>"


def tight(text: str) -> str:
    """Text that is not broken across lines where it is as short as it should be."""
    if len(text) <= SHORT:
        return f'<span class="tight">{plain(text)}</span>'
    return plain(text)


def moment(text: str) -> str:
    """A time as people write it, with its offset from UTC."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return plain(text)
    zone = f"{at:%z}"
    return plain(
        f"on {at.day} {MONTHS[at.month - 1].capitalize()} {at.year} at {at:%H:%M:%S} "
        f"UTC{f'{zone[:3]}:{zone[3:5]}' if zone.strip('+-0') else ''}"
    )


def page_name(page: int, label: str | None) -> str:
    """The physical page, and the printed number where it is another."""
    return f"p. {page}" + (f" (printed {plain(label)})" if label and label != str(page) else "")
