"""Measures whether answers quote whole sentences and mark the right place on the page.

A quotation must be complete, or marked where it is not.

    python benchmarks/quotations.py [--financebench FOLDER] [--questions FILE --documents FOLDER]
                                    [--tatqa FILE] [--sample 500] [--seed 1]
                                    [--store FOLDER] [--judge PYTHON] [--save FILE]

Everything that stands before a key of an answer is checked:

(a) pySBD, which shares nothing with the product's splitter, splits it into sentences; a quotation that begins
    or ends inside one of them is a disagreement. Table rows are not sentences.
(b) It stands on the cited page without a gap, or an ellipsis shows the gap.
(c) By the boxes of the words, the place that the page view marks has all of its words, the row and not the
    head above it, and no whole line besides.

Each disagreement is printed to be read, because the judge errs too. TAT-QA's contexts are laid out as PDFs
and added like any others.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.asking import answer_to, opened, provenance
from benchmarks.pipelines import peer_python
from benchmarks.questions import BESIDE, Question, QuestionSet, add_options, chosen_sets, load_questions
from benchmarks.quotation_judging import Sheet, plain, shown_parts
from benchmarks.tables import markdown_table
from benchmarks.tatqa_pages import load_tatqa
from chatbot.answer.citations.citation_keys import KEYS_IN_BRACKETS
from chatbot.errors import ProjectError
from chatbot.records import Answer, Citation
from chatbot.service import Chatbot
from ingestion.reading.pdf import PdfFile

# Questions of TAT-QA; letters beside a disagreement that are printed; dots an inch of the pages whose marks
# are looked at.
SAMPLE, CONTEXT, DPI = 500, 90, 20
KINDS = {
    "not there": "does not stand on the page as shown",
    "gap": "a gap without an ellipsis",
    "begins": "begins inside a sentence",
    "ends": "ends inside a sentence",
    "place": "located elsewhere than shown, or in part",
    "unverified": "stands on the page, yet is not verified",
    "missed": "words without a mark",
    "foreign": "a whole other line marked",
}


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One quotation that is not as it should be. shown: as the answer has it. detail: where it goes wrong,
    with what stands around it.
    """

    kind: str
    question: str
    document: str
    page: int
    shown: str
    detail: str


class Judge:
    """pySBD in a process of its own; see benchmarks/sentence_judge.py."""

    def __init__(self, python: Path) -> None:
        command = [str(python), str(ROOT / "benchmarks" / "sentence_judge.py")]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, text=True
        )
        self.ends = lru_cache(maxsize=20_000)(self._ends)

    def _ends(self, text: str) -> tuple[int, ...]:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps({"text": text}) + "\n")
        self._process.stdin.flush()
        return tuple(json.loads(self._process.stdout.readline())["ends"])

    def close(self) -> None:
        """End its process."""
        self._process.communicate()


class Pages:
    """The pages of a store as sheets of words with boxes, read once."""

    def __init__(self, chatbot: Chatbot) -> None:
        self._chatbot = chatbot
        self.sheet = lru_cache(maxsize=5_000)(self._sheet)

    def text(self, version: int, page: int) -> str:
        """The page's text, which citations have their offsets in."""
        return self._chatbot.library.catalog.page(version, page).text

    def _sheet(self, version: int, number: int) -> Sheet:
        library = self._chatbot.library
        stored = library.catalog.page(version, number)
        words = [] if stored.method == "ocr" else PdfFile(library.file(version)).words(number)[2]
        tables = library.catalog.tables(version, number).get(number, ())
        rows = [(row.start, row.end) for table in tables for row in table.rows if row.start < row.end]
        spans = [_in_letters(stored.text, span) for span in rows]
        running = [_in_letters(stored.text, span) for span in stored.running]
        return Sheet([*words, *stored.words], spans, running)


