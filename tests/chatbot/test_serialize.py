"""What programs read of answers and hits: the fields that are promised, each of JSON's own types, and no
page's text in a kept answer.
"""

from __future__ import annotations

import json
from dataclasses import replace

from chatbot.records import (
    Answer,
    Citation,
    Compression,
    Hit,
    Note,
    NumberCheck,
    PageRef,
    Prompt,
    Understanding,
)
from chatbot.serialize import answer_line, answer_record, hit_line

HIT = Hit(
    "Rules.pdf",
    3,
    8,
    "6",
    "printed",
    "text",
    None,
    "3-1",
    "The cost is $4.5 million.",
    page_text="Much text",
    scores={"vector": 0.5},
)
ANSWER = Answer(
    "What does it cost?",
    "What does the bridge cost?",
    "It costs $4.5 million [S1].",
    True,
    citations=(Citation("S1", "Rules.pdf", 8, "6", "The cost is $4.5 million.", True, 0, 25, version=3),),
    numbers=(NumberCheck("$4.5 million", 4.5, "USD", 1e6, None, "supported", "S1-7f3a"),),
    considered=(HIT,),
    nearest=(PageRef("Rules.pdf", 9, None),),
    notes=(Note("situations", "advice", "Wait."),),
    notices=("Searched by words alone.",),
    prompt=Prompt("q", "s", {"S1-7f3a": HIT}, (), (), (("system", "rules"),), "7f3a"),
    understanding=Understanding("q", "s", years=(2024,)),
    compression=Compression(30, 15, 2),
)


def test_an_answer_has_the_promised_fields() -> None:
    line = json.loads(json.dumps(answer_line(ANSWER)))
    promised = (
        "answer answered reason nearest citations numbers statements notes search_query model conversation "
        "seconds"
    )
    assert set(promised.split()) <= line.keys() and "error" not in line
    assert {
        "key": "S1",
        "document": "Rules.pdf",
        "page": 8,
        "page_label": "6",
        "verified": True,
    }.items() <= line["citations"][0].items()
    assert {
        "text": "$4.5 million",
        "value": 4.5,
        "unit": "USD",
        "scale": 1e6,
        "status": "supported",
    }.items() <= line["numbers"][0].items()
    assert line["nearest"] == [{"document": "Rules.pdf", "page": 9, "page_label": None}]
    assert [note["layer"] for note in line["notes"]] == ["situations", "notice"]
    assert line["understanding"]["years"] == [2024]
    assert line["compression"] == {
        "original_tokens": 30,
        "compressed_tokens": 15,
        "chunks_compressed": 2,
        "kept_exchanges": [],
    }


def test_further_passages_stand_apart_where_the_first_is_the_answer() -> None:
    said = Answer("q", "q", "The ceiling is 3 [S1].\n\nIt rose [S2].\n\nIt fell [S2].", True)
    assert (answer_line(said)["answer"], answer_line(said)["further"]) == (
        "The ceiling is 3 [S1].",
        "It rose [S2].\n\nIt fell [S2].",
    )
    for whole in (
        replace(said, model="m"),
        replace(said, answered=False),
        replace(said, understanding=Understanding("q", "s", "list")),
    ):
        assert (answer_line(whole)["answer"], answer_line(whole)["further"]) == (said.text, "")


def test_what_an_answer_lacks_is_null() -> None:
    line = answer_line(Answer("q", "q", "t", False, reason="no_page", error="It failed."))
    assert (line["understanding"], line["compression"], line["reason"], line["error"]) == (
        None,
        None,
        "no_page",
        "It failed.",
    )


def test_a_hit_has_the_promised_fields() -> None:
    line = hit_line(1, HIT)
    assert list(line)[:8] == [
        "rank",
        "document",
        "page",
        "page_label",
        "score",
        "extraction_method",
        "chunk_id",
        "text",
    ]
    assert "chunk_match" not in line


def test_a_kept_answer_leaves_the_pages_text_to_the_catalogue() -> None:
    assert "Much text" not in json.dumps(answer_record(ANSWER))
