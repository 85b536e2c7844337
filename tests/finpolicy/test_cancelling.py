"""An async caller that is cancelled stops the question, here and on a server."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from chatbot.app.app_context import AppContext
from chatbot.app.running_questions import Asking
from chatbot.memory.conversations.conversation_names import LOCAL
from finpolicy import FinPolicy
from tests.chatbot.api.conftest import QUESTION, WithModel, with_model
from tests.finpolicy.conftest import run_apart
from tests.pdfs import make_pdf
from tests.stores import RULES

__all__ = ["with_model"]

SECONDS = 60


@pytest.mark.parametrize("place", ["here", "there"])
def test_a_cancelled_caller_stops_the_question(place: str, with_model: WithModel, tmp_path: Path) -> None:
    with_model.pieces, with_model.delay = ["word "] * 1_000, 0.2
    with FinPolicy(tmp_path / "home" if place == "here" else with_model.api.url) as policy:
        if place == "here":
            policy.add(make_pdf(tmp_path / "Rules.pdf", RULES))
        context = policy.connection.context or with_model.api.context
        with pytest.raises(asyncio.CancelledError):
            run_apart(cancelled(policy, context))
        end = time.monotonic() + SECONDS
        while not (asked := latest(context)) or not asked.finished:
            assert time.monotonic() < end
            time.sleep(0.05)
        assert asked.stopped and asked.answer is None


async def cancelled(policy: FinPolicy, context: AppContext) -> None:
    """Asks, and is cancelled when the model writes."""
    task = asyncio.create_task(policy.ask_async(QUESTION, conversation="cancelled"))
    while not (asked := latest(context)) or not asked.text:
        assert not task.done()
        await asyncio.sleep(0.02)
    task.cancel()
    await task


def latest(context: AppContext) -> Asking | None:
    return context.asked.latest("cancelled", LOCAL)
