"""The PDFs themselves, for the browser to show; every address is made by a page, for this run of the server and this file only."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import secrets
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route

from chatbot.errors import ProjectError
from chatbot.ui.shared import opening

__all__ = ["ROUTE", "original_address"]

_SECRET = secrets.token_bytes(32)
GONE = "This address is not valid any more: the server was started anew, or the document erased. Open the page in the chat once more.\n"


def original_address(version: int, name: str, page: int) -> str:
    """Where a kept PDF is, relative to the pages. page: physical, 1-based, where the browser opens it. Who has the address can read the file until the
    server stops."""
    return f"original/{version}-{_mark(version)}/{quote(name, safe='')}#page={page}"


async def _serve(request: Request) -> Response:
    version, _, mark = request.path_params["file"].partition("-")
    house = opening().house
    right = version.isdecimal() and len(version) < 18 and hmac.compare_digest(mark.encode(), _mark(int(version)).encode())
    if house is None or not right:
        return PlainTextResponse(GONE, 404)
    try:
        path = await asyncio.to_thread(house.chatbot.library.file, int(version))
    except ProjectError:
        return PlainTextResponse(GONE, 404)
    headers = {"cache-control": "private, no-store", "content-disposition": "inline"}
    return FileResponse(path, media_type="application/pdf", headers=headers)


def _mark(version: int) -> str:
    return hmac.new(_SECRET, str(version).encode(), hashlib.sha256).hexdigest()[:32]


ROUTE = Route("/original/{file}/{name}", _serve)
