"""Formats numbers as Markdown tables and as a plot that is legible on light and dark backgrounds."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

__all__ = ["Panel", "markdown_table", "plot", "ratios", "spread"]

Points = Sequence[tuple[float, float]]

# Points of the drawing; fonts and strokes are chosen for it.
WIDTH, HEIGHT, LEFT, TOP, BOTTOM, GAP = 860, 330, 56, 58, 46, 66
# Stroke and class of each curve; colours that stand out on white and on near-black alike, the peer's broken
# where it lies on ours.
CURVES = (("#2f81f7", ""), ("#2da44e", ""), ("#a371f7", ""), ("#d9782b", "peer"))
STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#57606a}.title{font-weight:600;font-size:13px}"
    "path{fill:none;stroke-width:2}"
    ".grid{stroke:#8b949e;stroke-opacity:.25;stroke-width:1}.peer{stroke-dasharray:5 3}@media "
    "(prefers-color-scheme:dark){text{fill:#b1bac4}}"
)


@dataclass(frozen=True, slots=True)
class Panel:
    """One plot on logarithmic axes. curves: name -> (x, y) pairs, all above 0, in the order of CURVES."""

    title: str
    x_name: str
    curves: Mapping[str, Points]


def ratios(ours: Sequence[float], peers: Sequence[float]) -> list[float]:
    """Ours over the peer's, pair by pair. Raises ValueError where they do not pair or a peer's is not
    above 0.
    """
    if any(peer <= 0 for peer in peers):
        raise ValueError("a peer took no time")
    return [own / peer for own, peer in zip(ours, peers, strict=True)]


def spread(values: Sequence[float], *, digits: int = 2) -> list[str]:
    """Median, least and most as they are printed; three dashes where there are no values."""
    if not values:
        return ["–"] * 3
    return [f"{value:.{digits}f}" for value in (statistics.median(values), min(values), max(values))]


def markdown_table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table with its first column to the left and the others to the right."""
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
    return "\n".join(map(_table_line, lines))


def _table_line(cells: Sequence[object]) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def plot(panels: Sequence[Panel]) -> str:
    """An SVG with the panels side by side, seconds upwards."""
    width = (WIDTH - LEFT - GAP * (len(panels) - 1) - 16) / len(panels)
    drawn = [_panel(panel, LEFT + index * (width + GAP), width) for index, panel in enumerate(panels)]
    names = list(dict.fromkeys(name for panel in panels for name in panel.curves))
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'role="img"><style>{STYLE}</style>'
    )
    return "\n".join([head, *_legend(names), *drawn, "</svg>", ""])


def _legend(names: Sequence[str]) -> list[str]:
    lines, at = [], float(LEFT)
    for name, (colour, kind) in zip(names, CURVES, strict=False):
        lines.append(
            f'<path class="{kind}" d="M{at:.0f} 14h22" stroke="{colour}"/><text x="{at + 28:.0f}" '
            f'y="18">{_escaped(name)}</text>'
        )
        at += 28 + 6.4 * len(name) + 30
    return lines


def _panel(panel: Panel, left: float, width: float) -> str:
    xs = sorted({x for points in panel.curves.values() for x, _ in points})
    ys = [y for points in panel.curves.values() for _, y in points]
    decades = range(math.floor(math.log10(min(ys))), math.ceil(math.log10(max(ys))) + 1)
    height = HEIGHT - TOP - BOTTOM

    def across(x: float) -> float:
        if len(xs) == 1:
            return left + width * 0.5
        return left + width * (math.log(x / xs[0]) / math.log(xs[-1] / xs[0]))

    def down(y: float) -> float:
        return TOP + height * (1 - (math.log10(y) - decades[0]) / max(len(decades) - 1, 1))

    parts = [f'<text class="title" x="{left:.0f}" y="{TOP - 16}">{_escaped(panel.title)}</text>']
    for decade in decades:
        y = down(10.0**decade)
        parts.append(f'<path class="grid" d="M{left:.0f} {y:.1f}h{width:.0f}"/>')
        parts.append(f'<text x="{left - 6:.0f}" y="{y + 4:.1f}" text-anchor="end">{10.0**decade:g} s</text>')
    for x in xs:
        parts.append(f'<path class="grid" d="M{across(x):.1f} {TOP}v{height}"/>')
        parts.append(
            f'<text x="{across(x):.1f}" y="{TOP + height + 18}" text-anchor="middle">{_short(x)}</text>'
        )
    parts.append(
        f'<text x="{left + width / 2:.0f}" y="{HEIGHT - 8}" '
        f'text-anchor="middle">{_escaped(panel.x_name)}</text>'
    )
    for points, (colour, kind) in zip(panel.curves.values(), CURVES, strict=False):
        places = [(f"{across(x):.1f}", f"{down(y):.1f}") for x, y in points]
        if places:
            parts.append(
                f'<path class="{kind}" stroke="{colour}" '
                f'd="M{" L".join(" ".join(place) for place in places)}"/>'
            )
        parts.extend(f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>' for x, y in places)
    return "\n".join(parts)


def _short(number: float) -> str:
    if number >= 1_000_000:
        return f"{number / 1_000_000:g}M"
    return f"{number:g}"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")
