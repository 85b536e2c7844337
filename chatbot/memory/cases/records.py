"""Defines cases and reads and writes them as lines of JSON, in the shapes that are in use.

It makes no vector.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from chatbot.errors import UsageError
from chatbot.memory.import_files import LineProblem, json_in_line, read_lines
from chatbot.models.tokens import encodable

__all__ = [
    "DEFAULT_FIELDS",
    "GONE",
    "LONGEST_LINE",
    "LONGEST_QUOTE",
    "LONGEST_WORD",
    "SHAPES",
    "Case",
    "CasePage",
    "case_fields",
    "case_id",
    "case_line",
    "read_case",
    "read_cases",
    "read_reward",
    "same_question",
]

# Bytes of one line. A question has 60,000 characters at most and an answer a few thousand. Anything longer is
# a document.
LONGEST_LINE = 1_000_000
# Characters kept of a user's comment on an answer, and of each quotation.
LONGEST_WORD, LONGEST_QUOTE = 1_000, 500
# The fields of question, answer and verdict, as the programs that write such files name them.
SHAPES = (
    ("question", "plan", "reward"),
    ("case", "plan", "case_label"),
    ("user_message", "assistant_response", "reward"),
    ("query", "response", "reward"),
    ("question", "answer", "verdict"),
)
DEFAULT_FIELDS = ("question", "plan")
# A verdict counts under each of these names, whatever the other fields are called. A verdict that is
# overlooked would be taken for helpful.
VERDICTS = tuple(dict.fromkeys(verdict for _, _, verdict in SHAPES))
POSITIVE = frozenset("1 1.0 +1 true yes positive up".split())
NEGATIVE = frozenset("0 0.0 -1 -1.0 false no negative down".split())
# The year 10000, which no calendar here can write.
LATEST = 253_402_300_800.0
SHA256 = re.compile(r"[0-9a-f]{64}")
# Stands for the SHA-256 of an unknown file: one that was erased before the answer was rated, or that another
# program identified differently.
GONE = "0" * 64
# Line ends to other programs, though not to JSON. A program that splits a file at them would see half lines.
LINE_ENDS = {"\u0085": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"}


@dataclass(frozen=True, slots=True)
class CasePage:
    """A page that an answer used.

    document_id: SHA-256 of its file.
    document: the file's name at that time.
    page: physical, 1-based.
    quote: what was cited.
    """

    document_id: str
    document: str
    page: int
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """A question, its answer, and whether the answer was right.

    question: as asked.
    plan: the answer.
    reward: 1 or 0.
    at: seconds since the epoch, 0.0 if unknown.
    document_ids: SHA-256 of the files that the answer uses.
    pages: the pages that it cites.
    word: the user's comment.
    verified: every citation was found on its page, and no figure was contradicted.
    by: who shares it, "" if nobody does.
    id: from the question, so that a newer verdict on it replaces the older one.
    deleted_at: seconds since the epoch, 0.0 if it is not deleted.
    shared: whether its owner lets everybody have it.
    asked_of: names of the documents that the question was asked of, in order, () for all. The same words
        asked of other documents are another question, with its own verdict.
    """

    question: str
    plan: str
    reward: int = 1
    at: float = 0.0
    document_ids: tuple[str, ...] = ()
    pages: tuple[CasePage, ...] = ()
    word: str = ""
    verified: bool = False
    by: str = ""
    id: str = ""
    deleted_at: float = 0.0
    asked_of: tuple[str, ...] = ()
    shared: bool = False


def same_question(question: str) -> str:
    """The part that all writings of one question share.

    That is its words without case, extra blanks and closing punctuation.
    """
    return " ".join(question.casefold().split()).rstrip(" ?!.…")


def case_id(question: str, by: str = "", asked_of: Sequence[str] = ()) -> str:
    """16 hexadecimal digits, the same for every writing of a question to the same documents.

    A shared case has a different id for everyone who shares it.
    """
    parts = "\n".join([f"{by}{same_question(question)}", *asked_of])
    return hashlib.sha256(parts.encode("utf-8", "replace")).hexdigest()[:16]


# --- reading
# ------------------------------------------------------------------------------------------------------------


def read_case(line: bytes, *, fields: tuple[str, str] = DEFAULT_FIELDS) -> Case:
    """The case that a line holds. Raises ValueError with what is wrong with it.

    fields: of question and answer, tried before those in use.
    """
    if len(line) > LONGEST_LINE:
        raise ValueError(f"it has {len(line):,} bytes; the limit is {LONGEST_LINE:,}")
    record = json_in_line(line)
    if not isinstance(record, dict):
        raise ValueError("it is not a JSON object")
    verdicts = {field: read_reward(record[field]) for field in VERDICTS if record.get(field) is not None}
    if len({*verdicts.values()}) > 1:
        raise ValueError(f"its verdicts {' and '.join(verdicts)} contradict each other")
    question, plan = (_text(record, field) for field in _shape(record, fields))
    digests = map(_digest, _texts(record.get("document_ids")))
    document_ids = tuple(dict.fromkeys(digests))
    by = _optional_text(record, "by")
    asked_of = tuple(sorted({*_texts(record.get("asked_of"))}))
    return Case(
        question,
        plan,
        next(iter(verdicts.values()), 1),
        _seconds(record.get("timestamp")),
        document_ids,
        tuple(_pages(record.get("pages"), document_ids)),
        _optional_text(record, "word")[:LONGEST_WORD],
        record.get("verified") is True,
        by,
        case_id(question, by, asked_of),
        _seconds(record.get("deleted")),
        asked_of,
    )


def read_cases(
    path: Path, fields: tuple[str, str] = DEFAULT_FIELDS
) -> tuple[list[Case], tuple[LineProblem, ...]]:
    """(the cases of a JSONL file from elsewhere, the lines that cannot be read).

    The cases never count as verified or shared, nor as newer than now. fields: of question and answer, as in
    read_case. Raises as read_whole.
    """
    now = time.time()

    def read(line: bytes) -> Case:
        case = read_case(line, fields=fields)
        own_id = case_id(case.question, asked_of=case.asked_of)
        case = replace(case, verified=False, by="", at=min(case.at, now), id=own_id)
        try:
            case_line(case)
        except UsageError as error:
            raise ValueError(error.message) from error
        return case

    return read_lines(path, read, "case", "Choose a file of JSON lines.")


def read_reward(value: object) -> int:
    """1 or 0. Raises ValueError for a value that means neither.

    A missing verdict means positive: files without verdicts hold what was worth keeping.
    """
    if value is None:
        return 1
    word = str(value).strip().casefold()
    if word in POSITIVE or word in NEGATIVE:
        return int(word in POSITIVE)
    raise ValueError(f"its verdict {repr(value)[:40]} is neither positive (1, true) nor negative (0, false)")


def _shape(record: Mapping[str, Any], fields: tuple[str, str]) -> tuple[str, str]:
    """The record's fields of question and answer."""
    pairs = [(question, plan) for question, plan, _ in SHAPES]
    for question, plan in (fields, *pairs):
        if question in record and plan in record:
            return question, plan
    raise ValueError(f"it has none of the pairs of fields {', '.join(map('/'.join, pairs))}")


