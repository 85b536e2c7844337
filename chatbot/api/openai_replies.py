"""Writes answers as OpenAI's clients read them: text with citations, a list of sources, annotations."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import count
from typing import Any

from chatbot.api.answer_lines import document_ids, page_url
from chatbot.api.streaming import sse
from chatbot.app.app_context import AppContext
from chatbot.mark_lines import least_sure, mark_lines
from chatbot.models.tokens import count_tokens
from chatbot.records import Answer, Citation
from chatbot.serialize import neutral_markdown

__all__ = ["Completion", "ModelResponse", "with_sources"]

UNPLAIN = re.compile(r"\[[^\]\n]{0,80}\]|\W+")
LONGEST_QUOTE = 300
CITATION = "url_citation"
DONE = b"data: [DONE]\n\n"
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
    beside = "\n\n".join(filter(None, [notices, _sources(answer.citations), "\n".join(mark_lines(answer))]))
    return f"{body.rstrip()}\n\n{neutral_markdown(beside, answer.citations)}".rstrip()


def _plain(text: str) -> str:
    return UNPLAIN.sub("", text)


def _sources(citations: Sequence[Citation]) -> str:
    """A line for each page that is cited."""
    lines = [
        f"[{key}] {_place(citation)}: {citation.verdict}"
        for key, citation in least_sure(citations).items()
        if citation.document is not None
    ]
    return "\n".join(["Sources:", *lines]) if lines else ""


def _place(citation: Citation) -> str:
    if (citation.version or 0) < 0:
        return str(citation.document)
    return f"{citation.document}, page {citation.page}"


class _ModelReply:
    """One reply in a form that OpenAI's clients read, whole or as the events of a stream."""

    def __init__(self, model: str, opened: AppContext, base: str) -> None:
        """model: as it was asked for. base: the address of this server, see `shown_answer`."""
        self._model, self.opened, self._base = model, opened, base
        self._mark, self._created = secrets.token_hex(12), int(time.time())

    def _annotations(self, answer: Answer, content: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """Returns of each citation the place of its key in the text, and what else is known."""
        found = []
        at = 0
        ids = document_ids(self.opened, (citation.document for citation in answer.citations))
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
                "url": page_url(self.opened, citation, ids, self._base) or "",
            }
            known = {
                "key": citation.key,
                "document": citation.document,
                "document_id": ids.get(citation.document),
                "page": citation.page,
                "quote": citation.quote[:LONGEST_QUOTE],
                "verified": citation.verified,
            }
            found.append((place, known))
        return found


