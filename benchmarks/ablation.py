"""Measures what each rule is worth: asks the questions of some sets again with one rule switched off.

It prints which answers are gained and lost.

    python benchmarks/ablation.py --questions FILE [FILE ...] --documents FOLDER [FOLDER ...]
                                  [--store FOLDER] [--rooms ROOM ...] [--rules REGEX] [--family REGEX ...]
                                  [--most N] [--list]

A rule is a function or pattern of a room whose result can be switched off: a predicate returns False (or
True), an optional value None, a list is empty, a sort returns its input unchanged, a pattern never matches.
Each rule is patched wherever its name was imported; one that is kept in a tuple or as a default is not
reached. Only those questions are asked again for which the rule's result would differ. A family is all the
rules that a pattern finds.

Right: a right value and a gold page, as in benchmarks/answers.py. Gains and losses are listed by document, so
that each document can be left out.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import importlib
import inspect
import pkgutil
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.answers import Asked
from benchmarks.asking import answer_to, opened
from benchmarks.questions import STORE, Question, load_questions
from benchmarks.tables import markdown_table
from chatbot.service import Chatbot

ROOMS = (
    "chatbot.answer.extractive",
    "chatbot.answer.stated_change",
    "chatbot.answer.tables",
    "chatbot.question_reading",
    "chatbot.search",
    "chatbot.asking",
    "chatbot.evidence",
)
# What a result is when nothing is found, by how its annotation begins.
EMPTY: Mapping[str, Callable[[], Any]] = {
    "list": list,
    "Sequence": tuple,
    "tuple": tuple,
    "frozenset": frozenset,
    "set": set,
    "dict": dict,
    "Mapping": dict,
    "Iterator": lambda: iter(()),
    "Iterable": tuple,
    "float": float,
    "str": str,
}
# The key of a citation holds a number that differs from run to run.
RUN = re.compile(r"\b(S\d+)-[0-9a-f]+")
PATTERN_METHODS = ("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split")


@dataclass(frozen=True, slots=True)
class Rule:
    """Something that can be switched off. owner: the module or class that it stands in; off: makes what
    stands in its place; said: whether a result is another than that, given its first argument."""

    name: str
    owner: Any
    attribute: str
    off: Callable[[Any], Any]
    said: Callable[[Any, Any], bool]

    @property
    def original(self) -> Any:
        """What is there."""
        return inspect.getattr_static(self.owner, self.attribute)


@dataclass(slots=True)
class Worth:
    """What a rule did. asked: questions for which it said anything; gained, lost: right ones by document,
    with the rule in place.
    """

    asked: int = 0
    changed: list[str] = field(default_factory=list)
    gained: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)
    pages: int = 0
    refused: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a question. place: of the gold page among those considered, 0 where it is not there."""

    text: str
    right: bool
    place: int
    answered: bool


@dataclass(frozen=True, slots=True)
class Bench:
    """The open sets. questions: with the chatbot that holds their documents."""

    questions: Sequence[tuple[Chatbot, Question]]

    def ask(self, at: int) -> Outcome:
        """What comes of one question. Raises what the chatbot raises."""
        chatbot, question = self.questions[at]
        asked = Asked(question, question.names, answer_to(chatbot, question, question.names))
        pages = [(hit.document, hit.page) for hit in asked.answer.considered]
        place = next((number for number, page in enumerate(pages, 1) if page in asked.gold), 0)
        return Outcome(
            RUN.sub(r"\1", asked.answer.text),
            asked.has_value and asked.cites_gold,
            place,
            asked.answer.answered,
        )

    def ask_in_doubt(self, at: int) -> Outcome:
        """The same; a rule without which there is no answer may break what calls it."""
        try:
            return self.ask(at)
        except (
            AssertionError,
            ArithmeticError,
            LookupError,
            TypeError,
            ValueError,
            AttributeError,
            re.error,
        ) as error:
            return Outcome(type(error).__name__, False, 0, False)


