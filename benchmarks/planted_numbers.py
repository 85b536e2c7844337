"""Measures which errors planted in true statements the program catches without a reader, by kind of error.

It also counts the true statements that it doubts, and the false ones that it gives a mark of confirmation.

    python benchmarks/planted_numbers.py [--data ../shared/data] [--seed 1] [--most 400] [--show KIND]

It reads the project's own sample documents, and the PDFs in the folders policy/ and financebench/ of --data,
if there are any.
Every statement is cited as from its own page, with two other pages of the document among the sources, and
checked as a model's answer is.

Caught: the statement is doubted, "⚠". False alarm: the same of a true statement. Confirmed: it is marked as
word for word, stated or calculated.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.intervals import share_cell
from benchmarks.number_statements import KINDS, Statement, statements_of_sentences, statements_of_tables
from benchmarks.tables import markdown_table
from chatbot.answer.verification.checked_text import check_statements
from chatbot.records import CONFIRMED, DOUBTFUL, Hit, Prompt
from chatbot.records import Statement as CheckedStatement
from ingestion.document import Circumstances, read_document
from ingestion.records import Page

__all__ = ["Judged", "judged", "paths_of", "plant_errors", "prompt_of", "report", "statements_of"]

OTHER_PAGES = 2
TRUE = "none"


@dataclass(frozen=True, slots=True)
class Judged:
    """One statement as checked. kind: of the planted error, "none" for a true one. form: how it is worded."""

    kind: str
    form: str
    text: str
    document: str
    page: int
    checked: tuple[CheckedStatement, ...]

    @property
    def doubted(self) -> bool:
        """Whether the check says that something is not as the page has it."""
        return any(one.mark in DOUBTFUL for one in self.checked)

    @property
    def confirmed(self) -> bool:
        """Whether all of it has a mark that confirms it."""
        return bool(self.checked) and all(one.mark in CONFIRMED for one in self.checked)


def statements_of(pages: Sequence[Page], chance: random.Random) -> list[Statement]:
    """All statements of a document, in an order of chance."""
    found = [
        one
        for page in pages
        for one in (*statements_of_tables(page, chance), *statements_of_sentences(page, chance))
    ]
    chance.shuffle(found)
    return found


def judged(
    document: str, pages: Sequence[Page], statements: Iterable[tuple[str, Statement]], chance: random.Random
) -> Iterator[Judged]:
    """Each (kind, statement) checked, its text or its text with that error."""
    for kind, statement in statements:
        text = statement.text if kind == TRUE else statement.errors[kind]
        prompt = prompt_of(document, statement.page, pages, statement.question, chance)
        checked = check_statements(f"{text} [S1-7f3a]", prompt).statements
        yield Judged(kind, statement.form, text, document, statement.page.number, checked)


def prompt_of(
    document: str, page: Page, pages: Sequence[Page], question: str, chance: random.Random
) -> Prompt:
    """A prompt with a page as its first source, S1-7f3a, and others of the document."""
    others = chance.sample(
        [other for other in pages if other.number != page.number], min(OTHER_PAGES, len(pages) - 1)
    )
    sources = {f"S{rank}-7f3a": _hit(document, one) for rank, one in enumerate((page, *others), 1)}
    return Prompt(question, question, sources, (), (), (), "7f3a")


def plant_errors(documents: Mapping[str, Sequence[Page]], *, seed: int, most: int) -> list[Judged]:
    """Up to `most` statements a kind of error, and as many true ones a form, drawn evenly from the
    documents.
    """
    chance = random.Random(seed)
    drawn = {name: statements_of(pages, chance) for name, pages in sorted(documents.items())}
    results: list[Judged] = []
    for kind in (*KINDS, TRUE):
        room = most if kind != TRUE else 3 * most
        for name, statement in _evenly(drawn, kind, room):
            results += judged(name, documents[name], [(kind, statement)], chance)
    return results


def _doubted_row(name: str, some: Sequence[Judged]) -> tuple[str, int, int, str, int]:
    doubted = sum(one.doubted for one in some)
    confirmed = sum(one.confirmed for one in some)
    return name, len(some), doubted, share_cell(doubted, len(some)), confirmed


def report(results: Sequence[Judged]) -> str:
    """The table of kinds, and that of the true statements by form."""
    rows = []
    for kind in KINDS:
        rows.append(_doubted_row(kind, [result for result in results if result.kind == kind]))
    true = [result for result in results if result.kind == TRUE]
    lines = []
    for form in sorted({result.form for result in true}):
        lines.append(_doubted_row(form, [result for result in true if result.form == form]))
    lines.append(_doubted_row("all", true))
    planted = markdown_table(("planted error", "n", "caught", "share (95 %)", "confirmed"), rows)
    true_ones = markdown_table(("true statements", "n", "doubted", "share (95 %)", "confirmed"), lines)
    return f"{planted}\n\n{true_ones}"


def _evenly(
    drawn: Mapping[str, Sequence[Statement]], kind: str, room: int
) -> Iterator[tuple[str, Statement]]:
    """Up to `room` statements in turn from each document and form, so that no long document speaks for
    all.
    """
    queues: dict[tuple[str, str], list[Statement]] = {}
    for name, statements in drawn.items():
        for statement in statements:
            if kind == TRUE or (kind in statement.errors and statement.errors[kind] != statement.text):
                queues.setdefault((name, statement.form), []).append(statement)
    while queues and room > 0:
        for key in list(queues):
            if room <= 0:
                return
            yield key[0], queues[key].pop()
            room -= 1
            if not queues[key]:
                del queues[key]


def _hit(document: str, page: Page) -> Hit:
    where = (
        document,
        1,
        page.number,
        page.label,
        page.label_source,
        page.method,
        page.confidence,
        f"1:{page.number}",
    )
    return Hit(
        *where,
        text=page.text[:1000],
        page_text=page.text,
        body=page.text,
        tables=page.tables,
        kinds=page.kinds,
    )


def paths_of(data: Path) -> list[Path]:
    """The sample documents, and the PDFs of the folder's policy/ and financebench/."""
    return [
        *sorted((ROOT / "documents" / "samples").glob("*.pdf")),
        *sorted(data.glob("policy/*.pdf")),
        *sorted(data.glob("financebench/*.pdf")),
    ]


def main() -> int:
    """Print both tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data",
        type=Path,
        default=ROOT.parent / "shared" / "data",
        help="folder with policy/*.pdf and financebench/*.pdf",
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=400, help="statements for each kind of error")
    parser.add_argument(
        "--show",
        choices=(*KINDS, TRUE),
        help="also print what was missed of that kind, or the true statements that were doubted",
    )
    chosen = parser.parse_args()
    if not chosen.data.is_dir():
        print(
            (
                f"There is no {chosen.data}: only the project's own sample documents are read. Name another "
                f"folder with --data."
            ),
            file=sys.stderr,
        )
    documents = {
        path.name: read_document(path, Circumstances(processes=1)).pages for path in paths_of(chosen.data)
    }
    results = plant_errors(documents, seed=chosen.seed, most=chosen.most)
    print(report(results))
    for result in results:
        if chosen.show == result.kind and result.doubted == (result.kind == TRUE):
            print(f"\n{result.document}, page {result.page}, {result.form}: {result.text}")
            print("\n".join(f"    {one.mark or 'no mark'} {one.difference}" for one in result.checked))
    return 0


if __name__ == "__main__":
    sys.exit(main())