def _text(record: Mapping[str, Any], field: str) -> str:
    value = record[field]
    if not isinstance(value, str):
        raise ValueError(f"its {field} is not text")
    if not value.strip():
        raise ValueError(f"its {field} is empty")
    return encodable(value)


def _texts(value: object) -> list[str]:
    """The texts in a list; none if it is not a list."""
    if isinstance(value, list):
        return [encodable(item) for item in value if isinstance(item, str)]
    return []


def _optional_text(record: Mapping[str, Any], field: str) -> str:
    """A field's text; "" if it has none."""
    return "".join(_texts([record.get(field)]))


def _seconds(value: object) -> float:
    """A timestamp, as a number or in ISO 8601, in seconds since the epoch; 0.0 for anything else."""
    seconds = 0.0
    with suppress(ValueError, OverflowError):
        if isinstance(value, str):
            moment = datetime.fromisoformat(value.strip())
            seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        elif isinstance(value, int | float):
            seconds = float(value)
    return seconds if 0 < seconds < LATEST else 0.0


def _pages(value: object, document_ids: tuple[str, ...]) -> list[CasePage]:
    """Pages as this program writes them; a plain number is a page of the only document there is.

    Anything else is left out.
    """
    found = list[CasePage]()
    for item in value if isinstance(value, list) else ():
        if not isinstance(item, dict) and len(document_ids) == 1:
            item = {"document_id": document_ids[0], "page": item}
        match item:
            case {"document_id": str(digest), "page": int(page)} if page > 0 and page is not True:
                document, quote = (encodable(str(item.get(name, ""))) for name in ("document", "quote"))
                found.append(CasePage(_digest(digest), document, page, quote[:LONGEST_QUOTE]))
    return found


def _digest(text: str) -> str:
    return text if SHA256.fullmatch(text) else GONE


# --- writing
# ------------------------------------------------------------------------------------------------------------


def case_fields(case: Case) -> dict[str, Any]:
    """The case as a JSON object; empty fields are left out."""
    fields: dict[str, Any] = {"question": case.question, "plan": case.plan, "reward": case.reward}
    for name, at in (("timestamp", case.at), ("deleted", case.deleted_at)):
        if at:
            fields[name] = datetime.fromtimestamp(at, UTC).isoformat(timespec="microseconds")
    if case.document_ids:
        fields["document_ids"] = list(case.document_ids)
    if case.pages:
        cut = [replace(page, quote=page.quote[:LONGEST_QUOTE]) for page in case.pages]
        fields["pages"] = list(map(asdict, cut))
    optional = {"word": case.word, "verified": case.verified, "by": case.by, "asked_of": list(case.asked_of)}
    return fields | {name: value for name, value in optional.items() if value}


def case_line(case: Case) -> bytes:
    """The case as one line with its line end.

    Raises UsageError if the case is empty, or if it or its comment is longer than any reader takes.
    """
    if not case.question.strip() or not case.plan.strip():
        raise UsageError("A rated answer needs a question and an answer.", hint="Add both.")
    if len(case.word) > LONGEST_WORD:
        problem = f"The comment has {len(case.word):,} characters; the limit is {LONGEST_WORD:,}."
        raise UsageError(problem, hint="Shorten it.")
    text = json.dumps(case_fields(case), ensure_ascii=False, allow_nan=False)
    for end, escaped in LINE_ENDS.items():
        text = text.replace(end, escaped)
    line = encodable(text).encode("utf-8") + b"\n"
    if len(line) > LONGEST_LINE:
        raise UsageError(
            f"The rated answer has {len(line):,} bytes; the limit is {LONGEST_LINE:,}.",
            hint="Shorten its answer, or add the text as a document.",
        )
    return line
