"""Ratings at work in the whole chatbot: the answer rated helpful comes back checked, the one rated wrong
does not, and pages rise and fall visibly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from chatbot.asking.answering import SET_ASIDE
from chatbot.asking.question import Ask
from chatbot.errors import NotFoundError, StoreError, UsageError
from chatbot.memory.cases.case_store import Cases
from chatbot.memory.cases.feedback_rerank import FeedbackRerank, PageWeight
from chatbot.memory.cases.records import Case, CasePage
from chatbot.records import Answer, Event, Hit, Notice, Prompt
from chatbot.search.question_terms import understand
from chatbot.search.retrieval import Query
from chatbot.service import Chatbot
from chatbot.store.library import Upload
from tests.chatbot.memory.cases.kept_cases import kept
from tests.fakes import ScriptedModel
from tests.pdfs import make_pdf
from tests.stores import RULES, Make

QUESTION = "What is the deficit ceiling?"
ADVICE = "When the deficit ceiling is breached, then warn the minister."
OTHERS = "Rules of others\nThe deficit ceiling is 9.0 per cent of output."


@pytest.fixture
def pages() -> Sequence[str]:
    return (*RULES, "Ceilings\nThe deficit ceiling of the regions is 0.5 per cent of their revenue.")


def ask(
    chatbot: Chatbot, question: str, talk: str, owner: str = "me", documents: tuple[str, ...] = ()
) -> tuple[Answer, list[Event]]:
    events = list(chatbot.ask(Ask(question, documents, talk, owner=owner)))
    answer = events[-1]
    assert isinstance(answer, Answer)
    return answer, events


def notices(events: list[Event]) -> list[str]:
    return [event.text for event in events if isinstance(event, Notice)]


def remembered(events: list[Event]) -> bool:
    return any(text.startswith("Remembered: you rated this answer helpful") for text in notices(events))


def remembers(chatbot: Chatbot, question: str, talk: str, owner: str = "me") -> bool:
    """Whether the question is answered with an answer that was rated."""
    _, events = ask(chatbot, question, talk, owner)
    return remembered(events)


def add(chatbot: Chatbot, path: Path, *pages: str) -> None:
    """Add a document of these pages."""
    upload = Upload(make_pdf(path, pages))
    list(chatbot.add([upload]))


@dataclass(frozen=True)
class Rated:
    """A chatbot, and a conversation in which one answer was rated helpful."""

    chatbot: Chatbot
    talk: str
    first: Answer

    def remembers(self, question: str = QUESTION) -> bool:
        return remembers(self.chatbot, question, self.talk)


def rate(chatbot: Chatbot, question: str = QUESTION, word: str = "", *, helpful: bool = True) -> Rated:
    talk = chatbot.conversations.begin("me")
    first, _ = ask(chatbot, question, talk)
    chatbot.rate(talk, 1, "me", helpful=helpful, word=word)
    return Rated(chatbot, talk, first)


@pytest.fixture
def rated(make: Make) -> Rated:
    return rate(make())


def case_of(chatbot: Chatbot) -> Case:
    """The only case."""
    (case,) = kept(chatbot.cases)
    return case


def add_wrong(chatbot: Chatbot, question: str, hit: Hit) -> str:
    """Add a wrong answer that was given from there; its id."""
    digest = chatbot.library.catalog.digest_of(hit.version)
    page = CasePage(digest, hit.document, hit.page)
    wrong = Case(question, "Wrong.", 0, pages=(page,))
    return chatbot.cases.add("me", wrong).id


def questions_kept(chatbot: Chatbot) -> list[str]:
    return [case.question for case in kept(chatbot.cases)]


def test_an_answer_rated_helpful_comes_back_checked_and_marked(make: Make) -> None:
    rated = rate(make(), word="just what I needed")
    first, chatbot = rated.first, rated.chatbot
    other = chatbot.conversations.begin("me")
    again, events = ask(chatbot, "what is the deficit ceiling", other)
    assert remembered(events)
    assert again.text == first.text
    for one, before in zip(again.citations, first.citations, strict=True):
        assert (one.document, one.page) == (before.document, before.page)
        assert one.verified
    assert all(number.status == "supported" for number in again.numbers)


def test_another_question_and_another_owner_are_answered_anew(rated: Rated) -> None:
    conversations = rated.chatbot.conversations
    other = conversations.begin("me")
    assert not remembers(rated.chatbot, "What is the debt anchor?", other)
    hers = conversations.begin("her")
    assert not remembers(rated.chatbot, QUESTION, hers, "her")
    assert remembers(rated.chatbot, QUESTION, other)
    conversations.switch(other, "me", "cases", on=False)
    assert not remembers(rated.chatbot, QUESTION, other)


def test_a_newer_verdict_a_changed_document_and_a_deleted_case_end_it(rated: Rated, tmp_path: Path) -> None:
    chatbot = rated.chatbot
    assert rated.remembers()
    chatbot.rate(rated.talk, 1, "me", helpful=False)
    assert not rated.remembers()
    chatbot.rate(rated.talk, 1, "me", helpful=True)
    changed = "Fiscal rules\nThe deficit ceiling is 2.0 per cent of output in every year."
    add(chatbot, tmp_path / "Rules.pdf", changed)
    answer, events = ask(chatbot, QUESTION, rated.talk)
    assert not remembered(events)
    assert "2.0 per cent" in answer.text
    (row,) = chatbot.cases.listed("me")
    assert row.stale


def test_ratings_bring_no_page_of_documents_that_are_not_asked(make: Make, tmp_path: Path) -> None:
    chatbot = make()
    add(chatbot, tmp_path / "Other.pdf", OTHERS)
    rated = rate(chatbot)
    answered = chatbot.memory.answer(rated.talk, 1, "me")
    assert answered
    cited = {citation.document for citation in answered.citations}
    (other,) = {"Rules.pdf", "Other.pdf"} - cited or {"Other.pdf"}
    answer, events = ask(chatbot, QUESTION, rated.talk, documents=(other,))
    assert not remembered(events)
    assert {hit.document for hit in answer.considered} == {other}


def test_pages_rated_wrong_fall_and_that_is_shown_and_reversible(make: Make) -> None:
    chatbot = make(ScriptedModel(["NOT IN THESE DOCUMENTS"]))
    talk = chatbot.conversations.begin("me")
    before, _ = ask(chatbot, QUESTION, talk)
    first = before.considered[0]
    wrong = add_wrong(chatbot, QUESTION, first)
    after, _ = ask(chatbot, QUESTION, talk)
    lowered = next(hit for hit in after.considered if hit.page == first.page)
    assert lowered.scores["rated"] < 0
    assert lowered.score < first.score
    chatbot.cases.delete("me", wrong)
    again, _ = ask(chatbot, QUESTION, talk)
    assert again.considered[0].scores.get("rated") is None


def test_what_cannot_be_rated_is_said(make: Make) -> None:
    chatbot = make()
    private = chatbot.conversations.begin("me", private=True)
    ask(chatbot, QUESTION, private)
    with pytest.raises(UsageError, match="Private"):
        chatbot.rate(private, 1, "me", helpful=True)
    talk = chatbot.conversations.begin("me")
    ask(chatbot, "Who built the lighthouse of Heligoland?", talk)
    with pytest.raises(UsageError):
        chatbot.rate(talk, 1, "me", helpful=True)
    with pytest.raises(NotFoundError):
        chatbot.rate(talk, 1, "her", helpful=True)


@pytest.fixture
def advised(make: Make) -> Chatbot:
    return make(ScriptedModel(["The deficit ceiling is 3.0 per cent."]))


def test_advice_in_a_private_conversation_is_not_noted(advised: Chatbot) -> None:
    private = advised.conversations.begin("me", private=True)
    told, _ = ask(advised, "When debt rises, then sell bonds.", private)
    assert told.text.startswith("Not saved")
    assert advised.situations.listed("me") == []


def hit(page: int, score: float, document: str = "Budget (1).pdf") -> Hit:
    return Hit(document, 1, page, None, None, "text", None, f"1-{page}", "text", score=score)


def hits(*scores: tuple[int, float]) -> list[Hit]:
    return [hit(page, score) for page, score in scores]


def prompt_of(**sources: Hit) -> Prompt:
    """A prompt with these sources; S1 stands for the key S1-ab."""
    keyed = {f"{key}-ab": source for key, source in sources.items()}
    return Prompt("q", "q", keyed, (), (), (), "ab")


def weighed(weights: dict[int, float], *cases: Case) -> dict[tuple[str, int], PageWeight]:
    return {("d", page): PageWeight("d", page, weight, cases) for page, weight in weights.items()}


def reranking(weights: dict[int, float], *cases: Case) -> FeedbackRerank:
    return FeedbackRerank(weighed(weights, *cases), lambda version: "d")


def moved_hits(rated: FeedbackRerank, before: list[Hit], *more: tuple[int, float]) -> list[Hit]:
    """The hits as rated. more: pages and scores of the further ones that can be found."""
    return rated.applied(before, lambda names, k: hits(*more))


def moved_pages(rated: FeedbackRerank, before: list[Hit], *more: tuple[int, float]) -> list[int]:
    moved = moved_hits(rated, before, *more)
    return [one.page for one in moved]


TWO = hits((1, 0.9), (2, 0.8))


def test_weights_move_pages_by_so_much_and_drop_none() -> None:
    rated = reranking({3: 0.2, 1: -0.2})
    moved = moved_hits(rated, TWO, (1, 0.9), (2, 0.8), (3, 0.65), (4, 0.6))
    raised, unrated, lowered = moved
    assert raised.page == 3
    assert unrated.page == 2
    assert lowered.page == 1
    assert raised.score == pytest.approx(0.85)
    assert unrated.score == pytest.approx(0.8)
    assert lowered.score == pytest.approx(0.7)
    assert raised.scores == {"rated": 0.2}
    assert moved_hits(FeedbackRerank(), TWO) == TWO


def test_a_page_is_brought_only_by_a_rating_that_puts_it_before_another() -> None:
    rated = reranking({3: 0.2, 1: -0.2})
    lower = moved_pages(rated, TWO, (3, 0.4), (1, 0.9))
    assert lower == [2, 1], "a page that passes no other is not brought"
    unweighed = moved_pages(rated, [hit(5, 0.9)], (6, 0.95))
    assert unweighed == [5], "nor is one that nobody rated"
    lowered = moved_pages(rated, [hit(1, 0.9)], (6, 0.85))
    assert lowered == [1], "though it is above one that was rated wrong"
    four = [hit(page, 0.9) for page in (5, 6, 7, 8)]
    brought = moved_pages(rated, four, (9, 0.89), (3, 0.88))
    assert brought == [3, 5, 6, 7, 8], "nor does it take the place of one that was"


def test_pages_that_stand_elsewhere_are_told_with_the_rating_that_moved_them() -> None:
    before = hits((1, 0.9), (2, 0.8), (3, 0.75))
    mine = Case("What was debt?", "A", 0)
    shared = Case("What was income?", "B", 1, by="x")
    rated = reranking({1: -0.2, 3: 0.1, 4: 0.2}, mine, shared)
    after = moved_hits(rated, before, (4, 0.7))
    assert [one.page for one in after] == [4, 3, 2, 1]
    helpful = "was put forward: someone here rated an answer from it helpful (“What was income?”)."
    first, second, third = rated.told(before, after)
    assert first.text == f"Budget (1).pdf, p. 4, {helpful}"
    assert second.text == f"Budget (1).pdf, p. 3, {helpful}"
    not_helpful = "was put back: you rated an answer from it not helpful (“What was debt?”)."
    assert third.text == f"Budget (1).pdf, p. 1, {not_helpful}"
    assert rated.told(before, before) == []


def test_only_an_answer_each_page_of_which_is_put_as_a_key_is_remembered() -> None:
    name = "Rules; p. 1 (final).pdf"
    page = CasePage("d", name, 8)
    annex = CasePage("d", "Annex.pdf", 2)
    of_page = hit(8, 1, name)
    of_annex = hit(2, 1, "Annex.pdf")
    prompt = prompt_of(S1=of_page, S2=of_annex)

    def text(plan: str, *pages: CasePage) -> str:
        rated = FeedbackRerank(case=Case("q", plan, pages=pages))
        return rated.text(prompt)

    both = text(f"It cost 5 ({name}, p. 8; Annex.pdf, p. 2).", page, annex)
    assert both == "It cost 5 [S1-ab][S2-ab]."
    one = text(f"It cost 5 ({name}, p. 8).", page, annex)
    assert one == "", "a page that the answer does not name"
    assert text("It cost 5.") == ""
    assert text("It cost 5 (Rules, p. 8).", page) == ""


def test_what_does_not_stand_up_to_a_new_check_is_not_remembered(rated: Rated) -> None:
    chatbot = rated.chatbot
    case = case_of(chatbot)
    page = next(page for page in case.pages if page.page == 1)
    plan = "The deficit ceiling is {} per cent of output (Rules.pdf, p. 1)."
    of_page = replace(case, pages=(page,), at=0.0)
    right = replace(of_page, plan=plan.format("3.0"))
    chatbot.cases.add("me", right)
    assert rated.remembers()
    wrong = replace(of_page, plan=plan.format("9.9"))
    chatbot.cases.add("me", wrong)
    answer, events = ask(chatbot, QUESTION, rated.talk)
    assert not remembered(events)
    assert "9.9" not in answer.text
    assert "3.0 per cent" in answer.text


def test_a_shared_answer_is_remembered_as_somebody_elses(rated: Rated) -> None:
    chatbot = rated.chatbot
    hers = chatbot.conversations.begin("her")
    chatbot.cases.share("me", case_of(chatbot).id)

    def told() -> list[str]:
        _, events = ask(chatbot, QUESTION, hers, "her")
        return [text for text in notices(events) if text.startswith("Remembered")]

    (told_once,) = told()
    assert told_once.startswith("Remembered: someone here rated this answer helpful on")
    assert "you rated" not in told_once
    chatbot.rate(rated.talk, 1, "me", helpful=False)
    assert told() == []


def test_what_an_answer_rated_not_helpful_quoted_comes_after_other_passages(make: Make) -> None:
    question = "What is the deficit ceiling of the regions?"
    rated = rate(make(), question, helpful=False)
    chatbot, first = rated.chatbot, rated.first
    other = chatbot.conversations.begin("me")
    again, events = ask(chatbot, question.lower(), other)
    assert again.text != first.text
    assert again.citations
    assert all(one.verified for one in again.citations)
    said, *_ = again.text.split("[")
    assert first.citations[0].quote not in said
    assert SET_ASIDE in notices(events)
    hers = chatbot.conversations.begin("her")
    for_her, _ = ask(chatbot, question, hers, "her")
    assert for_her.text == first.text
    _, of_another = ask(chatbot, "What is the debt anchor?", other)
    assert SET_ASIDE not in notices(of_another)
    chatbot.cases.delete("me", case_of(chatbot).id)
    afterwards, _ = ask(chatbot, question, rated.talk)
    assert afterwards.text == first.text


def test_a_rating_brings_no_page_of_another_than_the_question_names(make: Make, tmp_path: Path) -> None:
    chatbot = make(ScriptedModel(["NOT IN THESE DOCUMENTS"]))
    report = "{0} annual report 2022\nThe total assets of {0} were {1} billion dollars at year end 2022."
    for name, assets in (("Microsoft", 364), ("Apple", 352)):
        add(chatbot, tmp_path / f"{name}.pdf", report.format(name, assets), f"{name} people")
    (microsoft,) = chatbot.library.scope(["Microsoft.pdf"])
    digest = chatbot.library.catalog.digest_of(microsoft)
    stood_on = CasePage(digest, "Microsoft.pdf", 1)
    chatbot.cases.similar = 0.1
    of_microsoft = "What were the total assets of Microsoft at year end 2022?"
    case = Case(of_microsoft, "364 billion.", document_ids=(digest,), pages=(stood_on,))
    chatbot.cases.add("me", case)
    of_apple = "What were the total assets of Apple at year end 2022?"
    understood = understand(of_apple, of_apple)
    query = Query(of_apple, None, (), "keyword", 4, understood)
    more = chatbot.finder.more(query, (), 30)
    documents = {one.document for one in more}
    assert "Apple.pdf" in documents
    assert "Microsoft.pdf" not in documents
    answer, _ = ask(chatbot, of_apple, chatbot.conversations.begin("me"))
    assert "Microsoft.pdf" not in {one.document for one in answer.considered}
    answer, _ = ask(chatbot, of_microsoft, chatbot.conversations.begin("me"))
    assert answer.considered[0].scores["rated"] > 0


def test_a_thumb_down_puts_no_older_edition_in_front_and_is_told(make: Make, tmp_path: Path) -> None:
    chatbot = make(ScriptedModel(["NOT IN THESE DOCUMENTS"]))
    chatbot.remove("Rules.pdf")
    for year, floor in ((2024, 5), (2019, 4)):
        policy = f"Reserve policy {year}\nThe reserve floor is {floor} per cent of the budget."
        annex = f"Reserve policy {year}\nAnnex on the reserve floor."
        add(chatbot, tmp_path / f"Reserve Policy {year}.pdf", policy, annex)
    question = "What is the reserve floor?"
    talk = chatbot.conversations.begin("me")
    before, _ = ask(chatbot, question, talk)
    first = before.considered[0]
    assert first.document == "Reserve Policy 2024.pdf"
    second = next(one for one in before.considered if one.document == "Reserve Policy 2019.pdf")
    asked = Ask(question, conversation=talk, owner="me")
    vector = chatbot.library.embedder.embed([question])[0]
    unrated = chatbot.memory_context.rated(asked, question, vector)
    assert not unrated.weights
    assert not unrated.is_older(second, first), "nothing is looked up where nothing was rated"
    add_wrong(chatbot, question, first)
    rated = chatbot.memory_context.rated(asked, question, vector)
    assert rated.is_older(second, first)
    assert not rated.is_older(first, second)
    answer, events = ask(chatbot, question, talk)
    places = [(one.document, one.page) for one in answer.considered]
    newer = (first.document, first.page)
    older = ("Reserve Policy 2019.pdf", 1)
    assert places.index(newer) < places.index(older)
    said = [text for text in notices(events) if "was put back" in text]
    assert bool(said) == (places[0] != newer)


def test_a_line_that_was_only_noted_cannot_be_rated(make: Make) -> None:
    chatbot = make()
    talk = chatbot.conversations.begin("me")
    ask(chatbot, ADVICE, talk)
    with pytest.raises(UsageError, match="not from the documents"):
        chatbot.rate(talk, 1, "me", helpful=True)
    assert chatbot.cases.listed("me") == []


def holds_the_answer(chatbot: Chatbot) -> bool:
    """Whether the memories hold the document's words."""
    rows = chatbot.memories.read("select payload from item")
    return any("3.0 per cent" in line for (line,) in rows)


