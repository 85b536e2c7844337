"""Runs the command that shows and changes what is remembered, through the actions of each memory."""

from __future__ import annotations

import argparse

from chatbot.cli.exit_codes import open_chatbot
from chatbot.cli.memory_actions import Commands, Option
from chatbot.errors import UsageError
from chatbot.memory.layers import layers_with
from chatbot.settings import Settings

__all__ = ["STATS", "actions", "commands_by_memory", "memory", "options_by_name"]

# `memory stats` is short for `memory compression stats`.
STATS = "stats"


def commands_by_memory() -> dict[str, Commands]:
    """Returns the commands of each memory that has any."""
    return {layer.name: layer.part("commands").COMMANDS for layer in layers_with("commands")}


def actions() -> dict[str, str]:
    """Returns what each action takes, as the first memory with that action defines it."""
    found: dict[str, str] = {}
    for commands in commands_by_memory().values():
        for name, action in commands.actions.items():
            found.setdefault(name, action.takes)
    return found


def options_by_name() -> dict[str, Option]:
    """Returns the options of all memories except -k, which every listing and searching action has."""
    return {
        name: option
        for commands in commands_by_memory().values()
        for name, option in commands.options.items()
    }


def memory(options: argparse.Namespace, settings: Settings) -> int:
    """Runs one action of one memory. Raises UsageError for what the action does not take."""
    if options.memory == STATS:
        if options.action:
            raise UsageError("`memory stats` takes no arguments.", hint="Remove the rest.")
        options.memory, options.action = "compression", STATS
    commands = commands_by_memory()[options.memory]
    action = commands.actions.get(options.action)
    if action is None:
        lacks = f"has no {options.action!r}" if options.action else "has several actions"
        raise UsageError(
            f"The memory of {options.memory} {lacks}.",
            hint=f"Use one of: {', '.join(commands.actions)}.",
        )
    if len(options.texts) != len(action.takes.split()):
        takes = action.takes or "no arguments"
        raise UsageError(
            f"`memory {options.memory} {options.action}` takes {takes}.",
            hint="Put quotation marks around texts with spaces.",
        )
    for name, option in options_by_name().items():
        if getattr(options, name) is None:
            setattr(options, name, option.default)
        elif name not in commands.options or options.action not in commands.options[name].actions:
            _refuse(options, f"--{name.replace('_', '-')}", _takers(name))
    if options.k is not None and not action.rows:
        _refuse(
            options,
            "-k",
            [f"`memory {memory} {name}`" for name in ("search", "list") for memory in commands_by_memory()],
        )
    options.k = options.k or action.rows
    with open_chatbot(settings) as chatbot:
        return action.run(chatbot, options)


def _takers(name: str) -> list[str]:
    given = [
        (memory, commands.options[name].actions)
        for memory, commands in commands_by_memory().items()
        if name in commands.options
    ]
    return [f"`memory {memory} {action}`" for memory, actions in given for action in actions]


def _refuse(options: argparse.Namespace, shown: str, takers: list[str]) -> None:
    raise UsageError(
        f"`memory {options.memory} {options.action}` takes no {shown}.",
        hint=f"Use it with {', '.join(takers)}.",
    )
