"""Runs the commands that search and ask, one query at a time or many as JSON lines."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from chatbot.cli.audit_command import write_audit
from chatbot.cli.conversation_commands import OWNER
from chatbot.cli.exit_codes import DONE, FAILED, MOST_PAGES, is_page_count, open_chatbot
from chatbot.cli.output import (
    answer_text,
    compared_text,
    emit,
    hit_text,
    holding_text,
    note,
    progress_bars,
    side_by_side_text,
)
from chatbot.cli.served_command import go_on, stopped
from chatbot.errors import ProjectError, QuestionError, StoreError, UsageError
from chatbot.serialize import answer_line, compared_line, hit_line
from chatbot.settings import PROGRAM, Settings
from ingestion.invisible_characters import visible

if TYPE_CHECKING:
    from chatbot.asking.question import Ask
    from chatbot.records import Answer, Exchange, Hit
    from chatbot.service import Chatbot

__all__ = ["ask", "search"]

ROW_HINT = (
    f'A line is {{"id", "query", "documents": [NAME]?, "k": 1 to {MOST_PAGES}?, "history": [{{"user", '
    f'"assistant"}}]?}}.'
)


def search(options: argparse.Namespace, settings: Settings) -> int:
    if options.raw and options.mode != "vector":
        raise UsageError("--raw needs --mode vector.", hint="Add --mode vector.")
    if options.batch and len(options.strategy) > 1:
        raise UsageError("--batch needs a single strategy.", hint="Name only one.")
    if options.raw and options.strategy != ["average"]:
        raise UsageError("--raw needs --strategy average.", hint="Use only one of them.")

    def find(
        chatbot: Chatbot, query: str, names: Sequence[str], k: int, strategy: str = options.strategy[0]
    ) -> list[Hit]:
        from chatbot.search.page_search import Find

        with progress_bars() as progress:
            asked = Find(query, tuple(names), options.mode, k, options.raw, strategy)
            return chatbot.find(asked, progress=partial(progress, "query"), tell=note)

    def run(chatbot: Chatbot, row: dict[str, Any]) -> dict[str, Any]:
        query = chatbot.standalone(row["query"], _history(row))
        if row["k"] is None:
            k = options.k
        else:
            k = row["k"]
        hits = find(chatbot, query, row["documents"], k)
        return {
            "id": row["id"],
            "search_query": query,
            "hits": [hit_line(rank, hit) for rank, hit in enumerate(hits, 1)],
        }

    if options.batch:
        return _batch(options, settings, run)
    with open_chatbot(settings) as chatbot:
        query = _query(options)
        found = {name: find(chatbot, query, options.document, options.k, name) for name in options.strategy}
        waiting = len(chatbot.library.catalog.waiting())
    _print_found(found, as_json=options.json)
    if waiting:
        print(f"{waiting} files are not added yet. Run: {PROGRAM} doctor", file=sys.stderr)
    if not any(found.values()):
        print("Nothing found.", file=sys.stderr)
    return DONE


def _print_found(found: dict[str, list[Hit]], *, as_json: bool) -> None:
    """Prints the hits of one strategy, or of several side by side."""
    if not as_json and len(found) > 1:
        print(visible(side_by_side_text(found)), flush=True)
        return
    for strategy, hits in found.items():
        named = {"strategy": strategy} if len(found) > 1 else {}
        for rank, hit in enumerate(hits, 1):
            emit({**named, **hit_line(rank, hit)}, hit_text(rank, hit), as_json=as_json)


def ask(options: argparse.Namespace, settings: Settings) -> int:
    from chatbot.asking.question import Ask

    def run(chatbot: Chatbot, row: dict[str, Any]) -> dict[str, Any]:
        history = tuple(_history(row))
        return {
            "id": row["id"],
            **answer_line(
                _answer(
                    chatbot,
                    Ask(
                        row["query"],
                        tuple(row["documents"]),
                        None,
                        history,
                        tools=options.tools,
                        verify=options.verify,
                    ),
                )
            ),
        }

    if options.batch and options.audit is not None:
        raise UsageError("--audit takes one question.", hint="Remove --batch.")
    if options.models is not None:
        return _ask_several(options, settings)
    if options.batch:
        return _batch(options, settings, run)
    with open_chatbot(settings) as chatbot:
        asked_at = time.time()
        with suppress(StoreError):  # on a full disk; reported with the answer, which comes all the same
            if options.conversation:
                chatbot.conversations.begin(OWNER, options.conversation)
        asked = Ask(
            _query(options),
            tuple(options.document),
            options.conversation,
            owner=OWNER,
            tools=options.tools,
            verify=options.verify,
        )
        given = _answer(chatbot, asked)
        emit(answer_line(given), answer_text(given), as_json=options.json)
        if options.audit is not None:
            write_audit(chatbot, given, options.audit, asked_at)
        chatbot.settle(asked)
    return FAILED if given.error else DONE


def _answer(chatbot: Chatbot, asked: Ask) -> Answer:
    """The answer, after its notes, without those that stand below it."""
    from chatbot.records import Answer, Notice

    notices = []
    answer: Answer | None = None
    for event in chatbot.ask(asked, stop=stopped):
        go_on()
        if isinstance(event, Notice):
            notices.append(event)
        elif isinstance(event, Answer):
            answer = event
    assert answer is not None
    for notice in notices:
        if notice.text not in answer.superseded:
            note(notice)
    return answer


def _ask_several(options: argparse.Namespace, settings: Settings) -> int:
    """Asks several models one question, and prints each answer as it comes and then what holds of it."""
    from chatbot.asking.question import Ask
    from chatbot.asking.side_by_side import compared_models
    from chatbot.comparison.model_answers import compared_figures

    if options.batch or options.conversation or options.audit is not None:
        raise UsageError("--models takes one question.", hint="Remove --batch, --conversation and --audit.")
    models = compared_models(options.models.split(","), settings)
    question = _query(options)
    answers = []
    with open_chatbot(settings) as chatbot:
        asked = Ask(
            question, tuple(options.document), owner=OWNER, tools=options.tools, verify=options.verify
        )
        for compared in chatbot.side_by_side.answers(asked, models, stopped):
            answers.append(compared)
            if not options.json:
                emit({}, f"{compared_text(compared)}\n", as_json=False)
    names = [model.name for model in models]
    answers.sort(key=lambda compared: names.index(compared.name))
    figures = compared_figures(answers)
    line = compared_line(question, answers, figures)
    emit(line, holding_text(answers, figures), as_json=options.json)
    return FAILED if any(compared.problem for compared in answers) else DONE


def _batch(
    options: argparse.Namespace, settings: Settings, run: Callable[[Chatbot, dict[str, Any]], dict[str, Any]]
) -> int:
    """Prints one output line for each line of standard input, in order; a failure is a line with "error"."""
    failed = False
    with open_chatbot(settings) as chatbot:
        for number, text in enumerate(sys.stdin.buffer, 1):
            if not text.strip():
                continue
            line: dict[str, Any] = {"id": None, "line": number}
            try:
                row = _row(text, options)
                line = {"id": row["id"]}
                if row["wrong"]:
                    raise QuestionError(
                        f"These fields of the line are not valid: {' and '.join(row['wrong'])}.",
                        hint=ROW_HINT,
                    )
                line = run(chatbot, row)
            except ProjectError as error:
                line["error"] = str(error)
            failed |= bool(line.get("error"))
            emit(line, "", as_json=True)
    return FAILED if failed else DONE


def _row(text: bytes, options: argparse.Namespace) -> dict[str, Any]:
    """Parses one query of a batch; "wrong" names the parts that cannot be used.

    Raises QuestionError if the line is not a JSON object.
    """
    try:
        row = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise QuestionError("The line is not JSON.", hint=ROW_HINT) from error
    if not isinstance(row, dict):
        raise QuestionError("The line is not a JSON object.", hint=ROW_HINT)
    documents = row.get("documents") or []
    history = row.get("history") or []
    checks = {
        "id": not isinstance(row.get("id"), float),  # JSON has no NaN and no infinities
        "query": isinstance(row.get("query"), str),
        "k": row.get("k") is None or is_page_count(row["k"]),
        "documents": isinstance(documents, list) and all(isinstance(name, str) for name in documents),
        "history": isinstance(history, list) and all(_is_exchange(said) for said in history),
    }
    wrong = [name for name, right in checks.items() if not right]
    if "id" not in wrong:
        identity = row.get("id")
    else:
        identity = str(row["id"])
    given = {
        "id": identity,
        "query": row.get("query"),
        "documents": documents or options.document,
        "history": history,
        "k": row.get("k"),
    }
    return {**given, "wrong": wrong}


def _is_exchange(said: object) -> bool:
    return (
        isinstance(said, dict)
        and isinstance(said.get("user"), str)
        and isinstance(said.get("assistant"), str)
    )


def _history(row: dict[str, Any]) -> list[Exchange]:
    from chatbot.records import Exchange

    return [Exchange(said["user"], said["assistant"]) for said in row["history"]]


def _query(options: argparse.Namespace) -> str:
    if options.query is None:
        raise UsageError(
            "The question is missing.",
            hint="Write it in quotation marks, or use --batch with JSON lines on standard input.",
        )
    return str(options.query)
