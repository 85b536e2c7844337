"""News signals on the Memory page: what is said of their store, the chart's rows, and that nothing of a
text takes effect.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from streamlit.testing.v1 import AppTest

from chatbot.app import app_context
from chatbot.app.app_context import AppContext
from chatbot.app.file_import import FileImport
from chatbot.memory.signals.news_sources import News
from chatbot.memory.signals.records import (
    AssetRow,
    EventRow,
    Health,
    Imported,
    NewsItem,
    NewsReading,
    SignalsError,
)
from chatbot.memory.signals.signal_store import Signals
from chatbot.memory.signals.signal_tab import NOTHING_FOUND, health_line
from chatbot.memory.signals.signal_use import State
from chatbot.settings import load_settings
from chatbot.ui.safe_text import signal_html
from tests.chatbot.ui.visitor import enter, switch, write
from tests.pages import click, shown, visit

AT = datetime(2026, 1, 2, 9, 30, tzinfo=UTC)
TELLINGS = tuple(NewsItem(source, "1", "", AT) for source in ("channel", "channel", "other"))
READING = NewsReading("X is <i>listed</i>", ("X",), "buy", 0.65, "rules-1")
ROW = EventRow(7, "<b>Exchange</b> lists $X$", AT, "vector", TELLINGS, (READING,))


@pytest.fixture(scope="module")
def page(context: AppContext) -> AppTest:
    app = visit("memory_page.py")
    app.session_state["memory-tab"] = "News signals"
    return app.run()


class FakeSignals:
    """Stands in for the store behind the page; its own answers are tested on a real Postgres elsewhere.

    done: what the page had done.
    """

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._patch = patch
        self.done: list[object] = []

    def put(self, name: str, call: Callable[..., object]) -> None:
        """Answer a method of the store so."""
        self._patch.setattr(Signals, name, call)

    def put_state(self, state: Callable[[Signals], State]) -> None:
        self._patch.setattr(Signals, "state", property(state))

    def put_rows(self, rows: list[EventRow]) -> None:
        """List these where nothing is searched for."""

        def listed(
            signals: Signals, most: int = 50, start: int = 0, search: str = "", asset: str = ""
        ) -> list[EventRow]:
            return [] if search or asset == "Y" else rows

        self.put("listed", listed)
        counts = {"buy": 1, "sell": 0, "observe": 0}
        assets = [AssetRow(asset, 1, counts, 0.65, datetime(2026, 1, 2, tzinfo=UTC)) for asset in ("X", "Y")]
        self.put("assets", lambda self: assets)

    def put_changes(self) -> None:
        """Keep what is corrected, removed and switched."""

        def correct(signals: Signals, event: int, reading: NewsReading) -> None:
            self.done.append((event, reading))

        def remove(signals: Signals, event: int) -> None:
            self.done.append(event)

        def turn(signals: Signals, on: bool) -> None:
            self.done.append(on)

        self.put("correct", correct)
        self.put("remove", remove)
        self.put("switch", turn)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeSignals:
    return FakeSignals(monkeypatch)


def test_until_something_is_imported_the_page_teaches_and_starts_nothing(page: AppTest) -> None:
    assert not page.exception
    assert "No news has been imported yet." in shown(page)
    assert not [toggle for toggle in page.toggle if toggle.key == "signals-on"]


def test_what_is_switched_off_can_be_switched_on_again(page: AppTest, fake: FakeSignals) -> None:
    """The health of what is off is that of an empty store: nothing of it is asked."""
    opened = app_context.opening(load_settings).context
    assert opened is not None
    signals = opened.chatbot.signals
    stored = vars(Signals)["state"].__get__
    fake.put_state(lambda self: replace(stored(self), imported=True))
    signals.switch(on=False)
    page.run()
    assert not page.exception
    assert "News signals are off" in shown(page)
    assert "No news has been imported yet." not in shown(page)
    assert page.toggle(key="signals-on").value is False
    fake.put("health", lambda self, options=None: Health("off" if self.off else "normal"))
    assert "✓ normal" in switch(page, "signals-on", on=True)
    assert signals.state.on


def test_signals_that_are_there_are_listed_switched_and_removed(page: AppTest, fake: FakeSignals) -> None:
    """The store's own answers are tested on a real Postgres elsewhere."""
    health = Health("normal", database="embedded", events=1, signals=1, read=1, unsure=1, confidence=0.6)
    fake.put("health", lambda self, options=None: health)
    fake.put_state(lambda self: State(imported=True))
    fake.put_rows([ROW])
    fake.put_changes()
    page.run()
    assert not page.exception
    text = shown(page)
    assert "✓ normal: 1 event, 1 signal, embedded." in text
    recallable = "0 of 1 event with a signal can be recalled now: 1 is below confidence 0.60."
    assert recallable in text
    assert NOTHING_FOUND in enter(page, "find-signals", "nowhere")
    enter(page, "find-signals", "")
    page.selectbox(key="signals-asset").set_value("Y").run()
    assert NOTHING_FOUND in shown(page)
    page.selectbox(key="signals-asset").set_value("All assets").run()
    click(page, "edit-signal-7")
    summary = page.text_area(key="edit-summary")
    assert summary.value == "X is <i>listed</i>"
    assert page.selectbox(key="edit-action").value == "buy"
    summary.set_value("")
    assert "Describe what happened." in click(page, "edit-save")
    assert fake.done == []
    page.text_area(key="edit-summary").set_value("A rumour. ")
    write(page, "edit-assets", "x, eur X")
    page.selectbox(key="edit-action").set_value("observe")
    page.slider(key="edit-confidence").set_value(0.2)
    click(page, "edit-save")
    corrected = NewsReading("A rumour.", ("X", "EUR"), "observe", 0.2, "a person")
    assert fake.done == [(7, corrected)]
    click(page, "delete-signal-7")
    click(page, "dialog-no")
    click(page, "delete-signal-7")
    captions = " ".join(caption.value for caption in page.caption)
    assert "even after another import" in captions
    click(page, "dialog-yes")
    switch(page, "signals-on", on=False)
    assert fake.done[1:] == [7, False]


