"""The Documents page without a browser: what becomes of dropped files, health, details, addresses, two
tabs, many documents.
"""

from __future__ import annotations

import hashlib
import io
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from chatbot.app import app_context
from chatbot.app.app_context import AppContext
from chatbot.app.upload_plan import ChosenFile, plan
from chatbot.records import DocumentRow
from chatbot.settings import load_settings
from chatbot.store.addition_queue import NewFile
from chatbot.store.disk_usage import Space
from chatbot.store.jobs import Job, Phase
from chatbot.ui.document_details import details_of
from chatbot.ui.document_guide import said_of
from chatbot.ui.document_health import bytes_text, health_text, space_text
from chatbot.ui.document_jobs import ended_text, progress_text, share_of_all
from chatbot.ui.document_list import NAME, NEWEST, PAGES, arranged
from chatbot.ui.document_session import Drop, page_number
from ingestion.records import DocumentFacts
from tests.pages import ME, OTHER, click, keys, open_context, press, shown, visit
from tests.pdfs import make_pdf

TEXT = "Budget statement 2024\n\nThe deficit ceiling is three per cent of output."


@pytest.fixture
def context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AppContext]:
    """A chatbot with one document of two pages, Rules.pdf."""
    with open_context(tmp_path / "home") as opened:
        path = make_pdf(tmp_path / "Rules.pdf", [TEXT, "The debt anchor."])
        add(opened, path)
        yield opened


def add(context: AppContext, path: Path) -> None:
    data = io.BytesIO(path.read_bytes())
    context.additions.enqueue([NewFile(path.name, data)])
    settle(context)


def facts(context: AppContext) -> DocumentFacts:
    """Of the one document."""
    (version,) = context.chatbot.library.scope([])
    return context.chatbot.library.facts(version)


def settle(context: AppContext) -> None:
    end = time.monotonic() + 60
    while any(job.busy for job in context.additions.jobs()) or context.additions.erasing():
        assert time.monotonic() < end
        time.sleep(0.02)


# --- what is dropped
# ------------------------------------------------------------------------------------------------------------


def file(path: str, content: str = "") -> ChosenFile:
    size = 0 if content == "empty" else 9
    said = content or path
    digest = hashlib.sha256(said.encode()).hexdigest()
    return ChosenFile(path, size, digest)


def test_what_becomes_of_dropped_files_is_told() -> None:
    added = [file("in/a.pdf"), file("in/deep/b.PDF")]
    left = [file("in/empty.pdf", "empty"), file("in/notes.zip"), file("other/a.pdf", "in/a.pdf")]
    planned = plan([*added, *left], {})
    assert [one.name for one in planned] == ["a.pdf", "b.PDF", "empty.pdf", "notes.zip", "a.pdf"]
    for one in planned[:2]:
        assert one.action == "add"
        assert not one.said
    for one in planned[2:]:
        assert one.action == "leave"
        assert one.said


def test_different_files_of_one_name_are_told_apart_by_their_folders() -> None:
    paths = ("2023/Budget.pdf", "2024/Budget.pdf", "Budget.pdf", "x/2023 Budget.pdf")
    planned = plan([file(path) for path in paths], {})
    names = {one.name for one in planned}
    assert len(names) == 4
    assert {"2024 Budget.pdf", "Budget.pdf", "2023 Budget.pdf"} <= names


def test_known_files_and_known_names_are_told() -> None:
    known = file("Known.pdf", "known")
    there = {"Known.pdf": known.digest, "Rules.pdf": "0" * 64}
    dropped = [known, file("New.pdf", "known"), file("Rules.pdf"), file("Twin.pdf", "known")]
    same, other_name, version, twin = plan(dropped, there)
    assert same.action == "leave"
    assert same.said == "Already here, with the same content. Nothing was added."
    for one in (other_name, twin):
        assert one.said == "The same file as Known.pdf. It is stored once, under both names."
    assert version.name == "Rules.pdf"
    assert version.action == "ask"


def test_a_thousand_files_of_one_name_get_names_of_their_own() -> None:
    files = [file(f"{number}/Same.pdf") for number in range(1_000)]
    names = {one.name for one in plan(files, {})}
    assert len(names) == 1_000


# --- what is told
# ------------------------------------------------------------------------------------------------------------

ROW = DocumentRow("Rules.pdf", "ab", None, "ready", 2, 2, 2, 0, 0, 1_000.0)
BY_WORDS, EMPTY = replace(ROW, state="keyword"), replace(ROW, chunks=0)


