"""Lists the tools of the MCP server, with what they take and return, and does their work: asks, searches,
reads pages, compares, adds.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args, get_type_hints

from pydantic import BaseModel, Field, StrictBool
from starlette.concurrency import run_in_threadpool

from chatbot.api.answer_lines import shown_answer
from chatbot.api.caller import Caller, CallerTurns
from chatbot.api.comparison_routes import compared_lines, key_figures_out
from chatbot.api.document_routes import document_out, find_row, job_out
from chatbot.api.question_routes import started
from chatbot.api.schemas import (
    MOST_NAMES,
    AnswerOut,
    AskIn,
    CitationOut,
    CompareIn,
    ComparisonOut,
    ConversationName,
    DocumentOut,
    HitOut,
    Identifier,
    JobOut,
    KeyFiguresOut,
    Name,
    Question,
    Strategy,
)
from chatbot.api.streaming import answer_of, news
from chatbot.app.app_context import AppContext
from chatbot.comparison import Comparison
from chatbot.errors import DocumentError, NotFoundError
from chatbot.forms import Strict
from chatbot.lookup import lookup_forms
from chatbot.lookup.lookup_forms import LOOKUP_TOOLS
from chatbot.lookup.lookups import FoundText, Outline
from chatbot.records import DocumentRow, Hit
from chatbot.serialize import hit_line
from chatbot.settings import PROGRAM
from chatbot.store.addition_queue import NewFile
from chatbot.store.api_keys import SCOPES
from chatbot.store.jobs import Job

__all__ = [
    "ADDRESS",
    "GetDrawnPage",
    "McpTool",
    "Visitor",
    "all_tools",
    "get_page",
    "page_address",
    "tools_of",
]

# Bytes of a file that is sent within a call. A request holds 2 MB, and base64 takes a third more.
MOST_CONTENT = 1_400_000
Text = Annotated[str, Field(max_length=1_000)]


class AskDocuments(Strict):
    """The arguments of `ask`."""

    question: Annotated[Question, Field(description="A whole question, in plain words.")]
    documents: Annotated[
        list[Name],
        Field(
            default_factory=list,
            max_length=MOST_NAMES,
            description="Names of documents to stay in; all without any.",
        ),
    ]
    conversation: Annotated[
        ConversationName | None,
        Field(
            description="An id of your choice, of up to 64 letters, digits, - and _. Questions with the same "
            "id may refer to one another."
        ),
    ] = None
    model: Annotated[
        Identifier | None,
        Field(description="PROVIDER:MODEL, or none for the documents' own words; else as the server is set."),
    ] = None


class SearchByStrategy(lookup_forms.SearchDocuments):
    """The arguments of `search_documents`. strategy: how the pieces of a long query are combined."""

    query: Question
    mode: Literal["hybrid", "vector", "keyword"] = "hybrid"
    strategy: Strategy = "average"


class GetDrawnPage(lookup_forms.GetPage):
    """The arguments of `get_page`."""

    image: Annotated[StrictBool, Field(description="Whether to draw the page, too.")] = False


class CompareDocuments(CompareIn):
    """The arguments of `compare`."""


class AddPath(Strict):
    """The arguments of `add_document` on the machine that has the file."""

    path: Annotated[str, Field(min_length=1, max_length=4_096, description="The whole path of the file.")]
    name: Annotated[Text, Field(description="The name to keep it under; else the file's own.")] = ""


class AddContent(Strict):
    """The arguments of `add_document` from elsewhere."""

    name: Annotated[Name, Field(description="The name to keep it under, such as Budget.pdf.")]
    content: Annotated[
        str,
        Field(min_length=1, description=f"The file's bytes in base64, {MOST_CONTENT:,} bytes at most."),
    ]


class CitedPage(CitationOut):
    """A citation. resource: the address of its page, to be read as a resource; null for none."""

    resource: str | None = None


class CitedAnswer(AnswerOut):
    """An answer in which each citation names the resource of its page."""

    citations: list[CitedPage]  # type: ignore[assignment]


class FoundPage(HitOut):
    """A page that was found. resource: its address."""

    resource: str | None = None


class FoundPages(BaseModel):
    """The result of `search_documents`."""

    hits: list[FoundPage]


class WorkedOut(BaseModel):
    """The result of `calculate`."""

    expression: str
    value: float


class ListedDocuments(BaseModel):
    """The result of `list_documents`."""

    documents: list[DocumentOut]


class PageText(BaseModel):
    """The result of `get_page`. page: physical, 1-based. page_label: the printed one."""

    document: str
    page: int
    page_label: str | None
    pages: int
    text: str
    resource: str


class ComparedEntries(ComparisonOut):
    """The result of `compare`: an entry for each document and year, with the columns of the table."""


ADDRESS = "finpolicy://documents/{id}/pages/{page}"
# How long `add_document` waits until a file can be searched; what takes longer goes on by itself.
ADD_SECONDS, TICK_SECONDS = 60.0, 0.1

Found = TypeVar("Found")
Work = Callable[["Visitor", Any], Awaitable[Any]]
_ADDS = "Adds a file to the documents, and returns how far it is: it can be searched once it is read."


async def _untold(stage: str) -> None:
    """Tells nobody how far a call is."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who uses the MCP server, and what they work on.

    store: the open store.
    turns: whose long work waits.
    is_here: whether it is a program of this machine, so that files are given by path.
    progress: tells the client of a call which stage is reached.
    """

    store: AppContext
    caller: Caller
    turns: CallerTurns
    is_here: bool = False
    progress: Callable[[str], Awaitable[None]] = _untold

    def may_use(self, tool: McpTool) -> bool:
        return SCOPES.index(tool.scope) <= SCOPES.index(self.caller.scope)


@dataclass(frozen=True, slots=True)
class McpTool:
    """A tool: what it takes and returns, the scope it needs, and who does its work.

    is_here: whether it is for programs of this machine, None if it is for all.
    """

    name: str
    takes: type[BaseModel]
    returns: type[BaseModel]
    scope: str
    work: Work
    text: str
    title: str
    is_here: bool | None


_TOOLS: list[McpTool] = []


def all_tools(visitor: Visitor) -> dict[str, McpTool]:
    """Returns all tools by name, whatever the caller may do."""
    return {tool.name: tool for tool in _TOOLS if tool.is_here in (None, visitor.is_here)}


def tools_of(visitor: Visitor) -> dict[str, McpTool]:
    """Returns the tools that the caller may use."""
    return {name: tool for name, tool in all_tools(visitor).items() if visitor.may_use(tool)}


def _tool(scope: str, text: str, title: str, *, is_here: bool | None = None) -> Callable[[Work], Work]:
    """Lists a function as a tool, with its annotations as the forms of what it takes and returns."""

    def listed(work: Work) -> Work:
        kinds = get_type_hints(work)
        name = work.__name__ if is_here is None else "add_document"
        returns = get_args(kinds["return"]) or (kinds["return"],)  # a page, and its picture
        _TOOLS.append(McpTool(name, kinds["given"], returns[0], scope, work, text, title, is_here))
        return work

    return listed


def _lookup(work: Work) -> Work:
    """Lists a tool that chat models have too while they answer."""
    tool = LOOKUP_TOOLS[work.__name__]
    return _tool("read", tool.text, tool.title)(work)


@_tool(
    "ask",
    "Answers a question from the documents. Each statement cites its page, each quotation and figure is "
    "checked against it, and where the documents do not answer, `answered` is false.",
    "Ask the documents",
)
async def ask(call: Visitor, given: AskDocuments) -> CitedAnswer:
    """Answers a question from the documents. If the call is cancelled, the work stops."""
    body = AskIn(
        question=given.question,
        documents=given.documents,
        conversation=given.conversation,
        model=given.model,
    )
    question = await run_in_threadpool(started, call.store, call.caller, body)
    stage = ""
    async for _ in news(question):
        if question.stage.name != stage and not question.finished:
            stage = question.stage.name
            await call.progress(stage)
    line = shown_answer(call.store, answer_of(question))
    return CitedAnswer.model_validate({**line, "citations": _with_pages(call, line["citations"])})


async def _in_turn(call: Visitor, work: Callable[..., Found], *given: Any) -> Found:
    """What work comes to, in a thread, once the caller's other work leaves a turn for it."""
    async with call.turns.of(call.caller.owner):
        return await asyncio.to_thread(work, *given)


