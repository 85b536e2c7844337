"""The benchmark of planted number errors, run small: its statements, its errors, and what the checks must
catch of them.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.number_statements import KINDS, statements_of_tables
from benchmarks.planted_numbers import TRUE, Judged, plant_errors, report
from chatbot.records import NumberCheck
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
    assert all(caught[kind] >= 0.95 for kind in ("scale", "sign", "digit", "points")), caught
    assert all(caught[kind] >= 0.8 for kind in ("column", "row", "period")), caught
    assert caught[TRUE] <= 0.05, caught


def test_the_same_seed_makes_the_same_statements(pages: tuple[Page, ...]) -> None:
    assert plant_errors({SAMPLE: pages}, seed=3, most=5) == plant_errors({SAMPLE: pages}, seed=3, most=5)


def test_each_error_changes_its_statement(pages: tuple[Page, ...]) -> None:
    import random

    made = [one for page in pages for one in statements_of_tables(page, random.Random(2))]
    assert made
    assert all(text != one.text for one in made for text in one.errors.values())
    assert {kind for one in made for kind in one.errors} >= {"digit", "sign", "row", "column"}


def test_the_report_counts_any_doubt() -> None:
    def judged(kind: str, status: str) -> Judged:
        return Judged(
            kind, "was in", "It was 5.", "a.pdf", 1, (NumberCheck("5", 5.0, None, 1.0, None, status),)
        )

    lines = report(
        [judged("digit", "unsupported"), judged("digit", "supported"), judged(TRUE, "derived")]
    ).split("\n")
    assert next(line for line in lines if line.startswith("| digit")).startswith("| digit | 2 | 1 | .500")
    assert next(line for line in lines if line.startswith("| all")).startswith("| all | 1 | 0 | .000")


def test_the_script_says_how_it_is_used(root: Path) -> None:
    done = subprocess.run(
        [sys.executable, "benchmarks/planted_numbers.py", "--help"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("usage:")
