"""News signals on the Memory page: how their store fares, the switch, import, a chart over time and the latest; what is recalled of them is the memory's."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

import streamlit as st

from chatbot.errors import ProjectError
from chatbot.memory.signals.records import Health, Imported, Row, TimelinePoint
from chatbot.memory.signals.sources import read_news
from chatbot.ui import session
from chatbot.ui.memory_dialogs import ask_for
from chatbot.ui.shared import House
from chatbot.ui.text import notice_html, paragraphs_html, plain_markdown, quiet_html, short, signal_html

__all__ = ["chart_rows", "draw_signals", "imported_text", "signals_health_text"]

ROWS = 20
# Assets that get a colour of their own in the chart; the others are one.
MOST_ASSETS = 6
EMPTY = (
    "No news has been imported yet. Add a Telegram export (result.json), Bot API updates, or news as CSV or JSON: each item is read into a signal with its "
    "confidence, and signals like a question are recalled beside the documents, with source and time, never mixed with what they say. Not advice."
)
SWITCHED_OFF = "News signals are switched off: none is recalled, and what was imported stays."
NOTHING_FOUND = "No news hold all of these words."
# The search waits until typing pauses.
PAUSE = "300ms"
STATES = {"normal": "✓", "empty": "✓", "off": "–"}


def draw_signals(house: House) -> None:
    """The tab. Raises SignalsError where the store fails beneath it."""
    signals = house.chatbot.signals
    health = signals.health()
    state = signals.state
    st.html(quiet_html(signals_health_text(health)) if health.state != "off" else paragraphs_html(EMPTY if state.on else SWITCHED_OFF))
    if health.state in {"failed", "fallback"}:
        st.html(notice_html(health.message, health.hint))
    if state.imported or not state.on:
        st.toggle(
            "Recall news signals",
            state.on,
            key="signals-on",
            on_change=_switch,
            args=(house,),
            help="For everybody who uses this server.",
        )
    if health.events:
        _draw_chart(signals.timeline(_least_confidence()))
        wanted = _search_box()
        _draw_rows(signals.listed(ROWS, search=wanted), wanted)
    _draw_import(house)


def signals_health_text(health: Health) -> str:
    """One line on how much there is and where."""
    mark = STATES.get(health.state, "⚠")
    if health.state == "failed" or (health.state == "fallback" and health.failures):
        last = f" It last answered on {datetime.fromtimestamp(health.last_success, UTC):%d %B %Y, %H:%M} UTC." if health.last_success else ""
        return f"{mark} {health.state}: {health.database}.{last}"
    return f"{mark} {health.state}: {health.events:,} events, {health.signals:,} signals, {health.database}. Seen and used by everybody on this server. Not advice."


def _search_box() -> str:
    typed: str | None = st.text_input(
        "Search news",
        key="find-signals",
        type="search",
        placeholder="Search news",
        label_visibility="collapsed",
        icon=":material/search:",
        live=PAUSE,
    )
    return (typed or "").strip()


def _switch(house: House) -> None:
    try:
        house.chatbot.signals.switch(on=st.session_state["signals-on"])
    except ProjectError as error:
        session.tell(error)


def _least_confidence() -> float:
    chosen: float = st.slider("Least confidence", 0.0, 1.0, 0.0, 0.05, key="signals-confidence")
    return chosen


def chart_rows(points: Sequence[TimelinePoint]) -> list[dict[str, str | int]]:
    """{day, asset, signals} for the chart: the assets of most signals by name, the others together."""
    counts = Counter[str]()
    for point in points:
        counts[point.asset] += point.signals
    named = {asset for asset, _ in counts.most_common(MOST_ASSETS)}
    together = Counter[tuple[str, str]]()
    for point in points:
        together[point.day, (point.asset or "no asset") if point.asset in named else "others"] += point.signals
    return [{"day": day, "asset": asset, "signals": count} for (day, asset), count in sorted(together.items())]


def _draw_chart(points: Sequence[TimelinePoint]) -> None:
    rows = chart_rows(points)
    if rows:
        st.bar_chart(rows, x="day", y="signals", color="asset", x_label="day", y_label="signals", height=260)
    else:
        st.html(quiet_html("No signal is so sure."))


def _draw_rows(rows: Sequence[Row], wanted: str) -> None:
    if not rows:
        st.html(quiet_html(NOTHING_FOUND))
        return
    latest = "The latest with all of these words" if wanted else "The latest"
    st.html(quiet_html(f"{latest} ({len(rows)}):" if len(rows) > 1 else f"{latest}:"))
    for row in rows:
        of = plain_markdown(short(" ".join(row.text.split()), 60))
        with st.container(key=f"signal-{row.event}", gap=None):
            st.html(signal_html(row))
            with st.container(horizontal=True, gap="small"):
                st.button(
                    "Correct",
                    key=f"edit-signal-{row.event}",
                    type="tertiary",
                    help=f"Correct this signal: {of}",
                    on_click=ask_for,
                    args=("edit", row),
                )
                st.button(
                    "Delete",
                    key=f"delete-signal-{row.event}",
                    type="tertiary",
                    help=f"Delete this news: {of}",
                    on_click=ask_for,
                    args=("delete", row),
                )


def _draw_import(house: House) -> None:
    with st.form("import-signals", clear_on_submit=True):
        file = st.file_uploader("Import news", type=["json", "jsonl", "csv"], key="signals-file")
        wanted = st.form_submit_button("Import news", key="import-news")
    if not wanted or file is None:
        return
    with st.status("Reading the news …") as status:
        try:
            done = house.chatbot.signals.add(read_news(io.BytesIO(file.getvalue()), file.name), session.shared_model(house))
        except ProjectError as error:
            status.update(label="Not imported", state="error")
            st.html(notice_html(error.message, error.hint))
            return
        status.update(label=imported_text(done), state="complete")
        for reason in done.refused[:10]:
            st.html(quiet_html(reason))


def imported_text(done: Imported) -> str:
    """One line on what an import did."""
    parts = [f"{done.events:,} new of {done.read:,} read", f"{done.known:,} known", f"{sum(done.analysed.values()):,} analysed"]
    parts += [f"{done.changed:,} with another text than before, which stays"] if done.changed else []
    parts += [f"{done.removed:,} removed before, which stay away"] if done.removed else []
    parts += [f"{len(done.refused):,} not readable"] if done.refused else []
    return f"{', '.join(parts)}. {done.problem}".strip()
