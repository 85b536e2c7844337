"""Writes a conversation as text to download: Markdown to read, or JSON with everything that was checked.

It reads and writes no file.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence

from chatbot.mark_lines import UNREAD, unread_line, why_doubted
from chatbot.memory.conversations.conversation_store import ConversationRow, StoredExchange
from chatbot.records import DOUBTFUL, Answer, Citation, NumberCheck, Statement, printed_label
from chatbot.serialize import answer_record, neutral_markdown

__all__ = ["FORMATS", "export_conversation", "file_name"]

FORMATS = ("markdown", "json")
STATES = {
    "answering": "The answer is still being written.",
    "stopped": "This answer was stopped.",
    "failed": "There is no answer because of an error.",
    "interrupted": "This answer was interrupted because the program stopped.",
}
# Characters that begin a structure of Markdown are escaped, so that text of documents stays text.
# No others are, because people also read the raw file. At the beginning of a line, more characters count.
PUNCTUATION = re.compile(r"([\\`*|~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9]))")
LINE_START = re.compile(r"^(?:([#+=>-])|(\d{1,9})([.)]))")
# Of a chat model's formatting, bold, lists, tables and code stay. Headings would look like this file's own.
FORMATTED_PUNCTUATION = re.compile(r"([\\>~$])")
FORMATTED_START = re.compile(r"^((?:\s|[-*+]\s|[0-9]{1,9}[.)]\s)*)([#=]|`(?=``)|-(?=[-\s]*$))")


def export_conversation(
    row: ConversationRow, said: Sequence[StoredExchange], answers: Sequence[Answer | None], form: str
) -> str:
    """The whole conversation as text.

    answers: of each exchange, None if only its words are stored. form: one of FORMATS. Raises ValueError for
    any other form.
    """
    if form not in FORMATS:
        raise ValueError(f"{form!r} is none of {', '.join(FORMATS)}")
    if form == "markdown":
        return _markdown(row, said, answers)
    return _json(row, said, answers)


def file_name(row: ConversationRow, form: str) -> str:
    """A file name that every system accepts: letters, digits and "-" of the title."""
    words = re.findall(r"[A-Za-z0-9]+", row.title)
    stem = "-".join(words)[:60].strip("-").lower() or "conversation"
    return f"{stem}.{'md' if form == 'markdown' else 'json'}"


def _json(row: ConversationRow, said: Sequence[StoredExchange], answers: Sequence[Answer | None]) -> str:
    exchanges = [
        {
            "number": one.number,
            "at": _time(one.at),
            "state": one.state,
            "question": one.user,
            "answer": one.assistant,
            "details": answer_record(answer) if answer else None,
        }
        for one, answer in zip(said, answers, strict=True)
    ]
    record = {
        "conversation": row.name,
        "title": row.title,
        "begun_at": _time(row.begun_at),
        "changed_at": _time(row.changed_at),
        "exchanges": exchanges,
    }
    return json.dumps(record, indent=2) + "\n"


def _markdown(row: ConversationRow, said: Sequence[StoredExchange], answers: Sequence[Answer | None]) -> str:
    plural = "s" if len(said) != 1 else ""
    blocks = [f"# {_plain(row.title)}", f"Started {_time(row.begun_at)}, {len(said)} exchange{plural}."]
    for exchange, answer in zip(said, answers, strict=True):
        blocks.append(f"## {exchange.number}. {_plain(exchange.user)}")
        blocks.append(f"*{_time(exchange.at)}*")
        text = exchange.assistant
        if text.strip():
            is_formatted = answer and answer.by_model
            blocks.append(_formatted(text) if is_formatted else _paragraphs(text))
        if exchange.state in STATES:
            blocks.append(STATES[exchange.state])
        if answer:
            blocks += ["### What was checked", "\n".join(_checked(answer))]
    return "\n\n".join(blocks) + "\n"


def _checked(answer: Answer) -> list[str]:
    lines = list[str]()
    citations = {(citation.key, citation.page, citation.quote): citation for citation in answer.citations}
    lines += map(_citation_line, citations.values())
    lines += dict.fromkeys(map(_number_line, answer.numbers))
    lines += [_statement_line(one) for one in answer.statements if answer.by_model or one.mark]
    lines += [f"- {_plain(line)}" for line in filter(None, [unread_line(answer)])]
    by = "in the documents' own words" if answer.model == "extractive" else f"by {answer.model}"
    lines.append(f"- Searched: “{_plain(answer.search_query)}”. Answered {_plain(by)}.")
    return lines


def _citation_line(citation: Citation) -> str:
    if citation.document is None:
        return f"- [{_plain(citation.key)}] no such source"
    label = citation.page_label
    printed = ""
    if label and label != str(citation.page):
        printed = f" ({_plain(printed_label(label))})"
    if citation.doubted:
        checked = f"not verified: {citation.reason or 'its words were not found on the page'}"
    else:
        checked = citation.verdict
    quote = f": “{_plain(citation.quote)}”" if citation.quote else ""
    source = f"[{_plain(citation.key)}] {_plain(citation.document)}"
    return f"- {source}, page {citation.page}{printed}, {_plain(checked)}{quote}"


def _statement_line(statement: Statement) -> str:
    mark = statement.shown_mark or UNREAD
    if statement.mark in DOUBTFUL:
        reason = why_doubted(statement)
    elif statement.calculation:
        reason = statement.calculation.expression
    else:
        reason = ""
    return f"- {mark}: “{_plain(statement.text)}”{f': {_plain(reason)}' if reason else ''}"


def _number_line(number: NumberCheck) -> str:
    formula = f", {_plain(number.formula)}" if number.formula else ""
    return f"- Figure {_plain(number.text)}: {number.verdict}{formula}"


def _paragraphs(text: str) -> str:
    blocks = [block for block in re.split(r"\n\s*\n", text) if block.strip()]
    return "\n\n".join(map(_paragraph, blocks))


def _paragraph(block: str) -> str:
    lines = [line for line in block.splitlines() if line.strip()]
    return "  \n".join(_line_start(_plain(line)) for line in lines)


def _formatted(text: str) -> str:
    """A chat model's own Markdown."""
    lines = []
    for line in neutral_markdown(text).splitlines():
        escaped = FORMATTED_PUNCTUATION.sub(r"\\\1", line.rstrip())
        lines.append(FORMATTED_START.sub(r"\1\\\2", escaped))
    return "\n".join(lines).strip()


def _plain(text: str) -> str:
    """The text on one line, escaped so that it shows as it is."""
    return neutral_markdown(PUNCTUATION.sub(r"\\\1", " ".join(text.split())))


def _line_start(line: str) -> str:
    """A line that Markdown does not take for a heading, a rule or a list."""

    def escaped(found: re.Match[str]) -> str:
        if found[1]:
            return f"\\{found[1]}"
        return f"{found[2]}\\{found[3]}"

    return LINE_START.sub(escaped, line)


def _time(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))
