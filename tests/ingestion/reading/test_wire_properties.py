"""Pages, words and tables as JSON values and back: nothing changes on the way but what is said to."""

from __future__ import annotations

import io
import json
import struct
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from ingestion.reading.wire import (
    page_from,
    page_to,
    tables_from,
    tables_to,
    words_from,
    words_to,
    write_message,
)
from ingestion.records import Cell, Line, Page, Rect, Row, Table, Word

TEXTS = st.text(max_size=20)
# What names something in a table is on one line of characters that are seen.
NAMES = st.from_regex(r"[A-Za-z0-9](?:[A-Za-z0-9 ]{0,10}[A-Za-z0-9])?", fullmatch=True)
OFFSETS = st.integers(-1, 10_000)
SIDES = st.integers(0, 100_000).map(lambda side: side / 100_000)
BOXES = st.builds(Rect, SIDES, SIDES, SIDES, SIDES)
SPANS = st.lists(st.tuples(OFFSETS, OFFSETS), max_size=3).map(tuple)
WORDS = st.lists(
    st.builds(Word, TEXTS, BOXES, st.none() | st.floats(0, 100), OFFSETS, OFFSETS), max_size=3
).map(tuple)
CELLS = st.lists(st.none() | st.builds(Cell, TEXTS, OFFSETS, OFFSETS), max_size=3).map(tuple)
ROWS = st.lists(st.builds(Row, NAMES, CELLS, NAMES, OFFSETS, OFFSETS), max_size=2).map(tuple)
TABLES = st.lists(
    st.builds(Table, NAMES, NAMES, st.lists(NAMES, max_size=4).map(tuple), ROWS, BOXES, st.booleans()),
    max_size=2,
).map(tuple)
LINES = st.lists(st.builds(Line, OFFSETS, OFFSETS, BOXES), max_size=4).map(tuple)
PAGES = st.builds(
    Page,
    st.integers(1, 5_000),
    TEXTS,
    label=st.none() | NAMES,
    label_source=st.sampled_from([None, "printed", "pdf"]),
    method=st.sampled_from(["text", "text-pypdf", "ocr", "text+ocr", "none"]),
    confidence=st.none() | st.floats(0, 100),
    words=WORDS,
    lines=LINES,
    tables=TABLES,
    problem=st.none() | TEXTS,
    running=SPANS,
    kinds=st.lists(st.sampled_from(["contents", "chart"]), max_size=2).map(tuple),
    instructions=SPANS,
)


def through_json(values: Any) -> Any:
    return json.loads(json.dumps(values))


@given(WORDS)
def test_words_come_back_as_they_were(words: tuple[Word, ...]) -> None:
    assert words_from(through_json(words_to(words))) == words


@given(TABLES)
def test_tables_come_back_as_they_were(tables: tuple[Table, ...]) -> None:
    assert tables_from(through_json(tables_to(tables))) == tables


@settings(max_examples=40)
@given(PAGES)
def test_pages_come_back_as_they_were(page: Page) -> None:
    assert page_from(through_json(page_to(page))) == page


@given(st.lists(st.builds(Word, TEXTS, st.builds(Rect, *[st.floats(0, 1)] * 4)), min_size=1, max_size=5))
def test_a_place_moves_by_less_than_a_pixel_and_only_once(words: list[Word]) -> None:
    once = words_from(words_to(words))
    assert words_from(words_to(once)) == once
    for before, after in zip(words, once, strict=True):
        assert (
            abs(before.box.x0 - after.box.x0) <= 0.000_005 and abs(before.box.y1 - after.box.y1) <= 0.000_005
        )


@given(
    st.lists(
        st.dictionaries(
            TEXTS, st.none() | st.integers() | TEXTS | st.lists(st.booleans(), max_size=3), max_size=4
        ),
        max_size=4,
    )
)
def test_messages_are_told_apart_by_their_lengths(messages: list[dict[str, Any]]) -> None:
    pipe = io.BytesIO()
    for message in messages:
        write_message(pipe, message)
    pipe.seek(0)
    read = []
    while header := pipe.read(4):
        read.append(json.loads(pipe.read(struct.unpack(">I", header)[0])))
    assert read == messages