def rules_of(rooms: Sequence[str]) -> list[Rule]:
    """All rules of these packages, by name."""
    found: list[Rule] = []
    for module in modules_of(rooms):
        for name, value in vars(module).items():
            if name.startswith("__") or not (
                isinstance(value, re.Pattern) or getattr(value, "__module__", "") == module.__name__
            ):
                continue
            if isinstance(value, type):
                found += [
                    rule
                    for attribute in vars(value)
                    for rule in _rules(value, attribute, f"{module.__name__}.{name}.{attribute}")
                ]
            else:
                found += _rules(module, name, f"{module.__name__}.{name}")
    return found


def modules_of(rooms: Sequence[str]) -> Iterator[ModuleType]:
    """The modules of these packages, imported."""
    for room in rooms:
        package = importlib.import_module(room)
        yield package
        for info in pkgutil.walk_packages(getattr(package, "__path__", ()), f"{room}."):
            yield importlib.import_module(info.name)


def _rules(owner: Any, attribute: str, name: str) -> list[Rule]:
    """The ways to switch one thing off; none for what is no rule."""
    value = inspect.getattr_static(owner, attribute)
    if isinstance(value, re.Pattern):
        return (
            [Rule(name, owner, attribute, _never, lambda said, _: bool(said))] if attribute.isupper() else []
        )
    function = getattr(value, "__wrapped__", value)
    if not inspect.isfunction(function) or attribute.startswith("__"):
        return []
    returns = str(function.__annotations__.get("return", ""))
    if returns == "bool":
        never = Rule(
            f"{name} = False",
            owner,
            attribute,
            lambda _: _always(lambda: False),
            lambda said, _: said is True,
        )
        always = Rule(
            f"{name} = True", owner, attribute, lambda _: _always(lambda: True), lambda said, _: said is False
        )
        return [never, always]
    if returns.endswith("| None"):
        return [
            Rule(
                f"{name} = None",
                owner,
                attribute,
                lambda _: _always(lambda: None),
                lambda said, _: said is not None,
            )
        ]
    parameters = [
        parameter for parameter in inspect.signature(function).parameters.values() if parameter.name != "self"
    ]
    if (
        parameters
        and not re.search("Floats|NDArray", returns)
        and str(parameters[0].annotation) == returns
        and '""' not in (function.__doc__ or "")
    ):
        method = "self" in inspect.signature(function).parameters
        return [
            Rule(
                f"{name} = its input",
                owner,
                attribute,
                lambda _: lambda *given, **__: given[method],
                lambda said, given: not _is_same(said, given),
            )
        ]
    empty = EMPTY.get(re.split(r"\W", returns)[0])
    return (
        [Rule(f"{name} = empty", owner, attribute, lambda _: _always(empty), lambda said, _: _is_any(said))]
        if empty
        else []
    )


def _is_same(said: Any, given: Any) -> bool:
    """Whether two results are the same; arrays are, element by element."""
    if isinstance(said, np.ndarray) or isinstance(given, np.ndarray):
        return np.array_equal(said, given)
    return bool(said == given)


def _is_any(said: Any) -> bool:
    """Whether a result is not empty; an array is not if any element is not zero."""
    return bool(np.any(said)) if isinstance(said, np.ndarray) else bool(said)


def _never(pattern: re.Pattern[str]) -> re.Pattern[str]:
    """A pattern of the same groups that matches nothing."""
    # Flags at its beginning are among the pattern's own.
    bare = re.sub(r"\A\(\?[aimsux]+\)", "", pattern.pattern)
    return re.compile(f"(?!)(?:{bare})", pattern.flags)


def _always(make: Callable[[], Any]) -> Callable[..., Any]:
    return lambda *_, **__: make()


