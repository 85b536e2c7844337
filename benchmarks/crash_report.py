"""Counts what a campaign of kills has found and puts it in tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchmarks.tables import markdown_table

__all__ = ["FOUND", "Tally", "report"]

FOUND = ("half documents", "lost documents", "doctor findings", "repeated work")


@dataclass(slots=True)
class Tally:
    """What came of the kills. faults: each with the kill after which it was found."""

    kills: Counter[tuple[str, str]] = field(default_factory=Counter)
    completed: int = 0
    real: int = 0
    faults: list[tuple[str, str]] = field(default_factory=list)

    def add(self, kind: str, found: Sequence[str], when: str) -> None:
        """Note what was found."""
        self.faults += [(kind, f"{when}: {line}") for line in found]


def report(tally: Tally) -> str:
    """Tables of kills by command and step, and of what was found after them."""
    kinds, steps = sorted({kind for kind, _ in tally.kills}), sorted({step for _, step in tally.kills})
    rows: list[list[object]] = []
    of_kind = Counter[str]()
    for step in steps:
        kills = [tally.kills[kind, step] for kind in kinds]
        of_kind.update(dict(zip(kinds, kills, strict=True)))
        rows.append([step, *kills, sum(kills)])
    rows.append(["all", *(of_kind[kind] for kind in kinds), tally.kills.total()])
    counted = Counter(kind for kind, _ in tally.faults)
    found = [[kind, counted[kind]] for kind in FOUND]
    summary = (
        f"{tally.kills.total()} kills, {tally.real} of them of the real command line; {tally.completed} "
        f"commands ended before their kill."
    )
    return "\n".join(
        [
            summary,
            "",
            markdown_table(["killed at", *kinds, "all"], rows),
            "",
            markdown_table(["found after", "times"], found),
        ]
    )
