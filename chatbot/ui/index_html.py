"""The HTML that a browser is given first: Streamlit's own, told where its server is; knows nothing of what is drawn in it."""

from __future__ import annotations

import re
from pathlib import Path

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from streamlit.file_util import get_static_dir

__all__ = ["ADDRESSES", "PAGES", "ROUTES", "SCRIPTS", "served_index"]

# The pages in their order: file, title, icon. The first is at the server's own address, each other at its title's.
PAGES = (
    ("chat_page.py", "Chat", ":material/chat:"),
    ("documents_page.py", "Documents", ":material/folder_open:"),
    ("compare_page.py", "Compare", ":material/table_chart:"),
    ("memory_page.py", "Memory", ":material/bookmarks:"),
    ("settings_page.py", "Settings", ":material/tune:"),
)
ADDRESSES = tuple(title.lower() for _, title, _ in PAGES[1:])
# Streamlit's script looks for its server below the address that is open, and only then above it: two requests in vain, each logged as an error, wherever
# a page other than the first is opened by its address. This tells it; what stands before the page's own name may be a proxy's.
TELL = f"""{{
const page = location.pathname.match(/^(.*)\\/(?:{"|".join(ADDRESSES)})\\/?$/);
if (page) window.__streamlit = {{...window.__streamlit, BACKEND_BASE_URL: location.origin + page[1]}};
}}"""
INLINE = re.compile(r"<script>(.*?)</script>", re.S)


def served_index(html: str) -> str:
    """Streamlit's page with our script before all others."""
    return html.replace("<head>", f"<head><script>{TELL}</script>", 1)


_PAGE = served_index(Path(get_static_dir(), "index.html").read_text("utf-8"))
# The inline scripts of the page, for the server's policy.
SCRIPTS = tuple(INLINE.findall(_PAGE))


async def _first(_: Request) -> Response:
    return HTMLResponse(_PAGE, headers={"cache-control": "no-cache"})


ROUTES = tuple(Route(f"/{page}", _first) for page in ADDRESSES)
