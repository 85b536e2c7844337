"""What holds of any page's chunks, labels and short texts."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from ingestion.chunks import CHUNK_OVERLAP, CHUNK_SIZE, chunk_pages, split_page
from ingestion.invisible_characters import label_line, one_line, title_line, visible
from ingestion.pages.page_labels import page_labels, roman_value
from ingestion.records import Page

PIECES = ["deficit ", "ceiling, ", "output. ", "Debt; ", "\n", "\n\n", "x" * 300, "an" * 40 + " "]
LONG = st.lists(st.sampled_from(PIECES), min_size=60, max_size=150).map("".join)
NUMERALS = [("l", 50), ("xl", 40), ("x", 10), ("ix", 9), ("v", 5), ("iv", 4), ("i", 1)]


def roman(number: int) -> str:
    written = "xc" if number >= 90 else ""
    number -= 90 if number >= 90 else 0
    for letters, value in NUMERALS:
        written += letters * (number // value)
        number %= value
    return written


@given(LONG)
def test_chunks_go_on_and_overlap_by_no_more_than_said(text: str) -> None:
    spans = split_page(text)
    for (start, end), (later, last) in pairwise(spans):
        assert start < later
        assert end < last
        assert end - later <= CHUNK_OVERLAP or not text[later:end].strip()
    for start, end in spans:
        assert 0 < end - start <= CHUNK_SIZE


@given(st.text(max_size=CHUNK_SIZE) | st.text(" \n\t", max_size=9))
def test_a_page_that_fits_is_one_chunk(text: str) -> None:
    expected = [(0, len(text))] if text.strip() else []
    assert split_page(text) == expected


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


@given(st.integers(1, 99), st.sampled_from([str.lower, str.upper]))
def test_every_roman_numeral_is_read(number: int, case: object) -> None:
    assert callable(case)
    written = case(roman(number))
    assert roman_value(written) == number


ROMAN_PARTS = "i ii iii iiii iv v ix x xx xxxx xl l xc c".split()


@given(st.lists(st.sampled_from(ROMAN_PARTS), max_size=4).map("".join))
def test_what_is_read_as_roman_is_written_so(text: str) -> None:
    value = roman_value(text)
    assert value is None or roman(value) == text


@given(st.integers(1, 400), st.integers(4, 12))
def test_a_series_of_printed_numbers_labels_its_pages(first: int, count: int) -> None:
    above = f"Chapter on public debt and its anchor\n\n{'Output grew. ' * 30}"
    printed = [str(first + place) for place in range(count)]
    pages = [Page(number, f"{above}\n\n{name}") for number, name in enumerate(printed, 1)]
    labels = page_labels(pages, [None] * count)
    assert labels == [(name, "printed") for name in printed]


@given(st.lists(st.none() | st.sampled_from(["i", "A-1", "7"]), min_size=1, max_size=6))
def test_pages_without_a_number_have_the_files_labels_or_none(embedded: list[str | None]) -> None:
    pages = [Page(number, "Words alone.") for number in range(1, len(embedded) + 1)]
    labels = page_labels(pages, embedded)
    assert len(labels) == len(embedded)
    for label, own in zip(labels, embedded, strict=True):
        assert label in {(own, "pdf"), (None, None)}


@given(st.text(), st.integers(0, 50))
def test_a_line_that_is_one_is_left_as_it_is(text: str, most: int) -> None:
    line = one_line(text, most)
    assert one_line(line, most) == line
    assert not most or len(line) <= most


@given(st.text() | st.text("abc \n", min_size=50, max_size=400))
def test_names_of_pages_and_documents_are_lines_of_their_length(text: str) -> None:
    for name, most in ((label_line(text), 40), (title_line(text), 300)):
        assert name is None or (0 < len(name) <= most and one_line(name) == name)


@given(st.text())
def test_what_is_written_out_is_seen_already(text: str) -> None:
    assert visible(visible(text)) == visible(text)
