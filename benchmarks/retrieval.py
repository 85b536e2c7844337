"""Measures how often the page that answers is among the first ones found, and what each part brings.

The plain nearest chunks are measured beside it.

    python benchmarks/retrieval.py [--financebench FOLDER] [--questions FILE --documents FOLDER]
                                   [--store FOLDER] [--save FILE] [--against FILE] [--no-ablation] [--rerank]

Each question is searched in its own document and in all documents of its set. The peer is measured in the
same run: the nearest chunks of 1,000 characters by vector, the question as asked, as a vector store gives
them. Shares come with Wilson's 95 % intervals. --save keeps the place of each gold page; --against tells
which questions were found better or worse than in a run saved before. Page gold is one annotator's choice:
another page may answer as well, so hits are a lower bound.

--rerank adds what FINPOLICY_RERANK can gain and cost. No model is needed: an HTTP server of the benchmark's
own stands in for three. The first puts the page that answers first wherever it is among those shown, which is
what the best model could gain. The second turns the order round. The third replies nonsense, after which the
order must be that of the search. A real model lies between the first two.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.asking import opened, provenance
from benchmarks.intervals import mean_cell, percentile, share_cell, sign_test
from benchmarks.questions import Question, QuestionSet, add_options, chosen_sets, only_answerable
from benchmarks.scores import gold_rank
from benchmarks.tables import markdown_table
from chatbot.records import Hit
from chatbot.search.page_scores import WEIGHTS, Weights
from chatbot.search.page_search import Find
from chatbot.search.reranking import make_reranking_model, rerank
from chatbot.service import Chatbot
from chatbot.settings import load_settings

# Places looked at; a gold page further down counts as not found.
DEPTH = 10
PLACES = (1, 3, 5, 10)
# Pages people look at: what --against reports as gained and lost.
IN_PROMPT = 3
# Searches timed in each scope, at least.
TIMED = 200
Search = Callable[[Chatbot, Question, tuple[str, ...]], list[Hit]]
# scope -> variant -> question -> place of the first gold page, 0 where it is not among the first DEPTH.
Ranks = Mapping[str, Mapping[str, Mapping[str, int]]]
PEER, WHOLE = "nearest chunks (peer)", "everything"
# Places told of reranking: it moves the first DEPTH pages among themselves, so the last stays.
RERANKED_PLACES = (1, 3, 10)
_KEY = re.compile(r"^(P\d+-[0-9a-f]+): ", re.M)


def search_nearest_chunks(chatbot: Chatbot, question: Question, names: tuple[str, ...]) -> list[Hit]:
    """The peer: chunks, so one page may take several places."""
    return chatbot.search(question.text, names=names, raw=True, k=DEPTH)


# Shares that a page keeps of its score: off is keeping all.
NEUTRAL = {"contents": 1.0, "boilerplate": 1.0}


def search_everything(
    chatbot: Chatbot,
    question: Question,
    names: tuple[str, ...],
    *,
    mode: str = "hybrid",
    weights: Weights = WEIGHTS,
) -> list[Hit]:
    """As the product searches, a follow-up made standalone first."""
    return chatbot.find(
        Find(chatbot.standalone(question.text, question.history), names, mode, DEPTH, weights=weights)
    )


def search_as_asked(chatbot: Chatbot, question: Question, names: tuple[str, ...]) -> list[Hit]:
    """Without what was said before."""
    return chatbot.search(question.text, names=names, k=DEPTH)


def search_vectors(chatbot: Chatbot, question: Question, names: tuple[str, ...]) -> list[Hit]:
    """By meaning alone."""
    return search_everything(chatbot, question, names, mode="vector")


def search_words(chatbot: Chatbot, question: Question, names: tuple[str, ...]) -> list[Hit]:
    """By words alone."""
    return search_everything(chatbot, question, names, mode="keyword")


def ablations() -> dict[str, Search]:
    """Searches that lack a part, by what they lack: one for each of the retriever's weights, and some that
    lack several.
    """
    without = {
        f"without {name}": partial(search_everything, weights=off)
        for name, off in switched_off(WEIGHTS, neutral=NEUTRAL).items()
    }
    return {
        "vectors alone": search_vectors,
        "words alone": search_words,
        "follow-ups as asked": search_as_asked,
        **without,
    }


def switched_off(switches: Any, *, neutral: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Field -> the switches without it: False for a flag, 0 for a weight, or what `neutral` says, such as 1
    for a share that is kept.

    switches: a dataclass. Fields that are off already, or are neither flag nor number, are left out.
    """
    found = {}
    for field in dataclasses.fields(switches):
        value = getattr(switches, field.name)
        off = (neutral or {}).get(
            field.name, type(value)(0) if isinstance(value, bool | int | float) else value
        )
        if off != value:
            found[field.name] = dataclasses.replace(switches, **{field.name: off})
    return found


def _gold_first(keys: Sequence[str], gold: Sequence[bool]) -> str:
    ordered = sorted(zip(gold, keys, strict=False), key=lambda pair: not pair[0])
    return json.dumps([key for _, key in ordered])


