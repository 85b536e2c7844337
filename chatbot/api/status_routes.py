"""Serves what those ask who start and monitor the server: health and metrics."""

from __future__ import annotations

from dataclasses import asdict

from fastapi import APIRouter, Request
from starlette.responses import PlainTextResponse, Response

import chatbot
from chatbot.api.caller import Reads, TheChatbot, door_of
from chatbot.api.host import READY, status_of
from chatbot.api.metrics import CONTENT_TYPE
from chatbot.api.schemas import PartOut, PartsOut

__all__ = ["ROUTER"]

ROUTER = APIRouter(tags=["status"])


@ROUTER.get("/api/v1/", include_in_schema=False)
@ROUTER.get("/api/v1")
async def index() -> dict[str, str]:
    """Names the addresses to begin with. Needs no key."""
    return {
        "name": "Finpolicy",
        "version": chatbot.__version__,
        "description": "/api/openapi.json",
        "health": "/api/v1/health",
        "ask": "/api/v1/ask",
        "documents": "/api/v1/documents",
    }


@ROUTER.get("/api/v1/health")
async def health(request: Request, response: Response) -> dict[str, str]:
    """Says whether questions can be asked. Needs no key."""
    status = _status(request)
    response.status_code = 200 if status == READY else 503
    return {"status": status}


@ROUTER.get("/ready", include_in_schema=False)
async def ready(request: Request) -> PlainTextResponse:
    """Says the same in plain text, where there are no pages that do. Needs no key."""
    status = _status(request)
    return PlainTextResponse(
        f"{status}\n", 200 if status == READY else 503, headers={"cache-control": "no-store"}
    )


def _status(request: Request) -> str:
    return status_of(door_of(request).host.opened())


@ROUTER.get("/api/v1/health/parts")
def parts(caller: Reads, chatbot: TheChatbot) -> PartsOut:
    """Asks each part of the store whether it answers, for three seconds at most."""
    return PartsOut(parts=[PartOut(**asdict(part)) for part in chatbot.parts.all()])


@ROUTER.get(
    "/metrics",
    response_class=Response,
    responses={
        200: {"content": {"text/plain": {"schema": {"type": "string"}}}, "description": "The metrics."}
    },
)
def metrics(request: Request, caller: Reads) -> Response:
    """Reports requests, documents and additions in Prometheus's text form."""
    door = door_of(request)
    return Response(door.metrics.text(door.host.opened()), media_type=CONTENT_TYPE)
