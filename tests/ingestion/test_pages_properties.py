"""What holds of any page's chunks, labels and short texts."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from ingestion.chunks import CHUNK_OVERLAP, CHUNK_SIZE, chunk_pages, split_page
from ingestion.records import Page

PIECES = ["deficit ", "ceiling, ", "output. ", "Debt; ", "\n", "\n\n", "x" * 300, "an" * 40 + " "]
LONG = st.lists(st.sampled_from(PIECES), min_size=60, max_size=150).map("".join)


@given(LONG)
def test_chunks_go_on_and_overlap_by_no_more_than_said(text: str) -> None:
    spans = split_page(text)
    for (start, end), (later, last) in pairwise(spans):
        assert start < later
        assert end < last
        assert end - later <= CHUNK_OVERLAP or not text[later:end].strip()
    for start, end in spans:
        assert 0 < end - start <= CHUNK_SIZE


@settings(max_examples=50)
@given(st.lists(LONG, min_size=1, max_size=3))
def test_what_other_pages_hold_cuts_no_page_otherwise(texts: list[str]) -> None:
    pages = [Page(number, text) for number, text in enumerate(texts, 1)]
    chunks = list(chunk_pages(pages, "Title"))
    alone = [(page.number, *span) for page in pages for span in split_page(page.text)]
    assert [(chunk.page, chunk.start, chunk.end) for chunk in chunks] == alone
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    for chunk in chunks:
        page = pages[chunk.page - 1]
        assert chunk.text == page.text[chunk.start : chunk.end]
