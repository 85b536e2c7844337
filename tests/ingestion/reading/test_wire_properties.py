"""Pages, words and tables as JSON values and back: nothing changes on the way but what is said to."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ingestion.reading.wire import page_from, page_to, words_from, words_to
from ingestion.records import Cell, Line, Page, Rect, Row, Table, Word

TEXTS = st.text(max_size=20)
# What names something in a table is on one line of characters that are seen.
NAMES = st.from_regex(r"[A-Za-z0-9](?:[A-Za-z0-9 ]{0,10}[A-Za-z0-9])?", fullmatch=True)
OFFSETS = st.integers(-1, 10_000)
SIDES = st.integers(0, 100_000).map(lambda side: side / 100_000)
BOXES = st.builds(Rect, SIDES, SIDES, SIDES, SIDES)
SPANS = st.lists(st.tuples(OFFSETS, OFFSETS), max_size=3).map(tuple)
LABELS = st.none() | NAMES
SURE = st.none() | st.floats(0, 100)
WORDS = st.lists(st.builds(Word, TEXTS, BOXES, SURE, OFFSETS, OFFSETS), max_size=3).map(tuple)
CELLS = st.lists(st.none() | st.builds(Cell, TEXTS, OFFSETS, OFFSETS), max_size=3).map(tuple)
ROWS = st.lists(st.builds(Row, NAMES, CELLS, NAMES, OFFSETS, OFFSETS), max_size=2).map(tuple)
HEADS = st.lists(NAMES, max_size=4).map(tuple)
TABLE = st.builds(Table, NAMES, NAMES, HEADS, ROWS, BOXES, st.booleans())
TABLES = st.lists(TABLE, max_size=2).map(tuple)
LINES = st.lists(st.builds(Line, OFFSETS, OFFSETS, BOXES), max_size=4).map(tuple)
SOURCES = st.sampled_from([None, "printed", "pdf"])
METHODS = st.sampled_from(["text", "text-pypdf", "ocr", "text+ocr", "none"])
KINDS = st.lists(st.sampled_from(["contents", "chart"]), max_size=2).map(tuple)
PAGES = st.builds(
    Page,
    st.integers(1, 5_000),
    TEXTS,
    label=LABELS,
    label_source=SOURCES,
    method=METHODS,
    confidence=SURE,
    words=WORDS,
    lines=LINES,
    tables=TABLES,
    problem=st.none() | TEXTS,
    running=SPANS,
    kinds=KINDS,
    instructions=SPANS,
)
EXACT_SIDES = st.floats(0, 1)
EXACT_BOXES = st.builds(Rect, EXACT_SIDES, EXACT_SIDES, EXACT_SIDES, EXACT_SIDES)
EXACT_WORDS = st.lists(st.builds(Word, TEXTS, EXACT_BOXES), min_size=1, max_size=5)


def through_json(values: Any) -> Any:
    return json.loads(json.dumps(values))


@given(PAGES)
def test_pages_come_back_as_they_were(page: Page) -> None:
    sent = through_json(page_to(page))
    assert page_from(sent) == page


@given(EXACT_WORDS)
def test_a_place_moves_by_less_than_a_pixel_and_only_once(words: list[Word]) -> None:
    once = words_from(words_to(words))
    assert words_from(words_to(once)) == once
    for before, after in zip(words, once, strict=True):
        across, down = before.box.x0 - after.box.x0, before.box.y1 - after.box.y1
        assert abs(across) <= 0.000_005
        assert abs(down) <= 0.000_005
