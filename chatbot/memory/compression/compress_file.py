"""Reads the messages and queries of the `compress` command and writes its results.

It opens no store and scores nothing.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chatbot.errors import ModelError, QuestionError, UsageError
from chatbot.memory.compression.compress import (
    Compressed,
    CompressionFocus,
    CompressionOptions,
    Conversation,
    Message,
)
from chatbot.memory.compression.messages import texts_to_embed
from chatbot.models.tokens import encodable
from chatbot.settings import PROGRAM, Settings

__all__ = ["CompressRequest", "compress_file", "result_line", "result_text"]

# Messages that are embedded, at about 10 ms each. For more, the wait is not worth the better choice.
MOST_EMBEDDED = 3_000
# Options that have another name in the command.
OPTIONS = {"compression_ratio": "--ratio"}
MESSAGE_HINT = 'A line is {"id": text or whole number, "role": text, "content": text}, each id once.'
QUERY_HINT = 'A line is {"id": text or whole number, "query": text}.'


@dataclass(frozen=True, slots=True)
class CompressRequest:
    """What the command was given.

    file: the messages.
    query: the one query.
    queries: a file of queries; None for the one query.
    vectors: whether the embedded model may help to choose.
    """

    file: Path
    query: str
    queries: Path | None
    vectors: bool


def compress_file(
    asked: CompressRequest, options: dict[str, Any], settings: Settings
) -> Iterator[tuple[object, Compressed]]:
    """(id of the query, what is kept for it), in order; the id is None for the one query.

    options: as CompressionOptions takes them. Raises UsageError for a value out of range, and QuestionError,
    with file and line, for what cannot be read.
    """
    try:
        chosen = CompressionOptions(**options)
    except ValueError as error:
        name, _, wrong = str(error).partition(" ")
        option = OPTIONS.get(name, f"--{name.replace('_', '-')}")
        raise UsageError(f"{option} {wrong}.", hint=f"See {PROGRAM} compress --help.") from error
    messages = _messages(asked.file)
    queries: list[tuple[object, str]] = [(None, asked.query)]
    if asked.queries is not None:
        rows = _rows(asked.queries, ["query"], QUERY_HINT)
        queries = [(row["id"], row["query"]) for _, row in rows]
    conversation = Conversation(messages)
    texts = [query for _, query in queries]
    questions = [CompressionFocus(text) for text in texts]
    is_query = chosen.scoring == "query" and any(map(str.strip, texts))
    wants_vectors = asked.vectors and is_query and conversation.tokens > chosen.max_tokens
    if wants_vectors and len(messages) > MOST_EMBEDDED:
        print(f"Note: more than {MOST_EMBEDDED} messages are compared by words only.", file=sys.stderr)
    elif wants_vectors:
        from chatbot.models.embedders import local_embedder

        embedder = local_embedder(settings)
        try:
            vectors = embedder.embed(texts, query=True)
            conversation = Conversation(messages, vectors=embedder.embed(texts_to_embed(messages)))
            pairs = zip(texts, vectors, strict=True)
            questions = [CompressionFocus(text, vector) for text, vector in pairs]
        except ModelError as error:
            print(f"Note: compared by words only. {error}", file=sys.stderr)
    for (number, _), question in zip(queries, questions, strict=True):
        yield number, conversation.compress(question, chosen)


def result_line(number: object, result: Compressed) -> dict[str, Any]:
    """The result as the JSON object that is printed."""
    context = [{"role": message.role, "content": message.content} for message in result.context]
    return {
        "id": number,
        "context": context,
        "kept": dict(result.kept),
        "stats": dataclasses.asdict(result.stats),
    }


def result_text(result: Compressed) -> str:
    """What is left of the conversation, a message a paragraph, and how much that is."""
    stats = result.stats
    paragraphs = [f"{message.role}: {message.content}" for message in result.context]
    paragraphs.append(
        f"({stats.compressed_tokens} of {stats.original_tokens} tokens kept; {stats.messages_partly} "
        f"messages shortened, {stats.messages_left_out} removed)"
    )
    return encodable("\n\n".join(paragraphs))


def _messages(path: Path) -> list[Message]:
    found: dict[str, Message] = {}
    for number, row in _rows(path, ("role", "content"), MESSAGE_HINT):
        name = str(row["id"])
        if name in found:
            raise QuestionError(
                f"{path}, line {number}: the id {name[:80]!r} appears twice.", hint=MESSAGE_HINT
            )
        found[name] = Message(name, row["role"], row["content"])
    return list(found.values())


def _rows(path: Path, texts: Sequence[str], hint: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line number from 1, object with an id and these texts) of every line that is not blank.

    Only line feeds end a line: content may hold other line breaks.
    """
    try:
        lines = path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n")
    except OSError as error:
        raise QuestionError(
            f"{path} cannot be read: {error.strerror}.", hint="Choose a file of JSON lines."
        ) from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        wrong = f"{path}, line {number}:"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise QuestionError(f"{wrong} this is not JSON.", hint=hint) from error
        if not isinstance(row, dict):
            raise QuestionError(f"{wrong} this is not an object.", hint=hint)
        # isinstance would take True for an int.
        has_id = type(row.get("id")) in (str, int)
        if not has_id or not all(isinstance(row.get(text), str) for text in texts):
            fields = ", ".join(["id", *texts[:-1]])
            raise QuestionError(
                f"{wrong} {fields} or {texts[-1]} is missing or has the wrong type.", hint=hint
            )
        yield number, row
