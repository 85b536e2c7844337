"""Fits the thresholds of refusal with a small logistic regression on what a search found.

The thresholds are judged on documents that the model has not seen.

    python benchmarks/calibrate_refusal.py [--financebench FOLDER] [--questions FILE --documents FOLDER]
                                           [--store FOLDER] [--by-words] [--features MODULE:FUNCTION]
                                           [--wrongly 0.045] [--sample 200] [--seed 1] [--save FILE]

It uses the sets named and the samples of the checkout. Answerable questions should be answered, asked of
their own document and of all. Absent ones (as written, and made by benchmarks/absent.py) and other documents'
questions should be refused. Each document is left out once: weights and threshold come from the others, and
its own refusals are counted.

The features are those by which the product judges; --by-words takes those used where nothing is embedded.
FUNCTION(question, hits) -> {feature: number} replaces them: it reads the standalone question and its hits,
and must give the same features for every question. The constant printed is that of
chatbot/search/refusal.py, which refuses below 0. --save writes features and labels as JSON lines.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.absent import make_absent
from benchmarks.answers import SAMPLE, other_documents
from benchmarks.asking import answer_to, opened, page_texts
from benchmarks.intervals import share_cell
from benchmarks.questions import (
    Question,
    QuestionSet,
    add_options,
    chosen_sets,
    load_questions,
    only_answerable,
)
from benchmarks.tables import markdown_table
from chatbot.records import Hit
from chatbot.search.fusion import embed_query, mean_vector
from chatbot.search.retrieval import Query
from chatbot.service import Chatbot
from chatbot.settings import Settings

Floats = NDArray[np.float64]
Features = Callable[[str, Sequence[Hit]], Mapping[str, float]]
Reader = Callable[[Question, tuple[str, ...]], Mapping[str, float]]
SAMPLES = ROOT / "tests" / "sample_questions.jsonl"
# Parts of a page's score; each is 0-1.
PARTS = ("vector", "chunk_words", "page_words", "coverage")
# Pull of the weights towards 0, in deviations of the features: holds them finite where a feature separates
# the examples alone.
RIDGE = 1.0
STEPS = 50
# Share of answerable questions that may be refused, of those that a threshold is chosen on.
WRONGLY = 0.045
# Others that are shown beside it.
TRADES = (0.0, 0.05, 0.1)


@dataclass(frozen=True, slots=True)
class Example:
    """A question put to a document. group: that document; what: what sort of question it is; answerable:
    whether it should be answered.
    """

    group: str
    what: str
    answerable: bool
    features: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Model:
    """P(answerable) = 1 / (1 + exp(-(bias + weights · features))), in the features' own units; refused
    below the threshold.
    """

    names: tuple[str, ...]
    weights: tuple[float, ...]
    bias: float
    threshold: float = 0.5

    def probability(self, features: Mapping[str, float]) -> float:
        """In (0, 1). Raises KeyError for a feature that is missing."""
        total = self.bias + sum(
            weight * features[name] for name, weight in zip(self.names, self.weights, strict=True)
        )
        return float(1 / (1 + np.exp(-np.clip(total, -30, 30))))

    def refuses(self, features: Mapping[str, float]) -> bool:
        """Whether these features are too little to answer."""
        return self.probability(features) < self.threshold


def read_parts(question: str, hits: Sequence[Hit]) -> dict[str, float]:
    """The best of each part of the hits' scores, and of the first hit alone; 0 where there is none."""
    best = {}
    for name in PARTS:
        best[name] = max((hit.scores.get(name, 0.0) for hit in hits), default=0.0)
    first = hits[0].scores if hits else {}
    return {**best, **{f"first {name}": first.get(name, 0.0) for name in PARTS}}


def _values(features: Mapping[str, float], names: Sequence[str]) -> list[float]:
    return [features[name] for name in names]


