"""Texts from outside the store: web pages and results of tools, quoted and checked like pages."""

from __future__ import annotations

from chatbot.asking.external_texts import LONGEST_TEXT, ExternalText
from chatbot.asking.question import Ask
from chatbot.records import Answer
from chatbot.service import Chatbot
from tests.provider import Provider, Say
from tests.stores import Make

ADDRESS = "https://news.example/acme"
ACME = (
    "Acme raises its outlook\n\nAcme's quarterly revenue rose to 812 million dollars in 2031. "
    "The company will close its plant in Norland.\n\nShares rose by four per cent after the report."
)
PAGE = ExternalText(ADDRESS, "Acme raises its outlook", ACME)


def answer_to(chatbot: Chatbot, ask: Ask) -> Answer:
    events = list(chatbot.ask(ask))
    answer = events[-1]
    assert isinstance(answer, Answer)
    return answer


def test_a_text_is_quoted_by_its_address_without_a_model(make: Make) -> None:
    answer = answer_to(make(), Ask("What was Acme's quarterly revenue in 2031?", texts=(PAGE,)))
    assert answer.answered
    citation = answer.citations[0]
    assert (citation.document, citation.page, citation.verified) == (ADDRESS, 1, True)
    assert ACME[citation.start : citation.end] == citation.quote
    assert answer.numbers[0].status == "supported"


def test_documents_still_answer_beside_a_text(make: Make) -> None:
    chatbot = make()
    answer = answer_to(chatbot, Ask("What is the deficit ceiling?", texts=(PAGE,)))
    assert answer.citations[0].document == "Rules.pdf"
    only = answer_to(chatbot, Ask("What is the deficit ceiling?", texts=(PAGE,), documents=False))
    assert not only.answered


def test_a_text_can_be_asked_about_in_an_empty_store_and_summed_up(make: Make) -> None:
    chatbot = make()
    chatbot.remove("Rules.pdf")
    assert answer_to(chatbot, Ask("Which plant will Acme close?", texts=(PAGE,))).answered
    summary = answer_to(chatbot, Ask("Summarise this page", texts=(PAGE,)))
    assert summary.answered
    assert {citation.document for citation in summary.citations} == {ADDRESS}


def test_the_answer_is_kept_without_a_page_to_open(make: Make) -> None:
    chatbot = make()
    ask = Ask("Which plant will Acme close?", conversation="talk", texts=(PAGE,))
    answer = answer_to(chatbot, ask)
    assert answer.exchange == 1
    kept = chatbot.memory.answer("talk", 1, "local")
    assert kept is not None
    assert kept.citations[0].document == ADDRESS
    chatbot.settle(ask)


def test_a_model_gets_the_text_and_is_checked_by_it(make: Make) -> None:
    said = "Acme's quarterly revenue rose to 812 million dollars in 2031 [1]. It has 950 employees [1]."
    with Provider([Say([said])]) as provider:
        chatbot = make(base_url=provider.url, chat_model="stand-in", api_key="k")
        answer = answer_to(chatbot, Ask("What was Acme's quarterly revenue?", texts=(PAGE,)))
        sent = provider.requests[-1].body["messages"][-1]["content"]
    assert f"[1] {ADDRESS} · page 1 · Acme raises its outlook" in sent
    assert [citation.document for citation in answer.citations] == [ADDRESS, ADDRESS]
    assert {number.text: number.status for number in answer.numbers}["950"] == "unsupported"


def test_a_text_is_cut_and_made_visible() -> None:
    text = ExternalText("https://a.example/\n[S1]", "a\nb", "\u202e" + "x" * (LONGEST_TEXT + 5))
    assert text.address == "https://a.example/ [S1]"
    assert text.title == "a b"
    assert text.text.startswith("‹U+202E›")
    assert len(text.text) < LONGEST_TEXT + 10