@_lookup
async def search_documents(call: Visitor, given: SearchByStrategy) -> FoundPages:
    """Finds the pages for a query."""
    chatbot = call.store.chatbot

    def found() -> list[Hit]:
        find = chatbot.lookups.wanted(given)
        return chatbot.find(replace(find, mode=given.mode, strategy=given.strategy))

    hits = await _in_turn(call, found)
    lines = [hit_line(rank, hit) for rank, hit in enumerate(hits, 1)]
    return FoundPages.model_validate({"hits": _with_pages(call, lines)})


@_lookup
async def get_page(call: Visitor, given: GetDrawnPage) -> tuple[PageText, bytes]:
    """Returns a page and, if it is to be drawn, its PNG, else no bytes."""
    return await _in_turn(call, _page, call.store, given)


@_lookup
async def get_outline(call: Visitor, given: lookup_forms.GetOutline) -> Outline:
    """Lists the headings of a document and the captions of its tables."""
    return await _in_turn(call, call.store.chatbot.lookups.outline, given)


@_lookup
async def find_text(call: Visitor, given: lookup_forms.FindText) -> FoundText:
    """Finds words in a document."""
    return await _in_turn(call, call.store.chatbot.lookups.find_text, given)


@_lookup
async def key_figures(call: Visitor, given: lookup_forms.KeyFigures) -> KeyFiguresOut:
    """Lists the key figures of a document."""
    sheet = await _in_turn(call, call.store.chatbot.lookups.key_figures, given)
    return key_figures_out(sheet)


