"""What programs read of answers and hits: the fields that are promised, each of JSON's own types, and no
page's text in a kept answer.
"""

from __future__ import annotations

import json
from dataclasses import replace

from chatbot.records import Answer, Citation, Compression, Note, NumberCheck, PageRef, Understanding
from chatbot.serialize import answer_line, answer_record
from tests.chatbot.cited_pages import hit_of, prompt_over

HIT = hit_of(
    "Much text",
    document="Rules.pdf",
    version=3,
    page=8,
    page_label="6",
    label_source="printed",
    chunk_id="3-1",
    text="The cost is $4.5 million.",
    scores={"vector": 0.5},
)
CITED = Citation("S1", "Rules.pdf", 8, "6", "The cost is $4.5 million.", True, 0, 25, version=3)
COST = NumberCheck("$4.5 million", 4.5, "USD", 1e6, None, "supported", "S1-7f3a")
ANSWER = Answer(
    "What does it cost?",
    "What does the bridge cost?",
    "It costs $4.5 million [S1].",
    True,
    citations=(CITED,),
    numbers=(COST,),
    considered=(HIT,),
    nearest=(PageRef("Rules.pdf", 9, None),),
    notes=(Note("situations", "advice", "Wait."),),
    notices=("Searched by words alone.",),
    prompt=prompt_over(HIT),
    understanding=Understanding("q", "s", years=(2024,)),
    compression=Compression(30, 15, 2),
)
PROMISED = """
answer answered reason nearest citations numbers statements notes search_query model conversation seconds
"""


def test_an_answer_has_the_promised_fields() -> None:
    line = json.loads(json.dumps(answer_line(ANSWER)))
    assert set(PROMISED.split()) <= line.keys()
    assert "error" not in line
    citation = line["citations"][0]
    assert citation["key"] == "S1"
    assert citation["document"] == "Rules.pdf"
    assert citation["page"] == 8
    assert citation["page_label"] == "6"
    assert citation["verified"] is True
    number = line["numbers"][0]
    assert number["text"] == "$4.5 million"
    assert number["value"] == 4.5
    assert number["unit"] == "USD"
    assert number["scale"] == 1e6
    assert number["status"] == "supported"
    (nearest,) = line["nearest"]
    assert nearest == {"document": "Rules.pdf", "page": 9, "page_label": None}
    situation, notice = line["notes"]
    assert situation["layer"] == "situations"
    assert notice["layer"] == "notice"
    assert line["understanding"]["years"] == [2024]
    compression = line["compression"]
    assert len(compression) == 4
    assert compression["original_tokens"] == 30
    assert compression["compressed_tokens"] == 15
    assert compression["chunks_compressed"] == 2
    assert compression["kept_exchanges"] == []


def test_further_passages_stand_apart_where_the_first_is_the_answer() -> None:
    first, further = "The ceiling is 3 [S1].", "It rose [S2].\n\nIt fell [S2]."
    said = Answer("q", "q", f"{first}\n\n{further}", True)
    line = answer_line(said)
    assert line["answer"] == first
    assert line["further"] == further
    of_a_model = replace(said, model="m")
    refusal = replace(said, answered=False)
    listing = replace(said, understanding=Understanding("q", "s", "list"))
    for whole in (of_a_model, refusal, listing):
        line = answer_line(whole)
        assert line["answer"] == said.text
        assert line["further"] == ""


def test_a_kept_answer_leaves_the_pages_text_to_the_catalogue() -> None:
    assert "Much text" not in json.dumps(answer_record(ANSWER))
