"""Ratings under answers, the switches of the memories and the Memory page, over a real store and without a
browser.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO

import pytest
from streamlit.testing.v1 import AppTest

from chatbot.asking.question import Ask
from chatbot.errors import StoreError
from chatbot.memory.cases import case_tab as memory_cases
from chatbot.memory.cases.case_store import SHARED, CaseHealth, CaseRow, Cases, hidden
from chatbot.memory.cases.records import Case, CasePage
from chatbot.memory.conversations.conversation_store import PRIVATE, Conversations
from chatbot.memory.import_files import ImportedLines, LineProblem
from chatbot.memory.situations import situation_tab as memory_advice
from chatbot.memory.situations.situation_store import SituationHealth, Situations
from chatbot.memory.situations.situation_types import Situation
from chatbot.records import MEMORY, Answer
from chatbot.ui.app_context import AppContext
from chatbot.ui.file_import import FileImport, outcome_lines
from chatbot.ui.ratings import is_ratable
from chatbot.ui.running_questions import Given
from chatbot.ui.safe_text import case_html, situation_html
from tests.pages import ME, OTHER, click, keys, shown, visit

CEILING = "What is the deficit ceiling?"
HOSTILE = "<b>bold</b> $x$ :red[y]"


@pytest.fixture
def store(context: AppContext) -> Iterator[Conversations]:
    """Its conversations; nothing that anybody said, rated or advised is left afterwards."""
    chatbot = context.chatbot
    yield chatbot.conversations
    for owner in (ME, OTHER):
        for row in [*chatbot.conversations.listed(owner), *chatbot.conversations.listed(owner, deleted=True)]:
            chatbot.conversations.erase(row.id, owner)
        mine = hidden(owner)
        for listed in chatbot.cases.listed(owner, shared=True):
            if listed.case.by == mine:
                chatbot.cases.unshare(owner, listed.case.id)
        for listed in chatbot.cases.listed(owner):
            chatbot.cases.delete(owner, listed.case.id)
        chatbot.cases._deleted(owner).remove(lambda case: True)
        for one in chatbot.situations.listed(owner):
            chatbot.situations.remove(owner, one.key)


@pytest.fixture
def cases(context: AppContext, store: Conversations) -> Cases:
    return context.chatbot.cases


@pytest.fixture
def situations(context: AppContext, store: Conversations) -> Situations:
    return context.chatbot.situations


def answered(context: AppContext, conversation: str = "mine", question: str = CEILING) -> Answer:
    """A question of ME that was asked and answered in a conversation."""
    context.chatbot.conversations.begin(ME, conversation)
    list(context.chatbot.ask(Ask(question, conversation=conversation, owner=ME)))
    answer = context.chatbot.memory.answer(conversation, 1, ME)
    assert answer is not None
    return answer


def advice_tab() -> AppTest:
    app = visit("memory_page.py")
    app.session_state["memory-tab"] = "Advice"
    app.run()
    assert not app.exception
    return app


# --- under answers
# ------------------------------------------------------------------------------------------------------------


def test_an_answer_is_rated_turned_given_a_word_and_taken_back(context: AppContext, cases: Cases) -> None:
    answered(context)
    app = visit(conversation="mine")
    assert (
        app.button(key="helpful-1").label == "Helpful"
        and app.button(key="unhelpful-1").label == "Not helpful"
    )
    assert "Rated" not in shown(app) and not [box for box in app.text_input if box.label == "Why? (optional)"]
    assert "Rated helpful<" in click(app, "helpful-1")
    assert [row.case.reward for row in cases.listed(ME)] == [1]
    assert "Rated not helpful<" in click(app, "unhelpful-1")
    app.text_input(key="why-0-1").set_value(HOSTILE).run()
    (row,) = cases.listed(ME)
    assert (row.case.reward, row.case.word) == (0, HOSTILE)
    assert "“&lt;b&gt;bold&lt;/b&gt; $x$ :red[y]”" in shown(app)
    assert not [box for box in app.text_input if box.label == "Why? (optional)"]
    assert "Rated not helpful" in shown(visit(conversation="mine"))
    assert "Rated" not in click(app, "unhelpful-1")
    assert cases.listed(ME) == []


def test_a_remembered_answer_says_so_and_is_marked(context: AppContext, cases: Cases) -> None:
    answered(context)
    app = visit(conversation="mine")
    click(app, "helpful-1")
    app.chat_input[0].set_value(CEILING).run()
    assert not app.exception
    assert "Remembered: you rated this answer helpful on" in shown(app)
    assert shown(app).count("Rated helpful<") == 2
    assert shown(visit(conversation="mine")).count("Rated helpful<") == 2


def test_a_verdict_on_another_answer_to_the_question_does_not_mark_this_one(
    context: AppContext, cases: Cases
) -> None:
    answer = answered(context)
    cases.rate(ME, replace(answer, text="Another answer, of before."), 0)
    app = visit(conversation="mine")
    assert "Rated" not in shown(app)
    click(app, "helpful-1")
    assert [row.case.reward for row in cases.listed(ME)] == [1]


def test_what_is_no_answer_has_no_buttons(context: AppContext, store: Conversations) -> None:
    answered(context, "refused", "Who won the football world cup?")
    answered(context, "noted", "When inflation rises above target, then shorten duration.")
    store.begin(ME, "stopped")
    store.write("stopped", store.start("stopped", CEILING), "Words", state="stopped", owner=ME)
    for address in ("refused", "noted", "stopped"):
        assert keys(visit(conversation=address), "helpful-") == []
    assert "no page was searched" in shown(visit(conversation="noted"))
    private = store.begin(ME, private=True)
    list(context.chatbot.ask(Ask(CEILING, conversation=private, owner=ME)))
    app = visit(conversation=private)
    assert keys(app, "cite-1-") and not keys(app, "helpful-")


@pytest.mark.parametrize(
    ("changes", "number", "ratable"),
    [
        ({}, 1, True),
        ({}, -1, False),
        ({"answered": False}, 1, False),
        ({"error": "It failed."}, 1, False),
        ({"model": MEMORY}, 1, False),
        ({"conversation": None}, 1, False),
        ({"conversation": f"{PRIVATE}x"}, 1, False),
    ],
)
def test_what_can_be_rated(changes: dict[str, object], number: int, ratable: bool) -> None:
    answer = Answer("?", "?", "Said.", True, conversation="mine")
    assert is_ratable(Given(number, replace(answer, **changes))) == ratable  # type: ignore[arg-type]


def test_a_rating_that_fails_is_told_once_at_its_answer(
    context: AppContext, cases: Cases, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered(context)
    app = visit(conversation="mine")

    def full(*_: object, **__: object) -> None:
        raise StoreError("The disk is full.", hint="Make room.")

    with monkeypatch.context() as patch:
        patch.setattr(context.chatbot, "rate", full)
        assert click(app, "helpful-1").count("The disk is full.") == 1
        app.run()
        assert "The disk is full." not in shown(app)
    assert "The disk is full." not in click(app, "helpful-1")
    with monkeypatch.context() as patch:
        patch.setattr(context.chatbot.cases, "delete", full)
        assert "Make room." in click(app, "helpful-1")
    (row,) = cases.listed(ME)
    cases.delete(ME, row.case.id)  # in another tab
    text = click(app, "helpful-1")
    assert "Rated" not in text and 'class="notice"' not in text
    assert cases.listed(ME) == []
    with monkeypatch.context() as patch:
        patch.setattr(context.chatbot.cases, "rated", full)
        app.run()
        assert not app.exception and "The disk is full." in shown(app) and keys(app, "cite-1-")


def test_a_conversation_does_without_a_memory(
    context: AppContext, store: Conversations, cases: Cases
) -> None:
    answered(context)
    app = visit(conversation="mine")
    click(app, "helpful-1")
    app.session_state["menu-open-mine"] = True
    app.run()
    assert app.toggle(key="cases-open-mine").label == "Use my ratings"
    app.toggle(key="cases-open-mine").set_value(False).run()
    assert store.get("mine", ME).off == {"cases"}
    app.toggle(key="situations-open-mine").set_value(False).run()
    assert store.get("mine", ME).off == {"cases", "situations"}
    app.chat_input[0].set_value(CEILING).run()
    assert "Remembered:" not in shown(app)
    app.toggle(key="cases-open-mine").set_value(True).run()
    assert store.get("mine", ME).off == {"situations"}
    assert not app.exception


def test_the_menu_in_the_list_has_the_switches_of_the_title(
    context: AppContext, store: Conversations
) -> None:
    for conversation in ("mine", "other"):
        answered(context, conversation)
    app = visit(conversation="mine")
    app.session_state["menu-row-other"] = True
    app.run()
    switches = [toggle for toggle in app.toggle if str(toggle.key).endswith("-row-other")]
    assert [str(toggle.key).split("-")[0] for toggle in switches] == [
        "shortens",
        "recalls",
        "cases",
        "situations",
        "signals",
    ]
    app.toggle(key="signals-row-other").set_value(False).run()
    app.toggle(key="recalls-row-other").set_value(True).run()
    assert (
        not app.exception
        and store.get("other", ME).off == {"signals"}
        and store.get("other", ME).recalls_others
    )
    assert store.get("mine", ME).off == frozenset() and not store.get("mine", ME).recalls_others


# --- rated answers
# ------------------------------------------------------------------------------------------------------------


def test_an_empty_memory_teaches(cases: Cases, situations: Situations) -> None:
    app = visit("memory_page.py")
    assert "No answer is rated yet." in shown(app)
    assert "No advice" not in shown(app)  # a tab that is not open is not drawn
    assert not [box for box in app.text_input if box.key == "find-cases"]
    app = advice_tab()
    assert "No advice is recorded yet." in shown(app)
    assert not [box for box in app.text_input if box.key == "find-advice"]


def test_rated_answers_are_searched_and_only_ones_own(cases: Cases) -> None:
    for number in range(22):
        cases.add(ME, Case(f"About {HOSTILE} {number}?", "Said.", number % 2))
    cases.add(OTHER, Case("Their question?", "Their answer."))
    app = visit("memory_page.py")
    assert "22 rated answers: 11 helpful, 11 not." in shown(app)
    assert "Their question" not in shown(app) and "<b>bold" not in shown(app)
    assert len(keys(app, "delete-")) == 20
    app.text_input(key="find-cases").set_value("about 7?").run()
    assert len(keys(app, "delete-")) == 2  # 7 and 17
    app.text_input(key="find-cases").set_value("nowhere").run()
    assert memory_cases.NOTHING_FOUND in shown(app)


def test_a_rating_is_corrected_and_deleted(cases: Cases) -> None:
    case = cases.add(ME, Case("One?", "Said of one.", 1, verified=True))
    app = visit("memory_page.py")
    click(app, f"edit-{case.id}")
    app.radio(key="edit-verdict").set_value(0)
    app.text_input(key="edit-word").set_value("Wrong year")
    click(app, "edit-save")
    (row,) = cases.listed(ME)
    assert (row.case.reward, row.case.word, row.case.at, row.case.verified) == (
        0,
        "Wrong year",
        case.at,
        True,
    )
    assert "“Wrong year”" in shown(app) and "1 rated answer: 0 helpful, 1 not." in shown(app)
    click(app, f"delete-{case.id}")
    click(app, "dialog-no")
    assert len(cases.listed(ME)) == 1
    click(app, f"delete-{case.id}")
    assert "No answer is rated yet." in click(app, "dialog-yes")
    assert cases.listed(ME) == []
    app.session_state["deleted-cases"] = True
    assert "Each can be restored for 7 days" in shown(app.run())
    assert "1 rated answer: 0 helpful, 1 not." in click(app, f"restore-case-{case.id}")
    assert [row.case.word for row in cases.listed(ME)] == ["Wrong year"] and cases.deleted(ME) == []


def test_a_rating_taken_back_in_the_chat_is_shared_no_more(context: AppContext, cases: Cases) -> None:
    answered(context)
    app = visit(conversation="mine")
    click(app, "helpful-1")
    cases.share(ME, cases.listed(ME)[0].case.id)
    click(app, "unhelpful-1")
    assert [row.case.reward for row in cases.listed(OTHER, shared=True)] == [0]
    click(app, "unhelpful-1")
    assert cases.listed(OTHER, shared=True) == [] and len(cases.deleted(ME)) == 1


def test_unreadable_lines_of_the_shared_answers_are_told_as_theirs(context: AppContext, cases: Cases) -> None:
    with cases._database.write() as connection:
        connection.execute("insert into rated_answer (shelf, id, line) values (?, 'x', 'broken')", (SHARED,))
    try:
        assert "Rated answer 1 of the shared answers cannot be read" in shown(visit("memory_page.py"))
    finally:
        with cases._database.write() as connection:
            connection.execute("delete from rated_answer where id = 'x'")


def test_sharing_is_marked_follows_corrections_and_ends(cases: Cases) -> None:
    case = cases.add(ME, Case("One?", "Said of one.", verified=True))
    unchecked = cases.add(ME, Case("Two?", "Said of two."))
    theirs = cases.share(OTHER, cases.add(OTHER, Case("Theirs?", "Said of theirs.", verified=True)).id)
    app = visit("memory_page.py")
    assert memory_cases.SHARED not in shown(app)
    assert keys(app, "share-") == [f"share-{case.id}"], "what was not checked cannot be shared"
    cases.delete(ME, unchecked.id)
    assert memory_cases.SHARED in click(app, f"share-{case.id}")
    app.session_state["shared-cases"] = True
    app.run()
    assert "Theirs?" in shown(app) and memory_cases.BY_OTHERS in shown(app)
    assert f"stop-{theirs.id}" not in keys(app, "stop-") and len(keys(app, "stop-")) == 1
    click(app, f"edit-{case.id}")
    app.radio(key="edit-verdict").set_value(0)
    click(app, "edit-save")
    assert {row.case.question: row.case.reward for row in cases.listed(ME, shared=True)} == {
        "One?": 0,
        "Theirs?": 1,
    }
    click(app, f"unshare-{case.id}")
    assert [row.case.question for row in cases.listed(ME, shared=True)] == ["Theirs?"]
    click(app, f"share-{case.id}")
    click(app, f"delete-{case.id}")
    click(app, "dialog-yes")
    assert [row.case.question for row in cases.listed(ME, shared=True)] == ["Theirs?"]
    assert cases.listed(ME) == []


def test_a_file_is_imported_with_its_faults_named_and_exported(cases: Cases) -> None:
    lines = [json.dumps({"question": f"{word}?", "plan": "Said.", "reward": 1}) for word in ("One", "Two")]
    app = visit("memory_page.py")
    (upload,) = app.file_uploader
    upload.upload(
        "mine :red[x].jsonl",
        "\n".join([*lines, "{broken", '{"question": 1, "plan": "x"}']).encode(),
        "application/jsonl",
    ).run()
    assert not app.exception
    app.button(key="import-cases").click().run()
    running: FileImport = app.session_state["cases_import"]
    running.wait(60)
    app.run()
    assert not app.exception
    text = shown(app)
    assert "✓ mine :red[x].jsonl: 2 rated answers imported." in text
    assert (
        "Line 3 was not read: it is no JSON" in text
        and "Line 4 was not read: its question is a number, not text." in text
    )
    assert "2 rated answers: 2 helpful, 0 not." in text and memory_cases.UNVERIFIED in text
    assert [json.loads(line)["question"] for line in cases.export(ME)] == ["One?", "Two?"]


def test_an_import_that_fails_says_so(
    cases: Cases, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for error, said in (
        (StoreError("The disk is full."), "The disk is full."),
        (RuntimeError("odd"), "The file could not be imported."),
    ):

        def fail(*_: object, error: Exception = error, **__: object) -> None:
            raise error

        monkeypatch.setattr(cases, "import_file", fail)
        running = FileImport(
            lambda path, progress: cases.import_file(ME, path, progress=progress), "x.jsonl", BytesIO()
        )
        running.wait(20)
        assert running.finished and running.error is not None and running.error.message == said


def test_an_import_that_finds_no_room_says_so(cases: Cases, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("chatbot.ui.file_import.shutil.copyfileobj", full)
    running = FileImport(
        lambda path, progress: cases.import_file(ME, path, progress=progress), "x.jsonl", BytesIO(b"{}")
    )
    running.wait(1)
    assert (
        running.finished
        and running.error is not None
        and running.error.message.startswith("The disk is full")
    )


def test_lines_that_were_not_read_are_named_up_to_ten() -> None:
    lines = outcome_lines(
        "x.jsonl",
        ImportedLines(1, 3, tuple(LineProblem(one, "it is no JSON") for one in range(1, 13))),
        memory_cases.FILES.wording,
    )
    assert lines[0] == "✓ x.jsonl: 1 rated answer imported, 3 left out that you have rated as lately."
    assert lines[10] == "⚠ Line 10 was not read: it is no JSON." and lines[11:] == [
        "⚠ And 2 more lines were not read."
    ]


def test_a_memory_that_cannot_be_read_is_told_and_the_other_stays(
    cases: Cases, monkeypatch: pytest.MonkeyPatch
) -> None:
    def damaged(*_: object) -> None:
        raise StoreError("The cases cannot be read.", hint="Look at the disk.")

    monkeypatch.setattr(cases, "health", damaged)
    assert "Look at the disk." in shown(visit("memory_page.py"))
    assert "No advice is recorded yet." in shown(advice_tab())


def test_health_is_told_in_words() -> None:
    health = CaseHealth(3, 2, 1, 1, 1, 0, (LineProblem(4, "odd"),))
    assert memory_cases.health_text(health) == (
        "3 rated answers: 2 helpful, 1 not. 1 left out, for a document changed or went. "
        "1 not recalled yet, for vectors are still to be made; this goes on with each answer. 1 cannot be "
        "read."
    )
    assert memory_advice.health_text(SituationHealth(1, ("",), 0)) == "1 situation with advice."
    assert memory_advice.health_text(SituationHealth(3, ("", "chile", "peru"), 2)).startswith(
        "3 situations with advice, on 2 subjects and in general. 2 of all"
    )


def test_remarks_say_why_a_case_does_less() -> None:
    good, bad = Case("?", "Said.", 1), Case("?", "Said.", 0)
    assert memory_cases.remarks(CaseRow(good, True, False), shared=True) == [
        memory_cases.STALE,
        memory_cases.UNVERIFIED,
        memory_cases.SHARED,
    ]
    assert memory_cases.remarks(CaseRow(replace(good, verified=True), False, False), shared=False) == []
    assert memory_cases.remarks(CaseRow(bad, False, False), shared=False) == []
    assert memory_cases.remarks(
        CaseRow(replace(bad, asked_of=("A.pdf", "B.pdf")), False, False), shared=False
    ) == ["Asked of A.pdf, B.pdf alone."]


def test_remembered_text_is_data() -> None:
    case = Case(HOSTILE, HOSTILE, 0, 1e9, pages=(CasePage("a", "b", 1),), word=HOSTILE)
    situation = Situation("k", ME, HOSTILE, HOSTILE, (HOSTILE, "Two"), 1e9)
    for html in (case_html(case, [HOSTILE]), case_html(case, whole=True), situation_html(situation)):
        assert "<b>" not in html and html.count("&lt;b&gt;bold") >= 3
        assert "September 2001" in html
    assert "also: Two" in situation_html(situation)
    long = Case("?", "word " * 1_000, 1)
    assert len(case_html(long)) < 1_000 < len(case_html(long, whole=True))


# --- advice
# ------------------------------------------------------------------------------------------------------------


def test_advice_is_added_searched_and_deleted(situations: Situations) -> None:
    situations.add(OTHER, [("Their situation", "Their advice")])
    app = advice_tab()
    click(app, "add-advice")
    assert "Say both when and then what." in shown(app)
    app.text_area(key="situation-0").set_value("the peso falls <b>")
    app.text_input(key="recommendation-0").set_value("hedge")
    app.text_input(key="subject-0").set_value("Chile")
    click(app, "add-advice")
    (one,) = situations.listed(ME)
    assert (one.situation, one.recommendations, one.scope) == ("the peso falls <b>", ("hedge",), "chile")
    text = shown(app)
    assert "When the peso falls &lt;b&gt;" in text and "1 situation with advice, on 1 subject." in text
    assert "Only for questions that name chile" in text and "Their situation" not in text
    assert app.text_area(key="situation-1").value == ""
    app.text_input(key="find-advice").set_value("nowhere").run()
    assert memory_advice.NOTHING_FOUND in shown(app)
    app.text_input(key="find-advice").set_value("PESO").run()
    click(app, f"delete-{one.key}")
    assert "No advice is recorded yet." in click(app, "dialog-yes")
    assert situations.listed(ME) == [] and len(situations.listed(OTHER)) == 1
    assert not re.search(r"class=.notice", shown(app))


def test_a_file_of_advice_is_imported_with_its_faults_named_and_exported(situations: Situations) -> None:
    app = advice_tab()
    (upload,) = app.file_uploader
    line = json.dumps({"situation": "oil falls", "recommendations": ["wait", "sell"], "scope": "oil"})
    upload.upload("advice.jsonl", f"{line}\n{{broken".encode(), "application/jsonl").run()
    assert not app.exception
    app.button(key="import-advice").click().run()
    running: FileImport = app.session_state["advice_import"]
    running.wait(60)
    app.run()
    assert not app.exception
    text = shown(app)
    assert (
        "✓ advice.jsonl: 1 situation with advice imported." in text
        and "Line 2 was not read: it is no JSON" in text
    )
    assert "1 situation with advice, on 1 subject." in text and "When oil falls" in text
    assert [json.loads(line)["recommendations"] for line in situations.export(ME)] == [["wait", "sell"]]
    assert "Export as JSON lines" in [link.proto.label for link in app.get("link_button")]


def test_advice_is_corrected(situations: Situations) -> None:
    situations.add(ME, [("the peso falls", "hedge")], scope="Chile")
    (key,) = situations.add(ME, [("the peso falls", "wait")], scope="Chile")
    app = advice_tab()
    click(app, f"edit-{key}")
    assert [app.text_area(key=f"edit-recommendation-{at}").value for at in range(2)] == ["wait", "hedge"]
    app.text_area(key="edit-situation").set_value(" ")
    assert "Say both when and then what." in click(app, "edit-save")
    app.text_area(key="edit-situation").set_value("the peso falls fast")
    app.text_area(key="edit-recommendation-0").set_value("wait a week")
    app.text_area(key="edit-recommendation-1").set_value("")
    app.text_input(key="edit-subject").set_value("")
    text = click(app, "edit-save")
    (one,) = situations.listed(ME)
    assert (one.situation, one.recommendations, one.scope) == ("the peso falls fast", ("wait a week",), "")
    assert "When the peso falls fast" in text and "Only for questions" not in text


def test_what_is_gone_already_is_no_error(cases: Cases, situations: Situations) -> None:
    case = cases.add(ME, Case("One?", "Said."))
    app = visit("memory_page.py")
    click(app, f"delete-{case.id}")
    cases.delete(ME, case.id)  # in another tab
    assert 'class="notice"' not in click(app, "dialog-yes")
