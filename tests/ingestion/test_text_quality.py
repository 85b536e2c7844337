"""Text quality: what is normalised, how line-end hyphens are joined, which pages are read again."""

import re
import time

from hypothesis import given
from hypothesis import strategies as st

from ingestion.text_quality import LIGATURES, is_contents, join_line_breaks, needs_reading_again, normalise, normalised_words, vocabulary


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
    assert not {"\u0002", "\ufffe", "\u00ad"} & set(joined(text, frozenset()))


def test_pages_to_read_again() -> None:
    prose = "The general government deficit narrowed to 2.4 per cent of GDP in the year. " * 4
    assert not needs_reading_again(prose)
    assert needs_reading_again("12")
    assert needs_reading_again("".join(chr(ord(letter) % 29 + 1) for letter in prose))
    assert needs_reading_again("(cid:12)(cid:44)(cid:9)" * 30)


def test_joining_takes_no_more_than_the_texts_length() -> None:
    text = "x" * 200_000 + "\ufffe" + "y" * 200_000 + "\ufffe" * 50_000
    start = time.perf_counter()
    joined(text, frozenset())
    assert time.perf_counter() - start < 1


def test_pages_of_contents_are_known() -> None:
    assert is_contents("Contents\n" + "\n".join(f"{n} Fiscal rules . . . . . . . . . {n + 3}" for n in range(1, 9)))
    assert is_contents("CONTENTS\nPage No.\n" + "\n".join(f"Part {word} Direct Taxes {n}" for n, word in enumerate("abcdef", 20)))
    assert not is_contents("Revenue by source\n" + "\n".join(f"Income tax of group {n} 1,204 1,310 {n}" for n in range(9)))
    assert not is_contents("The deficit ceiling is 3.0 per cent of GDP in any year.\n" * 9)


@given(st.lists(st.sampled_from(["govern", "long", "the", " ", "\n", "\ufffe", "\u00ad\n", "term", "."])))
def test_offsets_of_words_move_with_the_text(parts: list[str]) -> None:
    text = "".join(parts)
    after, moved = join_line_breaks(text, frozenset({"long-term"}))
    for match in re.finditer(r"[a-z]+", text):
        assert after[moved(match.start()) : moved(match.start()) + len(match.group())] == match.group()
    assert moved(len(text)) == len(after)
    assert moved(-1) == -1


@given(st.text())
def test_words_are_found_where_they_stand(text: str) -> None:
    plain, spans = normalised_words(text)
    assert plain == normalise(text)
    assert [plain[start:end] for start, end, _ in spans] == [text[slice(*of)].translate(LIGATURES) for _, _, of in spans]
    assert sum(end - start for start, end, _ in spans) == len(re.sub(r"[\s\x00]", "", plain))
