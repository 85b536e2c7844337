"""Runs the `memory compression` command, which tells how conversations were shortened."""

from __future__ import annotations

import dataclasses
from argparse import Namespace
from typing import TYPE_CHECKING

from chatbot.cli.conversation_commands import OWNER
from chatbot.cli.memory_actions import FEW, Action, Commands, Lines, told
from chatbot.cli.output import note
from chatbot.memory.layers import counted
from chatbot.records import Notice

if TYPE_CHECKING:
    from chatbot.service import Chatbot

__all__ = ["COMMANDS"]

NONE_YET = Notice("There are no conversations yet.", "Ask with --conversation NAME to begin one.")


@told
def _stats(chatbot: Chatbot, options: Namespace) -> Lines:
    rows = chatbot.conversations.listed(OWNER)
    if not rows:
        note(NONE_YET)
    for row in rows[: options.k]:
        stats = chatbot.memory.stats(row.id, OWNER)
        line = {"conversation": row.id, "title": row.title, **dataclasses.asdict(stats)}
        size = f"{counted(stats.message_count, 'message')}, {counted(stats.token_count, 'token')}"
        yield line, f"{row.id}  {size}, shortened {counted(stats.compression_count, 'time')}  {row.title}"


COMMANDS = Commands({"stats": Action(_stats, rows=FEW)})
