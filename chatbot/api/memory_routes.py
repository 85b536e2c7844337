"""Serves what is remembered: rated answers, situations with advice, news and what Telegram pushes."""

from __future__ import annotations

import hmac
import io
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Header, Path, Query, Request
from starlette.concurrency import run_in_threadpool

from chatbot.api.caller import Asks, Manages, Reads, Store, TheChatbot, door_of, opened_store
from chatbot.api.problems import ProblemError, declared
from chatbot.api.schemas import CaseIn, NewsIn, SituationIn
from chatbot.memory.cases.records import Case, case_fields
from chatbot.memory.signals.news_sources import News, one_news, read_news
from chatbot.serialize import fields_of

__all__ = ["ROUTER"]

ROUTER = APIRouter(prefix="/api/v1", tags=["memories"])
SENDER = "telegram"
REFUSALS = declared(404)
WITH_BODY = declared(404, body=True)
Key = Annotated[str, Path(min_length=1, max_length=200)]
Number = Annotated[int, Path(ge=1, le=2**53)]
Search = Annotated[str, Query(max_length=1_000)]
Most = Annotated[int, Query(ge=1, le=1_000)]
Row = dict[str, Any]


@ROUTER.get("/memories/cases")
def cases(caller: Reads, chatbot: TheChatbot, search: Search = "", most: Most = 100) -> list[Row]:
    """Lists the caller's rated answers."""
    rows = chatbot.cases.listed(caller.owner, search=search)
    return [{**_case(row.case), "stale": row.stale} for row in rows[:most]]


@ROUTER.post("/memories/cases", status_code=201, responses=WITH_BODY)
def add_case(body: CaseIn, caller: Asks, chatbot: TheChatbot) -> Row:
    """Adds an answer to follow, or to avoid."""
    case = Case(body.question, body.answer, int(body.helpful))
    return _case(chatbot.cases.add(caller.owner, case))


@ROUTER.delete("/memories/cases/{key}", status_code=204, responses=REFUSALS)
def remove_case(key: Key, caller: Asks, chatbot: TheChatbot) -> None:
    """Removes a rated answer; it can be restored for 7 days."""
    chatbot.cases.delete(caller.owner, key)


@ROUTER.post("/memories/cases/{key}/restore", responses=REFUSALS)
def restore_case(key: Key, caller: Asks, chatbot: TheChatbot) -> Row:
    """Brings a removed rated answer back."""
    return _case(chatbot.cases.restore(caller.owner, key))


@ROUTER.get("/memories/situations")
def situations(caller: Reads, chatbot: TheChatbot, most: Most = 100) -> list[Row]:
    """Lists the caller's situations with their advice."""
    shown = ("key", "scope", "situation", "recommendations", "at")
    return [fields_of(row, shown) for row in chatbot.situations.listed(caller.owner)[:most]]


@ROUTER.post("/memories/situations", status_code=201, responses=WITH_BODY)
def add_situation(body: SituationIn, caller: Asks, chatbot: TheChatbot) -> dict[str, list[str]]:
    """Adds advice for a situation."""
    pairs = [(body.situation, body.recommendation)]
    return {"keys": chatbot.situations.add(caller.owner, pairs, scope=body.scope)}


@ROUTER.delete("/memories/situations/{key}", status_code=204, responses=REFUSALS)
def remove_situation(key: Key, caller: Asks, chatbot: TheChatbot) -> None:
    """Removes a situation."""
    chatbot.situations.remove(caller.owner, key)


@ROUTER.get("/memories/signals")
def signals(
    caller: Reads, chatbot: TheChatbot, search: Search = "", asset: Search = "", most: Most = 50
) -> list[Row]:
    """Lists the news with its signals, the newest first. News is shared by all callers."""
    shown = ("event", "at", "state", "text", "sources")
    return [
        {**fields_of(row, shown), "at": row.at.isoformat(), "signals": list(map(asdict, row.readings))}
        for row in chatbot.signals.listed(most, search=search, asset=asset)
    ]


@ROUTER.post("/memories/signals", status_code=201, responses=WITH_BODY)
def add_signal(body: NewsIn, caller: Manages, chatbot: TheChatbot) -> Row:
    """Adds news; the chat model reads the signals in it."""
    news = one_news(body.text, source=body.source, at=body.published, link=body.link)
    done = chatbot.signals.add(news, chatbot.models.answering(), again=True)
    return {**asdict(done), "repeated": done.repeated}


@ROUTER.get("/memories/signal-assets")
def assets(caller: Reads, chatbot: TheChatbot) -> list[Row]:
    """Says what the news speaks for, by asset, most news first."""
    return [{**asdict(row), "latest": row.latest.isoformat()} for row in chatbot.signals.assets()]


@ROUTER.get("/memories/signal-sources")
def sources(caller: Reads, chatbot: TheChatbot) -> list[Row]:
    """Says how often answers with news of each source were rated helpful."""
    rows = chatbot.signals.ratings.listed()
    return [{**asdict(row), "helpful_rate": row.helpful_rate} for row in rows]


@ROUTER.get("/memories/signal-feeds")
def feeds(caller: Reads, opened: Store) -> list[Row]:
    """Says when each feed was last visited, and what came of it."""
    return list(map(asdict, opened.news.visits()))


@ROUTER.delete("/memories/signals/{event}", status_code=204, responses=REFUSALS)
def remove_signal(event: Number, caller: Manages, chatbot: TheChatbot) -> None:
    """Removes news."""
    chatbot.signals.remove(event)


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


def _case(case: Case) -> Row:
    return {"key": case.id, **case_fields(case)}