@pytest.mark.parametrize(
    ("rows", "coming", "said"),
    [
        ([ROW], 0, "✓ You can ask about the document."),
        ([ROW] * 1_204, 0, "✓ You can ask about all 1,204 documents."),
        ([ROW] * 4, 2, "✓ You can ask about all 4 documents. 2 more are being added."),
        ([ROW, BY_WORDS], 0, "✓ You can ask about all 2 documents. Search in 1 of them still improves."),
        ([BY_WORDS] * 3, 0, "✓ You can ask about all 3 documents. Search still improves."),
        ([ROW, EMPTY], 0, "⚠ You can ask about 1 of 2. No text was found in the others."),
        ([], 1, "1 is being added."),
        ([], 0, "There are no documents to search."),
    ],
)
def test_what_can_be_asked_now_is_one_sentence(rows: list[DocumentRow], coming: int, said: str) -> None:
    assert health_text(rows, coming) == said


def test_space_is_told_as_people_say_it() -> None:
    assert bytes_text(0) == "0 bytes"
    assert bytes_text(999) == "999 bytes"
    assert bytes_text(1_500) == "1.5 KB"
    assert bytes_text(34_000_000) == "34 MB"
    assert bytes_text(2_000_000_000) == "2.0 GB"
    little, much = Space(1, 1, 1, 1, 10**6), Space(1, 1, 1, 1, 10**12)
    assert "⚠" in space_text(little)
    assert "⚠" not in space_text(much)


def test_how_far_all_are_is_told() -> None:
    assert progress_text(3, 5, 131.0) == "3 of 5 done · about 2 min left"
    assert progress_text(0, 1_200, None) == "0 of 1,200 done"
    assert progress_text(0, 5, None, 3) == "0 of 5 done · you can already ask about 3"
    cancelled = Job(1, "A.pdf", Phase.CANCELLED, again=True)
    assert ended_text(cancelled) == "A.pdf: reading it again was cancelled. Nothing changed."


def test_one_bar_grows_with_all_files_and_is_never_empty() -> None:
    waiting = Job(1, "A.pdf", Phase.WAITING, size=100)
    assert 0 < share_of_all([waiting]) < 0.1
    small = Job(2, "B.pdf", Phase.DONE, size=100)
    large = Job(3, "C.pdf", Phase.READING, 1, 2, size=10_000)
    assert share_of_all([waiting, small]) == 0.5
    assert share_of_all([small, large]) < 0.2
    assert share_of_all([small, replace(large, phase=Phase.FAILED)]) == 1.0


def test_lists_are_searched_by_all_words_and_put_into_order() -> None:
    budget = replace(ROW, name="b Budget 2024.pdf", pages=1, added_at=1.0)
    report = replace(ROW, name="A report.pdf", pages=2, added_at=2.0)
    draft = replace(ROW, name="a budget.pdf", pages=3, added_at=3.0)
    rows = [budget, report, draft]
    assert arranged(rows, "2024 BUD", "", {}) == [budget]
    assert arranged(rows, "", NAME, {}) == [draft, report, budget]
    assert arranged(rows, "", NEWEST, {}) == [draft, report, budget]
    assert arranged(rows, "", PAGES, {}) == [draft, report, budget]


def test_what_is_typed_as_the_document_says_is_not_kept() -> None:
    own = DocumentFacts("2024", None)
    assert said_of("FY 2024", "none", own) == DocumentFacts(None, None)
    assert said_of("", "draft", own) == DocumentFacts("", "draft")
    adopted = DocumentFacts(None, "adopted")
    assert said_of("2025-26", "none", adopted) == DocumentFacts("2025-26", "")


def test_an_address_may_name_anything() -> None:
    assert page_number("3") == 3
    for text in ("", "-1", "1e9", "٣", "9" * 400, "<b>"):
        assert page_number(text) == 1, text


# --- the page
# ------------------------------------------------------------------------------------------------------------


def test_period_and_status_are_set_right_and_back(context: AppContext) -> None:
    app = visit("documents_page.py")
    assert "✓ You can ask about the document." in shown(app)
    assert "Space used: " in shown(app)
    click(app, "Guide-Rules.pdf")
    period = labelled(app.text_input, "Period")
    assert period.value == "2024"
    period.set_value("soon")
    assert "That is not a period." in click(app, "facts-save")
    labelled(app.text_input, "Period").set_value("2030/31")
    labelled(app.selectbox, "Status").set_value("draft")
    click(app, "facts-save")
    assert facts(context) == DocumentFacts("2030-31", "draft")
    app.run()
    assert "You corrected this." in shown(app)
    assert "✓ Saved" in shown(app)
    click(app, "facts-own")
    assert facts(context) == DocumentFacts("2024", None)


