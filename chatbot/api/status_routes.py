"""Serves what those ask who start and monitor the server: health and metrics."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from chatbot.api.caller import door_of
from chatbot.api.problems import declared

__all__ = ["ROUTER"]

ROUTER = APIRouter(tags=["status"])


@ROUTER.get("/api/v1/health", responses=declared(503))
async def health(request: Request, response: Response) -> dict[str, str]:
    """Says whether questions can be asked. Needs no key."""
    ready = door_of(request).host.opened() is not None
    response.status_code = 200 if ready else 503
    return {"status": "ready" if ready else "opening"}
