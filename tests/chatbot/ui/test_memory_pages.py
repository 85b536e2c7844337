"""Ratings under answers, the switches of the memories and the Memory page, over a real store and without a
browser.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from chatbot.app.app_context import AppContext
from chatbot.app.file_import import FileImport
from chatbot.app.running_questions import DeliveredAnswer
from chatbot.asking.question import Ask
from chatbot.errors import StoreError
from chatbot.memory.cases import case_tab as memory_cases
from chatbot.memory.cases.case_store import CaseHealth, CaseRow, Cases, hidden
from chatbot.memory.cases.records import Case, CasePage
from chatbot.memory.conversations.conversation_names import PRIVATE
from chatbot.memory.conversations.conversation_store import Conversations
from chatbot.memory.import_files import ImportedLines, LineProblem
from chatbot.memory.situations import situation_tab as memory_advice
from chatbot.memory.situations.situation_store import SituationHealth, Situations
from chatbot.memory.situations.situation_types import Situation
from chatbot.records import MEMORY, Answer
from chatbot.ui.ratings import REASONS, is_ratable
from chatbot.ui.safe_text import case_html, situation_html
from tests.chatbot.ui.visitor import ask, enter, switch, write
from tests.pages import ME, OTHER, click, keys, offered, shown, visit

CEILING = "What is the deficit ceiling?"
HOSTILE = "<b>bold</b> $x$ :red[y]"


@pytest.fixture
def store(context: AppContext) -> Iterator[Conversations]:
    """Its conversations; nothing that anybody said, rated or advised is left afterwards."""
    chatbot = context.chatbot
    yield chatbot.conversations
    for owner in (ME, OTHER):
        erase_conversations(chatbot.conversations, owner)
        erase_cases(chatbot.cases, owner)
        for one in chatbot.situations.listed(owner):
            chatbot.situations.remove(owner, one.key)


def erase_conversations(conversations: Conversations, owner: str) -> None:
    there = conversations.listed(owner)
    deleted = conversations.listed(owner, deleted=True)
    for row in (*there, *deleted):
        conversations.erase(row.id, owner)


def erase_cases(cases: Cases, owner: str) -> None:
    mine = hidden(owner)
    for listed in cases.listed(owner, shared=True):
        if listed.case.by == mine:
            cases.unshare(owner, listed.case.id)
    for listed in cases.listed(owner):
        cases.delete(owner, listed.case.id)
    cases._items.remove(lambda case: case.deleted_at > 0)


@pytest.fixture
def cases(context: AppContext, store: Conversations) -> Cases:
    return context.chatbot.cases


@pytest.fixture
def situations(context: AppContext, store: Conversations) -> Situations:
    return context.chatbot.situations


def answered(context: AppContext, conversation: str = "mine", question: str = CEILING) -> Answer:
    """A question of ME that was asked and answered in a conversation."""
    context.chatbot.conversations.begin(ME, conversation)
    asked = Ask(question, conversation=conversation, owner=ME)
    list(context.chatbot.ask(asked))
    answer = context.chatbot.memory.answer(conversation, 1, ME)
    assert answer is not None
    return answer


def the_case(cases: Cases, owner: str = ME, *, shared: bool = False) -> Case:
    """The only one that is listed."""
    (row,) = cases.listed(owner, shared=shared)
    return row.case


def shared_verdicts(cases: Cases) -> dict[str, int]:
    """Of each shared answer, by its question."""
    return {row.case.question: row.case.reward for row in cases.listed(ME, shared=True)}


def asks_why(app: AppTest) -> bool:
    return "Why? (optional)" in [box.label for box in app.text_input]


def has_field(app: AppTest, key: str) -> bool:
    return key in [box.key for box in app.text_input]


def fail_with(error: Exception) -> Callable[..., None]:
    """What raises it when it is called."""

    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


FULL = fail_with(StoreError("The disk is full.", hint="Make room."))


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
    assert app.button(key="helpful-1").label == "Helpful"
    assert app.button(key="unhelpful-1").label == "Not helpful"
    assert "Rated" not in shown(app)
    assert not asks_why(app)
    assert "Rated helpful<" in click(app, "helpful-1")
    assert the_case(cases).reward == 1
    assert "Rated not helpful<" in click(app, "unhelpful-1")
    assert [app.button(key=key).label for key in keys(app, "reason-1-")] == list(REASONS)
    text = enter(app, "why-0-1", HOSTILE)
    case = the_case(cases)
    assert case.reward == 0
    assert case.word == HOSTILE
    assert "“&lt;b&gt;bold&lt;/b&gt; $x$ :red[y]”" in text
    assert not asks_why(app)
    assert "Rated not helpful" in shown(visit(conversation="mine"))
    assert "Rated" not in click(app, "unhelpful-1")
    assert cases.listed(ME) == []


def test_a_remembered_answer_says_so_and_is_marked(context: AppContext, cases: Cases) -> None:
    answered(context)
    app = visit(conversation="mine")
    click(app, "helpful-1")
    text = ask(app, CEILING)
    assert "Remembered: you rated this answer helpful on" in text
    assert text.count("Rated helpful<") == 2
    visited = shown(visit(conversation="mine"))
    assert visited.count("Rated helpful<") == 2


def test_a_verdict_on_another_answer_to_the_question_does_not_mark_this_one(
    context: AppContext, cases: Cases
) -> None:
    answer = answered(context)
    other = replace(answer, text="Another answer, of before.")
    cases.rate(ME, other, 0)
    app = visit(conversation="mine")
    assert "Rated" not in shown(app)
    click(app, "helpful-1")
    assert the_case(cases).reward == 1


def test_what_is_no_answer_has_no_buttons(context: AppContext, store: Conversations) -> None:
    answered(context, "refused", "Who won the football world cup?")
    answered(context, "noted", "When inflation rises above target, then shorten duration.")
    store.begin(ME, "stopped")
    number = store.start("stopped", CEILING)
    store.write("stopped", number, "Words", state="stopped", owner=ME)
    for address in ("refused", "noted", "stopped"):
        app = visit(conversation=address)
        assert keys(app, "helpful-") == []
    assert "no page was searched" in shown(visit(conversation="noted"))
    private = store.begin(ME, private=True)
    asked = Ask(CEILING, conversation=private, owner=ME)
    list(context.chatbot.ask(asked))
    app = visit(conversation=private)
    assert offered(app, "cite-1-")
    assert not keys(app, "helpful-")


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
    given = DeliveredAnswer(number, replace(answer, **changes))  # type: ignore[arg-type]
    assert is_ratable(given) == ratable


def test_a_rating_that_fails_is_told_once_at_its_answer(
    context: AppContext, cases: Cases, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered(context)
    app = visit(conversation="mine")
    with monkeypatch.context() as patch:
        patch.setattr(context.chatbot, "rate", FULL)
        text = click(app, "helpful-1")
        assert text.count("The disk is full.") == 1
        app.run()
        assert "The disk is full." not in shown(app)
    assert "The disk is full." not in click(app, "helpful-1")
    with monkeypatch.context() as patch:
        patch.setattr(cases, "delete", FULL)
        assert "Make room." in click(app, "helpful-1")
    cases.delete(ME, the_case(cases).id)  # in another tab
    text = click(app, "helpful-1")
    assert "Rated" not in text
    assert 'class="notice"' not in text
    assert cases.listed(ME) == []
    with monkeypatch.context() as patch:
        patch.setattr(cases, "rated", FULL)
        app.run()
        assert not app.exception
        assert "The disk is full." in shown(app)
        assert offered(app, "cite-1-")


def test_a_conversation_does_without_a_memory(
    context: AppContext, store: Conversations, cases: Cases
) -> None:
    answered(context)
    app = visit(conversation="mine")
    click(app, "helpful-1")
    app.session_state["menu-open-mine"] = True
    app.run()
    assert app.toggle(key="cases-open-mine").label == "Use my ratings"
    switch(app, "cases-open-mine", on=False)
    assert store.get("mine", ME).off == {"cases"}
    switch(app, "situations-open-mine", on=False)
    assert store.get("mine", ME).off == {"cases", "situations"}
    assert "Remembered:" not in ask(app, CEILING)
    switch(app, "cases-open-mine", on=True)
    assert store.get("mine", ME).off == {"situations"}


def test_the_menu_in_the_list_has_the_switches_of_the_title(
    context: AppContext, store: Conversations
) -> None:
    for conversation in ("mine", "other"):
        answered(context, conversation)
    app = visit(conversation="mine")
    app.session_state["menu-row-other"] = True
    app.run()
    names = [str(toggle.key) for toggle in app.toggle]
    switches = [name.removesuffix("-row-other") for name in names if name.endswith("-row-other")]
    assert switches == ["shortens", "recalls", "cases", "situations", "signals"]
    switch(app, "signals-row-other", on=False)
    switch(app, "recalls-row-other", on=True)
    other = store.get("other", ME)
    assert other.off == {"signals"}
    assert other.recalls_others
    mine = store.get("mine", ME)
    assert mine.off == frozenset()
    assert not mine.recalls_others


# --- rated answers
# ------------------------------------------------------------------------------------------------------------


def test_an_empty_memory_teaches(cases: Cases, situations: Situations) -> None:
    app = visit("memory_page.py")
    assert "You have not rated any answers yet." in shown(app)
    assert "No advice" not in shown(app)  # a tab that is not open is not drawn
    assert not has_field(app, "find-cases")
    app = advice_tab()
    assert "You have not added any advice yet." in shown(app)
    assert not has_field(app, "find-advice")


def test_rated_answers_are_searched_and_only_ones_own(cases: Cases) -> None:
    for number in range(22):
        case = Case(f"About {HOSTILE} {number}?", "Said.", number % 2)
        cases.add(ME, case)
    theirs = Case("Their question?", "Their answer.")
    cases.add(OTHER, theirs)
    app = visit("memory_page.py")
    text = shown(app)
    assert "22 rated answers: 11 helpful, 11 not." in text
    assert "Their question" not in text
    assert "<b>bold" not in text
    assert len(keys(app, "delete-")) == 20
    enter(app, "find-cases", "about 7?")
    assert len(keys(app, "delete-")) == 2  # 7 and 17
    assert memory_cases.NOTHING_FOUND in enter(app, "find-cases", "nowhere")


def test_a_rating_is_corrected_and_deleted(cases: Cases) -> None:
    case = cases.add(ME, Case("One?", "Said of one.", 1, verified=True))
    app = visit("memory_page.py")
    click(app, f"edit-{case.id}")
    app.radio(key="edit-verdict").set_value(0)
    write(app, "edit-word", "Wrong year")
    text = click(app, "edit-save")
    corrected = the_case(cases)
    assert corrected.reward == 0
    assert corrected.word == "Wrong year"
    assert corrected.at == case.at
    assert corrected.verified is True
    assert "“Wrong year”" in text
    assert "1 rated answer: 0 helpful, 1 not." in text
    click(app, f"delete-{case.id}")
    click(app, "dialog-no")
    assert len(cases.listed(ME)) == 1
    click(app, f"delete-{case.id}")
    assert "You have not rated any answers yet." in click(app, "dialog-yes")
    assert cases.listed(ME) == []
    app.session_state["deleted-cases"] = True
    assert "You can restore each for 7 days" in shown(app.run())
    assert "1 rated answer: 0 helpful, 1 not." in click(app, f"restore-case-{case.id}")
    assert the_case(cases).word == "Wrong year"
    assert cases.deleted(ME) == []


def test_a_rating_taken_back_in_the_chat_is_shared_no_more(context: AppContext, cases: Cases) -> None:
    answered(context)
    app = visit(conversation="mine")
    click(app, "helpful-1")
    cases.share(ME, the_case(cases).id)
    click(app, "unhelpful-1")
    text = click(app, "reason-1-0")
    assert "Rated not helpful: “Wrong page”. Saved. Next time, similar questions avoid these pages.<" in text
    assert the_case(cases).word == "Wrong page"
    assert not asks_why(app)
    assert the_case(cases, OTHER, shared=True).reward == 0
    click(app, "unhelpful-1")
    assert cases.listed(OTHER, shared=True) == []
    assert len(cases.deleted(ME)) == 1


def test_unreadable_rated_answers_are_told(context: AppContext, cases: Cases) -> None:
    case = cases.add(ME, Case("Broken?", "Broken."))
    with context.chatbot.memories.write() as connection:
        connection.execute("update item set payload = 'broken' where key = ?", (case.id,))
        connection.execute("update item_changes set changes = changes + 1")
    try:
        assert "Rated answer 1 cannot be read" in shown(visit("memory_page.py"))
    finally:
        context.chatbot.memories.change("delete from item where key = ?", (case.id,))


def test_sharing_is_marked_follows_corrections_and_ends(cases: Cases) -> None:
    case = cases.add(ME, Case("One?", "Said of one.", verified=True))
    unchecked = cases.add(ME, Case("Two?", "Said of two."))
    others = cases.add(OTHER, Case("Theirs?", "Said of theirs.", verified=True))
    theirs = cases.share(OTHER, others.id)
    app = visit("memory_page.py")
    assert memory_cases.SHARED not in shown(app)
    assert keys(app, "share-") == [f"share-{case.id}"], "what was not checked cannot be shared"
    cases.delete(ME, unchecked.id)
    assert memory_cases.SHARED in click(app, f"share-{case.id}")
    app.session_state["shared-cases"] = True
    text = shown(app.run())
    assert "Theirs?" in text
    assert memory_cases.BY_OTHERS in text
    (stop,) = keys(app, "stop-")
    assert stop == f"stop-{case.id}" != f"stop-{theirs.id}"
    click(app, f"edit-{case.id}")
    app.radio(key="edit-verdict").set_value(0)
    click(app, "edit-save")
    assert shared_verdicts(cases) == {"One?": 0, "Theirs?": 1}
    click(app, f"unshare-{case.id}")
    assert the_case(cases, shared=True).question == "Theirs?"
    click(app, f"share-{case.id}")
    click(app, f"delete-{case.id}")
    click(app, "dialog-yes")
    assert the_case(cases, shared=True).question == "Theirs?"
    assert cases.listed(ME) == []


def test_a_file_is_imported_with_its_faults_named_and_exported(cases: Cases) -> None:
    cases_of = [{"question": question, "plan": "Said.", "reward": 1} for question in ("One?", "Two?")]
    lines = [*map(json.dumps, cases_of), "{broken", '{"question": 1, "plan": "x"}']
    app = visit("memory_page.py")
    text = imported(app, "cases", "mine :red[x].jsonl", "\n".join(lines))
    assert "✓ mine :red[x].jsonl: 2 rated answers imported." in text
    assert "Line 3 was not read: it is not JSON" in text
    assert "Line 4 was not read: its question is not text." in text
    assert "2 rated answers: 2 helpful, 0 not." in text
    assert memory_cases.UNVERIFIED in text
    exported = [json.loads(line) for line in cases.export(ME)]
    assert [one["question"] for one in exported] == ["One?", "Two?"]


def imported(app: AppTest, kind: str, name: str, content: str) -> str:
    """What the page says once a file was imported. kind: "cases" or "advice"."""
    (upload,) = app.file_uploader
    upload.upload(name, content.encode(), "application/jsonl").run()
    assert not app.exception
    click(app, f"import-{kind}")
    running: FileImport = app.session_state[f"{kind}_import"]
    running.wait(60)
    app.run()
    assert not app.exception
    return shown(app)


def import_error(cases: Cases, content: bytes, *, seconds: float) -> str:
    """What an import says that ends within that time and fails."""

    def import_it(path: Path, progress: Callable[[int, int], None]) -> ImportedLines:
        return cases.import_file(ME, path, progress=progress)

    running = FileImport(import_it, "x.jsonl", BytesIO(content))
    running.wait(seconds)
    assert running.finished
    assert running.error is not None
    return running.error.message


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (StoreError("The disk is full."), "The disk is full."),
        (RuntimeError("odd"), "The file could not be imported."),
    ],
    ids=["known", "unknown"],
)
def test_an_import_that_fails_says_so(
    cases: Cases,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
    said: str,
) -> None:
    monkeypatch.setattr(cases, "import_file", fail_with(error))
    assert import_error(cases, b"", seconds=20) == said


def test_an_import_that_finds_no_room_says_so(cases: Cases, monkeypatch: pytest.MonkeyPatch) -> None:
    full = fail_with(OSError(28, "No space left on device"))
    monkeypatch.setattr("chatbot.app.file_import.shutil.copyfileobj", full)
    error = import_error(cases, b"{}", seconds=1)
    assert error.startswith("The disk is full")


def test_lines_that_were_not_read_are_named_up_to_ten() -> None:
    problems = tuple(LineProblem(number, "it is not JSON") for number in range(1, 13))
    outcome = ImportedLines(1, 3, problems)
    lines = memory_cases.FILES.told("x.jsonl", outcome)
    assert lines[0] == "✓ x.jsonl: 1 rated answer imported, 3 skipped, as you rated them more recently."
    assert lines[10] == "⚠ Line 10 was not read: it is not JSON."
    assert lines[11:] == ["⚠ 2 more lines were not read."]


def test_a_memory_that_cannot_be_read_is_told_and_the_other_stays(
    cases: Cases, monkeypatch: pytest.MonkeyPatch
) -> None:
    damaged = fail_with(StoreError("The cases cannot be read.", hint="Look at the disk."))
    monkeypatch.setattr(cases, "health", damaged)
    assert "Look at the disk." in shown(visit("memory_page.py"))
    assert "You have not added any advice yet." in shown(advice_tab())


def test_health_is_told_in_words() -> None:
    health = CaseHealth(3, 2, 1, 1, 1, 0, (LineProblem(4, "odd"),))
    assert memory_cases.health_text(health) == (
        "3 rated answers: 2 helpful, 1 not. 1 not used, as a document was changed or removed. "
        "1 still being indexed; each new answer continues this. 1 cannot be read."
    )
    one = SituationHealth(1, ("",), 0)
    assert memory_advice.health_text(one) == "1 situation with advice."
    three = memory_advice.health_text(SituationHealth(3, ("", "chile", "peru"), 2))
    assert three.startswith("3 situations with advice, on 2 subjects and in general. 2 in all")


def remarks(case: Case, *, stale: bool = False, shared: bool = False) -> list[str]:
    return memory_cases.remarks(CaseRow(replace(case, shared=shared), stale))


def test_remarks_say_why_a_case_does_less() -> None:
    good, bad = Case("?", "Said.", 1), Case("?", "Said.", 0)
    all_of_them = [memory_cases.STALE, memory_cases.UNVERIFIED, memory_cases.SHARED]
    assert remarks(good, stale=True, shared=True) == all_of_them
    verified = replace(good, verified=True)
    assert remarks(verified) == []
    assert remarks(bad) == []
    of_two = replace(bad, asked_of=("A.pdf", "B.pdf"))
    assert remarks(of_two) == ["Asked only about A.pdf, B.pdf."]


def test_remembered_text_is_data() -> None:
    pages = (CasePage("a", "b", 1),)
    case = Case(HOSTILE, HOSTILE, 0, 1e9, pages=pages, word=HOSTILE)
    situation = Situation("k", HOSTILE, HOSTILE, ((HOSTILE, 1e9), ("Two", 1e8)))
    for html in (case_html(case, [HOSTILE]), case_html(case, whole=True), situation_html(situation)):
        assert "<b>" not in html
        assert html.count("&lt;b&gt;bold") >= 3
        assert "September 2001" in html
    assert "also: Two" in situation_html(situation)
    long = Case("?", "word " * 1_000, 1)
    cut, whole = case_html(long), case_html(long, whole=True)
    assert len(cut) < 1_000 < len(whole)


# --- advice
# ------------------------------------------------------------------------------------------------------------


def test_advice_is_added_searched_and_deleted(situations: Situations) -> None:
    situations.add(OTHER, [("Their situation", "Their advice")])
    app = advice_tab()
    assert "Fill in both the situation and the advice." in click(app, "add-advice")
    app.text_area(key="situation-0").set_value("the peso falls <b>")
    write(app, "recommendation-0", "hedge")
    write(app, "subject-0", "Chile")
    text = click(app, "add-advice")
    (one,) = situations.listed(ME)
    assert one.situation == "the peso falls <b>"
    assert one.recommendations == ("hedge",)
    assert one.scope == "chile"
    assert "When the peso falls &lt;b&gt;" in text
    assert "1 situation with advice, on 1 subject." in text
    assert "Only for questions that name chile" in text
    assert "Their situation" not in text
    assert app.text_area(key="situation-1").value == ""
    assert memory_advice.NOTHING_FOUND in enter(app, "find-advice", "nowhere")
    enter(app, "find-advice", "PESO")
    click(app, f"delete-{one.key}")
    assert "You have not added any advice yet." in click(app, "dialog-yes")
    assert situations.listed(ME) == []
    assert len(situations.listed(OTHER)) == 1
    assert not re.search(r"class=.notice", shown(app))


def test_a_file_of_advice_is_imported_with_its_faults_named_and_exported(situations: Situations) -> None:
    app = advice_tab()
    line = json.dumps({"situation": "oil falls", "recommendations": ["wait", "sell"], "scope": "oil"})
    text = imported(app, "advice", "advice.jsonl", f"{line}\n{{broken")
    assert "✓ advice.jsonl: 1 situation with advice imported." in text
    assert "Line 2 was not read: it is not JSON" in text
    assert "1 situation with advice, on 1 subject." in text
    assert "When oil falls" in text
    (exported,) = map(json.loads, situations.export(ME))
    assert exported["recommendations"] == ["wait", "sell"]
    links = [link.proto.label for link in app.get("link_button")]
    assert "Export as JSON lines" in links


def test_advice_is_corrected(situations: Situations) -> None:
    situations.add(ME, [("the peso falls", "hedge")], scope="Chile")
    (key,) = situations.add(ME, [("the peso falls", "wait")], scope="Chile")
    app = advice_tab()
    click(app, f"edit-{key}")
    assert app.text_area(key="edit-recommendation-0").value == "wait"
    assert app.text_area(key="edit-recommendation-1").value == "hedge"
    app.text_area(key="edit-situation").set_value(" ")
    assert "Fill in both the situation and the advice." in click(app, "edit-save")
    app.text_area(key="edit-situation").set_value("the peso falls fast")
    app.text_area(key="edit-recommendation-0").set_value("wait a week")
    app.text_area(key="edit-recommendation-1").set_value("")
    write(app, "edit-subject", "")
    text = click(app, "edit-save")
    (one,) = situations.listed(ME)
    assert one.situation == "the peso falls fast"
    assert one.recommendations == ("wait a week",)
    assert one.scope == ""
    assert "When the peso falls fast" in text
    assert "Only for questions" not in text


def test_what_is_gone_already_is_no_error(cases: Cases, situations: Situations) -> None:
    case = cases.add(ME, Case("One?", "Said."))
    app = visit("memory_page.py")
    click(app, f"delete-{case.id}")
    cases.delete(ME, case.id)  # in another tab
    assert 'class="notice"' not in click(app, "dialog-yes")
