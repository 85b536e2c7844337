"""The pages run from end to end over a real store, without a browser: what they offer, and that nothing raises."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button

from chatbot.settings import Settings
from chatbot.store.jobs import NewFile
from chatbot.store.lock import StoreLock
from chatbot.ui import shared
from chatbot.ui.documents import free_name, state_text
from chatbot.ui.shared import House
from tests.pdfs import make_pdf

MAIN = str(Path(shared.__file__).with_name("main.py"))
RULES = "The deficit ceiling is three per cent of output, and the debt anchor is sixty per cent of it.\nIt was amended in 2019."


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home of its own; what a page opens in it is closed again."""
    monkeypatch.setenv("FINPOLICY_HOME", str(tmp_path / "home"))
    yield tmp_path / "home"
    shared.close()


@pytest.fixture
def house(home: Path) -> House:
    opening = shared.opening()
    opening.wait(60)
    assert opening.house is not None, opening.error
    return opening.house


@pytest.fixture
def rules(house: House, tmp_path: Path) -> House:
    """A house with one document, Rules.pdf."""
    path = make_pdf(tmp_path / "Rules.pdf", [RULES])
    house.additions.enqueue([NewFile("Rules.pdf", io.BytesIO(path.read_bytes()))])
    end = time.monotonic() + 60
    while not all(job.finished for job in house.additions.jobs()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return house


def run(page: str = "") -> AppTest:
    app = AppTest.from_file(MAIN, default_timeout=60).run()
    if page:
        app.switch_page(page).run()
    assert not app.exception
    return app


def shown(app: AppTest) -> str:
    """Everything that the page says."""
    kinds = ("html", "caption", "title", "error", "warning", "info")
    return "\n".join(str(element.value if hasattr(element, "value") else element.proto.body) for kind in kinds for element in app.get(kind))


def buttons(app: AppTest, beginning: str) -> list[Button]:
    return [button for button in app.button if (button.key or "").startswith(beginning)]


def test_an_empty_store_teaches(house: House) -> None:
    app = run()
    assert app.chat_input[0].disabled
    assert "There are no documents yet" in shown(app)
    assert "Nothing leaves this machine" in shown(app)


def test_a_question_its_citation_and_a_new_conversation(rules: House) -> None:
    app = run()
    app.chat_input[0].set_value("What is the deficit ceiling?").run()
    assert not app.exception
    (citation,) = buttons(app, "cite-")
    assert "p\\. 1" in citation.label
    assert "✓ verified" in citation.label
    citation.click().run()
    assert not app.exception
    assert "Marked on the page below" in shown(app)
    app.chat_input[0].set_value("Who won the football world cup?").run()
    assert "Not in these documents" in shown(app)
    app.button(key="new").click().run()
    assert not app.exception
    assert not buttons(app, "cite-")
    assert len(buttons(app, "example-")) == 3


def test_an_example_is_asked_by_clicking_it(rules: House) -> None:
    app = run()
    app.button(key="example-1").click().run()
    assert not app.exception
    assert len(app.chat_message) == 2


def test_scope_keeps_to_the_chosen_documents(rules: House) -> None:
    app = run()
    app.multiselect(key="scope").select("Rules.pdf").run()
    app.chat_input[0].set_value("What is the deficit ceiling?").run()
    assert rules.asked.latest(app.session_state["conversation"], app.session_state["owner"]).given is not None  # type: ignore[union-attr]


def test_a_question_that_cannot_be_asked_is_told(rules: House) -> None:
    app = run()
    app.chat_input[0].set_value("???").run()
    assert "The question is empty" in shown(app)


def test_documents_are_listed_reported_removed_and_restored(rules: House) -> None:
    app = run("documents.py")
    assert "Rules.pdf" in shown(app)
    assert "✓ Rules.pdf: added, 1 page, 1 passage" in shown(app)
    app.button(key="Pages-Rules.pdf").click().run()
    assert "How each page was read" in shown(app)
    app.button(key="Remove-Rules.pdf").click().run()
    app.button(key="dialog-yes").click().run()
    assert not app.exception
    assert "removed, can be restored until" in shown(app)
    assert rules.chatbot.library.scope([]) == {}
    app.button(key="Restore-Rules.pdf").click().run()
    assert not app.exception
    assert "ready" in shown(app)


def test_a_held_store_is_told_with_its_holder_and_can_be_tried_again(home: Path) -> None:
    lock = StoreLock(home / "chroma_db" / "store.lock")
    try:
        app = run()
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
    go, open_house = threading.Event(), shared._open_house

    def slowly(settings: Settings) -> House:
        assert go.wait(60)
        return open_house(settings)

    monkeypatch.setattr(shared, "_open_house", slowly)
    app = run()
    assert app.title[0].value == "Starting …"
    go.set()
    shared.opening().wait(60)
    app.run()
    assert app.title[0].value == "Chat"


def test_the_second_of_two_is_named_so() -> None:
    assert free_name("Budget.pdf", {"Budget.pdf"}) == "Budget (2).pdf"
    assert free_name("Budget.pdf", {"Budget.pdf", "Budget (2).pdf"}) == "Budget (3).pdf"
    assert free_name("Budget", set()) == "Budget (2)"


def test_states_are_told_in_words(rules: House) -> None:
    (row,) = rules.chatbot.documents()
    assert state_text(row) == "ready"
