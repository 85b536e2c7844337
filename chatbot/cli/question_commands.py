"""Runs the commands that search, ask and compare, one query at a time or many as JSON lines."""

from __future__ import annotations

import json
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chatbot.cli.audit_command import write_audit
from chatbot.cli.output import (
    DONE,
    FAILED,
    MOST_PAGES,
    Lines,
    answer_text,
    compared_text,
    hit_text,
    holding_text,
    note,
    open_chatbot,
    printed,
    progress_bars,
    say,
    side_by_side_text,
)
from chatbot.cli.served_command import go_on, stopped
from chatbot.errors import ProjectError, QuestionError, StoreError, UsageError
from chatbot.memory.conversations.conversation_names import LOCAL
from chatbot.serialize import answer_line, compared_line, hit_line
from chatbot.settings import PROGRAM, Settings

if TYPE_CHECKING:
    from chatbot.asking.question import Ask
    from chatbot.records import Answer, Exchange, Hit
    from chatbot.service import Chatbot

__all__ = ["ask", "compare", "key_figures", "search"]

ROW_HINT = (
    f'A line is {{"id", "query", "documents": [NAME]?, "k": 1 to {MOST_PAGES}?, "history": [{{"user", '
    f'"assistant"}}]?}}.'
)


@printed
def search(options: Namespace, settings: Settings) -> Lines:
    if options.raw and options.mode != "vector":
        raise UsageError("--raw needs --mode vector.", hint="Add --mode vector.")
    if options.batch and len(options.strategy) > 1:
        raise UsageError("--batch needs a single strategy.", hint="Name only one.")
    if options.raw and options.strategy != ["average"]:
        raise UsageError("--raw needs --strategy average.", hint="Use only one of them.")
    with open_chatbot(settings) as chatbot:

        def find(query: str, names: Sequence[str], k: int, strategy: str) -> list[Hit]:
            from chatbot.search.page_search import Find

            with progress_bars() as progress:
                asked = Find(query, tuple(names), options.mode, k, options.raw, strategy)
                return chatbot.find(asked, progress=partial(progress, "query"), tell=note)

        def found_for(row: dict[str, Any]) -> dict[str, Any]:
            query = chatbot.standalone(row["query"], row["history"])
            k = options.k if row["k"] is None else row["k"]
            hits = find(query, row["documents"], k, options.strategy[0])
            return {"search_query": query, "hits": [hit_line(rank, hit) for rank, hit in enumerate(hits, 1)]}

        if options.batch:
            return (yield from _batch(options, found_for))
        query = _query(options)
        found = {name: find(query, options.document, options.k, name) for name in options.strategy}
        waiting = len(chatbot.library.catalog.waiting())
    several = len(found) > 1
    if several and not options.json:
        yield {}, side_by_side_text(found)
    else:
        for strategy, hits in found.items():
            named = {"strategy": strategy} if several else {}
            for rank, hit in enumerate(hits, 1):
                yield {**named, **hit_line(rank, hit)}, hit_text(rank, hit)
    if waiting:
        say(f"{waiting} files are not added yet. Run: {PROGRAM} doctor")
    if not any(found.values()):
        say("Nothing found.")


@printed
def ask(options: Namespace, settings: Settings) -> Lines:
    if options.batch and options.audit is not None:
        raise UsageError("--audit takes one question.", hint="Remove --batch.")
    if options.models is not None:
        return (yield from _ask_several(options, settings))
    with open_chatbot(settings) as chatbot:
        if options.batch:
            return (
                yield from _batch(options, lambda row: answer_line(_answer(chatbot, _asked(options, row))))
            )
        asked_at = time.time()
        with suppress(StoreError):  # on a full disk; reported with the answer, which comes all the same
            if options.conversation:
                chatbot.conversations.begin(LOCAL, options.conversation)
        asked = _asked(options)
        given = _answer(chatbot, asked)
        yield answer_line(given), answer_text(given)
        if options.audit is not None:
            write_audit(chatbot, given, options.audit, asked_at)
        chatbot.settle(asked)
    return FAILED if given.error else DONE


def _asked(options: Namespace, row: dict[str, Any] | None = None) -> Ask:
    """The question of the options, or of a row of a batch, which is kept in no conversation."""
    from chatbot.asking.question import Ask

    how = {"owner": LOCAL, "tools": options.tools, "verify": options.verify}
    if row is not None:
        return Ask(row["query"], tuple(row["documents"]), None, tuple(row["history"]), **how)
    return Ask(_query(options), tuple(options.document), options.conversation, **how)


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


def _ask_several(options: Namespace, settings: Settings) -> Lines:
    """Asks several models one question: yields each answer as it comes, and then what holds of it."""
    from chatbot.asking.side_by_side import compared_models
    from chatbot.comparison.model_answers import compared_figures

    if options.batch or options.conversation or options.audit is not None:
        raise UsageError("--models takes one question.", hint="Remove --batch, --conversation and --audit.")
    models = compared_models(options.models.split(","), settings)
    asked = _asked(options)
    answers = []
    with open_chatbot(settings) as chatbot:
        for compared in chatbot.side_by_side.answers(asked, models, stopped):
            answers.append(compared)
            if not options.json:
                yield {}, f"{compared_text(compared)}\n"
    names = [model.name for model in models]
    answers.sort(key=lambda compared: names.index(compared.name))
    figures = compared_figures(answers)
    yield compared_line(asked.question, answers, figures), holding_text(answers, figures)
    return FAILED if any(compared.problem for compared in answers) else DONE


