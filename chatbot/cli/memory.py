"""The command that shows and changes what is remembered beside documents: rated answers, situations with their advice, news signals."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chatbot.cli.conversations import OWNER
from chatbot.cli.exits import DONE, FAILED, open_chatbot
from chatbot.cli.memory_signals import SIGNALS
from chatbot.cli.output import emit, note
from chatbot.errors import UsageError
from chatbot.memory.layers import counted
from chatbot.records import Notice
from chatbot.settings import Settings
from ingestion.unseen import visible

if TYPE_CHECKING:
    from chatbot.memory.cases.records import Case
    from chatbot.memory.cases.rows import CaseHealth
    from chatbot.memory.import_files import ImportedLines
    from chatbot.service import Chatbot

__all__ = ["ACTIONS", "MEMORIES", "memory"]

MEMORIES = ("cases", "situations", "signals")
# What each action takes; an action that a memory does not know is wrong usage.
ACTIONS = {
    "list": "",
    "add": "TEXT TEXT",
    "import": "FILE",
    "export": "",
    "search": "TEXT",
    "remove": "KEY",
    "restore": "KEY",
    "health": "",
    "reembed": "",
    "on": "",
    "off": "",
}
# Where a memory's action takes something else.
TAKES = {("signals", "add"): "TEXT"}
# What each option is for, and what it is where nobody gives it; with another action it is wrong usage, for it would be ignored.
SEARCHED, LISTED = [(one, "search") for one in MEMORIES], [(one, "list") for one in MEMORIES]
OPTIONS: dict[str, tuple[object, list[tuple[str, str]]]] = {
    "k": (None, [*SEARCHED, *LISTED]),
    "scope": ("", [("situations", "add"), ("situations", "list"), ("situations", "search")]),
    "strategy": ("per_chunk", [("situations", "search")]),
    "not_helpful": (False, [("cases", "add")]),
    "source": ("added by hand", [("signals", "add")]),
    "date": ("", [("signals", "add"), ("signals", "search")]),
    "link": ("", [("signals", "add")]),
}
# Lines that are shown where nobody says how many, and unreadable ones that are named one by one.
FEW, MOST_PROBLEMS = 10, 20
# What a file holds that is imported.
FORMS = {
    "cases": 'A line is a JSON object such as {"question": "…", "plan": "the answer", "reward": 1}; `memory cases export` writes them.',
    "situations": 'A line is a JSON object such as {"situation": "…", "recommendations": ["…"]}; `memory situations export` writes them.',
}
Run = Callable[["Chatbot", argparse.Namespace], int]
NONE_RATED = Notice("No answer is rated yet.", 'Rate one on the Chat page, or add one: python -m chatbot memory cases add "QUESTION" "ANSWER"')
NONE_ADVISED = Notice("No advice is recorded yet.", 'Add some: python -m chatbot memory situations add "inflation rises" "shorten duration"')


def memory(options: argparse.Namespace, settings: Settings) -> int:
    """Run one action on one memory."""
    run = RUNS[options.memory].get(options.action)
    if run is None:
        raise UsageError(f"The memory of {options.memory} has no {options.action!r}.", hint=f"It has {', '.join(RUNS[options.memory])}.")
    takes = TAKES.get((options.memory, options.action), ACTIONS[options.action])
    if len(options.texts) != len(takes.split()):
        takes = takes or "nothing more"
        raise UsageError(f"`memory {options.memory} {options.action}` takes {takes}.", hint="Put texts of several words in quotation marks.")
    for name, (default, where) in OPTIONS.items():
        if getattr(options, name) is None:
            setattr(options, name, default)
        elif (options.memory, options.action) not in where:
            shown = f"-{name}" if len(name) == 1 else f"--{name.replace('_', '-')}"
            takers = ", ".join(f"`memory {memory} {action}`" for memory, action in where)
            raise UsageError(f"`memory {options.memory} {options.action}` takes no {shown}.", hint=f"It belongs to {takers}.")
    if options.k is None:
        options.k = sys.maxsize if run in (_list_cases, _list_situations) else FEW
    with open_chatbot(settings) as chatbot:
        return run(chatbot, options)


def _imported(done: ImportedLines, options: argparse.Namespace) -> int:
    for problem in done.problems[:MOST_PROBLEMS]:
        print(visible(f"Line {problem.line}: {problem.reason}"), file=sys.stderr)
    if len(done.problems) > MOST_PROBLEMS:
        print(f"And {counted(len(done.problems) - MOST_PROBLEMS, 'more line')}.", file=sys.stderr)
    if done.problems and not done.added and not done.known:
        note(Notice("Nothing in the file can be read.", FORMS[options.memory]))
    line = {"added": done.added, "known": done.known, "unreadable": [dataclasses.asdict(problem) for problem in done.problems]}
    emit(line, f"{done.added} added, {done.known} known, {counted(len(done.problems), 'line')} unreadable.", as_json=options.json)
    return FAILED if done.problems else DONE


def _exported(lines: Iterable[bytes]) -> int:
    for line in lines:
        sys.stdout.write(line.decode("utf-8", "replace"))
    return DONE


# --- rated answers --------------------------------------------------------------------------------------------------------------


def _case_line(case: Case) -> dict[str, Any]:
    from chatbot.memory.cases.records import case_fields

    return {"key": case.id, **case_fields(case)}


def _case_text(case: Case) -> str:
    verdict = "helpful    " if case.reward else "not helpful"
    return f"{case.id}  {verdict}  {case.question}\n    {' '.join(case.plan.split())[:300]}"


def _list_cases(chatbot: Chatbot, options: argparse.Namespace) -> int:
    rows = chatbot.cases.listed(OWNER)
    if not rows:
        note(NONE_RATED)
    for row in rows[: options.k]:
        mark = " (stale: a document it rests on was changed or removed)" if row.stale else ""
        emit({**_case_line(row.case), "stale": row.stale}, _case_text(row.case) + mark, as_json=options.json)
    return DONE


def _add_case(chatbot: Chatbot, options: argparse.Namespace) -> int:
    from chatbot.memory.cases.records import Case

    case = chatbot.cases.add(OWNER, Case(options.texts[0], options.texts[1], 0 if options.not_helpful else 1))
    emit(_case_line(case), f"Added {case.id}.", as_json=options.json)
    return DONE


def _import_cases(chatbot: Chatbot, options: argparse.Namespace) -> int:
    return _imported(chatbot.cases.import_file(OWNER, Path(options.texts[0])), options)


def _export_cases(chatbot: Chatbot, options: argparse.Namespace) -> int:
    return _exported(chatbot.cases.export(OWNER))


def _left_out(health: CaseHealth) -> str:
    stale = f"; {health.stale} left out, for a document changed or went" if health.stale else ""
    return stale + (f"; {health.waiting} without a vector yet (`memory cases reembed`)" if health.waiting else "")


def _search_cases(chatbot: Chatbot, options: argparse.Namespace) -> int:
    from chatbot.memory.cases.store import Wanted

    results = chatbot.cases.find(OWNER, options.texts[0], Wanted(options.k))
    if not results:
        health = chatbot.cases.health(OWNER)
        there = f"None of {counted(health.cases, 'rated answer')} is to a question like this{_left_out(health)}."
        note(Notice(there, "`memory cases list` shows all.") if health.cases else NONE_RATED)
    for found in results:
        emit(
            {"rank": found.rank, "score": found.score, **_case_line(found.case)}, f"{found.score:.2f}  {_case_text(found.case)}", as_json=options.json
        )
    return DONE


def _remove_case(chatbot: Chatbot, options: argparse.Namespace) -> int:
    from chatbot.memory.cases.store import KEPT_DAYS

    key = options.texts[0]
    chatbot.cases.delete(OWNER, key)
    undo = f"Removed. Undo within {KEPT_DAYS} days: python -m chatbot memory cases restore {key}"
    emit({"key": key, "status": "removed"}, undo, as_json=options.json)
    return DONE


def _restore_case(chatbot: Chatbot, options: argparse.Namespace) -> int:
    emit(_case_line(chatbot.cases.restore(OWNER, options.texts[0])), "Restored.", as_json=options.json)
    return DONE


def _reembed_cases(chatbot: Chatbot, options: argparse.Namespace) -> int:
    waiting = chatbot.cases.catch_up(OWNER, most=None)
    emit({"waiting": waiting}, f"{counted(waiting, 'rated answer')} without a vector.", as_json=options.json)
    return FAILED if waiting else DONE


def _health_of_cases(chatbot: Chatbot, options: argparse.Namespace) -> int:
    health = chatbot.cases.health(OWNER)
    text = f"{counted(health.cases, 'rated answer')} ({health.positive} helpful, {health.negative} not), {health.stale} stale"
    text += f", {health.waiting} without a vector yet."
    unread = [f"Rated answer {problem.line}: {problem.reason}" for problem in health.problems]
    unread += [f"Shared answer {problem.line}: {problem.reason}" for problem in health.shared_problems]
    emit(dataclasses.asdict(health), "\n".join([text, *unread]), as_json=options.json)
    return FAILED if unread else DONE


# --- situations -----------------------------------------------------------------------------------------------------------------


def _list_situations(chatbot: Chatbot, options: argparse.Namespace) -> int:
    every = chatbot.situations.listed(OWNER)
    rows = [one for one in every if not options.scope or one.scope.casefold() == options.scope.casefold()]
    if not rows:
        note(Notice(f"No advice is recorded on {options.scope}.") if every else NONE_ADVISED)
    for one in rows[: options.k]:
        line = {"key": one.key, "scope": one.scope, "situation": one.situation, "recommendations": list(one.recommendations), "at": one.at}
        of = f" [{one.scope}]" if one.scope else ""
        emit(line, f"{one.key}{of}  {one.situation} → {'; '.join(one.recommendations)}", as_json=options.json)
    return DONE


def _add_situation(chatbot: Chatbot, options: argparse.Namespace) -> int:
    for key in chatbot.situations.add(OWNER, [(options.texts[0], options.texts[1])], scope=options.scope):
        emit({"key": key, "status": "added"}, f"Added {key}.", as_json=options.json)
    return DONE


def _import_situations(chatbot: Chatbot, options: argparse.Namespace) -> int:
    return _imported(chatbot.situations.import_file(OWNER, Path(options.texts[0])), options)


def _export_situations(chatbot: Chatbot, options: argparse.Namespace) -> int:
    return _exported(chatbot.situations.export(OWNER))


def _search_situations(chatbot: Chatbot, options: argparse.Namespace) -> int:
    from chatbot.memory.situations.store import SituationMemory

    memory = SituationMemory(chatbot.situations, scope=options.scope, owner=OWNER)
    results = memory.get_memories(options.texts[0], options.k, strategy=options.strategy)
    if not results:
        scopes = [scope for scope in chatbot.situations.scopes(OWNER) if scope]
        others = f" There is some on {', '.join(scopes[:FEW])}: ask with --scope." if scopes else ""
        note(Notice(f"No advice is recorded {f'on {options.scope}' if options.scope else 'of no subject'}.{others}") if scopes else NONE_ADVISED)
    for found in results:
        text = f"{found['similarity_score']:.2f}  {found['matched_situation']} → {found['recommendation']}"
        emit(found, text, as_json=options.json)
    return DONE


def _remove_situation(chatbot: Chatbot, options: argparse.Namespace) -> int:
    chatbot.situations.remove(OWNER, options.texts[0])
    emit({"key": options.texts[0], "status": "removed"}, "Removed.", as_json=options.json)
    return DONE


def _health_of_situations(chatbot: Chatbot, options: argparse.Namespace) -> int:
    health = chatbot.situations.health(OWNER)
    emit(dataclasses.asdict(health), f"{counted(health.situations, 'situation')}, {health.waiting} without vectors yet.", as_json=options.json)
    return DONE


RUNS: dict[str, dict[str, Run]] = {
    "cases": {
        "list": _list_cases,
        "add": _add_case,
        "import": _import_cases,
        "export": _export_cases,
        "search": _search_cases,
        "remove": _remove_case,
        "restore": _restore_case,
        "health": _health_of_cases,
        "reembed": _reembed_cases,
    },
    "situations": {
        "list": _list_situations,
        "add": _add_situation,
        "import": _import_situations,
        "export": _export_situations,
        "search": _search_situations,
        "remove": _remove_situation,
        "health": _health_of_situations,
    },
    "signals": SIGNALS,
}
