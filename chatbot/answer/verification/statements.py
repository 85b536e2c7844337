"""Cuts a chat model's answer into the statements that are checked one by one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from chatbot.answer.citations.citation_keys import ANY_KEY, KEYS_IN_BRACKETS
from chatbot.answer.prompt import NOT_THERE
from chatbot.evidence.word_runs import comparable_words, distinctive_words
from ingestion.language.list_items import without_item
from ingestion.language.numbers import find_figures
from ingestion.language.sentences import sentence_spans

__all__ = ["MOST_STATEMENTS", "AnswerStatement", "statements_of"]

# Statements of one answer that are checked; those behind them are not, and that is said.
MOST_STATEMENTS = 200
# Telling words of a row, of a heading, and of a lead-in that cites a source; fewer state nothing.
FEWEST_OF_ROW, FEWEST_OF_HEADING, FEWEST_OF_LEAD_IN = 2, 3, 4
# Letters that make a word in a script without blanks.
UNSPACED_OF_A_WORD = 2
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]")
_HEADING = re.compile(r"\s*(?:#{1,6}\s|(?:\*\*|__)[^*_]+(?:\*\*|__):?\s*$)")
_ROW = re.compile(r"\s*\|")
_REST_OF_TABLE = re.compile(r"(?<=\|)\n(?:[ \t]*\|[^\n]*\n?)*|(?<=\|\n)(?:[ \t]*\|[^\n]*\n?)*")
_LETTER = re.compile(r"[^\W_]")
_BLANK_BEFORE = re.compile(r" (?=[.,;:!?])")


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
        line = _BLANK_BEFORE.sub("", " ".join(plain[start:end].split()))
        is_row = _ROW.match(plain, start)
        if not is_row or (number and text.count("\n", spans[number - 1][1], start) > 1):
            heads = ""
        if is_row and not heads and _is_headed(plain, spans[number + 1 : number + 3]):
            heads = line
            continue
        if not _states(line, has_key=plain[start:end] != text[start:end], is_row=bool(is_row)):
            continue
        own = tuple(key for key in ANY_KEY.findall(text[start:end]) if key in known)
        keys = tuple(dict.fromkeys(own)) or _keys_behind(text, end, known)
        found.append(AnswerStatement(start, end, " ".join(filter(None, (heads, line))), keys))
    return found


def _is_headed(text: str, below: Sequence[tuple[int, int]]) -> bool:
    """Whether below a row there are a rule and another row."""
    return len(below) > 1 and _is_rule(text[slice(*below[0])]) and bool(_ROW.match(text, below[1][0]))


def _is_rule(line: str) -> bool:
    return "-" in line and not "".join(line.split()).strip("|:-")


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


def _states(line: str, *, has_key: bool, is_row: bool) -> bool:
    """Whether a line states anything: all do that have a figure or cite a source, and most others.

    Questions do not unless they cite a source, nor, without a figure, lead-ins; nor do rows, headings and
    lead-ins of few telling words, and sentences of one word: "Yes."
    """
    item = without_item(line)
    said = item.strip(" *_\"'”»)|#")
    if not _LETTER.search(said) or said.strip(".:").upper() == NOT_THERE:
        return False
    if said.endswith("?"):
        return has_key
    if find_figures(said):
        return True
    words = comparable_words(said)
    telling = max(distinctive_words(words), len(_UNSPACED.findall(said)) // UNSPACED_OF_A_WORD)
    if said.endswith(":"):
        return has_key and telling >= FEWEST_OF_LEAD_IN
    if is_row:
        return telling >= FEWEST_OF_ROW
    if _HEADING.match(item):
        return has_key or telling >= (FEWEST_OF_ROW if item != line else FEWEST_OF_HEADING)
    return has_key or len(words.texts) > 1 or telling > 1
