"""Runs the commands for conversations: those kept on this machine, and any file of messages to compress."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any

from chatbot.cli.output import Lines, printed, say
from chatbot.cli.served_command import served
from chatbot.errors import NotFoundError, StoreError, UsageError
from chatbot.memory.conversations.conversation_names import LOCAL
from chatbot.serialize import fields_of
from chatbot.settings import PROGRAM, Settings
from ingestion.invisible_characters import visible

if TYPE_CHECKING:
    from chatbot.memory.conversations.conversation_store import ConversationRow, Conversations

__all__ = ["compress", "conversations"]


@printed
def conversations(options: Namespace, settings: Settings) -> Lines:
    """Lists the conversations, or shows, exports or changes one."""
    from chatbot.memory.conversations.conversation_store import Conversations
    from chatbot.memory.memory_database import open_memories
    from chatbot.store.lock import StoreLock

    changes = (options.export, options.rename is not None, options.delete, options.restore)
    if options.id is None and any(changes):
        raise UsageError(
            "No conversation was named.", hint=f"Add its ID; `{PROGRAM} conversations` lists them."
        )
    if (command := served()) is not None:
        return (yield from _run(options, command.store.chatbot.conversations))
    with ExitStack() as opened:
        if not settings.database:
            lock = StoreLock(settings.store / "store.lock")
            opened.callback(lambda: lock.close(settled=not lock.left_behind))
        memories, _ = open_memories(settings)
        opened.callback(memories.close)
        kept = Conversations(memories)
        with suppress(StoreError):  # even on a full disk they can be read
            kept.sweep(settings.retention_days)
        return (yield from _run(options, kept))


def _run(options: Namespace, kept: Conversations) -> Lines:
    if options.id is None:
        rows = kept.listed(LOCAL, search=options.search or "", deleted=options.deleted)
        for row in rows:
            at = time.strftime("%Y-%m-%d %H:%M", time.localtime(row.changed_at))
            yield _line(row), f"{row.id}  {at}  {row.exchanges:>4} exchanges  {row.title}"
        if not rows:
            say('No conversations yet. Start one with: ask --conversation NAME "QUESTION"')
        return
    again = f"{PROGRAM} conversations --restore -- {options.id}"
    done, undo = "", ""
    if options.rename is not None:
        kept.rename(options.id, LOCAL, options.rename)
        done = "renamed"
    elif options.delete:
        kept.delete(options.id, LOCAL)
        done, undo = "deleted", f" Undo within 7 days: {again}"
    elif options.restore:
        kept.restore(options.id, LOCAL)
        done = "restored"
    row = kept.get(options.id, LOCAL)
    if done:
        yield {**_line(row), "status": done}, f"{done.capitalize()}.{undo}"
    elif row.deleted_at is not None:
        raise NotFoundError(f"The conversation {row.id!r} is deleted.", hint=again)
    elif options.export:
        text = _exported(kept, row, options.export)
        sys.stdout.write(text if options.export == "json" else visible(text))
    else:
        for said in kept.said(row.id, LOCAL):
            line = {
                **fields_of(said, ("number", "at", "state")),
                "question": said.user,
                "answer": said.assistant,
            }
            yield line, f"{said.number}. {said.user}\n\n{said.assistant}\n"


def _exported(kept: Conversations, row: ConversationRow, form: str) -> str:
    from chatbot.memory.conversations.export import export_conversation

    said = kept.said(row.id, LOCAL)
    answers = []
    for one in said:
        try:
            found = kept.answer(row.id, one.number, LOCAL)
        except StoreError as error:
            say(f"Note: {error}")
            found = None
        answers.append(found[0] if found else None)
    return export_conversation(row, said, answers, form)


def _line(row: ConversationRow) -> dict[str, Any]:
    fields = ("title", "begun_at", "changed_at", "exchanges", "deleted_at")
    return {"conversation": row.id, **fields_of(row, fields)}


@printed
def compress(options: Namespace, settings: Settings) -> Lines:
    """Cuts a conversation to a share of its tokens."""
    from chatbot.memory.compression.compress_file import (
        CompressRequest,
        compress_file,
        result_line,
        result_text,
    )

    asked = CompressRequest(options.file, options.query, options.queries, not options.no_vectors)
    given = fields_of(options, ("max_tokens", "rho", "gamma", "keep_last", "scoring"))
    options.json |= options.queries is not None
    for number, result in compress_file(asked, {**given, "compression_ratio": options.ratio}, settings):
        yield result_line(number, result), result_text(result)