def test_what_was_added_last_comes_first_and_is_marked(context: AppContext, tmp_path: Path) -> None:
    add(context, make_pdf(tmp_path / "Zeta.pdf", ["A letter of the bank."]))
    app = visit("documents_page.py")
    app.session_state["documents"].drop = Drop([job.id for job in context.additions.jobs()[-1:]])
    app.run()
    assert keys(app, "Guide-") == ["Guide-Zeta.pdf", "Guide-Rules.pdf"]
    assert shown(app).count('<strong class="new">New</strong>') == 1
    said = click(app, "Remove-Zeta.pdf")
    assert "Zeta.pdf" in said


def labelled(fields: Iterable[Any], label: str) -> Any:
    """The one field of these that has a label."""
    (found,) = [field for field in fields if field.label == label]
    return found


def test_a_document_is_read_again_from_its_details(context: AppContext) -> None:
    library = context.chatbot.library
    (before,) = library.scope([])
    app = visit("documents_page.py")
    click(app, "Guide-Rules.pdf")
    click(app, "Details-Rules.pdf")
    click(app, "report-again")
    settle(context)
    app.run()
    assert "✓ Rules.pdf: read again, 2 pages" in shown(app)
    assert before not in library.scope([])
    assert not keys(app, "Undo-")


def test_pages_open_from_the_row_the_report_and_the_address(context: AppContext) -> None:
    app = visit("documents_page.py")
    click(app, "Guide-Rules.pdf")
    assert "Page 1 of 2" in click(app, "Open-Rules.pdf")
    assert app.query_params == {"document": "Rules.pdf", "page": "1"}
    app = visit("documents_page.py")
    click(app, "Guide-Rules.pdf")
    click(app, "Details-Rules.pdf")
    app.number_input(key="report-open").set_value(2).run()
    assert "Page 2 of 2" in shown(app)
    app = visit("documents_page.py", address={"document": "Rules.pdf", "page": "99"})
    assert "Page 2 of 2" in shown(app)
    app = visit("documents_page.py", address={"document": "<b>Other</b>", "page": "x"})
    assert "There is no such document here." in shown(app)
    assert app.query_params == {}


def test_an_open_page_is_put_away_on_another_page(context: AppContext) -> None:
    app = visit("documents_page.py", address={"document": "Rules.pdf", "page": "1"})
    assert "Page 1 of 2" in shown(app)
    app.switch_page("chat_page.py").run()
    assert "Page 1 of 2" not in shown(app)


def dropped(app: AppTest, *files: tuple[str, bytes]) -> AppTest:
    """The page after files were dropped on it."""
    app.file_uploader[0].set_value([(name, data, "application/pdf") for name, data in files]).run()
    assert not app.exception
    return app


def test_a_drop_adds_and_is_undone(context: AppContext, tmp_path: Path) -> None:
    good = make_pdf(tmp_path / "Good.pdf", ["Growth was two per cent."]).read_bytes()
    other = make_pdf(tmp_path / "Other.pdf", ["Growth was three per cent."]).read_bytes()
    files = [("Good.pdf", good), ("bad.pdf", b"%PDF-1.4 x"), ("empty.pdf", b""), ("notes.zip", b"Dear")]
    app = dropped(visit("documents_page.py"), *files, ("Other.pdf", other))
    assert not app.file_uploader[0].value
    settle(context)
    said = shown(app.run())
    assert "<strong>notes.zip</strong>: Not of a kind that is read, so it was not added." in said
    assert "<strong>empty.pdf</strong>: The file is empty" in said
    assert "⚠ bad.pdf: not added." in said
    assert "Of 3 files: 2 added, 1 not added." in said
    assert {"Good.pdf", "Other.pdf"} <= set(context.chatbot.library.scope([]).values())
    click(app, "undo-added")
    assert list(context.chatbot.library.scope([]).values()) == ["Rules.pdf"]
    assert not keys(app, "undo-added")


def test_only_a_known_name_with_other_content_is_asked_about(context: AppContext, tmp_path: Path) -> None:
    there = make_pdf(tmp_path / "Rules.pdf", [TEXT, "The debt anchor."]).read_bytes()
    for label, pages in (("Keep both", "Kept beside."), ("Replace", "Replacing."), ("Skip", "Skipped.")):
        new = make_pdf(tmp_path / "Rules.pdf", [pages]).read_bytes()
        app = dropped(visit("documents_page.py"), ("Rules.pdf", new))
        assert "Rules.pdf is already here, with other content." in shown(app)
        (key,) = keys(app, f"{label}-")
        click(app, key)
        settle(context)
        assert not keys(app.run(), "Skip-")
    names = sorted(context.chatbot.library.scope([]).values())
    assert names == ["Rules (2).pdf", "Rules.pdf"]
    versions = {name: version for version, name in context.chatbot.library.scope([]).items()}
    assert context.chatbot.library.catalog.page(versions["Rules.pdf"], 1).text.startswith("Replacing")
    app = dropped(visit("documents_page.py"), ("Copy.pdf", there))
    settle(context)
    assert keys(app.run(), "undo-added")


