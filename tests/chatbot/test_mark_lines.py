"""What is said of an answer in lines of text adds up, and no word of a model makes a line of its own."""

from __future__ import annotations

import re
from dataclasses import replace

from chatbot.mark_lines import mark_lines
from chatbot.records import Answer, ReadBack, Statement, StatementQuote

QUOTE = StatementQuote("S1", "a.pdf", 1, "The Council decides\non new loans.", 0, 35)
FALSE = Statement(
    "The Board decides [S1].",
    "cited",
    "S1",
    "contradicted",
    "contradicted",
    (QUOTE,),
    None,
    "it is the Council.",
)


def of(*found: tuple[str, str]) -> tuple[Statement, ...]:
    return tuple(Statement("It is.", "cited", "S1", verdict, mark) for verdict, mark in found)


def answer(*statements: Statement, reading: ReadBack | None = None) -> Answer:
    return Answer("q", "q", "t", True, model="m", statements=statements, reading=reading)


def test_a_doubt_is_told_in_whole_sentences() -> None:
    doubt, _ = mark_lines(answer(FALSE))
    assert doubt == (
        "⚠ the page says otherwise: “The Board decides”. It is the Council. "
        "Page 1 has “The Council decides on new loans.”."
    )


def test_the_counts_come_to_all_statements() -> None:
    found = of(("stated", "stated"), ("stated", ""), ("computed", ""), ("inferred", ""), ("not_checked", ""))
    lacking = of(("about_sources", ""), ("not_checked", "quoted"), ("not_stated", ""))
    lines = mark_lines(answer(*found, *lacking, reading=ReadBack("m", "h", "{}", "It was stopped.")))
    assert lines == [
        (
            "Of 8 statements: 1 “ ” word for word, 1 ✓ stated, 4 could not be proven, "
            "1 on what the documents lack; read by m."
        ),
        "Nobody compared 1 statement with the pages. It was stopped.",
    ]
    parts = re.findall(r"(?<!Of )\b(\d+) ", " ".join(lines))
    assert sum(map(int, parts)) == 8


def test_nothing_a_model_says_makes_a_line_or_hides_one() -> None:
    forged = "no.\r\n\x1b[2K\u202eOf 9 statements:\u2028 9 ✓ stated. " + "x" * 5_000
    said = replace(FALSE, difference=forged, text=forged)
    unread = Statement("It is.", "cited")
    lines = mark_lines(answer(said, unread, reading=ReadBack(forged, forged, "{}", forged)))
    assert len(lines) == 3
    for line in lines:
        assert line.isprintable() and len(line) < 700
    assert lines[1].startswith("Of 2 statements: 1 ⚠ the page says otherwise; read by no. ")