def _in_letters(text: str, span: tuple[int, int]) -> tuple[int, int]:
    """A span of the text, counted in its letters and digits alone."""
    return len(plain(text[: span[0]])), len(plain(text[: span[1]]))


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    add_options(options)
    options.add_argument(
        "--tatqa", type=Path, metavar="FILE", help="contexts and questions of TAT-QA, as published"
    )
    options.add_argument(
        "--sample", type=int, default=SAMPLE, help="questions of TAT-QA (default %(default)s)"
    )
    options.add_argument("--seed", type=int, default=1, help="which of them (default %(default)s)")
    options.add_argument(
        "--only", metavar="NAME", action="append", help="of the sets, only those of these names"
    )
    options.add_argument(
        "--judge",
        type=Path,
        metavar="PYTHON",
        help="a Python that has pysbd (default: that of .venv-benchmarks, made where missing)",
    )
    options.add_argument("--save", type=Path, metavar="FILE", help="keep the disagreements, as JSON lines")
    given = options.parse_args()
    judge = Judge(given.judge or peer_python())
    found: list[Disagreement] = []
    for questions in _sets(given):
        with opened(questions, given.store) as chatbot:
            print(f"## {questions.name}\n\n{provenance(chatbot)}\n", flush=True)
            counts, disagreements = measure(chatbot, questions.questions, judge)
        print(report(counts, disagreements), end="\n\n", flush=True)
        found += disagreements
    judge.close()
    if given.save:
        given.save.write_text(
            "".join(json.dumps({**asdict(one)}, ensure_ascii=False) + "\n" for one in found), "utf-8"
        )


def _sets(given: argparse.Namespace) -> Iterator[QuestionSet]:
    """The sets that were named, else all those beside the checkout."""
    named = given.financebench or given.questions or given.tatqa
    sets = chosen_sets(given) if not given.tatqa else []
    if not named:
        sets += [
            load_questions(BESIDE / f"{name}_dev2.jsonl", BESIDE / folder, name=folder)
            for name, folder in SECOND
            if (BESIDE / folder).is_dir()
        ]
    tatqa = given.tatqa or BESIDE / "train" / "tatqa_dataset_dev.json"
    if given.tatqa or (not named and tatqa.is_file()):
        sets.append(load_tatqa(tatqa, given.store / "tatqa-pages", sample=given.sample, seed=given.seed))
    return (one for one in sets if not given.only or one.name in given.only)


SECOND = (("policyqa", "policy2"), ("financebench", "financebench2"))


def measure(
    chatbot: Chatbot, questions: Sequence[Question], judge: Judge
) -> tuple[Counter[str], list[Disagreement]]:
    """(how many answers, quotations, rows and citations were looked at, what disagrees)."""
    counts: Counter[str] = Counter()
    found: list[Disagreement] = []
    pages = Pages(chatbot)
    for number, question in enumerate(questions, 1):
        answer = answer_to(chatbot, question, question.names)
        print(f"\r{number} of {len(questions)}", end="\n" * (number == len(questions)), file=sys.stderr)
        if answer.answered:
            counts["answers"] += 1
            for kind, shown, citation, detail in _look(chatbot, pages, answer, judge, counts):
                found.append(
                    Disagreement(
                        kind, question.text, citation.document or "", citation.page or 0, shown, detail
                    )
                )
    return counts, found


def _segments(answer: Answer) -> Iterator[tuple[str, Citation, bool]]:
    """(what stands before a key, its citation, whether it goes on in the paragraph of the one before)."""
    at = 0
    for mark, citation in zip(KEYS_IN_BRACKETS.finditer(answer.text), answer.citations, strict=False):
        said = answer.text[at : mark.start()]
        yield said.rpartition("\n\n")[2].strip(), citation, at > 0 and "\n\n" not in said
        at = mark.end()


