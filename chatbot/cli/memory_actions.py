"""Provides the parts of every memory's commands: actions, options, and output of imports and exports."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from chatbot.cli.conversation_commands import OWNER
from chatbot.cli.exit_codes import DONE, FAILED
from chatbot.cli.output import emit, note
from chatbot.cli.served_command import resolved
from chatbot.records import Notice
from ingestion.invisible_characters import visible

if TYPE_CHECKING:
    from chatbot.memory.import_files import ImportedLines
    from chatbot.service import Chatbot

__all__ = ["FEW", "Action", "Commands", "Lines", "Option", "Run", "file_actions", "told"]

Run: TypeAlias = Callable[["Chatbot", argparse.Namespace], int]
Lines: TypeAlias = Iterator[tuple[dict[str, Any], str]]
# Lines shown by default, and unreadable lines that are named one by one.
FEW, MOST_PROBLEMS = 10, 20


@dataclass(frozen=True, slots=True)
class Action:
    """An action of a memory.

    takes: the texts it takes, one word each, such as "TEXT TEXT".
    rows: lines shown without -k, 0 if the action takes no -k.
    """

    run: Run
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


def told(tell: Callable[[Chatbot, argparse.Namespace], Lines]) -> Run:
    """Makes an action that prints lines, each as an object and as text."""

    def run(chatbot: Chatbot, options: argparse.Namespace) -> int:
        for line, text in tell(chatbot, options):
            emit(line, text, as_json=options.json)
        return DONE

    return run


def file_actions(memory: str, form: str) -> dict[str, Action]:
    """Makes the actions that read and write the files of a memory.

    memory: the attribute of the chatbot that has import_file and export.
    form: what a line of such a file looks like, shown if nothing in the file can be read.
    """

    def load(chatbot: Chatbot, options: argparse.Namespace) -> int:
        return _print_imported(
            getattr(chatbot, memory).import_file(OWNER, resolved(options.texts[0])), options, form
        )

    def export(chatbot: Chatbot, options: argparse.Namespace) -> int:
        for line in getattr(chatbot, memory).export(OWNER):
            sys.stdout.write(line.decode("utf-8", "replace"))
        return DONE

    return {"import": Action(load, "FILE"), "export": Action(export)}


def _print_imported(done: ImportedLines, options: argparse.Namespace, form: str) -> int:
    from chatbot.memory.layers import counted

    for problem in done.problems[:MOST_PROBLEMS]:
        print(visible(f"Line {problem.line}: {problem.reason}"), file=sys.stderr)
    if len(done.problems) > MOST_PROBLEMS:
        print(f"And {counted(len(done.problems) - MOST_PROBLEMS, 'more line')}.", file=sys.stderr)
    if done.problems and not done.added and not done.known:
        note(Notice("Nothing in the file could be read.", form))
    line = {
        "added": done.added,
        "known": done.known,
        "unreadable": [dataclasses.asdict(problem) for problem in done.problems],
    }
    emit(
        line,
        f"{done.added} added, {done.known} already known, {counted(len(done.problems), 'line')} unreadable.",
        as_json=options.json,
    )
    return FAILED if done.problems else DONE
