"""The server's entry: pages, guard, and one chatbot that lives as long as the server; `streamlit run app.py` starts it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import streamlit as st
from starlette.middleware import Middleware
from streamlit.file_util import get_static_dir

from chatbot.ui import shared
from chatbot.ui.guard import Guard
from chatbot.ui.routes import ROUTES
from chatbot.ui.scroll import SCRIPTS


@asynccontextmanager
async def lifespan(_: Any) -> AsyncIterator[None]:
    """Begin to open the store, which is done in a thread; when the server stops, give it free."""
    shared.opening()
    try:
        yield
    finally:
        await asyncio.to_thread(shared.close)


page = Path(get_static_dir(), "index.html").read_text("utf-8")
scripts = [*SCRIPTS, *re.findall(r"<script>(.*?)</script>", page, re.S)]
guard = Middleware(Guard, allowed_hosts=lambda: st.get_option("server.allowedHosts"), scripts=scripts)
app = st.App("chatbot/ui/main.py", lifespan=lifespan, routes=ROUTES, middleware=[guard])
