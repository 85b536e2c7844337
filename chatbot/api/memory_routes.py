"""Serves what is remembered: rated answers, situations with advice, news signals."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from starlette.concurrency import run_in_threadpool

from chatbot.api.caller import Asks, Manages, Reads, opened_store
from chatbot.api.problems import declared
from chatbot.api.schemas import CaseIn, NewsIn, SituationIn
from chatbot.memory.cases.records import Case, case_fields
from chatbot.memory.signals.news_sources import one_news
from chatbot.service import Chatbot

__all__ = ["ROUTER"]

ROUTER = APIRouter(prefix="/api/v1/memories", tags=["memories"])
REFUSALS = declared(404)
WITH_BODY = declared(404, body=True)
LISTING = declared()
Key = Annotated[str, Path(min_length=1, max_length=200)]
Number = Annotated[int, Path(ge=1, le=2**53)]
Search = Annotated[str, Query(max_length=1_000)]
Most = Annotated[int, Query(ge=1, le=1_000)]


@ROUTER.get("/cases", responses=LISTING)
async def cases(
    request: Request, caller: Reads, search: Search = "", most: Most = 100
) -> list[dict[str, Any]]:
    """Lists the caller's rated answers."""
    kept = opened_store(request).chatbot.cases
    rows = await run_in_threadpool(kept.listed, caller.owner, search=search)
    return [{**_case(row.case), "stale": row.stale} for row in rows[:most]]


@ROUTER.post("/cases", status_code=201, responses=WITH_BODY)
async def add_case(request: Request, body: CaseIn, caller: Asks) -> dict[str, Any]:
    """Adds an answer to follow, or to avoid."""
    kept = opened_store(request).chatbot.cases
    case = Case(body.question, body.answer, int(body.helpful))
    return _case(await run_in_threadpool(kept.add, caller.owner, case))


@ROUTER.delete("/cases/{key}", status_code=204, responses=REFUSALS)
async def remove_case(request: Request, key: Key, caller: Asks) -> None:
    """Removes a rated answer; it can be restored for 7 days."""
    await run_in_threadpool(opened_store(request).chatbot.cases.delete, caller.owner, key)


@ROUTER.post("/cases/{key}/restore", responses=REFUSALS)
async def restore_case(request: Request, key: Key, caller: Asks) -> dict[str, Any]:
    """Brings a removed rated answer back."""
    kept = opened_store(request).chatbot.cases
    return _case(await run_in_threadpool(kept.restore, caller.owner, key))


@ROUTER.get("/situations", responses=LISTING)
async def situations(request: Request, caller: Reads, most: Most = 100) -> list[dict[str, Any]]:
    """Lists the caller's situations with their advice."""
    kept = opened_store(request).chatbot.situations
    rows = await run_in_threadpool(kept.listed, caller.owner)
    return [
        {
            "key": row.key,
            "scope": row.scope,
            "situation": row.situation,
            "recommendations": list(row.recommendations),
            "at": row.at,
        }
        for row in rows[:most]
    ]


@ROUTER.post("/situations", status_code=201, responses=WITH_BODY)
async def add_situation(request: Request, body: SituationIn, caller: Asks) -> dict[str, list[str]]:
    """Adds advice for a situation."""
    kept = opened_store(request).chatbot.situations
    pairs = [(body.situation, body.recommendation)]
    return {"keys": await run_in_threadpool(kept.add, caller.owner, pairs, scope=body.scope)}


@ROUTER.delete("/situations/{key}", status_code=204, responses=REFUSALS)
async def remove_situation(request: Request, key: Key, caller: Asks) -> None:
    """Removes a situation."""
    await run_in_threadpool(opened_store(request).chatbot.situations.remove, caller.owner, key)


@ROUTER.get("/signals", responses=LISTING)
async def signals(
    request: Request, caller: Reads, search: Search = "", asset: Search = "", most: Most = 50
) -> list[dict[str, Any]]:
    """Lists the news with its signals, the newest first. News is shared by all callers."""
    kept = opened_store(request).chatbot.signals
    rows = await run_in_threadpool(kept.listed, most, search=search, asset=asset)
    return [
        {
            "event": row.event,
            "at": row.at.isoformat(),
            "state": row.state,
            "text": row.text,
            "sources": row.sources,
            "signals": list(map(dataclasses.asdict, row.readings)),
        }
        for row in rows
    ]


@ROUTER.post("/signals", status_code=201, responses=WITH_BODY)
async def add_signal(request: Request, body: NewsIn, caller: Manages) -> dict[str, Any]:
    """Adds news; the chat model reads the signals in it."""
    return await run_in_threadpool(_add_news, opened_store(request).chatbot, body)


@ROUTER.get("/signal-assets", responses=LISTING)
async def assets(request: Request, caller: Reads) -> list[dict[str, Any]]:
    """Says what the news speaks for, by asset, most news first."""
    kept = opened_store(request).chatbot.signals
    rows = await run_in_threadpool(kept.assets)
    return [{**dataclasses.asdict(row), "latest": row.latest.isoformat()} for row in rows]


@ROUTER.get("/signal-sources", responses=LISTING)
async def sources(request: Request, caller: Reads) -> list[dict[str, Any]]:
    """Says how often answers with news of each source were rated helpful."""
    kept = opened_store(request).chatbot.signals.ratings
    rows = await run_in_threadpool(kept.listed)
    return [{**dataclasses.asdict(row), "helpful_rate": row.helpful_rate} for row in rows]


@ROUTER.get("/signal-feeds", responses=LISTING)
async def feeds(request: Request, caller: Reads) -> list[dict[str, Any]]:
    """Says when each feed was last visited, and what came of it."""
    return list(map(dataclasses.asdict, opened_store(request).news.visits()))


@ROUTER.delete("/signals/{event}", status_code=204, responses=REFUSALS)
async def remove_signal(request: Request, event: Number, caller: Manages) -> None:
    """Removes news."""
    await run_in_threadpool(opened_store(request).chatbot.signals.remove, event)


def _add_news(chatbot: Chatbot, body: NewsIn) -> dict[str, Any]:
    news = one_news(body.text, source=body.source, at=body.published, link=body.link)
    done = chatbot.signals.add(news, chatbot.models.answering(), again=True)
    return {**dataclasses.asdict(done), "repeated": done.repeated}


def _case(case: Case) -> dict[str, Any]:
    return {"key": case.id, **case_fields(case)}
