"""The server's entry: pages, guard, and one chatbot that lives as long as the server; `streamlit run app.py` starts it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import streamlit as st
from starlette.middleware import Middleware

from chatbot.settings import Settings
from chatbot.ui import app_context, browser_scripts, index_html, routes
from chatbot.ui.click_order import ClickOrder
from chatbot.ui.guard import Guard
from chatbot.ui.sign_in import may_fetch
from chatbot.ui.uploads import Uploads


@asynccontextmanager
async def lifespan(_: Any) -> AsyncIterator[None]:
    """Begin to open the store, which is done in a thread; when the server stops, give it free."""
    app_context.opening()
    try:
        yield
    finally:
        await asyncio.to_thread(app_context.close)


def settings() -> Settings | None:
    """What holds for everybody, once the store is open."""
    context = app_context.opening().context
    return context.settings if context is not None else None


guard = Middleware(
    Guard,
    allowed_hosts=lambda: st.get_option("server.allowedHosts"),
    may_enter=may_fetch,
    scripts=[*browser_scripts.SCRIPTS, *index_html.SCRIPTS],
)
uploads = Middleware(Uploads, settings=settings)
app = st.App(
    "chatbot/ui/main.py", lifespan=lifespan, routes=[*routes.ROUTES, *index_html.ROUTES], middleware=[guard, uploads, Middleware(ClickOrder)]
)
