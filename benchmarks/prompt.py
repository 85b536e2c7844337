"""Measures which of the right pages reach a chat model.

For a question about one document that is its gold page, for a comparison a page of each side.

    python benchmarks/prompt.py --questions FILE [FILE ...] --documents FOLDER [FOLDER ...] [--store FOLDER]
                                [--context TOKENS] [--pages N] [--show]

The files are those of benchmarks/questions.py; a comparison names its sides in "page_groups" (document and
pages) or "page_refs" (document and page). A model that says nothing receives each prompt, and the product's
own time up to that moment is reported. --pages acts as FINPOLICY_PROMPT_PAGES. --show prints what is missing.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.asking import opened
from benchmarks.questions import STORE, load_questions
from benchmarks.tables import markdown_table
from chatbot.asking.question import Ask
from chatbot.models.chat import PromptSource, Reply
from chatbot.models.tokens import count_tokens
from chatbot.records import Answer, Exchange
from chatbot.service import Chatbot

__all__ = ["Reached", "Silent", "reached", "sides_of"]


class Silent:
    """A chat model that refuses at once. asked: when it was, by the clock of `time.perf_counter`."""

    name, host = "silent", "this process"

    def __init__(self) -> None:
        self.asked = 0.0

    def stream(
        self,
        messages: Sequence[tuple[str, str]],
        *,
        max_tokens: int,
        schema: Mapping[str, object] | None = None,
        stop: Callable[[], bool] = lambda: False,
        sources: Sequence[PromptSource] = (),
    ) -> Reply:
        """As LLM.stream."""
        self.asked = time.perf_counter()

        def says() -> Generator[str, None, str]:
            yield "NOT IN THESE DOCUMENTS"
            return "stop"

        return Reply(says())


@dataclass(frozen=True, slots=True)
class Reached:
    """What of a question's pages its prompt has. sides: of the groups of pages that answer, whether any
    page of each is there; seconds: to the model.
    """

    row: Mapping[str, Any]
    sides: tuple[bool, ...]
    pages: int
    tokens: int
    seconds: float


def sides_of(row: Mapping[str, Any]) -> list[frozenset[tuple[str, int]]]:
    """The groups of pages, each (document, page), of which a prompt should have one; [] for a question
    that no page answers.
    """
    if not row.get("answerable", True):
        return []
    groups = row.get("page_groups") or [
        {"document": one["doc"], "pages": [one["page"]]} for one in row.get("page_refs") or ()
    ]
    if len({group["document"] for group in groups}) > 1:
        return [_gold_pages(group) for group in groups]
    document = row.get("doc") or row.get("doc_hint") or row.get("document")
    return (
        [frozenset((_file(document), page) for page in row.get("pages") or ())]
        if document and row.get("pages")
        else []
    )


def reached(chatbot: Chatbot, model: Silent, row: Mapping[str, Any]) -> Reached:
    """One question put to the chatbot: of its own document, or of all where it compares."""
    sides = sides_of(row)
    names = (next(iter(sides[0]))[0],) if len(sides) == 1 else ()
    history = tuple(Exchange(said["user"], said["assistant"]) for said in row.get("history") or ())
    started = time.perf_counter()
    answer = next(
        event
        for event in chatbot.ask(Ask(row["question"], names, None, history))
        if isinstance(event, Answer)
    )
    there = {(hit.document, hit.page) for hit in answer.prompt.sources.values()} if answer.prompt else set()
    tokens = sum(count_tokens(text) for _, text in answer.prompt.messages) if answer.prompt else 0
    return Reached(
        row,
        tuple(not side.isdisjoint(there) for side in sides),
        len(there),
        tokens,
        max(model.asked - started, 0.0),
    )


def _gold_pages(group: Mapping[str, Any]) -> frozenset[tuple[str, int]]:
    return frozenset((_file(group["document"]), page) for page in group["pages"])


def _file(document: str) -> str:
    return document if document.endswith(".pdf") else f"{document}.pdf"


def _row(name: str, found: Sequence[Reached]) -> list[str]:
    whole = [one for one in found if all(one.sides)]
    pages = round(statistics.mean(one.pages for one in found))
    tokens = round(statistics.mean(one.tokens for one in found))
    return [
        name,
        str(len(found)),
        f"{len(whole)}",
        f"{len(whole) / len(found):.3f}",
        str(pages),
        f"{tokens:,}",
        f"{_median(found):.0f} ms",
    ]


def _median(found: Sequence[Reached]) -> float:
    return statistics.median(one.seconds for one in found) * 1000


def main() -> None:
    """Print a table: of each set, questions about one document and comparisons."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--questions", type=Path, nargs="+", required=True)
    parser.add_argument("--documents", type=Path, nargs="+", required=True)
    parser.add_argument("--store", type=Path, default=STORE)
    parser.add_argument("--context", type=int, default=16_000)
    parser.add_argument("--pages", type=int, default=0)
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    os.environ |= {"FINPOLICY_CONTEXT_TOKENS": str(given.context), "FINPOLICY_PROMPT_PAGES": str(given.pages)}
    rows = []
    for path, folder in zip(given.questions, given.documents, strict=True):
        model = Silent()
        lines = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
        with opened(load_questions(path, folder), given.store, model=model) as chatbot:
            found = [reached(chatbot, model, line) for line in lines if sides_of(line)]
        kinds = {
            "one document": [one for one in found if len(one.sides) == 1],
            "comparisons": [one for one in found if len(one.sides) > 1],
        }
        rows += [_row(f"{path.stem}, {kind}", some) for kind, some in kinds.items() if some]
        if given.show:
            for one in found:
                if not all(one.sides):
                    print(f"{one.row['id']}: {list(one.sides)} {one.row['question']}")
    heads = [
        "set",
        "questions",
        "all sides in the prompt",
        "share",
        "pages",
        "tokens",
        "to the model (median)",
    ]
    print(markdown_table(heads, rows))


if __name__ == "__main__":
    main()
