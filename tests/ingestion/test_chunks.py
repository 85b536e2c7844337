"""Chunks: exact spans, full cover, no page crossed, context beside them."""

from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from ingestion.chunks import CHUNK_SIZE, chunk_pages, split_page
from ingestion.records import Page, Rect, Row, Table

TEXTS = st.one_of(
    st.text(max_size=400),
    st.lists(
        st.sampled_from(
            [
                "The deficit ceiling is 3.0 per cent of GDP. ",
                "\n",
                "\n\n",
                " ",
                "1,577 ",
                "aaaa",
                "\t",
                "“",
                "。",
            ]
        ),
        max_size=400,
    ).map("".join),
)


@given(TEXTS)
@example("same line\n" * 500)
@example("x" * 3000)
@example("77 2.72 0.05 1.8" + "\n" * 40 + "(1) As of end of period " * 60)
def test_spans_are_exact_and_cover_every_character(text: str) -> None:
    spans = split_page(text)
    covered = {position for start, end in spans for position in range(start, end)}
    assert all(0 <= start < end <= len(text) and end - start <= CHUNK_SIZE for start, end in spans)
    assert all(letter.isspace() or position in covered for position, letter in enumerate(text))
    assert spans == sorted(spans)


def test_chunks_stay_within_their_page_and_count_on() -> None:
    pages = [Page(1, "First page. " * 150), Page(2, ""), Page(3, "Third page.")]
    chunks = list(chunk_pages(pages, "Budget"))
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    assert {chunk.page for chunk in chunks} == {1, 3}
    assert all(pages[chunk.page - 1].text[chunk.start : chunk.end] == chunk.text for chunk in chunks)


def test_overlap_joins_neighbouring_chunks() -> None:
    text = " ".join(f"word{number}" for number in range(600))
    spans = split_page(text)
    assert len(spans) > 3
    assert all(0 < end - start_of_next <= 200 for (_, end), (start_of_next, _) in pairwise(spans))


def test_context_names_document_and_section_and_carries_a_broken_sentence() -> None:
    pages = [
        Page(1, "3.2 Debt Management Strategy\nThe government will keep\nthe ratio below the ceiling unless"),
        Page(2, "an escape clause applies. More text follows here."),
    ]
    first, second = chunk_pages(pages, "Fiscal Statement")
    assert first.context == "Fiscal Statement | 3.2 Debt Management Strategy"
    assert "will keep the ratio below the ceiling unless" in second.context


def test_running_headers_are_no_context() -> None:
    pages = [
        Page(
            n,
            (
                f"BUDGET BOOK 2025\nPage {n} of 9\nThe reserve is described on this page in prose that goes "
                f"on for a while."
            ),
        )
        for n in range(1, 6)
    ]
    assert {chunk.context for chunk in chunk_pages(pages, "Book")} == {"Book"}


def test_the_caption_and_heads_of_a_table_are_said_with_a_chunk_that_lacks_them() -> None:
    rows = "\n".join(f"Motorcycles of class {number:03d} 50 40" for number in range(60))
    first = "Table 3: Customs duty\nGoods From To\n" + rows
    tables = []
    for text, continued in ((first, False), (rows, True)):
        cells = [
            Row(line, (), "", text.index(line), text.index(line) + len(line)) for line in rows.split("\n")
        ]
        tables.append(
            Table("Table 3: Customs duty", "", ("From", "To"), tuple(cells), Rect(0, 0, 1, 1), continued)
        )
    chunks = list(
        chunk_pages([Page(1, first, tables=(tables[0],)), Page(2, rows, tables=(tables[1],))], "Budget")
    )
    above = [chunk.context.count("Table 3: Customs duty: From, To") for chunk in chunks]
    assert above[0] == 0 and set(above[1:]) == {1} and len({chunk.page for chunk in chunks}) == 2
    assert all(chunk.text in (first if chunk.page == 1 else rows) for chunk in chunks)
