"""The benchmark of planted words, run small: words that turn a sentence's sense are never confirmed without a
reader, and harmless rewordings are not doubted.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.planted_words import ERRORS, plant_words
from ingestion.document import Circumstances, read_document

SAMPLE = "Valmora_Fiscal_Policy_Statement_2025.pdf"


def test_turned_words_are_never_confirmed_and_harmless_rewordings_are_not_doubted(samples: Path) -> None:
    pages = read_document(samples / SAMPLE, Circumstances(processes=1)).pages
    found = list(plant_words({SAMPLE: pages}, seed=1, most=25))
    for kind in ERRORS:
        assert sum(one.kind == kind for one in found) >= 5
    assert all(one.text for one in found)
    # What a turned word means takes a reader; without one nothing confirms it.
    assert not [one.text for one in found if not one.harmless and one.confirmed]
    harmless = [one for one in found if one.harmless]
    doubted = [one.text for one in harmless if one.reason]
    assert len(doubted) <= 0.05 * len(harmless), doubted
