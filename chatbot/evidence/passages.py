"""Splits a page into what can be quoted of it: sentences, list items and table rows, verbatim."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice, pairwise, takewhile

from chatbot.evidence.footnotes import begins_note, marks_in, notes_in, referred_to
from chatbot.evidence.text_blocks import CAPTION, FIGURE_SAID, SPEAKER, YEAR_SAID, is_head, read_blocks
from chatbot.records import Hit
from ingestion.language.list_items import LINE_ITEM
from ingestion.language.sentences import is_finished, sentences
from ingestion.records import Row, Table

__all__ = ["LEFT_OUT", "Passage", "orders_of", "read_passages", "verbatim"]

# Marks where a quotation leaves out what the page goes on with.
LEFT_OUT = "…"
FEWEST_WORDS = 3
LONGEST_ROW = 200
# A question ends its speaker's turn, or has only a word of thanks after it.
LAST_OF_TURN = 2
# A table's caption, unit line and column heads are at most this many lines above its rows.
MOST_HEAD_LINES = 3
# Rows that are quoted with the sentence that announces them. More are a table, of which one row is quoted.
MOST_LISTED_ROWS = 12
# Items of a list that are quoted with the sentence that announces it.
MOST_ITEMS = 40
# The end of an item that goes on in the next.
GOES_ON_IN_NEXT = re.compile(r"[;,](?:\s(?:and|or))?$")
# Numbers in a sentence that announces a list without a colon. More are the heads of a table's columns.
MOST_NUMBERS_IN_LEAD = 1
# Characters of a table row. A longer one is several rows, or a paragraph that was taken for a row.
LONGEST_WHOLE_ROW = 400
# A line of a form: "Lender: Nordvik Bank".
LABELLED = re.compile(r"[^\W\d][^:]*:\s+\S")
# Words of a label, in which a full stop does not end a sentence: "Yahoo! Inc.".
MOST_LABEL_WORDS = 14
# MOST_ROWS_IN_PROSE: rows of the page's tables that a sentence may repeat word for word. A text with more is
# the table's own, without its columns. SHORTEST_REPEATED: characters of a row that counts for this. A shorter
# one is a figure or two, which any sentence can have.
MOST_ROWS_IN_PROSE, SHORTEST_REPEATED = 1, 12


@dataclass(frozen=True, slots=True)
class Passage:
    """A sentence or a table row of a page, verbatim except for line ends.

    text: the passage.
    head: the lines above that say what it is about.
    is_row: whether it is a row.
    at: its position among the page's passages.
    table, row: set if it is a row of a table that was read as one.
    asks: whether it is of a speaker's turn that ends in a question.
    is_item: whether it is of a list's item.
    lead: the sentence that announces its list or its rows.
    skips: whether there are other items or rows between it and its lead.
    follows: whether nothing is between it and the passage before it.
    notes: the footnotes to which it refers, or the heads of its table.
    is_note: whether it is one of these.
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
    notes: tuple[str, ...] = ()
    is_note: bool = False


def read_passages(body: str, text: str, tables: Sequence[Table]) -> list[Passage]:
    """A page's sentences, list items and table rows in order.

    The rows of its tables, whose heads are known, come last. body: its text without running heads.
    """
    rows = [passage for table in tables for passage in _rows_of(table, text)]
    known = {_spaceless(passage.text) for passage in rows}
    printed = "\n".join(["", *known, ""])
    prose = _without_tables(_blocks_as_passages(body), known, printed)
    found = _with_notes([*_without(printed, _with_their_lists(_with_who_asks(prose))), *rows], body)
    return [replace(passage, at=at) for at, passage in enumerate(found)]


def _with_notes(found: Sequence[Passage], body: str) -> Sequence[Passage]:
    """The passages, each with the footnotes to which it refers."""
    notes = notes_in([passage.text for passage in found if not passage.is_row], body)
    if not notes:
        return found
    whole = []
    for passage in found:
        own = referred_to(passage.text, notes)
        if passage.table:
            own += referred_to(" ".join([passage.table.caption, *passage.table.heads]), notes)
        whole.append(replace(passage, notes=tuple(own), is_note=passage.text in notes.values()))
    return whole


def _blocks_as_passages(body: str) -> list[Passage]:
    """The sentences, items and rows of a text, each with the lines above that say what it is about."""
    found: list[Passage] = []
    heading = ""
    table = ""
    group = ""
    pending: list[str] = []
    blocks = list(read_blocks(body))
    marks = marks_in(body)
    for (block, is_row), (following, row_follows) in pairwise([*blocks, ("", False)]):
        is_note = begins_note(block) in marks
        if not (is_row or is_note or not is_head(block) or _leads_list(block, following, row_follows)):
            pending.append(block)
            continue
        pending = _without_form(pending, heading, found)
        if is_row:
            if table and _heads_group(pending):
                group = pending[0]
            elif pending:
                table = " ".join(pending[-MOST_HEAD_LINES:])
                group = ""
            elif not table and found and _announces(found[-1].text):
                table = found[-1].text[-LONGEST_ROW:]  # the sentence that announces the rows
            found.append(Passage(block, f"{table} {group}".strip(), True, follows=not pending))
        else:
            heading = pending[-1] if pending else heading
            table = ""
            item = LINE_ITEM.match(block) is not None
            of_block = [block] if is_note else _sentences(block)
            for at, sentence in enumerate(of_block):
                follows = at > 0 or not pending
                found.append(Passage(sentence, heading, False, is_item=item, follows=follows))
        pending = []
    _without_form(pending, heading, found)
    return found


