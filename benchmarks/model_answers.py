"""Measures what a reader sees of a strong model's answers.

It counts the right answers that are shown without a doubt, and the planted errors that are caught.

    python benchmarks/model_answers.py --questions FILE [FILE ...] --documents FOLDER [FOLDER ...]
                                       --answers FILE [FILE ...] [--store FOLDER] [--show]

The answers are JSON lines with "question", "answer", "history", "sources" (key -> document and page), "set"
and "right"; one with a planted error has "planted": {"kind", "what"}. An answer without a "question" belongs
to the question of the question files whose id is its "question_id". `model_answers.jsonl` beside this script
has 192 of that kind, over the four sets of development questions, and 170 with questions of their own. The
pages of `sources` are laid out as the product does it, and its checks are run on the answer. --show prints
each doubt.

A doubt: a citation that is marked ⚠, a figure that is neither supported nor derived, or a statement that no
page supports. Computed: a figure of a right answer that no page of its sources prints, comparing strings
alone, and that is not a printed one rounded. A planted error is caught where something is doubted in a
sentence that has a word or figure of "what". It is shown as verified where such a sentence has a verified
citation and nothing is doubted.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.asking import opened
from benchmarks.questions import STORE, Question, load_lines, load_questions
from benchmarks.right_figures import is_printed_in, prompt_of
from benchmarks.tables import markdown_table
from chatbot.answer.citations.citation_keys import KEYS_IN_BRACKETS
from chatbot.answer.citations.model_statements import CheckedText, check_statements
from chatbot.records import FINE, NumberCheck, Prompt
from ingestion.language.numbers import find_figures
from ingestion.language.sentences import sentence_spans

__all__ = ["Shown", "judged", "report"]

_WORD = re.compile(r"[^\W\d_]{4,}|[0-9](?:[0-9,.]*[0-9])?")


@dataclass(frozen=True, slots=True)
class Shown:
    """An answer as the product shows it. doubts: (offset in the shown text, what is doubted, why).
    computed: (result, whether it was recognised).
    """

    row: Mapping[str, Any]
    checked: CheckedText
    doubts: tuple[tuple[int, str, str], ...]
    computed: tuple[tuple[str, bool], ...]

    @property
    def caught(self) -> bool:
        """Whether something is doubted where the planted error stands."""
        return any(start <= at < end for start, end in self._planted() for at, *_ in self.doubts)

    @property
    def verified(self) -> bool:
        """Whether a sentence with the planted error looks as if it was found."""
        marks = zip(_marks(self.checked.text), self.checked.citations, strict=False)
        sound = [at for at, citation in marks if citation.verified]
        return not self.caught and any(start <= at < end for start, end in self._planted() for at in sound)

    def _planted(self) -> list[tuple[int, int]]:
        text, words = self.checked.text, _words_of(self.row["planted"]["what"])
        return [(start, end) for start, end in sentence_spans(text) if words & _words_of(text[start:end])]


def _words_of(text: str) -> set[str]:
    return set(map(str.casefold, _WORD.findall(text)))


def _is_computed(check: NumberCheck, pages: Sequence[str]) -> bool:
    """Whether a figure is printed on no page, neither as it is nor as what it is rounded from."""
    return check.status != "supported" and not any(
        is_printed_in(check.text.casefold(), page.casefold()) for page in pages
    )


def _marks(text: str) -> list[int]:
    """Where the citations stand in a shown text, in order."""
    return [
        mark.start() + 1 + found.start()
        for mark in KEYS_IN_BRACKETS.finditer(text)
        for found in re.finditer(r"S[0-9]", mark[0])
    ]


def judged(row: Mapping[str, Any], prompt: Prompt, text: str) -> Shown:
    """The answer of a row, checked. text: with whole keys."""
    checked = check_statements(text, prompt)
    places = _marks(checked.text)
    doubts = [
        (at, citation.key, citation.reason or "")
        for at, citation in zip(places, checked.citations, strict=False)
        if citation.doubted
    ]
    figures = find_figures(KEYS_IN_BRACKETS.sub(lambda mark: " " * len(mark[0]), checked.text))
    same = len(figures) == len(checked.numbers)
    for at, check in enumerate(checked.numbers):
        if check.status not in FINE:
            doubts.append((figures[at].start if same else 0, check.text, f"{check.status}: {check.reason}"))
    for one in checked.statements:
        if one.status == "unsupported":
            doubts.append((max(0, checked.text.find(one.text)), one.text, "no page supports it"))
    pages = [hit.page_text for hit in prompt.sources.values()]
    computed = tuple(
        (check.text, check.status == "derived") for check in checked.numbers if _is_computed(check, pages)
    )
    return Shown(row, checked, tuple(doubts), computed)


def _asked(row: Mapping[str, Any], known: Mapping[str, Question]) -> Mapping[str, Any]:
    """A row with its question and the exchanges before it."""
    if "question" in row:
        return row
    question = known[row["question_id"]]
    return {
        **row,
        "question": question.text,
        "history": [{"user": one.user, "assistant": one.assistant} for one in question.history],
    }


def report(shown: Sequence[Shown]) -> str:
    """The tables: right answers by set, planted ones by kind."""
    rows = []
    right = [one for one in shown if one.row["right"]]
    for kind in [*sorted({one.row["set"] for one in right}), "all"]:
        some = [one for one in right if kind in ("all", one.row["set"])]
        citations = [one for answer in some for one in answer.checked.citations]
        figures = [one for answer in some for one in answer.checked.numbers]
        computed = [known for answer in some for _, known in answer.computed]
        statements = [one for answer in some for one in answer.checked.statements]
        shares = [
            _share(not one.doubts for one in some),
            _share(one.verified for one in citations),
            _share(one.doubted for one in citations),
            _share(one.status not in FINE for one in figures),
        ]
        contradicted = sum(one.status == "contradicted" for one in figures)
        unsupported = sum(one.status == "unsupported" for one in statements)
        rows.append((kind, len(some), *shares, contradicted, _share(computed), unsupported))
    heads = (
        "right answers",
        "n",
        "without a doubt",
        "citations verified",
        "citations doubted",
        "figures doubted",
        "contradicted",
        "computed recognised",
        "unsupported",
    )
    planted = [one for one in shown if not one.row["right"]]
    errors = [(one.row["id"], one.row["planted"]["kind"], _said(one)) for one in planted]
    caught, verified = sum(one.caught for one in planted), sum(one.verified for one in planted)
    return "\n\n".join(
        [
            markdown_table(heads, rows),
            markdown_table(("planted", "kind", ""), errors),
            f"caught {caught} of {len(planted)}, shown as verified {verified}",
        ]
    )


def _said(one: Shown) -> str:
    if one.caught:
        return "caught"
    return "VERIFIED" if one.verified else "not caught"


def _share(of: Iterator[bool] | Sequence[bool]) -> str:
    some = list(of)
    return f"{sum(some)} of {len(some)} ({sum(some) / len(some):.2f})" if some else "–"


def main() -> int:
    """Check and print."""
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
    parser.add_argument("--answers", type=Path, nargs="+", required=True)
    parser.add_argument(
        "--store",
        type=Path,
        default=STORE,
        help="where the indexes are kept between runs (default %(default)s)",
    )
    parser.add_argument("--show", action="store_true", help="print each doubt with its reason")
    given = parser.parse_args()
    rows = [json.loads(line) for path in given.answers for line in path.read_text("utf-8").splitlines()]
    asked = {one.id: one for path in given.questions for one in load_lines(path)}
    rows = [_asked(row, asked) for row in rows if "question" in row or row["question_id"] in asked]
    shown: list[Shown] = []
    for path, folder in zip(given.questions, given.documents, strict=True):
        with opened(load_questions(path, folder), given.store) as chatbot:
            for row in rows:
                if laid_out := prompt_of(row, chatbot):
                    shown.append(judged(row, *laid_out))
    for one in shown if given.show else ():
        print(
            f"\n{one.row['id']}: {one.row['question']}\n{one.checked.text}",
            *(f"  ! {what[:90]} – {why}" for _, what, why in one.doubts),
            sep="\n",
        )
    print(report(shown))
    return 0


if __name__ == "__main__":
    sys.exit(main())
