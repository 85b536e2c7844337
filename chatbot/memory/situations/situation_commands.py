"""The command's part for situations with their advice: listed, added, imported, exported, searched,
removed, and how they fare.
"""

from __future__ import annotations

import dataclasses
import sys
from argparse import Namespace
from typing import TYPE_CHECKING

from chatbot.cli.conversation_commands import OWNER
from chatbot.cli.exit_codes import STRATEGIES
from chatbot.cli.memory_actions import FEW, Action, Commands, Lines, Option, file_actions, told
from chatbot.cli.output import note
from chatbot.memory.layers import counted
from chatbot.records import Notice
from chatbot.settings import PROGRAM

if TYPE_CHECKING:
    from chatbot.service import Chatbot

__all__ = ["COMMANDS"]

FORM = (
    'A line is a JSON object such as {"situation": "…", "recommendations": ["…"]}; `memory situations '
    "export` writes them."
)
NONE_ADVISED = Notice(
    "No advice is recorded yet.",
    f'Add some: {PROGRAM} memory situations add "inflation rises" "shorten duration"',
)


@told
def _list_situations(chatbot: Chatbot, options: Namespace) -> Lines:
    every = chatbot.situations.listed(OWNER)
    rows = [one for one in every if not options.scope or one.scope.casefold() == options.scope.casefold()]
    if not rows:
        note(Notice(f"No advice is recorded on {options.scope}.") if every else NONE_ADVISED)
    for one in rows[: options.k]:
        line = {
            "key": one.key,
            "scope": one.scope,
            "situation": one.situation,
            "recommendations": list(one.recommendations),
            "at": one.at,
        }
        of = f" [{one.scope}]" if one.scope else ""
        yield line, f"{one.key}{of}  {one.situation} → {'; '.join(one.recommendations)}"


@told
def _add_situation(chatbot: Chatbot, options: Namespace) -> Lines:
    for key in chatbot.situations.add(OWNER, [(options.texts[0], options.texts[1])], scope=options.scope):
        yield {"key": key, "status": "added"}, f"Added {key}."


@told
def _search_situations(chatbot: Chatbot, options: Namespace) -> Lines:
    from chatbot.memory.situations.situation_store import SituationMemory

    memory = SituationMemory(chatbot.situations, scope=options.scope, owner=OWNER)
    results = memory.get_memories(options.texts[0], options.k, strategy=options.strategy)
    if not results:
        scopes = [scope for scope in chatbot.situations.scopes(OWNER) if scope]
        others = f" There is some on {', '.join(scopes[:FEW])}: ask with --scope." if scopes else ""
        note(
            Notice(
                f"No advice is recorded "
                f"{f'on {options.scope}' if options.scope else 'of no subject'}.{others}"
            )
            if scopes
            else NONE_ADVISED
        )
    for found in results:
        text = f"{found['similarity_score']:.2f}  {found['matched_situation']} → {found['recommendation']}"
        yield found, text


@told
def _remove_situation(chatbot: Chatbot, options: Namespace) -> Lines:
    chatbot.situations.remove(OWNER, options.texts[0])
    yield {"key": options.texts[0], "status": "removed"}, "Removed."


@told
def _health_of_situations(chatbot: Chatbot, options: Namespace) -> Lines:
    health = chatbot.situations.health(OWNER)
    yield (
        dataclasses.asdict(health),
        f"{counted(health.situations, 'situation')}, {health.waiting} without vectors yet.",
    )


COMMANDS = Commands(
    {
        "list": Action(_list_situations, rows=sys.maxsize),
        "add": Action(_add_situation, "TEXT TEXT"),
        **file_actions("situations", FORM),
        "search": Action(_search_situations, "TEXT", FEW),
        "remove": Action(_remove_situation, "KEY"),
        "health": Action(_health_of_situations),
    },
    {
        "scope": Option(
            "",
            ("add", "list", "search"),
            {"help": "the name, symbol or topic that a situation belongs to; `list` and `search` keep to it"},
        ),
        "strategy": Option(
            "per_chunk",
            ("search",),
            {
                "choices": STRATEGIES,
                "help": "how the pieces of a long situation are searched (default per_chunk)",
            },
        ),
    },
)
