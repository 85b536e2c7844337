"""Damages a file of a store as disks, and those who mean harm, do: knows no test."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

__all__ = ["FOREIGN", "Damage", "damage_by"]

# Bytes of a file that is put in place of another.
FOREIGN = b"This is another file, of which nothing may be read or changed.\n"


def flip(path: Path, random: Random) -> None:
    """Turns one bit of a file over."""
    data = bytearray(path.read_bytes())
    data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    path.write_bytes(data)


def zero(path: Path, random: Random) -> None:
    """Fills a block of a file with zeros, as a disk does that lost it."""
    data = bytearray(path.read_bytes())
    at = random.randrange(0, len(data), 512)
    data[at : at + 4096] = bytes(len(data[at : at + 4096]))
    path.write_bytes(data)


def cut(path: Path, random: Random) -> None:
    """Cuts the end of a file off."""
    os.truncate(path, random.randrange(path.stat().st_size))


def empty(path: Path, random: Random) -> None:
    """Leaves a file without anything in it."""
    os.truncate(path, 0)


def link(path: Path, random: Random) -> None:
    """Puts a link to a file outside the home in place of a file."""
    foreign = path.parent / f"{path.name}.foreign"
    outside = next(one.parent for one in path.parents if one.name == "home") / "foreign.txt"
    outside.write_bytes(FOREIGN)
    foreign.symlink_to(outside)
    foreign.rename(path)


def pipe(path: Path, random: Random) -> None:
    """Puts a pipe to which nobody writes in place of a file."""
    path.unlink()
    os.mkfifo(path)


WAYS: tuple[Callable[[Path, Random], None], ...] = (flip, flip, flip, flip, zero, cut, empty, link, pipe)


@dataclass(frozen=True, slots=True)
class Damage:
    """What was done to a file of a home. file: its path in the home."""

    seed: int
    file: str
    how: str

    def __str__(self) -> str:
        return f"{self.file} {self.how} ({self.seed})"


def files_of(home: Path) -> dict[str, list[Path]]:
    """The files of a store with something in them, by kind: an index, copies, names, or one file alone."""
    found: dict[str, list[Path]] = {}
    for path in sorted(home.rglob("*")):
        if path.is_file() and path.stat().st_size:
            folder, name, *deeper = path.relative_to(home).parts
            kind = name if deeper or folder == "chroma_db" else path.suffix
            found.setdefault(kind, []).append(path)
    return found


def damage_by(seed: int, home: Path) -> Damage:
    """Damages one file of a home: of each kind by turns, another file in another way for each seed."""
    random = Random(seed)
    kinds = files_of(home)
    path = random.choice(kinds[sorted(kinds)[seed % len(kinds)]])
    way = random.choice(WAYS)
    way(path, random)
    return Damage(seed, str(path.relative_to(home)), way.__name__)