class Completion(_ModelReply):
    """A chat completion."""

    def __init__(self, model: str, opened: AppContext, base: str, *, counts: bool) -> None:
        """counts: whether a last event counts the tokens. See _ModelReply.__init__."""
        super().__init__(model, opened, base)
        self._counts = counts

    def whole(self, answer: Answer, content: str) -> dict[str, Any]:
        """Returns the whole reply. content: the answer's text, or what was made of it."""
        message = {
            "role": "assistant",
            "content": content,
            "refusal": None,
            "annotations": self._notes(answer, content),
        }
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
        head = self._head("chat.completion")
        return {**head, **_written(answer), "choices": [choice], "usage": usage_of_answer(answer)}

    def begin(self) -> Iterator[bytes]:
        """Yields the events before the text."""
        yield sse(self._event({"role": "assistant", "content": ""}))

    def piece(self, text: str) -> bytes:
        """Returns the event of a piece of the text."""
        return sse(self._event({"content": text}))

    def end(self, answer: Answer, content: str) -> Iterator[bytes]:
        """Yields the events after the text. content: all of it."""
        last = self._event({"annotations": self._notes(answer, content)}, "stop")
        yield sse({**last, **_written(answer)})
        if self._counts:
            head = self._head("chat.completion.chunk")
            yield sse({**head, "choices": [], "usage": usage_of_answer(answer)})
        yield DONE

    def failed(self, error: dict[str, Any]) -> Iterator[bytes]:
        """Yields the events after which there is no answer. error: see `openai_error`."""
        yield sse(error)
        yield DONE

    def _notes(self, answer: Answer, content: str) -> list[dict[str, Any]]:
        return [
            {"type": CITATION, CITATION: place, **known}
            for place, known in self._annotations(answer, content)
        ]

    def _event(self, delta: Mapping[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": dict(delta), "logprobs": None, "finish_reason": finish}
        return {**self._head("chat.completion.chunk"), "choices": [choice]}

    def _head(self, kind: str) -> dict[str, Any]:
        return {
            "id": f"chatcmpl-{self._mark}",
            "object": kind,
            "created": self._created,
            "model": self._model,
        }


class ModelResponse(_ModelReply):
    """A response of the address that newer clients use."""

    def __init__(self, model: str, opened: AppContext, base: str) -> None:
        """See _ModelReply.__init__."""
        super().__init__(model, opened, base)
        self._numbers = count()

    def whole(self, answer: Answer, content: str) -> dict[str, Any]:
        """Returns the whole reply. content: the answer's text, or what was made of it."""
        used = usage_of_answer(answer)
        usage = {
            "input_tokens": used["prompt_tokens"],
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": used["completion_tokens"],
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": used["total_tokens"],
        }
        message = self._message("completed", [self._part(content, self._notes(answer, content))])
        return self._response("completed", output=[message], usage=usage) | _written(answer)

    def begin(self) -> Iterator[bytes]:
        """Yields the events before the text."""
        for kind in ("created", "in_progress"):
            yield self._event(kind, response=self._response("in_progress"))
        yield self._event("output_item.added", output_index=0, item=self._message("in_progress", []))
        yield self._event("content_part.added", **self._at, part=self._part("", []))

    def piece(self, text: str) -> bytes:
        """Returns the event of a piece of the text."""
        return self._event("output_text.delta", **self._at, delta=text, logprobs=[])

    def end(self, answer: Answer, content: str) -> Iterator[bytes]:
        """Yields the events after the text. content: all of it."""
        notes = self._notes(answer, content)
        part = self._part(content, notes)
        for number, note in enumerate(notes):
            yield self._event(
                "output_text.annotation.added", **self._at, annotation_index=number, annotation=note
            )
        yield self._event("output_text.done", **self._at, text=content, logprobs=[])
        yield self._event("content_part.done", **self._at, part=part)
        yield self._event("output_item.done", output_index=0, item=self._message("completed", [part]))
        yield self._event("completed", response=self.whole(answer, content))

    def failed(self, error: dict[str, Any]) -> Iterator[bytes]:
        """Yields the events after which there is no answer. error: see `openai_error`."""
        told = {"code": error["error"]["code"], "message": error["error"]["message"]}
        yield self._event("failed", response=self._response("failed", error=told))

    @property
    def _at(self) -> dict[str, Any]:
        """Where the text is: in the first part of the only message."""
        return {"item_id": f"msg_{self._mark}", "output_index": 0, "content_index": 0}

    def _notes(self, answer: Answer, content: str) -> list[dict[str, Any]]:
        return [{"type": CITATION, **place, **known} for place, known in self._annotations(answer, content)]

    def _part(self, text: str, notes: list[dict[str, Any]]) -> dict[str, Any]:
        return {"type": "output_text", "text": text, "annotations": notes, "logprobs": []}

    def _message(self, status: str, content: list[dict[str, Any]]) -> dict[str, Any]:
        role = {"role": "assistant", "status": status}
        return {"id": f"msg_{self._mark}", "type": "message", **role, "content": content}

    def _response(self, status: str, **more: Any) -> dict[str, Any]:
        return {
            "id": f"resp_{self._mark}",
            "object": "response",
            "created_at": self._created,
            "status": status,
            "model": self._model,
            "output": [],
            "error": None,
            "incomplete_details": None,
            "instructions": None,
            "metadata": {},
            "parallel_tool_calls": False,
            "previous_response_id": None,
            "store": False,
            "temperature": None,
            "text": {"format": {"type": "text"}},
            "tool_choice": "auto",
            "tools": [],
            "top_p": None,
            "usage": None,
            **more,
        }

    def _event(self, kind: str, **fields: Any) -> bytes:
        name = f"response.{kind}"
        event = {"type": name, "sequence_number": next(self._numbers), **fields}
        return sse(event, name)


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
