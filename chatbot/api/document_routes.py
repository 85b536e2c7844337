"""Serves the documents: listing, adding, page images, originals, removing and restoring."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, File, Path, Query, Request, UploadFile
from starlette.concurrency import run_in_threadpool
from starlette.responses import FileResponse, Response

from chatbot.api.answer_lines import document_ids
from chatbot.api.caller import CallerFirst, Manages, Reads, ReadsPage, door_of, opened_store
from chatbot.api.host import Opened
from chatbot.api.problems import ProblemError, declared
from chatbot.api.schemas import DocumentOut, JobOut
from chatbot.errors import NotFoundError
from chatbot.evidence.page_marks import mark
from chatbot.records import DocumentRow, PageReport
from chatbot.store.addition_queue import Job, NewFile
from ingestion.reading.formats import format_of

__all__ = ["ROUTER", "document_out", "find_row", "job_out"]

ROUTER = APIRouter(prefix="/api/v1/documents", tags=["documents"], route_class=CallerFirst)
MOST_FILES = 100
QUOTE_FOUND = "X-Quote-Found"
QUOTE_HEADERS = {
    QUOTE_FOUND: {
        "description": "Whether the passage was found and marked; only with a passage.",
        "schema": {"type": "string", "enum": ["true", "false"]},
    }
}
Id = Annotated[str, Path(min_length=1, max_length=200)]
# The name of `passage` before: generated clients in Python lost a function of theirs by it.
Earlier = Annotated[str, Query(include_in_schema=False)]
FILE = {"schema": {"type": "string", "format": "binary"}}
Page = Annotated[int, Path(ge=1, le=1_000_000)]


@ROUTER.get("", responses=declared())
async def documents(request: Request, caller: Reads) -> list[DocumentOut]:
    """Lists all documents, including removed ones that can be restored."""
    return await run_in_threadpool(_listed, opened_store(request))


@ROUTER.post("", status_code=202, responses=declared(body=True))
async def add(
    request: Request,
    files: Annotated[list[UploadFile], File(min_length=1, max_length=MOST_FILES)],
    caller: Manages,
) -> list[JobOut]:
    """Queues files to be read. Their progress is under /api/v1/jobs."""
    opened = opened_store(request)
    new = [NewFile(file.filename or "document.pdf", file.file, owner=caller.owner) for file in files]
    numbers = await run_in_threadpool(opened.additions.enqueue, new)
    return [job_out(opened, job) for job in opened.additions.jobs() if job.id in numbers]


@ROUTER.get("/{document_id}", responses=declared(404, 409))
async def document(request: Request, document_id: Id, caller: Reads) -> DocumentOut:
    """Describes one document."""
    opened = opened_store(request)
    row = await run_in_threadpool(find_row, opened, document_id)
    return document_out(row, opened.chatbot.titles())


@ROUTER.get("/{document_id}/report", responses=declared(404, 409))
async def report(request: Request, document_id: Id, caller: Reads) -> list[dict[str, Any]]:
    """Says how each page was read."""
    opened = opened_store(request)

    pages = await run_in_threadpool(_report, opened, document_id)
    return [asdict(page) for page in pages]


@ROUTER.get(
    "/{document_id}/pages/{page}",
    response_class=Response,
    responses=declared(404, 409)
    | {200: {"content": {"image/png": FILE}, "headers": QUOTE_HEADERS, "description": "The page."}},
)
async def page_image(
    request: Request, document_id: Id, page: Page, caller: ReadsPage, passage: str = "", quote: Earlier = ""
) -> Response:
    """Draws a page, as a PNG, with `passage` marked. page: physical, from 1."""
    opened = opened_store(request)
    marked = passage or quote
    async with door_of(request).turns.of(caller.owner):
        png, found = await run_in_threadpool(_drawn, opened, document_id, page, marked)
    headers = {QUOTE_FOUND: str(found).lower()} if marked else {}
    return Response(png, media_type="image/png", headers=headers)


@ROUTER.get(
    "/{document_id}/original",
    response_class=FileResponse,
    responses=declared(404, 409) | {200: {"content": {"application/pdf": FILE}, "description": "The file."}},
)
async def original(request: Request, document_id: Id, caller: Reads) -> FileResponse:
    """Returns the file as it was added."""
    opened = opened_store(request)
    row = await run_in_threadpool(_readable, opened, document_id)
    async with door_of(request).turns.of(caller.owner):
        path = await run_in_threadpool(opened.chatbot.library.file, _version(opened, row.name))
    mime = format_of(path).mime or "application/octet-stream"
    return FileResponse(path, media_type=mime, filename=row.name)


@ROUTER.delete("/{document_id}", status_code=204, responses=declared(404, 409))
async def remove(request: Request, document_id: Id, caller: Manages, purge: bool = False) -> None:
    """Hides a document for 7 days, after which it is erased; with `purge` it is erased now."""
    opened = opened_store(request)
    row = await run_in_threadpool(find_row, opened, document_id)
    if purge:
        await run_in_threadpool(opened.erase, row.name)
    else:
        await run_in_threadpool(opened.chatbot.remove, row.name)


@ROUTER.post("/{document_id}/restore", responses=declared(404, 409))
async def restore(request: Request, document_id: Id, caller: Manages) -> DocumentOut:
    """Brings a removed document back."""
    opened = opened_store(request)
    row = await run_in_threadpool(find_row, opened, document_id)
    await run_in_threadpool(opened.restore, row.name)
    return document_out(await run_in_threadpool(find_row, opened, document_id), opened.chatbot.titles())


def job_out(opened: Opened, job: Job) -> JobOut:
    """Returns a job as the API shows it."""
    name = job.result.document if job.result else None
    return JobOut(
        id=job.id,
        name=job.name,
        phase=job.phase,
        done=job.done,
        total=job.total,
        seconds_left=job.seconds_left,
        problem=job.problem or (job.result.error if job.result else None),
        document=name,
        document_id=document_ids(opened, [name]).get(name or ""),
    )


def _listed(opened: Opened) -> list[DocumentOut]:
    titles = opened.chatbot.titles()
    return [document_out(row, titles) for row in opened.chatbot.documents()]


def find_row(opened: Opened, document_id: str) -> DocumentRow:
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


def _report(opened: Opened, document_id: str) -> list[PageReport]:
    return opened.chatbot.report(_readable(opened, document_id).name)


def _drawn(opened: Opened, document_id: str, page: int, quote: str) -> tuple[bytes, bool]:
    """Returns a page with the quote marked, and whether it was found."""
    row = _readable(opened, document_id)
    if page > row.pages:
        raise NotFoundError(f"There is no page {page:,}.", hint=f"The last page is {row.pages:,}.")
    png, places = opened.chatbot.page_image(_version(opened, row.name), page, quote)
    return mark(png, places), bool(places)


def _readable(opened: Opened, document_id: str) -> DocumentRow:
    """Returns a document that is not removed. Raises NotFoundError."""
    row = find_row(opened, document_id)
    if row.state == "removed":
        raise NotFoundError(
            "This document is removed.", hint=f"Restore it: POST /api/v1/documents/{row.id}/restore"
        )
    return row


def _version(opened: Opened, name: str) -> int:
    return next(iter(opened.chatbot.library.scope([name])))


def document_out(row: DocumentRow, titles: dict[str, str]) -> DocumentOut:
    return DocumentOut(
        id=row.id,
        name=row.name,
        title=titles.get(row.name, row.name),
        state=row.state,
        pages=row.pages,
        period=row.period or "",
        added_at=row.added_at,
        removed_at=row.removed_at,
        protected=row.protected,
    )