def _without_form(lines: Sequence[str], heading: str, found: list[Passage]) -> list[str]:
    """Those of some lines that head something. Two or more in a row that state something, as a form or an
    unruled table does, go to `found`.
    """
    heads: list[str] = []
    for states, group in groupby(lines, _states):
        alike = list(group)
        if states and len(alike) > 1:
            head = heads[-1] if heads else heading
            found += [Passage(line, head, False, follows=at > 0) for at, line in enumerate(alike)]
        else:
            heads += alike
    return heads


def _states(line: str) -> bool:
    """Whether a line that could be a heading gives a label's value, or a figure."""
    if CAPTION.match(line):
        return False
    return bool(LABELLED.match(line) or FIGURE_SAID.search(YEAR_SAID.sub(" ", line)))


def _heads_group(pending: Sequence[str]) -> bool:
    """Whether the lines above a row are one line within the table that heads the rows below it."""
    return len(pending) == 1 and not CAPTION.match(pending[0]) and not YEAR_SAID.search(pending[0])


def _leads_list(block: str, following: str, row_follows: bool) -> bool:
    """Whether a block that could be a heading announces the rows or the list after it."""
    if not _announces(block) or CAPTION.match(block):
        return False
    return row_follows or LINE_ITEM.match(following) is not None


def _without_tables(found: Sequence[Passage], known: Collection[str], printed: str) -> list[Passage]:
    """The passages without tables that were read line after line.

    Left out too is the beginning of a row whose label takes several lines, because it is no sentence. known,
    printed: the rows of the tables, without their spaces.
    """
    beginning: dict[str, list[str]] = {}
    for row in known:
        if len(row) >= SHORTEST_REPEATED:
            beginning.setdefault(row[:SHORTEST_REPEATED], []).append(row)
    prose = []
    left_out = True
    for passage in found:
        follows = passage.follows and not left_out
        left_out = not passage.is_row and _is_of_table(passage.text, beginning, printed)
        if not left_out:
            prose.append(replace(passage, follows=follows))
    return prose


def _is_of_table(text: str, beginning: Mapping[str, Collection[str]], printed: str) -> bool:
    """Whether a text is a table's, or the beginning of one of its rows."""
    if _runs_through(text, beginning):
        return True
    return not is_finished(text) and _repeats(text, printed)


def _announces(block: str) -> bool:
    return block.endswith(":")


def _rows_of(table: Table, page_text: str) -> Iterator[Passage]:
    """The rows of a table that have values."""
    announced = table.caption.endswith(":")
    caption = table.caption.strip(" :•")
    unit = "" if table.unit in table.caption else table.unit
    for number, row in enumerate(table.rows):
        if not any(row.cells) or not 0 <= row.start < row.end <= len(page_text):
            continue
        if not _is_one_row(page_text[row.start : row.end]):
            continue
        heads = ", ".join(filter(None, (caption, unit, row.section.strip(" :"))))
        yield Passage(
            verbatim(row, page_text),
            _shortened(" ".join(heads.split())),
            True,
            table=table,
            row=row,
            skips=announced and number > 0,
        )


def _is_one_row(text: str) -> bool:
    """Whether the text of a row can be one row.

    A text of more than a few words cannot if it has the end of a sentence and the beginning of another.
    """
    if len(text) > LONGEST_WHOLE_ROW:
        return False
    words = text.split()
    return sum(map(str.isalpha, words)) <= MOST_LABEL_WORDS or len(sentences(" ".join(words))) == 1


def orders_of(hit: Hit) -> str:
    """The text on the page that addresses its reader as a machine, on one line."""
    return " ".join(" ".join(hit.page_text[start:end].split()) for start, end in hit.instructions)


def verbatim(row: Row, page_text: str) -> str:
    """A row as the page has it, on one line; a long one is cut after the last whole word that has room."""
    return _shortened(" ".join(page_text[row.start : row.end].split()))


def _shortened(line: str) -> str:
    """A line; a long one is cut after the last whole word that has room, with a mark for the rest."""
    if len(line) <= LONGEST_ROW:
        return line
    return f"{line[: LONGEST_ROW + 1].rpartition(' ')[0] or line[:LONGEST_ROW]} {LEFT_OUT}"


