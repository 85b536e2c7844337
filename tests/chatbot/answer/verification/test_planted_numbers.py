"""The benchmark of planted number errors, run small: its statements, its errors, and what the checks must
catch of them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.number_statements import KINDS
from benchmarks.planted_numbers import TRUE, plant_errors
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
