"""Returns the HTML that a browser gets first: Streamlit's own, with the address of its server."""

from __future__ import annotations

import re
from pathlib import Path

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from chatbot.ui.streamlit_internals import FIRST_PAGE

__all__ = ["ADDRESSES", "PAGES", "ROUTES", "SCRIPTS", "served_index"]

# The pages in their order: file, title, icon. The first is at the server's own address.
PAGES = (
    ("chat_page.py", "Chat", ":material/chat:"),
    ("documents_page.py", "Documents", ":material/folder_open:"),
    ("key_figures_page.py", "Key figures", ":material/monitoring:"),
    ("compare_page.py", "Compare", ":material/table_chart:"),
    ("memory_page.py", "Memory", ":material/bookmarks:"),
    ("settings_page.py", "Settings", ":material/tune:"),
)
ADDRESSES = tuple(title.lower().replace(" ", "-") for _, title, _ in PAGES[1:])
SERVER_ADDRESS = Path(__file__).with_name("static").joinpath("server_address.js").read_text("utf-8")
INLINE = re.compile(r"<script>(.*?)</script>", re.S)


def served_index(html: str) -> str:
    """Returns Streamlit's page with our script before all others, and the names of the pages for it."""
    names = f'<meta name="finpolicy-pages" content="{" ".join(ADDRESSES)}">'
    return html.replace("<head>", f"<head>{names}<script>{SERVER_ADDRESS}</script>", 1)


_PAGE = served_index(FIRST_PAGE.read_text("utf-8"))
# The inline scripts of the page, for the server's policy.
SCRIPTS = tuple(INLINE.findall(_PAGE))


async def _first(_: Request) -> Response:
    return HTMLResponse(_PAGE, headers={"cache-control": "no-cache"})


ROUTES = tuple(Route(f"/{page}", _first) for page in ADDRESSES)
