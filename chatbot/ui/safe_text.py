"""Makes other people's text fit for the page: as plain Markdown for labels, as plain HTML for bodies.

Nothing in the text takes effect.
"""

from __future__ import annotations

import html
import re
import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from chatbot.memory.cases.records import Case
from chatbot.memory.signals.records import EventRow
from chatbot.memory.situations.situation_types import Situation
from chatbot.records import PageRef, printed_label
from ingestion.invisible_characters import visible

__all__ = [
    "VERDICTS",
    "case_html",
    "counted",
    "notice_html",
    "page_text",
    "paragraphs_html",
    "plain_html",
    "plain_markdown",
    "quiet_html",
    "short",
    "short_day",
    "signal_html",
    "situation_html",
    "spoken",
    "table_html",
]

# Takes a place without showing anything.
NOTHING = "<span hidden></span>"
# Backslashes neutralise what Markdown, GFM, LaTeX and directives begin with. Every ASCII punctuation
# character may be escaped.
PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
# The page looks for these only after the backslashes are gone: bare addresses, emoji and icon names, arrows.
# An invisible word joiner in their middle keeps them from matching.
JOINER = "\u2060"
# Blanks between words, but not those that no line ends at.
SPACE = re.compile(r"[^\S\u00a0]+")
ADDRESS = re.compile(r"(:)(?=[\w+/-])|(\bwww)(?=\.)|(@)", re.I)
ARROW = re.compile(r"(?<!\S)(<-|[-<>~])(?=[->=]+(?:\s|$))")
EARLY = "⚠ Dated in the future: it is not recalled until then."
# What a rating is called, by its reward.
VERDICTS = ("Not helpful", "Helpful")
# The characters of a question, an answer, an advice and a word that a list shows.
LISTED_QUESTION = 300
LISTED_TEXT = 400
LISTED_WORD = 300


