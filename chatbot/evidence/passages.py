"""Cuts a page into what can be quoted of it: sentences, list items and table rows, verbatim; knows no
question.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise, takewhile
from operator import itemgetter

from chatbot.evidence.text_blocks import CAPTION, SPEAKER, YEAR_SAID, is_head, read_blocks
from chatbot.records import Hit
from ingestion.language.list_items import LINE_ITEM
from ingestion.language.sentences import is_finished, sentences
from ingestion.records import Row, Table

__all__ = ["LEFT_OUT", "Passage", "orders_of", "read_passages", "verbatim"]

# Stands where the page goes on, and the quotation does not.
LEFT_OUT = "…"
FEWEST_WORDS = 3
LONGEST_ROW = 200
# A question ends the turn of who asks it, or has a word of thanks behind it.
LAST_OF_TURN = 2
# A table's caption, unit line and column heads are at most this many lines above its rows.
MOST_HEAD_LINES = 3
# Rows that a sentence announces and that are quoted with it; more are a table, of which one row is.
MOST_LISTED_ROWS = 12
# Items of a list that are quoted with what announces it.
MOST_ITEMS = 40
# Numbers in a sentence that leads a list in without a colon; more are the heads of a table's columns.
MOST_NUMBERS_IN_LEAD = 1
# Characters of a row of a table beyond which it is several rows, or a paragraph that was taken for one.
LONGEST_WHOLE_ROW = 400
# Words of a label in which a stop is no sentence's: "Yahoo! Inc.".
MOST_LABEL_WORDS = 14
# Rows of the page's tables that a sentence may repeat word for word; what has more is their text without its
# columns. Of fewer characters than these a row is a figure or two, which any sentence can have.
MOST_ROWS_IN_PROSE, SHORTEST_REPEATED = 1, 12


@dataclass(frozen=True, slots=True)
class Passage:
    """A sentence or a table row of a page, verbatim but for line ends. head: the lines above that say what it
    is about. at: its place on the page, counted. table, row: where it is a row of a table that was read as
    one. asks: it is of a speaker's turn that ends in a question. is_item: it is of a list's item. lead: the
    sentence that announces its list or its rows, skips: further ones stand between the two. follows: nothing
    stands between it and the passage before it.
    """

    text: str
    head: str
    is_row: bool
    at: int = 0
    table: Table | None = None
    row: Row | None = None
    asks: bool = False
    is_item: bool = False
    lead: str = ""
    skips: bool = False
    follows: bool = False


def read_passages(body: str, text: str, tables: Sequence[Table]) -> list[Passage]:
    """A page's sentences, list items and table rows in order; rows of its tables, whose heads are known,
    last. body: its text without running heads.
    """
    found: list[Passage] = []
    heading = ""
    table = ""
    group = ""
    pending: list[str] = []
    blocks = list(read_blocks(body))
    for (block, is_row), (following, row_follows) in pairwise([*blocks, ("", False)]):
        if is_row:
            if (
                pending
                and table
                and len(pending) == 1
                and not CAPTION.match(pending[0])
                and not YEAR_SAID.search(pending[0])
            ):
                group = pending[0]  # a line within the table that heads the rows below it
            elif pending:
                table = " ".join(pending[-MOST_HEAD_LINES:])
                group = ""
            elif not table and found and found[-1].text.endswith(":"):
                table = found[-1].text[-LONGEST_ROW:]  # the sentence that announces the rows
            found.append(Passage(block, f"{table} {group}".strip(), True, follows=not pending))
        elif is_head(block) and not (
            _announces(block) and not CAPTION.match(block) and (row_follows or LINE_ITEM.match(following))
        ):
            pending.append(block)
            continue
        else:
            heading = pending[-1] if pending else heading
            table = ""
            item = LINE_ITEM.match(block) is not None
            found.extend(
                Passage(sentence, heading, False, is_item=item, follows=bool(at or not pending))
                for at, sentence in enumerate(_sentences(block))
            )
        pending = []
    rows = [passage for printed_table in tables for passage in _rows_of(printed_table, text)]
    known = {_spaceless(passage.text) for passage in rows}
    printed = "\n".join(["", *known, ""])
    beginning: dict[str, list[str]] = {}
    for row in known:
        if len(row) >= SHORTEST_REPEATED:
            beginning.setdefault(row[:SHORTEST_REPEATED], []).append(row)
    # Left out are the rows read line after line, and the beginning of one whose label takes several lines,
    # which is no sentence.
    left_out = [
        not passage.is_row
        and (
            _runs_through(passage.text, beginning)
            or (not is_finished(passage.text) and _repeats(passage.text, printed))
        )
        for passage in found
    ]
    prose = [
        replace(passage, follows=passage.follows and not before)
        for passage, out, before in zip(found, left_out, [True, *left_out], strict=False)
        if not out
    ]
    listed = _with_their_lists(_with_who_asks(prose))
    return [replace(passage, at=at) for at, passage in enumerate([*_without(printed, listed), *rows])]


def _announces(block: str) -> bool:
    return block.endswith(":")


def _rows_of(table: Table, page_text: str) -> Iterator[Passage]:
    """The rows of a table that have values."""
    announced = table.caption.endswith(":")
    for number, row in enumerate(table.rows):
        if (
            any(row.cells)
            and 0 <= row.start < row.end <= len(page_text)
            and _is_one_row(page_text[row.start : row.end])
        ):
            text = verbatim(row, page_text)
            if table.unit in table.caption:
                unit = ""
            else:
                unit = table.unit
            head = ", ".join(filter(None, (table.caption.strip(" :•"), unit, row.section.strip(" :"))))
            yield Passage(
                text,
                _shortened(" ".join(head.split())),
                True,
                table=table,
                row=row,
                skips=announced and number > 0,
            )


def _is_one_row(text: str) -> bool:
    """Whether the text of a row can be one: none of more than a few words has the end of a sentence and
    the beginning of another in it.
    """
    words = sum(map(str.isalpha, text.split()))
    return len(text) <= LONGEST_WHOLE_ROW and (
        words <= MOST_LABEL_WORDS or len(sentences(" ".join(text.split()))) == 1
    )


def orders_of(hit: Hit) -> str:
    """What on the page addresses its reader as a machine, on one line."""
    return " ".join(" ".join(hit.page_text[start:end].split()) for start, end in hit.instructions)


def verbatim(row: Row, page_text: str) -> str:
    """A row as the page has it, on one line, a long one to the last whole word that has room."""
    return _shortened(" ".join(page_text[row.start : row.end].split()))


def _shortened(line: str) -> str:
    """A line, a long one to the last whole word that has room, with a mark for the rest."""
    if len(line) <= LONGEST_ROW:
        return line
    return f"{line[: LONGEST_ROW + 1].rpartition(' ')[0] or line[:LONGEST_ROW]} {LEFT_OUT}"


def _runs_through(text: str, rows: Mapping[str, Collection[str]]) -> bool:
    """Whether a text is a table's, read line after line: it has several of its rows. rows: without their
    spaces, by how they begin.
    """
    joined = _spaceless(text) if rows else ""
    places = range(len(joined) - SHORTEST_REPEATED + 1)
    return (
        len(
            {
                row
                for at in places
                for row in rows.get(joined[at : at + SHORTEST_REPEATED], ())
                if joined.startswith(row, at)
            }
        )
        > MOST_ROWS_IN_PROSE
    )


def _without(printed: str, found: Iterable[Passage]) -> Iterator[Passage]:
    """The passages but for lines that are rows of the tables; what stands behind such a line follows
    nothing, unless the passage before has the line.
    """
    last, parted = "", False
    for passage in found:
        if passage.is_row and _repeats(passage.text, printed):
            parted = parted or passage.text not in last
        else:
            yield replace(passage, follows=passage.follows and not parted)
            last, parted = passage.text, False


def _repeats(line: str, printed: str) -> bool:
    """Whether a line is a row of the tables, or one of its lines: its label may take several. printed: the
    rows without their spaces, each between line ends.
    """
    row = _spaceless(line)
    return f"\n{row}\n" in printed or (len(row) >= SHORTEST_REPEATED and row in printed)


def _spaceless(text: str) -> str:
    return "".join(text.split())


def _with_who_asks(found: Sequence[Passage]) -> list[Passage]:
    """The passages of a transcript with those marked that lead up to a question; others as they are."""
    starts = [at for at, passage in enumerate(found) if SPEAKER.match(passage.text)]
    if not starts:
        return list(found)
    marked: list[Passage] = []
    for first, last in pairwise([0, *starts, len(found)]):
        turn = found[first:last]
        asks = any(passage.text.endswith("?") for passage in turn[-LAST_OF_TURN:])
        marked += [replace(passage, asks=asks) for passage in turn]
    return marked


def _with_their_lists(found: Sequence[Passage]) -> Iterator[Passage]:
    """Sentences that announce a list or a short table, taken together with the items or rows that follow, and
    these by themselves, each with its lead; an item announces nothing itself."""
    taken, lead = 0, ""
    outer = ("", "")  # what announces the list around, and the mark of its items
    for at, passage in enumerate(found):
        if at < taken:
            yield replace(passage, lead=lead, skips=found[at - 1].text != lead)
            continue
        kind = _kind_of_item(passage.text)
        if not passage.is_item:
            outer = "", ""
        elif kind == outer[1]:
            passage = replace(passage, lead=outer[0], skips=True)
        items = _items_of(passage, list(islice(found, at + 1, at + 2 + MOST_ITEMS)))
        taken = at + 1 + len(items)
        lead = passage.text
        if items and items[0].is_item and not kind:
            outer = lead, _kind_of_item(items[0].text)
        yield (
            replace(passage, text="\n".join([passage.text, *(item.text for item in items)]))
            if items
            else passage
        )


def _items_of(lead: Passage, following: Sequence[Passage]) -> list[Passage]:
    """The rows or items that a sentence announces, by its colon or by not being finished before its list;
    [] for a sentence that announces none.
    """
    if lead.is_row or not following or not following[0].follows:
        return []
    if following[0].is_row:
        if _announces(lead.text):
            rows = list(takewhile(_is_labelled, following[: MOST_LISTED_ROWS + 1]))
        else:
            rows = []
        if len(rows) <= MOST_LISTED_ROWS:
            return rows
        return []
    nested = _is_first(following[0].text) and _announces(lead.text)
    kind = _kind_of_item(following[0].text, roman=nested)
    if (
        not kind
        or (kind == _kind_of_item(lead.text) and not nested)
        or not (_announces(lead.text) or _leads_on(lead.text))
    ):
        return []
    # An item may have several sentences; one that announces a list of its own ends this one.
    kinds = ((one, _kind_of_item(one.text, roman=nested)) for one in following[:MOST_ITEMS])
    belongs = (
        one.is_item and one.follows and said in ("", kind) and not _announces(one.text) for one, said in kinds
    )
    return [item for item, _ in takewhile(itemgetter(1), zip(following, belongs, strict=False))]


def _leads_on(text: str) -> bool:
    """Whether a text without a colon leads a list in: it is unfinished, and no heads of columns."""
    return (
        not is_finished(text, also=",;")
        and sum(word[0].isdigit() for word in text.split()) <= MOST_NUMBERS_IN_LEAD
    )


def _is_first(text: str) -> bool:
    """Whether a text is the first item of a list: "(i) ", "a) ", "1. "."""
    mark = LINE_ITEM.match(text)
    return mark is not None and mark[0].strip(" ().") in ("i", "a", "1")


def _kind_of_item(text: str, *, roman: bool = False) -> str:
    """The mark at an item's beginning, figures and letters alike for those of one list: "a" for "(b)", "1"
    for "3."; "" for none. roman: numerals such as "(ii)" are of a kind of their own."""
    mark = LINE_ITEM.match(text)
    if not mark:
        return ""
    numeral = re.sub(r"[ivx]+(?=[.)])", "i" if roman else "a", mark[0].strip())
    return re.sub(r"[a-hj-z]+|i(?=[a-z])", "a", re.sub(r"[0-9]+", "1", numeral))


def _is_labelled(passage: Passage) -> bool:
    """A row that has a word and stands next to what is before it; a figure alone is a mark of a chart's
    axis.
    """
    return passage.is_row and passage.follows and any(map(str.isalpha, passage.text))


def _sentences(block: str) -> Iterator[str]:
    """The sentences of a block; one of a word or two, such as a glossary's term, goes with the next."""
    short = ""
    for sentence in sentences(block, longest=len(block) or 1):
        said = f"{short} {sentence}".strip()
        if len(said.split()) <= FEWEST_WORDS:
            short = said
        else:
            short = ""
        if not short:
            yield said
    if short:
        yield short
