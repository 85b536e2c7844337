"""The benchmarks answer, and what they make of their measurements is right; how fast anything is stays out
of the tests.
"""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.fairness import Waits, judged
from benchmarks.odd_pdfs import read_outcomes
from benchmarks.processes import Sampler, high_water_bytes, process_tree, proportional_bytes
from benchmarks.verdicts import MOST_BYTES, Outcome, Row, judge, judge_batch, judge_refusal
from tests.case_rows import case_rows

UNREADABLE = "exc PdfReadError: Stream has ended unexpectedly"
FAILED = Outcome("failed", "The file is not a PDF, or is damaged. Repair it.")


def added(pages: int = 1, chunks: int = 1, **other: object) -> Outcome:
    return Outcome("added", pages=pages, chunks=chunks, **other)  # type: ignore[arg-type]


def outcome_of(written: str) -> Outcome:
    """As a row of a table has it: its status, and what else is known of it."""
    if written == "FAILED":
        return FAILED
    status, _, details = written.partition(" ")
    known = json.loads(details or "{}")
    return added(**known) if status == "added" else Outcome(status, **known)


SCRIPTS = sorted(path.stem for path in Path(__file__).parent.parent.glob("benchmarks/*.py"))


@pytest.mark.parametrize("script", SCRIPTS)
def test_each_script_fits_the_product_of_today(script: str) -> None:
    """A name that it imports, or that the product has given up, would end it before its first line."""
    try:
        importlib.import_module(f"benchmarks.{script}")
    except ImportError as error:
        if (error.name or "").partition(".")[0] in {"benchmarks", "chatbot", "ingestion", "tests"}:
            raise
        pytest.skip(f"{error.name} is not installed")


# The category, what a library saw, and what became of the file.
ALLOWED = case_rows("""
broken             | UNREADABLE                    | FAILED |
broken             | UNREADABLE                    | added |
control            | ok pages=1 chars8=400         | added |
damaged            | UNREADABLE                    | FAILED |
damaged            | ok pages=1 chars8=400         | added |
damaged            | ok pages=1 chars8=0           | added {"chunks": 0} |
damaged            | ok pages=1 chars8=0 pageerr=x | added {"chunks": 0, "failed": 1} |
empty | ok pages=1 chars8=0 | added {"chunks": 0, "warning": "No text was found on any page."} |
encrypted-open     | ok pages=1 chars8=400         | added |
encrypted-password | UNREADABLE                    | added {"chunks": 0} |
garbage-text       | ok pages=1 chars8=400         | added {"ocr_pages": 1} |
gov-error          | ok pages=1 chars8=400         | added |
huge               | ok pages=1 chars8=0           | FAILED |
layout             | ok pages=1 chars8=400         | added {"found": 0.6} |
mixed              | ok pages=1 chars8=4000        | added |
mixed              | ok pages=6 chars8=110         | added {"pages": 6, "ocr_pages": 3} |
mixed              | ok pages=1 chars8=6           | added |
scan               | ok pages=1 chars8=0           | added {"ocr_pages": 1} |
scan               | ok pages=2 chars8=14          | added {"pages": 2} |
script             | ok pages=1 chars8=400         | added |
never heard of     |                               | added |
""")


# And why that may not be.
NOT_ALLOWED = case_rows("""
broken             | UNREADABLE                    | missing                   | no line
broken             | UNREADABLE                    | failed                    | not one line
broken             | UNREADABLE                    | failed {"error": "a\\nb"} | not one line
broken             | UNREADABLE                    | unchanged                 | unchanged
control            | ok pages=1 chars8=400         | FAILED                    | was failed
damaged            | ok pages=1 chars8=400         | FAILED                    | was failed
damaged            | ok pages=1 chars8=400         | added {"chunks": 0}       | no text
damaged            | ok pages=1 chars8=0 pageerr=x | added {"chunks": 0}       | not named
empty              | ok pages=1 chars8=0           | added {"chunks": 0}       | no warning
empty              | ok pages=1 chars8=0           | added {"warning": "x"}    | out of nothing
encrypted-open     | ok pages=1 chars8=400         | added {"chunks": 0}       | no text
encrypted-password | UNREADABLE                    | FAILED                    | was failed
garbage-text       | ok pages=1 chars8=400         | added                     | OCR
gov-error          | ok pages=3 chars8=9000        | added {"pages": 2}        | 2 pages instead of 3
huge               | ok pages=1 chars8=0           | added {"seconds": 61.0}   | took 61 s
layout             | ok pages=1 chars8=400         | added {"found": 0.4}      | 40%
mixed              | ok pages=1 chars8=4000        | added {"ocr_pages": 1}    | was not used
mixed              | ok pages=6 chars8=110         | added {"pages": 6}        | OCR
scan               | ok pages=1 chars8=0           | added                     | OCR
scan               | ok pages=1 chars8=0           | added {"chunks": 0}       | no text
script             | ok pages=4 chars8=80          | added {"pages": 1}        | instead of 4
never heard of     |                               | missing                   | no line
""")


