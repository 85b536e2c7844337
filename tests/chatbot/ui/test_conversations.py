"""Conversations on the Chat page over a real store, without a browser: what is shown of each, and what the
list and the menu do.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from chatbot.app.app_context import AppContext
from chatbot.asking.question import Ask
from chatbot.errors import StoreError
from chatbot.memory.compression.sessions import CompressionStats
from chatbot.memory.conversations.conversation_names import PRIVATE
from chatbot.memory.conversations.conversation_store import Conversations, StoredExchange
from chatbot.records import Answer, Citation, Compression, Note
from chatbot.store.library import Upload
from chatbot.ui.answer_details import kept_html, stats_rows
from chatbot.ui.conversation_list import day_heading, export
from tests.case_rows import case_rows
from tests.chatbot.ui.visitor import ask, enter, switch
from tests.pages import ME, OTHER, click, keys, offered, shown, visit
from tests.pdfs import make_pdf

CEILING = "What is the deficit ceiling?"
NOT_HERE = "This conversation is not here. It may belong to another browser."


@pytest.fixture
def store(context: AppContext) -> Iterator[Conversations]:
    """Its conversations, of which none are left afterwards."""
    conversations = context.chatbot.conversations
    yield conversations
    for owner in (ME, OTHER):
        there = conversations.listed(owner)
        deleted = conversations.listed(owner, deleted=True)
        for row in (*there, *deleted):
            conversations.erase(row.id, owner)


def open_menu(app: AppTest, key: str) -> None:
    app.session_state[key] = True
    app.run()
    assert not app.exception


def say(store: Conversations, conversation: str, *questions: str, owner: str = ME) -> str:
    """A conversation of these questions, each answered alike."""
    store.begin(owner, conversation)
    for question in questions:
        number = store.start(conversation, question)
        answer = Answer(question, question, f"Said of {question}", True, conversation=conversation)
        numbered = replace(answer, exchange=number)
        store.finish(conversation, number, numbered, {}, owner=owner)
    return conversation


def spoil_details(store: Conversations, value: str, number: int) -> None:
    """What was checked of that answer is no longer what was written. value: as SQL."""
    with store._disk.write() as connection:
        connection.execute(f"update detail set answer = {value} where number = ?", (number,))


def ids(store: Conversations) -> list[str]:
    """The conversations of ME."""
    return [row.id for row in store.listed(ME)]


def numbered(first: int, last: int) -> list[str]:
    return [f"Question {number}" for number in range(first, last + 1)]


def states_of_exchanges(text: str) -> list[tuple[str, str]]:
    """What is told of each exchange of a shortened conversation: (number, state)."""
    return re.findall(r"Exchange (\d): ([\w, ]+)<", text)


def asked(app: AppTest) -> list[str]:
    return re.findall(r'class="question"[^>]*><p>(.*?)</p>', shown(app))


def test_a_new_page_teaches_and_lists_what_is_asked(context: AppContext, store: Conversations) -> None:
    app = visit()
    assert "Your conversations will appear here." in shown(app)
    assert "find" not in [field.key for field in app.text_input]
    ask(app, CEILING)
    (row,) = store.listed(ME)
    assert keys(app, "go-") == [f"go-{row.id}"]
    assert app.query_params["c"] in (row.id, [row.id])
    again = visit(conversation=row.id)
    assert asked(again) == [CEILING]
    citations = offered(app, "cite-1-")
    assert citations
    assert offered(again, "cite-1-") == citations
    assert any(expander.label.endswith("Details") for expander in again.expander)


def test_each_state_is_told_and_what_has_no_answer_can_be_asked_again(store: Conversations) -> None:
    store.begin(ME, "states")
    for state in ("stopped", "failed", "interrupted", "answering"):
        number = store.start("states", f"{CEILING} {state}")
        store.write("states", number, f"Words {state} [S1-abc123]", state=state, owner=ME)
    app = visit(conversation="states")
    text = shown(app)
    assert text.count("Words ") == 4
    assert text.count("Stopped. The unfinished answer was kept, unchecked.") == 1
    assert text.count("There is no answer because of an error.") == 1
    assert text.count("Interrupted because the server stopped.") == 2
    assert keys(app, "again-") == ["again-1", "again-2", "again-3", "again-4"]
    click(app, "again-3")
    assert asked(app)[-1] == f"{CEILING} interrupted"
    said = store.said("states", ME)
    assert said[-1].state == "complete"
    assert len(said) == 5


def test_what_was_checked_of_an_answer_may_be_gone(store: Conversations) -> None:
    say(store, "gone", "One?", "Two?")
    spoil_details(store, "null", 1)
    spoil_details(store, "x'00'", 2)
    text = shown(visit(conversation="gone"))
    assert "Said of One?" in text
    assert "Only the text of this answer was kept." in text
    assert "Said of Two?" in text
    assert "The checks of answer 2 can no longer be read" in text


@pytest.mark.parametrize("address", ["theirs", "never-there", "<b>", PRIVATE + "gone"])
def test_an_address_of_nothing_here_opens_nothing_and_asking_begins_anew(
    store: Conversations, address: str
) -> None:
    say(store, "theirs", "Their question?", owner=OTHER)
    app = visit(conversation=address)
    is_private = address.startswith(PRIVATE)
    text = shown(app)
    assert NOT_HERE in text
    assert asked(app) == []
    told_as_private = "Private conversations end when" in text
    assert told_as_private == is_private
    assert len(keys(app, "example-")) == 3
    text = ask(app, CEILING)
    (row,) = store.listed(ME)
    assert row.id != address
    assert row.private == is_private
    assert asked(app) == [CEILING]
    assert NOT_HERE not in text
    assert len(store.said("theirs", OTHER)) == 1


def test_a_deleted_one_is_empty_until_it_is_restored(store: Conversations) -> None:
    say(store, "mine", "My question?")
    store.delete("mine", ME)
    app = visit(conversation="mine")
    assert "This conversation is deleted." in shown(app)
    assert asked(app) == []
    click(app, "restore-this")
    assert asked(app) == ["My question?"]
    store.delete("mine", ME)
    app = visit(conversation="mine")
    ask(app, CEILING)
    assert asked(app) == [CEILING]
    assert ids(store) != ["mine"]


@pytest.mark.parametrize("restored", [True, False])
def test_a_question_in_one_that_was_deleted_elsewhere_waits_for_where_to_be_asked(
    store: Conversations, restored: bool
) -> None:
    say(store, "elsewhere", "What is the debt anchor?")
    app = visit(conversation="elsewhere")
    store.delete("elsewhere", ME)
    text = ask(app, CEILING)
    assert "This conversation was deleted in another tab" in text
    assert CEILING in text
    assert store.listed(ME) == []  # nothing was asked, and nothing begun
    click(app, "held-restore" if restored else "held-new")
    assert asked(app)[-1] == CEILING
    (row,) = store.listed(ME)
    is_the_same = row.id == "elsewhere"
    assert is_the_same == restored
    assert row.exchanges == (2 if restored else 1)
    assert "deleted in another tab" not in shown(app.run())


def test_another_question_takes_the_place_of_one_that_waits(store: Conversations) -> None:
    say(store, "elsewhere", "What is the debt anchor?")
    app = visit(conversation="elsewhere")
    store.delete("elsewhere", ME)
    ask(app, "What about it?")
    text = ask(app, CEILING)
    assert asked(app) == [CEILING]
    assert "deleted in another tab" not in text
    assert "held-new" not in keys(app, "held-")


def test_earlier_exchanges_are_shown_some_at_a_time(context: AppContext, store: Conversations) -> None:
    say(store, "long", *numbered(1, 25))
    app = visit(conversation="long")
    assert asked(app) == numbered(16, 25)
    assert app.button(key="show-earlier").label == "Show 10 earlier"
    click(app, "show-earlier")
    assert asked(app)[0] == "Question 6"
    assert app.button(key="show-earlier").label == "Show 5 earlier"
    ask(app, CEILING)
    assert asked(app) == [*numbered(6, 25), CEILING]
    click(app, "show-earlier")
    assert asked(app)[0] == "Question 1"
    assert not keys(app, "show-earlier")


def test_the_list_searches_opens_and_grows(store: Conversations) -> None:
    for number in range(32):
        say(store, f"one-{number:02}", f"About :red[{number}]?")
    app = visit()
    assert len(keys(app, "go-")) == 30
    assert app.button(key="go-one-31").label == "About \\:\u2060red\\[31\\]\\?"
    click(app, "list-more")
    assert len(keys(app, "go-")) == 32
    enter(app, "find", "ABOUT :red[7]")
    assert keys(app, "go-") == ["go-one-07"]
    click(app, "go-one-07")
    assert asked(app) == ["About :red[7]?"]
    assert app.button(key="go-one-07").label.startswith("**")
    assert "No conversation has all of these words." in enter(app, "find", "nowhere")


def test_deleting_is_undone_put_away_and_made_final(store: Conversations) -> None:
    say(store, "first", "First?")
    say(store, "second", "Second?")
    app = visit(conversation="first")
    open_menu(app, "menu-row-first")
    assert "Deleted: First?" in click(app, "delete-row-first")
    assert asked(app) == []
    app.run()
    assert "Deleted: First?" in shown(app)  # until it is used or put away
    click(app, "undo-delete")
    assert asked(app) == ["First?"]
    open_menu(app, "menu-row-second")
    click(app, "delete-row-second")
    assert asked(app) == ["First?"]  # another one is open
    assert "Deleted: Second?" not in click(app, "undo-away")
    app.session_state["deleted"] = True
    app.run()
    click(app, "erase-second")
    click(app, "dialog-no")
    assert len(store.listed(ME, deleted=True)) == 1
    click(app, "erase-second")
    click(app, "dialog-yes")
    assert store.listed(ME, deleted=True) == []
    assert ids(store) == ["first"]


def test_the_menu_renames_and_switches(store: Conversations) -> None:
    say(store, "mine", "My question?")
    app = visit(conversation="mine")
    assert not app.toggle  # nothing of a menu is made before it is opened
    open_menu(app, "menu-open-mine")
    assert app.toggle(key="shortens-open-mine").disabled, "nothing is shortened unless Settings say so"
    switch(app, "recalls-open-mine", on=True)
    assert store.get("mine", ME).recalls_others is True
    assert store.get("mine", ME).compresses is True  # though its switch is off, as the settings are
    enter(app, "title-open-mine", "*Mine*")
    assert store.get("mine", ME).title == "*Mine*"
    assert app.button(key="go-mine").label == "**\\*Mine\\***"


def test_tools_have_a_switch_where_a_file_names_servers(context: AppContext, store: Conversations) -> None:
    say(store, "mine", "My question?")
    app = visit(conversation="mine")
    open_menu(app, "menu-open-mine")
    assert "tools-open-mine" not in [toggle.key for toggle in app.toggle]
    file = context.settings.home / "mcp.json"
    file.write_text('{"mcpServers": {"*weather*": {"command": "weather"}}}')
    try:
        app.run()
        shown_switch = app.toggle(key="tools-open-mine")
        assert shown_switch.value
        assert "\\*weather\\*" in shown_switch.help
        switch(app, "tools-open-mine", on=False)
        assert not context.chatbot.memory.is_on("mine", ME, "tools")
        assert not app.toggle(key="tools-open-mine").value
    finally:
        file.unlink()


def test_a_change_that_fails_is_told(
    context: AppContext, store: Conversations, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(store, "mine", "My question?")
    app = visit(conversation="mine")
    open_menu(app, "menu-open-mine")

    def full(*_: object) -> None:
        raise StoreError("The disk is full.", hint="Make room.")

    with monkeypatch.context() as patch:
        for name in ("rename", "delete", "restore"):
            patch.setattr(store, name, full)
        assert "The disk is full." in enter(app, "title-open-mine", "Mine")
        open_menu(app, "menu-open-mine")
        assert "The disk is full." not in shown(app)
        assert "Make room." in click(app, "delete-open-mine")
    assert asked(app) == ["My question?"]
    store.erase("mine", ME)  # in another tab
    open_menu(app, "menu-open-mine")
    assert NOT_HERE in shown(app)


def test_a_conversation_is_taken_away_as_a_file(context: AppContext, store: Conversations) -> None:
    say(store, "mine", "My question?", "Another?")
    spoil_details(store, "x'00'", 2)
    made = json.loads(export("mine", ME, "json", context))
    whole, spoilt = made["exchanges"]
    assert whole["details"] is not None
    assert spoilt["details"] is None
    text = export("mine", ME, "markdown", context).decode()
    assert "Said of Another" in text


def test_a_private_conversation_is_marked_and_stays_in_memory(
    context: AppContext, store: Conversations
) -> None:
    app = visit()
    private = "Private: nothing of this is stored"
    assert private in click(app, "new-private")
    text = ask(app, CEILING)
    (row,) = store.listed(ME)
    assert row.private
    assert private in text
    assert "Private: nothing" not in click(app, "new")


# Of the second exchange some is kept, of the third all, as offsets into the question and the answer.
KEPT_IN_PART = (((0, 3),), ((0, 4), (9, 99)))
KEPT_WHOLE = (((0, 99),), ((0, 99),))
SHORTENED = Compression(24_310, 12_040, 3, {2: KEPT_IN_PART, 3: KEPT_WHOLE}, whole_from=4)


def test_a_shortened_conversation_is_told_and_shown(context: AppContext, store: Conversations) -> None:
    say(store, "long", "One?", "Two <b>?", "Three?", "Four?")
    number = store.start("long", "Five?")
    note = Note("history", "this conversation, exchange 1", "Asked: One?")
    citation = Citation("S1", "Rules.pdf", 1, None, "three per cent", True, version=1)
    answer = Answer("Five?", "Five?", "Said.", True, citations=(citation,), notes=(note,))
    answer = replace(answer, conversation="long", exchange=number, compression=SHORTENED)
    store.finish("long", number, answer, {}, owner=ME)
    app = visit(conversation="long")
    text = shown(app)
    assert "shortened for this answer: 12,040 of 24,310 tokens kept." in text
    assert "What was remembered" in text
    assert "this conversation, exchange 1" in text
    assert "[cut: " not in text
    assert keys(app, "shortened-") == ["shortened-5"]
    text = click(app, "shortened-5")
    kept = [("2", "kept in part"), ("3", "kept whole"), ("4", "among the last, as it is")]
    assert states_of_exchanges(text) == kept
    assert "12,040 (50%)" in text
    assert "Exchange 5" not in text
    whole = switch(app, "kept-all-5", on=True)
    assert states_of_exchanges(whole)[0] == ("1", "cut")


def test_what_is_kept_is_plain_and_what_is_left_out_is_struck_and_named() -> None:
    said = StoredExchange("c", 2, "Two <b>?", "StoredExchange", "complete", "Kept. Gone. Kept & more.", 0.0)
    html = kept_html(said, SHORTENED)
    assert (
        '<p class="asked">Two<del><span class="unseen">[cut: </span> &lt;b&gt;?<span '
        'class="unseen">]</span></del></p>'
    ) in html
    assert "<p>Kept<del>" in html
    seen = re.sub(r'<span class="unseen">.*?</span>|<[^>]+>', "", html)
    assert seen == "Exchange 2: kept in partTwo &lt;b&gt;?Kept. Gone. Kept &amp; more."
    beyond_its_end = (((5, 3), (50, 60)), ((20, 10),))
    for kept in ({2: beyond_its_end}, {}):
        shortened = replace(SHORTENED, kept=kept)
        assert "Exchange 2: cut" in kept_html(said, shortened)


def test_the_history_of_shortening_is_told_latest_first() -> None:
    history = tuple(
        {"timestamp": at, "original_tokens": 2_000, "compressed_tokens": kept, "chunks_compressed": 3}
        for at, kept in ((0.0, 900), (9e5, 1_000))
    )
    stats = CompressionStats(12, 2_345, True, 2, history)
    head, latest, before = stats_rows(stats)
    assert head == ("12", "2,345", "2")
    assert latest[1:] == ("2,000", "1,000 (50%)", "3")
    assert before[1:] == ("2,000", "900 (45%)", "3")


# How many days ago -> the heading.
DAYS = """
      0 | Today
      1 | Yesterday
      2 | Last 7 days
      6 | Last 7 days
      7 | October 2026
    400 | September 2025
