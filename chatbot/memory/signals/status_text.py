"""Says in sentences how the store of signals is, and what an import did."""

from __future__ import annotations

from datetime import UTC, datetime

from chatbot.memory.layers import counted
from chatbot.memory.signals.records import Health, Imported

__all__ = ["health_text", "imported_text", "recallable_text"]

HOURS_OF_A_DAY = 24


def health_text(health: Health) -> str:
    """How much there is and where; of a store that cannot be asked, only since when. "" if it is off."""
    if health.state == "off":
        return ""
    if health.state == "failed" or (health.state == "fallback" and health.failures):
        last = ""
        if health.last_success:
            moment = datetime.fromtimestamp(health.last_success, UTC)
            last = f" It last answered on {moment:%d %B %Y, %H:%M} UTC."
        return f"{health.state}: {health.database}.{last}"
    waiting = f", {health.pending:,} still being indexed" if health.pending else ""
    return (
        f"{health.state}: {counted(health.events, 'event')}, {counted(health.signals, 'signal')}{waiting}, "
        f"{health.database}."
    )


def recallable_text(health: Health) -> str:
    """How much of the news a question may recall now, and why not the rest; "" if there is no signal."""
    if not health.read:
        return ""
    reasons = []
    if health.unsure:
        verb = _are(health.unsure)
        reasons.append(f"{health.unsure:,} {verb} below confidence {health.confidence:.2f}")
    days, left = divmod(health.hours, HOURS_OF_A_DAY)
    if left or not days:
        span = counted(health.hours, "hour")
    else:
        span = counted(days, "day")
    if health.old:
        reasons.append(f"{health.old:,} {_are(health.old)} older than {span}")
    if health.early:
        reasons.append(f"{health.early:,} {_are(health.early)} dated in the future")
    text = f"{health.recallable:,} of {counted(health.read, 'event')} with a signal can be recalled now"
    if reasons:
        text += f": {', '.join(reasons)}"
    return f"{text}."


def imported_text(done: Imported) -> str:
    """What an import did; the counts before the semicolon add up to all that was read."""
    parts = [f"{done.events:,} new"]
    if done.repeated:
        parts.append(f"{done.repeated:,} with the same text as another")
    parts.append(f"{done.known:,} known")
    if done.changed:
        parts.append(f"{done.changed:,} changed, but the earlier text is kept")
    if done.removed:
        parts.append(f"{done.removed:,} removed earlier and not added again")
    if done.unread:
        parts.append(f"{done.unread:,} unreadable")
    after = [f"{sum(done.analysed.values()):,} read into signals"]
    if done.without_text:
        verb = "has" if done.without_text == 1 else "have"
        after.append(f"{done.without_text:,} {verb} no text")
    return f"{done.read:,} read: {', '.join(parts)}; {', '.join(after)}. {done.problem}".strip()


def _are(number: int) -> str:
    return "is" if number == 1 else "are"
