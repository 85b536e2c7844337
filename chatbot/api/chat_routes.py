"""Serves the addresses that a browser extension calls, with the names that it knows."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool

from chatbot.api.answer_lines import shown_answer
from chatbot.api.caller import Asks, Caller, Reads, opened_store
from chatbot.api.chat_schemas import (
    ChatIn,
    ChatOut,
    ClearedOut,
    ModelsOut,
    SessionStats,
    WebTextIn,
    WebTextOut,
)
from chatbot.api.host import Opened, Question
from chatbot.api.problems import ProblemError, declared
from chatbot.api.question_routes import begun
from chatbot.api.streaming import finished
from chatbot.api.web_sources import WebSources
from chatbot.asking.external_texts import LONGEST_TEXT, ExternalText
from chatbot.asking.question import Ask, checked
from chatbot.asking.side_by_side import MOST_MODELS, OWN_WORDS
from chatbot.errors import BusyError, NotFoundError, ProjectError, UsageError
from chatbot.memory.conversations.answer_records import cited_text
from chatbot.memory.session_texts import session_of
from chatbot.models.web_text import read_page
from chatbot.records import Answer
from chatbot.serialize import neutral_markdown
from chatbot.settings import Settings

__all__ = ["EXTRACTIVE", "ROUTER"]

ROUTER = APIRouter(tags=["browser extension"])
# What this door calls the documents' own words.
EXTRACTIVE = "extractive"
ANSWERS = declared(404, 409, 502)
NO_SERVER = "No MCP server is set up in mcp.json: answered like /get_chat_response/."
Asked = Annotated[ChatIn, Query()]
SessionName = Annotated[str, Query(max_length=200)]


@ROUTER.get("/get_chat_response/", include_in_schema=False)
@ROUTER.get("/get_chat_response", responses=ANSWERS)
async def chat(request: Request, asked: Asked, caller: Asks) -> ChatOut:
    """Answers a question from the documents and the session's web pages."""
    if asked.is_advanced:
        return await advanced(request, asked, caller)
    return await _replied(request, caller, asked, WebSources(await _texts(request, caller, asked)))


@ROUTER.get("/get_mcp_response/", include_in_schema=False)
@ROUTER.get("/get_mcp_response", responses=ANSWERS)
async def with_tools(request: Request, asked: Asked, caller: Asks) -> ChatOut:
    """Answers a question with the tools of MCP servers too."""
    known = opened_store(request).chatbot.tools.names()
    notices = () if known else (NO_SERVER,)
    sources = WebSources(await _texts(request, caller, asked), notices=notices)
    return await _replied(request, caller, asked, sources, tools=True)


@ROUTER.get("/get_adv_response/", include_in_schema=False)
@ROUTER.get("/get_adv_response", responses=ANSWERS)
async def advanced(request: Request, asked: Asked, caller: Asks) -> ChatOut:
    """Answers a question from the web too: the page that the browser shows, and a search where it is set.

    The reply ends with a sentence on the search.
    """
    opened = opened_store(request)
    texts = await _texts(request, caller, asked)
    model = _names(asked.models)[0]
    settings = await run_in_threadpool(_settings_of, opened, caller, model)
    sources = await run_in_threadpool(WebSources(texts).gathered, asked, settings)
    return await _replied(request, caller, asked, sources)


@ROUTER.post("/input_webtext/", include_in_schema=False)
@ROUTER.post("/input_webtext", responses=declared(body=True))
async def add_text(
    request: Request, body: WebTextIn, caller: Asks, session_id: SessionName = ""
) -> WebTextOut:
    """Takes a web page as a source of the session. It is data: nothing in it is followed.

    The session may be named in the address, as for the other calls, or in the body.
    """
    settings = opened_store(request).settings
    title, text = body.title, body.textContent
    if not text.strip():
        if not settings.fetch_pages:
            raise UsageError(
                "The page has no text.",
                hint="Send it as textContent, or set FINPOLICY_FETCH_PAGES=1 to have it fetched.",
            )
        title, text = await run_in_threadpool(read_page, body.currentUrl, settings)
    named = body.session_id or session_id
    session = session_of(caller.owner, named)
    kept = ExternalText(body.currentUrl, title, text)
    texts = opened_store(request).chatbot.session_texts
    count = await run_in_threadpool(texts.add, session, kept.address, kept.title, kept.text)
    cut = f", cut to {LONGEST_TEXT:,} characters" if len(text) > LONGEST_TEXT else ""
    return WebTextOut(
        resp=f"Text added as a source of this session{cut}.",
        session_id=named,
        characters=len(kept.text),
        texts=count,
    )


@ROUTER.get("/clear_messages/", include_in_schema=False)
@ROUTER.post("/clear_messages/", include_in_schema=False)
@ROUTER.post("/clear_messages", operation_id="clear_messages_by_post", responses=declared())
@ROUTER.get("/clear_messages", responses=declared())
async def clear(
    request: Request,
    caller: Asks,
    session_id: SessionName = "",
    use_r2c: bool = True,
    preserve_web: bool = False,
) -> ClearedOut:
    """Erases the conversation of a session, and its web pages unless `preserve_web` is true."""
    session = session_of(caller.owner, session_id)
    opened = opened_store(request)
    messages = await run_in_threadpool(_erased, opened, session, caller.owner)
    kept = opened.chatbot.session_texts
    texts = 0 if preserve_web else await run_in_threadpool(kept.clear, session)
    return ClearedOut(resp="Cleared.", session_id=session_id, messages=messages, texts=texts)