def _nonsense(keys: Sequence[str], gold: Sequence[bool]) -> str:
    return "I would rather not say: [1, 2, 3]."


# What the model that is stood in for replies. keys: of the pages it was shown, in their order; gold: which of
# them answer.
REPLIES: Mapping[str, Callable[[Sequence[str], Sequence[bool]], str]] = {
    "pages that answer first": _gold_first,
    "turned round": lambda keys, gold: json.dumps(keys[::-1]),
    "nonsense": _nonsense,
}


@contextlib.contextmanager
def reranking(reply: Callable[[Sequence[str], Sequence[bool]], str]) -> Iterator[Search]:
    """A search as the product's with FINPOLICY_RERANK, its chat model a server that replies so. It raises
    SystemExit where the reply is not taken.
    """
    from tests.provider import Body, Provider

    gold: list[bool] = []

    def answered(body: Body) -> Sequence[str]:
        return [reply(_KEY.findall(body["messages"][-1]["content"]), gold)]

    with Provider([answered]) as provider:

        def search(chatbot: Chatbot, question: Question, names: tuple[str, ...]) -> list[Hit]:
            hits = search_everything(chatbot, question, names)
            gold[:] = [gold_rank([hit], question.document, question.pages) == 1 for hit in hits]
            settings = dataclasses.replace(
                chatbot.settings,
                chat_model="stand-in",
                base_url=provider.url,
                api_key="",
                offline=False,
                rerank=True,
            )
            model = make_reranking_model(settings)
            assert model is not None
            ranked = rerank(
                chatbot.standalone(question.text, question.history),
                hits,
                model,
                max_tokens=settings.context_tokens,
            )
            if ranked.notice and reply is not _nonsense:
                raise SystemExit(f"Question {question.id}: {ranked.notice.text}")
            return list(ranked.hits)

        yield search


def measure_reranking(chatbot: Chatbot, questions: QuestionSet) -> dict[str, dict[str, dict[str, int]]]:
    """As `measure`: the search without reranking, and with each of REPLIES."""
    with contextlib.ExitStack() as servers:
        variants = {
            f"reranked: {name}": servers.enter_context(reranking(reply)) for name, reply in REPLIES.items()
        }
        return measure(chatbot, questions, {"without reranking": search_everything, **variants})


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    add_options(options)
    options.add_argument("--save", type=Path, metavar="FILE", help="keep the places of this run")
    options.add_argument("--against", type=Path, metavar="FILE", help="tell what changed since that run")
    options.add_argument("--no-ablation", action="store_true", help="only everything and the peer")
    options.add_argument(
        "--rerank",
        action="store_true",
        help="also what reranking by a chat model can bring and cost; needs no model",
    )
    given = options.parse_args()
    if given.rerank and load_settings().rerank:
        raise SystemExit("Unset FINPOLICY_RERANK: --rerank measures the search without it too.")
    before = json.loads(given.against.read_text("utf-8")) if given.against else {}
    saved = {}
    for questions in chosen_sets(given):
        with opened(questions, given.store) as chatbot:
            variants = {
                PEER: search_nearest_chunks,
                WHOLE: search_everything,
                **({} if given.no_ablation else ablations()),
            }
            saved[questions.name] = ranks = measure(chatbot, questions, variants)
            print(f"## {questions.name}\n\n{provenance(chatbot)}\n")
            print(report(only_answerable(questions.questions), ranks), end="\n\n")
            print(timing_table(measure_times(chatbot, questions)), end="\n\n")
            if given.rerank:
                print(reranking_report(measure_reranking(chatbot, questions)), end="\n\n")
        if questions.name in before:
            print(changes(questions.questions, before[questions.name], ranks), end="\n\n")
    if given.save:
        given.save.write_text(json.dumps(saved, indent=1), "utf-8")


def measure(
    chatbot: Chatbot, questions: QuestionSet, variants: Mapping[str, Search]
) -> dict[str, dict[str, dict[str, int]]]:
    """The places of the gold pages: own document and all documents, by variant and question; answerable
    questions only.
    """
    asked = only_answerable(questions.questions)
    scopes: dict[str, Callable[[Question], tuple[str, ...]]] = {
        "own document": lambda question: (question.document,),
        "all documents": lambda _: (),
    }
    ranks: dict[str, dict[str, dict[str, int]]] = {}
    for scope, names in scopes.items():
        ranks[scope] = {}
        for name, search in variants.items():
            ranks[scope][name] = {
                one.id: gold_rank(search(chatbot, one, names(one)), one.document, one.pages) for one in asked
            }
    return ranks


def report(questions: Sequence[Question], ranks: Ranks) -> str:
    """Hits and mean reciprocal rank by scope and variant, then by kind of question."""
    parts = []
    for scope, by_variant in ranks.items():
        rows = []
        for name, found in by_variant.items():
            reciprocal = [1 / rank if rank else 0.0 for rank in found.values()]
            rows.append([name, len(found), *hit_cells(list(found.values())), mean_cell(reciprocal)])
        parts.append(
            f"### {scope.capitalize()}\n\n"
            + markdown_table([scope, "n", *(f"hit@{k}" for k in PLACES), "MRR"], rows)
        )
        parts.append(kind_table(questions, by_variant, scope))
    return "\n\n".join(parts)


