"""News signals on the Memory page: what is said of their store, the chart's rows, and that nothing of a
text takes effect.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime

import pytest
from streamlit.testing.v1 import AppTest

from chatbot.memory.signals.news_sources import News
from chatbot.memory.signals.records import (
    EventRow,
    Health,
    Imported,
    NewsReading,
    SignalsError,
    TimelinePoint,
)
from chatbot.memory.signals.signal_store import Signals
from chatbot.memory.signals.signal_tab import NOTHING_FOUND, chart_rows, health_line
from chatbot.memory.signals.state import State
from chatbot.memory.signals.status_text import health_text, imported_text, recallable_text
from chatbot.ui import app_context
from chatbot.ui.app_context import AppContext
from chatbot.ui.safe_text import signal_html
from tests.pages import shown, visit

ROW = EventRow(
    7,
    "<b>Exchange</b> lists $X$",
    datetime(2026, 1, 2, 9, 30, tzinfo=UTC),
    "vector",
    (("channel", "1", ""), ("channel", "2", ""), ("other", "3", "")),
    (NewsReading("X is <i>listed</i>", ("X",), "buy", 0.65, "rules-1"),),
)


@pytest.fixture(scope="module")
def page(context: AppContext) -> AppTest:
    app = visit("memory_page.py")
    app.session_state["memory-tab"] = "News signals"
    return app.run()


def test_until_something_is_imported_the_page_teaches_and_starts_nothing(page: AppTest) -> None:
    assert not page.exception
    assert "No news has been imported yet." in shown(page)
    assert not [toggle for toggle in page.toggle if toggle.key == "signals-on"]


def test_what_is_switched_off_can_be_switched_on_again(
    page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The health of what is off is that of an empty store: nothing of it is asked."""
    chatbot = app_context.opening().context
    assert chatbot is not None
    signals = chatbot.chatbot.signals
    monkeypatch.setattr(
        Signals, "state", property(lambda self: State(imported=True, on=self._switch.read().on))
    )
    signals.switch(on=False)
    page.run()
    assert (
        not page.exception
        and "News signals are switched off" in shown(page)
        and "No news has been imported yet." not in shown(page)
    )
    toggle = page.toggle(key="signals-on")
    assert toggle.value is False
    monkeypatch.setattr(
        Signals, "health", lambda self, options=None: Health("normal" if not self.off else "off")
    )
    toggle.set_value(True).run()
    assert not page.exception and signals._switch.read().on and "✓ normal" in shown(page)


