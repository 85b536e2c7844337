"""When pages cannot answer, and why."""

from dataclasses import replace

import pytest

from chatbot.records import Hit, Understanding
from chatbot.search.refusal import REASONS, explain, refusal_evidence, why_not

HIT = Hit("a.pdf", 1, 1, None, None, "text", None, "1:0", "", page_text="The deficit of 2024 was 3 per cent of output in Valmora.", scores={})
GOOD = replace(HIT, scores={"vector": 0.8, "chunk_words": 0.5, "measures": 1.0})
ASKED = Understanding("q", "What was the deficit of Valmora in 2024?", years=(2024,), names=("Valmora",), measures=("fiscal deficit",))
KNOWN = {"deficit": 1.0, "valmora": 2.0, "2024": 1.0}


def judged(asked: Understanding, hit: Hit, known: dict[str, float], likeness: float | None = 0.7) -> str | None:
    return why_not(refusal_evidence(asked, [hit], known, likeness=likeness, computed=False), [hit])


@pytest.mark.parametrize("likeness", [0.7, None])
def test_subject_name_period_and_measure_together_may_answer(likeness: float | None) -> None:
    assert judged(ASKED, GOOD, KNOWN, likeness) is None


@pytest.mark.parametrize("likeness", [0.45, None])
def test_each_reason(likeness: float | None) -> None:
    poor = replace(GOOD, scores={"vector": 0.3, "chunk_words": 0.1, "measures": 0.0})
    assert judged(replace(ASKED, names=("Ostrava",)), poor, KNOWN, likeness) == "no_entity"
    assert judged(replace(ASKED, years=(2031,)), poor, KNOWN, likeness) == "entity_without_period"
    assert judged(ASKED, poor, KNOWN, likeness) == "topic_without_figure"
    assert judged(replace(ASKED, measures=()), poor, KNOWN, likeness) == "no_page"
    assert why_not({}, []) == "no_page"


def test_a_year_that_no_document_has_outweighs_a_good_page() -> None:
    assert judged(replace(ASKED, years=(2031,)), GOOD, KNOWN, 0.55) == "entity_without_period"


def test_reasons_name_what_is_missing() -> None:
    asked = replace(ASKED, names=("Valmora", "Brazil"), years=(2024, 2031))
    sentences = {reason: explain(reason, asked, lambda term: bool(KNOWN.get(term))) for reason in REASONS}
    assert sentences["no_entity"] == "These documents do not mention Brazil."
    assert sentences["entity_without_period"] == "These documents say nothing about 2031."
    assert "fiscal deficit" in sentences["topic_without_figure"]
