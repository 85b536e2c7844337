"""Runs the `memory signals` command.

It lists, adds, imports, searches, removes and switches news signals and reports their state.
"""

from __future__ import annotations

import dataclasses
import sys
from argparse import Namespace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from chatbot.cli.memory_command import FEW, Action
from chatbot.cli.output import DONE, FAILED, Lines, note, printed, say
from chatbot.cli.served_command import resolved
from chatbot.errors import NotFoundError, UsageError
from chatbot.memory.conversations.conversation_names import LOCAL
from chatbot.memory.layers import counted
from chatbot.memory.signals.records import Imported, NewsReading, SignalsError
from chatbot.serialize import fields_of
from chatbot.settings import PROGRAM

if TYPE_CHECKING:
    from chatbot.service import Chatbot

__all__ = ["ACTIONS"]

MORE_RECALLED = "You can change this with MEMORY_MIN_CONFIDENCE and MEMORY_LOOKBACK_HOURS."


def _off(chatbot: Chatbot) -> bool:
    """Whether there is nothing to ask, after a note on what to do next. This is no failure."""
    health = chatbot.signals.health()
    if off := health.state == "off":
        note(f"{health.message} {health.hint}")
    return off


def _shown(reading: NewsReading) -> str:
    return f"{reading.action} {reading.confidence:.2f}"


@printed
def _list_signals(options: Namespace, chatbot: Chatbot) -> Lines:
    if _off(chatbot):
        return
    for row in chatbot.signals.listed(options.k, asset=options.asset):
        line = fields_of(row, ("event", "at", "state", "text", "sources"))
        line |= {"at": row.at.isoformat(), "signals": list(map(dataclasses.asdict, row.readings))}
        best = f" {_shown(row.readings[0])}" if row.readings else ""
        early = " (in the future)" if row.at > datetime.now(UTC) else ""
        text = " ".join(row.text.split())[:200]
        yield line, f"{row.event}  {row.at:%Y-%m-%d %H:%M}{early}{best}  {text}"


@printed
def _add_signal(options: Namespace, chatbot: Chatbot) -> Lines:
    from chatbot.memory.signals.news_sources import one_news

    news = one_news(options.texts[0], source=options.source, at=options.date, link=options.link)
    return _told(chatbot, chatbot.signals.add(news, chatbot.models.answering(), again=True))


@printed
def _import_signals(options: Namespace, chatbot: Chatbot) -> Lines:
    from chatbot.memory.signals.news_sources import read_news

    (name,) = options.texts
    news = read_news(sys.stdin.buffer, "standard input") if name == "-" else read_news(resolved(name))
    return _told(chatbot, chatbot.signals.add(news, chatbot.models.answering()))


def _told(chatbot: Chatbot, done: Imported) -> Lines:
    """Says what an import did."""
    for reason in done.refused:
        say(f"Not read: {reason}")
    yield {**dataclasses.asdict(done), "repeated": done.repeated}, done.text
    if not chatbot.signals.state.on:
        note(
            "News signals are off. Imported news is kept but not recalled. "
            f"Turn them on: {PROGRAM} memory signals on"
        )
    elif done.events:
        health = chatbot.signals.health(chatbot.signal_options(LOCAL))
        if health.recallable < health.read:
            note(f"{health.recallable_text} {MORE_RECALLED}")
    return FAILED if done.problem or done.refused else DONE


@printed
def _search_signals(options: Namespace, chatbot: Chatbot) -> Lines:
    from chatbot.memory.signals.news_sources import time_told

    if _off(chatbot):
        return
    query = options.texts[0]
    limits = chatbot.signal_options(LOCAL)
    as_of = time_told(options.date) if options.date else None
    vector = chatbot.library.embedder.embed([query], query=True)[0]
    if options.asset:
        limits = dataclasses.replace(limits, assets=(options.asset,))
    results = chatbot.signals.find(query, vector, options.k, as_of=as_of, options=limits)
    if not results and as_of is not None:
        before = f"in the {limits.hours:,} hours before {as_of:%Y-%m-%d %H:%M}"
        sure = f"is as sure as {limits.confidence:.2f}"
        note(f"No similar news was published {before} and {sure}. {MORE_RECALLED}")
    elif not results:
        recallable = chatbot.signals.health(limits).recallable_text
        note(" ".join(filter(None, ("No similar news can be recalled.", recallable, MORE_RECALLED))))
    for found in results:
        line = {**dataclasses.asdict(found), "at": found.at.isoformat()}
        shown = f"{_shown(found.reading)}  {found.reading.summary}"
        yield line, f"{found.similarity:.2f}  {found.at:%Y-%m-%d %H:%M}  {shown}"


