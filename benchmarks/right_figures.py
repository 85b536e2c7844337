"""Measures how many right figures of answers the number checks doubt, with the reason for each doubt.

    python benchmarks/right_figures.py --questions FILE [FILE ...] --documents FOLDER [FOLDER ...]
                                       [--store FOLDER] [--answers FILE] [--seed 1] [--most 200]

It asks every answerable question through the service. By seed it draws figures evenly from these answers and
from those written in --answers: JSON lines with "question", "answer", "sources" (key -> document and page)
and "right".

Right: the digits stand, between blanks or signs, in words that the answer quotes from the page it cites for
them. In a written answer they stand on the page cited, in a sentence without arithmetic. The judge compares
strings alone: it shares no number reader with the product, and does not see scales or periods.
"""

from __future__ import annotations

import argparse
import json
import random
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
from benchmarks.questions import STORE, load_questions, only_answerable
from benchmarks.tables import markdown_table
from chatbot.answer.verification.checked_text import check_statements
from chatbot.records import FINE, Answer, Exchange, Hit, NumberCheck, Prompt
from chatbot.service import Chatbot

__all__ = ["RightFigure", "draw", "is_printed_in", "of_answer", "of_written", "prompt_of", "report"]

RUN = "7f3a"
_DIGITS = re.compile(r"[0-9](?:[0-9,.]*[0-9])?")
_KEY = re.compile(r"\[(S[0-9]+)\]")
_RECKONS = re.compile(
    (
        r"[=÷×≈√+/]|\b(?:average|difference|differ|less than|more than|minus|plus|divided|times|total of"
        r"|ratio|share|about|roughly)\b"
    ),
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?\]])\s+(?=[A-Z*\-])|\n+")


@dataclass(frozen=True, slots=True)
class RightFigure:
    """A figure that a judge found on the page cited for it, as the product checked it. kind: "extractive"
    or the set of a written answer.
    """

    kind: str
    question: str
    answer: str
    check: NumberCheck

    @property
    def doubted(self) -> bool:
        """Whether the check says that something is not as the page has it."""
        return self.check.status not in {*FINE, "not_checked"}


def is_printed_in(figure: str, text: str) -> bool:
    """Whether the digits of a figure, with their points and commas, stand in a text and are no part of
    longer ones.
    """
    found = _DIGITS.search(figure)
    return (
        found is not None
        and re.search(rf"(?<![0-9])(?<![0-9][.,]){re.escape(found[0])}(?![0-9]|[.,][0-9])", text) is not None
    )


def _stands_in(figure: str, sentence: str) -> bool:
    """Whether a sentence has the figure as it was read, and not with a scale behind it."""
    return (
        re.search(rf"{re.escape(figure)}(?!\w|[.,][0-9]|\s(?:thousand|million|billion|crore|lakh))", sentence)
        is not None
    )


def of_answer(question: str, answer: Answer) -> Iterator[RightFigure]:
    """The figures of an answer that stand in the words it quotes from the page cited for them."""
    for check in answer.numbers:
        quotes = [one.quote for one in answer.citations if one.verified and check.citation in (None, one.key)]
        if any(is_printed_in(check.text, quote) for quote in quotes):
            yield RightFigure("extractive", question, answer.text, check)


def of_written(row: Mapping[str, Any], chatbot: Chatbot) -> Iterator[RightFigure]:
    """The figures of a written answer that its sentence only quotes, from a page cited there."""
    laid_out = prompt_of(row, chatbot)
    if laid_out is None:
        return
    prompt, text = laid_out
    sources, checks = prompt.sources, check_statements(text, prompt).numbers
    sentences = [
        one for one in _SENTENCE.split(row["answer"]) if _KEY.search(one) and not _RECKONS.search(one)
    ]
    for check in checks:
        for sentence in sentences:
            pages = [
                sources[f"{key}-{RUN}"].page_text
                for key in _KEY.findall(sentence)
                if f"{key}-{RUN}" in sources
            ]
            tells = sum(map(str.isdigit, check.text)) > 1  # one digit stands on any page, and numbers items
            if (
                tells
                and _stands_in(check.text, sentence)
                and any(is_printed_in(check.text, page) for page in pages)
            ):
                yield RightFigure(row["set"], row["question"], row["answer"], check)
                break