def _batch(options: Namespace, run: Callable[[dict[str, Any]], dict[str, Any]]) -> Lines:
    """Yields one line for each line of standard input, in order; a failure is a line with "error"."""
    options.json = True
    failed = False
    for number, text in enumerate(sys.stdin.buffer, 1):
        if not text.strip():
            continue
        line: dict[str, Any] = {"id": None, "line": number}
        try:
            row = _row(text, options)
            line = {"id": row["id"]}
            if row["wrong"]:
                raise QuestionError(
                    f"These fields of the line are not valid: {' and '.join(row['wrong'])}.", hint=ROW_HINT
                )
            line |= run(row)
        except ProjectError as error:
            line["error"] = str(error)
        failed |= "error" in line
        yield line, ""
    return FAILED if failed else DONE


def _row(text: bytes, options: Namespace) -> dict[str, Any]:
    """Parses one query of a batch; "wrong" names the parts that cannot be used.

    Raises QuestionError if the line is not a JSON object.
    """
    try:
        row = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise QuestionError("The line is not JSON.", hint=ROW_HINT) from error
    if not isinstance(row, dict):
        raise QuestionError("The line is not a JSON object.", hint=ROW_HINT)
    identity, query, k = row.get("id"), row.get("query"), row.get("k")
    documents = row.get("documents") or options.document
    history = row.get("history") or []
    exchanges = [_exchange(said) for said in history] if isinstance(history, list) else [None]
    checks = {
        "id": not isinstance(identity, float),  # JSON has no NaN and no infinities
        "query": isinstance(query, str),
        "k": k is None or (type(k) is int and 1 <= k <= MOST_PAGES),  # isinstance takes True for an int
        "documents": isinstance(documents, list) and all(isinstance(name, str) for name in documents),
        "history": None not in exchanges,
    }
    return {
        "id": identity if checks["id"] else str(identity),
        "query": query,
        "documents": documents,
        "history": exchanges,
        "k": k,
        "wrong": [name for name, right in checks.items() if not right],
    }


def _exchange(said: object) -> Exchange | None:
    from chatbot.records import Exchange

    match said:
        case {"user": str(user), "assistant": str(assistant)}:
            return Exchange(user, assistant)
    return None


def _query(options: Namespace) -> str:
    if options.query is None:
        raise UsageError(
            "The question is missing.",
            hint="Write it in quotation marks, or use --batch with JSON lines on standard input.",
        )
    return str(options.query)


@printed
def compare(options: Namespace, settings: Settings) -> Lines:
    from chatbot.comparison import Comparison, changes, csv_bytes, entry_line, entry_text, ranks

    if options.json and options.csv:
        raise UsageError("--json and --csv cannot be used together.", hint="Use only one of them.")
    try:
        comparison = Comparison.of(options.query, options.document, options.year)
    except QuestionError as error:
        raise UsageError(error.message, hint=error.hint) from error
    entries = {}
    with open_chatbot(settings) as chatbot:
        chatbot.library.scope(comparison.names)
        editions = chatbot.editions(comparison.names)
        for entry in chatbot.compare(comparison, stop=stopped, tell=cache(note)):
            entries[entry.place] = entry
            change = changes(comparison, entries, editions).get(entry.place)
            if not options.csv:
                yield entry_line(entry, change), entry_text(entry, change)
    go_on()
    if options.csv:
        changed, ranked = changes(comparison, entries, editions), ranks(comparison, entries, editions)
        sys.stdout.buffer.write(csv_bytes(list(entries.values()), changed, comparison.question, ranked))
    return FAILED if any(entry.state == "failed" for entry in entries.values()) else DONE


@printed
def key_figures(options: Namespace, settings: Settings) -> Lines:
    """Yields each cell of the sheet, and writes it to the files that are asked for."""
    from chatbot.comparison.key_figure_files import figure_lines, figure_text, sheet_csv, sheet_xlsx

    with open_chatbot(settings) as chatbot, progress_bars() as show:
        sheet = chatbot.key_figures(
            options.names,
            progress=lambda _, done, total: show("key figures", "reading", done, total),
            stop=stopped,
        )
    go_on()
    for path, made in ((options.csv, sheet_csv), (options.xlsx, sheet_xlsx)):
        if path is not None:
            _write(path, made(sheet))
    if options.json:
        for line in figure_lines(sheet):
            yield line, ""
        return
    for row in sheet.rows:
        for column in sheet.columns:
            if not sheet.is_elsewhere(row, column):
                yield {}, figure_text(row, column, sheet.cell(row, column))
    for name, remark in sheet.remarks.items():
        yield {}, f"{name}: {remark}."
    if sheet.lacking:
        yield {}, f"Not found in these documents: {', '.join(sheet.lacking)}."


def _write(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        raise ProjectError(
            f"{path} cannot be written: {error.strerror}.", hint="Name another file."
        ) from error
