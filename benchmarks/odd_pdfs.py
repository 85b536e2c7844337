"""Measures what becomes of broken, protected, huge and otherwise odd PDFs on the command line.

They are added as anyone would add them.

    python benchmarks/odd_pdfs.py [--table PATH.tsv] [--category NAME ...] [--json FILE]

The table has a line for each file: `path` (beside the table), `category` (see benchmarks/verdicts.py),
`password`, and what two libraries made of it (`observed_pypdf`, `observed_pdfium`). One process adds all
files of a category; protected ones are added a second time without their passwords. Seconds a file, the
largest process, exit codes, tracebacks and the text read are compared with what the category should give.
Where a file's true text stands beside it as .txt, words of it are searched for. Exit code 1 if any file is
not as expected.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.processes import Sampler, high_water_bytes
from benchmarks.tables import markdown_table
from benchmarks.verdicts import MOST_SECONDS, Outcome, Row, judge, judge_batch, judge_refusal

TABLE = ROOT.parent / "shared" / "data" / "bad_pdfs_dev.tsv"
# A batch that takes longer than all its files may is hung.
GRACE_SECONDS = 30.0
# Words of a true text that are searched for.
WORDS = 5
# Stands in a verdict for a path where the process itself is judged.
PROCESS = "(process)"


@dataclass(frozen=True, slots=True)
class Batch:
    """What one process made of some files. seconds: of the whole process. peak: bytes of the largest
    process of its tree.
    """

    code: int
    outcomes: Sequence[Outcome]
    errors: str
    seconds: float
    peak: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """One file, or PROCESS for its category's process. reason: "" where all was as expected."""

    category: str
    path: str
    reason: str
    outcome: Outcome


