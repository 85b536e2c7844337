"""Reads every text that a user can see, by its place in the code, and rejects words no native would write."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from ingestion.language.sentences import sentence_spans
from tests.test_style import name, product, tree

MOST_WORDS = 14
# A file of format 4 is verified by drawing it again, so its page keeps its words.
KEPT = {"chatbot/audit/html_page.py"}
# Texts for models and wordings that are compared, not shown.
NOT_SHOWN = {"prompt.py", "request.py", "analysis.py", "llm.py", "reranking.py", "summary.py"}
FORBIDDEN = re.compile(
    r"""\b(?:
        stands?[ ](?:on|in|here|there|at|beside|among)
        | will[ ]stand | lean(?:s|ed)?[ ]on
        | (?:leave|leaves|left)[ ](?:them[ ]|it[ ]|one[ ])?(?:all[ ])?out | beside[ ]the[ ]point
        | made[ ]anew | anew | at[ ]fault | for[ ]want[ ]of | surer | so[ ]sure
        | (?:page|document|conversation|advice|case|news|key|answer|reply|word|line|file|url)s?[ ]holds?
        | (?:it|that|this|reply|scope|assets)[ ](?:is|are)[ ]no[ ](?!longer)
        | not[ ]kept[ ]any[ ]more | going[ ]on[ ]with | goes[ ]on[ ](?:at|with|as)
        | you[ ]may[ ](?:read|write) | somebody[ ]here | everybody[ ]here | words[ ]alone
        | meanwhile | mended? | the[ ]like[ ]of | in[ ]its[ ]stead
    )\b | \[Errno""",
    re.IGNORECASE | re.VERBOSE,
)
# Calls whose texts no user sees: patterns, statements to a database.
HIDDEN_CALLS = {"compile", "execute", "executemany", "executescript", "search", "sub", "match", "split"}
NOT_PROSE = re.compile(
    r"\(\?|\\[bsdwW]|\b(?:select|insert|update|delete|create|pragma|from|where)\b.*\b\w+\b.*[=(]|</?\w+"
)


def written(node: ast.AST) -> str | None:
    """The text of a literal, with "…" for each value in it; None for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(written(part) or "…" for part in node.values)
    return None


def called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def texts(node: ast.AST) -> Iterator[tuple[int, str]]:
    """The line and text of every literal below this node, without docstrings and hidden texts."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
            continue
        if isinstance(child, ast.Call) and called(child) in HIDDEN_CALLS:
            continue
        text = written(child)
        if text is None:
            yield from texts(child)
        elif " " in text.strip() and not NOT_PROSE.search(text):
            yield child.lineno, " ".join(text.split())  # type: ignore[attr-defined]


def visible_texts() -> Iterator[tuple[Path, int, str]]:
    for path in product():
        if name(path) not in KEPT and path.name not in NOT_SHOWN:
            for line, text in texts(tree(path)):
                yield path, line, text


def sentences(text: str) -> Iterator[str]:
    if text[0].isupper() and text[-1] in ".!?":
        for start, end in sentence_spans(text):
            yield text[start:end]


def test_no_text_has_words_that_read_as_translated() -> None:
    found = [
        f"{name(path)}:{line}: {text[:100]}" for path, line, text in visible_texts() if FORBIDDEN.search(text)
    ]
    assert not found, "\n".join(found)


def test_sentences_are_short() -> None:
    counts = [len(one.split()) for _, _, text in visible_texts() for one in sentences(text)]
    assert len(counts) > 500  # the texts are found
    assert median(counts) <= MOST_WORDS