def fit(examples: Sequence[Example], *, wrongly: float = WRONGLY) -> Model:
    """The model of these examples, both labels weighing alike, with the highest threshold that refuses at
    most `wrongly` of the answerable ones.

    Ridge-penalised logistic regression by Newton's method. Raises ValueError where a label is missing.
    """
    names = tuple(examples[0].features) if examples else ()
    rows = [_values(example.features, names) for example in examples]
    table = np.array(rows, np.float64)
    label = np.array([example.answerable for example in examples], np.float64)
    if not 0 < label.sum() < len(label):
        raise ValueError("there must be answerable and absent examples")
    middle, spread = table.mean(axis=0), table.std(axis=0)
    spread[spread < 1e-9] = 1.0
    importance = np.where(label == 1, 0.5 / label.mean(), 0.5 / (1 - label.mean()))
    solved = _newton((table - middle) / spread, label, importance)
    weights = solved[1:] / spread
    model = Model(names, tuple(weights.tolist()), float(solved[0] - weights @ middle))
    kept = sorted(model.probability(example.features) for example in examples if example.answerable)
    return Model(model.names, model.weights, model.bias, kept[int(wrongly * len(kept))])


def _newton(table: Floats, label: Floats, importance: Floats) -> Floats:
    """Bias, then weights of standardised features."""
    design = np.hstack([np.ones((len(table), 1)), table])
    pull = np.diag([0.0, *[RIDGE] * table.shape[1]])
    solved = np.zeros(design.shape[1])
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-np.clip(design @ solved, -30, 30)))
        slope = design.T @ (importance * (label - chance)) - pull @ solved
        curve = (design * (importance * chance * (1 - chance))[:, None]).T @ design + pull
        step = np.linalg.solve(curve + 1e-9 * np.eye(len(curve)), slope)
        solved = solved + step
        if float(np.abs(step).max()) < 1e-9:
            break
    return solved


def refusals_left_out(examples: Sequence[Example], *, wrongly: float = WRONGLY) -> list[tuple[Example, bool]]:
    """(example, refused?) for each, by the model of all other groups. Raises ValueError where fewer than
    two groups hold both labels' examples.
    """
    judged = []
    for group in dict.fromkeys(example.group for example in examples):
        model = fit([example for example in examples if example.group != group], wrongly=wrongly)
        judged += [
            (example, model.refuses(example.features)) for example in examples if example.group == group
        ]
    return judged


def separation(examples: Sequence[Example], name: str) -> float:
    """The chance that an answerable example has more of a feature than an absent one, ties counted half:
    0.5 tells nothing.
    """
    value = np.array([example.features[name] for example in examples])
    label = np.array([example.answerable for example in examples])
    more = value[label][:, None] - value[~label][None, :]
    return float(((more > 0) + 0.5 * (more == 0)).mean())


def main() -> None:
    """Gather, fit and print."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    add_options(options)
    options.add_argument(
        "--features",
        metavar="MODULE:FUNCTION",
        default="",
        help="what to learn from in place of the product's signs",
    )
    options.add_argument(
        "--by-words", action="store_true", help="learn what is judged by where nothing is embedded"
    )
    options.add_argument(
        "--wrongly",
        type=float,
        default=WRONGLY,
        help="share of answerable questions that may be refused (default %(default)s)",
    )
    options.add_argument(
        "--sample",
        type=int,
        default=SAMPLE,
        help="questions put to other documents, of each set (default %(default)s)",
    )
    options.add_argument("--seed", type=int, default=1, help="which of them (default %(default)s)")
    options.add_argument("--save", type=Path, metavar="FILE", help="keep features and labels, as JSON lines")
    given = options.parse_args()
    examples: list[Example] = []
    for questions in [
        *chosen_sets(given),
        load_questions(SAMPLES, ROOT / "documents" / "samples", name="samples"),
    ]:
        with opened(questions, given.store) as chatbot:
            read = (
                searched(chatbot, named_function(given.features))
                if given.features
                else judged_by(chatbot, by_words=given.by_words)
            )
            examples += gather(chatbot, questions, read, others=(given.sample, given.seed))
    if given.save:
        lines = [json.dumps(_record(example)) for example in examples]
        given.save.write_text("\n".join([*lines, ""]), "utf-8")
    print(report(examples, wrongly=given.wrongly))


def _record(example: Example) -> dict[str, object]:
    return {
        "group": example.group,
        "what": example.what,
        "answerable": example.answerable,
        "features": dict(example.features),
    }


def named_function(path: str) -> Features:
    """The function of "module:function". Raises SystemExit where there is none."""
    module, _, name = path.partition(":")
    try:
        found: Features = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise SystemExit(f"--features {path}: {error}. Give MODULE:FUNCTION.") from error
    return found


def searched(chatbot: Chatbot, features: Features) -> Reader:
    """Reads the features of what is searched for a question."""

    def read(question: Question, names: tuple[str, ...]) -> Mapping[str, float]:
        query = chatbot.standalone(question.text, question.history)
        return features(query, chatbot.search(query, names=names, k=Settings().pages))

    return read


def judged_by(chatbot: Chatbot, *, by_words: bool) -> Reader:
    """Reads the product's own signs of a question that it answered."""

    def read(question: Question, names: tuple[str, ...]) -> Mapping[str, float]:
        answer = answer_to(chatbot, question, names)
        if answer.prompt is None or answer.understanding is None or not answer.prompt.sources:
            return {}
        vector = None
        if not by_words:
            embedder = chatbot.library.embedder
            vector = mean_vector(embed_query(embedder, answer.understanding.subject).chunks)
        query = Query(answer.search_query, vector, names, understanding=answer.understanding)
        asked = chatbot.answering.judged(answer.prompt, query)
        return chatbot.answering.evidence(asked)

    return read


