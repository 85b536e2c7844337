"""Draws results for notebooks: an answer with its marks and passages, tables. All text in them is escaped."""

from __future__ import annotations

import base64
from html import escape
from typing import TYPE_CHECKING, Any

from chatbot.errors import ProjectError
from chatbot.records import MARKS, VERDICTS
from ingestion.invisible_characters import visible

if TYPE_CHECKING:
    from finpolicy.results import PolicyAnswer, PolicyCitation

__all__ = ["answer_html", "table_html"]

# Passages that are drawn, each from two pictures of its page; the others are named.
MOST_DRAWN = 3
MOST_ROWS = 200


def answer_html(answer: PolicyAnswer) -> str:
    """Returns an answer as HTML that loads nothing."""
    text = _text(answer.answer)
    for statement in answer.statements:
        mark = MARKS.get(statement.mark, "")
        said = _text(statement.text)
        text = text.replace(said, f"{said} <small>{_text(mark)}</small>", 1) if mark else text
    parts = [f'<p style="white-space: pre-wrap">{text}</p>']
    figures = (f"<li>{_text(one.text)}: {_text(one.verdict)}</li>" for one in answer.numbers)
    parts.append(f"<ul>{''.join(figures)}</ul>" if answer.numbers else "")
    parts += [_citation(one, drawn=at < MOST_DRAWN) for at, one in enumerate(answer.citations)]
    return f"<div>{''.join(parts)}</div>"


def _citation(citation: PolicyCitation, *, drawn: bool) -> str:
    checked = citation.verified or citation.basis == "unread"
    verdict = VERDICTS[citation.basis] if checked else "⚠ not verified"
    page = "" if citation.page is None else f", page {citation.page}"
    head = f"[{_text(citation.key)}] {_text(citation.document or '')}{page} <small>{_text(verdict)}</small>"
    picture = ""
    if drawn:
        try:
            data = base64.b64encode(citation.image(crop=True)).decode("ascii")
            picture = f'<br><img style="max-width: 100%" alt="the page" src="data:image/png;base64,{data}">'
        except ProjectError:  # the store is closed, or it is no page: the words stay
            pass
    return f"<div>{head}<blockquote>{_text(citation.quote)}</blockquote>{picture}</div>"


def table_html(rows: list[dict[str, Any]]) -> str:
    """Returns records as a table of those columns that have content, at most MOST_ROWS rows."""
    filled = {name for row in rows for name, value in row.items() if value}
    names = [name for name in (rows[0] if rows else ()) if name in filled]
    lines = ["".join(f"<th>{_text(name.replace('_', ' '))}</th>" for name in names)]
    for row in rows[:MOST_ROWS]:
        values = ("" if row[name] is None else row[name] for name in names)
        lines.append("".join(f"<td>{_text(value)}</td>" for value in values))
    more = f"<p>{len(rows) - MOST_ROWS:,} more rows</p>" if len(rows) > MOST_ROWS else ""
    return f"<table><tr>{'</tr><tr>'.join(lines)}</tr></table>{more}"


def _text(value: object) -> str:
    # "$" would begin a formula, which notebooks draw inside HTML too.
    return escape(visible(str(value))).replace("$", "<span>$</span>")
