"""Serves the addresses that a browser extension calls, with the names that it knows."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool

from chatbot.api.answer_lines import shown_answer
from chatbot.api.browser_sessions import Session
from chatbot.api.caller import Asks, Reads, Store, caller_of, door_of, opened_store
from chatbot.api.chat_schemas import (
    ChatIn,
    ChatOut,
    ClearedOut,
    ModelsOut,
    SessionStats,
    WebTextIn,
    WebTextOut,
)
from chatbot.api.problems import ProblemError, declared
from chatbot.api.question_routes import begun
from chatbot.api.streaming import finished
from chatbot.api.web_sources import WebSources
from chatbot.app.app_context import AppContext
from chatbot.app.running_questions import Asking
from chatbot.asking.external_texts import LONGEST_TEXT, ExternalText
from chatbot.asking.named_models import OWN_WORDS
from chatbot.asking.question import Ask, checked
from chatbot.asking.side_by_side import MOST_MODELS
from chatbot.errors import BusyError, NotFoundError, ProjectError, UsageError
from chatbot.mark_lines import mark_lines
from chatbot.memory.conversations.answer_records import cited_text
from chatbot.memory.conversations.conversation_names import PRIVATE
from chatbot.models.web_pages import read_page
from chatbot.records import Answer
from chatbot.serialize import neutral_markdown
from chatbot.settings import Settings

__all__ = ["EXTRACTIVE", "ROUTER"]

ROUTER = APIRouter(tags=["browser extension"])
# What this door calls the documents' own words.
EXTRACTIVE = "extractive"
TEXT = {"schema": {"type": "string"}}
# A question in an address may be longer than a server takes, which then says so itself.
TOO_LONG = {"description": "The address is too long.", "content": {"text/plain": TEXT}}
ANSWERS = declared(404, 409, 502) | {400: TOO_LONG}
NO_SERVER = "No MCP server is set up in mcp.json: answered like /get_chat_response/."
Asked = Annotated[ChatIn, Query()]
SessionName = Annotated[str, Query(max_length=200)]


@ROUTER.get("/get_chat_response", responses=ANSWERS)
async def chat(request: Request, response: Response, asked: Asked, caller: Asks, opened: Store) -> ChatOut:
    """Answers a question from the documents and the session's web pages."""
    return await _replied(request, response, asked, opened, web=asked.is_advanced)


@ROUTER.get("/get_mcp_response", responses=ANSWERS)
async def with_tools(
    request: Request, response: Response, asked: Asked, caller: Asks, opened: Store
) -> ChatOut:
    """Answers a question with the tools of MCP servers too."""
    return await _replied(request, response, asked, opened, tools=True)


@ROUTER.get("/get_adv_response", responses=ANSWERS)
async def advanced(
    request: Request, response: Response, asked: Asked, caller: Asks, opened: Store
) -> ChatOut:
    """Answers a question from the web too: the page that the browser shows, and a search where it is set.

    The reply ends with a sentence on the search.
    """
    return await _replied(request, response, asked, opened, web=True)


@ROUTER.post("/input_webtext", responses=declared(body=True))
async def add_text(
    request: Request,
    response: Response,
    body: WebTextIn,
    caller: Asks,
    opened: Store,
    session_id: SessionName = "",
) -> WebTextOut:
    """Takes a web page as a source of the session. It is data: nothing in it is followed.

    The session may be named in the address, as for the other calls, or in the body.
    """
    title, text = body.title, body.textContent
    if not text.strip():
        if not opened.settings.fetch_pages:
            raise UsageError(
                "The page has no text.",
                hint="Send it as textContent, or set FINPOLICY_FETCH_PAGES=1 to have it fetched.",
            )
        async with door_of(request).turns.of(caller.owner):
            title, text = await run_in_threadpool(read_page, body.currentUrl, opened.settings)
    named = body.session_id or session_id
    session = await run_in_threadpool(_entered, request, response, named)
    kept = ExternalText(body.currentUrl, title, text)
    texts = opened.chatbot.session_texts
    count = await run_in_threadpool(texts.add, session.id, kept.address, kept.title, kept.text)
    cut = f", cut to {LONGEST_TEXT:,} characters" if len(text) > LONGEST_TEXT else ""
    return WebTextOut(
        resp=f"Text added as a source of this session{cut}.",
        session_id=named,
        characters=len(kept.text),
        texts=count,
    )


@ROUTER.post("/clear_messages", operation_id="clear_messages_by_post")
@ROUTER.get("/clear_messages")
def clear(
    request: Request,
    response: Response,
    caller: Asks,
    opened: Store,
    session_id: SessionName = "",
    use_r2c: bool = True,
    preserve_web: bool = False,
) -> ClearedOut:
    """Erases the conversation of a session, and its web pages unless `preserve_web` is true."""
    session = _entered(request, response, session_id)
    messages = _erased(opened, session)
    texts = 0 if preserve_web else opened.chatbot.session_texts.clear(session.id)
    return ClearedOut(resp="Cleared.", session_id=session_id, messages=messages, texts=texts)


