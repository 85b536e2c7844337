"""Puts any chat model through the development questions: keys, right values, doubts, tokens, time.

    python benchmarks/models.py --questions FILE [FILE ...] --documents FOLDER [FOLDER ...]
                                [--model NAME ...] [--store FOLDER] [--count 60] [--log FILE.jsonl]

A model is named as for `ask --models`: PROVIDER:MODEL, MODEL at OPENAI_BASE_URL, or none for the documents'
own words; by default it is that of the environment. small_model.py serves one from a file.

The same number of answerable questions about one document is taken from each file, at even distances. --log
writes a line for each answer as it comes, including what the model wrote; a second run continues after the
last line.

Keys: the statements of its answers that have a key of the model's own. Right: one of the question's values
stands in the answer; with its page: and a gold page is cited. Without a doubt: shown without any warning. Own
time: what the product takes beside the model.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.asking import opened
from benchmarks.questions import STORE, Question, load_questions, only_answerable
from benchmarks.scores import has_value
from benchmarks.tables import markdown_table
from chatbot.asking.named_models import OWN_WORDS, model_settings
from chatbot.asking.question import Ask
from chatbot.records import FINE, Answer, Token, Usage
from chatbot.service import Chatbot
from chatbot.settings import load_settings

__all__ = ["asked", "chosen", "report"]


def chosen(questions: Sequence[Question], count: int) -> list[Question]:
    """So many of the answerable ones about one document, at even distances."""
    some = [
        one
        for one in only_answerable(questions)
        if len(one.names or (one.document,)) == 1 and one.document and not one.history
    ]
    return [some[at * len(some) // count] for at in range(min(count, len(some)))]


def asked(chatbot: Chatbot, question: Question, model: str = "") -> dict[str, Any]:
    """One answer, as a line of the log. model: its name."""
    started, written, answer = time.perf_counter(), list[str](), None
    for event in chatbot.ask(Ask(question.text, names=(question.document,))):
        if isinstance(event, Token):
            written.append(event.text)
        if isinstance(event, Answer):
            answer = event
    assert answer is not None
    statuses = Counter(one.status for one in answer.statements)
    verified = sum(one.verified for one in answer.citations)
    fine = sum(one.status in FINE for one in answer.numbers)
    sources = answer.prompt.sources.values() if answer.prompt else ()
    cited_pages = {one.page for one in answer.citations if one.verified}
    usage = answer.usage or Usage()
    return {
        "model": model,
        "id": question.id,
        "question": question.text,
        "seconds": round(time.perf_counter() - started, 1),
        "wrote": "".join(written),
        "shown": answer.text,
        "answered": answer.answered and not answer.instead,
        "failed": answer.error or "",
        "notices": answer.notices,
        "statements": dict(statuses),
        "citations": [verified, len(answer.citations)],
        "figures": [fine, len(answer.numbers)],
        "right": _is_right(answer, question) if question.values else None,
        "gold": any(hit.page in question.pages for hit in sources),
        "cites_gold": not cited_pages.isdisjoint(question.pages),
        "doubted": _is_doubted(answer),
        "prompt_tokens": usage.prompt_tokens,
        "answer_tokens": usage.answer_tokens,
        "first_seconds": usage.first_seconds,
        "own_seconds": round(answer.seconds - usage.seconds, 3),
    }


def _is_right(answer: Answer, question: Question) -> bool:
    """Whether the model said a value of the question. What the documents say instead of it is not its own."""
    return not answer.instead and has_value(question.values, answer.text)


def _is_doubted(answer: Answer) -> bool:
    """Whether a reader sees any warning beside the answer."""
    doubts = [one.doubted for one in answer.citations]
    doubts += [one.status not in FINE for one in answer.numbers]
    doubts += [one.status == "unsupported" for one in answer.statements]
    return any(doubts)


# What the table calls each status of a statement.
STATEMENTS = {
    "statements with a key of its own": "cited",
    "… with a key that the check found": "cited_by_check",
    "… that no page supports": "unsupported",
}


# What the table gives the median of.
MEDIANS = {
    "tokens of a prompt": "prompt_tokens",
    "tokens of an answer": "answer_tokens",
    "seconds to the first word": "first_seconds",
    "seconds": "seconds",
    "own seconds": "own_seconds",
}


def report(rows: Sequence[Mapping[str, Any]]) -> str:
    """One table."""
    said = [row for row in rows if row["answered"] and not row["failed"]]
    statements = sum((Counter[str](row["statements"]) for row in said), Counter[str]())
    valued = [row for row in rows if row["right"] is not None]
    lines: list[tuple[str, float, str]] = [
        ("questions", len(rows), ""),
        ("answered by the model", len(said), ""),
        ("failed", sum(bool(row["failed"]) for row in rows), ""),
    ]
    for what, status in STATEMENTS.items():
        lines.append((what, statements[status], _of(statements[status], statements.total())))
    for what in ("citations", "figures"):
        lines.append((f"{what} verified", *_sum(said, what)))
    right = [row for row in valued if row["right"]]
    lines.append(("right values", len(right), _of(len(right), len(valued))))
    with_page = sum(row["cites_gold"] for row in right)
    lines.append(("right values with their page", with_page, _of(with_page, len(valued))))
    clean = sum(not row["doubted"] for row in right)
    lines.append(("right values without a doubt", clean, _of(clean, len(right))))
    for what, name in MEDIANS.items():
        values = sorted(row[name] for row in rows)
        lines.append((f"median {what}", values[len(rows) // 2] if rows else 0, ""))
    return markdown_table(("", "n", "share"), lines)


def _sum(rows: Sequence[Mapping[str, Any]], what: str) -> tuple[int, str]:
    fine = sum(row[what][0] for row in rows)
    whole = sum(row[what][1] for row in rows)
    return fine, _of(fine, whole)


def _of(some: int, whole: int) -> str:
    return f"{some / whole:.2f} of {whole}" if whole else ""


def main() -> int:
    """Ask and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--questions", type=Path, nargs="+", required=True, help="files of questions")
    parser.add_argument(
        "--documents",
        type=Path,
        nargs="+",
        required=True,
        help="the folder of the PDFs of each, in the same order",
    )
    parser.add_argument(
        "--store",
        type=Path,
        default=STORE,
        help="where the indexes are kept between runs (default %(default)s)",
    )
    parser.add_argument("--model", action="append", default=[], metavar="NAME", help="may be repeated")
    parser.add_argument("--count", type=int, default=60, help="questions in all (default %(default)s)")
    parser.add_argument("--log", type=Path, metavar="FILE.jsonl")
    given = parser.parse_args()
    rows = []
    if given.log and given.log.exists():
        rows = [json.loads(line) for line in given.log.read_text("utf-8").splitlines()]
    for row in _ask_all(given, {(row["model"], row["id"]) for row in rows}):
        rows.append(row)
        if given.log:
            with given.log.open("a", encoding="utf-8") as log:
                log.write(json.dumps(row, ensure_ascii=False) + "\n")
    for name in dict.fromkeys(row["model"] for row in rows):
        print(f"\n{name or 'the model of the environment'}\n")
        print(report([row for row in rows if row["model"] == name]))
    return 0


def _ask_all(given: argparse.Namespace, done: set[tuple[str, str]]) -> Iterator[dict[str, Any]]:
    each = given.count // len(given.questions)
    settings = load_settings()
    models = {name: model_settings(name, settings) for name in given.model} or {"": settings}
    for name, (path, folder) in product(models, zip(given.questions, given.documents, strict=True)):
        questions = load_questions(path, folder)
        with opened(questions, given.store, settings=models[name]) as chatbot:
            if chatbot.models.answering() is None and name != OWN_WORDS:
                raise SystemExit("No chat model is set: name one by --model, or set FINPOLICY_CHAT_MODEL.")
            for one in chosen(questions.questions, each):
                if (name, one.id) not in done:
                    yield asked(chatbot, one, name)


if __name__ == "__main__":
    raise SystemExit(main())
