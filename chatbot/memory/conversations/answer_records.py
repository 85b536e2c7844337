"""Packs answers for storage, without the pages' text, and writes their words with pages in place of keys."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from chatbot.mark_lines import SHOWN_KEYS
from chatbot.records import Answer, Hit
from chatbot.serialize import answer_record

if TYPE_CHECKING:
    from pydantic import TypeAdapter

__all__ = [
    "CITED",
    "answer_in",
    "cited_text",
    "pack_answer",
    "packed",
    "page_named",
    "unpack_answer",
    "unpacked",
    "with_versions",
    "without_versions",
]

KEY = re.compile(r"S\d{1,4}")
# Pages as cited_text writes them. A file's name may hold brackets of its own: "(Budget (1).pdf, p. 8;
# Annex.pdf, p. 2)".
CITED = re.compile(
    r"\((?P<pages>(?:[^()]|\([^()]{0,100}\)){1,300}?, p\. \d{1,6}(?:;(?:[^()]|\([^()]{0,100}\)){1,300})?)\)"
)
ERASED = "(This document was erased.)"
# An unpacked answer is a prompt of some 50 KB and as much again. Anything longer was not packed here.
LONGEST_RECORD = 50_000_000


def pack_answer(answer: Answer, files: Mapping[int, str]) -> bytes:
    """The answer as compressed JSON. Hits lack the page's text and tables.

    files: SHA-256 of the file of each version that it refers to.
    """
    digests = {str(version): digest for version, digest in files.items()}
    return packed({"answer": answer_record(answer), "files": digests})


def packed(record: Mapping[str, Any]) -> bytes:
    """The record of an answer as it is stored."""
    text = json.dumps(record, ensure_ascii=False)
    return zlib.compress(text.encode("utf-8", "replace"), 6)


def unpack_answer(data: bytes) -> tuple[Answer, dict[int, str]]:
    """(answer, files) as pack_answer got them. Raises ValueError for any other data."""
    return answer_in(unpacked(data))


def unpacked(data: bytes) -> dict[str, Any]:
    """The record of an answer: {"answer", "files"}. Raises ValueError for other data."""
    try:
        unpacking = zlib.decompressobj()
        text = unpacking.decompress(data, LONGEST_RECORD)
        if unpacking.unconsumed_tail or not unpacking.eof:
            raise ValueError("it is incomplete or too long")
        record = json.loads(text)
        return {"answer": record["answer"], "files": record["files"]}
    except (zlib.error, TypeError, KeyError, RecursionError) as error:
        raise ValueError(str(error)) from error


def answer_in(record: Mapping[str, Any]) -> tuple[Answer, dict[int, str]]:
    """(answer, files) of such a record. Raises ValueError if it holds anything else."""
    try:
        json.dumps(record["answer"], allow_nan=False)  # no client reads NaN, and none its thousands of digits
        answer = _adapter().validate_python(record["answer"])
        return answer, {int(version): str(digest) for version, digest in record["files"].items()}
    except (TypeError, AttributeError, KeyError, RecursionError) as error:
        raise ValueError(str(error)) from error


@cache
def _adapter() -> TypeAdapter[Answer]:
    from pydantic import TypeAdapter

    return TypeAdapter(Answer)


def without_versions(answer: Answer, versions: Collection[int]) -> Answer:
    """The answer without text of these versions, except what it says and quotes itself.

    Their passages go, and the prompt's messages if it held any of them.
    """

    def stripped(hit: Hit) -> Hit:
        if hit.version in versions:
            return replace(hit, text="", context="")
        return hit

    changed = _with_hits(answer, stripped)
    prompt = changed.prompt
    if prompt is None or not any(hit.version in versions for hit in prompt.sources.values()):
        return changed
    messages = tuple((role, content if role == "system" else ERASED) for role, content in prompt.messages)
    return replace(changed, prompt=replace(prompt, messages=messages))


def with_versions(answer: Answer, now: Mapping[int, int | None]) -> Answer:
    """The answer with the versions that its files have today.

    now: today's id for each id in the answer, None if the file is gone. Citations of such a file cannot be
    opened, and its hits get version 0.
    """

    def updated(hit: Hit) -> Hit:
        return replace(hit, version=now.get(hit.version) or 0)

    citations = tuple(
        replace(citation, version=now.get(citation.version) if citation.version else None)
        for citation in answer.citations
    )
    return replace(_with_hits(answer, updated), citations=citations)


def _with_hits(answer: Answer, change: Callable[[Hit], Hit]) -> Answer:
    """The answer with change(hit) in place of each hit."""
    prompt = answer.prompt
    if prompt:
        sources = {key: change(hit) for key, hit in prompt.sources.items()}
        prompt = replace(prompt, sources=sources)
    return replace(answer, considered=tuple(map(change, answer.considered)), prompt=prompt)


def cited_text(answer: Answer) -> str:
    """The answer's words with "(report.pdf, p. 7)" in place of each known key.

    It is for readers who do not see the citations.
    """
    pages: dict[str, str] = {}
    for citation in answer.citations:
        # A key that is cited several times stands for its first page.
        if citation.document is not None and citation.key not in pages:
            if (citation.version or 0) < 0:  # a web page is one page
                pages[citation.key] = citation.document
            else:
                pages[citation.key] = page_named(citation.document, citation.page)

    def named(found: re.Match[str]) -> str:
        keys = KEY.findall(found[1])
        if pages.keys() >= set(keys):
            names = dict.fromkeys(pages[key] for key in keys)
            return f"({'; '.join(names)})"
        return found[0]

    return SHOWN_KEYS.sub(named, answer.text)


def page_named(document: str, page: int | None) -> str:
    """A page as cited_text names it. page: physical, 1-based."""
    return f"{document}, p. {page}"
