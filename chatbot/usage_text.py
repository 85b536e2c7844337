"""Says what a chat model used, and what it cost, in one line."""

from __future__ import annotations

from chatbot.records import Usage

__all__ = ["usage_text"]

# A cost below this is shown with all its digits.
SMALL_COST = 0.01


def usage_text(usage: Usage) -> str:
    """Tokens, time and cost, as "1,204 tokens read and 85 written in 3.1 s (0.8 s to the first), $0.0021"."""
    about = "about " if usage.estimated else ""
    tokens = f"{about}{usage.prompt_tokens:,} tokens read and {usage.answer_tokens:,} written"
    time = f"in {usage.seconds:.1f} s"
    if usage.first_seconds:
        time = f"{time} ({usage.first_seconds:.1f} s to the first)"
    if usage.cost is None:
        return f"{tokens} {time}"
    cost = f"${usage.cost:.2g}" if 0 < usage.cost < SMALL_COST else f"${usage.cost:,.2f}"
    return f"{tokens} {time}, {cost}"
