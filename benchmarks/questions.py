"""Reads sets of questions, with the pages and values that answer them, from files of three shapes.

A file of one's own holds a JSON object a line, the PDFs standing in a folder:

    {"id", "question", "doc": "NAME.pdf" or null,      the document asked, null for all documents
     "doc_hint": "NAME.pdf"?,                          with "doc" null: the document that answers
     "pages": [physical, 1-based],                     any of these pages answers
     "values": ["4.4", …]?,                            a right answer contains one of these
     "history": [{"user", "assistant"}, …]?,
     "answerable": true?,
     "kind": "table"?}

A FinanceBench checkout is read as it is published (`data/*.jsonl` and `pdfs/`; its page numbers count from
0), and so are files whose pages are already physical ("evidence_pages", "alt_pages").
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chatbot.records import Exchange

__all__ = [
    "Question",
    "QuestionSet",
    "add_options",
    "as_line",
    "chosen_sets",
    "load_financebench",
    "load_lines",
    "load_questions",
    "only_answerable",
]

ROOT = Path(__file__).resolve().parent.parent
# Where a developer keeps the sets that no one may copy into the checkout.
BESIDE = ROOT.parent / "shared" / "data"
STORE = ROOT / ".cache" / "benchmarks"
LONGEST_LIST = 300
LONGEST = 120


@dataclass(frozen=True, slots=True)
class Question:
    """A question with what is known of its answer.

    document: the one that answers, or that an absent one is asked of; "" where none is named. names:
    documents it is asked of, () for all. pages: physical, 1-based, any of which answers. values: a right
    answer contains one. answer: in words, as annotated. company: whose filing it is about, "" where not told.
    """

    id: str
    text: str
    document: str
    names: tuple[str, ...] = ()
    pages: frozenset[int] = frozenset()
    values: tuple[str, ...] = ()
    history: tuple[Exchange, ...] = ()
    answer: str = ""
    kind: str = ""
    answerable: bool = True
    company: str = ""

    @property
    def longest(self) -> int:
        """Words of an answer that count: an enumeration takes more."""
        return LONGEST_LIST if self.kind == "list" else LONGEST


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Questions over some documents. files: the PDFs, each kept under its file name."""

    name: str
    questions: tuple[Question, ...]
    files: tuple[Path, ...]


def load_questions(path: Path, folder: Path, *, name: str = "") -> QuestionSet:
    """The questions of a file of one's own and those PDFs of `folder` that they name. Raises SystemExit
    naming a line or file that is wrong.
    """
    questions = load_lines(path)
    return QuestionSet(name or path.stem, questions, _files(folder, questions))


def load_lines(path: Path) -> tuple[Question, ...]:
    """The questions of a file of one's own. Raises SystemExit naming a line that is none."""
    return tuple(_question(row, f"{path}:{number}") for number, row in _rows(path))


def load_financebench(folder: Path) -> QuestionSet:
    """The questions of a FinanceBench folder whose PDFs are there. Raises SystemExit where the folder
    holds no questions or none of the PDFs.
    """
    paths = [path for path in sorted(folder.rglob("*.jsonl")) if _is_financebench(path)]
    if not paths:
        raise SystemExit(
            f"There are no FinanceBench questions in {folder}: give the folder of a checkout, with "
            f"data/ and pdfs/."
        )
    pdfs = {path.name: path for path in sorted(folder.rglob("*.pdf"))}
    read = [_filing_question(row) for _, row in _rows(paths[0])]
    questions = tuple(question for question in read if question.document in pdfs)
    if not questions:
        raise SystemExit(f"None of the PDFs that {paths[0]} names is in {folder}.")
    names = sorted({question.document for question in questions})
    return QuestionSet("financebench", questions, tuple(pdfs[name] for name in names))


def only_answerable(questions: Sequence[Question]) -> list[Question]:
    """Those that a page answers."""
    return [question for question in questions if question.answerable and question.pages]


def as_line(question: Question) -> str:
    """A question as a line of a file of one's own, as `load_questions` reads it."""
    history = [{"user": said.user, "assistant": said.assistant} for said in question.history]
    row = {
        "id": question.id,
        "question": question.text,
        "doc": question.document if question.names else None,
        **({} if question.names else {"doc_hint": question.document}),
        "pages": sorted(question.pages),
        "values": list(question.values),
        "history": history,
        "answerable": question.answerable,
        "kind": question.kind,
        **({"company": question.company} if question.company else {}),
    }
    return json.dumps(row, ensure_ascii=False)


