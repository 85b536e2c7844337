"""The Documents page without a browser: what becomes of dropped files, health, details, addresses, two
tabs, many documents.
"""

from __future__ import annotations

import hashlib
import io
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from chatbot.records import DocumentRow
from chatbot.store.addition_queue import Job, NewFile
from chatbot.store.disk_usage import Space
from chatbot.ui import app_context
from chatbot.ui.app_context import AppContext
from chatbot.ui.document_address import page_number
from chatbot.ui.document_details import said_of
from chatbot.ui.document_health import bytes_text, health_text, space_text
from chatbot.ui.document_jobs import all_left_text, ended_text, phase_text
from chatbot.ui.document_list import NAME, NEWEST, PAGES, arranged
from chatbot.ui.upload_plan import ChosenFile, plan
from ingestion.records import DocumentFacts
from tests.pages import open_context, shown, visit
from tests.pdfs import make_pdf

TEXT = "Budget statement 2024\n\nThe deficit ceiling is three per cent of output."


@pytest.fixture
def context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AppContext]:
    """A chatbot with one document of two pages, Rules.pdf."""
    with open_context(tmp_path / "home") as opened:
        add(opened, "Rules.pdf", make_pdf(tmp_path / "Rules.pdf", [TEXT, "The debt anchor."]))
        yield opened


def add(context: AppContext, name: str, path: Path) -> None:
    context.additions.enqueue([NewFile(name, io.BytesIO(path.read_bytes()))])
    settle(context)


def settle(context: AppContext) -> None:
    end = time.monotonic() + 60
    while any(job.busy for job in context.additions.jobs()) or context.additions.erasing():
        assert time.monotonic() < end
        time.sleep(0.02)


# --- what is dropped
# ------------------------------------------------------------------------------------------------------------


def file(path: str, content: str = "") -> ChosenFile:
    return ChosenFile(
        path, 0 if content == "empty" else 9, hashlib.sha256((content or path).encode()).hexdigest()
    )


def test_what_becomes_of_dropped_files_is_told() -> None:
    files = [
        file("in/a.pdf"),
        file("in/deep/b.PDF"),
        file("in/empty.pdf", "empty"),
        file("in/notes.txt"),
        file("other/a.pdf", "in/a.pdf"),
    ]
    planned = plan(files, {})
    assert [(one.name, one.action) for one in planned] == [
        ("a.pdf", "add"),
        ("b.PDF", "add"),
        ("empty.pdf", "leave"),
        ("notes.txt", "leave"),
        ("a.pdf", "leave"),
    ]
    assert [bool(one.said) for one in planned] == [False, False, True, True, True]


def test_different_files_of_one_name_are_told_apart_by_their_folders() -> None:
    names = [
        one.name
        for one in plan(
            [file("2023/Budget.pdf"), file("2024/Budget.pdf"), file("Budget.pdf"), file("x/2023 Budget.pdf")],
            {},
        )
    ]
    assert len(set(names)) == 4
    assert {"2024 Budget.pdf", "Budget.pdf", "2023 Budget.pdf"} <= set(names)


def test_known_files_and_known_names_are_told() -> None:
    there = {"Known.pdf": file("k", "known").digest[:16], "Rules.pdf": "0" * 16}
    same, other_name, version, twin = plan(
        [file("Known.pdf", "known"), file("New.pdf", "known"), file("Rules.pdf"), file("Twin.pdf", "known")],
        there,
    )
    assert same.said.startswith("It is there already, with the very same pages")
    assert other_name.said == twin.said == "The same file as Known.pdf; it is kept once, under both names."
    assert (version.name, version.action) == ("Rules.pdf", "ask")


def test_a_thousand_files_of_one_name_get_names_of_their_own() -> None:
    planned = plan([file(f"{number}/Same.pdf") for number in range(1_000)], {})
    assert len({one.name for one in planned}) == 1_000


# --- what is told
# ------------------------------------------------------------------------------------------------------------

ROW = DocumentRow("Rules.pdf", "ab", None, "ready", 2, 2, 2, 0, 0, 1_000.0)


