"""Joins sentences that go on over a page break, past running lines and notes, with a mark at the break.

A page's body then has the whole sentence. What stands behind AHEAD, or before BEHIND, is on the page after
or before it. Neither sign is a character of any text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from chatbot.evidence.footnotes import MOST_LINES as MOST_LINES_OF_NOTE
from chatbot.evidence.footnotes import begins_note, notes_begin
from chatbot.evidence.text_blocks import CAPTION, PARAGRAPH_NUMBER, goes_on, is_title, read_blocks
from ingestion.language.list_items import LINE_ITEM
from ingestion.language.months import DATED_MONTH
from ingestion.language.sentences import is_finished, sentences
from ingestion.pages.margins import line_shape

__all__ = ["AHEAD", "BEHIND", "BREAK", "body_with_breaks"]

AHEAD, BEHIND = "\ufdd0", "\ufdd1"
BREAK = re.compile(rf"\s*([{AHEAD}{BEHIND}])\s*")
# Lines at either edge that two pages may share, and lines in which a sentence ends or begins.
MOST_SHARED, MOST_LINES = 4, 12
# Words of a sentence that goes on whatever its last line fills, if with a small letter; with a capital it
# fills this share of the measure too. It is no longer than so many of the lines before it; labels of a chart
# that are on one line are.
FEWEST_WORDS, FULL, MOST_OF_USUAL = 6, 0.85, 2
_DAY = re.compile(rf"\d{{1,2}} {DATED_MONTH}\b", re.I)


def body_with_breaks(body: str, before: str, after: str) -> str:
    """A page's body with all of its first and its last sentence.

    before, after: the bodies of the pages beside it, "" for none.
    """
    lines = body.split("\n")
    if gap := _gap(lines, after.split("\n")):
        last, _, _, head = gap
        lines[last] = f"{lines[last]} {AHEAD} {head}"
    if gap := _gap(before.split("\n"), body.split("\n")):
        _, first, tail, _ = gap
        lines[first] = f"{tail} {BEHIND} {lines[first].lstrip()}"
    return "\n".join(lines)


def _gap(before: Sequence[str], after: Sequence[str]) -> tuple[int, int, str, str] | None:
    """Where a sentence goes over from one page to the next, None where none does.

    (its last line on the first page, its first on the second, what stands of it on the first, on the second).
    """
    edges = _edges(before) & _edges(after)
    above = _within([at for at, line in enumerate(before) if line.strip()][::-1], before, edges)[::-1]
    below = _within([at for at, line in enumerate(after) if line.strip()], after, edges)
    notes = notes_begin(before)
    above = [at for at in above if at < notes]
    if not above or not below:
        return None
    if after[below[0]][0].islower():
        above = _without_note(above, before)
    if is_finished(before[above[-1]], also=":;") or _begins_note(after[below[0]]):
        return None
    first = [before[at].strip() for at in above[-MOST_LINES:]]
    second = [after[at].strip() for at in below[:MOST_LINES]]
    *_, (tail, is_row) = ("", True), *read_blocks("\n".join(first))
    head, is_row_too = next(read_blocks("\n".join(second)), ("", True))
    if is_row or is_row_too or not tail or not head:
        return None
    tail, head = sentences(tail)[-1], sentences(head)[0]
    if not _goes_over(tail, head, first):
        return None
    return above[-1], below[0], tail, head


def _within(places: Sequence[int], lines: Sequence[str], edges: Collection[str]) -> Sequence[int]:
    """The places of a page's lines from one side, without those that run and the short ones before them."""
    count = 0
    for at, place in enumerate(places[:MOST_SHARED], 1):
        if line_shape(lines[place]) in edges:
            count = at
        elif not is_title(lines[place]):
            break
    return places[count:]


def _without_note(places: Sequence[int], lines: Sequence[str]) -> Sequence[int]:
    """The places without those of a note at the foot that no mark refers to, where a sentence breaks off."""
    for count in range(1, min(MOST_LINES_OF_NOTE + 1, len(places))):
        if begins_note(lines[places[-count]]) and goes_on(lines[places[-count - 1]]):
            return places[:-count]
    return places


def _begins_note(line: str) -> bool:
    return bool(begins_note(line)) and not _DAY.match(line.strip())


def _edges(lines: Sequence[str]) -> set[str]:
    """The shapes of the lines at the edges of a page, where the next one has them too if they run."""
    shapes = [line_shape(line) for line in lines if line.strip()]
    return {*shapes[:MOST_SHARED], *shapes[-MOST_SHARED:]}


def _goes_over(tail: str, head: str, lines: Sequence[str]) -> bool:
    """Whether a sentence that one page leaves open goes on with what the next one begins with.

    lines: the last ones of the first page.
    """
    if is_title(tail) and not goes_on(tail):
        return False
    lengths = [*map(len, lines)]
    is_text = lengths[-1] <= MOST_OF_USUAL * max(lengths[-3:-1], default=0)
    is_full = is_text and FULL * max(lengths) <= lengths[-1]
    is_long = len(tail.split()) >= FEWEST_WORDS
    if head[0].islower() or head[0] in ",;)":
        return goes_on(tail) or (is_text and is_long) or (is_full and len(tail.split()) > 1)
    if (
        LINE_ITEM.match(head)
        or CAPTION.match(head)
        or PARAGRAPH_NUMBER.match(head)
        or is_title(head)
        or head.isupper()
    ):
        return False
    if goes_on(tail):
        return True
    if not head[0].isalnum() or head.split()[0].isupper():
        return False  # a note of the next page
    return is_full and is_long and is_finished(head)
