"""Text quality: what is normalised, how line-end hyphens are joined, which pages are read again."""

import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.ocr.recognition import read_image
from ingestion.ocr.text_quality import (
    better_reading,
    is_unreadable,
    join_line_breaks,
    needs_reading_again,
    normalise,
    normalised_words,
    vocabulary,
)
from ingestion.reading.pdf import PdfFile
from ingestion.records import Page, Rect, Word
from tests.case_rows import case_rows
from tests.ingestion.ocr.test_plausibility import CLEAN, GARBLED, KINDS, PROSE
from tests.pdfs import make_scan

HEADER = (
    "Annual Report of the Ministry of Finance 2025-26\nBudget Paper No. 3\nStatement of revenue and "
    "expenditure\n"
)


def joined(text: str, words: frozenset[str]) -> str:
    return join_line_breaks(text, words)[0]


def test_line_ends_and_ligatures_are_normalised() -> None:
    assert normalise("ﬁscal oﬃce  \r\nnext\rlast\x0c") == "fiscal office\nnext\nlast\n"


def test_a_hyphen_at_a_line_end_follows_the_document() -> None:
    words = vocabulary(["the government spent", "a long-term plan", "near and term"])
    assert joined("the govern\ufffement", words) == "the government"
    assert joined("a long\u0002term plan", words) == "a long-term plan"
    assert joined("the near\u00ad\nterm", words) == "the near-term"
    assert joined("un\ufffefamiliar", words) == "unfamiliar"


@given(st.text())
def test_no_hyphen_mark_is_left(text: str) -> None:
    left = set(joined(text, frozenset()))
    assert not {"\u0002", "\ufffe", "\u00ad"} & left


def test_pages_to_read_again() -> None:
    prose = "The general government deficit narrowed to 2.4 per cent of GDP in the year. " * 4
    assert not needs_reading_again(prose)
    assert needs_reading_again("12")
    garbled = "".join(chr(ord(letter) % 29 + 1) for letter in prose)
    assert needs_reading_again(garbled)
    assert needs_reading_again("(cid:12)(cid:44)(cid:9)" * 30)


PARTS = ["govern", "long", "the", " ", "\n", "\ufffe", "\u00ad\n", "term", "."]


@given(st.lists(st.sampled_from(PARTS)))
def test_offsets_of_words_move_with_the_text(parts: list[str]) -> None:
    text = "".join(parts)
    after, moved = join_line_breaks(text, frozenset({"long-term"}))
    for match in re.finditer(r"[a-z]+", text):
        word, start = match.group(), moved(match.start())
        assert after[start : start + len(word)] == word
    assert moved(len(text)) == len(after)
    assert moved(-1) == -1


@pytest.mark.parametrize("kind", GARBLED)
def test_a_garbled_page_is_read_again_whatever_its_header_says(kind: str) -> None:
    garbled = GARBLED[kind](PROSE)
    assert needs_reading_again(HEADER + garbled)


HALF_GARBLED = "shifted by -29|shifted by 3|permuted|words reversed|bytes swapped".split("|")


@pytest.mark.parametrize("kind", HALF_GARBLED)
def test_half_a_garbled_page_is_read_again_and_a_garbled_line_is_not(kind: str) -> None:
    lines = PROSE.split("\n")
    garbled = GARBLED[kind](PROSE).split("\n")
    half = "\n".join(lines[:5] + garbled[5:])
    last_line = "\n".join([*lines[:-1], garbled[-1]])
    assert needs_reading_again(half)
    assert not needs_reading_again(last_line)


GLYPHS = "\u0010|�|\ue012|(cid:31)|/G21".split("|")


@pytest.mark.parametrize("broken", GLYPHS)
def test_glyphs_without_a_meaning_are_read_again(broken: str) -> None:
    prose = re.sub("[a-z]", broken, PROSE)
    assert needs_reading_again(HEADER + prose)


@pytest.mark.parametrize("name", [*CLEAN, *KINDS])
def test_clean_pages_of_any_language_and_kind_are_not_read_again(name: str) -> None:
    text = (CLEAN | KINDS)[name]
    assert not needs_reading_again(text)


def page(text: str, *, confidence: float | None = None, problem: str | None = None) -> Page:
    words = list[Word]()
    if confidence is not None:
        words = [Word(word, Rect(0, 0, 1, 1), confidence) for word in text.split()]
    method = "text" if confidence is None else "ocr"
    if problem:
        method = "none"
    return Page(1, text, method=method, confidence=confidence, words=tuple(words), problem=problem)


def test_the_text_layer_wins_a_tie() -> None:
    for text in (PROSE, KINDS["figures"], KINDS["formulas"], "Figure 3", ""):
        seen = page(text, confidence=91.0)
        assert better_reading(page(text), seen).method == "text"


def test_the_image_wins_where_it_has_clearly_more() -> None:
    short = page("Budget Paper 7")
    whole = page(PROSE, confidence=91.0)
    little_more = page("Budget Paper No 7", confidence=91.0)
    assert better_reading(short, whole).method == "ocr"
    assert better_reading(short, little_more).method == "text"


