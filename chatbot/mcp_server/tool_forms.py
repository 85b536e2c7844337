"""Defines what the tools take and return: one source for their validation and their description."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field, StrictBool

from chatbot.api.schemas import (
    MOST_NAMES,
    AnswerOut,
    CitationOut,
    CompareIn,
    ComparisonOut,
    ConversationName,
    DocumentOut,
    HitOut,
    Identifier,
    Name,
    Question,
    Strategy,
)
from chatbot.forms import Strict
from chatbot.lookup import lookup_forms

__all__ = [
    "MOST_CONTENT",
    "AddContent",
    "AddPath",
    "AskDocuments",
    "CitedAnswer",
    "CitedPage",
    "CompareDocuments",
    "ComparedEntries",
    "FoundPage",
    "FoundPages",
    "GetDrawnPage",
    "ListedDocuments",
    "PageText",
    "SearchByStrategy",
    "WorkedOut",
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
