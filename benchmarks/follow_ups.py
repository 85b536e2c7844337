"""Measures whether a follow-up's standalone query finds the row or sentence its answer is computed from.

    python benchmarks/follow_ups.py [--data FOLDER] [--show]

Reads fin_conv_dev.jsonl in ../shared/data: dialogues about one page of a filing, {"id", "pre_text", "table":
{head: {label: number}}, "post_text", "turns": [{"question", "answer", "program"}]}. Candidates are each cell
of the table as "label head", so that its period counts, and each sentence of the text; a row stands where its
best cell does. They are ranked by BM25 over the product's terms, for three queries of every turn after a
dialogue's first: the question as asked, the question before it put in front, and `standalone_query` of the
turns before with their gold answers. Of equally good candidates the wrong ones count as the better, and one
that shares no term with the query is not found.

What must be found: a turn's program ends in one step, such as "divide(#0, 81881)"; its numbers, and those of
the steps that its "#" marks name, are the operands (constants are not), so that a turn on earlier results
rests on what these rest on. A candidate holds an operand where it prints that number, signs and grouping
aside. Turns without an operand that is printed anywhere ("what is 45 times 4?") are left out and counted.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.intervals import share_cell
from benchmarks.tables import markdown_table
from chatbot.records import Exchange
from chatbot.search.follow_up.rules import is_follow_up, standalone_query
from chatbot.store.term_scores import K1, B, inverse_frequency
from ingestion.language.terms import content_terms, terms

__all__ = [
    "Candidate",
    "Turn",
    "candidates_of",
    "load_turns",
    "operands_of",
    "ranks_of",
    "report",
    "score_all",
    "table_of",
]

DATA = ROOT.parent / "shared" / "data" / "fin_conv_dev.jsonl"
FOUND_AMONG = 3
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?|\.\d+")
STEP = re.compile(r"\w+\(([^()]*)\)")
SENTENCE_END = re.compile(r"(?<=[.?!])\s+")
QUERIES: Mapping[str, Callable[[str, Sequence[Exchange]], str]] = {
    "as asked": lambda question, said: question,
    "previous question in front": lambda question, said: f"{said[-1].user} {question}",
    "standalone query": standalone_query,
}


@dataclass(frozen=True, slots=True)
class Candidate:
    """What a search may find. row: which of the table's rows it stands in, or a number of its own for a
    sentence; numbers: that it prints, without signs."""

    text: str
    row: int
    numbers: frozenset[float]


@dataclass(frozen=True, slots=True)
class Turn:
    """A follow-up. said: the turns before it; candidates: of its dialogue's page; operands: numbers
    without signs, each printed somewhere.
    """

    question: str
    said: tuple[Exchange, ...]
    candidates: tuple[Candidate, ...]
    operands: frozenset[float]


def candidates_of(dialogue: Mapping[str, Any]) -> tuple[Candidate, ...]:
    """The cells of a dialogue's table, then the sentences of its text that have a term."""
    labels = list(dict.fromkeys(label for column in dialogue["table"].values() for label in column))
    cells = []
    for head, column in dialogue["table"].items():
        for label, number in column.items():
            if isinstance(number, int | float):
                numbers = frozenset({abs(float(number))})
                cells.append(Candidate(f"{label} {head}", labels.index(label), numbers))
    sentences = [
        part
        for text in (dialogue["pre_text"], dialogue["post_text"])
        for part in SENTENCE_END.split(text)
        if terms(part)
    ]
    return (*cells, *(Candidate(text, len(labels) + at, _numbers(text)) for at, text in enumerate(sentences)))


def _numbers(text: str) -> frozenset[float]:
    return frozenset(float(number.replace(",", "")) for number in NUMBER.findall(text))


def operands_of(program: str) -> frozenset[float]:
    """The numbers, without signs, that a program's last step rests on; constants left out. Raises
    ValueError for what is no program.
    """
    steps = [arguments.split(",") for arguments in STEP.findall(program)] or [[program]]

    def of_step(at: int) -> set[float]:
        found = set[float]()
        for argument in map(str.strip, steps[at]):
            if argument.startswith("#"):
                found |= of_step(int(argument[1:]))
            elif not argument.startswith("const_"):
                found.add(abs(float(argument.rstrip("%"))))
        return found

    return frozenset(of_step(len(steps) - 1))


def load_turns(lines: Sequence[str]) -> tuple[list[Turn], int]:
    """The follow-ups of dialogues, one a line, and how many are left out because nothing they rest on is
    printed.
    """
    found, left_out = list[Turn](), 0
    for dialogue in map(json.loads, lines):
        candidates, said = candidates_of(dialogue), list[Exchange]()
        printed = frozenset[float]().union(*(one.numbers for one in candidates))
        for at, turn in enumerate(dialogue["turns"]):
            operands = operands_of(turn["program"]) & printed
            if at and operands:
                found.append(Turn(turn["question"], tuple(said), candidates, operands))
            left_out += bool(at and not operands)
            said.append(Exchange(turn["question"], str(turn["answer"])))
    return found, left_out


