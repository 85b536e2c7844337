"""Ratings at work in the whole chatbot: the answer rated helpful comes back checked, the one rated wrong
does not, and pages rise and fall visibly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from chatbot.asking.answering import SET_ASIDE
from chatbot.asking.question import Ask
from chatbot.errors import NotFoundError, StoreError, UsageError
from chatbot.memory.cases.case_recall import PageWeight
from chatbot.memory.cases.case_store import Cases, hidden
from chatbot.memory.cases.feedback_rerank import FeedbackRerank
from chatbot.memory.cases.records import Case, CasePage
from chatbot.records import MEMORY, Answer, Event, Hit, Notice, Prompt
from chatbot.search.question_terms import understand
from chatbot.search.retrieval import Query
from chatbot.service import Chatbot
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
    return any(
        isinstance(event, Notice) and event.text.startswith("Remembered: you rated this answer helpful")
        for event in events
    )


def test_an_answer_rated_helpful_comes_back_checked_and_marked(make: Make) -> None:
    chatbot = make()
    talk, other = chatbot.conversations.begin("me"), chatbot.conversations.begin("me")
    first, _ = ask(chatbot, QUESTION, talk)
    chatbot.rate(talk, 1, "me", helpful=True, word="just what I needed")
    again, events = ask(chatbot, "what is the deficit ceiling", other)
    assert remembered(events) and again.text == first.text
    assert [(one.document, one.page, one.verified) for one in again.citations] == [
        (one.document, one.page, True) for one in first.citations
    ]
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
    list(
        chatbot.add(
            [
                Upload(
                    make_pdf(
                        tmp_path / "Rules.pdf",
                        ["Fiscal rules\nThe deficit ceiling is 2.0 per cent of output in every year."],
                    )
                )
            ]
        )
    )
    answer, events = ask(chatbot, QUESTION, talk)
    assert not remembered(events) and "2.0 per cent" in answer.text
    assert [row.stale for row in chatbot.cases.listed("me")] == [True]


def test_ratings_bring_no_page_of_documents_that_are_not_asked(make: Make, tmp_path: Path) -> None:
    chatbot = make()
    talk = chatbot.conversations.begin("me")
    list(
        chatbot.add(
            [
                Upload(
                    make_pdf(
                        tmp_path / "Other.pdf",
                        ["Rules of others\nThe deficit ceiling is 9.0 per cent of output."],
                    )
                )
            ]
        )
    )
    ask(chatbot, QUESTION, talk)
    chatbot.rate(talk, 1, "me", helpful=True)
    answered = chatbot.memory.answer(talk, 1, "me")
    assert answered
    rated = {citation.document for citation in answered.citations}
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
    chatbot.cases.add(
        "me",
        Case(
            QUESTION,
            "Wrong.",
            0,
            pages=(CasePage(chatbot.library.catalog.digest_of(page.version), page.document, page.page),),
        ),
    )
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
    assert (
        ask(chatbot, "When the deficit ceiling is breached, then warn the minister.", talk)[0].model != MEMORY
    )


def hit(page: int, score: float, document: str = "Budget (1).pdf") -> Hit:
    return Hit(document, 1, page, None, None, "text", None, f"1-{page}", "text", score=score)


def test_keys_take_the_place_of_pages_only_where_all_are_there() -> None:
    pages = tuple(CasePage("d", "Budget (1).pdf", page) for page in (8, 2))
    rated = FeedbackRerank(
        case=Case(
            "q",
            "It cost 5 (Budget (1).pdf, p. 8). Both (Budget (1).pdf, p. 8; Budget (1).pdf, p. 2) (see p. 3).",
            pages=pages,
        )
    )
    prompt = Prompt("q", "q", {"S1-ab": hit(8, 1), "S2-ab": hit(2, 1)}, (), (), (), "ab")
    assert rated.text(prompt) == "It cost 5 [S1-ab]. Both [S1-ab][S2-ab] (see p. 3)."
    assert rated.text(Prompt("q", "q", {"S1-ab": hit(8, 1)}, (), (), (), "ab")) == ""
    assert FeedbackRerank().text(prompt) == ""


def weighed(weights: dict[int, float], *cases: Case) -> dict[tuple[str, int], PageWeight]:
    return {("d", page): PageWeight("d", page, weight, cases) for page, weight in weights.items()}


def test_weights_move_pages_by_so_much_and_drop_none() -> None:
    hits = [hit(1, 0.9), hit(2, 0.8)]
    rated = FeedbackRerank(weighed({3: 0.2, 1: -0.2}), lambda version: "d")
    moved = rated.applied(hits, lambda names, k: [hit(1, 0.9), hit(2, 0.8), hit(3, 0.65), hit(4, 0.6)])
    assert [(one.page, round(one.score, 2)) for one in moved] == [(3, 0.85), (2, 0.8), (1, 0.7)]
    assert moved[0].scores == {"rated": 0.2}
    lower = rated.applied(hits, lambda names, k: [hit(3, 0.4), hit(1, 0.9)])
    assert [one.page for one in lower] == [2, 1], "a page that passes no other is not brought"
    unweighed = rated.applied([hit(5, 0.9)], lambda names, k: [hit(6, 0.95)])
    assert [one.page for one in unweighed] == [5], "nor is one that nobody rated"
    lowered = rated.applied([hit(1, 0.9)], lambda names, k: [hit(6, 0.85)])
    assert [one.page for one in lowered] == [1], "though it is above one that was rated wrong"
    four = [hit(page, 0.9) for page in (5, 6, 7, 8)]
    brought = rated.applied(four, lambda names, k: [hit(9, 0.89), hit(3, 0.88)])
    assert [one.page for one in brought] == [3, 5, 6, 7, 8], "nor does it take the place of one that was"
    assert FeedbackRerank().applied(hits, lambda names, k: []) == hits


def test_an_order_that_was_made_otherwise_stays_but_for_what_a_rating_carries() -> None:
    ordered = [hit(5, 0.3), hit(2, 0.9), hit(7, 0.5)]  # as a model put them
    for weight in (-0.001, 0.001, 0.2, -0.2):
        for page in (5, 2, 7):
            moved = FeedbackRerank(weighed({page: weight}), lambda version: "d").applied(
                ordered, lambda names, k: []
            )
            assert [one.page for one in moved] == [5, 2, 7]
    operands = [hit(1, 0.9), hit(40, 0.2), hit(2, 0.8), hit(3, 0.7)]  # the statement of a ratio comes second
    moved = FeedbackRerank(weighed({9: 0.2}), lambda version: "d").applied(
        operands, lambda names, k: [hit(9, 0.6)]
    )
    assert [one.page for one in moved] == [1, 40, 2, 9, 3]
    full = [hit(page, 0.9) for page in range(1, 6)]
    assert (
        FeedbackRerank(weighed({9: 0.2}), lambda version: "d").applied(full, lambda names, k: [hit(9, 0.89)])
        == full
    ), "none is pushed out"


def test_no_rating_puts_an_older_document_before_a_newer() -> None:
    new, old, other = (
        hit(1, 0.9, "Policy 2024.pdf"),
        hit(2, 0.85, "Policy 2019.pdf"),
        hit(3, 0.8, "Budget.pdf"),
    )
    rated = FeedbackRerank(
        weighed({1: -0.2}),
        lambda version: "d",
        is_older=lambda one, than: one.document < than.document == "Policy 2024.pdf" and one is old,
    )
    moved = rated.applied([new, old, other], lambda names, k: [])
    assert [one.page for one in moved] == [1, 2, 3]
    assert [
        one.page
        for one in FeedbackRerank(weighed({1: -0.2}), lambda version: "d").applied(
            [new, old, other], lambda names, k: []
        )
    ] == [2, 3, 1]


def test_pages_that_stand_elsewhere_are_told_with_the_rating_that_moved_them() -> None:
    before = [hit(1, 0.9), hit(2, 0.8), hit(3, 0.75)]
    cases = Case("What was debt?", "A", 0), Case("What was income?", "B", 1, by="x")
    rated = FeedbackRerank(weighed({1: -0.2, 3: 0.1, 4: 0.2}, *cases), lambda version: "d")
    after = rated.applied(before, lambda names, k: [hit(4, 0.7)])
    assert [one.page for one in after] == [4, 3, 2, 1]
    assert [notice.text for notice in rated.told(before, after)] == [
        (
            "Budget (1).pdf, p. 4, was put forward: somebody here rated an answer from it helpful (“What "
            "was income?”)."
        ),
        (
            "Budget (1).pdf, p. 3, was put forward: somebody here rated an answer from it helpful (“What "
            "was income?”)."
        ),
        "Budget (1).pdf, p. 1, was put back: you rated an answer from it not helpful (“What was debt?”).",
    ]
    assert rated.told(before, before) == []


def test_only_an_answer_each_page_of_which_is_put_as_a_key_is_remembered() -> None:
    name = "Rules; p. 1 (final).pdf"
    pages = (CasePage("d", name, 8), CasePage("d", "Annex.pdf", 2))
    prompt = Prompt("q", "q", {"S1-ab": hit(8, 1, name), "S2-ab": hit(2, 1, "Annex.pdf")}, (), (), (), "ab")
    plan = f"It cost 5 ({name}, p. 8; Annex.pdf, p. 2)."
    assert FeedbackRerank(case=Case("q", plan, pages=pages)).text(prompt) == "It cost 5 [S1-ab][S2-ab]."
    assert FeedbackRerank(case=Case("q", f"It cost 5 ({name}, p. 8).", pages=pages)).text(prompt) == "", (
        "a page that the answer does not name"
    )
    assert FeedbackRerank(case=Case("q", "It cost 5.", pages=())).text(prompt) == ""
    assert FeedbackRerank(case=Case("q", "It cost 5 (Rules, p. 8).", pages=pages[:1])).text(prompt) == ""


def test_a_file_name_of_any_marks_keeps_the_citations_of_what_is_remembered(
    make: Make, tmp_path: Path
) -> None:
    chatbot = make()
    chatbot.remove("Rules.pdf")
    list(chatbot.add([Upload(make_pdf(tmp_path / "Rules; final, p. 2 (1).pdf", RULES))]))
    talk = chatbot.conversations.begin("me")
    first, _ = ask(chatbot, QUESTION, talk)
    chatbot.rate(talk, 1, "me", helpful=True)
    again, events = ask(chatbot, QUESTION, talk)
    assert remembered(events) and again.text == first.text
    assert again.citations and all(one.verified for one in again.citations)


def test_what_does_not_stand_up_to_a_new_check_is_not_remembered(make: Make) -> None:
    chatbot = make()
    talk = chatbot.conversations.begin("me")
    ask(chatbot, QUESTION, talk)
    chatbot.rate(talk, 1, "me", helpful=True)
    (row,) = chatbot.cases.listed("me")
    page = next(page for page in row.case.pages if page.page == 1)
    right, wrong = (
        f"The deficit ceiling is {figure} per cent of output (Rules.pdf, p. {page.page})."
        for figure in ("3.0", "9.9")
    )
    chatbot.cases.add("me", replace(row.case, plan=right, pages=(page,), at=0.0))
    assert remembered(ask(chatbot, QUESTION, talk)[1])
    chatbot.cases.add("me", replace(row.case, plan=wrong, pages=(page,), at=0.0))
    answer, events = ask(chatbot, QUESTION, talk)
    assert not remembered(events) and "9.9" not in answer.text and "3.0 per cent" in answer.text


def test_a_shared_answer_is_remembered_as_somebody_elses(make: Make) -> None:
    chatbot = make()
    talk, hers = chatbot.conversations.begin("me"), chatbot.conversations.begin("her")
    ask(chatbot, QUESTION, talk)
    chatbot.rate(talk, 1, "me", helpful=True)
    chatbot.cases.share("me", chatbot.cases.listed("me")[0].case.id)
    _, events = ask(chatbot, QUESTION, hers, "her")
    said = [event.text for event in events if isinstance(event, Notice)]
    assert any(
        text.startswith("Remembered: somebody here rated this answer helpful on") and "you rated" not in text
        for text in said
    )
    chatbot.rate(talk, 1, "me", helpful=False)
    _, events = ask(chatbot, QUESTION, hers, "her")
    assert not any(isinstance(event, Notice) and event.text.startswith("Remembered") for event in events)


def test_what_an_answer_rated_not_helpful_quoted_comes_after_other_passages(make: Make) -> None:
    chatbot, question = make(), "What is the deficit ceiling of the regions?"
    talk, other = chatbot.conversations.begin("me"), chatbot.conversations.begin("me")
    first, _ = ask(chatbot, question, talk)
    chatbot.rate(talk, 1, "me", helpful=False)
    again, events = ask(chatbot, question.lower(), other)
    assert again.text != first.text and again.citations and all(one.verified for one in again.citations)
    assert first.citations[0].quote not in again.text.split("[")[0]
    assert SET_ASIDE in [event.text for event in events if isinstance(event, Notice)]
    assert ask(chatbot, question, chatbot.conversations.begin("her"), "her")[0].text == first.text
    assert SET_ASIDE not in [
        event.text
        for event in ask(chatbot, "What is the debt anchor?", other)[1]
        if isinstance(event, Notice)
    ]
    (row,) = chatbot.cases.listed("me")
    chatbot.cases.delete("me", row.case.id)
    assert ask(chatbot, question, talk)[0].text == first.text


def test_a_rating_brings_no_page_of_another_than_the_question_names(make: Make, tmp_path: Path) -> None:
    chatbot = make(ScriptedModel(["NOT IN THESE DOCUMENTS"]))
    for name, assets in (("Microsoft", 364), ("Apple", 352)):
        pages = [
            (
                f"{name} annual report 2022\nThe total assets of {name} were {assets} billion dollars at "
                f"year end 2022."
            ),
            f"{name} people",
        ]
        list(chatbot.add([Upload(make_pdf(tmp_path / f"{name}.pdf", pages))]))
    digest = next(
        chatbot.library.catalog.digest_of(version)
        for version, name in chatbot.library.scope(()).items()
        if name == "Microsoft.pdf"
    )
    stood_on = (CasePage(digest, "Microsoft.pdf", 1),)
    chatbot.cases.thresholds = replace(chatbot.cases.thresholds, similar=0.1)
    question = "What were the total assets of {} at year end 2022?"
    chatbot.cases.add(
        "me", Case(question.format("Microsoft"), "364 billion.", document_ids=(digest,), pages=stood_on)
    )
    of_apple = question.format("Apple")
    more = chatbot.finder.more(
        Query(of_apple, None, (), "keyword", 4, understand(of_apple, of_apple)), (), 30
    )
    assert "Apple.pdf" in {one.document for one in more} and "Microsoft.pdf" not in {
        one.document for one in more
    }
    answer, _ = ask(chatbot, of_apple, chatbot.conversations.begin("me"))
    assert "Microsoft.pdf" not in {one.document for one in answer.considered}
    answer, _ = ask(chatbot, question.format("Microsoft"), chatbot.conversations.begin("me"))
    assert answer.considered[0].scores["rated"] > 0


def test_a_thumb_down_puts_no_older_edition_in_front_and_is_told(make: Make, tmp_path: Path) -> None:
    chatbot = make(ScriptedModel(["NOT IN THESE DOCUMENTS"]))
    chatbot.remove("Rules.pdf")
    texts = {
        2024: "The reserve floor is 5 per cent of the budget.",
        2019: "The reserve floor is 4 per cent of the budget.",
    }
    for year, text in texts.items():
        pages = [f"Reserve policy {year}\n{text}", f"Reserve policy {year}\nAnnex on the reserve floor."]
        list(chatbot.add([Upload(make_pdf(tmp_path / f"Reserve Policy {year}.pdf", pages))]))
    question, talk = "What is the reserve floor?", chatbot.conversations.begin("me")
    before = ask(chatbot, question, talk)[0].considered
    first = before[0]
    assert first.document == "Reserve Policy 2024.pdf"
    second = next(one for one in before if one.document == "Reserve Policy 2019.pdf")
    rated = chatbot.lending.rated(
        Ask(question, conversation=talk, owner="me"), question, chatbot.library.embedder.embed([question])[0]
    )
    assert not rated.weights and not rated.is_older(second, first), (
        "nothing is looked up where nothing was rated"
    )
    chatbot.cases.add(
        "me",
        Case(
            question,
            "Wrong.",
            0,
            pages=(CasePage(chatbot.library.catalog.digest_of(first.version), first.document, first.page),),
        ),
    )
    rated = chatbot.lending.rated(
        Ask(question, conversation=talk, owner="me"), question, chatbot.library.embedder.embed([question])[0]
    )
    assert rated.is_older(second, first) and not rated.is_older(first, second)
    answer, events = ask(chatbot, question, talk)
    places = [(one.document, one.page) for one in answer.considered]
    older = places.index(("Reserve Policy 2019.pdf", 1))
    assert places.index((first.document, first.page)) < older
    said = [event.text for event in events if isinstance(event, Notice) and "was put back" in event.text]
    assert bool(said) == (places[0] != (first.document, first.page))


def test_a_line_that_was_only_noted_cannot_be_rated(make: Make) -> None:
    chatbot = make()
    talk = chatbot.conversations.begin("me")
    ask(chatbot, "When the deficit ceiling is breached, then warn the minister.", talk)
    with pytest.raises(UsageError, match="no answer from the documents"):
        chatbot.rate(talk, 1, "me", helpful=True)
    assert chatbot.cases.listed("me") == []


def test_purging_a_document_takes_its_words_out_of_all_cases(make: Make) -> None:
    chatbot = make()
    talk = chatbot.conversations.begin("me")
    ask(chatbot, QUESTION, talk)
    chatbot.rate(talk, 1, "me", helpful=True)
    chatbot.cases.share("me", chatbot.cases.listed("me")[0].case.id)
    chatbot.cases.add("me", Case("Who audits?", "The court."))
    chatbot.remove("Rules.pdf", purge=True)
    assert [row.case.question for row in chatbot.cases.listed("me")] == ["Who audits?"]
    assert all(
        b"3.0 per cent" not in line
        for (line,) in chatbot.cases._database.read("select line from rated_answer")
    )


def rated_with_another(chatbot: Chatbot) -> None:
    talk = chatbot.conversations.begin("me")
    ask(chatbot, QUESTION, talk)
    chatbot.rate(talk, 1, "me", helpful=True)
    # Of a file that was never here: nothing of it is erased here.
    chatbot.cases.add("me", Case("Who audits?", "The court.", document_ids=("0" * 64,)))


def test_a_document_that_goes_after_its_days_takes_its_words_out_of_all_cases(make: Make) -> None:
    chatbot = make()
    rated_with_another(chatbot)
    chatbot.remove("Rules.pdf")
    assert len(chatbot.cases.listed("me")) == 2
    with chatbot.library.catalog._write() as connection:
        connection.execute("update document set removed_at = removed_at - 8 * 86400")
    chatbot.close()
    opened = make()
    assert [row.case.question for row in opened.cases.listed("me")] == ["Who audits?"]
    assert all(
        b"3.0 per cent" not in line
        for (line,) in opened.cases._database.read("select line from rated_answer")
    )


def test_a_document_that_is_given_up_at_once_and_swept_later_takes_its_words_out_too(make: Make) -> None:
    """As the browser erases."""
    chatbot = make()
    rated_with_another(chatbot)
    chatbot.library.retire("Rules.pdf")
    chatbot.library.sweep()
    assert [row.case.question for row in chatbot.cases.listed("me")] == ["Who audits?"]


def test_the_same_file_under_another_name_keeps_its_ratings(make: Make, tmp_path: Path) -> None:
    chatbot = make()
    rated_with_another(chatbot)
    list(
        chatbot.add(
            [Upload(chatbot.library.file(next(iter(chatbot.library.scope(["Rules.pdf"])))), "Twin.pdf")]
        )
    )
    chatbot.remove("Rules.pdf", purge=True)
    assert len(chatbot.cases.listed("me")) == 2


def test_ratings_that_cannot_be_read_keep_no_document_from_going(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    chatbot = make()
    rated_with_another(chatbot)
    with monkeypatch.context() as broken:
        broken.setattr(
            Cases,
            "forget",
            lambda self, digests: (
                (_ for _ in ()).throw(StoreError("The ratings cannot be read.")) if digests else None
            ),
        )
        with pytest.raises(StoreError, match="cannot be read"):
            chatbot.remove("Rules.pdf", purge=True)
    assert chatbot.documents() == [] and len(chatbot.cases.listed("me")) == 2
    chatbot.settle(Ask(QUESTION, conversation=chatbot.conversations.begin("me"), owner="me"))
    assert len(chatbot.cases.listed("me")) == 1


# --- in the prompt
# ------------------------------------------------------------------------------------------------------------


def sent(answer: Answer) -> str:
    assert answer.prompt is not None
    return "\n".join(content for _, content in answer.prompt.messages)


def test_the_prompt_has_examples_where_there_are_cases_and_no_section_where_there_are_none(
    make: Make,
) -> None:
    chatbot = make(ScriptedModel(["The deficit ceiling is 3.0 per cent."]))
    talk = chatbot.conversations.begin("me")
    answer, _ = ask(chatbot, QUESTION, talk)
    assert "Remembered notes" not in sent(answer) and answer.notes == ()
    chatbot.cases.add("me", Case(QUESTION, "It is 3.0 per cent of output."))
    chatbot.cases.add("me", Case(f"{QUESTION} now", "It is 9 per cent.", 0, word="Wrong year."))
    chatbot.cases.thresholds = replace(chatbot.cases.thresholds, similar=0.5)
    answer, _ = ask(chatbot, QUESTION, chatbot.conversations.begin("me"))
    text = sent(answer)
    assert "Remembered notes:\n- (cases, your rating" in text and text.index(
        "An example to follow"
    ) < text.index("An example to avoid")
    assert "It is 3.0 per cent of output." in text and "Wrong year." in text
    chatbot.conversations.switch(talk, "me", "cases", on=False)
    assert "Remembered notes" not in sent(ask(chatbot, "What is the deficit ceiling now?", talk)[0])


def test_answers_go_on_without_cases_that_cannot_be_read(make: Make) -> None:
    chatbot = make()
    talk = chatbot.conversations.begin("me")
    ask(chatbot, QUESTION, talk)
    chatbot.rate(talk, 1, "me", helpful=True)
    with chatbot.cases._database.write() as connection:
        connection.execute("alter table rated_shelf rename to damaged")
    answer, events = ask(chatbot, QUESTION, talk)
    assert answer.answered and "3.0 per cent" in answer.text and not remembered(events)
    said = [event.text for event in events if isinstance(event, Notice)]
    assert any(
        text.startswith("Answered without rated answers: The memories (memory.sqlite3) cannot be used")
        for text in said
    )
    odd = (
        b'{"question": "What is the deficit ceiling of all?", "plan": "P", "document_ids": ["\\ud800"], '
        b'"word": "\\ud800"}\n'
    )
    with chatbot.cases._database.write() as connection:
        connection.execute("alter table damaged rename to rated_shelf")
        connection.execute(
            "insert into rated_answer (shelf, id, line) values (?, 'x', ?)", (hidden("me"), odd)
        )
    assert ask(chatbot, QUESTION, talk)[0].answered
    chatbot.cases.catch_up("me")
    assert ask(chatbot, "What is the deficit ceiling of all?", talk)[0].question
    assert "What is the deficit ceiling of all?" in {row.case.question for row in chatbot.cases.listed("me")}


def test_a_verdict_is_of_the_documents_that_were_asked(make: Make, tmp_path: Path) -> None:
    chatbot = make()
    talk = chatbot.conversations.begin("me")
    list(
        chatbot.add(
            [
                Upload(
                    make_pdf(
                        tmp_path / "Other.pdf",
                        ["Rules of others\nThe deficit ceiling is 9.0 per cent of output."],
                    )
                )
            ]
        )
    )

    def asked(*names: str) -> tuple[Answer, list[Event]]:
        events = list(chatbot.ask(Ask(QUESTION, names, talk, owner="me")))
        assert isinstance(events[-1], Answer)
        return events[-1], events

    for number, name in enumerate(("Rules.pdf", "Other.pdf"), 1):
        asked(name)
        chatbot.rate(talk, number, "me", helpful=True)
    assert sorted(row.case.asked_of for row in chatbot.cases.listed("me")) == [("Other.pdf",), ("Rules.pdf",)]
    for name, figure in (("Rules.pdf", "3.0"), ("Other.pdf", "9.0")):
        answer, events = asked(name)
        assert remembered(events) and figure in answer.text
        assert chatbot.cases.rated("me", answer) is not None
    answer, events = asked()
    assert not remembered(events) and chatbot.cases.rated("me", answer) is None, (
        "of all documents it is another question"
    )
    chatbot.rate(talk, 5, "me", helpful=True)
    assert remembered(asked()[1])
