"""Characters that nobody sees: takes them out of short texts, writes them out in long ones; knows no
document and no page.
"""

from __future__ import annotations

import re

__all__ = ["label_line", "one_line", "title_line", "visible"]

# Characters of a page's label and of a document's title: "Appendix B, page 12" and the like are shorter.
LONGEST_LABEL = 40
LONGEST_TITLE = 300
# Drawn as nothing or as a blank though Unicode counts them as letters or marks: fillers, joiners, variation
# selectors, which can carry text.
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
# Control, bidirectional and zero-width characters, ends of lines and paragraphs, halves of characters, tags.
# Not the two joiners (U+200C, U+200D), without which Persian, Hindi and many emoji are spelt wrongly.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


def one_line(text: str, most: int = 0) -> str:
    """`text` on one line, without characters that draw nothing or move others. most: characters it may have,
    an ellipsis in the place of the rest; 0 for any number. Idempotent."""
    line = " ".join(text.split())
    if not (line.isascii() and line.isprintable()):
        line = " ".join("".join(letter for letter in _BLANK.sub("", line) if letter.isprintable()).split())
    if not most or len(line) <= most:
        return line
    return f"{line[: most - 1].rstrip()}…"


def label_line(text: str | None) -> str | None:
    """A page's label as it may stand in a line, None where nothing of it is left."""
    return one_line(text or "", LONGEST_LABEL) or None


def title_line(text: str | None) -> str | None:
    """A document's title likewise."""
    return one_line(text or "", LONGEST_TITLE) or None


def visible(text: str) -> str:
    """`text` with unseen characters written out as ‹U+202E›; tabs stay, and line ends, as LF."""
    return _UNSEEN.sub(
        lambda found: f"‹U+{ord(found[0]):04X}›", text.replace("\r\n", "\n").replace("\r", "\n")
    )
