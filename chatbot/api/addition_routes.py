"""Serves the progress of files that are being added."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Path, Request
from fastapi.sse import EventSourceResponse
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from chatbot.api.caller import Manages, Reads, opened_store
from chatbot.api.document_routes import job_out
from chatbot.api.host import Opened
from chatbot.api.problems import declared
from chatbot.api.schemas import JobOut, PasswordIn
from chatbot.errors import NotFoundError
from chatbot.store.addition_queue import Additions, Job

__all__ = ["ROUTER"]

ROUTER = APIRouter(prefix="/api/v1/jobs", tags=["documents"])
TICK_SECONDS = 0.25
Number = Annotated[int, Path(ge=1, le=2**53)]


@ROUTER.get("", responses=declared())
async def jobs(request: Request, caller: Reads) -> list[JobOut]:
    """Lists the files that are being added, and the last that were."""
    opened = opened_store(request)
    return [job_out(opened, job) for job in opened.additions.jobs()]


@ROUTER.get("/{number}", responses=declared(404))
async def job(request: Request, number: Number, caller: Reads) -> JobOut:
    """Says how far a file is."""
    opened = opened_store(request)
    return job_out(opened, _job(opened.additions, number))


@ROUTER.get(
    "/{number}/events",
    response_class=Response,
    responses=declared(404)
    | {200: {"content": {"text/event-stream": {"schema": {}}}, "description": "Progress."}},
)
async def events(request: Request, number: Number, caller: Reads) -> Response:
    """Sends an event `job` whenever the file has progressed, until it is done or needs its password."""
    opened = opened_store(request)
    _job(opened.additions, number)
    return EventSourceResponse(_progress(request, opened, number))


@ROUTER.post("/{number}/password", responses=declared(404, body=True))
async def unlock(request: Request, number: Number, body: PasswordIn, caller: Manages) -> JobOut:
    """Tries a protected file again with this password, which is not stored."""
    opened = opened_store(request)
    _job(opened.additions, number)
    await run_in_threadpool(opened.additions.unlock, number, body.password)
    return job_out(opened, _job(opened.additions, number))


@ROUTER.delete("/{number}", status_code=204, responses=declared(404))
async def cancel(request: Request, number: Number, caller: Manages) -> None:
    """Stops adding a file and undoes what was done of it."""
    additions = opened_store(request).additions
    _job(additions, number)
    await run_in_threadpool(additions.cancel, number)


async def _progress(request: Request, opened: Opened, number: int) -> AsyncIterator[bytes]:
    last: JobOut | None = None
    while not await request.is_disconnected():
        job = _job(opened.additions, number)
        shown = job_out(opened, job)
        if shown != last:
            yield f"event: job\ndata: {json.dumps(shown.model_dump())}\n\n".encode()
            last = shown
        if not job.busy:
            return
        await asyncio.sleep(TICK_SECONDS)


def _job(additions: Additions, number: int) -> Job:
    for job in additions.jobs():
        if job.id == number:
            return job
    raise NotFoundError("There is no such addition.", hint="List them: GET /api/v1/jobs")
