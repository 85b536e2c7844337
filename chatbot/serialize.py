"""Writes answers and hits as JSON objects: output lines for programs, and full records of kept answers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from chatbot.records import NOT_IN_DOCUMENTS, NOT_SO_FAR, NOT_SURE
from ingestion.invisible_characters import visible

if TYPE_CHECKING:
    from chatbot.comparison.model_answers import ComparedAnswer, ComparedFigure
    from chatbot.records import Answer, Citation, Hit, Statement

__all__ = [
    "WEB",
    "answer_line",
    "answer_record",
    "compared_line",
    "fields_of",
    "hit_line",
    "neutral_markdown",
]

CITATION = (
    "key",
    "document",
    "page",
    "page_label",
    "quote",
    "verified",
    "reason",
    "confidence",
    "instructs",
    "basis",
    "doubted",
)
STATEMENT = ("text", "status", "citation", "verdict", "mark", "difference", "read_by")
READING = ("model", "host", "reason")
NOTE = ("layer", "source", "text")
UNDERSTANDING = ("subject", "form", "years", "relative_years", "names", "measures", "kinds", "compares")
COMPARED = ("name", "host", "problem", "seconds", "statements", "holding", "figures", "right", "notices")
# What begins a link, an image, a link's definition, HTML, an address, an entity, or a link in LaTeX. The last
# character that makes it one follows, so that a text that is still being written stays the beginning of
# itself.
LIVE_MARKDOWN = re.compile(
    r"\](?=[(:])|<(?=[A-Za-z/!?])|/\\?(?=/)|www\\?(?=\.)|&#?\w{1,31}(?=;)|\\hre(?=f)", re.IGNORECASE
)
# Stands unseen where it keeps two characters apart. Terminals get it as it is, see `visible`.
NON_JOINER = "\u200c"
WEB = ("https://", "http://")
# What follows a cited address: in the text of an answer, or in its list of sources.
CITED_ENDS = (")", ";", ": ")
COMPRESSION = ("original_tokens", "compressed_tokens", "chunks_compressed")


def neutral_markdown(text: str, cited: Iterable[Citation] = ()) -> str:
    """Returns a text that clients may draw as Markdown: nothing in it is loaded, leads anywhere or is HTML.

    Lists, tables, bold text and code stay, and every character is still read. Those that are unseen, or that
    turn what follows around, are written out.

    cited: the addresses of web pages among these stay addresses where they are cited. One that only begins
        like them does not.
    """
    neutral = LIVE_MARKDOWN.sub(_kept_apart, visible(text))
    for citation in cited:
        address = citation.document or ""
        if (citation.version or 0) < 0 and address.startswith(WEB):
            written = LIVE_MARKDOWN.sub(_kept_apart, address)
            shown = written.replace(f"/{NON_JOINER}/", "//", 1).replace(f"www{NON_JOINER}.", "www.", 1)
            for end in CITED_ENDS:
                neutral = neutral.replace(f"{written}{end}", f"{shown}{end}")
    return neutral


def _kept_apart(found: re.Match[str]) -> str:
    return found[0] + NON_JOINER


def hit_line(rank: int, hit: Hit) -> dict[str, Any]:
    """Returns a hit as `search --json` prints it.

    rank: counted from 1.

    "chunk_match" is present only if a single piece of a long query gave the score.
    """
    fields = fields_of(
        hit, ("document", "page", "page_label", "score", "extraction_method", "chunk_id", "text")
    )
    if hit.chunk_match is None:
        match = {}
    else:
        match = {"chunk_match": hit.chunk_match}
    return {"rank": rank, **fields, "scores": dict(hit.scores), **match}


def answer_line(answer: Answer) -> dict[str, Any]:
    """Returns an answer as `ask --json` prints it. Its texts are Markdown without links, images and HTML.

    Notices follow the notes, with the layer "notice". "error" and "model_error" are present only if the
    chat model failed.
    """
    shortened = answer.compression
    first, further = answer.first, answer.further
    if not (answer.answered or answer.by_model):
        begun = next((one for one in (NOT_IN_DOCUMENTS, NOT_SO_FAR, NOT_SURE) if first.startswith(one)), "")
        if begun:
            first, _, further = first.removeprefix(begun).lstrip().partition("\n\n")
    return {
        "answer": neutral_markdown(first),
        "further": neutral_markdown(further),
        "fit": None if answer.answered else "nothing_near",  # retired
        "answered": answer.answered,
        "reason": answer.reason,
        "nearest": list(map(asdict, answer.nearest)),
        "citations": _each(answer.citations, CITATION),
        "numbers": list(map(asdict, answer.numbers)),
        "statements": list(map(_statement_line, answer.statements)),
        "not_checked": answer.unread,
        "reading": answer.reading and fields_of(answer.reading, READING),
        "notes": _each(answer.notes, NOTE)
        + [{"layer": "notice", "source": "", "text": text} for text in answer.notices],
        "search_query": answer.search_query,
        "understanding": answer.understanding and fields_of(answer.understanding, UNDERSTANDING),
        "superseded": list(answer.superseded),
        "model": answer.model,
        "conversation": answer.conversation,
        "exchange": answer.exchange,
        "compression": shortened
        and {**fields_of(shortened, COMPRESSION), "kept_exchanges": sorted(shortened.kept)},
        "seconds": answer.seconds,
        "usage": answer.usage and asdict(answer.usage),
        "looked_up": [asdict(look) for look in answer.prompt.looks] if answer.prompt else [],
        **({"error": answer.error} if answer.error else {}),
        **({"model_error": asdict(answer.failure)} if answer.failure else {}),
    }


def _statement_line(statement: Statement) -> dict[str, Any]:
    return {
        **fields_of(statement, STATEMENT),
        "text": neutral_markdown(statement.text),
        "difference": neutral_markdown(statement.difference),
        "quotes": [asdict(quote) for quote in statement.quotes],
        "calculation": statement.calculation and asdict(statement.calculation),
    }


def compared_line(
    question: str, answers: Sequence[ComparedAnswer], figures: Sequence[ComparedFigure]
) -> dict[str, Any]:
    """Returns the answers of several models to one question as `ask --models --json` prints them."""
    return {
        "question": question,
        "models": [
            {
                **fields_of(compared, COMPARED),
                **({"answer": answer_line(compared.answer)} if compared.answer else {"answer": None}),
            }
            for compared in answers
        ],
        "figures": [{"text": figure.text, "statuses": dict(figure.statuses)} for figure in figures],
    }


def answer_record(answer: Answer) -> dict[str, Any]:
    """Returns the answer with all that it rests on, except the pages' text and tables, which the catalogue
    has.
    """
    prompt = answer.prompt
    if prompt is not None:
        prompt = replace(prompt, sources={key: _without_page(hit) for key, hit in prompt.sources.items()})
    return asdict(replace(answer, considered=tuple(map(_without_page, answer.considered)), prompt=prompt))


def _without_page(hit: Hit) -> Hit:
    return replace(hit, page_text="", body="", beside=("", ""), tables=(), scores=dict(hit.scores))


def _each(records: Sequence[object], names: Sequence[str]) -> list[dict[str, Any]]:
    return [fields_of(record, names) for record in records]


def fields_of(record: object, names: Sequence[str]) -> dict[str, Any]:
    """Returns these attributes of a record by name."""
    return {name: getattr(record, name) for name in names}
