"""Measures the marks that a strong model's answers get: of right answers, and of those with a planted error.

    python benchmarks/reading_back.py --documents FOLDER [FOLDER ...] --answers FILE [FILE ...]
                                      [--sample 40] [--seed 46] [--requests FOLDER] [--replies FILE] [--show]

The answers are JSON lines with "id", "question", "answer", "sources" (key -> document and page) and "right";
one with a planted error has "planted": {"kind", "what"}. Only the pages of `sources` are read. --sample draws
half of so many from the right answers and half from the others; without it all are judged.

--requests writes what a reader is sent for each answer, a text file each. The reader may be anybody who sees
that file alone. --replies takes the replies, a line each: {"id": of the answer, "reply": what the reader
wrote}. reading_back.jsonl beside this script has 120, of which 80 are for reading_back_answers.jsonl: these
were written from the pages, and read, without sight of the program. Only answers with a reply are judged
then; without replies the program alone judges all.

Doubted: a statement marked ⚠, a figure that a reason speaks against. Marked: of statements that the reader
found stated or computed, those that are shown as such. Caught: a statement of the answer is doubted.
Confirmed: the statement that has the error is marked as found; that must not be.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from pypdf import PdfReader, PdfWriter

from benchmarks.tables import markdown_table
from chatbot.answer.citations.citation_forms import read_citations
from chatbot.answer.citations.latex import plain_arithmetic
from chatbot.answer.verification.checked_text import CheckedText, check_statements
from chatbot.answer.verification.reading_call import StatementReading, replies_to
from chatbot.answer.verification.reply import ReplyError
from chatbot.answer.verification.request import ReadingRequest, requests_for
from chatbot.answer.verification.statements import statements_of
from chatbot.records import CONFIRMED, DOUBTFUL, Hit, Prompt
from ingestion.document import read_document
from ingestion.records import Page

__all__ = ["Judged", "judged", "prompt_of", "report"]

Row = Mapping[str, Any]
NONCE = "7f3a"
# Of a reader with a long context; its requests hold all pages.
CONTEXT = 200_000
DOUBTED_FIGURES = frozenset({"unsupported", "contradicted", "present_elsewhere"})


@dataclass(frozen=True, slots=True)
class Judged:
    """An answer with what was found of it. fault: why the reply could not be used, "" for none."""

    row: Row
    checked: CheckedText
    fault: str = ""

    @property
    def doubts(self) -> int:
        """Its statements that are marked ⚠."""
        return sum(one.mark in DOUBTFUL for one in self.checked.statements)

    @property
    def confirmed(self) -> bool:
        """Whether a statement with the planted error is marked as found."""
        what = " ".join(self.row["planted"]["what"].split())
        said = [one for one in self.checked.statements if one.mark in CONFIRMED]
        return any(what in " ".join(one.text.split()) for one in said)


def prompt_of(row: Row, pages: Mapping[tuple[str, int], Page]) -> Prompt | None:
    """The prompt of an answer; None where one of its pages is missing. pages: by document and number."""
    sources = {}
    for key, source in row["sources"].items():
        page = pages.get((source["document"], source["page"]))
        if page is None:
            return None
        sources[f"{key}-{NONCE}"] = _hit(source["document"], source["page"], page)
    question = row["question"]
    return Prompt(question, question, sources, (), (), (), NONCE)


def _hit(document: str, number: int, page: Page) -> Hit:
    return Hit(
        document,
        1,
        number,
        page.label,
        page.label_source,
        page.method,
        page.confidence,
        f"{number}:0",
        page.text,
        page_text=page.text,
        body=page.text,
        tables=page.tables,
        instructions=page.instructions,
    )


def judged(
    row: Row, prompt: Prompt, reply: str | None = None, keys: Mapping[str, str] | None = None
) -> Judged:
    """An answer, checked. reply: the reader's, None without one. keys: of the pages of its request."""
    text = plain_arithmetic(read_citations(row["answer"], prompt))
    if reply is None:
        return Judged(row, check_statements(text, prompt))
    numbers = range(1, len(statements_of(text, prompt.sources)) + 1)
    request = ReadingRequest((), tuple(numbers), keys or {})
    try:
        read = replies_to(request, reply)
    except ReplyError as error:
        return Judged(row, check_statements(text, prompt), str(error))
    return Judged(row, check_statements(text, prompt, StatementReading(read, ("reader", "a file"))))


