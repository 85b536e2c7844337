"""The pages run from end to end over a real store, without a browser: what they offer, and that nothing
raises.
"""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import TextInput

from chatbot import ui
from chatbot.app import app_context
from chatbot.app.app_context import AppContext
from chatbot.records import Citation, Stage
from chatbot.settings import Settings, load_settings
from chatbot.store.addition_queue import NewFile
from chatbot.store.document_names import free_name
from chatbot.store.lock import StoreLock
from chatbot.ui.answers import ocr_remarks
from chatbot.ui.chat_page import stage_html
from chatbot.ui.document_list import line_of, remarks, state_text, undo_until
from chatbot.ui.documents_page import moving
from tests.chatbot.ui.visitor import ask
from tests.pages import click, keys, offered, press, shown, visit
from tests.pdfs import make_pdf

MAIN = str(Path(ui.__file__).with_name("main.py"))
RULES = (
    "The deficit ceiling is three per cent of output, and the debt anchor is sixty per cent of it.\nIt was "
    "amended in 2019."
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home of its own; what a page opens in it is closed again."""
    monkeypatch.setenv("FINPOLICY_HOME", str(tmp_path / "home"))
    yield tmp_path / "home"
    app_context.close()


@pytest.fixture
def context(home: Path) -> AppContext:
    opening = app_context.opening(load_settings)
    opening.wait(60)
    assert opening.context is not None, opening.error
    return opening.context


@pytest.fixture
def rules(context: AppContext, tmp_path: Path) -> AppContext:
    """A chatbot with one document, Rules.pdf."""
    path = make_pdf(tmp_path / "Rules.pdf", [RULES])
    add(context, path)
    return context


@pytest.fixture
def ruling(context: AppContext, tmp_path: Path) -> AppContext:
    """A chatbot whose only document waits for its password, "open sesame"."""
    path = make_pdf(tmp_path / "Ruling.pdf", [RULES], user_password="open sesame")
    add(context, path)
    return context


def add(context: AppContext, path: Path, name: str = "") -> None:
    """Add a file and wait until it is there, or needs its password."""
    data = io.BytesIO(path.read_bytes())
    context.additions.enqueue([NewFile(name or path.name, data)])
    settle(context)


def settle(context: AppContext) -> None:
    end = time.monotonic() + 60
    while any(job.busy for job in context.additions.jobs()):
        assert time.monotonic() < end
        time.sleep(0.02)


def click_first(app: AppTest, beginning: str) -> str:
    """What the page says after a click on the first button of that kind."""
    first, *_ = keys(app, beginning)
    return click(app, first)


def text_of(context: AppContext) -> str:
    """What the first page of Rules.pdf says."""
    library = context.chatbot.library
    (version,) = library.scope(["Rules.pdf"])
    return library.catalog.page(version, 1).text


def test_an_empty_store_teaches(context: AppContext) -> None:
    app = visit()
    (field,) = app.chat_input
    assert field.placeholder == "Attach a document and ask about it"
    assert not field.disabled
    text = shown(app)
    assert "There are no documents yet" in text
    assert "Nothing leaves this machine" in text


def test_a_question_its_citation_and_a_new_conversation(rules: AppContext) -> None:
    app = visit()
    ask(app, "What is the deficit ceiling?")
    citation, *_ = offered(app, "cite-")
    assert "p.\xa01 <strong>located on the page</strong>" in shown(app)
    assert "Marked on the page below" in press(app, citation)
    assert "Not in these documents" in ask(app, "Who won the football world cup?")
    click(app, "new")
    assert not offered(app, "cite-")
    assert len(keys(app, "example-")) == 3


@pytest.mark.parametrize(
    ("stage", "said"),
    [
        (Stage("searching"), '<p class="stage" role="status">Searching the pages …</p>'),
        (Stage("searching", 3, 120), '<p class="stage">Searching, piece 3 of 120 …</p>'),
        (Stage("answering"), '<p class="stage" role="status">Reading the pages …</p>'),
    ],
)
def test_stages_are_told_in_words(stage: Stage, said: str) -> None:
    assert stage_html(stage) == said


def test_an_example_is_asked_by_clicking_it(rules: AppContext) -> None:
    app = visit()
    click(app, "example-1")
    assert len(app.chat_message) == 2


def test_what_is_searched_belongs_to_the_conversation(rules: AppContext) -> None:
    app = visit()
    app.multiselect(key="scope").select("Rules.pdf").run()
    ask(app, "What is the deficit ceiling?")
    assert app.session_state["scope"] == ["Rules.pdf"]
    limited = app.session_state["conversation"]
    click(app, "new")
    assert app.session_state["scope"] == []
    ask(app, "What is the deficit ceiling?")
    assert app.session_state["scope"] == []
    click(app, f"go-{limited}")
    assert app.session_state["scope"] == ["Rules.pdf"]
    assert visit(conversation=limited).session_state["scope"] == ["Rules.pdf"]


def test_a_question_that_cannot_be_asked_is_told(rules: AppContext) -> None:
    app = visit()
    assert "The question is empty" in ask(app, "???")


def test_one_file_under_two_names_and_a_new_version_are_explained_and_undone(
    rules: AppContext, tmp_path: Path
) -> None:
    path = tmp_path / "Rules.pdf"
    add(rules, path, "Copy of it.pdf")
    make_pdf(path, ["The rules were repealed."])
    add(rules, path)
    app = visit("documents_page.py")
    text = shown(app)
    assert "✓ Copy of it.pdf: the same file as Rules.pdf; it is kept once, under both names." in text
    assert "✓ Rules.pdf: a new version, 1 page" in text
    assert "Replaced an old version on " in text
    click(app, "Guide-Copy of it.pdf")
    assert not keys(app, "Undo-Copy")
    click(app, "Guide-Rules.pdf")
    text = click(app, "Undo-Rules.pdf")
    assert "deficit ceiling" in text_of(rules)
    assert "The same file as Rules.pdf. It is stored once, under both names." in text
    app.button(key="Undo-Rules.pdf").click().run()
    assert "repealed" in text_of(rules)


def password_of(app: AppTest) -> TextInput:
    """The one field for a password."""
    (field,) = [field for field in app.text_input if "password-" in str(field.key)]
    return field


def test_a_protected_file_is_opened_with_its_password(ruling: AppContext) -> None:
    app = visit("documents_page.py")
    field = password_of(app)
    assert field.label == "Password for Ruling pdf"
    assert "Password for <strong>Ruling.pdf</strong>" in shown(app)
    field.set_value("wrong")
    click_first(app, "open-")
    settle(ruling)
    app.run()
    assert "That password is wrong" in shown(app)
    password_of(app).set_value("open sesame")
    click_first(app, "open-")
    settle(ruling)
    app.run()
    text = shown(app)
    assert "✓ Ruling.pdf: added, 1 page" in text
    assert "Protected: looking at its pages needs the password." in text


def test_a_protected_file_can_be_left_out(ruling: AppContext) -> None:
    app = visit("documents_page.py")
    click_first(app, "leave-")
    settle(ruling)
    app.run()
    assert "Ruling.pdf: cancelled. Nothing of it was kept." in shown(app)
    documents = ruling.settings.documents
    assert not list(documents.glob("*.pdf"))


def test_the_store_is_checked_and_repaired_from_the_page(rules: AppContext) -> None:
    app = visit("documents_page.py")
    library = rules.chatbot.library
    assert "Everything is in order" in outcome(app, rules, "check")
    (version,) = library.scope([])
    with library.catalog.write() as connection:
        connection.execute("delete from vector where version = ?", (version,))
    text = outcome(app, rules, "check")
    assert "0 of 1 vectors are there" in text
    assert "Repair fixes it." in text
    assert "They were created again." in outcome(app, rules, "repair")
    assert "Everything is in order" in outcome(app, rules, "check")


def outcome(app: AppTest, context: AppContext, button: str) -> str:
    """What the page says once the check or repair has ended that a button begins."""
    app.button(key=button).click().run()
    end = time.monotonic() + 60
    while context.check.running:
        assert time.monotonic() < end
        time.sleep(0.02)
    app.run()
    assert not app.exception
    return shown(app)


def test_a_held_store_is_told_with_its_holder_and_can_be_tried_again(home: Path) -> None:
    lock = StoreLock(home / "chroma_db" / "store.lock")
    try:
        app = visit()
        assert app.title[0].value == "The documents cannot be opened"
        assert "in use by process" in shown(app)
    finally:
        lock.close()
    app.button[0].click().run()
    end = time.monotonic() + 60
    while app.title[0].value != "Chat" and time.monotonic() < end:
        time.sleep(0.2)
        app.run()
    assert app.title[0].value == "Chat"


def test_a_store_that_takes_its_time_is_waited_for(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go, open_context = threading.Event(), app_context._open_context

    def slowly(settings: Settings) -> AppContext:
        assert go.wait(60)
        return open_context(settings)

    monkeypatch.setattr(app_context, "_open_context", slowly)
    app = visit()
    assert app.title[0].value == "Starting …"
    go.set()
    app_context.opening(load_settings).wait(60)
    app.run()
    assert app.title[0].value == "Chat"


def test_the_second_of_two_is_named_so() -> None:
    assert free_name("Budget.pdf", {"Budget.pdf"}) == "Budget (2).pdf"
    assert free_name("Budget.pdf", {"Budget.pdf", "Budget (2).pdf"}) == "Budget (3).pdf"
    assert free_name("Budget", set()) == "Budget (2)"


def test_what_there_is_to_say_of_a_document_is_told_in_words(rules: AppContext) -> None:
    (row,) = rules.chatbot.documents()
    embedding = replace(row, state="embedding", embedded=64, chunks=1_204)
    removed = replace(row, state="removed", removed_at=row.added_at)
    assert state_text(row) == "ready"
    assert state_text(replace(row, chunks=0)) == "no text was found"
    assert state_text(embedding) == "found by words; search by meaning is 5% ready"
    assert state_text(removed).startswith("removed; you can restore it until ")
    plain = replace(row, period=None, status=None)
    assert remarks(plain, row.added_at) == []
    assert line_of(replace(row, period="2025-26", status="draft")) == ["1 page", "2025-26", "draft"]
    assert remarks(replace(plain, failed_pages=2), 0) == ["⚠ 2 pages were not read. Details says why."]


def test_the_page_follows_vectors_that_nobody_makes_yet(rules: AppContext) -> None:
    assert not moving(rules)
    library = rules.chatbot.library
    (version,) = library.scope([])
    library.catalog.restart_vectors(version, library.embedder.fingerprint)
    assert moving(rules)


def test_a_new_version_can_be_undone_for_seven_days(rules: AppContext) -> None:
    (row,) = rules.chatbot.documents()
    then, day = 1_000_000.0, 86_400
    new = replace(row, replaced_at=then, period=None, status=None)
    assert undo_until(new, then + 6.9 * day) == then + 7 * day
    too_late = then + 7.1 * day
    assert undo_until(new, too_late) is None
    assert remarks(new, too_late) == []
    removed = replace(new, removed_at=then + 1)
    assert undo_until(removed, then + 2) is None
    assert undo_until(row, then) is None


@pytest.mark.parametrize(
    ("confidence", "said"),
    [
        (None, []),
        (96.0, ["[2] read by OCR"]),
        (80.0, ["[2] read by OCR"]),
        (62.2, ["⚠ [2] read by OCR, confidence 62 of 100: check the page"]),
    ],
)
def test_words_read_by_ocr_are_marked(confidence: float | None, said: list[str]) -> None:
    citation = Citation("S1", "Circular.pdf", 1, None, "140 crowns", True, confidence=confidence)
    assert ocr_remarks(citation, 2) == said
