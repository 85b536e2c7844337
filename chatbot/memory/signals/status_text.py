"""PURE: how the store of signals is, and what an import did, in sentences; asks nothing."""

from __future__ import annotations

from datetime import UTC, datetime

from chatbot.memory.layers import counted
from chatbot.memory.signals.records import Health, Imported

__all__ = ["health_text", "imported_text", "recallable_text"]

HOURS_OF_A_DAY = 24


def health_text(health: Health) -> str:
    """How much there is, where; of what cannot be asked only since when. Empty where it is off."""
    if health.state == "off":
        return ""
    if health.state == "failed" or (health.state == "fallback" and health.failures):
        last = (
            f" It last answered on {datetime.fromtimestamp(health.last_success, UTC):%d %B %Y, %H:%M} UTC."
            if health.last_success
            else ""
        )
        return f"{health.state}: {health.database}.{last}"
    waiting = f", {health.pending:,} not embedded yet" if health.pending else ""
    return (
        f"{health.state}: {counted(health.events, 'event')}, {counted(health.signals, 'signal')}{waiting}, "
        f"{health.database}."
    )


def recallable_text(health: Health) -> str:
    """How much of the news a question may recall now, and why not the rest; "" where none was read into a
    signal.
    """
    if not health.read:
        return ""
    if health.unsure:
        why = [f"{health.unsure:,} {_are(health.unsure)} less sure than {health.confidence:.2f}"]
    else:
        why = []
    days, left = divmod(health.hours, HOURS_OF_A_DAY)
    if left or not days:
        span = counted(health.hours, "hour")
    else:
        span = counted(days, "day")
    why += [f"{health.old:,} {_are(health.old)} older than {span}"] if health.old else []
    why += [f"{health.early:,} {_are(health.early)} dated in the future"] if health.early else []
    begin = f"{health.recallable:,} of {counted(health.read, 'event')} with a signal can be recalled now"
    return f"{begin}{': ' if why else ''}{', '.join(why)}."


def imported_text(done: Imported) -> str:
    """What an import did; what is counted before the semicolon is all that was read."""
    parts = [f"{done.events:,} new"]
    parts += [f"{done.repeated:,} with the text of another"] if done.repeated else []
    parts += [f"{done.known:,} known"]
    parts += [f"{done.changed:,} with another text than before, which stays"] if done.changed else []
    parts += [f"{done.removed:,} removed before, which stay away"] if done.removed else []
    parts += [f"{done.unread:,} not readable"] if done.unread else []
    after = [f"{sum(done.analysed.values()):,} read into signals"]
    after += (
        [f"{done.without_text:,} {'has' if done.without_text == 1 else 'have'} no words"]
        if done.without_text
        else []
    )
    return f"{done.read:,} read: {', '.join(parts)}; {', '.join(after)}. {done.problem}".strip()


def _are(number: int) -> str:
    return "is" if number == 1 else "are"