def reranking_report(ranks: Ranks) -> str:
    """hit@1, 3 and 10 by scope and variant."""
    parts = ["### Reranking by a chat model"]
    for scope, by_variant in ranks.items():
        rows = [
            [name, len(found), *hit_cells(list(found.values()), RERANKED_PLACES)]
            for name, found in by_variant.items()
        ]
        parts.append(markdown_table([scope, "n", *(f"hit@{k}" for k in RERANKED_PLACES)], rows))
    return "\n\n".join(parts)


def kind_table(questions: Sequence[Question], by_variant: Mapping[str, Mapping[str, int]], scope: str) -> str:
    """hit@1 and hit@3 of everything and of the peer by kind of question."""
    rows: list[list[object]] = []
    for kind in sorted({question.kind for question in questions}):
        ids = [question.id for question in questions if question.kind == kind]
        cells = []
        for k in (1, 3):
            for name in (PEER, WHOLE):
                ranks = [by_variant[name][one] for one in ids]
                cells.append(share_cell(hits_within(k, ranks), len(ids)))
        rows.append([kind or "–", len(ids), *cells])
    return markdown_table(
        [f"{scope}, by kind", "n", "peer hit@1", "ours hit@1", "peer hit@3", "ours hit@3"], rows
    )


def hit_cells(ranks: Sequence[int], places: Sequence[int] = PLACES) -> list[str]:
    """hit@k as printed for each of the places."""
    return [share_cell(hits_within(k, ranks), len(ranks)) for k in places]


def hits_within(k: int, ranks: Sequence[int]) -> int:
    """How many places are 1 to k."""
    return sum(1 <= rank <= k for rank in ranks)


def measure_times(chatbot: Chatbot, questions: QuestionSet) -> dict[str, list[float]]:
    """Milliseconds of warm searches for three pages, the question's embedding included, in turn with the
    peer, which pays for its embedding too.
    """
    asked = only_answerable(questions.questions)
    times: dict[str, list[float]] = {
        f"{scope}{who}": [] for scope in ("own document", "all documents") for who in ("", ", peer")
    }
    for turn in range(-len(asked), max(TIMED, len(asked))):
        question = asked[turn % len(asked)]
        for label, kept in times.items():
            names = (question.document,) if label.startswith("own") else ()
            started = time.perf_counter()
            chatbot.search(question.text, names=names, raw=label.endswith("peer"))
            if turn >= 0:  # the turns before warm each document up
                kept.append(1000 * (time.perf_counter() - started))
    return times


def timing_table(times: Mapping[str, Sequence[float]]) -> str:
    """p50 and p95 by scope."""
    rows = [
        [label, len(found), f"{percentile(found, 0.5):.1f}", f"{percentile(found, 0.95):.1f}"]
        for label, found in times.items()
    ]
    return markdown_table(["warm search", "n", "p50 ms", "p95 ms"], rows)


def changes(questions: Sequence[Question], before: Ranks, after: Ranks) -> str:
    """What moved since an earlier run, question by question, with gains and losses within the prompt's
    pages and how likely chance is.
    """
    parts = []
    for scope in after:
        old, new = before.get(scope, {}).get(WHOLE, {}), after[scope][WHOLE]
        moved = [
            question
            for question in questions
            if question.id in old and question.id in new and old[question.id] != new[question.id]
        ]
        gained = sum(
            hits_within(IN_PROMPT, [new[one.id]]) > hits_within(IN_PROMPT, [old[one.id]]) for one in moved
        )
        lost = sum(
            hits_within(IN_PROMPT, [new[one.id]]) < hits_within(IN_PROMPT, [old[one.id]]) for one in moved
        )
        better = [one for one in moved if _depth(new[one.id]) < _depth(old[one.id])]
        rows = []
        for one in moved:
            verdict = "better" if one in better else "worse"
            rows.append([one.id, _place(old[one.id]), _place(new[one.id]), verdict, one.text[:90]])
        rows.sort(key=lambda row: (row[3], row[0]))
        parts.append(
            f"### Since the run before: {scope}\n\n{len(better)} better, {len(moved) - len(better)} "
            f"worse of {len(old.keys() & new.keys())};"
            f" within the first {IN_PROMPT}: {gained} gained, {lost} lost (sign test p = "
            f"{sign_test(gained, lost):.3f})."
            + ("\n\n" + markdown_table(["question", "before", "now", "", ""], rows) if rows else "")
        )
    return "\n\n".join(parts)


def _depth(rank: int) -> int:
    return rank or DEPTH + 1


def _place(rank: int) -> str:
    return str(rank) if rank else f"> {DEPTH}"


if __name__ == "__main__":
    main()