def score_all(query: str, texts: Sequence[str]) -> list[float]:
    """BM25 of each text, 0 where it shares no term with the query."""
    counted = [Counter(terms(text)) for text in texts]
    lengths = [counts.total() for counts in counted]
    mean = max(1.0, sum(lengths) / max(1, len(lengths)))
    weights = {}
    for term in content_terms(query):
        holding = sum(term in counts for counts in counted)
        weights[term] = inverse_frequency(len(texts), holding)
    scores = []
    for counts, length in zip(counted, lengths, strict=True):
        norm = K1 * (1 - B + B * length / mean)
        scores.append(
            sum(weight * counts[term] * (K1 + 1) / (counts[term] + norm) for term, weight in weights.items())
        )
    return scores


def ranks_of(turn: Turn, query: str, *, cells: bool) -> list[float]:
    """For each operand, the place (from 1) of the best candidate that holds it among those that hold none,
    infinite where it is not found. cells: whether the column counts, or the row alone does."""
    scores, holders = dict[int, float](), dict[float, set[int]]()
    for at, (one, score) in enumerate(
        zip(turn.candidates, score_all(query, [one.text for one in turn.candidates]), strict=True)
    ):
        place = at if cells else one.row
        scores[place] = max(score, scores.get(place, 0.0))
        for operand in one.numbers & turn.operands:
            holders.setdefault(operand, set()).add(place)
    right = set[int]().union(*holders.values())
    others = [score for place, score in scores.items() if place not in right]
    ranks = []
    for places in holders.values():
        best = max(scores[place] for place in places)
        ranks.append(1.0 + sum(other >= best for other in others) if best > 0 else float("inf"))
    return ranks


def table_of(turns: Sequence[Turn], *, cells: bool) -> str:
    """A line for each query: how often the best-placed operand is first and among the first three, the mean
    of its reciprocal place, and how often all operands are among the first three."""
    lines = []
    for name, make in QUERIES.items():
        ranks = [ranks_of(turn, make(turn.question, turn.said), cells=cells) for turn in turns]
        best, worst = [min(places) for places in ranks], [max(places) for places in ranks]
        counts = [
            sum(place <= 1 for place in best),
            sum(place <= FOUND_AMONG for place in best),
            sum(place <= FOUND_AMONG for place in worst),
        ]
        first, three, every = (
            f"{count} of {len(turns)}, {share_cell(count, len(turns))}" for count in counts
        )
        mean = sum(1 / place for place in best) / max(1, len(ranks))
        lines.append([name, first, three, f"{mean:.3f}", every])
    return markdown_table(
        ["query", "hit@1", f"hit@{FOUND_AMONG}", "reciprocal rank", f"every operand among {FOUND_AMONG}"],
        lines,
    )


def report(data: Path = DATA) -> None:
    """Print the tables, or that the data are not there."""
    if not data.exists():
        print(f"Follow-ups of financial dialogues: skipped, there is no {data.name} beside the checkout.")
        return
    turns, left_out = load_turns(data.read_text("utf-8").splitlines())
    leaning = [turn for turn in turns if is_follow_up(turn.question, turn.said)]
    for title, some in (
        ("Turns after the first", turns),
        ("Of these, those that lean on what was said", leaning),
    ):
        for level, cells in (("row or sentence", False), ("cell (row and column) or sentence", True)):
            print(f"{title}, {level}, n = {len(some)}:\n\n{table_of(some, cells=cells)}\n")
    print(f"{left_out} turns are left out: nothing that they rest on is printed.")


def show(data: Path) -> None:
    """Print each turn with its standalone query and the place of the row for the three queries."""
    for turn in load_turns(data.read_text("utf-8").splitlines())[0]:
        places = [
            min(ranks_of(turn, make(turn.question, turn.said), cells=False)) for make in QUERIES.values()
        ]
        print(*places, "|", turn.question, "->", standalone_query(turn.question, turn.said))


def main() -> int:
    """Print the report; 2 where a folder is named that lacks the data."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    options.add_argument("--data", type=Path, default=DATA.parent, help=f"folder with {DATA.name}")
    options.add_argument(
        "--show", action="store_true", help="print every turn with its standalone query instead"
    )
    given = options.parse_args()
    data = given.data / DATA.name
    if given.show and data.exists():
        show(data)
    else:
        report(data)
    return 0 if data.exists() or given.data == DATA.parent else 2


if __name__ == "__main__":
    raise SystemExit(main())
