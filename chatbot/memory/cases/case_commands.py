"""Runs the `memory cases` command.

It lists, adds, imports, exports, searches, removes and restores rated answers and reports their state.
"""

from __future__ import annotations

import dataclasses
import sys
from argparse import Namespace
from typing import TYPE_CHECKING, Any

from chatbot.cli.memory_command import FEW, Action, file_actions
from chatbot.cli.output import DONE, FAILED, Lines, note, printed
from chatbot.memory.cases.records import Case, case_fields
from chatbot.memory.conversations.conversation_names import LOCAL
from chatbot.memory.layers import counted
from chatbot.settings import PROGRAM

if TYPE_CHECKING:
    from chatbot.memory.cases.case_store import CaseHealth
    from chatbot.service import Chatbot

__all__ = ["ACTIONS"]

FORM = (
    'A line is a JSON object such as {"question": "…", "plan": "the answer", "reward": 1}; `memory cases '
    "export` writes them."
)
NONE_RATED = (
    "No answers have been rated yet. Rate one on the Chat page, or add one with: "
    f'{PROGRAM} memory cases add "QUESTION" "ANSWER"'
)


def _case_line(case: Case) -> dict[str, Any]:
    return {"key": case.id, **case_fields(case)}


def _case_text(case: Case) -> str:
    verdict = "helpful    " if case.reward else "not helpful"
    return f"{case.id}  {verdict}  {case.question}\n    {' '.join(case.plan.split())[:300]}"


@printed
def _list_cases(options: Namespace, chatbot: Chatbot) -> Lines:
    rows = chatbot.cases.listed(LOCAL)
    if not rows:
        note(NONE_RATED)
    for row in rows[: options.k]:
        mark = " (stale: its document was changed or removed)" if row.stale else ""
        yield {**_case_line(row.case), "stale": row.stale}, _case_text(row.case) + mark


@printed
def _add_case(options: Namespace, chatbot: Chatbot) -> Lines:
    question, answer = options.texts
    case = chatbot.cases.add(LOCAL, Case(question, answer, int(not options.not_helpful)))
    yield _case_line(case), f"Added {case.id}."


@printed
def _search_cases(options: Namespace, chatbot: Chatbot) -> Lines:
    results = chatbot.cases.find(LOCAL, options.texts[0], options.k)
    if not results:
        note(_none_found(chatbot.cases.health(LOCAL)))
    for found in results:
        line = {"rank": found.rank, "score": found.score, **_case_line(found.case)}
        yield line, f"{found.score:.2f}  {_case_text(found.case)}"


def _none_found(health: CaseHealth) -> str:
    """What to print if no case is to a question like the one searched for."""
    if not health.cases:
        return NONE_RATED
    stale = f"; {health.stale} skipped, as a document was changed or removed" if health.stale else ""
    waiting = f"; {health.waiting} not indexed yet (`memory cases reembed`)" if health.waiting else ""
    count = counted(health.cases, "rated answer")
    return f"None of {count} answers a similar question{stale}{waiting}. `memory cases list` shows all."


@printed
def _remove_case(options: Namespace, chatbot: Chatbot) -> Lines:
    from chatbot.memory.cases.case_store import KEPT_DAYS

    key = options.texts[0]
    chatbot.cases.delete(LOCAL, key)
    undo = f"Removed. Undo within {KEPT_DAYS} days: {PROGRAM} memory cases restore {key}"
    yield {"key": key, "status": "removed"}, undo


@printed
def _restore_case(options: Namespace, chatbot: Chatbot) -> Lines:
    yield _case_line(chatbot.cases.restore(LOCAL, options.texts[0])), "Restored."


@printed
def _reembed_cases(options: Namespace, chatbot: Chatbot) -> Lines:
    waiting = chatbot.cases.catch_up(most=None)
    yield {"waiting": waiting}, f"{counted(waiting, 'rated answer')} without a vector."
    return FAILED if waiting else DONE


@printed
def _health_of_cases(options: Namespace, chatbot: Chatbot) -> Lines:
    health = chatbot.cases.health(LOCAL)
    text = (
        f"{counted(health.cases, 'rated answer')} ({health.positive} helpful, {health.negative} not), "
        f"{health.stale} stale, {health.waiting} without a vector yet."
    )
    unread = [f"Rated answer {problem.line}: {problem.reason}" for problem in health.problems]
    yield dataclasses.asdict(health), "\n".join([text, *unread])
    return FAILED if unread else DONE


AVOID = {"action": "store_true", "help": "add the answer as one to avoid"}
ACTIONS = {
    "list": Action(_list_cases, rows=sys.maxsize),
    "add": Action(_add_case, "TEXT TEXT", options={"not_helpful": AVOID}),
    **file_actions("cases", FORM),
    "search": Action(_search_cases, "TEXT", FEW),
    "remove": Action(_remove_case, "KEY"),
    "restore": Action(_restore_case, "KEY"),
    "health": Action(_health_of_cases),
    "reembed": Action(_reembed_cases),
}