@ROUTER.get("/api/get_r2c_stats/", include_in_schema=False)
@ROUTER.get("/api/get_r2c_stats", responses=declared())
async def stats(request: Request, caller: Reads, session_id: SessionName = "") -> dict[str, SessionStats]:
    """Says how long the conversation of a session is, and how it was shortened."""
    session = session_of(caller.owner, session_id)
    return {"stats": await run_in_threadpool(_stats, opened_store(request), session, caller.owner)}


@ROUTER.get("/api/get_available_models/", include_in_schema=False)
@ROUTER.get("/api/get_available_models", responses=declared())
async def models(request: Request, caller: Reads) -> ModelsOut:
    """Lists the models that can be named without a provider."""
    usual = _settings_of(opened_store(request), caller, "").chat_model
    return ModelsOut(models=[*filter(None, [usual]), EXTRACTIVE], default=usual or EXTRACTIVE)


async def _replied(
    request: Request, caller: Caller, asked: ChatIn, sources: WebSources, *, tools: bool = False
) -> ChatOut:
    opened = opened_store(request)
    session = _of(caller, asked)
    names = _names(asked.models)
    ask = Ask(
        checked(asked.question),
        conversation=session,
        owner=caller.owner,
        texts=tuple(sources.texts),
        documents=asked.use_rag,
        window_alone=not asked.use_r2c,
        compression=asked.compression,
        tools=tools,
        takes_advice=False,
    )
    questions = await run_in_threadpool(_all_begun, opened, ask, names)
    waiting = (finished(request, question) for question in questions)
    given = await asyncio.gather(*waiting, return_exceptions=True)
    usual = _settings_of(opened, caller, "").chat_model or EXTRACTIVE
    answers: dict[str, Answer] = {}
    errors: dict[str, str] = {}
    for name, answer in zip(names, given, strict=True):
        if isinstance(answer, Answer):
            answers[name or usual] = answer
            if answer.error:
                errors[name or usual] = answer.error
        elif isinstance(answer, ProjectError | ProblemError) and len(names) > 1:
            errors[name or usual] = str(answer)
        else:
            raise answer
    if not answers:
        raise ProblemError(502, "No model answered.", hint="; ".join(errors.values())[:1_000])
    resp = {
        name: neutral_markdown(f"{cited_text(answer)}{sources.footer}", answer.citations)
        for name, answer in answers.items()
    }
    base = str(request.base_url)
    told = [notice for answer in answers.values() for notice in answer.notices]
    return ChatOut(
        resp=resp,
        reply=next(iter(resp.values())),
        r2c_stats=await run_in_threadpool(_stats, opened, session, caller.owner),
        session_id=asked.session_id,
        answers={name: shown_answer(opened, answer, base) for name, answer in answers.items()},
        errors=errors,
        notices=list(dict.fromkeys([*sources.notices, *told])),
    )


def _all_begun(opened: Opened, ask: Ask, names: Sequence[str]) -> list[Question]:
    """Begins to answer with each model. The first one's answer is kept in the conversation.

    The others get what was said before it.
    """
    models = [OWN_WORDS if name == EXTRACTIVE else name for name in names]
    for model in models:
        opened.chatbot.side_by_side.asker(model)
    assert ask.conversation
    history = opened.chatbot.memory.window(ask.conversation, ask.owner)
    asked = [begun(opened, replace(ask, model=models[0]))]
    beside = replace(ask, conversation=None, history=history)
    try:
        asked += (begun(opened, replace(beside, model=model)) for model in models[1:])
    except BusyError:
        for question in asked:
            question.stop()
        raise
    return asked


def _names(models: str) -> list[str]:
    """The models that are named, each once; "" for the settings' own. Raises UsageError for too many."""
    names = list(dict.fromkeys(filter(None, map(str.strip, models.split(",")))))
    if len(names) > MOST_MODELS:
        raise UsageError(f"{len(names)} models are named.", hint=f"Name at most {MOST_MODELS}.")
    return names or [""]


async def _texts(request: Request, caller: Caller, asked: ChatIn) -> list[ExternalText]:
    """The web pages that were sent to the session."""
    kept = opened_store(request).chatbot.session_texts
    return [ExternalText(*text) for text in await run_in_threadpool(kept.of, _of(caller, asked))]


def _of(caller: Caller, asked: ChatIn) -> str:
    return session_of(caller.owner, asked.session_id)


def _settings_of(opened: Opened, caller: Caller, model: str) -> Settings:
    asker = opened.chatbot.side_by_side.asker(OWN_WORDS if model == EXTRACTIVE else model)
    return asker.models.settings_of(caller.owner)


def _stats(opened: Opened, session: str, owner: str) -> SessionStats:
    found = opened.chatbot.memory.stats(session, owner)
    return SessionStats.model_validate({**asdict(found), "compression_history": [*found.compression_history]})


def _erased(opened: Opened, session: str, owner: str) -> int:
    conversations = opened.chatbot.conversations
    try:
        count = conversations.get(session, owner).exchanges
        conversations.erase(session, owner)
    except NotFoundError:
        return 0
    return 2 * count