def prompt_of(row: Mapping[str, Any], chatbot: Chatbot) -> tuple[Prompt, str] | None:
    """The prompt that a written answer had, and the answer with whole keys; None where a page of it is not
    there.
    """
    sources = {
        f"{key}-{RUN}": hit
        for key, of in row["sources"].items()
        if (hit := _source(chatbot, of["document"], of["page"]))
    }
    if len(sources) < len(row["sources"]):
        return None
    exchanges = tuple(Exchange(one["user"], one["assistant"]) for one in row.get("history", ()))
    prompt = Prompt(row["question"], row["question"], sources, exchanges, (), (), RUN)
    return prompt, _KEY.sub(rf"[\1-{RUN}]", row["answer"])


def _source(chatbot: Chatbot, name: str, number: int) -> Hit | None:
    """A page as a search of the product finds it, None for one that is not there."""
    catalog = chatbot.library.catalog
    version = next((version for version, there in chatbot.library.scope(()).items() if there == name), None)
    if version is None:
        return None
    page = catalog.pages(version, [number])[number]
    chunks = (catalog.chunk(version, at) for at in range(len(chatbot.library.chunk_pages(version))))
    chunk = next((one for one in chunks if one.page == number), None)
    where = (name, version, number, page.label, page.label_source, page.method, page.confidence, "")
    tables = catalog.tables(version, number).get(number, ())
    kinds = chatbot.library.page_kinds(version).get(number, ())
    return Hit(
        *where,
        text=page.text,
        page_text=page.text,
        body=page.body,
        context=chunk.context if chunk else "",
        tables=tables,
        kinds=kinds,
    )


def draw(figures: Sequence[RightFigure], *, seed: int, most: int) -> list[RightFigure]:
    """Up to `most` figures, each different figure of an answer once, the same for a seed."""
    apart = list({(one.answer, one.check.text, one.check.status): one for one in figures}.values())
    random.Random(seed).shuffle(apart)
    return apart[:most]


def report(drawn: Sequence[RightFigure]) -> str:
    """The table by kind, and each doubted figure with its reason."""
    kinds = {}
    for kind in sorted({one.kind for one in drawn}):
        kinds[kind] = [one for one in drawn if one.kind == kind]
    kinds["all"] = list(drawn)
    rows = []
    for kind, some in kinds.items():
        doubted = sum(one.doubted for one in some)
        rows.append((kind, len(some), doubted, share_cell(doubted, len(some))))
    doubts = [
        f"- {one.check.text}: {one.check.status}, {one.check.reason}\n  {one.question}"
        for one in drawn
        if one.doubted
    ]
    return "\n\n".join([markdown_table(("right figures", "n", "doubted", "share (95 %)"), rows), *doubts])


def main() -> int:
    """Ask, draw and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--questions", type=Path, nargs="+", required=True, help="files of questions")
    parser.add_argument(
        "--documents",
        type=Path,
        nargs="+",
        required=True,
        help="the folder of the PDFs of each, in the same order",
    )
    parser.add_argument(
        "--store",
        type=Path,
        default=STORE,
        help="where the indexes are kept between runs (default %(default)s)",
    )
    parser.add_argument("--answers", type=Path, help="written answers")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=200)
    given = parser.parse_args()
    written = (
        [json.loads(line) for line in given.answers.read_text("utf-8").splitlines()] if given.answers else []
    )
    figures: list[RightFigure] = []
    for path, folder in zip(given.questions, given.documents, strict=True):
        questions = load_questions(path, folder)
        with opened(questions, given.store) as chatbot:
            for question in only_answerable(questions.questions):
                figures += of_answer(question.text, answer_to(chatbot, question, question.names))
            figures += [
                one
                for row in written
                if row["right"] and row["set"] != "planted"
                for one in of_written(row, chatbot)
            ]
    print(report(draw(figures, seed=given.seed, most=given.most)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
