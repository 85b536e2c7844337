"""Opens the store of a question set, indexing it once, and puts questions to it."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.questions import Question, QuestionSet
from chatbot.asking.question import Ask
from chatbot.models.chat import LLM
from chatbot.records import Answer
from chatbot.service import Chatbot
from chatbot.settings import Settings, load_settings
from chatbot.store.library import Upload

__all__ = ["answer_to", "opened", "page_texts", "provenance"]


@contextlib.contextmanager
def opened(
    questions: QuestionSet, store: Path, *, model: LLM | None = None, settings: Settings | None = None
) -> Iterator[Chatbot]:
    """A chatbot over exactly the set's documents, in its own folder of `store`. What was indexed before stays
    as it was read then.

    The settings, by default the environment's, count but for the home, so a chat or embedding model can be
    measured too; model: in the place of the one they name. Raises SystemExit where a document fails.
    """
    home = (store / questions.name).resolve()
    with Chatbot(replace(settings or load_settings(), home=home), model=model) as chatbot:
        chatbot.resume()
        wanted = {path.name: path for path in questions.files}
        there = {row.name for row in chatbot.documents() if row.state == "ready"}
        for number, result in enumerate(
            chatbot.add([Upload(wanted[name]) for name in sorted(wanted.keys() - there)]), 1
        ):
            if result.error:
                raise SystemExit(f"{result.document}: {result.error}")
            print(
                f"\r{number} of {len(wanted.keys() - there)} documents indexed",
                end="\n" * (number == len(wanted.keys() - there)),
                file=sys.stderr,
            )
        for name in there - wanted.keys():
            chatbot.remove(name)  # another choice of documents under the same name
        yield chatbot


def provenance(chatbot: Chatbot) -> str:
    """What was searched, in one line: documents, pages, chunks, embedder, and when they were read."""
    rows = [row for row in chatbot.documents() if row.state != "removed"]
    read = time.strftime("%Y-%m-%d %H:%M", time.gmtime(max(row.replaced_at or row.added_at for row in rows)))
    pages, chunks = sum(row.pages for row in rows), sum(row.chunks for row in rows)
    return (
        f"{len(rows)} documents, {pages:,} pages, {chunks:,} chunks, "
        f"{chatbot.library.embedder.fingerprint}, read until {read} UTC."
    )


def answer_to(chatbot: Chatbot, question: Question, names: Sequence[str]) -> Answer:
    """The answer to a question with its exchanges, asked of these documents (() for all). Raises what the
    chatbot raises.
    """
    for event in chatbot.ask(Ask(question.text, tuple(names), None, question.history)):
        if isinstance(event, Answer):
            return event
    raise AssertionError("an ask ends in an answer")


def page_texts(chatbot: Chatbot) -> dict[str, list[str]]:
    """The text of every page by document, in order."""
    catalog = chatbot.library.catalog
    texts = {}
    for version, name in chatbot.library.scope(()).items():
        numbers = [report.number for report in catalog.report(version)]
        pages = catalog.pages(version, numbers)
        texts[name] = [page.text for _, page in sorted(pages.items())]
    return texts
