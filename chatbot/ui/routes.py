"""Serves addresses beside the pages: PDFs, page images, downloads, stopping an answer, and readiness.

Addresses are made by a page and valid only until the server stops.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import secrets
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route

from chatbot.api.host import READY, status_of
from chatbot.app.app_context import AppContext
from chatbot.app.marked_pages import PageImage
from chatbot.errors import NotFoundError, ProjectError
from chatbot.ui.guard import OWNER_COOKIE
from chatbot.ui.network_exposure import opening
from chatbot.ui.page_parts import is_session
from ingestion.reading.formats import is_opened

__all__ = ["ROUTES", "cover_address", "image_address", "original_address", "stop_address"]

# A cover is some 300 pixels wide.
COVER_ZOOM = 0.35
EMPTY_SHEET = '<svg xmlns="http://www.w3.org/2000/svg" width="120" height="156"/>'
_SECRET = secrets.token_bytes(32)
NOT_KEPT = {"cache-control": "private, no-store"}
GONE = "This address is no longer valid. Open the page in the chat again.\n"


def original_address(version: int, name: str, page: int) -> str:
    """Returns the address of a kept PDF, relative to the pages. Whoever has it can read the file.

    page: physical, 1-based, where the browser opens it.
    """
    return f"original/{_marked('original', version)}/{quote(name, safe='')}#page={page}"


def image_address(context: AppContext, version: int, image: PageImage) -> str:
    """Returns the address of a page's image.

    Streamlit's own store of images drops one as soon as the next is drawn, even if a browser is about to ask
    for it.
    """
    return f"image/{context.images.lend(version, image)}.png"


def cover_address(version: int) -> str:
    """Returns the address of a small image of a document's first page."""
    return f"cover/{_marked('cover', version)}.png"


def stop_address(number: int, browser: str) -> str:
    """Returns the address to stop a question, by POST from the browser of this mark.

    number: of the question in this process.
    """
    return f"stop/{_marked(f'stop {browser}', number)}"


def _gone() -> Response:
    return PlainTextResponse(GONE, 404)


async def _original(request: Request) -> Response:
    context, version = opening().context, _number("original", request)
    if context is None or version is None:
        return _gone()
    try:
        path = await asyncio.to_thread(context.chatbot.library.file, version)
    except ProjectError:
        return _gone()
    mime = "application/pdf" if is_opened(path) else ""
    headers = NOT_KEPT | {"content-disposition": "inline" if mime else "attachment"}
    return FileResponse(path, media_type=mime or "application/octet-stream", headers=headers)


async def _image(request: Request) -> Response:
    context = opening().context
    if context is None:
        png = None
    else:
        png = await asyncio.to_thread(context.images.lent, request.path_params["name"])
    if png is None:
        return _gone()
    return Response(png, media_type="image/png", headers=NOT_KEPT)


async def _cover(request: Request) -> Response:
    context, version = opening().context, _number("cover", request)
    if context is None or version is None:
        return _gone()
    try:
        image = await asyncio.to_thread(context.images.get, version, 1, "", zoom=COVER_ZOOM)
    except NotFoundError:
        return _gone()
    except ProjectError:  # protected, or it cannot be drawn: an empty sheet
        return Response(EMPTY_SHEET, media_type="image/svg+xml", headers=NOT_KEPT)
    return Response(image.png, media_type="image/png", headers={"cache-control": "private, max-age=3600"})


async def _download(request: Request) -> Response:
    context = opening().context
    if context is None:
        download = None
    else:
        download = context.downloads.offered(request.path_params["mark"], is_there=is_session)
    if download is None or not hmac.compare_digest(download.browser.encode(), _browser(request).encode()):
        return _gone()
    try:
        data = await asyncio.to_thread(download.make)
    except ProjectError as error:
        return PlainTextResponse(f"{error}\n", 409)
    named = f"attachment; filename*=UTF-8''{quote(download.name, safe='')}"
    return Response(
        data,
        media_type=download.mime,
        headers=NOT_KEPT | {"content-disposition": named},
    )


async def _stop(request: Request) -> Response:
    context, number = opening().context, _number(f"stop {_browser(request)}", request)
    if context is None or number is None:
        return _gone()
    await asyncio.to_thread(context.asked.stop_numbered, number)
    return Response(status_code=204)


async def _ready(_: Request) -> Response:
    """Says whether questions can be asked, for those who start or monitor the server.

    Streamlit's own health check succeeds long before.
    """
    status = status_of(opening().context)
    return PlainTextResponse(
        f"{status}\n", 200 if status == READY else 503, headers={"cache-control": "no-store"}
    )


def _browser(request: Request) -> str:
    """Returns the mark of the browser that asks, "" if it sends none."""
    return request.cookies.get(OWNER_COOKIE, "")


def _marked(kind: str, number: int) -> str:
    """Returns the number with a mark that only this process can make, and only for this kind."""
    return f"{number}-{hmac.new(_SECRET, f'{kind} {number}'.encode(), hashlib.sha256).hexdigest()[:32]}"


def _number(kind: str, request: Request) -> int | None:
    """Returns the number that the address is marked for; None if the mark is not ours."""
    given: str = request.path_params["marked"]
    text, _, _ = given.partition("-")
    if not (text.isascii() and text.isdecimal() and len(text) < 18) or not hmac.compare_digest(
        given.encode(), _marked(kind, int(text)).encode()
    ):
        return None
    return int(text)


ROUTES = (
    Route("/original/{marked}/{name}", _original),
    Route("/image/{name}.png", _image),
    Route("/cover/{marked}.png", _cover),
    Route("/download/{mark}", _download),
    Route("/stop/{marked}", _stop, methods=["POST"]),
    Route("/ready", _ready),
)
