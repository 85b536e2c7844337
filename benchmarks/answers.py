"""Measures how often an answer is right and cites the right page, and how often the absent is refused.

    python benchmarks/answers.py [--financebench FOLDER] [--questions FILE --documents FOLDER]
                                 [--store FOLDER] [--sample 200] [--seed 1]
                                 [--write-absent FILE] [--absent FILE] [--save FILE]

Right: one of the question's values stands in the first 120 words (300 of a list) of an answer that cites at
most three pages. An annotated figure ("$11588.00" in USD millions, "2.8%") is right where any figure of that
text states it within 1 %. Refusals are counted over questions written to be absent, ones made absent by
swapping entity, period or measure (benchmarks/absent.py), and a sample of questions put to other documents,
on no page of which a right value stands. Answers are those of the settings: extractive, or a chat model's.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.absent import make_absent
from benchmarks.asking import answer_to, opened, page_texts, provenance
from benchmarks.intervals import mean_cell, share_cell
from benchmarks.questions import (
    Question,
    QuestionSet,
    add_options,
    as_line,
    chosen_sets,
    load_lines,
    only_answerable,
)
from benchmarks.scores import (
    cited_pages,
    counted_text,
    gold_figure,
    has_value,
    is_printed,
    precision,
    printed_forms,
    states_figure,
)
from benchmarks.tables import markdown_table
from chatbot.records import Answer
from chatbot.service import Chatbot

# Questions put to other documents, of each set.
SAMPLE = 200
Texts = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the documents it was put to (() for all), and what came."""

    question: Question
    names: tuple[str, ...]
    answer: Answer

    @property
    def text(self) -> str:
        """The part of the answer that is judged; "" where it was refused or cites too much."""
        return counted_text(self.answer, longest=self.question.longest) if self.answer.answered else ""

    @property
    def gold(self) -> set[tuple[str, int]]:
        """(document, page) of the pages that answer."""
        return {(self.question.document, page) for page in self.question.pages}

    @property
    def cites_gold(self) -> bool:
        """Whether a page that answers is among the cited ones."""
        return bool(cited_pages(self.answer.citations) & self.gold)

    @property
    def has_value(self) -> bool:
        """Whether a right value stands in the judged part."""
        return has_value(self.question.values, self.text)

    @property
    def verdict(self) -> str:
        """ "right", "wrong" or "refused" for a question whose answer is a figure. Raises ValueError where
        it is none.
        """
        (gold,) = gold_figure(self.question.answer, self.question.text)
        if not self.answer.answered:
            return "refused"
        return "right" if states_figure(self.text, gold) else "wrong"


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    add_options(options)
    options.add_argument(
        "--sample",
        type=int,
        default=SAMPLE,
        help="questions put to other documents, of each set (default %(default)s)",
    )
    options.add_argument("--seed", type=int, default=1, help="which of them (default %(default)s)")
    options.add_argument(
        "--write-absent",
        type=Path,
        metavar="FILE",
        help="keep the questions that were made absent, as JSON lines",
    )
    options.add_argument(
        "--absent",
        type=Path,
        metavar="FILE",
        help="ask the absent questions of that file rather than make them",
    )
    options.add_argument(
        "--save", type=Path, metavar="FILE", help="keep each question and answer, as JSON lines"
    )
    options.add_argument(
        "--no-numbers",
        action="store_true",
        help="leave the number checks out, which read every document again",
    )
    given = options.parse_args()
    written = load_lines(given.absent) if given.absent else ()
    made: list[Question] = []
    kept: list[Asked] = []
    for questions in chosen_sets(given):
        with opened(questions, given.store) as chatbot:
            texts = page_texts(chatbot)
            absent = (
                [question for question in written if question.document in texts]
                if given.absent
                else make_absent(questions.questions, texts)
            )
            print(f"## {questions.name}\n\n{provenance(chatbot)}\n")
            asked = ask_all(
                chatbot,
                questions,
                absent,
                other_documents(questions, texts, most=given.sample, seed=given.seed),
            )
            print(report(asked, texts), end="\n\n", flush=True)
        made += absent
        kept += [one for some in asked.values() for one in some]
    if given.write_absent:
        given.write_absent.write_text("".join(f"{as_line(question)}\n" for question in made), "utf-8")
    if given.save:
        given.save.write_text("".join(f"{_line(one)}\n" for one in kept), "utf-8")
    if not given.no_numbers:
        print("## Number checks\n", flush=True)
        subprocess.run([sys.executable, str(ROOT / "benchmarks" / "planted_numbers.py")], check=True)