def gather(
    chatbot: Chatbot, questions: QuestionSet, read: Reader, *, others: tuple[int, int]
) -> list[Example]:
    """The set's examples, but for questions for which no page was found. others: how many questions to put to
    other documents, and the seed that chooses them."""
    texts = page_texts(chatbot)
    answerable = only_answerable(questions.questions)
    put: list[tuple[str, Question, tuple[str, ...]]] = [
        ("answerable, own document", question, (question.document,)) for question in answerable
    ]
    put += [("answerable, all documents", question, ()) for question in answerable]
    put += [
        ("absent, as written", question, question.names)
        for question in questions.questions
        if not question.answerable
    ]
    put += [
        (f"{question.kind}, made", question, question.names)
        for question in make_absent(questions.questions, texts)
    ]
    pairs = other_documents(questions, texts, most=others[0], seed=others[1])
    put += [("another document's question", question, (name,)) for question, name in pairs]
    examples = []
    for what, question, names in put:
        group = names[0] if what.startswith("another") else question.document or questions.name
        found = read(question, names)
        if found:
            examples.append(Example(group, what, what.startswith("answerable"), dict(found)))
    return examples


def report(examples: Sequence[Example], *, wrongly: float) -> str:
    """What each feature tells alone, refusals on documents left out, and the model of all examples."""
    model = fit(examples, wrongly=wrongly)
    judged = refusals_left_out(examples, wrongly=wrongly)
    rows = []
    for what in dict.fromkeys(example.what for example in examples):
        refused = [no for example, no in judged if example.what == what]
        rows.append([what, len(refused), share_cell(sum(refused), len(refused))])
    rows.append(["all that is absent", *_refused(judged, answerable=False)])
    trade = []
    for share in sorted({*TRADES, wrongly}):
        once = refusals_left_out(examples, wrongly=share)
        trade.append(
            [f"{share:.0%}", _refused(once, answerable=True)[1], _refused(once, answerable=False)[1]]
        )
    told = [
        [name, f"{separation(examples, name):.3f}", f"{weight:+.4f}"]
        for name, weight in zip(model.names, model.weights, strict=True)
    ]
    groups = len({example.group for example in examples})
    constant = model.bias - float(np.log(model.threshold / (1 - model.threshold)))
    parts = [
        (
            f"{len(examples)} questions to {groups} documents; thresholds refuse at most {wrongly:.0%} of "
            f"the answerable ones they are chosen on."
        ),
        markdown_table(["refused, each document left out once", "n", "share"], rows),
        markdown_table(["answerable refused: allowed", "left out", "absent refused, left out"], trade),
        markdown_table([f"feature (n = {len(examples)})", "separates alone", "weight in all"], told),
        f"All examples: constant {constant:+.4f}.",
    ]
    return "\n\n".join(parts)


def _refused(judged: Sequence[tuple[Example, bool]], *, answerable: bool) -> tuple[int, str]:
    """n and the share refused, as printed."""
    refused = [no for example, no in judged if example.answerable == answerable]
    return len(refused), share_cell(sum(refused), len(refused))


if __name__ == "__main__":
    main()
