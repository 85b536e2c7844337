"""Measures how long people wait for their conversations.

It opens, lists and searches them, and measures what a long one adds to a question.

    python benchmarks/conversations.py [--exchanges 2000] [--conversations 500]

It makes its own conversations, with answers as large as real ones. The peer is a chat that keeps each
conversation as one JSON file and reads it whole, as many do; it is measured in the same run, on the same
answers.
"""

from __future__ import annotations

import argparse
import gc
import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.tables import markdown_table
from chatbot.asking.question import Ask
from chatbot.records import Answer, Recall
from chatbot.serialize import answer_record
from chatbot.service import Chatbot
from chatbot.settings import Settings
from chatbot.store.library import Upload
from documents.make_samples import make_samples

OWNER = "somebody"
TIMES = 15
# Vectors of exchanges; which way they point costs no time.
VECTORS = np.random.default_rng(0).standard_normal((50, 384)).astype(np.float32)
QUESTION = "What is the contingency reserve set at for 2025-26?"


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    options.add_argument("--exchanges", type=int, default=2_000)
    options.add_argument("--conversations", type=int, default=500)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        make_samples(Path(folder) / "documents")
        with Chatbot(Settings(home=Path(folder) / "home")) as chatbot:
            list(chatbot.add([Upload(path) for path in sorted((Path(folder) / "documents").glob("*.pdf"))]))
            measure(chatbot, given, Path(folder) / "peer.json")


def measure(chatbot: Chatbot, given: argparse.Namespace, peer: Path) -> None:
    """The table."""
    talks = chatbot.conversations
    long = talks.begin(OWNER)
    answer = real_answer(chatbot, long)
    fill(chatbot, long, given.exchanges - 1, answer)
    others = [talks.begin(OWNER) for _ in range(given.conversations)]
    for other in others:
        fill(chatbot, other, 20, answer)
    peer.write_text(
        json.dumps([{"user": "q", "answer": answer_record(answer)} for _ in range(given.exchanges)])
    )
    whole = timed(lambda: json.loads(peer.read_text()))
    exchanges, conversations = f"{given.exchanges:,} exchanges", f"{given.conversations:,} conversations"
    remember(chatbot, long)
    rows = []

    def measured(what: str, act: Callable[[], object]) -> None:
        rows.append(row(what, timed(act), whole))

    measured(
        f"opening a conversation of {exchanges}: the last ten, with all that was checked",
        lambda: open_page(chatbot, long),
    )
    measured(f"opening one of 20 exchanges among {conversations}", lambda: open_page(chatbot, others[0]))
    measured(f"listing {conversations}", lambda: talks.listed(OWNER))
    measured(
        f"searching {conversations} and {exchanges} for words that stand in none",
        lambda: talks.listed(OWNER, search="heliotrope"),
    )
    measured(
        "what is remembered for a question, 20 exchanges before it",
        lambda: remember(chatbot, others[0]),
    )
    measured(
        f"what is remembered for a question, {exchanges} before it, shortened",
        lambda: remember(chatbot, long),
    )
    measured("keeping one answer in full", lambda: fill(chatbot, others[0], 1, answer))
    print(markdown_table(["", "milliseconds, median", "of reading the JSON file"], rows))
    before = memory()
    for other in others:
        remember(chatbot, other)
    print(f"\nMemory of {len(others)} live conversations: {memory() - before:.1f} MB beyond what was there.")


def real_answer(chatbot: Chatbot, conversation: str) -> Answer:
    """An answer as it is really given and kept."""
    for event in chatbot.ask(Ask(QUESTION, conversation=conversation, owner=OWNER)):
        if isinstance(event, Answer):
            return event
    raise AssertionError("an ask ends in an answer")


def fill(chatbot: Chatbot, conversation: str, exchanges: int, answer: Answer) -> None:
    """So many exchanges with this answer."""
    for number in range(exchanges):
        question = f"What is the contingency reserve of region {number}?"
        kept = chatbot.conversations.start(conversation, question)
        chatbot.conversations.finish(
            conversation, kept, replace(answer, question=question), {1: "a" * 64}, owner=OWNER
        )
        chatbot.conversations.keep_vector(
            conversation, kept, chatbot.library.embedder.fingerprint, VECTORS[number % len(VECTORS)]
        )


def open_page(chatbot: Chatbot, conversation: str) -> None:
    """What the page does."""
    for said in chatbot.conversations.said(conversation, OWNER, last=10):
        chatbot.memory.answer(conversation, said.number, OWNER)


def remember(chatbot: Chatbot, conversation: str) -> None:
    """What an ask does before it searches."""
    vector = chatbot.library.embedder.embed([QUESTION])[0]
    chatbot.memory.before(Recall(QUESTION, vector, conversation, OWNER))


def timed(work: Callable[[], object]) -> float:
    """Milliseconds, the median of TIMES."""
    took = []
    for _ in range(TIMES):
        started = time.perf_counter()
        work()
        took.append(1_000 * (time.perf_counter() - started))
    return median(took)


def row(name: str, milliseconds: float, peer: float) -> list[object]:
    return [name, f"{milliseconds:.1f}", f"{milliseconds / peer:.2f}"]


def memory() -> float:
    """What this process holds now, in MB."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20


if __name__ == "__main__":
    main()