def ask_all(
    chatbot: Chatbot,
    questions: QuestionSet,
    absent: Sequence[Question],
    others: Sequence[tuple[Question, str]],
) -> dict[str, list[Asked]]:
    """Group of questions -> what came. The two groups of answerable questions come first, by scope."""
    answerable = only_answerable(questions.questions)
    written_absent = [question for question in questions.questions if not question.answerable]
    groups: dict[str, list[tuple[Question, tuple[str, ...]]]] = {
        "own document": [(question, (question.document,)) for question in answerable],
        "all documents": [(question, ()) for question in answerable],
        "absent, as written": [(question, question.names) for question in written_absent],
    }
    for question in absent:
        groups.setdefault(f"{question.kind}, made", []).append((question, question.names))
    groups["another document's question"] = [(question, (name,)) for question, name in others]
    answered = {}
    for group, pairs in groups.items():
        answered[group] = [
            Asked(question, names, answer_to(chatbot, question, names)) for question, names in pairs
        ]
    return answered


def other_documents(
    questions: QuestionSet, texts: Texts, *, most: int, seed: int
) -> list[tuple[Question, str]]:
    """A sample of (question, another document that does not hold a right value on any page, nor is of the
    same company); the same for a seed.
    """
    companies = {question.document: question.company for question in questions.questions if question.company}
    pairs = []
    for question in only_answerable(questions.questions):
        values = question.values or [
            form for gold in gold_figure(question.answer, question.text) for form in printed_forms(gold)
        ]
        for name, pages in texts.items() if values else ():
            of_another = name != question.document and (
                not question.company or companies.get(name) != question.company
            )
            if of_another and not any(has_value(values, page) for page in pages):
                pairs.append((question, name))
    return sorted(pairs, key=lambda pair: _draw(pair, seed))[:most]


def _draw(pair: tuple[Question, str], seed: int) -> str:
    """A place in the draw that hangs on the pair alone, so that one pair more or less leaves the others
    drawn.
    """
    return hashlib.sha256(f"{seed} {pair[0].id} {pair[1]}".encode()).hexdigest()


def report(asked: Mapping[str, Sequence[Asked]], texts: Texts) -> str:
    """Correctness, figures and refusals as tables."""
    scopes = {scope: asked[scope] for scope in ("own document", "all documents")}
    parts = [answer_table(scopes)]
    if any(one.question.values for one in scopes["own document"]):
        parts.append(kind_table(scopes["own document"]))
    if any(
        gold_figure(one.question.answer, one.question.text)
        for one in scopes["own document"]
        if not one.question.values
    ):
        parts.append(figure_table(scopes, texts))
    return "\n\n".join([*parts, refusal_table(asked)])


def answer_table(scopes: Mapping[str, Sequence[Asked]]) -> str:
    """Value, value with page, page cited, citation precision, and answerable questions refused, by scope."""
    heads = [
        "answerable questions",
        "n",
        "right value",
        "… and gold page cited",
        "gold page cited",
        "citation precision",
        "refused",
    ]
    return markdown_table(heads, [[scope, *answer_cells(some)] for scope, some in scopes.items()])


def kind_table(asked: Sequence[Asked]) -> str:
    """The same by kind of question."""
    kinds = sorted({one.question.kind for one in asked})
    heads = [
        "own document, by kind",
        "n",
        "right value",
        "… and gold page cited",
        "gold page cited",
        "citation precision",
        "refused",
    ]
    rows = []
    for kind in kinds:
        of_kind = [one for one in asked if one.question.kind == kind]
        rows.append([kind or "–", *answer_cells(of_kind)])
    return markdown_table(heads, rows)


