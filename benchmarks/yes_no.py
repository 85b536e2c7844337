"""Measures how often a question that yes or no would answer is answered so, and rightly.

    python benchmarks/yes_no.py --documents FOLDER [FOLDER ...] [--store FOLDER] [--show]

yes_no.tsv beside it has questions about PDFs, written from their pages alone. Its columns:

    document
    question
    truth       yes, no, or unsaid where the document does not settle it
    page        the page that settles it
    kind        "move" asks whether a figure rose or fell, "bound" whether it is above or below an amount,
                "prose" anything else

Each question is asked of its document; those whose document is in no FOLDER are left out.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.asking import answer_to, opened
from benchmarks.questions import STORE, Question, QuestionSet
from benchmarks.tables import markdown_table
from chatbot.answer.verdict import NO, YES
from chatbot.records import Answer

__all__ = ["asked_of", "said_of"]

SAID = {YES: "yes", NO: "no"}


def asked_of(files: Sequence[Path]) -> list[tuple[Question, str, str]]:
    """(question, truth, kind) of those about these files."""
    names = {path.name for path in files}
    lines = Path(__file__).with_suffix(".tsv").read_text(encoding="utf-8").splitlines()[1:]
    found = []
    for number, line in enumerate(lines, 2):
        document, question, truth, _, kind, *_ = line.split("\t")
        if document in names:
            found.append((Question(str(number), question, document), truth, kind))
    return found


def said_of(answer: Answer) -> str:
    """ "yes", "no", "refused", or "unsaid" for an answer that begins with none of these."""
    if not answer.answered:
        return "refused"
    return next((said for begins, said in SAID.items() if answer.text.startswith(begins)), "unsaid")


def _answered(folders: Sequence[Path], store: Path) -> Iterator[tuple[Question, str, str, Answer]]:
    for folder in folders:
        files = tuple(sorted(folder.glob("*.pdf")))
        asked = asked_of(files)
        with opened(
            QuestionSet(folder.name, tuple(question for question, _, _ in asked), files), store
        ) as chatbot:
            for question, truth, kind in asked:
                yield question, truth, kind, answer_to(chatbot, question, (question.document,))


def main() -> None:
    """Ask and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=Path, nargs="+", required=True)
    parser.add_argument(
        "--store",
        type=Path,
        default=STORE,
        help="where the indexes are kept between runs (default %(default)s)",
    )
    parser.add_argument("--show", action="store_true", help="print each answer")
    given = parser.parse_args()
    counts = Counter[tuple[str, str, str]]()
    for question, truth, kind, answer in _answered(given.documents, given.store):
        said = said_of(answer)
        counts[kind, truth, said] += 1
        if given.show:
            print(f"{question.id} {kind} {truth} -> {said}: {question.text}\n    {answer.first[:300]!r}")
    every = ("yes", "no", "unsaid", "refused")
    rows = []
    for kind, truth in sorted({(kind, truth) for kind, truth, _ in counts}):
        rows.append((kind, truth, *(str(counts[kind, truth, said]) for said in every)))
    print(markdown_table(("kind", "truth", *every), rows))
    told = [
        (truth, said) for (_, truth, said), n in counts.items() for _ in range(n) if said in ("yes", "no")
    ]
    print(f"\nyes or no said: {len(told)}, rightly: {sum(truth == said for truth, said in told)}")


if __name__ == "__main__":
    main()