UNKNOWN_LETTERS = "Arabic Japanese Russian Thai".split()


@pytest.mark.parametrize("name", UNKNOWN_LETTERS)
def test_letters_that_ocr_does_not_know_stay(name: str) -> None:
    seen = "Syl oly! Ugtia yrgaw alel pte uz prajl @byol Esylail! Golde Gyd gliall BIS, Gilau " * 2
    doubtful, sure = page(seen, confidence=20.0), page(seen, confidence=80.0)
    whole = page(CLEAN[name])
    assert better_reading(whole, doubtful).method == "text"
    assert better_reading(whole, sure).method == "text"
    beginning = page(CLEAN[name][:30])
    assert better_reading(beginning, doubtful).method == "text"


def test_a_problem_loses_to_anything_readable() -> None:
    failed = page("", problem="broken")
    readable = page("12", confidence=50.0)
    assert better_reading(failed, readable).method == "ocr"
    late = page("", problem="timeout")
    assert better_reading(failed, late) is failed
    assert better_reading(page(PROSE), failed).problem is None
    assert better_reading(page(""), failed) == failed
    empty = page("", confidence=0.0)
    assert better_reading(failed, empty) is failed


def test_tesseract_replaces_a_garbled_text_layer_and_not_a_clean_one(tmp_path: Path) -> None:
    text = re.sub(r"(.{60,75}) ", r"\1\n", PROSE.replace("\n", " "))
    scan = PdfFile(make_scan(tmp_path / "page.pdf", [text]))
    seen = read_image(scan.image(1, 200))
    assert not needs_reading_again(seen.text)
    for kind, garble in GARBLED.items():
        garbled = page(garble(text))
        assert better_reading(garbled, seen) is seen, kind
    assert better_reading(page(text), seen).method == "text"


@pytest.mark.long
def test_no_page_of_the_policy_papers_is_garbage(shared: Path) -> None:
    for path in (shared / "policy").glob("*.pdf"):
        file = PdfFile(path)
        for number in range(1, file.count + 1):
            text, _, _ = file.words(number)
            letters = sum(map(str.isalnum, text))
            assert letters < 40 or not needs_reading_again(text), (path.name, number)


def test_fonts_without_a_unicode_map_are_read_again(shared: Path) -> None:
    folder = shared / "bad_pdfs" / "ocrmypdf"
    for name in ("truetype_font_nomapping", "type3_font_nomapping", "cmyk"):
        text, _, _ = PdfFile(folder / f"{name}.pdf").words(1)
        assert needs_reading_again(text)


@pytest.mark.timed
def test_judging_a_long_page_takes_no_more_than_its_length() -> None:
    start = time.process_time()
    layer = page("\ufffdab(cid:1) /G1 #a" * 20_000)
    better_reading(layer, page("x" * 200_000, confidence=90.0))
    assert time.process_time() - start < 3


UNREADABLE = case_rows("""
"7+%-        | yes
\u0019\u0012 | yes
Figure 7     | no
             | no
12           | no
Annex C      | no
""")


@pytest.mark.parametrize(("text", "unreadable"), UNREADABLE)
def test_few_characters_without_a_meaning_are_told(text: str, unreadable: str) -> None:
    assert is_unreadable(text) is (unreadable == "yes")


def test_a_word_that_is_only_ever_broken_is_joined() -> None:
    pages = [
        "the imple\ufffementation of mat\ufffeter and a long\u0002term plan",
        "a long-term view of anti\u00ad\nmatter",
    ]
    words = vocabulary(pages)
    assert not {"imple", "mentation", "anti", "matter"} & words
    assert joined(pages[0], words) == "the implementation of matter and a long-term plan"


def test_a_word_ends_where_the_place_of_its_mark_does() -> None:
    text = "inter\u00ad\nnational"
    after, moved = join_line_breaks(text, frozenset())
    assert after == "international"
    assert after[: moved(6)] == "inter"


CHARACTERS = st.sampled_from("ab1 .-\t\r\n\x0c\x00\ufb01\ufb03\ufffe\ud800\u00e9\u0085\u2028")


@given(st.text() | st.text(CHARACTERS, max_size=60))
def test_words_are_those_of_the_normalised_text_and_known_where_they_stood(text: str) -> None:
    whole, words = normalised_words(text)
    assert whole == normalise(text)
    assert [whole[start:end] for start, end, _ in words] == whole.split()
    starts = [first for _, _, (first, _) in words]
    assert starts == sorted(set(starts))
    for start, end, (first, last) in words:
        assert whole[start:end] == normalise(text[first:last])


@pytest.mark.parametrize("number", ["Page 2 of 4", "12"])
def test_a_page_number_below_a_hyphen_is_no_part_of_the_word(number: str) -> None:
    text = f"as they have in the con\ufffe\n{number}"
    assert join_line_breaks(text, frozenset())[0] == f"as they have in the con-\n{number}"