def answer_cells(asked: Sequence[Asked]) -> list[object]:
    """n and shares as printed; values are judged of questions that have some, precision over answers that
    cite.
    """
    valued = [one for one in asked if one.question.values]
    right = [one for one in valued if one.has_value]
    precisions = []
    for one in asked:
        cited = cited_pages(one.answer.citations)
        if cited:
            precisions.append(precision(cited, one.gold))
    right_and_cited = sum(one.cites_gold for one in right)
    gold_cited = sum(one.cites_gold for one in asked)
    refused = sum(not one.answer.answered for one in asked)
    return [
        len(asked),
        share_cell(len(right), len(valued)),
        share_cell(right_and_cited, len(valued)),
        share_cell(gold_cited, len(asked)),
        mean_cell(precisions),
        share_cell(refused, len(asked)),
    ]


def figure_table(scopes: Mapping[str, Sequence[Asked]], texts: Texts) -> str:
    """Questions that are answered by one figure: right, wrong or refused; those whose figure a gold page
    prints apart from those to be computed.
    """
    rows: list[list[object]] = []
    for scope, asked in scopes.items():
        figures = [
            one
            for one in asked
            if not one.question.values and gold_figure(one.question.answer, one.question.text)
        ]
        printed = [one for one in figures if _is_printed(one.question, texts)]
        rows += [
            [f"{scope}, {what}", *figure_cells(some)]
            for what, some in (
                ("printed on a gold page", printed),
                ("to be computed", _without(figures, printed)),
            )
        ]
    return markdown_table(
        ["answered by a figure", "n", "right", "right, gold page cited", "wrong", "refused"], rows
    )


def figure_cells(asked: Sequence[Asked]) -> list[object]:
    """n and the shares of verdicts as printed."""
    verdicts = [one.verdict for one in asked]
    right = [one for one, verdict in zip(asked, verdicts, strict=True) if verdict == "right"]
    counts = [
        len(right),
        sum(one.cites_gold for one in right),
        verdicts.count("wrong"),
        verdicts.count("refused"),
    ]
    return [len(asked), *(share_cell(count, len(asked)) for count in counts)]


def refusal_table(asked: Mapping[str, Sequence[Asked]]) -> str:
    """Refused of what should be, by group, then of what should not be."""
    absent = {group: some for group, some in asked.items() if group not in ("own document", "all documents")}
    made = [one for group, some in absent.items() if group.endswith("made") for one in some]
    rows = {
        **absent,
        "all made absent": made,
        **{f"answerable, {scope}": asked[scope] for scope in ("own document", "all documents")},
    }
    cells = []
    for group, some in rows.items():
        refused = sum(not one.answer.answered for one in some)
        cells.append([group, len(some), share_cell(refused, len(some))])
    return markdown_table(["refused", "n", "share"], cells)


def _is_printed(question: Question, texts: Texts) -> bool:
    (gold,) = gold_figure(question.answer, question.text)
    return any(is_printed(texts[question.document][page - 1], gold) for page in question.pages)


def _without(asked: Sequence[Asked], others: Sequence[Asked]) -> list[Asked]:
    ids = {one.question.id for one in others}
    return [one for one in asked if one.question.id not in ids]


def _line(one: Asked) -> str:
    row = {
        "id": one.question.id,
        "question": one.question.text,
        "documents": list(one.names),
        "answerable": one.question.answerable and (not one.names or one.question.document in one.names),
        "answered": one.answer.answered,
        "reason": one.answer.reason,
        "answer": one.answer.text,
        "cited": sorted(cited_pages(one.answer.citations)),
        "gold": sorted(one.gold),
        "gold_answer": list(one.question.values) or one.question.answer,
    }
    return json.dumps(row, ensure_ascii=False)


if __name__ == "__main__":
    main()
