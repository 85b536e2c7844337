"""Measures which of the right pages reach a chat model, at once and after it has looked further.

For a question about one document that is its gold page, for a comparison a page of each side.

    python benchmarks/prompt.py --questions FILE [FILE ...] --documents FOLDER [FOLDER ...] [--store FOLDER]
                                [--context TOKENS] [--pages N] [--show]
                                [--conversation FOLDER] [--sample N]

The files are those of benchmarks/questions.py; a comparison names its sides in "page_groups" (document and
pages) or "page_refs" (document and page). A model that says nothing receives each prompt, and the product's
own time up to that moment is reported. --pages acts as FINPOLICY_PAGES. --show prints what is missing.
--sample draws so many questions of each file, the same each time.

With --conversation the model is played by somebody else: each request that has no reply yet is written into
the folder as ID.N.request.txt, and its reply is expected as ID.N.reply.json, {"text": ..., "calls": [{"name":
..., "arguments": {...}}, ...]}. Called again, the script goes on from there.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
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
from benchmarks.intervals import share_cell
from benchmarks.questions import STORE, QuestionSet, load_lines, load_questions
from benchmarks.tables import markdown_table
from chatbot.asking.question import Ask
from chatbot.models.chat import PromptSource, Reply
from chatbot.models.tokens import count_tokens
from chatbot.models.tool_calls import CallPiece, CallPieces, OfferedTool, ToolRound
from chatbot.records import Answer, Exchange
from chatbot.service import Chatbot

__all__ = ["Played", "Reached", "Silent", "WaitsForReply", "reached", "sides_of"]

SEED = 47


class Silent:
    """A chat model that refuses at once. asked: when it was, by the clock of `time.perf_counter`; once: the
    tokens of the first prompt.
    """

    name, host, calls_tools, sees = "silent", "this process", False, False

    def __init__(self) -> None:
        self.asked, self.once = 0.0, 0

    def stream(
        self,
        messages: Sequence[tuple[str, str]],
        *,
        max_tokens: int,
        schema: Mapping[str, object] | None = None,
        stop: Callable[[], bool] = lambda: False,
        sources: Sequence[PromptSource] = (),
        **_: object,
    ) -> Reply:
        """As LLM.stream."""
        self.asked = time.perf_counter()
        self.once = sum(count_tokens(text) for _, text in messages)

        def says() -> Generator[str, None, str]:
            yield "NOT IN THESE DOCUMENTS"
            return "stop"

        return Reply(says())


class WaitsForReply(Exception):
    """A request was written that nobody has replied to yet."""


class Played:
    """A chat model that somebody else plays, by files in a folder. question: the id of the one that is
    asked. own: seconds that the product took between two requests, of those that were asked in a row.
    """

    name, host, calls_tools, sees = "played", "files", True, False

    def __init__(self, folder: Path) -> None:
        self.folder, self.question, self.asked, self.once = folder, "", 0.0, 0
        self.own = list[float]()
        self._count, self._replied = 0, 0.0

    def begin(self, question: str) -> None:
        """The next question is asked."""
        self.question, self._count, self._replied = question, 0, 0.0

    def stream(
        self,
        messages: Sequence[tuple[str, str]],
        *,
        max_tokens: int,
        schema: Mapping[str, object] | None = None,
        stop: Callable[[], bool] = lambda: False,
        sources: Sequence[PromptSource] = (),
        tools: Sequence[OfferedTool] = (),
        rounds: Sequence[ToolRound] = (),
    ) -> Reply:
        """As LLM.stream. Raises WaitsForReply."""
        now = time.perf_counter()
        if not self.asked:
            self.asked, self.once = now, sum(count_tokens(text) for _, text in messages)
        if self._replied:
            self.own.append(now - self._replied)
        self._count += 1
        begins = self.folder / f"{re.sub('[^A-Za-z0-9_-]', '_', self.question)}.{self._count}"
        reply = begins.with_name(f"{begins.name}.reply.json")
        if not reply.exists():
            request = begins.with_name(f"{begins.name}.request.txt")
            request.write_text(_as_read(messages, tools, rounds), "utf-8")
            raise WaitsForReply
        said = json.loads(reply.read_text("utf-8"))
        called = CallPieces()
        called.take(
            CallPiece(at, f"call_{at}", call["name"], json.dumps(call.get("arguments") or {}))
            for at, call in enumerate(said.get("calls") or ())
        )

        def says() -> Generator[str, None, str]:
            if said.get("text"):
                yield said["text"]
            self._replied = time.perf_counter()
            return "stop"

        return Reply(says(), None, called)


def _as_read(
    messages: Sequence[tuple[str, str]], tools: Sequence[OfferedTool], rounds: Sequence[ToolRound]
) -> str:
    """A request as somebody reads it who plays the model."""
    parts = [f"--- {role}\n{content}" for role, content in messages]
    for called in rounds:
        for reply in called.replies:
            asked = json.dumps(reply.call.arguments, ensure_ascii=False)
            parts.append(f"--- you called {reply.call.name} {asked}\n{reply.text}")
    offered = [f"{tool.name}: {tool.description} {json.dumps(tool.schema['properties'])}" for tool in tools]
    parts.append("\n".join(["--- tools that may be called now", *(offered or ["none"])]))
    return "\n\n".join(parts)


@dataclass(frozen=True, slots=True)
class Reached:
    """What of a question's pages its prompt has.

    sides: of the groups of pages that answer, whether any page of each is there; at_once: the same before
    the model looked further. tokens: of all prompts; once: of the first. seconds: to the model. calls: of
    tools.
    """

    row: Mapping[str, Any]
    sides: tuple[bool, ...]
    pages: int
    tokens: int
    seconds: float
    at_once: tuple[bool, ...] = ()
    once: int = 0
    calls: int = 0


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


def reached(chatbot: Chatbot, model: Silent | Played, row: Mapping[str, Any]) -> Reached:
    """One question put to the chatbot: of its own document, or of all where it compares.

    Raises WaitsForReply.
    """
    sides = sides_of(row)
    names = (next(iter(sides[0]))[0],) if len(sides) == 1 else ()
    history = tuple(Exchange(said["user"], said["assistant"]) for said in row.get("history") or ())
    model.asked = 0.0
    if isinstance(model, Played):
        model.begin(str(row["id"]))
    started = time.perf_counter()
    answer = next(
        event
        for event in chatbot.ask(Ask(row["question"], names, None, history, verify=False))
        if isinstance(event, Answer)
    )
    prompt = answer.prompt
    hits = list(prompt.sources.values()) if prompt else []
    there = [(hit.document, hit.page) for hit in hits]
    looks = prompt.looks if prompt else ()
    first = set(there[: len(there) - sum(look.pages for look in looks)])
    return Reached(
        row,
        tuple(not side.isdisjoint(there) for side in sides),
        len(there),
        answer.usage.prompt_tokens if answer.usage else 0,
        max(model.asked - started, 0.0),
        tuple(not side.isdisjoint(first) for side in sides),
        model.once,
        len(looks),
    )


def _gold_pages(group: Mapping[str, Any]) -> frozenset[tuple[str, int]]:
    return frozenset((_file(group["document"]), page) for page in group["pages"])


def _file(document: str) -> str:
    return document if document.endswith(".pdf") else f"{document}.pdf"


def _row(name: str, found: Sequence[Reached]) -> list[str]:
    whole, before = sum(all(one.sides) for one in found), sum(all(one.at_once) for one in found)
    tokens = round(statistics.median(one.tokens for one in found))
    times = statistics.median(one.tokens / max(1, one.once) for one in found)
    return [
        name,
        str(len(found)),
        share_cell(before, len(found)),
        share_cell(whole, len(found)),
        f"{statistics.mean(one.pages for one in found):.1f}",
        f"{statistics.median(one.calls for one in found):.0f}",
        f"{tokens:,} ({times:.1f} ×)",
        f"{_median(found):.0f} ms",
    ]


def _documents(path: Path, folder: Path, lines: Sequence[Mapping[str, Any]]) -> QuestionSet:
    """The questions with the PDFs that they or their sides name."""
    named = {document for line in lines for side in sides_of(line) for document, _ in side}
    files = {file for file in folder.rglob("*.pdf") if file.name in named}
    if any(line.get("doc") or line.get("doc_hint") or line.get("document") for line in lines):
        files.update(load_questions(path, folder).files)
    return QuestionSet(path.stem, load_lines(path), tuple(sorted(files)))


def _median(found: Sequence[Reached]) -> float:
    return statistics.median(one.seconds for one in found) * 1000


def main() -> None:
    """Print a table: of each set, questions about one document and comparisons."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--questions", type=Path, nargs="+", required=True)
    parser.add_argument("--documents", type=Path, nargs="+", required=True)
    parser.add_argument("--store", type=Path, default=STORE)
    parser.add_argument("--context", type=int, default=12_000)
    parser.add_argument("--pages", type=int, default=3)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--conversation", type=Path)
    parser.add_argument("--sample", type=int, default=0)
    given = parser.parse_args()
    os.environ |= {"FINPOLICY_CONTEXT_TOKENS": str(given.context), "FINPOLICY_PAGES": str(given.pages)}
    model: Silent | Played = Silent()
    if given.conversation:
        given.conversation.mkdir(parents=True, exist_ok=True)
        model = Played(given.conversation)
    rows, waiting = [], 0
    for path, folder in zip(given.questions, given.documents, strict=True):
        lines = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
        lines = [line for line in lines if sides_of(line)]
        if given.sample:
            lines = random.Random(SEED).sample(lines, min(given.sample, len(lines)))
        found = []
        with opened(_documents(path, folder, lines), given.store, model=model) as chatbot:
            for line in lines:
                try:
                    found.append(reached(chatbot, model, line))
                except WaitsForReply:
                    waiting += 1
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
        "complete at once",
        "complete in the end",
        "pages",
        "calls (median)",
        "tokens of prompts (median)",
        "to the model (median)",
    ]
    print(markdown_table(heads, rows))
    if isinstance(model, Played) and model.own:
        own = statistics.median(model.own) * 1000
        print(f"{len(model.own)} calls took the product {own:.0f} ms in the median.")
    if waiting:
        print(f"{waiting} questions wait for replies in {given.conversation}.")


if __name__ == "__main__":
    main()
