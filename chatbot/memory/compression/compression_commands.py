"""Runs the `memory compression` command, which tells how conversations were shortened."""

from __future__ import annotations

import dataclasses
from argparse import Namespace
from typing import TYPE_CHECKING

from chatbot.cli.memory_command import FEW, Action
from chatbot.cli.output import Lines, note, printed
from chatbot.memory.conversations.conversation_names import LOCAL
from chatbot.memory.layers import counted

if TYPE_CHECKING:
    from chatbot.service import Chatbot

__all__ = ["ACTIONS"]

NONE_YET = "There are no conversations yet. Ask with --conversation NAME to begin one."


@printed
def _stats(options: Namespace, chatbot: Chatbot) -> Lines:
    rows = chatbot.conversations.listed(LOCAL)
    if not rows:
        note(NONE_YET)
    for row in rows[: options.k]:
        stats = chatbot.memory.stats(row.id, LOCAL)
        line = {"conversation": row.id, "title": row.title, **dataclasses.asdict(stats)}
        size = f"{counted(stats.message_count, 'message')}, {counted(stats.token_count, 'token')}"
        yield line, f"{row.id}  {size}, shortened {counted(stats.compression_count, 'time')}  {row.title}"


ACTIONS = {"stats": Action(_stats, rows=FEW)}