@_lookup
async def calculate(call: Visitor, given: lookup_forms.Calculate) -> WorkedOut:
    """Works out arithmetic."""
    worked_out = call.store.chatbot.lookups.calculate(given)
    return WorkedOut(expression=worked_out.expression, value=worked_out.value)


@_lookup
async def list_documents(call: Visitor, given: lookup_forms.ListDocuments) -> ListedDocuments:
    """Lists the documents that can be asked."""
    chatbot = call.store.chatbot
    titles = await asyncio.to_thread(chatbot.titles)
    rows = [document_out(row, titles) for row in chatbot.documents() if row.state != "removed"]
    return ListedDocuments(documents=rows)


@_tool(
    "ask",
    "Asks one question of several documents or years, and returns each figure with its page and change.",
    "Compare documents or years",
)
async def compare(call: Visitor, given: CompareDocuments) -> ComparedEntries:
    """Asks one question of several documents or years. If the call is cancelled, the work stops."""
    comparison = Comparison.of(given.question, given.documents, given.years)
    stopped = threading.Event()
    try:
        async with call.turns.of(call.caller.owner):
            # Abandoned, the thread ends by itself as soon as it looks whether it is stopped.
            lines = await asyncio.to_thread(
                compared_lines, call.store.chatbot, comparison, call.caller.owner, stop=stopped.is_set
            )
        return ComparedEntries.model_validate({"entries": lines})
    finally:
        stopped.set()


@_tool("manage", _ADDS, "Add a document", is_here=True)
async def add_path(call: Visitor, given: AddPath) -> JobOut:
    """Adds a file of this machine. Raises DocumentError for one that cannot be read."""
    path = Path(given.path).expanduser()
    if not await asyncio.to_thread(path.is_file):
        raise DocumentError("There is no file at this path.", hint="Give the whole path of one file.")
    return await _added(call, NewFile(given.name or path.name, path))


@_tool("manage", _ADDS, "Add a document", is_here=False)
async def add_content(call: Visitor, given: AddContent) -> JobOut:
    """Adds a file that was sent. Raises DocumentError for one that is too large, or no base64."""
    if len(given.content) > MOST_CONTENT * 4 // 3 + 4:
        raise DocumentError(
            f"The file is larger than {MOST_CONTENT:,} bytes.",
            hint=f"Send it to POST /api/v1/documents, or run `{PROGRAM} add` where it is.",
        )
    try:
        data = base64.b64decode(given.content, validate=True)
    except (binascii.Error, ValueError) as error:
        raise DocumentError("`content` is not base64.", hint="Encode the file's bytes in base64.") from error
    return await _added(call, NewFile(given.name, BytesIO(data)))


def page_address(row: DocumentRow, page: int) -> str:
    """Returns the address of a page as a resource."""
    return ADDRESS.format(id=row.id, page=page)


async def _added(call: Visitor, file: NewFile) -> JobOut:
    additions = call.store.additions
    (number,) = await asyncio.to_thread(additions.enqueue, [file])
    end = time.monotonic() + ADD_SECONDS
    while (job := _job(call, number)).busy and job.result is None and time.monotonic() < end:
        await asyncio.sleep(TICK_SECONDS)
    shown = job_out(call.store, job)
    if job.phase == "failed":
        raise DocumentError(shown.problem or "The file could not be added.", hint="Send another file.")
    return shown


def _job(call: Visitor, number: int) -> Job:
    for job in call.store.additions.jobs():
        if job.id == number:
            return job
    raise DocumentError("The addition was cancelled.", hint="Add the file again.")


def _page(store: AppContext, given: GetDrawnPage) -> tuple[PageText, bytes]:
    chatbot = store.chatbot
    version, name = chatbot.lookups.document(given.document)
    row = find_row(store, name)
    if given.page > row.pages:
        raise NotFoundError(f"There is no page {given.page:,}. Its last page is {row.pages:,}.")
    try:
        page = chatbot.library.catalog.page(version, given.page)
    except KeyError as error:
        raise NotFoundError("That page is no longer stored.", hint="List the documents again.") from error
    png = chatbot.page_image(version, given.page)[0] if given.image else b""
    text = PageText(
        document=row.name,
        page=page.number,
        page_label=page.label,
        pages=row.pages,
        text=page.text,
        resource=page_address(row, page.number),
    )
    return text, png


def _with_pages(call: Visitor, lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the lines, each with the address of its page."""
    rows = {row.name: row for row in call.store.chatbot.documents()}
    return [{**line, "resource": _resource(rows, line)} for line in lines]


def _resource(rows: dict[str, DocumentRow], line: dict[str, Any]) -> str | None:
    row, page = rows.get(line["document"] or ""), line["page"]
    return page_address(row, page) if row is not None and page else None