@contextlib.contextmanager
def switched(rules: Iterable[Rule], other: Callable[[Rule], Any]) -> Iterator[None]:
    """These rules replaced, wherever their modules' names are known; as they were afterwards."""
    known = [module for name, module in sys.modules.items() if name.split(".")[0] in ("chatbot", "ingestion")]
    before: list[tuple[Any, str, Any]] = []
    try:
        for rule in rules:
            original, replacement = rule.original, other(rule)
            places = [
                (module, name)
                for module in known
                for name, value in vars(module).items()
                if value is original
            ]
            for owner, name in places or [(rule.owner, rule.attribute)]:
                before.append((owner, name, original))
                setattr(owner, name, replacement)
        yield
    finally:
        for owner, name, original in reversed(before):
            setattr(owner, name, original)


class Heard:
    """Tells which rules say anything, question by question."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.now: set[str] = set()
        self._rules: dict[int, list[Rule]] = {}
        for rule in rules:
            self._rules.setdefault(id(rule.original), []).append(rule)

    def listening(self, rule: Rule) -> Any:
        """The rule's function or pattern, listened to."""
        original, rules = rule.original, self._rules[id(rule.original)]
        return (
            _ListenedPattern(original, rules, self)
            if isinstance(original, re.Pattern)
            else self._listened(original, rules)
        )

    def _listened(self, original: Any, rules: Sequence[Rule]) -> Any:
        function = getattr(original, "__wrapped__", original)
        method = "self" in inspect.signature(function).parameters

        @functools.wraps(function)
        def listened(*given: Any, **named: Any) -> Any:
            result = function(*given, **named)
            if inspect.isgenerator(result) or isinstance(result, Iterator):
                kept = list(result)
                self.note(rules, kept, None)
                return iter(kept)
            self.note(rules, result, given[method] if len(given) > method else None)
            return result

        return listened

    def note(self, rules: Sequence[Rule], said: Any, given: Any) -> None:
        """Keep the names of those that say anything by this."""
        self.now.update(rule.name for rule in rules if rule.name not in self.now and rule.said(said, given))


class _ListenedPattern:
    """A compiled pattern that tells when it matches."""

    def __init__(self, pattern: re.Pattern[str], rules: Sequence[Rule], heard: Heard) -> None:
        self._pattern, self._rules, self._heard = pattern, rules, heard

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._pattern, name)
        return functools.partial(self._called, found) if name in PATTERN_METHODS else found

    def _called(self, method: Callable[..., Any], *given: Any, **named: Any) -> Any:
        result = method(*given, **named)
        text = given[1] if method.__name__ in ("sub", "subn") else given[0]
        at = () if method.__name__ in ("sub", "subn", "split") else given[1:]
        if method.__name__ in ("match", "fullmatch", "search"):
            self._heard.note(self._rules, result is not None, None)
        else:
            self._heard.note(self._rules, self._pattern.search(text, *at) is not None, None)
        return result


def forget(rooms: Sequence[str]) -> None:
    """Drop what the rooms keep of earlier questions, which a rule may have had a part in."""
    for module in modules_of(rooms):
        for value in vars(module).values():
            if isinstance(value, functools._lru_cache_wrapper):
                value.cache_clear()


def heard_by(bench: Bench, rules: Sequence[Rule]) -> tuple[list[Outcome], dict[str, list[int]]]:
    """What comes of every question, and rule -> the questions for which it said anything."""
    heard, outcomes, said = Heard(rules), list[Outcome](), dict[str, list[int]]()
    apart = {id(rule.original): rule for rule in rules}
    with switched(apart.values(), heard.listening):
        for at in range(len(bench.questions)):
            forget(("chatbot.answer", *ROOMS))
            heard.now.clear()
            outcomes.append(bench.ask(at))
            for name in heard.now:
                said.setdefault(name, []).append(at)
    return outcomes, said


def worth_of(bench: Bench, rules: Sequence[Rule], before: Sequence[Outcome], asked: Sequence[int]) -> Worth:
    """What these rules together are worth over those questions."""
    worth = Worth(len(asked))
    forget(("chatbot.answer", *ROOMS))
    with switched(rules, lambda rule: rule.off(rule.original)):
        for at in asked:
            question, then, now = bench.questions[at][1], before[at], bench.ask_in_doubt(at)
            worth.pages += (then.place == 1) - (now.place == 1) if question.pages else 0
            worth.refused += 0 if question.answerable else (not then.answered) - (not now.answered)
            if then != now:
                worth.changed.append(question.id)
                worth.gained[question.document] += then.right and not now.right
                worth.lost[question.document] += now.right and not then.right
    forget(("chatbot.answer", *ROOMS))
    return worth


