"""Questions for a whole document, and the pages that stand for it."""

from __future__ import annotations

from chatbot.asking.question import Ask
from chatbot.records import Answer
from chatbot.search.outline import outline
from chatbot.store.library import Upload
from tests.fakes import ScriptedModel
from tests.pdfs import make_pdf
from tests.stores import Make


def test_the_first_page_and_those_that_begin_sections_stand_for_the_whole() -> None:
    prose = "The budget was made in spring and says what is spent, by whom and on what. " * 6
    texts = ["Cover", *[prose] * 39]
    heads = {page: f"Budget › {page // 5}" for page in range(2, 41)}
    first, *others = outline(texts, heads, {2: ("contents",)}, 8)
    assert first == 3
    assert len(others) == 7
    assert [first, *others] == sorted({first, *others})
    for page in others:
        assert page % 5 == 0
    assert outline(texts[:3], {}, {}, 8) == [2, 3]
    assert outline(texts, heads, {}, 0) == []
    assert outline([], {}, {}, 5) == []
    beside = outline(texts, heads, {}, 30, beside=(2, 20))
    assert not {2, 20}.intersection(beside)


def test_a_chat_model_asked_for_a_summary_is_given_pages_from_beginning_to_end(make: Make) -> None:
    model = ScriptedModel(["The rules are kept [1]."])
    chatbot = make(model)
    pages = []
    for number in range(1, 31):
        said = f"Sector {number} is given {number} million for its buildings, roads and schools in the year. "
        pages.append(f"Chapter {number}\n" + said * 8)
    plan = make_pdf(chatbot.settings.home / "Plan.pdf", pages)
    list(chatbot.add([Upload(plan)]))
    question = Ask("Summarise the document", names=("Plan.pdf",))
    *_, answer = chatbot.ask(question)
    assert isinstance(answer, Answer)
    assert answer.prompt is not None
    asked = {hit.page for hit in answer.prompt.sources.values()}
    assert len(answer.prompt.sources) >= 6
    assert min(asked) <= 3
    assert max(asked) >= 15