def _runs_through(text: str, rows: Mapping[str, Collection[str]]) -> bool:
    """Whether a text is a table that was read line after line, because it holds several of its rows.

    rows: without their spaces, by their beginnings.
    """
    if not rows:
        return False
    joined = _spaceless(text)
    held = set()
    for at in range(len(joined) - SHORTEST_REPEATED + 1):
        for row in rows.get(joined[at : at + SHORTEST_REPEATED], ()):
            if joined.startswith(row, at):
                held.add(row)
    return len(held) > MOST_ROWS_IN_PROSE


def _without(printed: str, found: Iterable[Passage]) -> Iterator[Passage]:
    """The passages without lines that are rows of the tables.

    What is after such a line follows nothing, unless the passage before it has the line.
    """
    last = ""
    parted = False
    for passage in found:
        if passage.is_row and _repeats(passage.text, printed):
            parted = parted or passage.text not in last
        else:
            yield replace(passage, follows=passage.follows and not parted)
            last = passage.text
            parted = False


def _repeats(line: str, printed: str) -> bool:
    """Whether a line is a row of the tables, or one of its lines, because its label may take several.

    printed: the rows without their spaces, each between line ends.
    """
    row = _spaceless(line)
    return f"\n{row}\n" in printed or (len(row) >= SHORTEST_REPEATED and row in printed)


def _spaceless(text: str) -> str:
    return "".join(text.split())


def _with_who_asks(found: Sequence[Passage]) -> list[Passage]:
    """The passages; those of a transcript are marked if they lead up to a question."""
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
    """The passages, with those that announce a list or a short table joined to its items or rows.

    The items and rows also come by themselves, each with its lead; an item announces nothing itself.
    """
    taken = 0
    lead = ""
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
        if items:
            passage = replace(passage, text="\n".join([lead, *(item.text for item in items)]))
        yield passage


def _items_of(lead: Passage, following: Sequence[Passage]) -> list[Passage]:
    """The rows or items that a sentence announces; [] if it announces none.

    It announces them by its colon, or by being unfinished before its list.
    """
    if lead.is_row or not following or not following[0].follows:
        return []
    first = following[0]
    announces = _announces(lead.text)
    if first.is_row:
        if not announces:
            return []
        rows = list(takewhile(_is_labelled, following[: MOST_LISTED_ROWS + 1]))
        return rows if len(rows) <= MOST_LISTED_ROWS else []
    nested = announces and _is_first(first.text)
    kind = _kind_of_item(first.text, roman=nested)
    if not kind or (kind == _kind_of_item(lead.text) and not nested):
        return []
    if not announces and not _leads_on(lead.text):
        return []
    items: list[Passage] = []
    for passage in following[:MOST_ITEMS]:
        # An item may have several sentences; one that announces a list of its own ends this one.
        if not passage.is_item or not passage.follows or _announces(passage.text):
            break
        if _kind_of_item(passage.text, roman=nested) not in ("", kind):
            break
        if _is_complete(items):
            break
        items.append(passage)
    return items


def _is_complete(items: Sequence[Passage]) -> bool:
    """Whether a list that is one sentence has ended: its items end in ";" or ",", its last in a full stop."""
    return len(items) >= 2 and bool(GOES_ON_IN_NEXT.search(items[-2].text)) and is_finished(items[-1].text)


def _leads_on(text: str) -> bool:
    """Whether a text without a colon announces a list: it is unfinished, and no heads of columns."""
    return (
        not is_finished(text, also=",;")
        and sum(word[0].isdigit() for word in text.split()) <= MOST_NUMBERS_IN_LEAD
    )


def _is_first(text: str) -> bool:
    """Whether a text is the first item of a list: "(i) ", "a) ", "1. "."""
    mark = LINE_ITEM.match(text)
    return mark is not None and mark[0].strip(" ().") in ("i", "a", "1")


def _kind_of_item(text: str, *, roman: bool = False) -> str:
    """The mark at an item's beginning, the same for all items of a list: "a" for "(b)", "1" for "3.".

    "" for none. roman: whether numerals such as "(ii)" are of a kind of their own.
    """
    mark = LINE_ITEM.match(text)
    if not mark:
        return ""
    numeral = re.sub(r"[ivx]+(?=[.)])", "i" if roman else "a", mark[0].strip())
    return re.sub(r"[a-hj-z]+|i(?=[a-z])", "a", re.sub(r"[0-9]+", "1", numeral))


def _is_labelled(passage: Passage) -> bool:
    """Whether a row has a word and is next to what is before it.

    A figure alone is a mark of a chart's axis.
    """
    return passage.is_row and passage.follows and any(map(str.isalpha, passage.text))


def _sentences(block: str) -> Iterator[str]:
    """The sentences of a block.

    One of a word or two, such as a glossary's term, is joined to the next.
    """
    short = ""
    for sentence in sentences(block, longest=len(block) or 1):
        joined = f"{short} {sentence}".strip()
        if len(joined.split()) <= FEWEST_WORDS:
            short = joined
        else:
            short = ""
            yield joined
    if short:
        yield short
