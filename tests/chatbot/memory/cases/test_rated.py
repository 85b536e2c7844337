"""Ratings at work in the whole chatbot: the answer rated helpful comes back checked, the one rated wrong does not, and pages rise and fall visibly."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from chatbot.errors import NotFoundError, UsageError
from chatbot.memory.cases.rated import Rated
from chatbot.memory.cases.records import Case, CasePage
from chatbot.records import Answer, Event, Hit, Notice, Prompt
from chatbot.service import MEMORY, Ask, Chatbot
from chatbot.store.library import Upload
from tests.fakes import ScriptedModel
from tests.pdfs import make_pdf
from tests.stores import RULES, Make

QUESTION = "What is the deficit ceiling?"


@pytest.fixture
def pages() -> Sequence[str]:
    return (*RULES, "Ceilings\nThe deficit ceiling of the regions is 0.5 per cent of their revenue.")


def ask(chatbot: Chatbot, question: str, talk: str, owner: str = "me") -> tuple[Answer, list[Event]]:
    events = list(chatbot.ask(Ask(question, conversation=talk, owner=owner)))
    assert isinstance(events[-1], Answer)
    return events[-1], events


def remembered(events: list[Event]) -> bool:
    return any(isinstance(event, Notice) and event.text.startswith("Remembered: you rated this answer helpful") for event in events)


def test_an_answer_rated_helpful_comes_back_checked_and_marked(make: Make) -> None:
    chatbot = make()
    talk, other = chatbot.conversations.begin("me"), chatbot.conversations.begin("me")
    first, _ = ask(chatbot, QUESTION, talk)
    chatbot.rate(talk, 1, "me", helpful=True, word="just what I needed")
    again, events = ask(chatbot, "what is the deficit ceiling", other)
    assert remembered(events) and again.text == first.text
    assert [(one.document, one.page, one.verified) for one in again.citations] == [(one.document, one.page, True) for one in first.citations]
    assert all(number.status == "supported" for number in again.numbers)
    assert not remembered(ask(chatbot, "What is the debt anchor?", other)[1])
    hers = chatbot.conversations.begin("her")
    assert not remembered(ask(chatbot, QUESTION, hers, "her")[1])
    chatbot.conversations.switch(other, "me", "cases", on=False)
    assert not remembered(ask(chatbot, QUESTION, other)[1])


def test_a_newer_verdict_a_changed_document_and_a_deleted_case_end_it(make: Make, tmp_path: Path) -> None:
    chatbot = make()
    talk = chatbot.conversations.begin("me")
    ask(chatbot, QUESTION, talk)
    chatbot.rate(talk, 1, "me", helpful=True)
    assert remembered(ask(chatbot, QUESTION, talk)[1])
    chatbot.rate(talk, 1, "me", helpful=False)
    assert not remembered(ask(chatbot, QUESTION, talk)[1])
    chatbot.rate(talk, 1, "me", helpful=True)
    list(chatbot.add([Upload(make_pdf(tmp_path / "Rules.pdf", ["Fiscal rules\nThe deficit ceiling is 2.0 per cent of output in every year."]))]))
    answer, events = ask(chatbot, QUESTION, talk)
    assert not remembered(events) and "2.0 per cent" in answer.text
    assert [row.stale for row in chatbot.cases.listed("me")] == [True]


def test_ratings_bring_no_page_of_documents_that_are_not_asked(make: Make, tmp_path: Path) -> None:
    chatbot = make()
    talk = chatbot.conversations.begin("me")
    list(chatbot.add([Upload(make_pdf(tmp_path / "Other.pdf", ["Rules of others\nThe deficit ceiling is 9.0 per cent of output."]))]))
    ask(chatbot, QUESTION, talk)
    chatbot.rate(talk, 1, "me", helpful=True)
    rated = {citation.document for citation in chatbot.memory.answer(talk, 1, "me").citations}  # type: ignore[union-attr]
    (other,) = {"Rules.pdf", "Other.pdf"} - rated or {"Other.pdf"}
    events = list(chatbot.ask(Ask(QUESTION, (other,), talk, owner="me")))
    answer = events[-1]
    assert isinstance(answer, Answer) and not remembered(events)
    assert {hit.document for hit in answer.considered} == {other}


def test_pages_rated_wrong_fall_and_that_is_shown_and_reversible(make: Make) -> None:
    chatbot = make(ScriptedModel(["NOT IN THESE DOCUMENTS"]))
    talk = chatbot.conversations.begin("me")
    before, _ = ask(chatbot, QUESTION, talk)
    page = before.considered[0]
    chatbot.cases.add("me", Case(QUESTION, "Wrong.", 0, pages=(CasePage(chatbot._digest_of(page.version), page.document, page.page),)))
    after, _ = ask(chatbot, QUESTION, talk)
    lowered = next(hit for hit in after.considered if hit.page == page.page)
    assert lowered.scores["rated"] < 0 and lowered.score < page.score
    chatbot.cases.delete("me", chatbot.cases.listed("me")[0].case.id)
    assert ask(chatbot, QUESTION, talk)[0].considered[0].scores.get("rated") is None


def test_what_cannot_be_rated_is_said(make: Make) -> None:
    chatbot = make()
    talk, private = chatbot.conversations.begin("me"), chatbot.conversations.begin("me", private=True)
    ask(chatbot, QUESTION, private)
    with pytest.raises(UsageError, match="private"):
        chatbot.rate(private, 1, "me", helpful=True)
    ask(chatbot, "Who built the lighthouse of Heligoland?", talk)
    with pytest.raises(UsageError):
        chatbot.rate(talk, 1, "me", helpful=True)
    with pytest.raises(NotFoundError):
        chatbot.rate(talk, 1, "her", helpful=True)


def test_advice_is_noted_and_recalled_when_its_situation_comes(make: Make) -> None:
    chatbot = make(ScriptedModel(["The deficit ceiling is 3.0 per cent."]))
    talk, private = chatbot.conversations.begin("me"), chatbot.conversations.begin("me", private=True)
    told, _ = ask(chatbot, "When the deficit ceiling is breached, then warn the minister.", talk)
    assert told.model == MEMORY and told.text.startswith("Noted.") and told.exchange == 1
    assert ask(chatbot, "When debt rises, then sell bonds.", private)[0].text.startswith("Not noted")
    assert [one.situation for one in chatbot.situations.listed("me")] == ["the deficit ceiling is breached"]
    answer, _ = ask(chatbot, "the deficit ceiling is breached", talk)
    assert [note.layer for note in answer.notes].count("situations") == 1
    chatbot.conversations.switch(talk, "me", "situations", on=False)
    answer, _ = ask(chatbot, "the deficit ceiling is breached", talk)
    assert "situations" not in {note.layer for note in answer.notes}
    assert ask(chatbot, "When the deficit ceiling is breached, then warn the minister.", talk)[0].model != MEMORY


def hit(page: int, score: float, document: str = "Budget (1).pdf") -> Hit:
    return Hit(document, 1, page, None, None, "text", None, f"1-{page}", "text", score=score)


def test_keys_take_the_place_of_pages_only_where_all_are_there() -> None:
    pages = tuple(CasePage("d", "Budget (1).pdf", page) for page in (8, 2))
    rated = Rated(case=Case("q", "It cost 5 (Budget (1).pdf, p. 8). Both (Budget (1).pdf, p. 8; Budget (1).pdf, p. 2) (see p. 3).", pages=pages))
    prompt = Prompt("q", "q", {"S1-ab": hit(8, 1), "S2-ab": hit(2, 1)}, (), (), (), "ab")
    assert rated.text(prompt) == "It cost 5 [S1-ab]. Both [S1-ab][S2-ab] (see p. 3)."
    assert rated.text(Prompt("q", "q", {"S1-ab": hit(8, 1)}, (), (), (), "ab")) == ""
    assert Rated().text(prompt) == ""


def test_weights_move_pages_by_so_much_and_keep_their_number() -> None:
    hits = [hit(1, 0.9), hit(2, 0.8)]
    rated = Rated({("d", 3): 0.2, ("d", 1): -0.2}, lambda version: "d")
    moved = rated.applied(hits, lambda names, k: [hit(1, 0.9), hit(2, 0.8), hit(3, 0.65), hit(4, 0.6)])
    assert [(one.page, round(one.score, 2)) for one in moved] == [(3, 0.85), (2, 0.8)]
    assert moved[0].scores == {"rated": 0.2}
    assert Rated().applied(hits, lambda names, k: []) == hits