def add_options(options: argparse.ArgumentParser) -> None:
    """What chooses the questions and the store."""
    options.add_argument("--financebench", type=Path, metavar="FOLDER", help="a FinanceBench checkout")
    options.add_argument(
        "--questions",
        type=Path,
        metavar="FILE",
        help="questions of your own; benchmarks/questions.py tells their shape",
    )
    options.add_argument(
        "--documents",
        type=Path,
        metavar="FOLDER",
        help="the PDFs that --questions asks (default: beside that file)",
    )
    options.add_argument(
        "--store",
        type=Path,
        metavar="FOLDER",
        default=STORE,
        help="where the index is kept between runs (default %(default)s)",
    )


def chosen_sets(given: argparse.Namespace, *, beside: Path = BESIDE) -> list[QuestionSet]:
    """The sets that were named, else those in the folder `beside` the checkout. Raises SystemExit saying
    what to give where there are none.
    """
    sets = [load_financebench(given.financebench)] if given.financebench else []
    if given.questions:
        sets.append(load_questions(given.questions, given.documents or given.questions.parent))
    if not sets and beside.is_dir():
        sets = [
            load_questions(beside / "policyqa_dev.jsonl", beside / "policy", name="policy"),
            load_financebench(beside),
        ]
    if not sets:
        raise SystemExit(
            "Nothing measured: no question set is given. Give --financebench FOLDER (a checkout), or "
            "--questions FILE --documents FOLDER."
        )
    return sets


def _rows(path: Path) -> list[tuple[int, dict[str, Any]]]:
    with path.open(encoding="utf-8") as lines:
        return [(number, json.loads(line)) for number, line in enumerate(lines, 1) if line.strip()]


def _is_financebench(path: Path) -> bool:
    with path.open(encoding="utf-8") as lines:
        first = lines.readline()
    return '"doc_name"' in first and '"question"' in first and '"evidence' in first


def _asked_of(row: Mapping[str, Any]) -> Sequence[str]:
    if "documents" in row:
        return row["documents"] or []
    return [row["doc"]] if row.get("doc") else []


def _question(row: Mapping[str, Any], where: str) -> Question:
    if not isinstance(row.get("question"), str) or "id" not in row:
        raise SystemExit(f"{where}: a line needs at least an id and a question.")
    return Question(
        id=str(row["id"]),
        text=row["question"],
        document=_file_name(row.get("document") or row.get("doc") or row.get("doc_hint") or ""),
        names=tuple(map(_file_name, _asked_of(row))),
        pages=frozenset(row.get("pages") or ()),
        values=tuple(row.get("values") or ()),
        history=tuple(Exchange(said["user"], said["assistant"]) for said in row.get("history") or ()),
        answer=row.get("answer") or "",
        kind=row.get("kind") or "",
        answerable=row.get("answerable", True),
        company=row.get("company") or "",
    )


def _file_name(document: str) -> str:
    """A document's file, which a line may name without its ending."""
    return document if not document or document.endswith(".pdf") else f"{document}.pdf"


def _filing_question(row: Mapping[str, Any]) -> Question:
    pages = (
        row["evidence_pages"] + row["alt_pages"]
        if "evidence_pages" in row
        else [found["evidence_page_num"] + 1 for found in row["evidence"]]
    )
    name = f"{row['doc_name']}.pdf"
    return Question(
        id=str(row.get("id") or row["financebench_id"]),
        text=row["question"],
        document=name,
        names=(name,),
        pages=frozenset(pages),
        answer=row["answer"],
        kind=row.get("question_type") or "",
        company=row.get("company") or "",
    )


def _files(folder: Path, questions: Sequence[Question]) -> tuple[Path, ...]:
    wanted = sorted({name for question in questions for name in (question.document, *question.names) if name})
    missing = [name for name in wanted if not (folder / name).is_file()]
    if missing:
        raise SystemExit(
            f"{folder} lacks {', '.join(missing[:3])}{' and others' if len(missing) > 3 else ''}: name "
            f"the PDFs' folder with --documents."
        )
    return tuple(folder / name for name in wanted)