def test_signals_that_are_there_are_listed_charted_switched_and_removed(
    page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store's own answers are tested on a real Postgres elsewhere."""
    done: list[object] = []
    health = Health("normal", database="embedded", events=1, signals=1, read=1, unsure=1, confidence=0.6)
    monkeypatch.setattr(Signals, "health", lambda self, options=None: health)
    monkeypatch.setattr(Signals, "state", property(lambda self: State(imported=True)))
    monkeypatch.setattr(Signals, "listed", lambda self, most=50, start=0, search="": [] if search else [ROW])
    monkeypatch.setattr(Signals, "correct", lambda self, event, reading: done.append((event, reading)))
    monkeypatch.setattr(
        Signals,
        "timeline",
        lambda self, confidence=0.0: [TimelinePoint("2026-01-02", "X", 1, 0.65)] if confidence < 0.7 else [],
    )
    monkeypatch.setattr(Signals, "remove", lambda self, event: done.append(event))
    monkeypatch.setattr(Signals, "switch", lambda self, on: done.append(on))
    page.run()
    assert not page.exception
    assert "✓ normal: 1 event, 1 signal, embedded." in shown(page)
    assert (
        "0 of 1 event with a signal can be recalled now: 1 is less sure than 0.60. The Settings page"
        in shown(page)
    )
    assert page.get("arrow_vega_lite_chart") or page.get("vega_lite_chart")
    page.slider(key="signals-confidence").set_value(0.9).run()
    assert "No signal is so sure." in shown(page)
    page.text_input(key="find-signals").set_value("nowhere").run()
    assert NOTHING_FOUND in shown(page)
    page.text_input(key="find-signals").set_value("").run()
    page.button(key="edit-signal-7").click().run()
    assert (
        page.text_area(key="edit-summary").value == "X is <i>listed</i>"
        and page.selectbox(key="edit-action").value == "buy"
    )
    page.text_area(key="edit-summary").set_value("")
    page.button(key="edit-save").click().run()
    assert "Say what happened." in shown(page) and done == []
    page.text_area(key="edit-summary").set_value("A rumour. ")
    page.text_input(key="edit-assets").set_value("x, eur X")
    page.selectbox(key="edit-action").set_value("observe")
    page.slider(key="edit-confidence").set_value(0.2)
    page.button(key="edit-save").click().run()
    assert not page.exception and done == [
        (7, NewsReading("A rumour.", ("X", "EUR"), "observe", 0.2, "a person"))
    ]
    page.button(key="delete-signal-7").click().run()
    page.button(key="dialog-no").click().run()
    page.button(key="delete-signal-7").click().run()
    assert "no import brings it back" in " ".join(caption.value for caption in page.caption)
    page.button(key="dialog-yes").click().run()
    page.toggle(key="signals-on").set_value(False).run()
    assert not page.exception and done[1:] == [7, False]


def test_after_an_import_the_list_is_drawn_anew_with_what_came_of_it(
    page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows: list[EventRow] = []

    def add(
        self: Signals,
        news: News,
        model: object = None,
        *,
        again: bool = False,
        progress: Callable[[str, int], None],
    ) -> Imported:
        if rows:
            raise SignalsError("The database is full.", kind="full", hint="Free space.")
        rows.append(ROW)
        progress("kept", 1)
        return Imported(read=2, events=1, tellings=1, unread=1, refused=news.refused, analysed={"rules-1": 1})

    def health(self: Signals, options: object = None) -> Health:
        return Health("normal" if rows else "off", database="embedded", events=len(rows), signals=len(rows))

    monkeypatch.setattr(Signals, "add", add)
    monkeypatch.setattr(Signals, "health", health)
    monkeypatch.setattr(Signals, "state", property(lambda self: State(imported=bool(rows))))
    monkeypatch.setattr(Signals, "listed", lambda self, most=50, start=0, search="": rows)
    monkeypatch.setattr(
        Signals, "timeline", lambda self, confidence=0.0: [TimelinePoint("2096-01-02", "X", 1, 0.65)]
    )
    page.run()
    assert "No news has been imported yet." in shown(page)
    for said in (
        "2 read: 1 new, 0 known, 1 not readable; 1 read into signals.",
        "Not imported. The database is full.",
    ):
        (upload,) = page.file_uploader
        upload.upload(
            "news.jsonl", b'{"text": "x", "date": "2026-01-01"}\n{"text": "y"}', "application/jsonl"
        )
        page.button(key="import-news").click().run()
        assert not page.exception and said in shown(page)
        assert "lists $X$" in shown(page) and page.button(key="delete-signal-7")
    assert "dated in the future" in shown(page) and not (
        page.get("arrow_vega_lite_chart") or page.get("vega_lite_chart")
    )


def test_an_event_is_shown_as_text_with_its_sources_and_time() -> None:
    html = signal_html(ROW)
    assert "<b>Exchange" not in html and "&lt;b&gt;Exchange" in html and "<i>" not in html
    assert "Buy X, confidence 0.65: X is &lt;i&gt;listed&lt;/i&gt;" in html
    assert "02 January 2026, 09:30 UTC · channel, other · not advice" in html
    assert "No signal" in signal_html(EventRow(8, "t", ROW.at, "nothing"))


def test_the_chart_has_the_assets_of_most_signals_and_the_others_together() -> None:
    points = [TimelinePoint("2026-01-01", f"A{number}", number + 2, 0.5) for number in range(8)] + [
        TimelinePoint("2026-01-02", "", 9, 0.5)
    ]
    rows = chart_rows(points)
    assert {row["asset"] for row in rows} == {"A3", "A4", "A5", "A6", "A7", "no asset", "others"}
    assert sum(int(str(row["signals"])) for row in rows) == sum(point.signals for point in points)
    assert chart_rows([]) == []


def test_the_chart_has_a_time_axis_and_what_is_of_the_future_is_said() -> None:
    """Days that are names would stand side by side, however far apart they are."""
    assert {row["day"] for row in chart_rows([TimelinePoint("2026-01-01", "X", 1, 0.5)])} == {
        date(2026, 1, 1)
    }
    assert "Dated in the future" in signal_html(
        replace(ROW, at=datetime(2096, 1, 1, tzinfo=UTC))
    ) and "Dated in the future" not in signal_html(ROW)


def test_lines_say_what_happened() -> None:
    assert health_line(Health("fallback", events=2, database="d")).startswith(
        "⚠ fallback: 2 events, 0 signals, d."
    )
    assert imported_text(
        Imported(
            read=5,
            events=2,
            tellings=2,
            known=2,
            refused=("line 3",),
            unread=1,
            analysed={"rules-1": 2},
            problem="It is busy.",
        )
    ) == ("5 read: 2 new, 2 known, 1 not readable; 2 read into signals. It is busy.")
    assert imported_text(Imported(read=3, changed=1, removed=2)) == (
        "3 read: 0 new, 0 known, 1 with another text than before, which stays, 2 removed before, which "
        "stay away; 0 read into signals."
    )
    assert imported_text(
        Imported(read=699, events=662, tellings=699, without_text=38, analysed={"rules-1": 661})
    ) == ("699 read: 662 new, 37 with the text of another, 0 known; 661 read into signals, 38 have no words.")
    assert (
        health_text(Health("failed", database="d", failures=1, last_success=1_767_346_200))
        == "failed: d. It last answered on 02 January 2026, 09:30 UTC."
    )
    assert health_line(Health("failed", database="d")) == "⚠ failed: d."
    assert health_text(Health("off")) == recallable_text(Health("off")) == ""
    health = Health("normal", read=661, recallable=117, unsure=544, old=1, early=2, confidence=0.6, hours=168)
    assert recallable_text(health) == (
        "117 of 661 events with a signal can be recalled now: 544 are less sure than 0.60, 1 is older "
        "than 7 days, 2 are dated in the future."
    )
    assert (
        recallable_text(Health("normal", read=1, recallable=1, hours=5))
        == "1 of 1 event with a signal can be recalled now."
    )
