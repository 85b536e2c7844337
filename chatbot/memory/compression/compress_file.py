"""The files and the lines of the `compress` command: messages and queries read, results printed; opens no store and scores nothing."""

from __future__ import annotations

import dataclasses
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chatbot.errors import ModelError, QuestionError, UsageError
from chatbot.memory.compression.compress import Compressed, Conversation, Message, Options, Question
from chatbot.memory.compression.messages import texts_to_embed
from chatbot.settings import Settings
from chatbot.tokens import encodable

__all__ = ["Asked", "compress_file", "result_line", "result_text"]

# Messages that are embedded at about 10 ms each; beyond that one would wait longer than the better choice is worth.
MOST_EMBEDDED = 3_000
# The names of options as the command has them.
OPTION = re.compile(r"^[a-z_]+")
OPTIONS = {"compression_ratio": "--ratio"}
MESSAGE_HINT = 'A line is {"id": text or whole number, "role": text, "content": text}, each id once.'
QUERY_HINT = 'A line is {"id": text or whole number, "query": text}.'


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command was given. queries: a file, or None for the one query. vectors: whether the embedded model may help to choose."""

    file: Path
    query: str
    queries: Path | None
    vectors: bool


def compress_file(asked: Asked, options: dict[str, Any], settings: Settings) -> Iterator[tuple[object, Compressed]]:
    """(id of the query, what is kept for it) in order; the id is None for the one query. options: as Options takes them.

    Raises UsageError for a value out of range, and QuestionError, naming file and line, for what cannot be read.
    """
    try:
        chosen = Options(**options)
    except ValueError as error:
        raise UsageError(f"{OPTION.sub(_as_option, str(error))}.", hint="See python -m chatbot compress --help.") from error
    messages = _messages(asked.file)
    queries: list[tuple[object, str]] = [(None, asked.query)] if asked.queries is None else _queries(asked.queries)
    conversation = Conversation(messages)
    wants = chosen.scoring == "query" and any(query.strip() for _, query in queries) and conversation.tokens > chosen.max_tokens
    if not (asked.vectors and wants and _few(messages)):
        for number, query in queries:
            yield number, conversation.compress(Question(query), chosen)
        return
    yield from _with_vectors(messages, queries, chosen, settings)


def _as_option(found: re.Match[str]) -> str:
    return OPTIONS.get(found[0], f"--{found[0].replace('_', '-')}")


def result_line(number: object, result: Compressed) -> dict[str, Any]:
    """The object that is printed."""
    context = [{"role": message.role, "content": message.content} for message in result.context]
    return {"id": number, "context": context, "kept": dict(result.kept), "stats": dataclasses.asdict(result.stats)}


def result_text(result: Compressed) -> str:
    """What is left of the conversation, a message a paragraph, and how much that is."""
    stats = result.stats
    partly, out = stats.messages_partly, stats.messages_left_out
    told = f"{stats.compressed_tokens} of {stats.original_tokens} tokens kept; {partly} messages kept in part, {out} left out"
    return encodable("\n\n".join([*(f"{message.role}: {message.content}" for message in result.context), f"({told})"]))


def _with_vectors(
    messages: list[Message], queries: list[tuple[object, str]], options: Options, settings: Settings
) -> Iterator[tuple[object, Compressed]]:
    from chatbot.store.embedders import LocalEmbedder

    embedder = LocalEmbedder(settings.model_cache, threads=settings.threads)
    try:
        asked = [Question(query, vector) for (_, query), vector in zip(queries, embedder.embed([query for _, query in queries]), strict=True)]
        conversation = Conversation(messages, vectors=embedder.embed(texts_to_embed(messages)))
    except ModelError as error:
        print(f"Note: chosen by words alone. {error}", file=sys.stderr)
        asked, conversation = [Question(query) for _, query in queries], Conversation(messages)
    for (number, _), question in zip(queries, asked, strict=True):
        yield number, conversation.compress(question, options)


def _few(messages: list[Message]) -> bool:
    few = len(messages) <= MOST_EMBEDDED
    if not few:
        print(f"Note: over {MOST_EMBEDDED} messages are chosen by words alone.", file=sys.stderr)
    return few


def _messages(path: Path) -> list[Message]:
    found: dict[str, Message] = {}
    for number, row in _rows(path, MESSAGE_HINT):
        if not (_is_id(row.get("id")) and isinstance(row.get("role"), str) and isinstance(row.get("content"), str)):
            raise QuestionError(f"{path}, line {number}: id, role or content is missing or of the wrong kind.", hint=MESSAGE_HINT)
        if str(row["id"]) in found:
            raise QuestionError(f"{path}, line {number}: the id {str(row['id'])[:80]!r} stands twice.", hint=MESSAGE_HINT)
        found[str(row["id"])] = Message(str(row["id"]), row["role"], row["content"])
    return list(found.values())


def _queries(path: Path) -> list[tuple[object, str]]:
    rows = list(_rows(path, QUERY_HINT))
    for number, row in rows:
        if not (_is_id(row.get("id")) and isinstance(row.get("query"), str)):
            raise QuestionError(f"{path}, line {number}: id or query is missing or of the wrong kind.", hint=QUERY_HINT)
    return [(row["id"], row["query"]) for _, row in rows]


def _is_id(value: object) -> bool:
    return isinstance(value, str) or type(value) is int  # True is an int to isinstance


def _rows(path: Path, hint: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line number from 1, object) of every line that is not blank. Lines end at line feeds alone: content may hold other breaks."""
    try:
        lines = path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n")
    except OSError as error:
        raise QuestionError(f"{path} cannot be read: {error.strerror}.", hint="Name a file of JSON lines.") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise QuestionError(f"{path}, line {number}: this is not JSON.", hint=hint) from error
        if not isinstance(row, dict):
            raise QuestionError(f"{path}, line {number}: this is not an object.", hint=hint)
        yield number, row
