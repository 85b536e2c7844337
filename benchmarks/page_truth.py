"""Measures whether what is read of hard pages is what a person sees on them, an input at a time.

    python benchmarks/page_truth.py --documents FOLDER [--checks FILE.jsonl] [--show] [--json FILE]

FILE has a check a line: `documents` and `kind`, and by `check`

    ask         question, history (earlier questions), must, must_not, cites, or_refused: patterns of the
                answer, pages cited
    key_figure  measure, period, value, scale, sign; or none: true, where no such figure may be given
    title       title: a pattern
    page        page, must, must_not, label: patterns of the page's text and of its printed number
    report      must: patterns of what adding and checking the files tells
    claim       answer, page, status: a model's sentence, which cites the page as [S1] or at its end; without
                a reader its figures are "supported" (not doubted), or "doubted", or the sentence is at least
                "unconfirmed", because only a reader can tell what is wrong with it

Everything but pages and claims goes through the command line, as a user would have it. An input passes when
all checks of its documents pass.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.planted_numbers import prompt_of
from benchmarks.tables import markdown_table
from chatbot.answer.verification.checked_text import check_statements
from chatbot.records import CONFIRMED, FINE
from ingestion.document import DocumentReading, read_document
from ingestion.language.periods import find_periods, stands_for

__all__ = ["Product", "judge", "load_checks", "report"]

CHECKS = Path(__file__).with_suffix(".jsonl")
FOUND = ROOT.parent / "shared" / "data" / "found"
SUPPORTED, DOUBTED, UNCONFIRMED = "supported", "doubted", "unconfirmed"
Check = Mapping[str, Any]


def load_checks(path: Path) -> list[dict[str, Any]]:
    """The checks of a file, in its order."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


