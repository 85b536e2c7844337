"""Takes the posts that Telegram pushes, as news."""

from __future__ import annotations

import hmac
import io
from typing import Annotated, Any

from fastapi import APIRouter, Header, Request
from starlette.concurrency import run_in_threadpool

from chatbot.api.caller import door_of, opened_store
from chatbot.api.problems import ProblemError, declared
from chatbot.memory.signals.news_sources import News, read_news

__all__ = ["ROUTER"]

ROUTER = APIRouter(prefix="/api/v1", tags=["memories"])
SENDER = "telegram"


@ROUTER.post("/telegram", responses=declared(404, 409, body=True))
async def telegram(
    request: Request,
    update: dict[str, Any],
    secret: Annotated[str, Header(alias="X-Telegram-Bot-Api-Secret-Token", max_length=256)] = "",
) -> dict[str, int]:
    """Takes an update of a Telegram bot. It needs the webhook's secret token instead of a key.

    The post is stored and read soon after; an update without words is taken too, and nothing of it is kept.
    """
    wanted = door_of(request).telegram_secret
    if not wanted:
        raise ProblemError(404, "No Telegram webhook is set up.", hint="Set FINPOLICY_TELEGRAM_SECRET.")
    if not hmac.compare_digest(secret.encode(), wanted.encode()):
        raise ProblemError(
            401, "The secret token is not this webhook's.", hint="Set the same one with setWebhook."
        )
    opened = opened_store(request)
    news = await run_in_threadpool(_posts, await request.body())
    if news.items:
        opened.news.take(news)
    return {"taken": len(news.items)}


def _posts(body: bytes) -> News:
    found = read_news(io.BytesIO(body), SENDER)
    return News(tuple(item for item in found.items if any(map(str.isalnum, item.text))))