def main() -> int:
    """Run, print, and say in the exit code whether all was as expected."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    options.add_argument("--table", type=Path, default=TABLE)
    options.add_argument("--category", action="append", default=[], help="only this one (may be repeated)")
    options.add_argument(
        "--json", type=Path, metavar="FILE", help="everything that was seen, one line a file"
    )
    given = options.parse_args()
    rows = [row for row in read_table(given.table) if not given.category or row.category in given.category]
    verdicts: list[Verdict] = []
    peaks: dict[str, int] = {}
    for category in dict.fromkeys(row.category for row in rows):
        found, peaks[category] = judge_category(
            [row for row in rows if row.category == category], given.table.parent
        )
        verdicts += found
        print(
            f"{category}: {sum(bool(verdict.reason) for verdict in found)} not as expected",
            file=sys.stderr,
            flush=True,
        )
    print(report(verdicts, peaks))
    if given.json:
        given.json.write_text(
            "".join(json.dumps(asdict(verdict), ensure_ascii=False) + "\n" for verdict in verdicts), "utf-8"
        )
    return 1 if any(verdict.reason for verdict in verdicts) else 0


def read_table(path: Path) -> list[Row]:
    """The rows of a tab-separated table with a head line; columns that it lacks are empty."""
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Row(
                line["path"],
                line["category"],
                line.get("what_is_wrong") or "",
                line.get("password") or "",
                line.get("observed_pypdf") or "",
                line.get("observed_pdfium") or "",
            )
            for line in csv.DictReader(file, delimiter="\t")
        ]


def judge_category(rows: Sequence[Row], folder: Path) -> tuple[list[Verdict], int]:
    """(a verdict for each file and one for each process, bytes of the largest process) of the files of one
    category.
    """
    runs = [(rows, True)]
    if any(row.password for row in rows):
        runs.append(([row for row in rows if row.password], False))
    verdicts, peaks = [], []
    for some, with_passwords in runs:
        batch = add(some, folder, with_passwords=with_passwords)
        if batch.seconds > MOST_SECONDS:
            timed = zip(batch.outcomes, each_alone(some, folder), strict=True)
            batch = replace(batch, outcomes=[replace(one, seconds=alone) for one, alone in timed])
        for row, outcome in zip(some, batch.outcomes, strict=True):
            reason = judge(row, outcome) if with_passwords else judge_refusal(outcome)
            verdicts.append(Verdict(row.category, row.path, reason, outcome))
        reason = judge_batch(batch.code, batch.outcomes, batch.errors, batch.peak)
        verdicts.append(Verdict(some[0].category, PROCESS, reason, Outcome("ended", seconds=batch.seconds)))
        peaks.append(batch.peak)
    return verdicts, max(peaks)


def each_alone(rows: Sequence[Row], folder: Path) -> list[float]:
    """Seconds of each file in a process of its own: of files read at once no one can say how long each
    took.
    """
    return [add([row], folder, with_passwords=True).seconds for row in rows]


def add(rows: Sequence[Row], folder: Path, *, with_passwords: bool) -> Batch:
    """One process that adds these files to an empty home, and one that searches for what is known to stand
    in them.
    """
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        files = link_files(rows, folder, home / "files")
        passwords = home / "passwords.tsv"
        passwords.write_text(
            "".join(
                f"{file.name}\t{row.password}\n"
                for file, row in zip(files, rows, strict=True)
                if row.password
            ),
            "utf-8",
        )
        environment = {**os.environ, "FINPOLICY_HOME": str(home / "store")}
        command = [
            sys.executable,
            "-m",
            "chatbot",
            "add",
            "--json",
            *(["--passwords", str(passwords)] if with_passwords else []),
            *map(str, files),
        ]
        code, output, errors, seconds, peak = watched(
            command, environment, MOST_SECONDS * len(rows) + GRACE_SECONDS
        )
        outcomes = read_outcomes(output, [file.name for file in files])
        found = search(
            outcomes,
            [(folder / row.path).with_suffix(".txt") for row in rows],
            [file.name for file in files],
            environment,
        )
        return Batch(
            code,
            [replace(one, found=share) for one, share in zip(outcomes, found, strict=True)],
            errors,
            seconds,
            peak,
        )


def link_files(rows: Sequence[Row], folder: Path, target: Path) -> list[Path]:
    """The files under names that differ, whatever folders they came from."""
    target.mkdir()
    links = [target / f"{number:03d}_{Path(row.path).name}" for number, row in enumerate(rows)]
    for link, row in zip(links, rows, strict=True):
        link.symlink_to((folder / row.path).resolve())
    return links


def watched(
    command: Sequence[str], environment: Mapping[str, str], limit: float
) -> tuple[int, str, str, float, int]:
    """(exit code, stdout, stderr, seconds, bytes of the largest process) of a command; one that is not
    done after `limit` seconds is ended.
    """
    started = time.perf_counter()
    process = subprocess.Popen(
        command,
        env=environment,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    with Sampler(process.pid, high_water_bytes, hertz=10) as sampler:
        try:
            output, errors = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            process.terminate()
            output, errors = process.communicate()
            errors += f"\nended after {limit:.0f} s"
    return process.returncode, output, errors, time.perf_counter() - started, sampler.peak


def read_outcomes(output: str, names: Sequence[str]) -> list[Outcome]:
    """An outcome for each name, from the lines of `add --json`; those without exactly one line are
    "missing".
    """
    lines: dict[str, list[Outcome]] = {}
    for text in output.splitlines():
        line = json.loads(text)
        outcome = Outcome(
            line["status"],
            line["error"] or "",
            line.get("warning") or "",
            line["pages"],
            line["chunks"],
            line["ocr_pages"],
            len(line["failed_pages"]),
            line["seconds"],
        )
        lines.setdefault(line["document"], []).append(outcome)
    return [lines[name][0] if len(lines.get(name, [])) == 1 else Outcome("missing") for name in names]


def search(
    outcomes: Sequence[Outcome], truths: Sequence[Path], names: Sequence[str], environment: Mapping[str, str]
) -> list[float | None]:
    """For each file the share of WORDS words of its true text that keyword search finds in it; None where
    that text is not known.
    """
    wanted: list[list[str]] = []
    for path, one in zip(truths, outcomes, strict=True):
        known = path.exists() and one.chunks
        wanted.append(truth_words(path.read_text("utf-8", "replace")) if known else [])
    queries = [
        {"id": index, "query": word, "documents": [names[index]]}
        for index, words in enumerate(wanted)
        for word in words
    ]
    if not queries:
        return [None] * len(names)
    done = subprocess.run(
        [sys.executable, "-m", "chatbot", "search", "--batch", "--json", "--mode", "keyword"],
        input="".join(json.dumps(query) + "\n" for query in queries),
        env=dict(environment),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    hits = Counter[int](answer["id"] for answer in answers if answer.get("hits"))
    return [hits[index] / len(words) if words else None for index, words in enumerate(wanted)]


def truth_words(text: str) -> list[str]:
    """The WORDS longest plain words of a text, each once: the least likely to be found by chance."""
    words = {word.casefold() for word in re.findall(r"[^\W\d_]{5,20}", text)}
    return sorted(words, key=lambda word: (-len(word), word))[:WORDS]


def report(verdicts: Sequence[Verdict], peaks: Mapping[str, int]) -> str:
    """A table by category, and a line for each file that is not as expected."""
    rows: list[list[object]] = []
    for category, peak in peaks.items():
        files = [verdict for verdict in verdicts if verdict.category == category and verdict.path != PROCESS]
        slowest = max((verdict.outcome.seconds for verdict in files), default=0.0)
        rows.append(
            [
                category,
                f"{sum(not one.reason for one in files)} / {len(files)}",
                f"{slowest:.1f} s",
                f"{peak / 1e6:,.0f} MB",
            ]
        )
    every = [verdict for verdict in verdicts if verdict.path != PROCESS]
    rows.append(
        [
            "all",
            f"{sum(not one.reason for one in every)} / {len(every)}",
            "",
            f"{max(peaks.values(), default=0) / 1e6:,.0f} MB",
        ]
    )
    lines = [markdown_table(["category", "as expected", "slowest file", "largest process"], rows), ""]
    lines += [
        f"- {one.category}, {one.path}: {one.reason} ({shown(one.outcome)})" for one in verdicts if one.reason
    ]
    return "\n".join(lines)


def shown(outcome: Outcome) -> str:
    """An outcome in one line."""
    parts = [
        outcome.status,
        f"{outcome.pages} pages",
        f"{outcome.chunks} chunks",
        f"{outcome.ocr_pages} by OCR",
        f"{outcome.failed} failed",
    ]
    return ", ".join([*parts, f"{outcome.seconds:.1f} s", *filter(None, (outcome.error, outcome.warning))])


if __name__ == "__main__":
    raise SystemExit(main())
