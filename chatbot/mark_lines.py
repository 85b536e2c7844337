"""Says in lines of text what was found of an answer, alike at every door that returns text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from chatbot.records import DOUBTFUL, MARKS, Answer, Citation, Statement
from ingestion.invisible_characters import one_line
from ingestion.language.list_items import without_item

__all__ = [
    "SHOWN_KEYS",
    "UNREAD",
    "doubt_lines",
    "least_sure",
    "mark_lines",
    "proven_line",
    "said_plainly",
    "statement_spans",
    "unread_line",
    "why_doubted",
]

# The most characters shown of a statement or what differs, of a quotation, and of why nobody read.
LONGEST_SAID, LONGEST_QUOTE, LONGEST_REASON = 200, 300, 300
# Keys as answers show them: one or more in square brackets.
SHOWN_KEYS = re.compile(r"\[(S\d{1,4}(?:[,; ]{1,3}S\d{1,4}){0,20})\]")
_KEYS = re.compile(rf"\s?{SHOWN_KEYS.pattern}")
# What is said of a statement that nobody read.
UNREAD = "not compared with the pages"


def least_sure(citations: Iterable[Citation]) -> dict[str, Citation]:
    """The citation that is least sure of each key, in the order of the keys."""
    found: dict[str, Citation] = {}
    for citation in citations:
        before = found.setdefault(citation.key, citation)
        found[citation.key] = max(before, citation, key=lambda one: (one.doubted, not one.verified))
    return found


def mark_lines(answer: Answer) -> list[str]:
    """The lines of `doubt_lines`, `proven_line` and `unread_line` that say something."""
    return [*doubt_lines(answer), *filter(None, [proven_line(answer), unread_line(answer)])]


def doubt_lines(answer: Answer) -> list[str]:
    """A line for each statement of a chat model, or else figure, that is doubted."""
    if not answer.by_model:
        return [
            f"Figure {number.text}: {number.verdict}{f', {number.reason}' if number.reason else ''}"
            for number in answer.numbers
            if number.doubted
        ]
    return [
        f"{one.shown_mark}: “{_short(one.text).rstrip('.')}”. {_as_sentence(why_doubted(one))}"
        for one in answer.statements
        if one.mark in DOUBTFUL
    ]


def proven_line(answer: Answer) -> str:
    """How many statements of a chat model that were compared with the pages have each mark or none, and who
    read them; "" for none. With those of `unread_line` they are all statements."""
    counts = Counter(one.mark for one in answer.statements)
    told = [f"{counts[mark]} {said}" for mark, said in MARKS.items() if counts[mark]]
    unmarked = [one.verdict for one in answer.statements if not one.mark and one.verdict != "not_checked"]
    lacking = unmarked.count("about_sources")
    if unproven := len(unmarked) - lacking:
        told.append(f"{unproven} could not be proven")
    if lacking:
        told.append(f"{lacking} on what the documents lack")
    if not told or not answer.by_model:
        return ""
    reader = (
        f"; read by {one_line(answer.reading.model, LONGEST_SAID)}"
        if answer.reading and answer.reading.reply
        else ""
    )
    return f"Of {_counted(len(answer.statements))}: {', '.join(told)}{reader}."


def unread_line(answer: Answer) -> str:
    """How many statements nobody compared with the pages by what they mean, and why; "" for none."""
    if not answer.unread:
        return ""
    reason = one_line(answer.reading.reason, LONGEST_REASON) if answer.reading else ""
    return f"Nobody compared {_counted(answer.unread)} with the pages.{f' {reason}' if reason else ''}"


def _counted(count: int) -> str:
    return f"{count} statement{'' if count == 1 else 's'}"


def why_doubted(statement: Statement) -> str:
    """What differs, and the page's own words where they say otherwise, without the last full stop."""
    quoted = ""
    if statement.mark == "contradicted" and statement.quotes:
        first = statement.quotes[0]
        quoted = f". Page {first.page} has “{one_line(first.text, LONGEST_QUOTE)}”"
    return f"{one_line(statement.difference, LONGEST_SAID).rstrip('.') or 'no page says it'}{quoted}"


def _as_sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _short(text: str) -> str:
    return one_line(said_plainly(text), LONGEST_SAID)


def said_plainly(text: str) -> str:
    """A statement on one line, without the mark of a list's item and without keys."""
    return _KEYS.sub("", " ".join(without_item(text.lstrip()).split()))


def statement_spans(
    text: str, statements: Iterable[Statement], written: Callable[[str], str] = str
) -> Iterator[tuple[int, int, Statement]]:
    """(start, end, statement) of those that stand in a text, in its order. written: as the text has them.

    A table's row ends with its line, though the key of the table stands below it.
    """
    position = 0
    for one in statements:
        said = written(one.text)
        start = text.find(said, position)
        if start >= 0:
            position = start + len(said)
            row, _, _ = said.partition("\n") if said.startswith("|") else (said, "", "")
            yield start, start + len(row), one