@dataclass
class Product:
    """What the program tells of the documents of all checks, asked for once.

    answers: by the place of their check. figures: rows of key figures by document. listed: what `list` tells
    by document. told: everything that adding and checking printed.
    """

    folder: Path
    answers: dict[int, dict[str, Any]] = field(default_factory=dict)
    figures: dict[str, list[dict[str, Any]]] = field(default_factory=lambda: defaultdict(list))
    listed: dict[str, dict[str, Any]] = field(default_factory=dict)
    told: dict[str, str] = field(default_factory=lambda: defaultdict(str))

    def ask_everything(self, checks: Sequence[Check]) -> None:
        """Add the documents to a new store and give the commands."""
        names = sorted({name for check in checks for name in check["documents"]})
        with tempfile.TemporaryDirectory() as home:
            added = self._run(home, "add", *(str(self.folder / name) for name in names), "--json")
            for line in (*added, *self._run(home, "doctor", "--json")):
                self.told[line["document"]] += json.dumps(line, ensure_ascii=False)
            for line in self._run(home, "list", "--json"):
                self.listed[line["document"]] = line
                self.told[line["document"]] += json.dumps(line, ensure_ascii=False)
            self._ask(home, {place: check for place, check in enumerate(checks) if check["check"] == "ask"})
            for line in self._run(home, "key-figures", "--json"):
                self.figures[line["document"]].append(line)

    def _ask(self, home: str, checks: Mapping[int, Check]) -> None:
        """Ask all questions, in turns: one with `history` follows the answers to those before it."""
        turns = {place: [*check.get("history", ()), check["question"]] for place, check in checks.items()}
        said: dict[int, list[dict[str, str]]] = defaultdict(list)
        for turn in range(max(map(len, turns.values()), default=0)):
            queries = []
            for place, questions in turns.items():
                if turn < len(questions):
                    query = {"id": str(place), "query": questions[turn], "history": said[place]}
                    queries.append(json.dumps({**query, "documents": checks[place]["documents"]}))
            for line in self._run(home, "ask", "--batch", stdin="\n".join(queries)):
                place = int(line["id"])
                self.answers[place] = line
                said[place].append({"user": turns[place][turn], "assistant": line["answer"]})

    def _run(self, home: str, *words: str, stdin: str | None = None) -> list[dict[str, Any]]:
        done = subprocess.run(
            [sys.executable, "-m", "chatbot", *words],
            cwd=ROOT,
            env={**os.environ, "FINPOLICY_HOME": home},
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode not in (0, 1):
            raise SystemExit(f"{words[0]} ended with {done.returncode}: {done.stderr[-800:]}")
        return [json.loads(line) for line in done.stdout.split("\n") if line.startswith("{")]


@cache
def _reading(path: Path) -> DocumentReading:
    return read_document(path)


def judge(place: int, check: Check, product: Product) -> str:
    """What is wrong, "" where the check passes."""
    return _JUDGES[check["check"]](place, check, product)


def _patterns(check: Check, text: str) -> str:
    flat = " ".join(text.split())
    for pattern in check.get("must", ()):
        if not re.search(pattern, flat, re.IGNORECASE):
            return f"lacks {pattern!r}: {flat[:300]}"
    for pattern in check.get("must_not", ()):
        if found := re.search(pattern, flat, re.IGNORECASE):
            return f"has {found[0]!r}: {flat[:300]}"
    return ""


def _ask(place: int, check: Check, product: Product) -> str:
    said = product.answers.get(place, {})
    if check.get("or_refused") and not said.get("answered", True):
        return ""
    if wrong := _patterns(check, said.get("answer") or ""):
        return wrong
    cited = {citation["page"] for citation in said.get("citations", [])}
    missing = set(check.get("cites", ())) - cited
    return f"cites {sorted(cited)}, not {sorted(missing)}" if missing else ""


def _key_figure(_: int, check: Check, product: Product) -> str:
    rows = [row for name in check["documents"] for row in product.figures[name]]
    found = [
        row
        for row in rows
        if row["value"] is not None and _is_of(row, check["measure"]) and _is_in(row, check["period"])
    ]
    given = (
        "; ".join(
            f"{row['measure']} {row['period']}: {row['value']:,.10g}"
            for row in rows
            if row["value"] is not None
        )
        or "nothing"
    )
    if check.get("none"):
        return f"gives {found[0]['value']:,}" if found else ""
    right = check["value"] * check.get("scale", 1) * check.get("sign", 1)
    if any(abs(row["value"] - right) <= 1e-6 * abs(right) for row in found):
        return ""
    return f"no {check['measure']} {check['period']} of {right:,}: {given[:300]}"


def _is_of(row: Mapping[str, Any], measure: str) -> bool:
    """Whether a key figure is of a measure, by its name or its row: "Government revenue" is the revenue of a
    budget."""
    return any(row[name].casefold().endswith(measure.casefold()) for name in ("measure", "row"))


def _is_in(row: Mapping[str, Any], period: str) -> bool:
    """Whether a key figure is of a period: a pattern, or a part of a year as "2024-H1", "2024-9M"."""
    if part := re.fullmatch(r"(\d{4})-(\w+)", period):
        (asked,) = find_periods(f"{part[2]} {part[1]}")
        return any(found.is_part and stands_for(asked, found) for found in find_periods(row["period"]))
    # "2024" is the year, not a part of it.
    return re.fullmatch(f"(?:FY ?)?(?:{period})", row["period"], re.IGNORECASE) is not None


def _title(_: int, check: Check, product: Product) -> str:
    title = product.listed.get(check["documents"][0], {}).get("title") or ""
    return "" if re.search(check["title"], title, re.IGNORECASE) else f"is {title!r}"


def _page(_: int, check: Check, product: Product) -> str:
    pages = _reading(product.folder / check["documents"][0]).pages
    page = pages[check["page"] - 1]
    if wrong := _patterns(check, page.text):
        return wrong
    if "label" in check and not re.search(check["label"], page.label or ""):
        return f"its printed number is {page.label!r}"
    return ""


def _report(_: int, check: Check, product: Product) -> str:
    return _patterns(check, " ".join(product.told[name] for name in check["documents"]))


def _claim(place: int, check: Check, product: Product) -> str:
    name = check["documents"][0]
    pages = _reading(product.folder / name).pages
    page = pages[check["page"] - 1]
    prompt = prompt_of(name, page, pages, check.get("question", ""), random.Random(1))
    answer = check["answer"] if "[S1]" in check["answer"] else f"{check['answer']} [S1]"
    checked = check_statements(answer.replace("[S1]", "[S1-7f3a]"), prompt)
    fine = {*FINE, "not_checked"}
    doubts = [f"{one.text}: {one.status} ({one.reason})" for one in checked.numbers if one.status not in fine]
    if not checked.numbers:
        return "no figure was found"
    if check["status"] == UNCONFIRMED:
        return next((f"marked {one.mark}" for one in checked.statements if one.mark in CONFIRMED), "")
    status = DOUBTED if doubts else SUPPORTED
    return "" if status == check["status"] else f"{status}: {'; '.join(doubts)}"


_JUDGES = {
    "ask": _ask,
    "key_figure": _key_figure,
    "title": _title,
    "page": _page,
    "report": _report,
    "claim": _claim,
}


def report(checks: Sequence[Check], wrong: Sequence[str]) -> str:
    """Inputs right of all, by kind. wrong: what is wrong with each check."""
    faulty = {_input(check) for check, fault in zip(checks, wrong, strict=True) if fault}
    kinds = {_input(check): check["kind"].split(":")[0] for check in checks}
    all_of = Counter(kinds.values())
    right = Counter(kind for one, kind in kinds.items() if one not in faulty)
    rows = [(kind, str(count), str(right[kind])) for kind, count in sorted(all_of.items())]
    rows.append(("all", str(len(kinds)), str(len(kinds) - len(faulty))))
    return markdown_table(("kind", "inputs", "right"), rows)


def _input(check: Check) -> tuple[str, ...]:
    return tuple(check["documents"])


def _faults(checks: Sequence[Check], wrong: Iterable[str]) -> Iterable[str]:
    for check, fault in zip(checks, wrong, strict=True):
        if fault:
            asked = check.get("question") or check.get("answer") or check.get("measure") or ""
            yield f"- {'+'.join(check['documents'])}, {check['check']} {asked!r}: {fault}"


def main() -> int:
    """Ask, judge and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=Path, default=FOUND, help="folder of the PDFs")
    parser.add_argument("--checks", type=Path, default=CHECKS, help="JSON lines, see above")
    parser.add_argument("--only", default="", metavar="PATTERN", help="documents or kinds, as a pattern")
    parser.add_argument("--show", action="store_true", help="also print what is wrong")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write each check with what is wrong")
    chosen = parser.parse_args()
    if not chosen.documents.is_dir():
        print(f"There is no {chosen.documents}; name the folder with --documents.", file=sys.stderr)
        return 2
    checks = [
        check
        for check in load_checks(chosen.checks)
        if re.search(chosen.only, " ".join([check["kind"], *check["documents"]]))
    ]
    product = Product(chosen.documents)
    product.ask_everything(checks)
    wrong = [judge(place, check, product) for place, check in enumerate(checks)]
    print(report(checks, wrong))
    if chosen.show:
        print(*_faults(checks, wrong), sep="\n")
    if chosen.json:
        lines = [{**check, "wrong": fault} for check, fault in zip(checks, wrong, strict=True)]
        chosen.json.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
