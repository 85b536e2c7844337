"""Measures what the product reads out of one page of TAT-QA (Zhu et al., 2021): sums, spans and lists.

Each table, with the paragraphs around it, is a one-page PDF.

    python benchmarks/reading.py --data FILE [FILE ...] [--store FOLDER] [--contexts 240] [--seed 1]
                                 [--half even|odd|all] [--show sum|span|list]

Each question is asked of its own page alone, without a chat model. Rules are developed on contexts whose
`uid` has an even hash, and reported on the odd half.

Right: the answer has the value of a sum, rounded as either shows it; the text of a span; or all items of a
list, within the first 40 words of what is said first or in its list. Worked out: the sums whose answer has
arithmetic of its own, and how many of these are right.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.asking import answer_to, opened
from benchmarks.intervals import share_cell
from benchmarks.questions import STORE, Question, QuestionSet
from benchmarks.tables import markdown_table
from benchmarks.tatqa_pages import load_contexts
from chatbot.records import Answer
from ingestion.language.numbers import Figure, find_figures

__all__ = ["Read", "judged", "report"]

MOST_WORDS = 40
_KIND = {"arithmetic": "sum", "count": "count", "span": "span", "multi-span": "list"}
# Half a unit of the last digit that the set gives.
_TOLERANCE = 0.006


@dataclass(frozen=True, slots=True)
class Read:
    """A question as it was answered. kind: "sum" | "count" | "span" | "list"; computed: its answer has
    arithmetic of its own.
    """

    kind: str
    question: str
    gold: str
    answer: Answer
    right: bool
    computed: bool


def is_odd(uid: str) -> bool:
    """Which half a context is of."""
    return hashlib.sha256(uid.encode()).digest()[0] % 2 == 1


def judged(row: Mapping[str, Any], answer: Answer) -> Read:
    """One answer beside what the set has. row: the question as TAT-QA has it."""
    kind = _KIND[row["answer_type"]]
    gold = row["answer"] if isinstance(row["answer"], list) else [row["answer"]]
    said = re.sub(r"\[S[0-9]+\]", " ", answer.first)
    if kind in ("sum", "count"):
        right = any(_is_value(float(str(gold[0]).replace(",", "")), figure) for figure in find_figures(said))
    else:
        words = " ".join(said.split()[:MOST_WORDS] if kind == "span" else said.split())
        right = all(_evened(str(one)) in _evened(words) for one in gold)
    computed = any(check.status == "derived" for check in answer.numbers)
    return Read(
        kind,
        row["question"],
        str(row["answer"]),
        answer,
        answer.answered and right,
        answer.answered and computed,
    )


def _is_value(gold: float, said: Figure) -> bool:
    """Whether they are equal but for the sign, which the set leaves out of falls, as far as the coarser of
    the two shows.
    """
    return abs(abs(gold) - abs(said.value)) <= max(
        _TOLERANCE, 0.5001 * 10.0**-said.decimals if said.decimals else _TOLERANCE
    )


def _evened(text: str) -> str:
    return " ".join(re.sub(r"[^\w.%]+", " ", text.casefold()).split()).strip(".")


def _share_right(some: Sequence[Read]) -> str:
    return share_cell(sum(one.right for one in some), len(some))


def report(found: Sequence[Read]) -> str:
    """The table by kind."""
    rows = []
    for kind in ("sum", "count", "span", "list"):
        some = [one for one in found if one.kind == kind]
        refused = sum(not one.answer.answered for one in some)
        computed = [one for one in some if one.computed]
        shares = (_share_right(some), _share_right(computed))
        rows.append((kind, len(some), *shares, len(computed), share_cell(refused, len(some))))
    return markdown_table(
        ("kind", "n", "right (95 %)", "right of the worked out", "worked out", "refused"), rows
    )


def _asked(given: argparse.Namespace) -> Iterator[Read]:
    contexts = load_contexts(given.data, given.store / "tatqa-contexts", most=given.contexts, seed=given.seed)
    wanted = [
        one
        for one in contexts
        if given.half == "all" or is_odd(one[0]["table"]["uid"]) == (given.half == "odd")
    ]
    files = tuple(sorted(path for _, path in contexts))
    with opened(QuestionSet("tatqa-reading", (), files), given.store) as chatbot:
        for context, path in wanted:
            for row in context["questions"]:
                question = Question(row["uid"], row["question"], path.name, (path.name,), frozenset({1}))
                yield judged(row, answer_to(chatbot, question, (path.name,)))


def main() -> int:
    """Ask and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="files of TAT-QA")
    parser.add_argument(
        "--store",
        type=Path,
        default=STORE,
        help="where the pages and their index are kept between runs (default %(default)s)",
    )
    parser.add_argument("--contexts", type=int, default=240)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--half", choices=("even", "odd", "all"), default="odd")
    parser.add_argument(
        "--show", choices=("sum", "count", "span", "list"), help="print what was wrong of that kind"
    )
    given = parser.parse_args()
    if missing := [path for path in given.data if not path.is_file()]:
        parser.error(f"there is no {missing[0]}")
    found = list(_asked(given))
    for one in found:
        if one.kind == given.show and not one.right:
            print(f"\n{one.question}\n  {one.gold}\n  {one.answer.text[:400]}")
    print(report(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
