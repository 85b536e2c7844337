"""Rules are switched off wherever their names were imported, are back afterwards, and tell when they say
anything.
"""

import importlib
from collections import Counter
from contextlib import AbstractContextManager

import numpy as np

from benchmarks.ablation import Heard, Rule, Worth, row, rules_of, switched
from chatbot.search.follow_up import cues

# Where the rules were imported.
refusal, rewrite = map(importlib.import_module, ("chatbot.search.refusal", "chatbot.search.follow_up.rules"))
TEXT = "Our Chief Executive Officer"


def rule(room: str, name: str) -> Rule:
    return next(one for one in rules_of([room]) if one.name.endswith(name))


CUES = "chatbot.search.follow_up.cues"


def off(room: str, name: str) -> AbstractContextManager[None]:
    """The rule of that name is switched off."""
    return switched([rule(room, name)], lambda one: one.off(one.original))


def test_a_function_gives_nothing_while_it_is_switched_off_also_where_it_was_imported() -> None:
    with off("chatbot.search.abbreviations", ".other_spellings = empty"):
        assert refusal.other_spellings(["CEO"], TEXT) == frozenset()
    assert refusal.other_spellings(["CEO"], TEXT) == {"ceo"}


def test_a_predicate_can_be_switched_either_way_and_a_pattern_never_matches() -> None:
    for said in (False, True):
        with off(CUES, f".is_courtesy = {said}"):
            assert rewrite.is_courtesy("thanks") is said
            assert rewrite.is_courtesy("Why?") is said
    with off(CUES, "._MONTH"):
        assert cues.months_in("in June") == []
    assert cues.months_in("in June") != []


def test_rules_tell_when_they_say_anything() -> None:
    never, always, month = (
        rule(CUES, name) for name in (".is_courtesy = False", ".is_courtesy = True", "._MONTH")
    )
    heard = Heard([never, always, month])
    with switched([never, month], heard.listening):
        assert rewrite.is_courtesy("thanks")
        assert cues.months_in("in 2024") == []
        assert set(heard.now) == {never.name}
        cues.months_in("in June")
    assert set(heard.now) == {never.name, month.name}


def test_arrays_are_compared_element_by_element() -> None:
    pages = rule("chatbot.search.retrieval", "._on_the_same_pages = its input")
    ordinals = np.array([1, 2])
    assert not pages.said(np.array([1, 2]), ordinals)
    assert pages.said(np.array([1, 3]), ordinals)


def test_a_line_tells_by_document_what_was_gained_and_lost() -> None:
    gained, lost = Counter({"A.pdf": 2, "B.pdf": 0}), Counter({"B.pdf": 1})
    worth = Worth(5, ["a", "b", "c"], gained, lost)
    assert row("rule", worth) == ["rule", 5, 3, 2, 1, 0, 0, "A +2 −0; B +0 −1"]
    assert rule(CUES, "._MONTH").name.startswith(f"{CUES}.")
