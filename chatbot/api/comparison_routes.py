"""Serves comparisons and key figures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from chatbot.api.caller import Asks, Reads, TheChatbot, Turn
from chatbot.api.problems import declared
from chatbot.api.schemas import CompareIn, ComparisonOut, KeyFiguresOut, Name
from chatbot.api.streaming import run_stoppable
from chatbot.comparison import Comparison, Entry, EntryPlace, changes, entry_line
from chatbot.comparison.key_figure_files import figure_lines
from chatbot.comparison.key_figures import KeyFigureSheet
from chatbot.service import Chatbot

__all__ = ["ROUTER", "compared_lines"]

ROUTER = APIRouter(prefix="/api/v1", tags=["comparisons"])


@ROUTER.post("/compare", responses=declared(404, 502, body=True))
async def compare(
    request: Request, body: CompareIn, caller: Asks, chatbot: TheChatbot, turn: Turn
) -> ComparisonOut:
    """Asks one question of each document, and of each year if there are any."""
    comparison = Comparison.of(body.question, body.documents, body.years)
    lines = await run_stoppable(request, compared_lines, chatbot, comparison, caller.owner)
    return ComparisonOut.model_validate({"entries": lines})


@ROUTER.get("/key-figures", responses=declared(404))
async def key_figures(
    request: Request,
    caller: Reads,
    chatbot: TheChatbot,
    turn: Turn,
    document: Annotated[tuple[Name, ...], Query(max_length=100)] = (),
) -> KeyFiguresOut:
    """Reads revenue, income, debt and the like from these documents, or from all."""
    return key_figures_out(await run_stoppable(request, chatbot.key_figures, document))


def key_figures_out(sheet: KeyFigureSheet) -> KeyFiguresOut:
    """Returns a sheet of key figures as it goes out."""
    return KeyFiguresOut.model_validate(
        {
            "figures": list(figure_lines(sheet)),
            "lacking": list(sheet.lacking),
            "remarks": dict(sheet.remarks),
        }
    )


def compared_lines(
    chatbot: Chatbot, comparison: Comparison, owner: str, *, stop: Callable[[], bool]
) -> list[dict[str, Any]]:
    """Returns the entries of a comparison as `finpolicy compare --json` prints them.

    Raises NotFoundError for a document that is not there.
    """
    chatbot.library.scope(comparison.names)
    entries: dict[EntryPlace, Entry] = {}
    for entry in chatbot.compare(comparison, owner=owner, stop=stop):
        entries[entry.place] = entry
    changed = changes(comparison, entries, chatbot.editions(comparison.names))
    return [entry_line(entry, changed.get(place)) for place, entry in entries.items()]