def row(name: str, worth: Worth) -> list[object]:
    """A line of the table."""
    by_document = [
        f"{document.removesuffix('.pdf')} {worth.gained[document]:+d} −{worth.lost[document]}"
        for document in sorted(worth.gained.keys() | worth.lost.keys())
        if worth.gained[document] or worth.lost[document]
    ]
    right, wrong = sum(worth.gained.values()), sum(worth.lost.values())
    return [
        name,
        worth.asked,
        len(worth.changed),
        right,
        wrong,
        worth.pages,
        worth.refused,
        "; ".join(by_document),
    ]


HEADS = (
    "rule",
    "said anything",
    "answers changed",
    "right by it",
    "wrong by it",
    "first page",
    "absent refused",
    "by document",
)


def main() -> None:
    """Measure and print, a line a rule as it comes."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--questions", type=Path, nargs="+", required=True, help="files of questions")
    options.add_argument(
        "--documents",
        type=Path,
        nargs="+",
        required=True,
        help="the folder of the PDFs of each, in the same order",
    )
    options.add_argument(
        "--store",
        type=Path,
        default=STORE,
        help="where the indexes are kept between runs (default %(default)s)",
    )
    options.add_argument(
        "--rooms",
        nargs="+",
        default=ROOMS,
        help="packages whose rules are measured (default: those that answer)",
    )
    options.add_argument(
        "--rules", type=re.compile, default=re.compile(""), help="only rules whose names this pattern finds"
    )
    options.add_argument(
        "--family",
        nargs="*",
        default=[],
        help="measure all rules that a pattern finds together, in place of each",
    )
    options.add_argument(
        "--most", type=int, default=10_000, help="only rules that said anything for so many questions at most"
    )
    options.add_argument(
        "--list", action="store_true", help="tell only for how many questions each rule said anything"
    )
    given = options.parse_args()
    with contextlib.ExitStack() as stack:
        sets = [
            load_questions(path, folder)
            for path, folder in zip(given.questions, given.documents, strict=True)
        ]
        open_sets = [(stack.enter_context(opened(one, given.store)), one) for one in sets]
        bench = Bench(
            [
                (chatbot, question)
                for chatbot, one in open_sets
                for question in one.questions
                if question.kind != "chat"
            ]
        )
        rules = [rule for rule in rules_of(given.rooms) if given.rules.search(rule.name)]
        before, said = heard_by(bench, rules)
        print(
            (
                f"{sum(one.right for one in before)} right of {len(before)}; {len(rules)} rules, "
                f"{len(said)} of which said anything\n"
            ),
            flush=True,
        )
        families = _families(rules, given.family)
        asked = {}
        for name, family in families.items():
            asked[name] = sorted({at for rule in family for at in said.get(rule.name, ())})
        print(markdown_table(HEADS, []), flush=True)
        for name in sorted(families, key=lambda one: len(asked[one])):
            measured = not given.list and 0 < len(asked[name]) <= given.most
            worth = (
                worth_of(bench, families[name], before, asked[name]) if measured else Worth(len(asked[name]))
            )
            print(markdown_table([str(cell) for cell in row(name, worth)], []).split("\n")[0], flush=True)


def _families(rules: Sequence[Rule], patterns: Sequence[str]) -> Mapping[str, list[Rule]]:
    """The rules whose names match each pattern; without patterns each rule by itself."""
    if not patterns:
        return {rule.name: [rule] for rule in rules}
    families = {}
    for pattern in patterns:
        families[pattern] = [rule for rule in rules if re.search(pattern, rule.name)]
    return families


if __name__ == "__main__":
    main()
