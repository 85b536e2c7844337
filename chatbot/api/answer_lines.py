"""Writes an answer as the API returns it: the fields of `finpolicy ask --json`, for its caller."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from chatbot.api.page_links import link_to
from chatbot.app.app_context import AppContext
from chatbot.memory.conversations.conversation_names import name_of
from chatbot.records import Answer, Citation, document_id
from chatbot.serialize import WEB, answer_line

__all__ = ["document_ids", "page_url", "shown_answer"]


def shown_answer(opened: AppContext, answer: Answer, base: str = "") -> dict[str, Any]:
    """Returns the fields of an answer.

    The conversation has the name that its caller chose, and each citation the id of its document and the
    address of its page, which anyone who has it can open for a day.

    base: the address of this server, with a slash at its end; "" for a caller who has none.
    """
    line = answer_line(answer)
    ids = document_ids(opened, (citation.document for citation in answer.citations))
    citations = [
        {
            **shown,
            "document_id": ids.get(citation.document or ""),
            "url": page_url(opened, citation, ids, base),
        }
        for shown, citation in zip(line["citations"], answer.citations, strict=True)
    ]
    conversation = answer.conversation and name_of(answer.conversation)
    return {"model_error": None, **line, "citations": citations, "conversation": conversation}


def document_ids(opened: AppContext, names: Iterable[str | None]) -> dict[str, str]:
    """Returns the id of each of these documents that is there, or removed, by name."""
    is_there = opened.chatbot.library.catalog.is_there
    return {name: document_id(name) for name in set(names) if name and is_there(name)}


def page_url(opened: AppContext, citation: Citation, ids: dict[str, str], base: str) -> str | None:
    """Returns the address of the page that is cited, None for none. A web page has its own.

    ids, base: see `document_ids` and `shown_answer`.
    """
    if (citation.version or 0) < 0:
        address = citation.document or ""
        return address if address.startswith(WEB) else None
    document = ids.get(citation.document or "")
    page = citation.page
    if not base or not document or page is None:
        return None
    server = opened.settings.public_url.rstrip("/") or base.rstrip("/")
    link = link_to(opened.chatbot.library.catalog, document, page)
    return f"{server}/api/v1/documents/{document}/pages/{page}{link}"
