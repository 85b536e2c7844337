"""Lists the tools that look things up in documents: their arguments, and their descriptions for models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from chatbot.calculator import LONGEST_EXPRESSION
from chatbot.forms import Strict
from chatbot.models.tool_calls import OfferedTool

__all__ = [
    "LOOKUP_TOOLS",
    "MOST_PAGES",
    "Calculate",
    "FindText",
    "GetOutline",
    "GetPage",
    "KeyFigures",
    "ListDocuments",
    "LookupTool",
    "SearchDocuments",
]

# Documents, years and pages of one search.
MOST_DOCUMENTS, MOST_YEARS, MOST_PAGES = 1_000, 20, 100
UNSAID = frozenset("title minLength maxLength maxItems minimum maximum pattern".split())
Document = Annotated[
    str, Field(min_length=1, max_length=1_000, pattern=r"\S", description="A document's name, id or title.")
]
Year = Annotated[int, Field(ge=1_000, le=9_999)]


class SearchDocuments(Strict):
    """The arguments of `search_documents`."""

    query: Annotated[
        str,
        Field(
            min_length=1,
            max_length=1_000,
            pattern=r"\S",
            description="What the page says, in the documents' language.",
        ),
    ]
    documents: Annotated[
        list[Document],
        Field(
            default_factory=list,
            max_length=MOST_DOCUMENTS,
            description="Documents to stay in; all without any.",
        ),
    ]
    years: Annotated[
        list[Year],
        Field(
            default_factory=list,
            max_length=MOST_YEARS,
            description="Years that the pages are to be about; any without.",
        ),
    ]
    k: Annotated[int, Field(ge=1, le=MOST_PAGES, description="How many pages.")] = 3


class GetPage(Strict):
    """The arguments of `get_page`."""

    document: Document
    page: Annotated[int, Field(ge=1, le=1_000_000, description="Counted from 1, covers included.")]


class GetOutline(Strict):
    """The arguments of `get_outline`."""

    document: Document


class FindText(Strict):
    """The arguments of `find_text`."""

    document: Document
    words: Annotated[
        str,
        Field(
            min_length=1, max_length=200, pattern=r"\S", description="Words or a figure, exactly as printed."
        ),
    ]


class KeyFigures(Strict):
    """The arguments of `key_figures`."""

    document: Document


class Calculate(Strict):
    """The arguments of `calculate`."""

    expression: Annotated[
        str,
        Field(
            min_length=1,
            max_length=LONGEST_EXPRESSION,
            description="Arithmetic with figures as the pages print them, such as (1,209 - 1,180) / 1,180 * "
            "100. There are + - * / ** ( ) % and min, max, mean, sum, count, abs.",
        ),
    ]


class ListDocuments(Strict):
    """The arguments of `list_documents`: none."""


@dataclass(frozen=True, slots=True)
class LookupTool:
    """A tool: the form of its arguments, its description for models, and its title for people."""

    takes: type[Strict]
    text: str
    title: str

    def offered(self, name: str) -> OfferedTool:
        """The tool as a chat model sees it: what only a check needs is left out of its schema."""
        schema = _for_models(self.takes.model_json_schema())
        del schema["description"]  # of the class
        return OfferedTool(name, self.text, schema)


def _for_models(schema: Any) -> Any:
    """A schema without titles and limits, which cost tokens in each request."""
    if isinstance(schema, dict):
        return {
            name: _for_models(value) if name != "properties" else _each(value)
            for name, value in schema.items()
            if name not in UNSAID
        }
    return schema


def _each(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _for_models(schema) for name, schema in properties.items()}


LOOKUP_TOOLS: Mapping[str, LookupTool] = {
    "search_documents": LookupTool(
        SearchDocuments,
        "Finds the pages for a query, the best first, with the passage that fits it.",
        "Search the documents",
    ),
    "get_page": LookupTool(GetPage, "Returns the whole text of one page.", "Read a page"),
    "get_outline": LookupTool(
        GetOutline,
        "Lists a document's headings and the captions of its tables, with their pages.",
        "Read the headings of a document",
    ),
    "find_text": LookupTool(
        FindText,
        "Finds words or a figure on the pages of a document, exactly as printed, with the text around them.",
        "Find words in a document",
    ),
    "key_figures": LookupTool(
        KeyFigures,
        "Lists the key figures of a document, such as revenue, profit, debt or deficit, each with its page.",
        "Read the key figures of a document",
    ),
    "calculate": LookupTool(
        Calculate,
        "Works out arithmetic exactly. Use it for each figure that no page prints.",
        "Calculate",
    ),
    "list_documents": LookupTool(
        ListDocuments,
        "Lists the documents that can be asked, with their names, titles and pages.",
        "List the documents",
    ),
}