@pytest.mark.parametrize(
    ("rows", "coming", "said"),
    [
        ([ROW], 0, "✓ The document can be searched."),
        ([ROW] * 1_204, 0, "✓ All 1,204 documents can be searched."),
        ([ROW] * 4, 2, "✓ All 4 documents can be searched. 2 more are being added."),
        (
            [ROW, replace(ROW, state="keyword")],
            0,
            (
                "✓ All 2 documents can be searched, 1 of them by words alone until the search by meaning is "
                "ready."
            ),
        ),
        (
            [replace(ROW, state="keyword")] * 3,
            0,
            "✓ All 3 documents can be searched, for now by words alone until the search by meaning is ready.",
        ),
        ([ROW, replace(ROW, chunks=0)], 0, "⚠ 1 of 2 can be searched; in the rest no text was found."),
        ([], 1, "1 is being added."),
        ([], 0, "There are no documents to search."),
    ],
)
def test_health_is_one_sentence(rows: list[DocumentRow], coming: int, said: str) -> None:
    assert health_text(rows, coming) == said


def test_space_is_told_as_people_say_it() -> None:
    assert [bytes_text(count) for count in (0, 999, 1_500, 34_000_000, 2_000_000_000)] == [
        "0 bytes",
        "999 bytes",
        "1.5 KB",
        "34 MB",
        "2.0 GB",
    ]
    assert "⚠" in space_text(Space(1, 1, 1, 1, 10**6))
    assert "⚠" not in space_text(Space(1, 1, 1, 1, 10**12))


def test_speed_and_the_time_for_all_are_told() -> None:
    reading = Job(1, "A.pdf", "reading", 40, 100, 15.0, per_second=4.0)
    assert phase_text(reading) == "reading page 40 of 100, 4.0 pages a second, about 15 s left"
    assert "31 passages a second" in phase_text(replace(reading, phase="embedding", per_second=31.2))
    assert all_left_text(3, 131.0) == "3 files are being read, about 2 min left for all."
    assert all_left_text(3, None) == "3 files are being read."
    assert (
        ended_text(Job(1, "A.pdf", "cancelled", again=True))
        == "A.pdf: reading it again was cancelled; it stays as it was."
    )


def test_lists_are_searched_by_all_words_and_put_into_order() -> None:
    names = ["b Budget 2024.pdf", "A report.pdf", "a budget.pdf"]
    rows = [replace(ROW, name=name, pages=at, added_at=float(at)) for at, name in enumerate(names)]
    assert [row.name for row in arranged(rows, "2024 BUD", "")] == names[:1]
    assert [row.name for row in arranged(rows, "", NAME)] == [
        "a budget.pdf",
        "A report.pdf",
        "b Budget 2024.pdf",
    ]
    assert arranged(rows, "", NEWEST) == arranged(rows, "", PAGES) == rows[::-1]


def test_what_is_typed_as_the_document_says_is_not_kept() -> None:
    own = DocumentFacts("2024", None)
    assert said_of("FY 2024", "none", own) == DocumentFacts(None, None)
    assert said_of("", "draft", own) == DocumentFacts("", "draft")
    assert said_of("2025-26", "none", DocumentFacts(None, "adopted")) == DocumentFacts("2025-26", "")


def test_an_address_may_name_anything() -> None:
    assert [page_number(text) for text in ("3", "", "-1", "1e9", "٣", "9" * 400, "<b>")] == [
        3,
        1,
        1,
        1,
        1,
        1,
        1,
    ]


# --- the page
# ------------------------------------------------------------------------------------------------------------


