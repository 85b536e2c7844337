"""Defines what every command shares: exit codes, opening the store, and how lines, notes and progress are
printed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, TextIO, TypeAlias, TypeVar

from chatbot.answer.citations.citation_keys import escape_keys
from chatbot.cli.served_command import errors, go_on, served
from chatbot.errors import ProjectError
from chatbot.mark_lines import mark_lines
from chatbot.records import FIGURE_VERDICTS, printed_label
from chatbot.settings import STRATEGIES, Settings
from chatbot.usage_text import usage_text
from ingestion.invisible_characters import one_line, visible

if TYPE_CHECKING:
    from chatbot.comparison.model_answers import ComparedAnswer, ComparedFigure
    from chatbot.records import Answer, Citation, Hit, Notice, PageRef
    from chatbot.service import Chatbot

__all__ = [
    "DONE",
    "FAILED",
    "MOST_PAGES",
    "UNUSABLE",
    "USAGE",
    "Lines",
    "answer_text",
    "compared_text",
    "hit_text",
    "holding_text",
    "note",
    "open_chatbot",
    "printed",
    "progress_bars",
    "say",
    "side_by_side_text",
    "strategy_list",
    "whole",
]

DONE = 0
FAILED = 1
USAGE = 2
UNUSABLE = 3
# The most pages of one search. Equals retrieval.MOST_HITS, which this module must not load before it is
# needed.
MOST_PAGES = 10_000

Given = TypeVar("Given")
# Lines as objects and as text, and in the end the exit code, if it is not DONE.
Lines: TypeAlias = Generator[tuple[dict[str, Any], str], None, Any]
SECONDS_BETWEEN_LINES = 10
# What a phase counts, if not pages.
UNITS = {"embedding": "chunks", "moving": "rows", "comparing": "rows"}


def strategy_list(text: str) -> list[str]:
    """Parses --strategy. Raises ArgumentTypeError, for which argparse exits with code 2."""
    names = list(dict.fromkeys(name.strip() for name in text.split(",")))
    for name in names:
        if name not in STRATEGIES:
            known = ", ".join(STRATEGIES)
            raise argparse.ArgumentTypeError(f"there is no strategy {name[:20]!r}: choose from {known}")
    return names


def whole(told: str, least: int, most: int) -> Callable[[str], int]:
    """Returns a parser of whole numbers in [least, most]. It raises ArgumentTypeError.

    told: what is wrong with another text, which is put into it.
    """

    def parsed(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if not least <= number <= most:
            raise argparse.ArgumentTypeError(told.format(text[:20]))
        return number

    return parsed


@contextlib.contextmanager
def open_chatbot(settings: Settings, *, mend: bool = False) -> Iterator[Chatbot]:
    """Opens the store, or lends that of the server that runs the command. mend: see Chatbot."""
    if (command := served()) is not None:
        yield command.store.chatbot
        return
    from chatbot.service import Chatbot

    with Chatbot(settings, mend=mend) as chatbot:
        yield chatbot


def printed(tell: Callable[[Namespace, Given], Lines]) -> Callable[[Namespace, Given], int]:
    """Makes a command that prints what `tell` yields, each line as an object or as text.

    Returns the exit code. A KeyboardInterrupt while it prints is raised in `tell`, too.
    """

    def run(options: Namespace, given: Given) -> int:
        lines = tell(options, given)
        while True:
            try:
                line, text = next(lines)
            except StopIteration as end:
                return end.value or DONE
            try:
                print(json.dumps(line) if options.json else visible(text), flush=True)
            except KeyboardInterrupt as stop:
                lines.throw(stop)

    return run


def say(text: str) -> None:
    """Prints what is no result.

    Documents and models must not send control codes to the terminal, so invisible characters are written out.
    """
    print(visible(text), file=sys.stderr, flush=True)


def note(notice: Notice | str) -> None:
    """Prints what the user should know."""
    if not isinstance(notice, str):
        notice = str(ProjectError(notice.text, hint=f"{notice.hint} {notice.command}".strip()))
    say(f"Note: {notice}")


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
        if not total or (document == "query" and total == 1):  # not begun, or done at once
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
        if total and time.monotonic() - last >= SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            print(visible(f"{phase} {document}: {done:,} of {total:,}"), file=stream, flush=True)

    return show


def hit_text(rank: int, hit: Hit) -> str:
    words = " ".join(hit.text.split())
    return f"{rank}. {_place(hit)} ({hit.score:.2f})\n   {words[:300]}"


def side_by_side_text(found: Mapping[str, Sequence[Hit]]) -> str:
    """Writes the hits of several strategies in columns, a line for each rank.

    A page that the first strategy has not found is marked with +.
    """

    def told(hit: Hit) -> str:
        piece = "" if hit.chunk_match is None else f", piece {hit.chunk_match + 1}"
        mark = "" if (hit.version, hit.page) in first else "+ "
        return f"{mark}{_place(hit)} ({hit.score:.2f}{piece})"

    first = {(hit.version, hit.page) for hit in next(iter(found.values()))}
    return columns_text({strategy: list(map(told, hits)) for strategy, hits in found.items()})


def columns_text(found: Mapping[str, Sequence[str]]) -> str:
    """Writes lists side by side below their names, a line for each rank."""
    columns = [[name, "-" * len(name), *cells] for name, cells in found.items()]
    widths = [max(map(len, cells)) for cells in columns]
    lines = []
    for rank, row in enumerate(zip_longest(*columns, fillvalue="")):
        shown = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        lines.append(f"{f'{rank - 1}.' if rank > 1 else '':<4}{shown}".rstrip())
    return "\n".join(lines)


def _place(found: Hit | Citation | PageRef) -> str:
    """Names a page by its document, on one line. Nothing in it looks like a citation key."""
    label = found.page_label
    on_it = f" ({printed_label(label)})" if label and label != str(found.page) else ""
    return escape_keys(one_line(f"{found.document}, page {found.page}{on_it}"))


def answer_text(answer: Answer) -> str:
    lines = [answer.first, ""]
    if answer.further:
        lines += ["More from these pages:", "", answer.further, ""]
    if answer.error and answer.answered:
        lines.insert(0, "The chat model failed. In the documents' own words:")
    if answer.by_model and not answer.answered:
        lines.insert(0, "The chat model found no answer:")
    shown: dict[tuple[object, ...], Citation] = {}
    for c in answer.citations:
        shown.setdefault((c.key, c.page, c.verified, c.reason, c.instructs), c)
    for citation in shown.values():
        place = _place(citation) if citation.document else "no such source"
        checked = f"NOT VERIFIED: {citation.reason}" if citation.doubted else citation.verdict
        if citation.confidence is not None:
            checked += f", read by OCR, confidence {citation.confidence:.0f} of 100"
        if citation.instructs:
            checked += ", INSTRUCTIONS TO A MACHINE: shown as data"
        lines.append(f"[{citation.key}] {place} - {checked}")
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
    lines += [f"Nearest: {_place(page)}" for page in answer.nearest]
    return "\n".join(lines).rstrip()


def compared_text(compared: ComparedAnswer) -> str:
    """Writes one of several models' answers below its name."""
    host = f" at {compared.host}" if compared.host else ", the documents' own words"
    head = f"=== {compared.name}{host}, {compared.seconds:.1f} s"
    if compared.answer is None:
        return f"{head}\n{compared.problem}"
    notices = "".join(f"Note: {notice}\n" for notice in compared.notices)
    return f"{head}\n{notices}{answer_text(compared.answer)}"


def holding_text(answers: Sequence[ComparedAnswer], figures: Sequence[ComparedFigure]) -> str:
    """Writes what holds of each answer, the best first, and which figures they share."""
    from chatbot.comparison.model_answers import holding_line

    lines = ["Confirmed:"]
    for compared in sorted(answers, key=lambda answer: -answer.share_holding):
        lines.append(f"  {compared.name}: {holding_line(compared)}")
    if figures:
        lines += ["", "Figures:"]
    for figure in figures:
        told = ", ".join(
            f"{name} {FIGURE_VERDICTS.get(status, status)}" for name, status in figure.statuses.items()
        )
        lines.append(f"  {figure.text}: {told}")
    return "\n".join(lines)
