"""Draws the chart of a comparison: lines over years or bars by document, if its figures have one unit."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from chatbot.comparison import Comparison, Entry, EntryPlace, series
from chatbot.records import FINE
from chatbot.ui.page_parts import draw_quiet
from chatbot.ui.safe_text import short
from ingestion.invisible_characters import visible
from ingestion.language.periods import find_periods

__all__ = ["chart_spec", "draw_chart"]

LINE_HEIGHT, BAR_HEIGHT = 320, 34
# The most lines of a readable chart. A table with more has no chart.
MOST_LINES = 8
LONGEST_NAME = 40
# Pixels between the first and last years and the chart's edges.
EDGE = 24
# The height of a line of the legend.
LEGEND_HEIGHT = 24
# Line colours with a contrast of 3:1 or better on the page, light and dark.
COLOURS = {
    "light": ["#1f5f8b", "#b3541e", "#3d7a3a", "#7a3e9d", "#806500", "#a3275b", "#2b7a78", "#555555"],
    "dark": ["#5aa0d6", "#f0a36b", "#8ccf88", "#c9a0e6", "#e0c341", "#f08fb4", "#6fd0cc", "#bbbbbb"],
}
# Colours of labels, bars and lines with a contrast of 4.5:1 or better on the page, light and dark.
INK = {"light": ("#3b4754", "#1f5f8b"), "dark": ("#c3ccd5", "#5aa0d6")}
# Room for the figures beside the longest bar.
ROOM = 1.14


def draw_chart(comparison: Comparison, entries: Sequence[Entry], titles: Mapping[str, str]) -> None:
    """Draws the chart, or says why there is none. Draws nothing with fewer than two figures.

    titles: of the documents, by name.
    """
    points, said = series(entries)
    if not points:
        if said:
            draw_quiet(said)
        return
    if len({place.document for place, _ in points}) > MOST_LINES and len(comparison.years) > 1:
        draw_quiet(f"There are too many documents for a chart. Choose at most {MOST_LINES}.")
        return
    if len({place.year for place, _ in points}) > 1:
        kind = "Line chart over the years"
    else:
        kind = "Bar chart by document"
    alt = (
        f"{kind} of {len(points)} figures{f' in {said}' if said else ''}. The same figures are in the "
        f"table above."
    )
    points = [
        (replace(place, document=titles.get(place.document, place.document)), value)
        for place, value in points
    ]
    spec = chart_spec(comparison, points, said, theme=st.context.theme.type or "light")
    doubtful = sum(entry.quantity is not None and entry.quantity.status not in FINE for entry in entries)
    if doubtful:
        draw_quiet("The chart does not show figures that their page does not confirm.")
    st.vega_lite_chart(spec, width="stretch", key="compare-chart", alt=visible(alt))


def chart_spec(
    comparison: Comparison, points: Sequence[tuple[EntryPlace, float]], said: str, *, theme: str = "light"
) -> dict[str, Any]:
    """Returns the chart in Vega-Lite. Documents are told apart by shape and dash too.

    points: places with values in one scale, of documents by their titles.
    said: the unit of the values.
    """
    ink, mark = INK.get(theme, INK["light"])
    common = {"config": {"axis": {"labelColor": ink, "titleColor": ink}, "legend": {"labelColor": ink}}}
    rows: list[dict[str, Any]] = [
        {
            "document": visible(short(place.document, LONGEST_NAME)),
            "year": place.year,
            "at": _end_of(place.year),
            "value": round(value, 6),
        }
        for place, value in points
    ]
    found = {row["year"] for row in rows}
    years = [year for year in comparison.years if year in found]
    title = said or "value"
    value: dict[str, Any] = {
        "field": "value",
        "type": "quantitative",
        "title": title,
        "axis": {"labelExpr": "format(datum.value, ',')"},
    }
    told = [
        {"field": "document", "title": "Document"},
        {"field": "year", "title": "Year"},
        {"field": "value", "title": title, "format": ","},
    ]
    if len(years) > 1:
        names = list(dict.fromkeys(row["document"] for row in rows))
        if len(names) > 1:
            legend = {
                "orient": "bottom",
                "direction": "vertical",
                "title": None,
                "labelLimit": 420,
                "symbolStrokeWidth": 0,
            }
        else:
            legend = None
        document: dict[str, Any] = {"field": "document", "type": "nominal", "sort": names, "legend": legend}
        if len(names) > 1:
            colour = {**document, "scale": {"range": COLOURS.get(theme, COLOURS["light"])}}
        else:
            colour = {"value": mark}
        return common | {
            "data": {"values": rows},
            "height": LINE_HEIGHT + LEGEND_HEIGHT * len(names),
            "mark": {"type": "line", "point": {"filled": True, "size": 70}, "strokeWidth": 2},
            "encoding": {
                "x": _years_axis(years),
                "y": {**value, "scale": {"zero": False}},
                "color": colour,
                "shape": document,
                "strokeDash": {**document, "legend": None},
                "tooltip": told,
            },
        }
    place = {"field": "document", "type": "nominal", "sort": None, "title": None, "axis": {"labelLimit": 220}}
    most = max(row["value"] for row in rows)
    return common | {
        "data": {"values": rows},
        "height": max(120, BAR_HEIGHT * len(rows) + 40),
        "encoding": {
            "y": place,
            "x": {**value, "scale": {"domainMax": most * ROOM} if most > 0 else {}},
            "tooltip": told,
        },
        "layer": [
            {"mark": {"type": "bar", "color": mark}},
            {
                "mark": {"type": "text", "align": "left", "dx": 4},
                "encoding": {"text": {"field": "value", "format": ","}, "color": {"value": ink}},
            },
        ],
    }


def _end_of(year: str) -> int | None:
    """Returns the calendar year in which a year ends, None if there is no single one."""
    periods = find_periods(year)
    return periods[0].end_year if len(periods) == 1 else None


def _years_axis(years: Sequence[str]) -> dict[str, Any]:
    """Returns the axis of years, spaced as in time.

    The years stand side by side if two end in one year, or if one has no place in time.
    """
    ends = [_end_of(year) for year in years]
    if None in ends or len(set(ends)) < len(ends):
        return {
            "field": "year",
            "type": "ordinal",
            "sort": list(years),
            "title": None,
            "axis": {"labelAngle": 0},
        }
    named = "".join(
        f"datum.value === {end} ? {json.dumps(year)} : " for year, end in zip(years, ends, strict=True)
    )
    axis = {"labelAngle": 0, "values": ends, "labelExpr": f"{named}''", "grid": False}
    return {
        "field": "at",
        "type": "quantitative",
        "title": None,
        "scale": {"zero": False, "nice": False, "padding": EDGE},
        "axis": axis,
    }