def short(text: str, most: int = 48) -> str:
    """Shortens `text` in its middle to at most `most` characters, so that its ending ("(2)") stays.

    Words stay whole where there are blanks.
    """
    if len(text) <= most:
        return text
    head, tail = text[: most * 2 // 3 - 1], text[-(most // 3) :]
    if " " in head.strip() and " " in tail.strip():
        return f"{head.rpartition(' ')[0].rstrip()} … {tail.partition(' ')[2].lstrip()}"
    return f"{head}…{tail}"


def plain_markdown(text: str) -> str:
    """Returns Markdown that shows any `text` on one line, character by character.

    For labels, headings and messages.
    """
    line = SPACE.sub(" ", visible(text)).strip()
    line = ADDRESS.sub(lambda found: found[0] + JOINER, line)
    line = ARROW.sub(lambda found: found[0] + JOINER, line)
    line = re.sub(r"^(\d+)(?=[.)])", rf"\1{JOINER}", line)
    return PUNCTUATION.sub(r"\\\1", line)


def spoken(text: str) -> str:
    """Returns only the words of `text`, for labels that are only read out.

    There backslashes would be heard, and Markdown must still find nothing.
    """
    return " ".join(re.findall(r"[^\W_]+", text))


def plain_html(text: str) -> str:
    """Returns HTML that shows any `text` in one stretch, character by character."""
    return html.escape(visible(text))


def paragraphs_html(text: str) -> str:
    """Returns HTML that shows any `text` in its paragraphs and lines, character by character."""
    blocks = re.split(r"\n\s*\n", visible(text).strip())
    return "".join(
        f"<p>{plain_html(block).replace(chr(10), '<br>')}</p>" for block in blocks if block.strip()
    )


def notice_html(text: str, hint: str = "") -> str:
    """Renders an error or warning in a frame, with what to do about it.

    Screen readers read it out at once.
    """
    more = f"<p>{plain_html(hint)}</p>" if hint else ""
    return f'<div class="notice" role="alert"><p>{plain_html(text)}</p>{more}</div>'


def quiet_html(text: str) -> str:
    """Renders a remark in small print."""
    return f'<p class="quiet">{plain_html(text)}</p>'


def table_html(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Renders a table of plain cells. caption: what it shows, for those who cannot see it."""
    heads = "".join(f'<th scope="col">{plain_html(cell)}</th>' for cell in head)
    lines = []
    for row in rows:
        cells = "".join(f"<td>{plain_html(cell)}</td>" for cell in row)
        lines.append(f"<tr>{cells}</tr>")
    title = f"<caption>{plain_html(caption)}</caption>"
    return f"<table>{title}<thead><tr>{heads}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def page_text(page: PageRef, word: str = "p.\u00a0") -> str:
    """Returns "p. 12 (printed 8)": the physical page, and the printed number if it differs.

    No line ends between a word and its number, unless `word`, what comes first, lets it.
    """
    printed = page.page_label
    if not printed or printed == str(page.page):
        return f"{word}{page.page}"
    shown = printed_label(printed).replace(" ", "\u00a0")
    return f"{word}{page.page} ({shown})"


def case_html(case: Case, remarks: Sequence[str] = (), *, whole: bool = False) -> str:
    """Renders a rated answer: question, answer, and the verdict with its day and word.

    remarks: what else must be known of it.
    whole: whether to show the whole answer.
    """
    said = [
        VERDICTS[case.reward],
        *([_day(case.at)] if case.at else []),
        *([f"“{short(case.word, LISTED_WORD)}”"] if case.word else []),
    ]
    answer = case.plan if whole else short(" ".join(case.plan.split()), LISTED_TEXT)
    return _remembered_html(
        short(case.question, LISTED_QUESTION), paragraphs_html(answer), " · ".join(said), remarks
    )


def situation_html(one: Situation) -> str:
    """Renders a situation with the advice given in it, the newest first, its subject and its day."""
    advice = "".join(
        f"<p>{'also: ' if at else 'then '}{plain_html(short(' '.join(text.split()), LISTED_TEXT))}</p>"
        for at, text in enumerate(one.recommendations)
    )
    said = [*([f"Only for questions that name {one.scope}"] if one.scope else []), _day(one.at)]
    return _remembered_html(
        f"When {short(' '.join(one.situation.split()), LISTED_QUESTION)}", advice, " · ".join(said)
    )


def signal_html(row: EventRow) -> str:
    """Renders a news event with its best signal, its sources and its date of publication."""
    best = row.readings[0] if row.readings else None
    about = f" {', '.join(best.assets)}" if best and best.assets else ""
    heading = (
        (
            f"{best.action.capitalize()}{about}, confidence {best.confidence:.2f}: "
            f"{short(best.summary, LISTED_QUESTION)}"
        )
        if best
        else "No signal"
    )
    sources = ", ".join(dict.fromkeys(source for source, _, _ in row.sources))
    body = f"<p>{plain_html(short(' '.join(row.text.split()), LISTED_TEXT))}</p>"
    remarks = [EARLY] if row.at > datetime.now(UTC) else []
    return _remembered_html(
        heading,
        body,
        " · ".join(filter(None, [f"{row.at:%d %B %Y, %H:%M} UTC", sources, "not advice"])),
        remarks,
    )


def _remembered_html(heading: str, body: str, said: str, remarks: Sequence[str] = ()) -> str:
    """body: HTML. The rest is plain text of any origin."""
    more = "".join(f'<p class="remark">{plain_html(remark)}</p>' for remark in remarks)
    return (
        f'<section class="memory"><p class="asked">{plain_html(heading)}</p>{body}<p '
        f'class="quiet">{plain_html(said)}</p>{more}</section>'
    )


def _day(seconds: float) -> str:
    return time.strftime("%d %B %Y", time.localtime(seconds)).lstrip("0")


def short_day(seconds: float) -> str:
    """Returns a day such as "3 May 2026". seconds: since the epoch."""
    return time.strftime("%d %b %Y", time.localtime(seconds)).lstrip("0")


def counted(count: int, noun: str) -> str:
    """Returns a count with its noun, such as "1 source" or "4 figures"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
