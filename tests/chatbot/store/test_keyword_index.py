"""The keyword index: candidates, replacing, removing, reopening, and any text as a query."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chatbot.store.keyword_index import KeywordIndex


@pytest.fixture
def index(tmp_path: Path) -> KeywordIndex:
    made = KeywordIndex(tmp_path / "keywords")
    made.add(1, [["deficit", "ceiling"], ["debt", "debt"]])
    made.add(2, ["debt ratio long chunk of words".split()])
    return made


def found(index: KeywordIndex, *words: str) -> list[tuple[int, int]]:
    hits = index.search(words, 10)
    return [(version, ordinal) for version, ordinal, _ in hits]


def test_best_chunks_come_first(index: KeywordIndex) -> None:
    assert found(index, "debt") == [(1, 1), (2, 0)]
    assert found(index, "zebra") == []
    assert index.frequency("debt") == 2


def test_adding_again_replaces_and_removing_removes(index: KeywordIndex) -> None:
    index.add(1, [["reserve"]])
    assert found(index, "deficit") == []
    assert found(index, "reserve") == [(1, 0)]
    index.remove([1, 2])
    assert index.count() == 0


def test_reopening_finds_what_was_committed(index: KeywordIndex) -> None:
    reopened = KeywordIndex(index.folder)
    assert found(reopened, "ceiling") == [(1, 0)]


@given(st.lists(st.text(min_size=1), max_size=100))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
def test_any_words_may_be_searched(index: KeywordIndex, words: list[str]) -> None:
    assert isinstance(index.search(words, 5), list)
