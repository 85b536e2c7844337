"""Defines what the actions of each memory take on the command line, and runs them."""

from __future__ import annotations

import dataclasses
import sys
from argparse import SUPPRESS, ArgumentParser, Namespace
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from chatbot.cli.output import DONE, FAILED, Lines, note, open_chatbot, printed, say, whole
from chatbot.cli.served_command import resolved
from chatbot.memory.conversations.conversation_names import LOCAL
from chatbot.memory.layers import counted, layers_with
from chatbot.settings import Settings

if TYPE_CHECKING:
    from chatbot.service import Chatbot

__all__ = ["FEW", "Action", "add_memories", "file_actions", "memory"]

# `memory stats` is short for `memory compression stats`.
STATS = "stats"
# Lines shown by default, and unreadable lines that are named one by one.
FEW, MOST_PROBLEMS = 10, 20
MOST_ROWS = 999_999_999


@dataclass(frozen=True, slots=True)
class Action:
    """An action of a memory.

    takes: the texts it takes, one word each, such as "TEXT TEXT".
    rows: lines shown without -k, 0 if the action takes no -k.
    options: keywords of add_argument, by name.
    """

    run: Callable[[Namespace, Chatbot], int]
    takes: str = ""
    rows: int = 0
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def add_memories(command: ArgumentParser) -> None:
    """Adds the actions of each memory that has any."""
    memories = command.add_subparsers(dest="memory", required=True)
    for layer in layers_with("commands"):
        own = memories.add_parser(layer.name).add_subparsers(dest="action", required=True)
        for name, action in layer.part("commands").ACTIONS.items():
            for parsers in (own, memories) if name == STATS else (own,):
                _add_action(parsers.add_parser(name), action)


def _add_action(parser: ArgumentParser, action: Action) -> None:
    for text in action.takes.split():
        parser.add_argument("texts", metavar=text, action="append")
    if action.rows:
        shown = "all" if action.rows > MOST_ROWS else action.rows
        number = whole("k is {}: ask for 1 or more", 1, MOST_ROWS)
        text = f"show at most this many (default {shown})"
        parser.add_argument("-k", type=number, default=action.rows, help=text)
    for name, keywords in action.options.items():
        parser.add_argument(f"--{name.replace('_', '-')}", **keywords)
    text = "print JSON, one object per line"
    parser.add_argument("--json", action="store_true", default=SUPPRESS, help=text)
    parser.set_defaults(act=action.run)


def memory(options: Namespace, settings: Settings) -> int:
    """Runs one action of one memory."""
    with open_chatbot(settings) as chatbot:
        return int(options.act(options, chatbot))


def file_actions(memory: str, form: str) -> dict[str, Action]:
    """Makes the actions that read and write the files of a memory.

    memory: the attribute of the chatbot that has import_file and export.
    form: what a line of such a file looks like, shown if nothing in the file can be read.
    """

    @printed
    def load(options: Namespace, chatbot: Chatbot) -> Lines:
        done = getattr(chatbot, memory).import_file(LOCAL, resolved(options.texts[0]))
        for problem in done.problems[:MOST_PROBLEMS]:
            say(f"Line {problem.line}: {problem.reason}")
        if len(done.problems) > MOST_PROBLEMS:
            say(f"And {counted(len(done.problems) - MOST_PROBLEMS, 'more line')}.")
        if done.problems and not done.added and not done.known:
            note(f"Nothing in the file could be read. {form}")
        unreadable = list(map(dataclasses.asdict, done.problems))
        text = (
            f"{done.added} added, {done.known} already known, {counted(len(unreadable), 'line')} unreadable."
        )
        yield {"added": done.added, "known": done.known, "unreadable": unreadable}, text
        return FAILED if unreadable else DONE

    def export(_: Namespace, chatbot: Chatbot) -> int:
        for line in getattr(chatbot, memory).export(LOCAL):
            sys.stdout.write(line.decode("utf-8", "replace"))
        return DONE

    return {"import": Action(load, "FILE"), "export": Action(export)}
