"""The keyword index: candidates, replacing, removing, reopening, and any text as a query."""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chatbot.store import postgres_words
from chatbot.store.database import PostgresPlace, open_database
from chatbot.store.keyword_index import KeywordIndex
from chatbot.store.postgres_words import WORDS, FoundWord, PostgresWords
from chatbot.store.word_index import WordIndex


def on_postgres(address: str) -> PostgresWords:
    """The index in a database."""
    return PostgresWords(open_database(PostgresPlace(address, "words"), WORDS))


@pytest.fixture(params=["files", "Postgres"])
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[WordIndex]:
    """An index without chunks, in files and in a Postgres."""
    if request.param == "files":
        yield KeywordIndex(tmp_path / "keywords")
        return
    made = on_postgres(request.getfixturevalue("served"))
    yield made
    made.close()


@pytest.fixture
def index(empty: WordIndex) -> WordIndex:
    empty.add(1, [["deficit", "ceiling"], ["debt", "debt"]])
    empty.add(2, ["debt ratio long chunk of words".split()])
    return empty


def found(index: WordIndex, *words: str) -> list[tuple[int, int]]:
    hits = index.search(words, 10)
    return [(version, ordinal) for version, ordinal, _ in hits]


def test_best_chunks_come_first(index: WordIndex) -> None:
    assert found(index, "debt") == [(1, 1), (2, 0)]
    assert found(index, "zebra") == []
    assert index.frequencies(["debt", "zebra"]) == {"debt": 2, "zebra": 0}


def test_what_is_counted_follows_every_change(index: WordIndex) -> None:
    assert index.counts() == {1: 2, 2: 1}
    assert index.frequencies(["debt", "reserve"]) == {"debt": 2, "reserve": 0}
    index.add(1, [["reserve"], [], ["reserve", "debt"]])
    assert index.counts() == {1: 3, 2: 1}
    assert index.count() == 4
    assert index.frequencies(["debt", "reserve"]) == {"debt": 2, "reserve": 2}
    index.remove([2, 9])
    assert index.frequencies(["debt", "ratio"]) == {"debt": 1, "ratio": 0}
    assert index.counts() == {1: 3}


def test_both_score_and_order_chunks_alike(tmp_path: Path, served: str) -> None:
    chance = random.Random(5)
    words = [f"w{rank}" for rank in range(400)]
    shares = [1 / (rank + 1) for rank in range(400)]
    files = KeywordIndex(tmp_path / "keywords")
    postgres = on_postgres(served)
    for version in (3, 1, 2):
        chunks = [chance.choices(words, shares, k=chance.randint(1, 200)) for _ in range(300)]
        files.add(version, chunks)
        postgres.add(version, chunks)
    for _ in range(40):
        asked = chance.choices(words, k=chance.choice([1, 3, 8, 90]))
        assert postgres.frequencies(asked) == files.frequencies(asked)
        expected, scored = files.search(asked, 50), postgres.search(asked, 50)
        assert [score for *_, score in scored] == pytest.approx([score for *_, score in expected], rel=1e-5)
        sure = {row[:2] for row in expected if row[2] > expected[-1][2] * (1 + 1e-5)}
        assert sure <= {row[:2] for row in scored}
    postgres.close()


def test_an_interrupted_change_leaves_the_former_words(served: str, monkeypatch: pytest.MonkeyPatch) -> None:
    index = on_postgres(served)
    index.add(1, [["deficit"]])
    monkeypatch.setattr("chatbot.store.postgres_words.ROWS_AT_ONCE", None)
    with pytest.raises(TypeError):
        index.add(1, [["debt"]])
    monkeypatch.undo()
    assert found(index, "deficit") == [(1, 0)]
    assert index.count() == 1
    index.close()


@given(st.lists(st.text(min_size=1), max_size=100))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
def test_any_words_may_be_searched(index: WordIndex, words: list[str]) -> None:
    assert isinstance(index.search(words, 5), list)


def test_common_words_are_read_only_where_they_matter(served: str, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(7)
    words = [f"w{rank}" for rank in range(300)]
    shares = [1 / (rank + 1) for rank in range(300)]
    index = on_postgres(served)
    for version in range(1, 41):
        index.add(version, [chance.choices(words, shares, k=20) for _ in range(30)])
    read = index._postings
    narrowed = list[int]()

    def noted(of: Sequence[str], blocks: Sequence[int] | None) -> dict[str, FoundWord]:
        if blocks is not None:
            narrowed.append(len(blocks))
        return read(of, blocks)

    monkeypatch.setattr(index, "_postings", noted)
    for turn in range(60):
        asked = [*chance.choices(words, shares, k=3), words[turn * 4]]
        for limit in (1, 5, 40, 2_000):
            monkeypatch.setattr(postgres_words, "COMMON", 100_000)
            whole = index.search(asked, limit)
            monkeypatch.setattr(postgres_words, "COMMON", 30)
            assert index.search(asked, limit) == whole
    index.close()
    assert len(narrowed) > 20
    assert min(narrowed) <= 20
