"""Measures the memory and processor time of a process and all that it starts; Linux only."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

__all__ = ["Sampler", "high_water_bytes", "process_tree", "processor_seconds", "proportional_bytes"]

PROC = Path("/proc")


def process_tree(root: int) -> list[int]:
    """The process and all its descendants that are alive now."""
    children: dict[int, list[int]] = {}
    for entry in PROC.iterdir():
        if entry.name.isdigit():
            # The name, in parentheses, may hold anything; the parent is the second field after it.
            fields = _read(entry / "stat").rpartition(")")[2].split()
            if fields:
                children.setdefault(int(fields[1]), []).append(int(entry.name))
    found = [root]
    for process in found:
        found.extend(children.get(process, ()))
    return found


def proportional_bytes(processes: Sequence[int]) -> int:
    """Their PSS together: each shared page is divided among those who share it, so that the sum is what
    they really take.
    """
    return sum(_field(PROC / str(process) / "smaps_rollup", "Pss:") for process in processes)


def processor_seconds(processes: Sequence[int]) -> float:
    """What they have computed so far, in user and system mode together; those that have ended count for
    nothing.
    """
    ticks = 0
    for process in processes:
        # Fields 14 and 15 (proc(5)); the name, in parentheses, may hold anything.
        fields = _read(PROC / str(process) / "stat").rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12]) if fields else 0
    return ticks / os.sysconf("SC_CLK_TCK")


def high_water_bytes(processes: Sequence[int]) -> int:
    """The largest resident size that any one of them has had so far."""
    return max((_field(PROC / str(process) / "status", "VmHWM:") for process in processes), default=0)


class Sampler:
    """Measures a tree of processes a few times a second while it is entered. peak: the largest value so
    far, in bytes.
    """

    def __init__(self, root: int, measure: Callable[[Sequence[int]], int], *, hertz: float = 5.0) -> None:
        self._root, self._measure, self._pause = root, measure, 1 / hertz
        self._left = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self.peak = 0

    def now(self) -> int:
        """Measure at once; bytes."""
        value = self._measure(process_tree(self._root))
        self.peak = max(self.peak, value)
        return value

    def __enter__(self) -> Sampler:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._left.set()
        self._thread.join()

    def _work(self) -> None:
        while not self._left.wait(self._pause):
            self.now()


def _read(path: Path) -> str:
    """The text of a file of a process, empty where the process has ended meanwhile."""
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


def _field(path: Path, name: str) -> int:
    """Bytes that a line such as "Pss:  12 kB" names, 0 where there is none."""
    for line in _read(path).splitlines():
        if line.startswith(name):
            return int(line.split()[1]) * 1024
    return 0
