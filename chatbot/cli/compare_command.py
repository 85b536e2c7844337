"""Runs the command that asks one question of several documents and years."""

from __future__ import annotations

import argparse
import sys
from functools import cache

from chatbot.cli.exit_codes import DONE, FAILED, open_chatbot
from chatbot.cli.output import emit, note
from chatbot.cli.served_command import go_on, stopped
from chatbot.errors import QuestionError, UsageError
from chatbot.settings import Settings

__all__ = ["compare"]


def compare(options: argparse.Namespace, settings: Settings) -> int:
    from chatbot.comparison import (
        Change,
        Comparison,
        Entry,
        EntryPlace,
        changes,
        csv_bytes,
        entry_line,
        entry_text,
        ranks,
    )

    if options.json and options.csv:
        raise UsageError("--json and --csv cannot be used together.", hint="Use only one of them.")
    try:
        comparison = Comparison.of(options.query, options.document, options.year)
    except QuestionError as error:
        raise UsageError(error.message, hint=error.hint) from error
    entries: dict[EntryPlace, Entry] = {}
    changed: dict[EntryPlace, Change] = {}
    with open_chatbot(settings) as chatbot:
        chatbot.library.scope(comparison.names)
        editions = chatbot.editions(comparison.names)
        for entry in chatbot.compare(comparison, stop=stopped, tell=cache(note)):
            entries[entry.place] = entry
            changed = changes(comparison, entries, editions)
            change = changed.get(entry.place)
            if not options.csv:
                emit(entry_line(entry, change), entry_text(entry, change), as_json=options.json)
    go_on()
    if options.csv:
        ranked = ranks(comparison, entries, editions)
        sys.stdout.buffer.write(csv_bytes(list(entries.values()), changed, comparison.question, ranked))
    if any(entry.state == "failed" for entry in entries.values()):
        return FAILED
    return DONE
