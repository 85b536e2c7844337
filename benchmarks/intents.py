"""Measures how surely requests to the chatbot are told from questions about documents.

Such requests ask something of the chatbot, of the conversation or of a whole document.

    python benchmarks/intents.py [--questions FILE ...]

intents.tsv beside it holds messages that were written independently of the wordings in the classifier: twelve
of each intent, and 350 questions about documents ("none"), most of which look like an intent. DOC stands for
a document's name, HEADING for the title of a part. --questions: files of questions about documents, none of
which should be taken for an intent.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.questions import load_questions
from benchmarks.tables import markdown_table
from chatbot.search.intents import intent_of

__all__ = ["NONE", "messages", "told"]

NONE = "none"
DOCUMENT, TITLE = "Budget Speech 2026.pdf", "Fiscal Risks"


def messages() -> list[tuple[str, str]]:
    """(intent, message) of intents.tsv, with a name and a title in the place of the marks."""
    lines = (
        line.partition("\t")
        for line in Path(__file__).with_suffix(".tsv").read_text(encoding="utf-8").splitlines()
    )
    return [(kind, message.replace("DOC", DOCUMENT).replace("HEADING", TITLE)) for kind, _, message in lines]


def told(message: str) -> str:
    """The intent a message is taken for, where documents have every word that no wording has."""
    found = intent_of(
        message,
        documents=[DOCUMENT],
        known=lambda term: True,
        heading=lambda text: TITLE if TITLE in text else "",
    )
    return found.kind if found else NONE


def _rows(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str, str, str]]:
    of, right, other = Counter[str](), Counter[str](), dict[str, list[str]]()
    for kind, message in pairs:
        of[kind] += 1
        right[kind] += (as_told := told(message)) == kind
        if as_told != kind:
            other.setdefault(kind, []).append(f"{as_told}: {message}")
    rows = []
    for kind, count in of.items():
        mistaken = "; ".join(other.get(kind, []))[:300]
        rows.append((kind, str(count), str(right[kind]), mistaken))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--questions", type=Path, nargs="*", default=[])
    arguments = parser.parse_args()
    asked = [
        (NONE, question.text)
        for path in arguments.questions
        for question in load_questions(path, path.parent).questions
    ]
    print(markdown_table(("intent", "messages", "told", "taken for another"), _rows([*messages(), *asked])))


if __name__ == "__main__":
    main()
