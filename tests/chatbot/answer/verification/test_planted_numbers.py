"""The benchmark of planted number errors, run small: its statements, its errors, and what the checks must
catch of them.
"""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.number_statements import KINDS, statements_of_tables
from benchmarks.planted_numbers import TRUE, Judged, plant_errors, report
from chatbot.records import Statement
from ingestion.document import Circumstances, read_document
from ingestion.records import Page

SAMPLE = "Valmora_Fiscal_Policy_Statement_2025.pdf"


@pytest.fixture(scope="module")
def pages(samples: Path) -> tuple[Page, ...]:
    """A sample document of prose and tables."""
    return read_document(samples / SAMPLE, Circumstances(processes=1)).pages


def test_errors_are_caught_and_true_statements_are_not_doubted(pages: tuple[Page, ...]) -> None:
    results = plant_errors({SAMPLE: pages}, seed=1, most=40)
    caught = {}
    for kind in (*KINDS, TRUE):
        doubted = [result.doubted for result in results if result.kind == kind]
        assert len(doubted) >= 5
        caught[kind] = sum(doubted) / len(doubted)
    for kind in ("scale", "sign", "digit", "points"):
        assert caught[kind] >= 0.95, caught
    # What stands in another row, column or period takes a reader, and is never confirmed without one.
    assert not [result.text for result in results if result.kind != TRUE and result.confirmed]
    assert caught[TRUE] <= 0.003, caught


def test_the_same_seed_makes_the_same_statements(pages: tuple[Page, ...]) -> None:
    planted = plant_errors({SAMPLE: pages}, seed=3, most=5)
    assert plant_errors({SAMPLE: pages}, seed=3, most=5) == planted


def test_each_error_changes_its_statement(pages: tuple[Page, ...]) -> None:
    planter = random.Random(2)
    statements = [one for page in pages for one in statements_of_tables(page, planter)]
    assert statements
    kinds = set()
    for statement in statements:
        kinds |= set(statement.errors)
        assert statement.text not in statement.errors.values()
    assert kinds >= {"digit", "sign", "row", "column"}


def test_the_report_counts_any_doubt() -> None:
    def judged(kind: str, mark: str) -> Judged:
        checked = Statement("It was 5.", "cited", mark=mark)
        return Judged(kind, "was in", "It was 5.", "a.pdf", 1, (checked,))

    caught = judged("digit", "not_found")
    missed = judged("digit", "quoted")
    undoubted = judged(TRUE, "")
    lines = report([caught, missed, undoubted]).split("\n")
    digits = next(line for line in lines if line.startswith("| digit"))
    assert digits.startswith("| digit | 2 | 1 | .500")
    assert digits.endswith("| 1 |")
    everything = next(line for line in lines if line.startswith("| all"))
    assert everything.startswith("| all | 1 | 0 | .000")


def test_the_script_says_how_it_is_used(root: Path) -> None:
    command = [sys.executable, "benchmarks/planted_numbers.py", "--help"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("usage:")
