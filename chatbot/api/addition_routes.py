"""Serves the progress of files that are being added."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Annotated

from fastapi import APIRouter, Path, Request
from fastapi.sse import EventSourceResponse
from starlette.responses import Response

from chatbot.api.caller import Manages, Reads, Store
from chatbot.api.document_routes import job_out
from chatbot.api.problems import declared
from chatbot.api.schemas import JobOut, PasswordIn
from chatbot.api.streaming import EVENTS, sse
from chatbot.app.app_context import AppContext
from chatbot.errors import NotFoundError
from chatbot.store.addition_queue import Additions
from chatbot.store.jobs import Job

__all__ = ["ROUTER"]

ROUTER = APIRouter(prefix="/api/v1/jobs", tags=["documents"])
TICK_SECONDS = 0.25
Number = Annotated[int, Path(ge=1, le=2**53)]


@ROUTER.get("")
def jobs(caller: Reads, opened: Store) -> list[JobOut]:
    """Lists the files that are being added, and the last that were."""
    return [job_out(opened, job) for job in opened.additions.jobs()]


@ROUTER.get("/{number}", responses=declared(404))
def job(caller: Reads, opened: Store, number: Number) -> JobOut:
    """Says how far a file is."""
    return job_out(opened, _job(opened.additions, number))


@ROUTER.get(
    "/{number}/events",
    response_class=Response,
    responses=declared(404) | {200: {**EVENTS, "description": "Progress."}},
)
async def events(request: Request, caller: Reads, opened: Store, number: Number) -> Response:
    """Sends an event `job` whenever the file has progressed, until it is done or needs its password."""
    _job(opened.additions, number)
    return EventSourceResponse(_progress(request, opened, number))


@ROUTER.post("/{number}/password", responses=declared(404, body=True))
def unlock(caller: Manages, opened: Store, number: Number, body: PasswordIn) -> JobOut:
    """Tries a protected file again with this password, which is not stored."""
    _job(opened.additions, number)
    opened.additions.unlock(number, body.password)
    return job_out(opened, _job(opened.additions, number))


@ROUTER.delete("/{number}", status_code=204, responses=declared(404))
def cancel(caller: Manages, opened: Store, number: Number) -> None:
    """Stops adding a file and undoes what was done of it."""
    _job(opened.additions, number)
    opened.additions.cancel(number)


async def _progress(request: Request, opened: AppContext, number: int) -> AsyncIterator[bytes]:
    last: JobOut | None = None
    with suppress(NotFoundError):  # it was erased
        while not await request.is_disconnected():
            job = _job(opened.additions, number)
            shown = job_out(opened, job)
            if shown != last:
                yield sse(shown.model_dump(), "job")
                last = shown
            if not job.busy:
                return
            await asyncio.sleep(TICK_SECONDS)


def _job(additions: Additions, number: int) -> Job:
    for job in additions.jobs():
        if job.id == number:
            return job
    raise NotFoundError("There is no such addition.", hint="List them: GET /api/v1/jobs")