def test_period_and_status_are_set_right_and_back(context: AppContext) -> None:
    app = visit("documents_page.py")
    assert "✓ The document can be searched." in shown(app)
    assert "Space used: " in shown(app)
    app.button(key="Details-Rules.pdf").click().run()
    (period,) = [field for field in app.text_input if field.label == "Period"]
    assert period.value == "2024"
    period.set_value("soon")
    app.button(key="facts-save").click().run()
    assert "That is no period." in shown(app)
    next(field for field in app.text_input if field.label == "Period").set_value("2030/31")
    next(box for box in app.selectbox if box.label == "Status").set_value("draft")
    app.button(key="facts-save").click().run()
    assert not app.exception
    (version,) = context.chatbot.library.scope([])
    assert context.chatbot.library.facts(version) == DocumentFacts("2030-31", "draft")
    app.run()
    assert "Corrected by hand." in shown(app)
    app.button(key="facts-own").click().run()
    assert context.chatbot.library.facts(version) == DocumentFacts("2024", None)


def test_a_document_is_read_again_from_its_details(context: AppContext) -> None:
    (before,) = context.chatbot.library.scope([])
    app = visit("documents_page.py")
    app.button(key="Details-Rules.pdf").click().run()
    app.button(key="report-again").click().run()
    settle(context)
    app.run()
    assert "✓ Rules.pdf: read again, 2 pages" in shown(app)
    assert before not in context.chatbot.library.scope([])
    assert not [button for button in app.button if (button.key or "").startswith("Undo-")]


def test_pages_open_from_the_row_the_report_and_the_address(context: AppContext) -> None:
    app = visit("documents_page.py")
    app.button(key="Open-Rules.pdf").click().run()
    assert "Page 1 of 2" in shown(app)
    assert app.query_params == {"document": "Rules.pdf", "page": "1"}
    app = visit("documents_page.py")
    app.button(key="Details-Rules.pdf").click().run()
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


def test_a_removal_is_undone_at_once(context: AppContext) -> None:
    app = visit("documents_page.py")
    app.button(key="Remove-Rules.pdf").click().run()
    app.button(key="dialog-yes").click().run()
    assert "Rules.pdf was removed." in shown(app)
    assert "There are no documents to search." in shown(app)
    app.button(key="undo-removed").click().run()
    assert list(context.chatbot.library.scope([]).values()) == ["Rules.pdf"]
    assert "was removed." not in shown(app)


def test_two_tabs_do_not_undo_one_another(context: AppContext, tmp_path: Path) -> None:
    add(context, "Rules.pdf", make_pdf(tmp_path / "Rules.pdf", ["The rules were repealed."]))
    first, second = visit("documents_page.py"), visit("documents_page.py")
    first.button(key="Undo-Rules.pdf").click().run()
    second.button(key="Undo-Rules.pdf").click().run()
    (version,) = context.chatbot.library.scope([])
    assert "deficit ceiling" in context.chatbot.library.catalog.page(version, 1).text
    assert "changed in another tab" in shown(second)
    first.button(key="Remove-Rules.pdf").click().run()
    first.button(key="dialog-yes").click().run()
    for kind in ("Details", "Remove"):
        second.run()
        if kind == "Details":  # asked for by what stood there before
            second.session_state["document_dialog"] = ("report", "Rules.pdf")
            second.run()
            assert "not there any more" in shown(second)
    first.button(key="Erase-Rules.pdf").click().run()
    second.run()
    second.button(key="Erase-Rules.pdf").click().run()
    first.button(key="dialog-yes").click().run()
    settle(context)
    second.button(key="dialog-yes").click().run()
    assert not second.exception
    assert "There is no document" in shown(second)


def test_damage_seen_at_a_glance_is_repaired_by_one_click(context: AppContext) -> None:
    context.chatbot.library.indexes.keywords.remove(list(context.chatbot.library.scope([])))
    app = visit("documents_page.py")
    assert "the index of words has 0 of 2 passages" in shown(app)
    app.button(key="repair-now").click().run()
    end = time.monotonic() + 60
    while context.check.running:
        assert time.monotonic() < end
        time.sleep(0.02)
    assert context.chatbot.library.indexes.keywords.count() == 2


def test_an_empty_store_teaches_and_can_be_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FINPOLICY_HOME", str(tmp_path / "home"))
    try:
        opening = app_context.opening()
        opening.wait(60)
        app = visit("documents_page.py")
        assert "There are no documents yet. Drop PDFs above" in shown(app)
        assert app.button(key="check")
    finally:
        app_context.close()
