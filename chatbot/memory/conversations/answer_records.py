"""Answers as they are kept: packed whole but for the pages' text, which the catalogue has; and their words
with pages in the place of keys.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from chatbot.records import Answer, Hit
from chatbot.serialize import answer_record

if TYPE_CHECKING:
    from pydantic import TypeAdapter

__all__ = [
    "CITED",
    "cited_text",
    "pack_answer",
    "page_named",
    "unpack_answer",
    "with_versions",
    "without_versions",
]

# As answers show them: one or more keys in square brackets.
KEYS = re.compile(r"\[(S\d{1,4}(?:[,; ]{1,3}S\d{1,4}){0,20})\]")
KEY = re.compile(r"S\d{1,4}")
# Pages as cited_text writes them; a name of a file may hold brackets of its own: "(Budget (1).pdf, p. 8;
# Annex.pdf, p. 2)".
CITED = re.compile(
    r"\((?P<pages>(?:[^()]|\([^()]{0,100}\)){1,300}?, p\. \d{1,6}(?:;(?:[^()]|\([^()]{0,100}\)){1,300})?)\)"
)
ERASED = "(The document this stood in was erased.)"
# An unpacked answer is a prompt of some 50 KB and as much again; more is not what was packed.
LONGEST_RECORD = 50_000_000


def pack_answer(answer: Answer, files: Mapping[int, str]) -> bytes:
    """The answer as compressed JSON. Of hits, all but the page's text and tables. files: SHA-256 of the
    file of each version it speaks of.
    """
    record = {
        "answer": answer_record(answer),
        "files": {str(version): digest for version, digest in files.items()},
    }
    return zlib.compress(json.dumps(record, ensure_ascii=False).encode("utf-8", "replace"), 6)


def unpack_answer(data: bytes) -> tuple[Answer, dict[int, str]]:
    """(answer, files) as pack_answer took them. Raises ValueError where it is anything else."""
    try:
        unpacking = zlib.decompressobj()
        text = unpacking.decompress(data, LONGEST_RECORD)
        if unpacking.unconsumed_tail or not unpacking.eof:
            raise ValueError("it is cut short, or too long")
        record = json.loads(text)
        return _adapter().validate_python(record["answer"]), {
            int(version): str(digest) for version, digest in record["files"].items()
        }
    except (zlib.error, TypeError, AttributeError, KeyError, RecursionError) as error:
        raise ValueError(str(error)) from error


@cache
def _adapter() -> TypeAdapter[Answer]:
    from pydantic import TypeAdapter

    return TypeAdapter(Answer)


def without_versions(answer: Answer, versions: Collection[int]) -> Answer:
    """The answer without text of these versions but what it says and quotes itself: their passages, and
    the prompt's messages where it held any.
    """

    changed = _with_hits(
        answer, lambda hit: replace(hit, text="", context="") if hit.version in versions else hit
    )
    prompt = changed.prompt
    if prompt is not None and any(hit.version in versions for hit in prompt.sources.values()):
        messages = tuple((role, content if role == "system" else ERASED) for role, content in prompt.messages)
        changed = replace(changed, prompt=replace(prompt, messages=messages))
    return changed


def with_versions(answer: Answer, now: Mapping[int, int | None]) -> Answer:
    """The answer with the versions that its files have today. now: today's id for each id in the answer, None
    where the file is not there any more, for which citations cannot be opened and hits have version 0."""

    citations = tuple(
        replace(citation, version=now.get(citation.version) if citation.version else None)
        for citation in answer.citations
    )
    return replace(
        _with_hits(answer, lambda hit: replace(hit, version=now.get(hit.version) or 0)), citations=citations
    )


def _with_hits(answer: Answer, change: Callable[[Hit], Hit]) -> Answer:
    """The answer with change(hit) in the place of each hit."""
    prompt = answer.prompt and replace(
        answer.prompt, sources={key: change(hit) for key, hit in answer.prompt.sources.items()}
    )
    return replace(answer, considered=tuple(map(change, answer.considered)), prompt=prompt)


def cited_text(answer: Answer) -> str:
    """The answer's words with "(report.pdf, p. 7)" in the place of each known key, for whoever reads it
    without its citations.
    """
    # Of a key that is cited several times the first page.
    pages = {
        one.key: page_named(one.document, one.page)
        for one in reversed(answer.citations)
        if one.document is not None
    }

    def named(found: re.Match[str]) -> str:
        keys = KEY.findall(found[1])
        if pages.keys() >= set(keys):
            return f"({'; '.join(dict.fromkeys(pages[key] for key in keys))})"
        return found[0]

    return KEYS.sub(named, answer.text)


def page_named(document: str, page: int | None) -> str:
    """A page as cited_text names it. page: physical, 1-based."""
    return f"{document}, p. {page}"
