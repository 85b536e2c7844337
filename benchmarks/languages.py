"""Measures how often questions in other languages find the English page that answers them.

Each embedded model is measured, beside the English originals.

    python benchmarks/languages.py [--questions FILE --documents FOLDER]... [--store FOLDER]
                                   [--translations FILE.tsv]

languages.tsv holds a question a line: its language, the id of the question that it translates, and its text.
The originals, with the pages that answer, come from the question sets given, by default the development sets
beside the checkout; benchmarks/questions.py describes their format. Each question is searched in its own
document and in all, as the product searches and by vectors alone. It is also asked of its own document, and
of another, where it should be refused. The costs of each model are measured in a process of its own, on one
thread: milliseconds for a chunk of these documents and for a query, and megabytes that the open model adds.
Needs `make setup-multilingual`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.asking import answer_to, opened, provenance
from benchmarks.intervals import share_cell, sign_test
from benchmarks.questions import BESIDE, STORE, Question, QuestionSet, load_questions
from benchmarks.retrieval import hits_within, search_everything, search_vectors
from benchmarks.scores import gold_rank
from benchmarks.tables import markdown_table
from chatbot.service import Chatbot
from chatbot.settings import MULTILINGUAL, load_settings

__all__ = ["Translation", "beside_each_other", "load_translations", "translated"]

TRANSLATIONS = ROOT / "benchmarks" / "languages.tsv"
ENGLISH = "en"
MODELS = {"MiniLM": "", "multilingual": MULTILINGUAL}
SEARCHES = {"as the product searches": search_everything, "by vectors alone": search_vectors}
# Chunks and queries that are timed.
CHUNKS, QUERIES = 300, 40

# model -> language -> question -> place of the first gold page, 0 where it is not found.
Ranks = Mapping[str, Mapping[str, Mapping[str, int]]]


@dataclass(frozen=True, slots=True)
class Translation:
    """A question in another language. id: of its original."""

    language: str
    id: str
    text: str


def load_translations(path: Path) -> tuple[Translation, ...]:
    """Those of a file. Raises SystemExit naming a line that is none."""
    made = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        parts = line.split("\t")
        if len(parts) != 3 or not all(map(str.strip, parts)):
            raise SystemExit(
                f"{path}:{number}: a line is a language, an id and a question, tabs between them."
            )
        made.append(Translation(*parts))
    return tuple(made)


def translated(
    sets: Sequence[QuestionSet], translations: Sequence[Translation]
) -> tuple[QuestionSet, dict[str, list[Question]]]:
    """The documents that the translations ask, as one set; and the questions by language, their originals
    as ENGLISH. Raises SystemExit for an unknown id.
    """
    originals = {question.id: question for one in sets for question in one.questions}
    if unknown := sorted({one.id for one in translations} - originals.keys()):
        raise SystemExit(f"The question sets have no {unknown[0]!r}.")
    asked = {one.id: originals[one.id] for one in translations}
    by_language: dict[str, list[Question]] = {ENGLISH: list(asked.values())}
    for one in translations:
        by_language.setdefault(one.language, []).append(replace(asked[one.id], text=one.text))
    wanted = {question.document for question in asked.values()}
    files = {path.name: path for one in sets for path in one.files if path.name in wanted}
    return QuestionSet("languages", tuple(asked.values()), tuple(files.values())), by_language


def beside_each_other(ranks: Ranks) -> str:
    """Hits by language, a column for each model and place, and how likely chance is."""
    models, languages = list(ranks), list(next(iter(ranks.values())))
    others = [language for language in languages if language != ENGLISH]
    rows = []
    for name, of in [*((language, [language]) for language in languages), ("all but en", others)]:
        found = {}
        for model in models:
            found[model] = [place for language in of for place in ranks[model][language].values()]
        cells = [
            share_cell(hits_within(place, found[model]), len(found[model]))
            for place in (1, 3)
            for model in models
        ]
        first, last = (found[model] for model in (models[0], models[-1]))
        won = [hits_within(3, [new]) - hits_within(3, [old]) for old, new in zip(first, last, strict=True)]
        rows.append([name, len(first), *cells, f"{sign_test(won.count(1), won.count(-1)):.3f}"])
    heads = ["language", "n", *(f"@{place} {model}" for place in (1, 3) for model in models), "p @3"]
    return markdown_table(heads, rows)


def _ranks(
    chatbot: Chatbot, by_language: Mapping[str, Sequence[Question]], search: str, *, own: bool
) -> dict[str, dict[str, int]]:
    ranks: dict[str, dict[str, int]] = {}
    for language, questions in by_language.items():
        ranks[language] = {}
        for one in questions:
            names = (one.document,) if own else ()
            found = SEARCHES[search](chatbot, one, names)
            ranks[language][one.id] = gold_rank(found, one.document, one.pages)
    return ranks


def _asked(chatbot: Chatbot, by_language: Mapping[str, Sequence[Question]]) -> list[list[str]]:
    """A row for English and one for the others: answers that cite a page that answers, refused ones, and
    refused ones of those asked of another document.
    """
    names = sorted({question.document for question in by_language[ENGLISH]})
    rows = []
    for english in (True, False):
        questions = [
            one for language, of in by_language.items() if (language == ENGLISH) == english for one in of
        ]
        counts = [0, 0, 0]
        for number, one in enumerate(questions):
            answer = answer_to(chatbot, one, (one.document,))
            counts[0] += any(citation.page in one.pages for citation in answer.citations)
            others = [name for name in names if name != one.document]
            refused = [
                bool(answer.reason),
                bool(answer_to(chatbot, one, (others[number % len(others)],)).reason),
            ]
            counts[1:] = [count + more for count, more in zip(counts[1:], refused, strict=True)]
        rows.append(
            [
                "en" if english else "all but en",
                str(len(questions)),
                *(share_cell(count, len(questions)) for count in counts),
            ]
        )
    return rows


def measure(sets: Sequence[QuestionSet], translations: Sequence[Translation], store: Path) -> Iterator[str]:
    """The parts of the report."""
    questions, by_language = translated(sets, translations)
    found: dict[tuple[str, str], dict[str, dict[str, dict[str, int]]]] = {}
    costs: list[tuple[str, list[float]]] = []
    answers: list[list[str]] = []
    settings = load_settings()
    for name, model in MODELS.items():
        with opened(questions, store / name, settings=replace(settings, embedding_model=model)) as chatbot:
            yield provenance(chatbot)
            for search in SEARCHES:
                for scope in ("own document", "all documents"):
                    found.setdefault((scope, search), {})[name] = _ranks(
                        chatbot, by_language, search, own=scope == "own document"
                    )
            answers += [[name, *row] for row in _asked(chatbot, by_language)]
            texts = [
                chunk.text
                for version in chatbot.library.scope(())
                for chunk in chatbot.library.catalog.chunks(version)
            ]
        step = max(1, len(texts) // CHUNKS)
        queries = [one.text for one in translations][:QUERIES]
        costs.append((name, _cost(model, texts[::step][:CHUNKS], queries)))
    yield from (
        f"### {scope}, {search}\n\n{beside_each_other(ranks)}" for (scope, search), ranks in found.items()
    )
    yield "### asked\n\n" + markdown_table(
        ["model", "language", "n", "gold page cited", "refused", "refused of another document"], answers
    )
    rows = [[name, *map(str, of)] for name, of in costs]
    rows.append(
        ["ratio", *(f"{theirs / ours:.1f}" for ours, theirs in zip(costs[0][1], costs[1][1], strict=True))]
    )
    yield markdown_table(["model", "ms a chunk", "ms a query", "MB opened", "s to open"], rows)


def _cost(model: str, chunks: Sequence[str], queries: Sequence[str]) -> list[float]:
    command = [sys.executable, __file__, "--cost", model]
    done = subprocess.run(
        command, input=json.dumps([chunks, queries]), capture_output=True, text=True, check=True
    )
    costs: list[float] = json.loads(done.stdout)
    return costs


def _print_cost(model: str) -> None:
    """Times and memory of one model, as JSON."""
    from chatbot.models.embedders import local_embedder

    chunks, queries = json.load(sys.stdin)
    embedder = local_embedder(replace(load_settings(), embedding_model=model, workers=1))
    before, started = _resident_megabytes(), time.perf_counter()
    embedder.embed(["ready"])
    opening = time.perf_counter() - started
    embedder.embed(chunks[:20])
    took = []
    for texts, query in ((chunks, False), (queries, True)):
        started = time.perf_counter()
        for text in texts:
            embedder.embed([text], query=query)
        took.append(1_000 * (time.perf_counter() - started) / len(texts))
    megabytes = round(_resident_megabytes() - before)
    print(json.dumps([round(took[0], 1), round(took[1], 1), megabytes, round(opening, 2)]))


def _resident_megabytes() -> float:
    status = Path("/proc/self/status").read_text("utf-8")
    return int(status.partition("VmRSS:")[2].split()[0]) / 1_024


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    options.add_argument(
        "--questions",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="originals of the translations",
    )
    options.add_argument(
        "--documents",
        type=Path,
        action="append",
        default=[],
        metavar="FOLDER",
        help="the PDFs of each --questions",
    )
    options.add_argument(
        "--store",
        type=Path,
        metavar="FOLDER",
        default=STORE,
        help="where the indexes are kept between runs (default %(default)s)",
    )
    options.add_argument(
        "--translations", type=Path, metavar="FILE.tsv", default=TRANSLATIONS, help="(default %(default)s)"
    )
    options.add_argument("--cost", choices=list(MODELS.values()), help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.cost is not None:
        _print_cost(given.cost)
        return
    pairs = list(zip(given.questions, given.documents, strict=True))
    if not pairs and BESIDE.is_dir():
        pairs = [(BESIDE / f"policyqa_dev{which}.jsonl", BESIDE / f"policy{which}") for which in ("", "2")]
    if not pairs:
        raise SystemExit(
            "Nothing measured: no question set is given. Give --questions FILE --documents FOLDER."
        )
    for part in measure(
        [load_questions(*pair) for pair in pairs], load_translations(given.translations), given.store
    ):
        print(part, end="\n\n")


if __name__ == "__main__":
    main()
