"""Measures whether a store says the same on servers as in folders, and whether its move can be broken off.

    python benchmarks/moved.py [--financebench FOLDER] [--questions FILE --documents FOLDER]
                               [--store FOLDER] [--break-off 3 8]

The documents of each set are added in folders and its questions asked. `finpolicy migrate` then moves the
store to the Postgres and the Chroma of deploy/. It is ended with SIGKILL after each of the seconds of
--break-off and given again. The same questions are asked there.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.asking import answer_to, opened
from benchmarks.questions import Question, QuestionSet, add_options, chosen_sets
from benchmarks.tables import markdown_table
from chatbot.records import Answer
from chatbot.service import Chatbot
from chatbot.settings import load_settings
from tests.deployment import Deployment

FIRST_PAGES = 3


@dataclass(frozen=True, slots=True)
class Said:
    """What a store says to a question. pages: (document, page) of the first pages found."""

    pages: tuple[tuple[str, int], ...]
    answer: Answer


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    add_options(options)
    options.add_argument("--break-off", type=float, nargs="*", default=[3, 8], metavar="SECONDS")
    given = options.parse_args()
    rows = []
    for questions in chosen_sets(given):
        with opened(questions, given.store) as chatbot:
            before = asked(chatbot, questions.questions)
        with tempfile.TemporaryDirectory() as folder:
            Path(folder).chmod(0o755)
            engines = Deployment(Path(folder) / "servers", ("postgres", "chroma"))
            try:
                engines.wait_for_engines()
                home = (given.store / questions.name).resolve()
                migrate(home, engines, given.break_off)
                after = on_servers(home, engines, questions)
            finally:
                engines.stop()
        rows.append(row_of(questions, before, after))
        for question, one, other in zip(questions.questions, before, after, strict=True):
            if (one.pages, one.answer.text) != (other.pages, other.answer.text):
                print(question.id, one.pages, other.pages)
                print(one.answer.text, other.answer.text, sep="\n")
    print(markdown_table(["set", "questions", "same first three pages", "same answer, word for word"], rows))


def asked(chatbot: Chatbot, questions: Sequence[Question]) -> list[Said]:
    """What it says to each."""
    found = []
    for question in questions:
        hits = chatbot.search(question.text, names=question.names)[:FIRST_PAGES]
        found.append(
            Said(
                tuple((hit.document, hit.page) for hit in hits), answer_to(chatbot, question, question.names)
            )
        )
    return found


def on_servers(home: Path, engines: Deployment, questions: QuestionSet) -> list[Said]:
    """The same of the store that was moved."""
    settings = replace(load_settings(), home=home, database=engines.database, chroma_url=engines.chroma)
    with Chatbot(settings) as chatbot:
        return asked(chatbot, questions.questions)


def migrate(home: Path, engines: Deployment, breaks: Sequence[float]) -> None:
    """Moves a store, ended after each of these seconds. Prints what was compared."""
    environment = {**os.environ, "FINPOLICY_HOME": str(home)}
    for seconds in breaks:
        with subprocess.Popen(
            engines.migration, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            try:
                print(f"ended by itself with {process.wait(seconds)} before {seconds:g} s")
            except subprocess.TimeoutExpired:
                process.kill()
                print(f"ended after {seconds:g} s")
    begun = time.perf_counter()
    done = subprocess.run(
        engines.migration, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True
    )
    print(done.stdout)
    print(f"the rest took {time.perf_counter() - begun:.0f} s")


def row_of(questions: QuestionSet, before: Sequence[Said], after: Sequence[Said]) -> list[str]:
    """A row of the table."""
    pairs = list(zip(before, after, strict=True))
    pages = sum(one.pages == other.pages for one, other in pairs)
    answers = sum(one.answer.text == other.answer.text for one, other in pairs)
    return [
        questions.name,
        str(len(pairs)),
        f"{pages} ({pages / len(pairs):.1%})",
        f"{answers} ({answers / len(pairs):.1%})",
    ]


if __name__ == "__main__":
    main()
