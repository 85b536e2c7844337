"""Fits the weights by which passages are chosen.

It learns which passage of the pages found holds a right value, and judges the weights on documents left out.

    python benchmarks/calibrate_passages.py [--financebench FOLDER] [--questions FILE --documents FOLDER]
                                            [--store FOLDER] [--ridge 3]

For each answerable question with `values`, it compares the passages of the pages that reach the prompt: those
of a gold page that hold a right value against all others. The weights maximise the likelihood (a softmax over
the passages of a question; several right ones count together). Each document is left out once, and its
questions are ranked by the weights of the others.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.asking import answer_to, opened
from benchmarks.intervals import share_cell
from benchmarks.questions import QuestionSet, add_options, chosen_sets, only_answerable
from benchmarks.scores import has_value
from benchmarks.tables import markdown_table
from chatbot.answer.extractive.passage_answers import embedded
from chatbot.answer.extractive.passage_scores import WEIGHTS, QuestionProfile, ScoredPassage, signs_of
from chatbot.evidence.page import page_of
from chatbot.models.embedders import SentenceVectors
from chatbot.service import Chatbot

Floats = NDArray[np.float64]
# Pull of the weights towards 0, in deviations of the signs, over all questions together.
RIDGE = 3.0
STEPS = 300
RATE = 0.5
# Places among which the first right passage is counted.
WITHIN = (1, 3, 5)


@dataclass(frozen=True, slots=True)
class Example:
    """A question put to a document. signs: (passages, signs); right: (passages,) those that hold a right
    value on a gold page.
    """

    group: str
    signs: Floats
    right: NDArray[np.bool_]


def fit(examples: Sequence[Example], *, ridge: float = RIDGE) -> Floats:
    """(signs,) the weights of greatest likelihood in the signs' own units, by gradient ascent. Raises
    ValueError without examples.
    """
    if not examples:
        raise ValueError("there must be questions with a right passage")
    spread = np.concatenate([example.signs for example in examples]).std(axis=0) + 1e-6
    weights = np.zeros(len(spread))
    for _ in range(STEPS):
        slope = -ridge * weights
        for example in examples:
            table = example.signs / spread
            raw = np.exp(table @ weights - (table @ weights).max())
            right = np.where(example.right, raw, 0.0)
            slope = slope + table.T @ (right / right.sum() - raw / raw.sum())
        weights = weights + RATE * slope / len(examples)
    found: Floats = weights / spread
    return found


def ranks_left_out(examples: Sequence[Example], *, ridge: float = RIDGE) -> list[int]:
    """The place of each example's first right passage, 0-based, by the weights of all other groups."""
    ranks = []
    for group in dict.fromkeys(example.group for example in examples):
        weights = fit([example for example in examples if example.group != group], ridge=ridge)
        ranks += [rank(example, weights) for example in examples if example.group == group]
    return ranks


def rank(example: Example, weights: Floats) -> int:
    """How many passages come before the first right one."""
    scores = example.signs @ weights
    return int((scores > scores[example.right].max()).sum())


def gather(chatbot: Chatbot, questions: QuestionSet) -> tuple[list[Example], int]:
    """The set's examples, and of how many questions no passage found is right."""
    vectors, examples, without = SentenceVectors(chatbot.library.embedder), [], 0
    for question in only_answerable(questions.questions):
        if not question.values or not question.document:
            continue
        answer = answer_to(chatbot, question, question.names or (question.document,))
        if answer.prompt is None or answer.understanding is None:
            continue
        hits = list(answer.prompt.sources.values())
        cut = [(hit, passage) for hit in hits for passage in page_of(hit).passages]
        appended = answer.search_query != question.text and answer.search_query.endswith(question.text)
        asked = QuestionProfile(
            answer.understanding, [passage for _, passage in cut], question.text if appended else ""
        )
        passages = vectors.vectors([embedded(passage) for _, passage in cut])
        near = passages @ chatbot.library.embedder.embed([answer.understanding.subject])[0]
        best = max((hit.score for hit in hits), default=0.0) or 1.0
        found = [
            ScoredPassage(passage, hit.score / best, float(near[at])) for at, (hit, passage) in enumerate(cut)
        ]
        right = np.array(
            [hit.page in question.pages and has_value(question.values, passage.text) for hit, passage in cut]
        )
        without += not right.any()
        if right.any():
            signs = np.array([list(signs_of(asked, one).values()) for one in found], np.float64)
            examples.append(Example(question.document, signs, right))
    return examples, without


def _share_within(n: int, ranks: Sequence[int]) -> str:
    return share_cell(sum(at < n for at in ranks), len(ranks))


def _mean_reciprocal(ranks: Sequence[int]) -> str:
    return f"{np.mean([1 / (at + 1) for at in ranks]):.3f}"


def report(examples: Sequence[Example], without: int, *, ridge: float) -> str:
    """Ranks on documents left out, and the weights of all examples beside those in use."""
    in_use = np.array(list(WEIGHTS.values()))
    left, used = ranks_left_out(examples, ridge=ridge), [rank(example, in_use) for example in examples]
    rows = [
        [f"right passage among the first {n}", _share_within(n, left), _share_within(n, used)] for n in WITHIN
    ]
    rows.append(["mean reciprocal rank", _mean_reciprocal(left), _mean_reciprocal(used)])
    weights = [
        [name, f"{weight:+.2f}", f"{WEIGHTS[name]:+.2f}"]
        for name, weight in zip(WEIGHTS, fit(examples, ridge=ridge), strict=True)
    ]
    return "\n\n".join(
        [
            (
                f"{len(examples)} questions on {len({example.group for example in examples})} documents; of "
                f"{without} more no passage found is right."
            ),
            markdown_table([f"n = {len(examples)}", "each document left out", "weights in use"], rows),
            markdown_table(["sign", "weight in all", "in use"], weights),
        ]
    )


def main() -> None:
    """Gather, fit and print."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    add_options(options)
    options.add_argument(
        "--ridge", type=float, default=RIDGE, help="pull of the weights towards 0 (default %(default)s)"
    )
    given = options.parse_args()
    examples: list[Example] = []
    without = 0
    for questions in chosen_sets(given):
        with opened(questions, given.store) as chatbot:
            more, none = gather(chatbot, questions)
            examples, without = examples + more, without + none
    print(report(examples, without, ridge=given.ridge))


if __name__ == "__main__":
    main()
