"""Runs the command that shows and changes what is remembered, and defines the parts of each memory's own."""

from __future__ import annotations

import dataclasses
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from chatbot.cli.exit_codes import DONE, FAILED, open_chatbot
from chatbot.cli.output import Lines, note, printed, say
from chatbot.cli.served_command import resolved
from chatbot.errors import UsageError
from chatbot.memory.conversations.conversation_names import LOCAL
from chatbot.memory.layers import counted, layers_with
from chatbot.settings import Settings

if TYPE_CHECKING:
    from chatbot.service import Chatbot

__all__ = [
    "FEW",
    "STATS",
    "Action",
    "Commands",
    "Option",
    "commands_by_memory",
    "file_actions",
    "memory",
    "options_by_name",
]

# `memory stats` is short for `memory compression stats`.
STATS = "stats"
# Lines shown by default, and unreadable lines that are named one by one.
FEW, MOST_PROBLEMS = 10, 20


@dataclass(frozen=True, slots=True)
class Action:
    """An action of a memory.

    takes: the texts it takes, one word each, such as "TEXT TEXT".
    rows: lines shown without -k, 0 if the action takes no -k.
    """

    run: Callable[[Namespace, Chatbot], int]
    takes: str = ""
    rows: int = 0


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a memory's actions.

    default: the value if the option is not given.
    actions: the actions that take it. With another action it is wrong usage, as it would be ignored.
    keywords: keywords of add_argument.
    """

    default: object
    actions: tuple[str, ...]
    keywords: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Commands:
    """The actions and options of one memory, by name."""

    actions: Mapping[str, Action]
    options: Mapping[str, Option] = field(default_factory=dict)


def commands_by_memory() -> dict[str, Commands]:
    """Returns the commands of each memory that has any."""
    return {layer.name: layer.part("commands").COMMANDS for layer in layers_with("commands")}


def options_by_name() -> dict[str, Option]:
    """Returns the options of all memories except -k, which every listing and searching action has."""
    return {name: one for every in commands_by_memory().values() for name, one in every.options.items()}


def memory(options: Namespace, settings: Settings) -> int:
    """Runs one action of one memory. Raises UsageError for what the action does not take."""
    if options.memory == STATS:
        if options.action:
            raise UsageError("`memory stats` takes no arguments.", hint="Remove the rest.")
        options.memory, options.action = "compression", STATS
    every = commands_by_memory()
    commands = every[options.memory]
    action = commands.actions.get(options.action)
    if action is None:
        lacks = f"has no {options.action!r}" if options.action else "has several actions"
        raise UsageError(
            f"The memory of {options.memory} {lacks}.",
            hint=f"Use one of: {', '.join(commands.actions)}.",
        )
    called = f"`memory {options.memory} {options.action}`"
    if len(options.texts) != len(action.takes.split()):
        raise UsageError(
            f"{called} takes {action.takes or 'no arguments'}.",
            hint="Put quotation marks around texts with spaces.",
        )

    def must_take(shown: str, takers: list[tuple[str, str]]) -> None:
        if (options.memory, options.action) not in takers:
            hint = ", ".join(f"`memory {memory} {name}`" for memory, name in takers)
            raise UsageError(f"{called} takes no {shown}.", hint=f"Use it with {hint}.")

    for name, option in options_by_name().items():
        if getattr(options, name) is None:
            setattr(options, name, option.default)
        else:
            known = {one: its.options[name].actions for one, its in every.items() if name in its.options}
            takers = [(one, taker) for one, those in known.items() for taker in those]
            must_take(f"--{name.replace('_', '-')}", takers)
    if options.k is not None and not action.rows:
        must_take("-k", [(one, name) for name in ("search", "list") for one in every])
    options.k = options.k or action.rows
    with open_chatbot(settings) as chatbot:
        return action.run(options, chatbot)


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