"""


@pytest.mark.parametrize(("days", "said"), case_rows(DAYS))
def test_conversations_stand_under_their_days(days: str, said: str) -> None:
    now = time.mktime((2026, 11, 3, 9, 0, 0, 0, 0, -1))
    day = 3 - int(days)
    then = time.mktime((2026, 11, day, 23, 59, 0, 0, 0, -1))
    assert day_heading(then, now) == said


def test_a_conversation_that_is_asked_elsewhere_is_followed_and_none_is_doubled(
    context: AppContext, store: Conversations
) -> None:
    """What another tab asked stands here at the next run, answered or on its way."""
    say(store, "mine", "My question?")
    app = visit(conversation="mine")
    elsewhere = Ask(CEILING, conversation="mine", owner=ME)
    asking = context.asked.ask(elsewhere)
    app.run()
    assert asking.finished
    assert asked(app) == ["My question?", CEILING]
    app.run()
    assert asked(app) == ["My question?", CEILING]


def test_erasing_a_document_takes_its_text_out_of_kept_answers(
    context: AppContext, store: Conversations, tmp_path: Path
) -> None:
    chatbot = context.chatbot
    path = make_pdf(tmp_path / "Wombats.pdf", ["The wombat levy is nine crowns per burrow."])
    list(chatbot.add([Upload(path)]))
    question = Ask("How high is the wombat levy?", conversation="mine", owner=ME)
    list(chatbot.ask(question))

    def best_text() -> str:
        """What is kept of the page that the answer comes from."""
        answer = chatbot.memory.answer("mine", 1, ME)
        return answer.considered[0].text if answer is not None else ""

    assert "burrow" in best_text()
    context.erase("Wombats.pdf")
    end = time.monotonic() + 20
    while best_text():
        assert time.monotonic() < end
        time.sleep(0.05)
    app = visit(conversation="mine")
    assert not offered(app, "cite-1-")
    assert '<button type="button" class="cite" disabled' in shown(app)
    assert "nine crowns" in shown(app)  # what the answer quotes stays
