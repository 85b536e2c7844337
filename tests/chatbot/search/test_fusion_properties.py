"""What holds of the order of any results that are fused: it rests on ranks or scores, and on nothing else."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from chatbot.search.fusion import Fused, best_scores, reciprocal_ranks, weakest_scores

Results = dict[int | None, list[tuple[str, float]]]
Fusion = Callable[[Results], list[Fused[str]]]
FUSIONS: list[Fusion] = [best_scores, weakest_scores, reciprocal_ranks]


def falling(keys: list[str]) -> list[tuple[str, float]]:
    return [(key, 1.0 - place / 10) for place, key in enumerate(keys)]


def numbered(lists: list[list[tuple[str, float]]]) -> Results:
    return dict(enumerate(lists))


# Each key once in each list, no two with one score.
LISTS = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=6).map(falling)
FOUND = st.lists(LISTS, min_size=1, max_size=4).map(numbered)


def keys_of(found: Results) -> set[str]:
    return {key for results in found.values() for key, _ in results}


def scores(fused: list[Fused[str]]) -> dict[str, float]:
    return {one.key: one.score for one in fused}


@given(FOUND, st.floats(0.1, 10), st.floats(-5, 5))
def test_ranks_do_not_depend_on_the_scale_of_scores(found: Results, factor: float, more: float) -> None:
    other = {}
    for index, results in found.items():
        other[index] = [(key, factor * score + more) for key, score in results]
    assert reciprocal_ranks(other) == reciprocal_ranks(found)


@given(FOUND, LISTS)
def test_another_search_takes_from_nobodys_ranks(found: Results, results: list[tuple[str, float]]) -> None:
    before = scores(reciprocal_ranks(found))
    after = scores(reciprocal_ranks({**found, 99: results}))
    added = dict(results)
    for key, score in before.items():
        assert after[key] >= score
        assert (after[key] > score) == (key in added)
    assert set(after) - set(before) == set(added) - set(before)


@given(FOUND)
def test_what_is_first_everywhere_is_first(found: Results) -> None:
    more = {index: [("first", 2.0), *results] for index, results in found.items()}
    for fuse in FUSIONS:
        best, *_ = fuse(more)
        assert best.key == "first"


@given(FOUND)
def test_union_and_intersection_hold_the_keys_they_say(found: Results) -> None:
    everything = keys_of(found)
    assert set(scores(best_scores(found))) == everything
    assert set(scores(reciprocal_ranks(found))) == everything
    in_all = set.intersection(*(set(dict(results)) for results in found.values()))
    assert set(scores(weakest_scores(found))) == in_all


@given(FOUND, LISTS)
def test_another_search_raises_the_best_and_lowers_the_weakest(
    found: Results, results: list[tuple[str, float]]
) -> None:
    more = {**found, 99: results}
    best, best_of_more = scores(best_scores(found)), scores(best_scores(more))
    for key, score in best.items():
        assert best_of_more[key] >= score
    weakest, weakest_of_more = scores(weakest_scores(found)), scores(weakest_scores(more))
    for key, score in weakest_of_more.items():
        assert score <= weakest[key]
