"""Holds the code to its style by reading it: unique names, lines of 110 characters, nothing nested twice."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MOST_COLUMNS = 110
# httpx 0.28 has 10.05, llm 0.36 has 9.54.
MAY_SHARE_A_NAME = {"__init__", "errors", "records"}
PYTHON = (
    "app.py",
    "chatbot/**/*.py",
    "finpolicy/**/*.py",
    "ingestion/**/*.py",
    "benchmarks/*.py",
    "documents/*.py",
    "tests/**/*.py",
)
TEXTS = (*PYTHON, "chatbot/ui/**/*.css", "chatbot/ui/**/*.js", ".ci/*", "Makefile", "pyproject.toml")
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def files(patterns: tuple[str, ...]) -> list[Path]:
    return sorted(path for pattern in patterns for path in ROOT.glob(pattern) if path.is_file())


def product() -> list[Path]:
    return files(PYTHON[:4])


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def shared(places: dict[str, list[str]]) -> dict[str, list[str]]:
    return {word: found for word, found in places.items() if len(found) > 1}


def test_no_two_modules_share_a_name() -> None:
    places = defaultdict[str, list[str]](list)
    for path in product():
        if path.stem not in MAY_SHARE_A_NAME:
            places[path.stem].append(name(path))
    assert not shared(places)


def test_no_two_classes_share_a_name() -> None:
    places = defaultdict[str, list[str]](list)
    for path in product():
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(name(path))
    assert not shared(places)


def test_no_line_is_longer_than_110_characters() -> None:
    wrong = []
    for path in files(TEXTS):
        lines = path.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines, 1):
            if len(line) > MOST_COLUMNS:
                wrong.append(f"{name(path)}:{number}: {len(line)}")
    assert not wrong, "\n".join(wrong)


def nested(path: Path, kinds: type[ast.AST] | tuple[type[ast.AST], ...]) -> Iterator[str]:
    """Where one of these stands inside another."""
    for node in ast.walk(tree(path)):
        if not isinstance(node, kinds):
            continue
        inner = [part for part in ast.walk(node) if part is not node and isinstance(part, kinds)]
        if inner:
            yield f"{name(path)}:{node.lineno}"  # type: ignore[attr-defined]


@pytest.mark.parametrize("kinds", [ast.IfExp, COMPREHENSIONS], ids=["conditional", "comprehension"])
def test_none_stands_inside_another(kinds: type[ast.AST] | tuple[type[ast.AST], ...]) -> None:
    wrong = list[str]()
    for path in files(PYTHON):
        wrong += nested(path, kinds)
    assert not wrong
