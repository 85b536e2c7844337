"""Draws news signals on the Memory page.

The tab shows their state, the switch, the import and the latest.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import streamlit as st

from chatbot.app.app_context import AppContext
from chatbot.memory.import_files import Progress
from chatbot.memory.signals.news_sources import read_news
from chatbot.memory.signals.records import ACTIONS, EventRow, Health, Imported, NewsReading
from chatbot.ui import session
from chatbot.ui.list_controls import search_box
from chatbot.ui.memory_dialogs import Dialog, attempt, draw_changes, draw_choice, finish
from chatbot.ui.memory_files import Files, draw_files, lines_html
from chatbot.ui.safe_text import notice_html, paragraphs_html, plain_markdown, quiet_html, short, signal_html

__all__ = ["draw", "health_line"]

ROWS = 20
MOST_REFUSED = 10
# The analyser of a signal that somebody corrected.
PERSON = "a person"
ALL_ASSETS = "All assets"
# Characters of the summary and of the assets of a signal.
LONGEST_SUMMARY, LONGEST_ASSETS = 400, 100
EMPTY = (
    "No news has been imported yet. Add a Telegram export (result.json), Bot API updates, or news as CSV "
    "or JSON. Each item becomes a signal with a confidence. Signals similar to a question appear below "
    "its answer, with source and time. They are not advice."
)
SWITCHED_OFF = "News signals are off. Imported news is kept but not recalled."
NOTHING_FOUND = "No news has all of these words."
CHANGED_THERE = " You can change confidence and age on the Settings page."
STATES = {"normal": "✓", "empty": "✓", "off": "–"}


def _told(name: str, done: Imported) -> list[str]:
    return [f"{name}: {done.text}", *done.refused[:MOST_REFUSED]]


FILES = Files("signals", "Import news", _told, types=("json", "jsonl", "csv"))


def draw(context: AppContext) -> None:
    """Draw the tab. Raises SignalsError if the store fails meanwhile."""
    signals = context.chatbot.signals
    health = signals.health(context.chatbot.signal_options(session.owner()))
    state = signals.state
    if health.state != "off":
        st.html(quiet_html(health_line(health)))
    else:
        st.html(paragraphs_html(EMPTY if state.on else SWITCHED_OFF))
    if health.state in {"failed", "fallback"}:
        st.html(notice_html(health.message, health.hint))
    if state.imported or not state.on:
        st.toggle(
            "Recall news signals",
            state.on,
            key="signals-on",
            on_change=lambda: attempt(lambda: signals.switch(on=st.session_state["signals-on"])),
            help="For everyone who uses this server.",
        )
    if health.events:
        if health.read:
            hint = "" if health.recallable == health.read else CHANGED_THERE
            st.html(quiet_html(f"{health.recallable_text}{hint}"))
        search = search_box("Search news", key="find-signals")
        asset = _chosen_asset(context)
        _draw_rows(signals.listed(ROWS, search=search, asset=asset), search or asset)
    _draw_sources(context)
    model = session.shared_model(context)

    def load(path: Path, name: str, tell: Progress) -> object:
        with path.open("rb") as file:
            return signals.add(read_news(file, name), model, progress=tell)

    draw_files(context, FILES, load)


def health_line(health: Health) -> str:
    """One line on how much there is and where."""
    fails = health.state in {"failed", "fallback"}
    whose = "" if fails else " Seen and used by everyone on this server. Not advice."
    return f"{STATES.get(health.state, '⚠')} {health.text}{whose}"


def _draw_rows(rows: Sequence[EventRow], wanted: str) -> None:
    if not rows:
        st.html(quiet_html(NOTHING_FOUND))
        return
    latest = "The latest with all of these words" if wanted else "The latest"
    st.html(quiet_html(f"{latest} ({len(rows)}):" if len(rows) > 1 else f"{latest}:"))
    for row in rows:
        of = plain_markdown(short(" ".join(row.text.split()), 60))
        with st.container(key=f"signal-{row.event}", gap=None):
            st.html(signal_html(row))
            draw_changes(EDIT, DELETE, row, f"signal-{row.event}", f"signal: {of}")


def _chosen_asset(context: AppContext) -> str:
    """Draw the choice of an asset. Returns "" for all."""
    assets = [row.asset for row in context.chatbot.signals.assets() if row.asset]
    if not assets:
        return ""
    chosen = st.selectbox("Asset", [ALL_ASSETS, *assets], key="signals-asset")
    return "" if chosen == ALL_ASSETS else chosen


def _draw_sources(context: AppContext) -> None:
    """Draw when feeds were visited, and how often answers with news of a source were rated helpful."""
    lines = []
    for visit in context.news.visits():
        when = f"{datetime.fromtimestamp(visit.at, UTC):%Y-%m-%d %H:%M} UTC"
        found = visit.problem or f"{visit.news} news"
        lines.append(f"Feed {visit.url}, {when}: {found}")
    for row in context.chatbot.signals.ratings.listed()[:ROWS]:
        rated = row.helpful + row.unhelpful
        lines.append(f"{row.source}: {row.helpful} of {rated} rated answers were helpful")
    if lines:
        with st.expander("Sources"):
            st.html(lines_html(lines))


def _edit(row: EventRow, context: AppContext) -> None:
    (best,) = row.readings[:1] or [NewsReading(" ".join(row.text.split()), (), "observe", 0.5, PERSON)]
    with st.form("edit-signal", border=False):
        st.html(signal_html(row))
        summary = st.text_area(
            "What happened",
            best.summary[:LONGEST_SUMMARY],
            key="edit-summary",
            max_chars=LONGEST_SUMMARY,
            height=68,
        )
        assets = st.text_input(
            "Assets",
            ", ".join(best.assets)[:LONGEST_ASSETS],
            key="edit-assets",
            max_chars=LONGEST_ASSETS,
            help="Codes, such as EUR, GOLD",
        )
        action = st.selectbox("It suggests", ACTIONS, ACTIONS.index(best.action), key="edit-action")
        confidence = st.slider("Confidence", 0.0, 1.0, float(best.confidence), 0.05, key="edit-confidence")
        st.caption("Everyone who uses this server will see your version instead.")
        saved = st.form_submit_button("Save", key="edit-save", type="primary")
    if not saved:
        return
    if not summary.strip():
        st.html(notice_html("Describe what happened."))
        return
    codes = tuple(dict.fromkeys(code.upper() for code in assets.replace(",", " ").split()))
    reading = NewsReading(" ".join(summary.split()), codes, action, round(confidence, 2), PERSON)
    finish(lambda: context.chatbot.signals.correct(row.event, reading))


def _delete(row: EventRow, context: AppContext) -> None:
    st.html(signal_html(row))
    st.caption("No one on this server will see it again, even after another import.")
    draw_choice(lambda: context.chatbot.signals.remove(row.event))


EDIT = Dialog("Correct this signal", _edit)
DELETE = Dialog("Delete this news?", _delete)