def report(found: Sequence[Judged]) -> str:
    """The tables of right answers and of planted errors."""
    right = [one for one in found if one.row["right"]]
    wrong = [one for one in found if not one.row["right"]]
    statements = [one for answer in right for one in answer.checked.statements]
    figures = [one for answer in right for one in answer.checked.numbers]
    citations = [one for answer in right for one in answer.checked.citations]
    told = [one for one in statements if one.verdict in {"stated", "computed"}]
    rows = [
        ("answers without ⚠", _share(not one.doubts for one in right)),
        ("citations doubted", _share(one.doubted for one in citations)),
        ("figures doubted", _share(one.status in DOUBTED_FIGURES for one in figures)),
        ("stated or computed statements marked so", _share(one.mark in CONFIRMED for one in told)),
        ("statements without a mark", _share(not one.mark for one in statements)),
    ]
    errors = [
        ("answers doubted", _share(bool(one.doubts) for one in wrong)),
        ("errors confirmed", _share(one.confirmed for one in wrong)),
    ]
    faults = [f"{one.row['id']}: {one.fault}" for one in found if one.fault]
    tables = [markdown_table((f"of {len(right)} right answers", ""), rows)]
    tables.append(markdown_table((f"of {len(wrong)} answers with an error", ""), errors))
    return "\n\n".join([*tables, *faults])


def _share(of: Iterable[bool]) -> str:
    some = list(of)
    return f"{sum(some)} of {len(some)} ({sum(some) / len(some):.3f})" if some else "–"


def read_pages(rows: Iterable[Row], folders: Sequence[Path]) -> dict[tuple[str, int], Page]:
    """The pages of the answers' sources, (document, number) -> page, without documents that are nowhere."""
    wanted: dict[str, set[int]] = defaultdict(set)
    for row in rows:
        for source in row["sources"].values():
            wanted[source["document"]].add(source["page"])
    found: dict[tuple[str, int], Page] = {}
    with tempfile.TemporaryDirectory() as temporary:
        cut = Path(temporary) / "cut.pdf"
        for document, numbers in sorted(wanted.items()):
            path = next((folder / document for folder in folders if (folder / document).exists()), None)
            if path is None:
                continue
            reader, writer = PdfReader(path), PdfWriter()
            if reader.is_encrypted:
                reader.decrypt("")
            order = sorted(number for number in numbers if number <= len(reader.pages))
            for number in order:
                writer.add_page(reader.pages[number - 1])
            writer.write(cut)
            read = read_document(cut).pages
            found |= {(document, number): page for number, page in zip(order, read, strict=True)}
    return found


def _drawn(rows: Sequence[Row], count: int, seed: int) -> list[Row]:
    draw = random.Random(seed)
    right = [row for row in rows if row["right"]]
    wrong = [row for row in rows if not row["right"]]
    drawn = draw.sample(right, min(count // 2, len(right))) + draw.sample(wrong, min(count // 2, len(wrong)))
    draw.shuffle(drawn)
    return drawn


def _replies(path: Path) -> dict[str, str]:
    """The replies by the ids of their answers."""
    lines = map(json.loads, path.read_text("utf-8").splitlines())
    return {line["id"]: json.dumps(line["reply"]) for line in lines}


def main() -> int:
    """Judge and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=Path, nargs="+", required=True)
    parser.add_argument("--answers", type=Path, nargs="+", required=True)
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--seed", type=int, default=46)
    parser.add_argument("--requests", type=Path)
    parser.add_argument("--replies", type=Path)
    parser.add_argument("--show", action="store_true", help="print each statement without a mark, or doubted")
    given = parser.parse_args()
    rows = [json.loads(line) for path in given.answers for line in path.read_text("utf-8").splitlines()]
    rows = [row for row in rows if "question" in row]
    if given.sample:
        rows = _drawn(rows, given.sample, given.seed)
    pages = read_pages(rows, given.documents)
    replies = _replies(given.replies) if given.replies else None
    found = list[Judged]()
    for row in rows:
        prompt = prompt_of(row, pages)
        if prompt is None:
            continue
        text = plain_arithmetic(read_citations(row["answer"], prompt))
        statements = statements_of(text, prompt.sources)
        request = next(requests_for(prompt.question, statements, prompt.sources, CONTEXT, nonce=NONCE))
        if given.requests:
            given.requests.mkdir(parents=True, exist_ok=True)
            sent = "\n\n=====\n\n".join(content for _, content in request.messages)
            (given.requests / f"{row['id']}.txt").write_text(sent, "utf-8")
        if replies is None or row["id"] in replies:
            found.append(judged(row, prompt, replies[row["id"]] if replies else None, request.keys))
    if given.show:
        for answer in found:
            for one in answer.checked.statements:
                if one.mark in DOUBTFUL or not one.mark:
                    print(answer.row["id"], one.mark or "-", one.verdict, one.text, one.difference, sep=" | ")
    print(report(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