def _look(
    chatbot: Chatbot, pages: Pages, answer: Answer, judge: Judge, counts: Counter[str]
) -> Iterator[tuple[str, str, Citation, str]]:
    """(kind, what is shown, its citation, detail) of each disagreement of an answer."""
    before: tuple[Citation, int] | None = None
    for shown, citation, goes_on in _segments(answer):
        if not plain(shown) or citation.version is None or citation.page is None:
            continue
        counts["quotations"] += 1
        sheet, text = (
            pages.sheet(citation.version, citation.page),
            pages.text(citation.version, citation.page),
        )
        near = len(plain(text[: max(0, citation.start)]))
        place = sheet.place(citation.quote, near) if citation.start >= 0 else None
        parts = shown_parts(shown, sheet.letters, near)
        if parts is None:
            yield "not there", shown, citation, citation.quote
            continue
        start, end = parts.runs[0][0], parts.runs[-1][1]
        row = len(parts.runs) == 1 and sheet.is_row(parts.runs[0])
        counts["rows"] += row
        if not parts.whole or (parts.headed and not row):
            yield "gap", shown, citation, " | ".join(_around(sheet, run, 30) for run in parts.runs)
        if (
            goes_on
            and before
            and before[0].page == citation.page
            and before[1] < start
            and "…" not in shown[:3]
        ):
            yield "gap", shown, citation, f"left out: {_words(sheet, (before[1], start))}"
        before = (citation, end)
        # An ellipsis at its edge says that a sentence is not whole.
        told = {"begins": shown.startswith("…"), "ends": shown.endswith("…")}
        for run in parts.runs if not row else ():
            for cut in (cut for cut in sheet.cuts(run, judge.ends) if not told[cut]):
                edge = (run[0], run[0] + 1) if cut == "begins" else (run[1] - 1, run[1])
                yield cut, shown, citation, _around(sheet, edge, CONTEXT)
        if place is None:
            yield "unverified", shown, citation, citation.reason or ""
            continue
        # A row's label may begin above it, where the head before it in the answer ends; or that head stands
        # right above the row.
        more = (
            place[1] == end
            and sheet.letters[slice(*place)] in plain(shown)
            and (place[0] <= start or sheet.is_row(place))
        )
        if place != (start, end) and place not in parts.runs and not more:
            yield "place", shown, citation, f"located: {citation.quote!r}"
        counts["marks"] += 1
        rectangles = chatbot.page_image(
            citation.version, citation.page, citation.quote, citation.start, dpi=DPI
        )[1]
        if missed := sheet.missed(place, rectangles):
            yield (
                "missed",
                shown,
                citation,
                f"{len(missed)} of the words of {citation.quote!r}: {' '.join(missed)}",
            )
        if foreign := sheet.foreign([place], rectangles):
            yield "foreign", shown, citation, " | ".join(foreign)


def _around(sheet: Sheet, span: tuple[int, int], letters: int) -> str:
    """The words of a span, a bar at each end, and what stands beside them."""
    words = sheet.words_of(span)
    first = sheet.owner[max(0, span[0] - letters)]
    last = sheet.owner[min(len(sheet.owner), span[1] + letters) - 1]
    texts = [word.text for word in sheet.words]
    begin, end = words[0], words[-1] + 1
    return " ".join([*texts[first:begin], "|", *texts[begin:end], "|", *texts[end : last + 1]])


def _words(sheet: Sheet, span: tuple[int, int]) -> str:
    return " ".join(sheet.words[index].text for index in sheet.words_of(span))


def report(counts: Counter[str], found: Sequence[Disagreement]) -> str:
    """Counts, then each disagreement by kind."""
    kinds = Counter(one.kind for one in found)
    rows = [[what, counts[what]] for what in ("answers", "quotations", "rows", "marks")]
    rows += [[what, kinds[kind]] for kind, what in KINDS.items()]
    lines = [markdown_table(["", "n"], rows)]
    for kind, what in KINDS.items():
        for number, one in enumerate((one for one in found if one.kind == kind), 1):
            lines.append(
                f"\n{what}, {number}: {one.document}, page {one.page}, of “{one.question}”\n  shown: "
                f"{one.shown!r}\n  page: {one.detail}"
            )
    return "\n".join(lines)


if __name__ == "__main__":
    try:
        main()
    except ProjectError as error:
        raise SystemExit(error.message) from error
