"""A conversation as a file to take away: Markdown to read, JSON with everything that was checked; reads
and writes no file.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence

from chatbot.fit import fit_text
from chatbot.memory.conversations.conversation_store import ConversationRow, Said
from chatbot.records import MODEL_TEXT, Answer, Citation, NumberCheck
from chatbot.serialize import answer_record

__all__ = ["FORMATS", "export_conversation", "file_name"]

FORMATS = ("markdown", "json")
STATES = {
    "answering": "The answer is still being written.",
    "stopped": "This answer was stopped.",
    "failed": "No answer was given: an error came instead.",
    "interrupted": "This answer was interrupted: the program ended.",
}
# What begins a structure of Markdown or HTML is escaped, so that text of documents stays text; no more, for
# the file is read as it stands too. At the beginning of a line that is more.
PUNCTUATION = re.compile(r"([\\`*\[\]<>|~$&]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|:(?=//)|(?<=www)\.)", re.I)
LINE_START = re.compile(r"^(?:([#+=-])|(\d{1,9})([.)]))")
# Of what a chat model formatted, bold, lists, tables and code stay; headings would be this file's, and links,
# images and HTML take no effect.
FORMATTED_PUNCTUATION = re.compile(r"([\\\[\]<>~$&!]|:(?=//)|(?<=www)\.)", re.I)
FORMATTED_START = re.compile(r"^((?:\s|[-*+]\s|[0-9]{1,9}[.)]\s)*)([#=]|`(?=``)|-(?=[-\s]*$))")


def export_conversation(
    row: ConversationRow, said: Sequence[Said], answers: Sequence[Answer | None], form: str
) -> str:
    """The whole conversation. answers: of each exchange, None where only its words are kept. form: of
    FORMATS, else ValueError.
    """
    if form not in FORMATS:
        raise ValueError(f"{form!r} is none of {', '.join(FORMATS)}")
    return (_markdown if form == "markdown" else _json)(row, said, answers)


def file_name(row: ConversationRow, form: str) -> str:
    """A name that every system takes: letters, digits and "-" of the title."""
    words = re.findall(r"[A-Za-z0-9]+", row.title)
    stem = "-".join(words)[:60].strip("-").lower() or "conversation"
    return f"{stem}.{'md' if form == 'markdown' else 'json'}"


def _json(row: ConversationRow, said: Sequence[Said], answers: Sequence[Answer | None]) -> str:
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
    whole = {
        "conversation": row.id,
        "title": row.title,
        "begun_at": _time(row.begun_at),
        "changed_at": _time(row.changed_at),
        "exchanges": exchanges,
    }
    return json.dumps(whole, indent=2) + "\n"


def _markdown(row: ConversationRow, said: Sequence[Said], answers: Sequence[Answer | None]) -> str:
    blocks = [
        f"# {_plain(row.title)}",
        f"Begun {_time(row.begun_at)}, {len(said)} exchange{'s' if len(said) != 1 else ''}.",
    ]
    for one, answer in zip(said, answers, strict=True):
        blocks += [f"## {one.number}. {_plain(one.user)}", f"*{_time(one.at)}*"]
        blocks += (
            [_formatted(one.assistant) if answer and answer.by_model else _paragraphs(one.assistant)]
            if one.assistant.strip()
            else []
        )
        blocks += [STATES[one.state]] if one.state in STATES else []
        blocks += ["### What was checked", "\n".join(_checked(answer))] if answer else []
    return "\n\n".join(blocks) + "\n"


def _checked(answer: Answer) -> list[str]:
    citations = {(citation.key, citation.page, citation.quote): citation for citation in answer.citations}
    if fit_text(answer):
        lines = [f"- {fit_text(answer)}."]
    else:
        lines = []
    lines += [_citation_line(citation) for citation in citations.values()]
    lines += dict.fromkeys(map(_number_line, answer.numbers))
    lines += [f"- {one.mark}: “{_plain(one.text)}”" for one in answer.statements if one.mark]
    by = "in the documents' own words" if answer.model == "extractive" else f"by {answer.model}"
    return [*lines, f"- Searched: “{_plain(answer.search_query)}”. Answered {_plain(by)}."]


def _citation_line(citation: Citation) -> str:
    if citation.document is None:
        return f"- \\[{_plain(citation.key)}\\] no such source"
    label = citation.page_label
    if label and label != str(citation.page):
        printed = f" (printed {_plain(label)})"
    else:
        printed = ""
    if citation.doubted:
        checked = f"not verified: {citation.reason or 'its words were not found on the page'}"
    else:
        checked = citation.verdict.removeprefix("≈ ")
    quote = f": “{_plain(citation.quote)}”" if citation.quote else ""
    return (
        f"- \\[{_plain(citation.key)}\\] {_plain(citation.document)}, page {citation.page}{printed}, "
        f"{_plain(checked)}{quote}"
    )


def _number_line(number: NumberCheck) -> str:
    formula = f", {_plain(number.formula)}" if number.formula else ""
    return f"- Figure {_plain(number.text)}: {_plain(number.status.replace('_', ' '))}{formula}"


def _paragraphs(text: str) -> str:
    return "\n\n".join(
        "  \n".join(_line_start(_plain(line)) for line in block.splitlines() if line.strip())
        for block in re.split(r"\n\s*\n", text)
        if block.strip()
    )


def _formatted(text: str) -> str:
    """A chat model's own Markdown; the documents' own words before it as they stand."""
    begins = max(text.find(MODEL_TEXT), 0)
    lines = (
        FORMATTED_START.sub(r"\1\\\2", FORMATTED_PUNCTUATION.sub(r"\\\1", line.rstrip()))
        for line in text[begins:].splitlines()
    )
    return "\n\n".join(filter(None, [_paragraphs(text[:begins]), "\n".join(lines).strip()]))


def _plain(text: str) -> str:
    """On one line, so that it is shown as it stands."""
    return PUNCTUATION.sub(r"\\\1", " ".join(text.split()))


def _line_start(line: str) -> str:
    return LINE_START.sub(lambda found: f"\\{found[1]}" if found[1] else f"{found[2]}\\{found[3]}", line)


def _time(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))
