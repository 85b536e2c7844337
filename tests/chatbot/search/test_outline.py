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
    texts, heads = ["Cover", *[prose] * 39], {page: f"Budget › {page // 5}" for page in range(2, 41)}
    pages = outline(texts, heads, {2: ("contents",)}, 8)
    assert pages[0] == 3 and len(pages) == 8 == len(set(pages)) and pages == sorted(pages)
    assert all(page % 5 == 0 for page in pages[1:])
    assert outline(texts[:3], {}, {}, 8) == [2, 3] and outline(texts, heads, {}, 0) == [] == outline(
        [], {}, {}, 5
    )
    assert not {2, 20}.intersection(outline(texts, heads, {}, 30, beside=(2, 20)))


def test_a_chat_model_asked_for_a_summary_is_given_pages_from_beginning_to_end(make: Make) -> None:
    model = ScriptedModel(["The rules are kept [1]."])
    chatbot = make(model, prompt_pages=6)
    home = chatbot.settings.home
    pages = [
        f"Chapter {number}\n"
        + f"Sector {number} is given {number} million for its buildings, roads and schools in the year. " * 8
        for number in range(1, 31)
    ]
    list(chatbot.add([Upload(make_pdf(home / "Plan.pdf", pages))]))
    (answer,) = [
        event
        for event in chatbot.ask(Ask("Summarise the document", names=("Plan.pdf",)))
        if isinstance(event, Answer)
    ]
    assert answer.prompt is not None
    asked = sorted(hit.page for hit in answer.prompt.sources.values())
    assert len(asked) >= 6 and asked[0] <= 3 and asked[-1] >= 15
