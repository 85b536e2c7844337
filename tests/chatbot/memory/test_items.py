"""The one store of what is recalled by likeness, as every memory of that kind uses it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from chatbot.errors import NotFoundError
from chatbot.memory import items as items_module
from chatbot.memory.cases.case_store import CASES
from chatbot.memory.cases.records import Case, case_id
from chatbot.memory.items import Items
from chatbot.memory.memory_database import MemoryDatabase
from tests.chatbot.memory.conftest import Reopen
from tests.engines import on_postgres
from tests.fakes import HashEmbedder

pytestmark = pytest.mark.usefixtures("engine")

EMBEDDER = HashEmbedder(dimension=64)
Shelf = Items[Case]


@pytest.fixture
def items(memories: MemoryDatabase) -> Shelf:
    return Items(memories, EMBEDDER, CASES)


def yes(*questions: str) -> list[Case]:
    """Cases of these questions, all answered alike."""
    return [Case(question, "Yes.") for question in questions]


def questions_of(items: Shelf, owner: str = "me") -> list[str]:
    return [case.question for case in items.view(owner).values.values()]


def embedded(items: Shelf) -> set[int]:
    """Places of my items that have a vector."""
    return set(items.view("me").matrix.ordinals.tolist())


def rename(items: Shelf, question: str, new: str) -> None:
    items.change("me", case_id(question), partial(replace, question=new))


def test_what_cannot_be_read_is_named_by_place_and_nothing_else_suffers(
    items: Shelf, memories: MemoryDatabase
) -> None:
    items.put("me", yes("One?", "Two?", "Three?"))
    with memories.write() as connection:
        connection.execute("update item set payload = 'no json' where key = ?", (case_id("Two?"),))
    items.embed()
    assert questions_of(items) == ["One?", "Three?"]
    assert embedded(items) == {0, 1}
    (problem,) = items.view("me").problems
    assert problem.line == 2
    assert "not JSON" in problem.reason
    assert items.remove(lambda case: True) == 2
    assert len(items.view("me").problems) == 1, "what cannot be read is not lost"


def test_what_another_process_adds_changes_or_removes_is_seen(items: Shelf, reopen: Reopen) -> None:
    items.put("me", yes("One?", "Two?"))
    items.embed()
    assert embedded(items) == {0, 1}
    other = Items(reopen(), EMBEDDER, CASES)
    other.put("me", yes("Three?"))
    assert questions_of(items) == ["One?", "Two?", "Three?"]
    other.change("me", case_id("One?"), partial(replace, plan="No."))
    assert [case.plan for case in items.view("me").values.values()] == ["No.", "Yes.", "Yes."]
    assert embedded(items) == {0, 1}
    other.remove(lambda case: case.question == "One?")
    assert questions_of(items) == ["Two?", "Three?"]
    other.put("me", [Case("two?", "Anew.")])
    assert questions_of(items) == ["Three?", "two?"], "what is put anew comes last"
    with pytest.raises(NotFoundError):
        items.change("me", case_id("One?"), lambda case: case)


def test_vectors_go_with_the_text_and_those_of_another_embedder_are_left_out(
    items: Shelf, memories: MemoryDatabase
) -> None:
    items.put("me", yes("One?", "Two?"))
    assert items.embed(most=1) == 1
    assert embedded(items) == {1}, "the newest first"
    assert items.embed() == 0
    items.put("me", [Case("One?", "Still.")])
    assert embedded(items) == {0, 1}
    rename(items, "Two?", "Three?")
    assert questions_of(items) == ["Three?", "One?"]
    assert embedded(items) == {1}
    other = Items(memories, HashEmbedder(dimension=32), CASES)
    assert other.view("me").matrix.rows.shape == (0, 32)
    assert len(other.waiting()) == 2
    (waiting,) = items.waiting()
    rename(items, "Three?", "Four?")
    items.keep_vectors([waiting], list(EMBEDDER.embed(["Three?"])))
    assert embedded(items) == {1}, "the text changed while its vector was made"


@pytest.mark.parametrize("damage", [b"\xff" * 256, b"short", b"", None], ids=str)
def test_spoiled_vectors_find_nothing(items: Shelf, memories: MemoryDatabase, damage: bytes | None) -> None:
    items.put("me", yes("One?", "Two?"))
    items.embed()
    with memories.write() as connection:
        connection.execute("update item set vectors = ? where key = ?", (damage, case_id("One?")))
        connection.execute("update item_changes set changes = changes + 1")
    (vector,) = CASES.vectors(EMBEDDER, ["One?"])
    assert [case.question for _, case in items.recall("me", [vector], 9)] == ["Two?"]
    assert items.embed() == 0
    assert embedded(items) == {0, 1}, "they are made again"


def test_a_store_of_one_item_or_a_removal_leaves_other_owners_alone(
    items: Shelf, memories: MemoryDatabase
) -> None:
    items.put("me", yes("One?", "Two?"))
    items.put("her", yes("One?"))
    assert items.embed("me", case_id("One?")) == 0
    assert embedded(items) == {0}
    assert len(items.waiting()) == 2
    assert items.remove(lambda case: True, "owner = ?", ["her"]) == 1
    assert questions_of(items) == ["One?", "Two?"]
    view = items.view("me")
    assert items.remove(lambda case: False) == 0
    assert items.view("me") is view, "where nothing is removed nothing is read again"


def test_what_is_shared_is_seen_by_all_with_its_owner(items: Shelf) -> None:
    for owner in ("me", "her", "him"):
        items.put(owner, [Case("One?", owner, verified=True, shared=owner != "him")])
    shared = items.view(items_module.SHARED).values.values()
    assert [(case.by, case.plan) for case in shared] == [("me", "me"), ("her", "her")]
    items.put("her", [Case("One?", "Hers anew.", verified=True)])
    items.put("me", [Case("One?", "Unchecked.")])
    (left,) = items.view(items_module.SHARED).values.values()
    assert left.plan == "Hers anew.", "what is put anew stays shared while it is checked"


def test_only_so_many_owners_are_kept_in_memory(items: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    for owner in "abcd":
        items.put(owner, yes("One?"))
    items.embed()
    monkeypatch.setattr(items_module, "MOST_VECTORS", 2)
    for owner in "abcd":
        assert questions_of(items, owner) == ["One?"]
    assert list(items._views) == ["c", "d"]


def test_the_best_window_of_any_vector_counts_and_filters_come_before_the_cut(
    memories: MemoryDatabase, make_rows: Callable[[int], np.ndarray]
) -> None:
    items = Items(memories, EMBEDDER, CASES)
    items.put("me", yes(*map(str, range(20))))
    rows = make_rows(40)
    items.keep_vectors(items.waiting(), [rows[at : at + 2] for at in range(0, 40, 2)])
    best = np.max(rows.reshape(20, 2, 64) @ rows[[3, 8]].T, axis=(1, 2))[::-1]
    found = items.recall("me", [rows[3], rows[8]], 20)
    assert [score for score, _ in found] == pytest.approx(sorted(best, reverse=True), abs=1e-6)
    assert best[int(found[2][1].question)] == pytest.approx(found[2][0], abs=1e-6)
    even = items.recall("me", [rows[3]], 5, wanted=lambda case: not int(case.question) % 2)
    assert len(even) == 5


@pytest.fixture
def make_rows() -> Callable[[int], np.ndarray]:
    """Unit rows by chance."""

    def make(count: int) -> np.ndarray:
        rows = np.random.default_rng(0).standard_normal((count, 64), np.float32)
        unit: np.ndarray = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit

    return make


@pytest.mark.timed
def test_twenty_thousand_are_recalled_in_a_fraction_of_their_reading(
    memories: MemoryDatabase, make_rows: Callable[[int], np.ndarray]
) -> None:
    if on_postgres():
        pytest.skip("the time is that of reading a file")
    items, count = Items(memories, EMBEDDER, CASES), 20_000
    items.put("me", yes(*(f"What was item {number} of the budget?" for number in range(count))))
    rows = make_rows(count)
    items.keep_vectors(items.waiting(), list(rows))
    items = Items(memories, EMBEDDER, CASES)
    started = time.process_time()
    assert len(items.view("me").values) == count
    loaded = time.process_time() - started
    started = time.process_time()
    for _ in range(5):
        ((score, _), *_) = items.recall("me", [rows[17_777]], 8)
        assert score == pytest.approx(1)
    assert time.process_time() - started < loaded, "five recalls take less than reading once"
