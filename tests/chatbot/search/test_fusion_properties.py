"""What holds of the order of any results that are fused: it rests on ranks or scores, and on nothing else."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from chatbot.search.fusion import Fused, best_scores, reciprocal_ranks, weakest_scores

Results = dict[int | None, list[tuple[str, float]]]
# Each key once in each list, no two with one score.
LISTS = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=6).map(
    lambda keys: [(key, 1.0 - at / 10) for at, key in enumerate(keys)]
)
FOUND = st.lists(LISTS, min_size=1, max_size=4).map(
    lambda lists: dict[int | None, list[tuple[str, float]]](enumerate(lists))
)


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
    before, after = scores(reciprocal_ranks(found)), scores(reciprocal_ranks({**found, 99: results}))
    assert all(after[key] >= score for key, score in before.items())
    assert set(after) - set(before) == {key for key, _ in results} - set(before)
    assert all((after[key] > before[key]) == (key in dict(results)) for key in before)


@given(FOUND)
def test_what_is_first_everywhere_is_first(found: Results) -> None:
    first = {index: [("first", 2.0), *results] for index, results in found.items()}
    fusions: list[Callable[[Results], list[Fused[str]]]] = [best_scores, weakest_scores, reciprocal_ranks]
    assert [fuse(first)[0].key for fuse in fusions] == ["first"] * 3


@given(FOUND)
def test_union_and_intersection_hold_the_keys_they_say(found: Results) -> None:
    assert set(scores(best_scores(found))) == set(scores(reciprocal_ranks(found))) == keys_of(found)
    in_all = set.intersection(*(set(dict(results)) for results in found.values()))
    assert set(scores(weakest_scores(found))) == in_all


@given(FOUND, LISTS)
def test_another_search_raises_the_best_and_lowers_the_weakest(
    found: Results, results: list[tuple[str, float]]
) -> None:
    more = {**found, 99: results}
    assert all(scores(best_scores(more))[key] >= score for key, score in scores(best_scores(found)).items())
    weakest = scores(weakest_scores(found))
    assert all(score <= weakest[key] for key, score in scores(weakest_scores(more)).items())
