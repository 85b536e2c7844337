"""Rules are switched off wherever their names were imported, are back afterwards, and tell when they say
anything.
"""

import importlib
import re
from collections import Counter

from benchmarks.ablation import Heard, Rule, Worth, row, rules_of, switched
from chatbot.search.follow_up import cues

# Where the rules were imported.
refusal, rewrite = map(importlib.import_module, ("chatbot.search.refusal", "chatbot.search.follow_up.rules"))
TEXT = "Our Chief Executive Officer"


def rule(room: str, name: str) -> Rule:
    return next(one for one in rules_of([room]) if one.name.endswith(name))


def test_a_function_gives_nothing_while_it_is_switched_off_also_where_it_was_imported() -> None:
    with switched(
        [rule("chatbot.search.abbreviations", ".other_spellings = empty")], lambda one: one.off(one.original)
    ):
        assert refusal.other_spellings(["CEO"], TEXT) == frozenset()
    assert refusal.other_spellings(["CEO"], TEXT) == {"ceo"}


def test_a_predicate_can_be_switched_either_way_and_a_pattern_never_matches() -> None:
    for name, said in (("False", False), ("True", True)):
        with switched(
            [rule("chatbot.search.follow_up.cues", f".is_courtesy = {name}")],
            lambda one: one.off(one.original),
        ):
            assert rewrite.is_courtesy("thanks") is rewrite.is_courtesy("Why?") is said
    with switched([rule("chatbot.search.follow_up.cues", "._MONTH")], lambda one: one.off(one.original)):
        assert cues.months_in("in June") == []
    assert cues.months_in("in June") != []


def test_rules_tell_when_they_say_anything() -> None:
    rules = [
        rule("chatbot.search.follow_up.cues", name)
        for name in (".is_courtesy = False", ".is_courtesy = True", "._MONTH")
    ]
    heard = Heard(rules)
    with switched([rules[0], rules[2]], heard.listening):
        assert rewrite.is_courtesy("thanks") and cues.months_in("in 2024") == []
        assert {name.rpartition(".")[2] for name in heard.now} == {"is_courtesy = False"}
        cues.months_in("in June")
    assert {name.rpartition(".")[2] for name in heard.now} == {"is_courtesy = False", "_MONTH"}


def test_a_line_tells_by_document_what_was_gained_and_lost() -> None:
    worth = Worth(5, ["a", "b", "c"], Counter({"A.pdf": 2, "B.pdf": 0}), Counter({"B.pdf": 1}))
    assert row("rule", worth) == ["rule", 5, 3, 2, 1, 0, 0, "A +2 −0; B +0 −1"]
    assert re.match(
        r"chatbot\.search\.follow_up\.cues\.", rule("chatbot.search.follow_up.cues", "._MONTH").name
    )
