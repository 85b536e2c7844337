"""Serves the documents: listing, adding and its progress, page images, originals, removing and restoring."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Depends, File, Path, Query, Request, UploadFile
from fastapi.sse import EventSourceResponse
from starlette.responses import FileResponse, Response

from chatbot.api.answer_lines import document_ids
from chatbot.api.caller import CallerFirst, Manages, Reads, ReadsPage, Store, TheChatbot, Turn
from chatbot.api.problems import ProblemError, declared
from chatbot.api.schemas import DocumentOut, JobOut, PasswordIn
from chatbot.api.streaming import EVENTS, sse
from chatbot.app.app_context import AppContext
from chatbot.errors import NotFoundError
from chatbot.evidence.page_marks import mark
from chatbot.records import DocumentRow
from chatbot.store.addition_queue import Additions, NewFile
from chatbot.store.jobs import Job
from ingestion.reading.formats import is_opened

__all__ = ["ROUTER", "document_out", "find_row", "job_out"]

ROUTER = APIRouter(prefix="/api/v1", tags=["documents"], route_class=CallerFirst)
MOST_FILES = 100
TICK_SECONDS = 0.25
QUOTE_FOUND = "X-Quote-Found"
QUOTE_HEADERS = {
    QUOTE_FOUND: {
        "description": "Whether the passage was found and marked; only with a passage.",
        "schema": {"type": "string", "enum": ["true", "false"]},
    }
}
# The name of `passage` before: generated clients in Python lost a function of theirs by it.
Earlier = Annotated[str, Query(include_in_schema=False)]
FILE = {"schema": {"type": "string", "format": "binary"}}
Page = Annotated[int, Path(ge=1, le=1_000_000)]
Number = Annotated[int, Path(ge=1, le=2**53)]
LANGUAGES_TEXT = "The languages of scans, such as deu+eng; those of FINPOLICY_OCR_LANGUAGES by default."
Languages = Annotated[str, Query(max_length=100, description=LANGUAGES_TEXT)]


def find_row(opened: AppContext, document_id: str) -> DocumentRow:
    """Returns the document of an id, or of a name.

    What its file's SHA-256 begins with was its id in earlier versions, and is as long as no other document
    has that file. Raises NotFoundError, and ProblemError for a file of several documents.
    """
    rows = opened.chatbot.documents()
    for row in rows:
        if document_id in (row.id, row.name):
            return row
    former = [row for row in rows if row.digest[:16] == document_id]
    if len(former) > 1:
        listed = ", ".join(f"{row.id} ({row.name})" for row in former[:3])
        raise ProblemError(409, f"{len(former)} documents have this file.", hint=f"Name one: {listed}.")
    if former:
        return former[0]
    raise NotFoundError("There is no such document.", hint="List them: GET /api/v1/documents")


def _named(opened: Store, document_id: Annotated[str, Path(min_length=1, max_length=200)]) -> DocumentRow:
    return find_row(opened, document_id)


# A document that is named, removed or not, and one that is not removed. They come after the caller.
Named = Annotated[DocumentRow, Depends(_named)]


def _readable(row: Named) -> DocumentRow:
    if row.state == "removed":
        raise NotFoundError(
            "This document is removed.", hint=f"Restore it: POST /api/v1/documents/{row.id}/restore"
        )
    return row


Readable = Annotated[DocumentRow, Depends(_readable)]


@ROUTER.get("/documents")
def documents(caller: Reads, chatbot: TheChatbot) -> list[DocumentOut]:
    """Lists all documents, including removed ones that can be restored."""
    titles = chatbot.titles()
    return [document_out(row, titles) for row in chatbot.documents()]


@ROUTER.post("/documents", status_code=202, responses=declared(body=True))
def add(
    files: Annotated[list[UploadFile], File(min_length=1, max_length=MOST_FILES)],
    caller: Manages,
    opened: Store,
    languages: Languages = "",
) -> list[JobOut]:
    """Queues files to be read. Their progress is under /api/v1/jobs."""
    new = [
        NewFile(file.filename or "document.pdf", file.file, owner=caller.owner, languages=languages)
        for file in files
    ]
    numbers = opened.additions.enqueue(new)
    return [job_out(opened, job) for job in opened.additions.jobs() if job.id in numbers]


@ROUTER.post("/documents/{document_id}/read", status_code=202, responses=declared(404, 409))
def read_again(caller: Manages, opened: Store, row: Readable, languages: Languages = "") -> JobOut:
    """Queues a document to be read again from its kept copy; until then its earlier reading is searched."""
    number = opened.additions.read_again(row.name, languages)
    return next(job_out(opened, job) for job in opened.additions.jobs() if job.id == number)


@ROUTER.get("/documents/{document_id}", responses=declared(404, 409))
def document(caller: Reads, chatbot: TheChatbot, row: Named) -> DocumentOut:
    """Describes one document."""
    return document_out(row, chatbot.titles())


@ROUTER.get("/documents/{document_id}/report", responses=declared(404, 409))
def report(caller: Reads, chatbot: TheChatbot, row: Readable) -> list[dict[str, Any]]:
    """Says how each page was read."""
    return list(map(asdict, chatbot.report(row.name)))


@ROUTER.get(
    "/documents/{document_id}/pages/{page}",
    response_class=Response,
    responses=declared(404, 409)
    | {200: {"content": {"image/png": FILE}, "headers": QUOTE_HEADERS, "description": "The page."}},
)
def page_image(
    caller: ReadsPage,
    opened: Store,
    row: Readable,
    page: Page,
    turn: Turn,
    passage: str = "",
    quote: Earlier = "",
) -> Response:
    """Draws a page, as a PNG, with `passage` marked. page: physical, from 1."""
    if page > row.pages:
        raise NotFoundError(f"There is no page {page:,}.", hint=f"The last page is {row.pages:,}.")
    marked = passage or quote
    png, places = opened.chatbot.page_image(_version(opened, row), page, marked)
    headers = {QUOTE_FOUND: str(bool(places)).lower()} if marked else {}
    return Response(mark(png, places), media_type="image/png", headers=headers)


@ROUTER.get(
    "/documents/{document_id}/original",
    response_class=FileResponse,
    responses=declared(404, 409) | {200: {"content": {"application/pdf": FILE}, "description": "The file."}},
)
def original(caller: Reads, opened: Store, row: Readable, turn: Turn) -> FileResponse:
    """Returns the file as it was added."""
    path = opened.chatbot.library.file(_version(opened, row))
    mime = "application/pdf" if is_opened(path) else "application/octet-stream"
    return FileResponse(path, media_type=mime, filename=row.name)


@ROUTER.delete("/documents/{document_id}", status_code=204, responses=declared(404, 409))
def remove(caller: Manages, opened: Store, row: Named, purge: bool = False) -> None:
    """Hides a document for 7 days, after which it is erased; with `purge` it is erased now."""
    if purge:
        opened.erase(row.name)
    else:
        opened.chatbot.remove(row.name)


@ROUTER.post("/documents/{document_id}/restore", responses=declared(404, 409))
def restore(caller: Manages, opened: Store, row: Named) -> DocumentOut:
    """Brings a removed document back."""
    opened.restore(row.name)
    return document_out(find_row(opened, row.id), opened.chatbot.titles())


def job_out(opened: AppContext, job: Job) -> JobOut:
    """Returns a job as the API shows it."""
    name = job.result.document if job.result else None
    problem = job.problem or (job.result.error if job.result else None)
    named = {"document": name, "document_id": document_ids(opened, [name]).get(name or "")}
    return JobOut.model_validate({**asdict(job), **named, "problem": problem})


def _version(opened: AppContext, row: DocumentRow) -> int:
    return next(iter(opened.chatbot.library.scope([row.name])))


def document_out(row: DocumentRow, titles: dict[str, str]) -> DocumentOut:
    """Returns a document as the API shows it. titles: of the documents, by name."""
    own = {"id": row.id, "title": titles.get(row.name, row.name), "period": row.period or ""}
    return DocumentOut.model_validate({**asdict(row), **own})


# --- files that are being added
# ------------------------------------------------------------------------------------------------------------


@ROUTER.get("/jobs")
def jobs(caller: Reads, opened: Store) -> list[JobOut]:
    """Lists the files that are being added, and the last that were."""
    return [job_out(opened, job) for job in opened.additions.jobs()]


@ROUTER.get("/jobs/{number}", responses=declared(404))
def job(caller: Reads, opened: Store, number: Number) -> JobOut:
    """Says how far a file is."""
    return job_out(opened, _job(opened.additions, number))


@ROUTER.get(
    "/jobs/{number}/events",
    response_class=Response,
    responses=declared(404) | {200: {**EVENTS, "description": "Progress."}},
)
async def events(request: Request, caller: Reads, opened: Store, number: Number) -> Response:
    """Sends an event `job` whenever the file has progressed, until it is done or needs its password."""
    _job(opened.additions, number)
    return EventSourceResponse(_progress(request, opened, number))


@ROUTER.post("/jobs/{number}/password", responses=declared(404, body=True))
def unlock(caller: Manages, opened: Store, number: Number, body: PasswordIn) -> JobOut:
    """Tries a protected file again with this password, which is not stored."""
    _job(opened.additions, number)
    opened.additions.unlock(number, body.password)
    return job_out(opened, _job(opened.additions, number))


@ROUTER.delete("/jobs/{number}", status_code=204, responses=declared(404))
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