def test_purging_a_document_takes_its_words_out_of_all_cases(rated: Rated) -> None:
    chatbot = rated.chatbot
    chatbot.cases.share("me", case_of(chatbot).id)
    chatbot.cases.add("me", Case("Who audits?", "The court."))
    assert holds_the_answer(chatbot)
    chatbot.remove("Rules.pdf", purge=True)
    assert questions_kept(chatbot) == ["Who audits?"]
    assert not holds_the_answer(chatbot)


@pytest.fixture
def with_another(rated: Rated) -> Chatbot:
    """With two cases, one of a document that it has and another of one that it has not."""
    # Of a file that was never here: nothing of it is erased here.
    another = Case("Who audits?", "The court.", document_ids=("0" * 64,))
    rated.chatbot.cases.add("me", another)
    return rated.chatbot


def test_the_same_file_under_another_name_keeps_its_ratings(with_another: Chatbot) -> None:
    library = with_another.library
    (version,) = library.scope(["Rules.pdf"])
    twin = Upload(library.file(version), "Twin.pdf")
    list(with_another.add([twin]))
    with_another.remove("Rules.pdf", purge=True)
    assert len(with_another.cases.listed("me")) == 2


def test_ratings_that_cannot_be_read_keep_no_document_from_going(
    with_another: Chatbot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(cases: Cases, digests: set[str]) -> None:
        if digests:
            raise StoreError("The ratings cannot be read.")

    with monkeypatch.context() as broken:
        broken.setattr(Cases, "forget", fails)
        with pytest.raises(StoreError, match="cannot be read"):
            with_another.remove("Rules.pdf", purge=True)
    assert with_another.documents() == []
    assert len(with_another.cases.listed("me")) == 2
    talk = with_another.conversations.begin("me")
    with_another.settle(Ask(QUESTION, conversation=talk, owner="me"))
    assert len(with_another.cases.listed("me")) == 1


def sent(answer: Answer) -> str:
    assert answer.prompt is not None
    return "\n".join(content for _, content in answer.prompt.messages)


def test_the_prompt_has_examples_where_there_are_cases_and_no_section_where_there_are_none(
    make: Make,
) -> None:
    chatbot = make(ScriptedModel(["The deficit ceiling is 3.0 per cent."]))
    talk = chatbot.conversations.begin("me")
    answer, _ = ask(chatbot, QUESTION, talk)
    assert "Remembered notes" not in sent(answer)
    assert answer.notes == ()
    good = Case(QUESTION, "It is 3.0 per cent of output.")
    bad = Case(f"{QUESTION} now", "It is 9 per cent.", 0, word="Wrong year.")
    chatbot.cases.add("me", good)
    chatbot.cases.add("me", bad)
    chatbot.cases.similar = 0.5
    answer, _ = ask(chatbot, QUESTION, chatbot.conversations.begin("me"))
    text = sent(answer)
    assert "Remembered notes:\n- (cases, your rating" in text
    assert text.index("An example to follow") < text.index("An example to avoid")
    assert "It is 3.0 per cent of output." in text
    assert "Wrong year." in text
    chatbot.conversations.switch(talk, "me", "cases", on=False)
    answer, _ = ask(chatbot, "What is the deficit ceiling now?", talk)
    assert "Remembered notes" not in sent(answer)


def test_answers_go_on_without_cases_that_cannot_be_read(rated: Rated) -> None:
    chatbot = rated.chatbot
    with chatbot.memories.write() as connection:
        connection.execute("alter table item_changes rename to damaged")
    answer, events = ask(chatbot, QUESTION, rated.talk)
    assert answer.answered
    assert "3.0 per cent" in answer.text
    assert not remembered(events)
    reason = "Answered without rated answers: The memories (memory.sqlite3) cannot be used"
    assert any(text.startswith(reason) for text in notices(events))


def test_a_verdict_is_of_the_documents_that_were_asked(make: Make, tmp_path: Path) -> None:
    chatbot = make()
    talk = chatbot.conversations.begin("me")
    add(chatbot, tmp_path / "Other.pdf", OTHERS)

    def asked(*names: str) -> tuple[Answer, list[Event]]:
        return ask(chatbot, QUESTION, talk, documents=names)

    for number, name in enumerate(("Rules.pdf", "Other.pdf"), 1):
        asked(name)
        chatbot.rate(talk, number, "me", helpful=True)
    documents = [case.asked_of for case in kept(chatbot.cases)]
    assert sorted(documents) == [("Other.pdf",), ("Rules.pdf",)]
    for name, figure in (("Rules.pdf", "3.0"), ("Other.pdf", "9.0")):
        answer, events = asked(name)
        assert remembered(events)
        assert figure in answer.text
        assert chatbot.cases.rated("me", answer) is not None
    answer, events = asked()
    assert not remembered(events)
    assert chatbot.cases.rated("me", answer) is None, "of all documents it is another question"
    chatbot.rate(talk, 5, "me", helpful=True)
    _, events = asked()
    assert remembered(events)
