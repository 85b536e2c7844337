"""Holds each room to a number of tokens, so that the product stays as small as three people can carry.

A budget may fall at any time. Raising one needs a line of reason beside it. Nothing counts as saved that
moved into strings, data files or generated code.
"""

from __future__ import annotations

import ast
import tokenize
from collections import Counter
from pathlib import Path

import pytest

from tests.test_architecture import house, module_of, name, room_of, tree

# Tokens of Python, without line ends, indents and comments.
BUDGETS = {
    # Citations of workbooks name the cells of their figures.
    # What only a page's picture can bear out has a mark.
    # What a row states is not said where the question may mean another.
    "answer": 59_900,
    # Scans are read in a language, also again.
    "api": 24_150,
    # The thread that reads key figures came here from a page.
    "app": 9_550,
    # Pages with charts come as pictures too, for models that see: here, and in lookups, audit files, models.
    # A summary goes through the parts of a document.
    "asking": 28_750,
    # A file says in which language a scan was read, so that it is verified in that.
    "audit": 12_500,
    "cli": 18_800,
    # Its differences are worked out by the calculator.
    "comparison": 9_250,
    "entry": 250,
    # Where quotations stand was looked for in two rooms above.
    # It tells which cells of a workbook a quotation meets.
    "evidence": 13_100,
    # What Python programs call; of it, one third are the fields of the API's replies as types.
    "finpolicy": 7_150,
    # Files of other kinds than PDF: PDFs are made of them, by LibreOffice or from text, with what they carry.
    # Scans are read in any of the languages that are installed.
    # Workbooks are read cell by cell: number formats, blocks of cells, and the drawing of their pages.
    # What web pages hide is left out.
    "ingestion": 107_800,
    "lookup": 3_300,
    "mcp_server": 5_250,
    # The context manager of the FinGPT Search Agent, by its own name, over the compression that was there.
    "memory": 63_300,
    "models": 25_050,
    "search": 37_250,
    "service": 4_350,
    # What a question asks is read here once, for search and answer; it was read in eleven modules of theirs.
    # The calculator came here from `answer`, so that comparisons and key figures can use it too.
    "single modules": 13_350,
    # Each version knows the languages of its scans.
    # PDFs that were made of files are kept beside them, and what files carry is added.
    # Copies without names of their own take those of an imported archive.
    "store": 72_350,
    "tools": 5_000,
    # The language of scans is chosen.
    "ui": 62_150,
}
WHOLE = 582_100
LONGEST_FUNCTION = 60
# They write one thing after another down: the steps of an answer, the parts of the service, a chart.
MAY_BE_LONGER = {
    "chatbot/service.py:__init__",
    "chatbot/ui/compare_chart.py:chart_spec",
}
# A budget that is this much too large has been earned: lower it.
SLACK = 0.03
NO_TOKENS = {
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.COMMENT,
    tokenize.ENDMARKER,
    tokenize.ENCODING,
}


def tokens(path: Path) -> int:
    with tokenize.open(path) as file:
        return sum(token.type not in NO_TOKENS for token in tokenize.generate_tokens(file.readline))


def budget_of(path: Path) -> str:
    """The line of the table that a file counts in: its room, or its package of the ground."""
    module = module_of(path)
    room = room_of(module)
    if room in BUDGETS:
        return room
    parts = module.split(".")
    if room == "__main__":
        return "entry"
    return parts[1] if len(parts) > 1 and parts[1] in BUDGETS else "single modules"


@pytest.fixture(scope="module")
def counted() -> Counter[str]:
    found = Counter[str]()
    for path in house():
        found[budget_of(path)] += tokens(path)
    return found


@pytest.mark.parametrize("room", sorted(BUDGETS))
def test_a_room_keeps_its_budget(counted: Counter[str], room: str) -> None:
    assert counted[room] <= BUDGETS[room], f"{room} has {counted[room]:,} tokens"


def test_every_room_has_a_budget(counted: Counter[str]) -> None:
    assert set(counted) == set(BUDGETS)
    assert sum(counted.values()) <= WHOLE


def test_budgets_follow_what_was_taken_away(counted: Counter[str]) -> None:
    loose = {
        room: counted[room] for room, most in BUDGETS.items() if counted[room] < (1 - SLACK) * most - 100
    }
    assert not loose, f"Lower these budgets: {loose}"


def lines_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The lines of a function behind its signature and docstring."""
    body = node.body[1:] if ast.get_docstring(node) else node.body
    return (node.end_lineno or 0) - body[0].lineno + 1 if body else 0


def test_no_function_is_longer_than_a_screen() -> None:
    long = {
        f"{name(path)}:{node.name}"
        for path in house()
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and lines_of(node) > LONGEST_FUNCTION
    }
    assert long == MAY_BE_LONGER
