"""Chunks: exact spans, full cover, no page crossed, context beside them."""

from itertools import pairwise

from hypothesis import example, given, settings
from hypothesis import strategies as st

from ingestion.chunks import CHUNK_OVERLAP, CHUNK_SIZE, chunk_pages, split_page
from ingestion.records import Line, Page, Rect, Row, Table

PIECES = "The deficit ceiling is 3.0 per cent of GDP. |\n|\n\n| |1,577 |aaaa|\t|“|。".split("|")
PIECED = st.lists(st.sampled_from(PIECES), max_size=400).map("".join)
LONG_PIECES = ["deficit ", "ceiling, ", "output. ", "Debt; ", "\n", "\n\n", "x" * 300, "an" * 40 + " "]
LONG = st.lists(st.sampled_from(LONG_PIECES), min_size=60, max_size=150).map("".join)
TEXTS = st.text(max_size=400) | PIECED


@given(TEXTS)
@example("same line\n" * 500)
@example("x" * 3000)
@example("77 2.72 0.05 1.8" + "\n" * 40 + "(1) As of end of period " * 60)
def test_spans_are_exact_and_cover_every_character(text: str) -> None:
    spans = split_page(text)
    covered = set[int]()
    for start, end in spans:
        assert 0 <= start < end <= len(text)
        assert end - start <= CHUNK_SIZE
        covered.update(range(start, end))
    for position, letter in enumerate(text):
        assert letter.isspace() or position in covered
    assert spans == sorted(spans)


@given(LONG)
def test_chunks_go_on_and_overlap_by_no_more_than_said(text: str) -> None:
    for (start, end), (later, last) in pairwise(split_page(text)):
        assert start < later
        assert end < last
        assert end - later <= CHUNK_OVERLAP or not text[later:end].strip()


@settings(max_examples=50)
@given(st.lists(LONG, min_size=1, max_size=3))
def test_what_other_pages_hold_cuts_no_page_otherwise(texts: list[str]) -> None:
    pages = [Page(number, text) for number, text in enumerate(texts, 1)]
    chunks = list(chunk_pages(pages, "Title"))
    alone = [(page.number, *span) for page in pages for span in split_page(page.text)]
    assert [(chunk.page, chunk.start, chunk.end) for chunk in chunks] == alone
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    for chunk in chunks:
        assert chunk.text == pages[chunk.page - 1].text[chunk.start : chunk.end]


def test_overlap_joins_neighbouring_chunks() -> None:
    text = " ".join(f"word{number}" for number in range(600))
    spans = split_page(text)
    assert len(spans) > 3
    for (_, end), (start_of_next, _) in pairwise(spans):
        assert 0 < end - start_of_next <= 200


def test_context_names_document_and_section_and_carries_a_broken_sentence() -> None:
    beginning = "3.2 Debt Management Strategy\nThe government will keep\nthe ratio below the ceiling unless"
    rest = "an escape clause applies. More text follows here."
    first, second = chunk_pages([Page(1, beginning), Page(2, rest)], "Fiscal Statement")
    assert first.context == "Fiscal Statement | 3.2 Debt Management Strategy"
    assert "will keep the ratio below the ceiling unless" in second.context


def test_running_headers_are_no_context() -> None:
    prose = "The reserve is described on this page in prose that goes on for a while."
    pages = []
    for number in range(1, 6):
        text, lines = "", []
        for top, line in ((0.04, "BUDGET BOOK 2025"), (0.06, f"Page {number} of 9"), (0.5, prose)):
            lines.append(Line(len(text), len(text) + len(line), Rect(0.1, top, 0.9, top + 0.012)))
            text += f"{line}\n"
        pages.append(Page(number, text, label=str(number), lines=tuple(lines)))
    contexts = {chunk.context for chunk in chunk_pages(pages, "Book")}
    assert contexts == {"Book"}


def test_the_caption_and_heads_of_a_table_are_said_with_a_chunk_that_lacks_them() -> None:
    caption, heads = "Table 3: Customs duty", ("From", "To")
    lines = [f"Motorcycles of class {number:03d} 50 40" for number in range(60)]
    rows = "\n".join(lines)
    first = f"{caption}\nGoods From To\n{rows}"
    pages = []
    for number, text in enumerate((first, rows), 1):
        placed = []
        for line in lines:
            start = text.index(line)
            placed.append(Row(line, (), "", start, start + len(line)))
        table = Table(caption, "", heads, tuple(placed), Rect(0, 0, 1, 1), continued=number > 1)
        pages.append(Page(number, text, tables=(table,)))
    chunks = list(chunk_pages(pages, "Budget"))
    said = [chunk.context.count("Table 3: Customs duty: From, To") for chunk in chunks]
    assert said[0] == 0
    assert set(said[1:]) == {1}
    assert len({chunk.page for chunk in chunks}) == 2
    for chunk in chunks:
        assert chunk.text in pages[chunk.page - 1].text
