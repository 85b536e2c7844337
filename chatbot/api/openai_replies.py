"""Writes answers as OpenAI's clients read them: text with citations, a list of sources, annotations."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from chatbot.api.answer_lines import document_ids, page_url
from chatbot.api.host import Opened
from chatbot.models.tokens import count_tokens
from chatbot.records import Answer, Citation
from chatbot.serialize import neutral_markdown

__all__ = ["Completion", "with_sources"]

UNPLAIN = re.compile(r"\[[^\]\n]{0,80}\]|\W+")
LONGEST_QUOTE = 300
CHECKED = "After its check the answer reads:"


def with_sources(answer: Answer, sent: str = "") -> str:
    """Returns the text of an answer and the list of its sources.

    sent: what a reader has already. It stays at the beginning; the checked text follows if it says something
        else.
    """
    text = neutral_markdown(answer.text)
    if sent and text.startswith(sent):
        body = text
    elif sent and _plain(text) == _plain(sent):
        body = sent
    elif sent:
        body = f"{sent}\n\n{CHECKED}\n\n{text}"
    else:
        body = text
    notices = "\n".join(f"Note: {notice}" for notice in answer.notices)
    beside = "\n\n".join(filter(None, [notices, _sources(answer.citations)]))
    return f"{body.rstrip()}\n\n{neutral_markdown(beside, answer.citations)}".rstrip()


def _plain(text: str) -> str:
    return UNPLAIN.sub("", text)


def _sources(citations: Sequence[Citation]) -> str:
    """A line for each page that is cited."""
    lines = {}
    for citation in citations:
        if citation.document is not None and citation.key not in lines:
            lines[citation.key] = f"[{citation.key}] {_place(citation)}: {citation.verdict}"
    return "\n".join(["Sources:", *lines.values()]) if lines else ""


def _place(citation: Citation) -> str:
    if (citation.version or 0) < 0:
        return str(citation.document)
    return f"{citation.document}, page {citation.page}"


class Completion:
    """One completion: a reply, or the events of one."""

    def __init__(self, model: str, opened: Opened, base: str) -> None:
        """model: as it was asked for. base: the address of this server, see `shown_answer`."""
        self._model, self._opened, self._base = model, opened, base
        self._id, self._created = f"chatcmpl-{secrets.token_hex(12)}", int(time.time())

    def whole(self, answer: Answer) -> dict[str, Any]:
        """Returns the reply."""
        content = with_sources(answer)
        message = {
            "role": "assistant",
            "content": content,
            "refusal": None,
            "annotations": self.annotations(answer, content),
        }
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
        head = self._head("chat.completion")
        return {**head, **_written(answer), "choices": [choice], "usage": usage_of_answer(answer)}

    def last(self, answer: Answer, content: str) -> dict[str, Any]:
        """Returns the event that ends the message, with what is known of it."""
        event = self.event({"annotations": self.annotations(answer, content)}, "stop")
        return {**event, **_written(answer)}

    def event(self, delta: Mapping[str, Any], finish: str | None = None) -> dict[str, Any]:
        """Returns an event with a piece of the message."""
        choice = {"index": 0, "delta": dict(delta), "logprobs": None, "finish_reason": finish}
        return {**self._head("chat.completion.chunk"), "choices": [choice]}

    def counted(self, answer: Answer) -> dict[str, Any]:
        """Returns the last event, which counts the tokens."""
        return {**self._head("chat.completion.chunk"), "choices": [], "usage": usage_of_answer(answer)}

    def annotations(self, answer: Answer, content: str) -> list[dict[str, Any]]:
        """Returns what is known of each citation, with the place of its key in the text."""
        found = []
        at = 0
        ids = document_ids(self._opened, (citation.document for citation in answer.citations))
        for citation in answer.citations:
            if citation.document is None:
                continue
            key = f"[{citation.key}]"
            start = content.find(key, at)
            at = start + len(key) if start >= 0 else at
            place = {
                "start_index": max(0, start),
                "end_index": max(0, start) + len(key) if start >= 0 else 0,
                "title": _place(citation),
                "url": page_url(self._opened, citation, ids, self._base) or "",
            }
            found.append(
                {
                    "type": "url_citation",
                    "url_citation": place,
                    "key": citation.key,
                    "document": citation.document,
                    "document_id": ids.get(citation.document),
                    "page": citation.page,
                    "quote": citation.quote[:LONGEST_QUOTE],
                    "verified": citation.verified,
                }
            )
        return found

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": self._id, "object": kind, "created": self._created, "model": self._model}


def _written(answer: Answer) -> dict[str, Any]:
    """What clients of OpenAI's own models do not have; if the chat model failed, also what wrote instead."""
    failure = answer.failure and asdict(answer.failure)
    more = {"model": answer.model, "answered": answer.answered, "model_error": failure}
    return {"finpolicy": more, **({"model": answer.model} if failure else {})}


def usage_of_answer(answer: Answer) -> dict[str, int]:
    """Returns the tokens of an answer; without a chat model, those of the question and the text."""
    used = answer.usage
    prompt = used.prompt_tokens if used else count_tokens(answer.question)
    written = used.answer_tokens if used else count_tokens(answer.text)
    return {"prompt_tokens": prompt, "completion_tokens": written, "total_tokens": prompt + written}