def row_of(category: str, seen: str) -> Row:
    return Row("a.pdf", category, pdfium=seen.replace("UNREADABLE", UNREADABLE))


@pytest.mark.parametrize(("category", "seen", "outcome", "reason"), [*ALLOWED, *NOT_ALLOWED])
def test_what_a_category_may_become(category: str, seen: str, outcome: str, reason: str) -> None:
    judged_so = judge(row_of(category, seen), outcome_of(outcome))
    assert reason in judged_so
    assert bool(judged_so) == bool(reason)


REFUSALS = case_rows("""
FAILED                                                       | does not speak of a password
failed {"error": "The file is damaged or needs a password."} | called damaged
added                                                        | it was added
""")


@pytest.mark.parametrize(("outcome", "reason"), REFUSALS)
def test_a_protected_file_that_does_not_ask_so_is_judged(outcome: str, reason: str) -> None:
    assert reason in judge_refusal(outcome_of(outcome))


TRACEBACK = "Traceback (most recent call last):\nValueError: x"


WRONG_ENDS = [
    (0, [added(), FAILED], "", 0, "exit code 0 instead of 1"),
    (-9, [added()], "", 0, "exit code -9"),
    (1, [FAILED], TRACEBACK, 0, "ValueError: x"),
    (0, [added()], "", MOST_BYTES + 1, "1.50 GB"),
]


@pytest.mark.parametrize(("code", "outcomes", "errors", "peak", "reason"), WRONG_ENDS)
def test_a_process_that_ends_otherwise_is_judged(
    code: int, outcomes: list[Outcome], errors: str, peak: int, reason: str
) -> None:
    assert reason in judge_batch(code, outcomes, errors, peak)


ADDED_LINE = {
    "status": "added",
    "error": None,
    "pages": 2,
    "chunks": 3,
    "ocr_pages": 1,
    "failed_pages": [{"page": 1, "reason": "x"}],
    "seconds": 0.5,
}


def test_each_file_has_exactly_one_line() -> None:
    lines = [json.dumps({"document": name, **ADDED_LINE}) for name in ("one.pdf", "two.pdf", "two.pdf")]
    output = "".join(f"{line}\n" for line in lines)
    one, two, three = read_outcomes(output, ["one.pdf", "two.pdf", "three.pdf"])
    assert one == Outcome("added", "", "", 2, 3, 1, 1, 0.5)
    assert two == Outcome("missing")
    assert three == Outcome("missing")


HOLDING = """
held = b'x' * 60_000_000
print('ready', flush=True)
input()
"""


def started(program: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", program]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def test_a_tree_of_processes_is_measured_whole() -> None:
    outer = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {HOLDING!r}])"
    with started(outer) as process:
        assert process.stdin
        assert process.stdout
        with Sampler(process.pid, proportional_bytes) as sampler:
            assert process.stdout.readline() == b"ready\n"
            tree = process_tree(process.pid)
            assert len(tree) == 2
            assert 60_000_000 < sampler.now() < 200_000_000
            assert 60_000_000 < high_water_bytes(tree) < 100_000_000
        process.stdin.close()
    assert sampler.peak > 60_000_000
    assert proportional_bytes([process.pid]) == 0


def test_who_waits_too_long_beside_another_is_told() -> None:
    alone = Waits(2.0, [0.01] * 20)
    text, holds = judged(alone, {"scans": Waits(1.0, [0.01] * 19 + [0.5])})
    assert holds, "one answer of twenty is beyond the 95th percentile"
    assert "| scans | 1.0 | 0.50 | 10 | 1.00 |" in text
    assert not judged(alone, {"scans": Waits(2.1, [0.01])})[1]
    assert not judged(alone, {"scans": Waits(1.0, [0.03])})[1]
