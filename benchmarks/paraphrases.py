"""Measures what the checks make of a page's sentence in other words.

It counts, by kind of error, how many true and false rewordings they verify and how many they doubt.

    python benchmarks/paraphrases.py [--data ../shared/data] [--show]

Each line of `paraphrases.jsonl` holds two free rewordings of a sentence of a page: a true one, and one that
is wrong in the words of "wrong". Each rewording is cited as from that page and checked as a chat model's
answer is. --show prints what was verified though wrong, or doubted though right.

Doubted: the citation is, or a figure is neither supported nor derived, or the statement is unsupported.
Verified: nothing is doubted, and the citation is marked ✓. The rest is shown as "in other words", with the
page's sentence beside it.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.intervals import share_cell
from benchmarks.planted_numbers import prompt_of
from benchmarks.tables import markdown_table
from chatbot.answer.citations.model_statements import CheckedText, check_statements
from chatbot.records import FINE
from ingestion.document import Circumstances, read_document
from ingestion.records import Page

__all__ = ["PAIRS", "Judged", "judged", "report"]

PAIRS = Path(__file__).with_name("paraphrases.jsonl")


@dataclass(frozen=True, slots=True)
class Judged:
    """A rewording as checked. kind: of its error, "" for a true one. why: the first doubt, "" where there
    is none. verified: as ✓.
    """

    kind: str
    text: str
    why: str
    verified: bool


def judged(rows: Iterable[Mapping[str, Any]], pages: Sequence[Page]) -> Iterator[Judged]:
    """Both rewordings of each row, whose pages are those of its document."""
    chance = random.Random(1)
    by_number = {page.number: page for page in pages}
    for row in rows:
        for text, kind in ((row["true"], ""), (row["false"], row["kind"])):
            prompt = prompt_of(
                row["document"], by_number[row["page"]], pages, "What does the page say?", chance
            )
            checked = check_statements(f"{text.rstrip('.')} [S1-7f3a].", prompt)
            why = _doubt(checked)
            yield Judged(kind, text, why, not why and all(one.verified for one in checked.citations))


def _doubt(checked: CheckedText) -> str:
    doubts = [one.reason or "not verified" for one in checked.citations if one.doubted]
    doubts += [f"{one.text}: {one.reason}" for one in checked.numbers if one.status not in FINE]
    return next(iter([*doubts, *(one.text for one in checked.statements if one.status == "unsupported")]), "")


def report(results: Sequence[Judged]) -> str:
    """The table: the true ones, then the false by kind."""
    kinds = sorted({one.kind for one in results})
    rows = []
    for kind in [*kinds, "all false"]:
        some = [one for one in results if (one.kind == kind if kind != "all false" else one.kind)]
        verified = sum(one.verified for one in some)
        doubted = sum(bool(one.why) for one in some)
        shares = (share_cell(verified, len(some)), share_cell(doubted, len(some)))
        rows.append((kind or "true", len(some), *shares))
    return markdown_table(("rewording", "n", "verified (95 %)", "doubted (95 %)"), rows)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data", type=Path, default=ROOT.parent / "shared" / "data", help="folder of folders with the PDFs"
    )
    parser.add_argument(
        "--show",
        action="store_true",
        help="print the true ones that were doubted and the false ones that were verified",
    )
    given = parser.parse_args()
    paths = {path.name: path for path in sorted(given.data.glob("*/*.pdf"))}
    by_document: dict[str, list[Mapping[str, Any]]] = {}
    for line in PAIRS.read_text("utf-8").splitlines():
        by_document.setdefault((row := json.loads(line))["document"], []).append(row)
    if missing := sorted(by_document.keys() - paths.keys()):
        raise SystemExit(
            f"There is no {missing[0]} below {given.data}: name the folder that holds the sets' PDFs "
            f"with --data."
        )
    results: list[Judged] = []
    for name, rows in sorted(by_document.items()):
        pages = read_document(paths[name], Circumstances(processes=1)).pages
        results += judged(rows, pages)
    for one in results if given.show else ():
        if one.verified if one.kind else one.why:
            print(f"{one.kind or 'true'}: {one.text}\n    {one.why or 'VERIFIED'}")
    print(report(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