@printed
def _remove_signal(options: Namespace, chatbot: Chatbot) -> Lines:
    number = options.texts[0]
    if not (number.isascii() and number.isdecimal() and len(number) < 19):
        raise UsageError(
            f"{number[:40]!r} is not an event number.", hint="Run `memory signals list` to see the numbers."
        )
    try:
        chatbot.signals.remove(int(number))
    except SignalsError as error:
        if error.kind != "off":
            raise
        raise NotFoundError(
            f"There is no news event {number}.", hint=f"{error.message} {error.hint}"
        ) from error
    yield {"event": int(number), "status": "removed"}, "Removed."


@printed
def _health_of_signals(options: Namespace, chatbot: Chatbot) -> Lines:
    health = chatbot.signals.health(chatbot.signal_options(LOCAL))
    state = f"{health.state}:" if health.state in {"failed", "off"} else health.text
    parts = [state, health.recallable_text]
    if health.state != "normal":
        parts += [health.message, health.hint]
    elif health.recallable < health.read:
        parts.append(MORE_RECALLED)
    yield dataclasses.asdict(health), " ".join(filter(None, parts))
    return FAILED if health.state in {"failed", "fallback"} else DONE


@printed
def _reembed(options: Namespace, chatbot: Chatbot) -> Lines:
    if _off(chatbot):
        return DONE
    done = chatbot.signals.reembed()
    why = "as the embedding model does not read their script"
    text = f"{done.embedded:,} embedded, {done.by_keywords:,} found by keywords only, {why}. {done.problem}"
    yield dataclasses.asdict(done), text.strip()
    return FAILED if done.problem else DONE


def _switch(options: Namespace, chatbot: Chatbot) -> int:
    chatbot.signals.switch(on=options.action == "on")
    return _health_of_signals(options, chatbot)


@printed
def _assets(options: Namespace, chatbot: Chatbot) -> Lines:
    if _off(chatbot):
        return
    for row in chatbot.signals.assets()[: options.k]:
        line = {**dataclasses.asdict(row), "latest": row.latest.isoformat()}
        actions = ", ".join(f"{count} {action}" for action, count in row.actions.items() if count)
        events = counted(row.events, "event")
        yield line, f"{row.asset or '(none)'}: {events}, {actions}, confidence {row.confidence:.2f}"


@printed
def _sources(options: Namespace, chatbot: Chatbot) -> Lines:
    rows = chatbot.signals.ratings.listed()
    if not rows:
        note("No answer with news in it is rated yet.")
    for row in rows[: options.k]:
        line = {**dataclasses.asdict(row), "helpful_rate": row.helpful_rate}
        yield line, f"{row.source}: helpful {row.helpful} of {counted(row.helpful + row.unhelpful, 'time')}"


@printed
def _clean(options: Namespace, chatbot: Chatbot) -> Lines:
    if not chatbot.signals.options.days:
        note("News is kept for ever. Set MEMORY_RETENTION_DAYS, for example to 30.")
    erased = chatbot.signals.clean()
    yield {"erased": erased}, f"Erased {counted(erased, 'event')}."


ASSET = {"default": "", "help": "only news about this asset, such as BTC or gold"}
OF_ADDED = {
    "source": {"default": "added by hand", "help": "its source"},
    "date": {"default": "", "metavar": "TIME", "help": "when it was published (UTC, default now)"},
    "link": {"default": "", "help": "its address"},
}
AS_OF = {"default": "", "metavar": "TIME", "help": "as of this time (UTC, default now)"}
ACTIONS = {
    "list": Action(_list_signals, rows=FEW, options={"asset": ASSET}),
    "assets": Action(_assets, rows=FEW),
    "sources": Action(_sources, rows=FEW),
    "clean": Action(_clean),
    "add": Action(_add_signal, "TEXT", options=OF_ADDED),
    "import": Action(_import_signals, "FILE"),
    "search": Action(_search_signals, "TEXT", FEW, {"asset": ASSET, "date": AS_OF}),
    "remove": Action(_remove_signal, "KEY"),
    "health": Action(_health_of_signals),
    "reembed": Action(_reembed),
    "on": Action(_switch),
    "off": Action(_switch),
}
