"""Prints the command line's output: JSON or text lines, notes, errors and progress."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from chatbot.answer.citations.citation_keys import escape_keys
from chatbot.cli.served_command import errors, go_on
from chatbot.errors import ProjectError
from chatbot.mark_lines import mark_lines
from chatbot.records import FIGURE_VERDICTS
from chatbot.usage_text import usage_text
from ingestion.invisible_characters import one_line, visible

if TYPE_CHECKING:
    from chatbot.comparison.model_answers import ComparedAnswer, ComparedFigure
    from chatbot.records import Answer, Hit, Notice

__all__ = [
    "answer_text",
    "compared_text",
    "complain",
    "emit",
    "hit_text",
    "holding_text",
    "note",
    "place_text",
    "progress_bars",
    "side_by_side_text",
]

SECONDS_BETWEEN_LINES = 10
# What a phase counts, if not pages.
UNITS = {"embedding": "chunks", "moving": "rows", "comparing": "rows"}


def emit(line: dict[str, Any], text: str, *, as_json: bool) -> None:
    """Prints one of the two forms.

    Documents and models must not send control codes to the terminal, so invisible characters are written out.
    """
    print(json.dumps(line) if as_json else visible(text), flush=True)


def note(notice: Notice) -> None:
    hint = f"{notice.hint} {notice.command}".strip()
    print(visible(f"Note: {ProjectError(notice.text, hint=hint)}"), file=sys.stderr)


def complain(error: ProjectError, code: int) -> int:
    print(visible(f"Error: {error}"), file=sys.stderr)
    return code


@contextlib.contextmanager
def progress_bars() -> Iterator[Callable[[str, str, int, int], None]]:
    """Shows progress bars on a terminal, one for each phase of a document.

    Elsewhere, as in a log, prints a line every ten seconds.
    """
    stream = errors()
    if not stream.isatty():
        yield _lines_of_progress(stream)
        return
    from tqdm import tqdm

    bars: dict[tuple[str, str], Any] = {}

    def show(document: str, phase: str, done: int, total: int) -> None:
        go_on()
        if document == "query" and total == 1:  # done at once
            return
        bar = bars.get((document, phase))
        if bar is None:
            bar = bars[document, phase] = tqdm(
                total=total,
                desc=visible(f"{phase} {document[:40]}"),
                unit=UNITS.get(phase, "pages"),
                leave=False,
                file=stream,
                dynamic_ncols=True,
            )
        bar.update(done - bar.n)
        if done >= total:
            bar.close()

    try:
        yield show
    finally:
        for bar in bars.values():
            bar.close()


def _lines_of_progress(stream: TextIO) -> Callable[[str, str, int, int], None]:
    last = time.monotonic()

    def show(document: str, phase: str, done: int, total: int) -> None:
        nonlocal last
        go_on()
        if time.monotonic() - last >= SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            print(visible(f"{phase} {document}: {done:,} of {total:,}"), file=stream, flush=True)

    return show


def hit_text(rank: int, hit: Hit) -> str:
    words = " ".join(hit.text.split())
    return f"{rank}. {place_text(hit.document, hit.page, hit.page_label)} ({hit.score:.2f})\n   {words[:300]}"


def side_by_side_text(found: Mapping[str, Sequence[Hit]]) -> str:
    """Writes the hits of several strategies in columns, a line for each rank.

    A page that the first strategy has not found is marked with +.
    """

    def told(hit: Hit) -> str:
        piece = "" if hit.chunk_match is None else f", piece {hit.chunk_match + 1}"
        return f"{place_text(hit.document, hit.page, hit.page_label)} ({hit.score:.2f}{piece})"

    first = {(hit.version, hit.page) for hit in next(iter(found.values()))}

    def marked(hit: Hit) -> str:
        return told(hit) if (hit.version, hit.page) in first else f"+ {told(hit)}"

    return columns_text({strategy: list(map(marked, hits)) for strategy, hits in found.items()})


def columns_text(found: Mapping[str, Sequence[str]]) -> str:
    """Writes lists side by side below their names, a line for each rank."""
    columns = [[name, "-" * len(name), *cells] for name, cells in found.items()]
    widths = [max(map(len, cells)) for cells in columns]
    lines = []
    for rank in range(max(map(len, columns))):
        row = [cells[rank] if rank < len(cells) else "" for cells in columns]
        shown = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        lines.append(f"{f'{rank - 1}.' if rank > 1 else '':<4}{shown}".rstrip())
    return "\n".join(lines)


def place_text(document: str, page: int | None, label: str | None) -> str:
    """Names a page by its document, on one line. Nothing in it looks like a citation key."""
    if label and label != str(page):
        printed = f" (printed {label})"
    else:
        printed = ""
    return escape_keys(one_line(f"{document}, page {page}{printed}"))


def answer_text(answer: Answer) -> str:
    lines = [
        answer.first,
        "",
        *(("More from these pages:", "", answer.further, "") if answer.further else ()),
    ]
    if answer.error and answer.answered:
        lines.insert(0, "The chat model failed. In the documents' own words:")
    if answer.by_model and not answer.answered:
        lines.insert(0, "The chat model found no answer:")
    for citation in {
        (c.key, c.page, c.verified, c.reason, c.instructs): c for c in answer.citations
    }.values():
        if citation.document:
            place = place_text(citation.document, citation.page, citation.page_label)
        else:
            place = "no such source"
        read = (
            ""
            if citation.confidence is None
            else f", read by OCR, confidence {citation.confidence:.0f} of 100"
        )
        if citation.doubted:
            checked = f"NOT VERIFIED: {citation.reason}"
        else:
            checked = citation.verdict
        orders = ", INSTRUCTIONS TO A MACHINE: shown as data" if citation.instructs else ""
        lines.append(f"[{citation.key}] {place} - {checked}{read}{orders}")
    lines += mark_lines(answer)
    lines += answer.superseded
    from chatbot.memory.layers import beside

    lines += [
        f"From memory, not from these documents: {note.text} ({note.source})" for note in beside(answer.notes)
    ]
    if answer.compression:
        kept = answer.compression
        lines.append(
            f"Earlier exchanges were shortened for this answer: {kept.compressed_tokens:,} of "
            f"{kept.original_tokens:,} tokens kept."
        )
    if answer.usage is not None:
        model = answer.sent_to[0] if answer.sent_to else answer.model
        lines.append(f"{model} used {usage_text(answer.usage)}.")
    lines += [f"Nearest: {place_text(page.document, page.page, page.page_label)}" for page in answer.nearest]
    return "\n".join(lines).rstrip()


def compared_text(compared: ComparedAnswer) -> str:
    """Writes one of several models' answers below its name."""
    host = f" at {compared.host}" if compared.host else ", the documents' own words"
    head = f"=== {visible(compared.name)}{visible(host)}, {compared.seconds:.1f} s"
    if compared.answer is None:
        return f"{head}\n{visible(compared.problem)}"
    notices = "".join(f"Note: {visible(notice)}\n" for notice in compared.notices)
    return f"{head}\n{notices}{answer_text(compared.answer)}"


def holding_text(answers: Sequence[ComparedAnswer], figures: Sequence[ComparedFigure]) -> str:
    """Writes what holds of each answer, the best first, and which figures they share."""
    from chatbot.comparison.model_answers import holding_line

    lines = ["Confirmed:"]
    for compared in sorted(answers, key=lambda answer: -answer.share_holding):
        lines.append(f"  {visible(compared.name)}: {holding_line(compared)}")
    if figures:
        lines += ["", "Figures:"]
    for figure in figures:
        told = ", ".join(
            f"{visible(name)} {FIGURE_VERDICTS.get(status, status)}"
            for name, status in figure.statuses.items()
        )
        lines.append(f"  {figure.text}: {told}")
    return "\n".join(lines)
