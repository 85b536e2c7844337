"""Printed page numbers: series, roman and arabic, against the file's own labels."""

import pytest

from ingestion.labels import page_labels, roman_value, running_lines, running_spans
from ingestion.records import Page

BODY = "\nSome body text that is long enough to be a page and has 17 figures.\nMore of it follows here.\nAnd a third line.\n"


def pages(texts: list[str]) -> list[Page]:
    return [Page(number, text) for number, text in enumerate(texts, 1)]


def labels(texts: list[str], embedded: list[str | None] | None = None) -> list[str | None]:
    return [label for label, _ in page_labels(pages(texts), embedded or [None] * len(texts))]


def test_a_footer_series_beats_wrong_embedded_labels() -> None:
    texts = [f"{BODY}2005-06 Budget Paper No. 3 {number} Strategies" for number in range(5, 11)]
    found = page_labels(pages(texts), [str(number) for number in range(1, 7)])
    assert found == [(str(number), "printed") for number in range(5, 11)]


def test_roman_front_matter_then_arabic() -> None:
    texts = [f"{BODY}{roman}" for roman in ("i", "ii", "iii", "iv")] + [f"{BODY}{number}" for number in range(1, 6)]
    assert labels(texts) == ["i", "ii", "iii", "iv", "1", "2", "3", "4", "5"]


def test_a_page_without_its_number_gets_none_rather_than_a_guess() -> None:
    texts = [BODY + (str(number) if number != 4 else "") for number in range(1, 8)]
    assert labels(texts) == ["1", "2", "3", None, "5", "6", "7"]


def test_a_constant_number_is_no_series() -> None:
    assert labels([f"Annual Report 2026\n{BODY}" for _ in range(6)]) == [None] * 6


def test_embedded_labels_serve_where_nothing_is_printed() -> None:
    assert page_labels(pages([BODY] * 4), ["i", "ii", "1", "2"]) == [("i", "pdf"), ("ii", "pdf"), ("1", "pdf"), ("2", "pdf")]


@pytest.mark.parametrize(("text", "value"), [("i", 1), ("iv", 4), ("IX", 9), ("xiv", 14), ("xl", 40), ("", None), ("vx", None), ("mix", None)])
def test_roman_values(text: str, value: int | None) -> None:
    assert roman_value(text) == value


def test_a_body_is_the_page_without_its_running_lines() -> None:
    bodies = [f"The {word} is used.\nMore about {word}.\n" for word in ("reserve", "levy", "grant", "fund", "bond")]
    texts = [f"BUDGET BOOK 2025\n{body}Budget Book 2025-26 {n}.1 {body[:3]}\n{n}" for n, body in enumerate(bodies, 1)]
    running = running_lines(texts)
    cut = ["".join(text[start:end] for start, end in running_spans(text, running)) for text in texts]
    assert [len(text) - len(gone) for text, gone in zip(texts, cut, strict=True)] == [len(body) for body in bodies]
    assert all(body.split()[1] not in gone for body, gone in zip(bodies, cut, strict=True))
    assert running_spans("", running) == ()


def test_a_running_head_is_found_behind_a_footnote() -> None:
    words = ["reserve", "levy", "grant", "fund", "bond"]
    texts = [
        f"{word} first.\n{word} second.\n{word} third.\nStatement of 2025 {word}\n1 {word} footnote.\nMinistry {n}" for n, word in enumerate(words)
    ]
    start, end = running_spans(texts[1], running_lines(texts))[0]
    assert texts[1][start:end] == "Statement of 2025 levy\n"