def test_after_an_import_the_list_is_drawn_anew_with_what_came_of_it(
    page: AppTest, fake: FakeSignals
) -> None:
    rows: list[EventRow] = []

    def add(
        self: Signals,
        news: News,
        model: object = None,
        *,
        again: bool = False,
        progress: Callable[[int, int], None],
    ) -> Imported:
        if rows:
            raise SignalsError("The database is full.", kind="full", hint="Free space.")
        rows.append(ROW)
        progress(1, 2)
        kept = Imported(read=2, events=1, tellings=1, unread=1, analysed={"rules-1": 1})
        return replace(kept, refused=news.refused)

    def health(self: Signals, options: object = None) -> Health:
        count = len(rows)
        return Health("normal" if rows else "off", database="embedded", events=count, signals=count)

    fake.put("add", add)
    fake.put("health", health)
    fake.put_state(lambda self: State(imported=bool(rows)))
    fake.put_rows(rows)
    page.run()
    assert "No news has been imported yet." in shown(page)
    news = b'{"text": "x", "date": "2026-01-01"}\n{"text": "y"}'
    for said in (
        "news.jsonl: 2 read: 1 new, 0 known, 1 unreadable; 1 read into signals.",
        "news.jsonl: The database is full.",
    ):
        (upload,) = page.file_uploader
        upload.upload("news.jsonl", news, "application/jsonl").run()
        click(page, "import-signals")
        running: FileImport = page.session_state["signals_import"]
        running.wait(60)
        text = shown(page.run())
        assert said in text
        assert "lists $X$" in text
        assert page.button(key="delete-signal-7")


def test_an_event_is_shown_as_text_with_its_sources_and_time() -> None:
    html = signal_html(ROW)
    assert "<b>Exchange" not in html
    assert "&lt;b&gt;Exchange" in html
    assert "<i>" not in html
    assert "Buy X, confidence 0.65: X is &lt;i&gt;listed&lt;/i&gt;" in html
    assert "02 January 2026, 09:30 UTC · channel, other · not advice" in html
    unread = EventRow(8, "t", AT, "nothing")
    assert "No signal" in signal_html(unread)
    future = datetime(2096, 1, 1, tzinfo=UTC)
    assert "Dated in the future" in signal_html(replace(ROW, at=future))
    assert "Dated in the future" not in signal_html(ROW)


def test_what_came_of_an_import_is_told() -> None:
    partly = Imported(read=5, events=2, tellings=2, known=2, unread=1, analysed={"rules-1": 2})
    told = replace(partly, refused=("line 3",), problem="It is busy.").text
    assert told == "5 read: 2 new, 2 known, 1 unreadable; 2 read into signals. It is busy."
    told = Imported(read=3, changed=1, removed=2).text
    assert told == (
        "3 read: 0 new, 0 known, 1 changed, but the earlier text is kept, 2 removed earlier and "
        "not added again; 0 read into signals."
    )
    alike = Imported(read=699, events=662, tellings=699, without_text=38, analysed={"rules-1": 661})
    assert alike.text == (
        "699 read: 662 new, 37 with the same text as another, 0 known; 661 read into signals, "
        "38 have no text."
    )


def test_lines_say_what_happened() -> None:
    fallback = Health("fallback", events=2, database="d")
    assert health_line(fallback).startswith("⚠ fallback: 2 events, 0 signals, d.")
    failed = Health("failed", database="d")
    assert health_line(failed) == "⚠ failed: d."
    later = replace(failed, failures=1, last_success=1_767_346_200)
    assert later.text == "failed: d. It last answered on 02 January 2026, 09:30 UTC."
    off = Health("off")
    assert off.text == ""
    assert off.recallable_text == ""
    health = Health("normal", read=661, recallable=117, unsure=544, old=1, early=2, confidence=0.6, hours=168)
    assert health.recallable_text == (
        "117 of 661 events with a signal can be recalled now: 544 are below confidence 0.60, 1 is older "
        "than 7 days, 2 are dated in the future."
    )
    all_recalled = Health("normal", read=1, recallable=1, hours=5)
    assert all_recalled.recallable_text == "1 of 1 event with a signal can be recalled now."
