"""Measures what each strategy finds of a question at the end of a long text on other matters.

It also measures how long that takes.

    python benchmarks/long_queries.py [--documents FOLDER --questions FILE.jsonl] [--limit 40]

Each question follows 0, 1, 3, 7 and 15 windows of another document's text, as if someone had pasted a report
and asked at its end. It is searched in its own document. A line of the questions holds {"question",
"document", "pages", "answerable"}, with physical pages. Without options the sample documents and the
questions of their tests are used.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.tables import markdown_table
from chatbot.search.fusion import STRATEGIES, QueryChunk, embed_query, search_chunks
from chatbot.search.retrieval import Query, Retriever
from chatbot.service import Chatbot
from chatbot.settings import Settings
from chatbot.store.library import Upload
from documents.make_samples import make_samples

WINDOWS_BEFORE = (0, 1, 3, 7, 15)
FOUND_AMONG = 3


def main() -> None:
    """Measure and print two tables: the share of questions whose page is among the first three, and the
    median milliseconds.
    """
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    options.add_argument("--documents", type=Path)
    options.add_argument("--questions", type=Path, default=ROOT / "tests" / "sample_questions.jsonl")
    options.add_argument("--limit", type=int, default=40)
    given = options.parse_args()
    rows = [json.loads(line) for line in given.questions.read_text(encoding="utf-8").splitlines()]
    asked = [row for row in rows if row["answerable"] and not row.get("history")][: given.limit]
    with tempfile.TemporaryDirectory() as folder:
        documents = given.documents or Path(folder) / "documents"
        if not given.documents:
            make_samples(documents)
        with Chatbot(Settings(home=Path(folder) / "home")) as chatbot:
            list(chatbot.add([Upload(path) for path in sorted(documents.glob("*.pdf"))]))
            measure(chatbot, asked)


def measure(chatbot: Chatbot, asked: Sequence[dict[str, Any]]) -> None:
    """Both tables, a line for each number of windows before the question."""
    shares: list[list[object]] = []
    times: list[list[object]] = []
    for count in WINDOWS_BEFORE:
        found, milliseconds = defaultdict[str, int](int), defaultdict[str, list[float]](list)
        for row in asked:
            text = before(chatbot, row["document"], count) + row["question"]
            for strategy in STRATEGIES:
                started = time.perf_counter()
                pages = search(chatbot, text, row["document"], strategy)
                milliseconds[strategy].append(1000 * (time.perf_counter() - started))
                found[strategy] += bool(set(pages[:FOUND_AMONG]) & set(row["pages"]))
        shares.append([count, *(f"{found[strategy] / len(asked):.2f}" for strategy in STRATEGIES)])
        times.append(
            [count, *(f"{sorted(milliseconds[strategy])[len(asked) // 2]:.0f}" for strategy in STRATEGIES)]
        )
    print(
        f"Page among the first {FOUND_AMONG}, {len(asked)} "
        f"questions:\n\n{markdown_table(['windows before', *STRATEGIES], shares)}\n"
    )
    print(
        f"Median milliseconds, embedding "
        f"included:\n\n{markdown_table(['windows before', *STRATEGIES], times)}"
    )


def before(chatbot: Chatbot, document: str, windows: int) -> str:
    """That many windows of the text of the longest other document, from its middle on; it begins anew
    where it ends.
    """
    library, others = chatbot.library, [row for row in chatbot.documents() if row.name != document]
    version = next(iter(library.scope([max(others, key=lambda row: row.chunks).name])))
    pages = library.catalog.pages(version, range(1, max(library.chunk_pages(version)) + 1))
    text = " ".join(" ".join(page.text.split()) for _, page in sorted(pages.items()))
    pieces = library.embedder.split(text)
    return "".join(pieces[(len(pieces) // 2 + at) % len(pieces)] for at in range(windows))


def search(chatbot: Chatbot, text: str, document: str, strategy: str) -> list[int]:
    """Pages of the document, best first."""
    retriever = Retriever(chatbot.library)

    def pages(chunk: QueryChunk, n: int) -> list[tuple[int, float]]:
        return [
            (hit.page, hit.score)
            for hit in retriever.search(Query(chunk.text, chunk.vector, (document,), "hybrid", n))
        ]

    return [
        one.key
        for one in search_chunks(
            embed_query(chatbot.library.embedder, text), pages, strategy=strategy, n=FOUND_AMONG
        )
    ]


if __name__ == "__main__":
    main()
