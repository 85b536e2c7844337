"""Runs the `memory situations` command.

It lists, adds, imports, exports, searches and removes situations with their advice and reports their state.
"""

from __future__ import annotations

import dataclasses
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from chatbot.cli.memory_command import FEW, Action, file_actions
from chatbot.cli.output import Lines, columns_text, note, printed, strategy_list
from chatbot.memory.conversations.conversation_names import LOCAL
from chatbot.memory.layers import counted
from chatbot.serialize import fields_of
from chatbot.settings import PROGRAM, STRATEGIES
from ingestion.invisible_characters import one_line

if TYPE_CHECKING:
    from chatbot.service import Chatbot

__all__ = ["ACTIONS"]

# What a column of several shows of a situation.
CELL_CHARACTERS = 60
FORM = (
    'A line is a JSON object such as {"situation": "…", "recommendations": ["…"]}; `memory situations '
    "export` writes them."
)
NONE_ADVISED = (
    "No advice has been added yet. Add some: "
    f'{PROGRAM} memory situations add "inflation rises" "shorten duration"'
)


@printed
def _list_situations(options: Namespace, chatbot: Chatbot) -> Lines:
    every, scope = chatbot.situations.listed(LOCAL), options.scope.casefold()
    rows = [situation for situation in every if situation.scope.casefold() == scope or not scope]
    if not rows:
        note(f"No advice has been added for {options.scope}." if every else NONE_ADVISED)
    for situation in rows[: options.k]:
        line = fields_of(situation, ("key", "scope", "situation", "recommendations", "at"))
        subject = f" [{situation.scope}]" if situation.scope else ""
        advice = "; ".join(situation.recommendations)
        yield line, f"{situation.key}{subject}  {situation.situation} → {advice}"


@printed
def _add_situation(options: Namespace, chatbot: Chatbot) -> Lines:
    for key in chatbot.situations.add(LOCAL, [tuple(options.texts)], scope=options.scope):
        yield {"key": key, "status": "added"}, f"Added {key}."


@printed
def _search_situations(options: Namespace, chatbot: Chatbot) -> Lines:
    from chatbot.memory.situations.situation_store import SituationMemory

    memory = SituationMemory(chatbot.situations, scope=options.scope, owner=LOCAL)
    found = {
        strategy: memory.get_memories(options.texts[0], options.k, strategy=strategy)
        for strategy in options.strategy
    }
    if not any(found.values()):
        note(_none_found(chatbot.situations.scopes(LOCAL), options.scope))
    if len(found) > 1 and not options.json:
        columns = {strategy: list(map(_cell, results)) for strategy, results in found.items()}
        yield {}, columns_text(columns)
        return
    for strategy, results in found.items():
        named = {"strategy": strategy} if len(found) > 1 else {}
        for one in results:
            yield {**named, **one}, f"{_score(one)}  {one['matched_situation']} → {one['recommendation']}"


def _score(found: Mapping[str, Any]) -> str:
    """The similarity, and the piece of the text, from 1, that led to it."""
    piece = f", piece {found['chunk_match'] + 1}" if "chunk_match" in found else ""
    return f"{found['similarity_score']:.2f}{piece}"


def _cell(found: Mapping[str, Any]) -> str:
    return f"{one_line(found['matched_situation'], CELL_CHARACTERS)} ({_score(found)})"


def _none_found(scopes: Sequence[str], scope: str) -> str:
    """What to print if a search of a scope finds nothing. scopes: those of the owner."""
    subjects = [subject for subject in scopes if subject]
    if not subjects:
        return NONE_ADVISED
    where = f"on {scope}" if scope else "without a subject"
    others = ", ".join(subjects[:FEW])
    return f"No advice has been added {where}. There is some for {others}: use --scope."


@printed
def _remove_situation(options: Namespace, chatbot: Chatbot) -> Lines:
    chatbot.situations.remove(LOCAL, options.texts[0])
    yield {"key": options.texts[0], "status": "removed"}, "Removed."


@printed
def _health_of_situations(options: Namespace, chatbot: Chatbot) -> Lines:
    health = chatbot.situations.health(LOCAL)
    text = f"{counted(health.situations, 'situation')}, {health.waiting} still being indexed."
    yield dataclasses.asdict(health), text


SCOPE = {"default": "", "help": "only what has this name, symbol or topic"}
STRATEGY = {
    "type": strategy_list,
    "metavar": "STRATEGY",
    "default": ["per_chunk"],
    "help": (
        "how to search the parts of a long situation (default per_chunk). Several, separated by commas, are "
        f"shown side by side: {', '.join(STRATEGIES)}"
    ),
}
ACTIONS = {
    "list": Action(_list_situations, rows=sys.maxsize, options={"scope": SCOPE}),
    "add": Action(
        _add_situation, "TEXT TEXT", options={"scope": SCOPE | {"help": "its name, symbol or topic"}}
    ),
    **file_actions("situations", FORM),
    "search": Action(_search_situations, "TEXT", FEW, {"scope": SCOPE, "strategy": STRATEGY}),
    "remove": Action(_remove_situation, "KEY"),
    "health": Action(_health_of_situations),
}