@ROUTER.get("/api/get_r2c_stats")
def stats(
    request: Request,
    response: Response,
    caller: Reads,
    opened: Store,
    session_id: SessionName = "",
    private: bool = False,
) -> dict[str, SessionStats]:
    """Says how long the conversation of a session is, and how it was shortened."""
    return {"stats": _stats(opened, _entered(request, response, session_id, private, begins=False))}


@ROUTER.get("/api/get_available_models")
def models(caller: Reads, opened: Store) -> ModelsOut:
    """Lists the models that can be named without a provider."""
    usual = _settings_of(opened, caller.owner, "").chat_model
    return ModelsOut(models=[*filter(None, [usual]), EXTRACTIVE], default=usual or EXTRACTIVE)


# The extension also knows each address with a slash at its end.
for route in list(ROUTER.routes):
    assert isinstance(route, APIRoute)
    ROUTER.add_api_route(
        f"{route.path}/", route.endpoint, methods=list(route.methods or ()), include_in_schema=False
    )


async def _replied(
    request: Request,
    response: Response,
    asked: ChatIn,
    opened: AppContext,
    *,
    web: bool = False,
    tools: bool = False,
) -> ChatOut:
    """web: whether the page that the browser shows and a search of the web are sources too. tools: whether
    tools of MCP servers are called.
    """
    session = await run_in_threadpool(_entered, request, response, asked.session_id, asked.private)
    names = _names(asked.models)
    kept = await run_in_threadpool(opened.chatbot.session_texts.of, session.id)
    notices = (NO_SERVER,) if tools and not opened.chatbot.tools.names() else ()
    sources = WebSources([ExternalText(*text) for text in kept], notices)
    if web:
        settings = await run_in_threadpool(_settings_of, opened, session.owner, names[0])
        async with door_of(request).turns.of(session.owner):
            sources = await run_in_threadpool(sources.gathered, asked, settings)
    ask = Ask(
        checked(asked.question),
        conversation=session.conversation,
        owner=session.owner,
        texts=tuple(sources.texts),
        documents=asked.use_rag,
        window_alone=not asked.use_r2c,
        compression=asked.compression,
        strategy=asked.strategy or "",
        tools=tools,
        takes_advice=False,
    )
    questions = await run_in_threadpool(_all_begun, opened, ask, names)
    waiting = (finished(request, question) for question in questions)
    given = await asyncio.gather(*waiting, return_exceptions=True)
    usual = _settings_of(opened, session.owner, "").chat_model or EXTRACTIVE
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
        name: neutral_markdown(f"{_said(answer)}{sources.footer}", answer.citations)
        for name, answer in answers.items()
    }
    base = str(request.base_url)
    told = [notice for answer in answers.values() for notice in answer.notices]
    return ChatOut(
        resp=resp,
        reply=next(iter(resp.values())),
        r2c_stats=await run_in_threadpool(_stats, opened, session, ask),
        session_id=asked.session_id,
        answers={name: shown_answer(opened, answer, base) for name, answer in answers.items()},
        errors=errors,
        notices=list(dict.fromkeys([*sources.notices, *told])),
    )


def _said(answer: Answer) -> str:
    """The answer with its pages, and what was found of it."""
    return "\n\n".join(filter(None, [cited_text(answer), "\n".join(mark_lines(answer))]))


def _all_begun(opened: AppContext, ask: Ask, names: Sequence[str]) -> list[Asking]:
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


def _entered(
    request: Request, response: Response, name: str, private: bool = False, *, begins: bool = True
) -> Session:
    """The session that a call means: by its name, the key's only one, or that of the browser's cookie.

    private: whether what is said in it stays off the disk, also where sessions are kept.
    begins: whether the session begins with the call, or goes on.
    """
    sessions, opened, caller = door_of(request).sessions, opened_store(request), caller_of(request)
    conversations = opened.chatbot.conversations
    sessions.sweep(conversations)
    if name or caller.key:
        session = sessions.named(caller.owner, name)
    else:
        session = sessions.of_browser(request, response if begins else None, caller.owner, conversations)
    if begins:
        sessions.use(session, conversations)
    if opened.settings.keep_sessions and not private:
        return replace(session, conversation=session.id)
    return session


def _settings_of(opened: AppContext, owner: str, model: str) -> Settings:
    asker = opened.chatbot.side_by_side.asker(OWN_WORDS if model == EXTRACTIVE else model)
    return asker.models.settings_of(owner)


def _stats(opened: AppContext, session: Session, ask: Ask | None = None) -> SessionStats:
    """What compression has done in a session; the threshold is that of a question, if there is one."""
    chatbot = opened.chatbot
    settings = chatbot.memory_context.settings(ask) if ask else None
    found = chatbot.memory.stats(session.conversation, session.owner, settings)
    return SessionStats.model_validate({**asdict(found), "compression_history": [*found.compression_history]})


def _erased(opened: AppContext, session: Session) -> int:
    """Erase what was said in a session, on disk and off it. Returns how many messages that were."""
    conversations = opened.chatbot.conversations
    count = 0
    for conversation in (session.id, PRIVATE + session.id):
        with suppress(NotFoundError):
            count += conversations.get(conversation, session.owner).exchanges
            conversations.erase(conversation, session.owner)
    return 2 * count
