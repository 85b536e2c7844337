"""Cuts a chat model's answer into the statements that are checked one by one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from chatbot.answer.citations.citation_keys import ANY_KEY, KEYS_IN_BRACKETS
from chatbot.evidence.word_runs import comparable_words, distinctive_words
from ingestion.language.list_items import SAFE_ITEM
from ingestion.language.numbers import find_figures
from ingestion.language.sentences import sentence_spans

__all__ = ["AnswerStatement", "statements_of"]

# Statements of one answer; what lies behind them is not checked, and that is said.
MOST_STATEMENTS = 200
# Fewer telling words, and no figure, state nothing: "Yes.", "In short".
FEWEST_TELLING = 2
# Nor do fewer letters of a script without blanks: "是的。".
FEWEST_UNSPACED = 4
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]")
_HEADING = re.compile(r"\s*(?:#{1,6}\s|(?:\*\*|__)[^*_]+(?:\*\*|__):?\s*$)")
_TABLE_RULE = re.compile(r"\s*\|?[\s:|-]*-[\s:|-]*\|?\s*")
_ROW = re.compile(r"\s*\|")
_REST_OF_TABLE = re.compile(r"(?<=\|)\n(?:[ \t]*\|[^\n]*\n?)*|(?<=\|\n)(?:[ \t]*\|[^\n]*\n?)*")
_LETTER = re.compile(r"[^\W_]")
_BLANKS_BEFORE = re.compile(r"[ \t]+(?=[.,;:!?])")


@dataclass(frozen=True, slots=True)
class AnswerStatement:
    """A sentence, list item or table row of an answer that states something.

    start, end: its offsets in the answer, its keys included.
    text: the same without keys, on one line; a table row behind its table's heads.
    keys: whole keys that are cited for it: its own, else those at the end of its table, list or paragraph.
    """

    start: int
    end: int
    text: str
    keys: tuple[str, ...]


def _blanked(text: str) -> str:
    """The text with blanks for its keys, of equal length."""
    return KEYS_IN_BRACKETS.sub(lambda keys: " " * len(keys[0]), text)


def statements_of(text: str, known: Mapping[str, object]) -> list[AnswerStatement]:
    """The statements of an answer, in order. known: by whole keys."""
    found = list[AnswerStatement]()
    heads = ""
    plain = _blanked(text)
    spans = list(_spans(text))
    for number, (start, end) in enumerate(spans):
        line = _BLANKS_BEFORE.sub("", plain[start:end].strip())
        if not _ROW.match(plain, start):
            heads = ""
        elif number + 1 < len(spans) and _TABLE_RULE.fullmatch(plain, *spans[number + 1]):
            heads = line
            continue
        if not _states(line):
            continue
        own = tuple(key for key in ANY_KEY.findall(text[start:end]) if key in known)
        keys = tuple(dict.fromkeys(own)) or _keys_behind(text, end, known)
        said = " ".join(filter(None, (heads, line)))
        found.append(AnswerStatement(start, end, " ".join(said.split()), keys))
    return found[:MOST_STATEMENTS]


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """The offsets of sentences, each with the keys that stand alone behind it; a table row is one."""
    joined = list[tuple[int, int]]()
    at = 0
    for line in text.splitlines(keepends=True):
        row = _ROW.match(line)
        for start, end in [(0, len(line))] if row else sentence_spans(line, longest=len(line)):
            span = at + start, at + end
            written = text[slice(*span)]
            said = KEYS_IN_BRACKETS.sub("", written)
            if row or _LETTER.search(said):
                joined.append(span)
            elif joined and said != written:
                joined[-1] = joined[-1][0], span[1]
        at += len(line)
    for start, end in joined:
        said = text[start:end]
        yield start + len(said) - len(said.lstrip()), start + len(said.rstrip())


def _keys_behind(text: str, end: int, known: Mapping[str, object]) -> tuple[str, ...]:
    """The first keys that stand behind a position in its paragraph or list, or right below its table."""
    table = _REST_OF_TABLE.match(text, end)
    behind = text[table.end() :].lstrip() if table else text[end:].partition("\n\n")[0]
    found = KEYS_IN_BRACKETS.match(behind) if table else KEYS_IN_BRACKETS.search(behind)
    return tuple(key for key in ANY_KEY.findall(found[0]) if key in known) if found else ()


def _states(line: str) -> bool:
    """Whether a line states anything: it is no heading, question or lead-in, and has a figure or some telling
    words."""
    said = SAFE_ITEM.sub("", line, count=1).strip(" \n\t*_\"'”»)|")
    if not said or said.endswith("?") or _HEADING.match(line) or _TABLE_RULE.fullmatch(line):
        return False
    if find_figures(said):
        return True
    if said.endswith(":"):
        return False
    telling = distinctive_words(comparable_words(said))
    return telling >= FEWEST_TELLING or len(_UNSPACED.findall(said)) >= FEWEST_UNSPACED
