"""Removes invisible characters from short texts, and writes them out in long ones."""

from __future__ import annotations

import re

__all__ = ["label_line", "one_line", "title_line", "visible"]

# Characters of a page's label and of a document's title: "Appendix B, page 12" and the like are shorter.
LONGEST_LABEL = 40
LONGEST_TITLE = 300
# Letters and marks for Unicode that are drawn as nothing or as a blank: fillers, joiners and variation
# selectors, which can carry text.
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
# Control, bidirectional and zero-width characters, ends of lines and paragraphs, halves of characters, tags.
# Not the two joiners (U+200C, U+200D), without which Persian, Hindi and many emoji are spelt wrongly.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


def one_line(text: str, most: int = 0) -> str:
    """`text` on one line, without characters that draw nothing or move others. Idempotent.

    most: characters the line may have, an ellipsis included that replaces the rest; 0 for any number.
    """
    line = " ".join(text.split())
    if not (line.isascii() and line.isprintable()):
        shown = "".join(filter(str.isprintable, _BLANK.sub("", line)))
        line = " ".join(shown.split())
    if not most or len(line) <= most:
        return line
    return f"{line[: most - 1].rstrip()}…"


def label_line(text: str | None) -> str | None:
    """A page's label on one line, None where nothing of it is left."""
    return one_line(text or "", LONGEST_LABEL) or None


def title_line(text: str | None) -> str | None:
    """A document's title on one line, None where nothing of it is left."""
    return one_line(text or "", LONGEST_TITLE) or None


def visible(text: str) -> str:
    """`text` with invisible characters written out as ‹U+202E›; tabs stay, and line ends become LF."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return _UNSEEN.sub(lambda found: f"‹U+{ord(found[0]):04X}›", lines)