def test_a_guide_opens_pages_and_asks_about_its_document_alone(context: AppContext, tmp_path: Path) -> None:
    add(context, make_pdf(tmp_path / "Other.pdf", ["The debt ceiling of the other country."]))
    app = visit("documents_page.py")
    said = click(app, "Guide-Rules.pdf")
    assert "<dt>Pages</dt><dd>2</dd>" in said
    assert "<dd>2024</dd>" in said
    assert "Outline" in said
    assert "Page 1 of 2" in press(app, "guide-cover")
    assert "Outline" not in click(app, "Guide-Rules.pdf")
    click(app, "Guide-Rules.pdf")
    questions = [app.button(key=key).label for key in keys(app, "guide-ask-")]
    assert 3 <= len(questions) <= 5
    app.button(key="guide-ask-0").click().run()
    assert app.session_state["scope"] == ["Rules.pdf"]
    assert questions[0] in shown(app)


def test_others_do_not_see_what_a_user_adds_on_a_server_for_several(
    context: AppContext, tmp_path: Path
) -> None:
    shared = replace(context, settings=replace(context.settings, open_to_others=True))
    app_context.opening(load_settings).context = shared
    locked = make_pdf(tmp_path / "Locked.pdf", [TEXT], user_password="sesame")
    for path in (locked, make_pdf(tmp_path / "Mine.pdf", ["Mine."])):
        shared.additions.enqueue([NewFile(path.name, io.BytesIO(path.read_bytes()), owner=ME)])
    settle(shared)
    mine, other = shown(visit("documents_page.py")), shown(visit("documents_page.py", owner=OTHER))
    assert "Password for <strong>Locked.pdf</strong>" in mine
    assert "✓ Mine.pdf: added" in mine
    assert "Locked.pdf" not in other
    assert "Mine.pdf: added" not in other


def test_a_removal_is_undone_at_once(context: AppContext) -> None:
    app = visit("documents_page.py")
    click(app, "Remove-Rules.pdf")
    text = click(app, "dialog-yes")
    assert f"{context.chatbot.title('Rules.pdf')} was removed." in text
    assert "There are no documents to search." in text
    assert "removed; you can restore it until" in text
    assert "was removed." not in click(app, "undo-removed")
    assert list(context.chatbot.library.scope([]).values()) == ["Rules.pdf"]
    click(app, "Remove-Rules.pdf")
    click(app, "dialog-yes")
    assert "removed; you can" not in click(app, "Restore-Rules.pdf")


def test_two_tabs_do_not_undo_one_another(context: AppContext, tmp_path: Path) -> None:
    repealed = make_pdf(tmp_path / "Rules.pdf", ["The rules were repealed."])
    add(context, repealed)
    first, second = visit("documents_page.py"), visit("documents_page.py")
    click(first, "Guide-Rules.pdf")
    click(second, "Guide-Rules.pdf")
    click(first, "Undo-Rules.pdf")
    text = click(second, "Undo-Rules.pdf")
    library = context.chatbot.library
    (version,) = library.scope([])
    page = library.catalog.page(version, 1)
    assert "deficit ceiling" in page.text
    assert "changed in another tab" in text
    click(first, "Remove-Rules.pdf")
    click(first, "dialog-yes")
    second.run()
    # Asked for by what stood there before.
    second.session_state["dialog"] = (details_of("Rules"), "Rules.pdf")
    second.run()
    assert "This document is gone." in shown(second)
    second.run()
    click(first, "Erase-Rules.pdf")
    second.run()
    click(second, "Erase-Rules.pdf")
    click(first, "dialog-yes")
    settle(context)
    assert "There is no document" in click(second, "dialog-yes")


def test_damage_seen_at_a_glance_is_repaired_by_one_click(context: AppContext) -> None:
    library = context.chatbot.library
    words = library.indexes.keywords
    words.remove(list(library.scope([])))
    app = visit("documents_page.py")
    assert "the keyword index has 0 of 2 passages" in shown(app)
    click(app, "repair-now")
    end = time.monotonic() + 60
    while context.check.running:
        assert time.monotonic() < end
        time.sleep(0.02)
    assert library.indexes.keywords.count() == 2


def test_an_empty_store_teaches_and_can_be_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FINPOLICY_HOME", str(tmp_path / "home"))
    try:
        opening = app_context.opening(load_settings)
        opening.wait(60)
        app = visit("documents_page.py")
        assert "There are no documents yet. Drop files above" in shown(app)
        assert app.button(key="check")
    finally:
        app_context.close()
