"""Runs the commands for conversations: those kept on this machine, and any file of messages to compress."""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from chatbot.cli.exit_codes import DONE
from chatbot.cli.output import emit
from chatbot.cli.served_command import served
from chatbot.errors import NotFoundError, StoreError, UsageError
from chatbot.settings import PROGRAM, Settings
from ingestion.invisible_characters import visible

if TYPE_CHECKING:
    from chatbot.memory.conversations.conversation_store import ConversationRow, Conversations

__all__ = ["OWNER", "compress", "conversations"]

# The owner is whoever uses the command line; conversations of the browser belong to the browser.
OWNER = "local"


def conversations(options: argparse.Namespace, settings: Settings) -> int:
    """Lists the conversations, or shows, exports or changes one."""
    from chatbot.memory.conversations.conversation_store import Conversations
    from chatbot.memory.memory_database import open_memories
    from chatbot.store.lock import StoreLock

    if options.id is None and (
        options.export or options.rename is not None or options.delete or options.restore
    ):
        raise UsageError(
            "No conversation was named.", hint=f"Add its ID; `{PROGRAM} conversations` lists them."
        )
    if (command := served()) is not None:
        return _run(options, command.store.chatbot.conversations)
    lock = None if settings.database else StoreLock(settings.store / "store.lock")
    try:
        memories, _ = open_memories(settings)
        try:
            kept = Conversations(memories)
            with suppress(StoreError):  # even on a full disk they can be read
                kept.sweep(settings.retention_days)
            return _run(options, kept)
        finally:
            memories.close()
    finally:
        if lock is not None:
            lock.close(settled=not lock.left_behind)


def _run(options: argparse.Namespace, kept: Conversations) -> int:
    if options.id is None:
        rows = kept.listed(OWNER, search=options.search or "", deleted=options.deleted)
        for row in rows:
            emit(
                _line(row),
                f"{row.id}  {_time(row.changed_at)}  {row.exchanges:>4} exchanges  {row.title}",
                as_json=options.json,
            )
        if not rows:
            print('No conversations yet. Start one with: ask --conversation NAME "QUESTION"', file=sys.stderr)
        return DONE
    if options.export:
        _must_be_there(kept.get(options.id, OWNER))
        text = _exported(kept, options.id, options.export)
        sys.stdout.write(text if options.export == "json" else visible(text))
        return DONE
    done = _change(options, kept)
    row = kept.get(options.id, OWNER)
    if done:
        again = f" Undo within 7 days: {PROGRAM} conversations --restore -- {options.id}"
        undo = again if done == "deleted" else ""
        emit({**_line(row), "status": done}, f"{done.capitalize()}.{undo}", as_json=options.json)
        return DONE
    _must_be_there(row)
    for said in kept.said(options.id, OWNER):
        line = {
            "number": said.number,
            "at": said.at,
            "state": said.state,
            "question": said.user,
            "answer": said.assistant,
        }
        emit(line, f"{said.number}. {said.user}\n\n{said.assistant}\n", as_json=options.json)
    return DONE


def _must_be_there(row: ConversationRow) -> None:
    if row.deleted_at is not None:
        hint = f"{PROGRAM} conversations --restore -- {row.id}"
        raise NotFoundError(f"The conversation {row.id!r} is deleted.", hint=hint)


def _change(options: argparse.Namespace, kept: Conversations) -> str:
    """Says what was changed, "" for nothing."""
    if options.rename is not None:
        kept.rename(options.id, OWNER, options.rename)
        return "renamed"
    if options.delete:
        kept.delete(options.id, OWNER)
        return "deleted"
    if options.restore:
        kept.restore(options.id, OWNER)
        return "restored"
    return ""


def _exported(kept: Conversations, conversation: str, form: str) -> str:
    from chatbot.memory.conversations.export import export_conversation

    said = kept.said(conversation, OWNER)
    answers = []
    for one in said:
        try:
            found = kept.answer(conversation, one.number, OWNER)
        except StoreError as error:
            print(visible(f"Note: {error}"), file=sys.stderr)
            found = None
        answers.append(found[0] if found else None)
    return export_conversation(kept.get(conversation, OWNER), said, answers, form)


def _line(row: ConversationRow) -> dict[str, Any]:
    fields = ("title", "begun_at", "changed_at", "exchanges", "deleted_at")
    return {"conversation": row.id, **{field: getattr(row, field) for field in fields}}


def _time(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))


def compress(options: argparse.Namespace, settings: Settings) -> int:
    """Cuts a conversation to a share of its tokens."""
    from chatbot.memory.compression.compress_file import (
        CompressRequest,
        compress_file,
        result_line,
        result_text,
    )

    asked = CompressRequest(options.file, options.query, options.queries, not options.no_vectors)
    given = {
        field: getattr(options, field) for field in ("max_tokens", "rho", "gamma", "keep_last", "scoring")
    }
    for number, result in compress_file(asked, {**given, "compression_ratio": options.ratio}, settings):
        emit(
            result_line(number, result),
            result_text(result),
            as_json=options.json or options.queries is not None,
        )
    return DONE
