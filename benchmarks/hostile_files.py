"""Makes archives and files of rated answers that mean harm."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterable
from pathlib import Path

__all__ = ["ARCHIVES", "CASES", "make_archives", "make_cases"]

MIB = 2**20
BOMB, LONG_LINE = 300 * MIB, 200 * MIB
ENTRIES, DEEP, MANY = 100_000, 100_000, 1_000_000
ARCHIVES = ("Bomb.zip", "Entries.zip", "Deep.zip")
CASES = ("Line.jsonl", "Deep.jsonl", "Many.jsonl")
NESTED = b"[" * DEEP + b"]" * DEEP


def make_archives(folder: Path) -> None:
    """Make ARCHIVES: a line of 300 MB, 100,000 files, deep JSON."""
    deep = b'{"owner": "local", "settings": ' + NESTED + b"}\n"
    for name, members in zip(ARCHIVES, ([b"0" * BOMB], [b"{}\n"] * ENTRIES, [deep]), strict=True):
        with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as archive:
            told = [
                _written(archive, f"{'settings' if len(members) == 1 else _letters(number)}.jsonl", data)
                for number, data in enumerate(members)
            ]
            archive.writestr("manifest.json", json.dumps({"format": 1, "members": told}))


def _written(archive: zipfile.ZipFile, name: str, data: bytes) -> dict[str, object]:
    archive.writestr(name, data)
    digest = hashlib.sha256(data).hexdigest()
    return {"name": name, "lines": data.count(b"\n"), "bytes": len(data), "sha256": digest}


def _letters(number: int) -> str:
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))


def make_cases(folder: Path) -> None:
    """Make CASES: a line of 200 MB, deep JSON, a million lines."""
    case = b'{"question": "%s", "plan": %s, "reward": 1}\n'
    _write(folder / CASES[0], [case % (b"a" * LONG_LINE, b'"b"')])
    _write(folder / CASES[1], [case % (b"What is it?", NESTED)] * 100)
    _write(folder / CASES[2], (case % (b"What is case %d?" % at, b'"It is %d."' % at) for at in range(MANY)))


def _write(path: Path, lines: Iterable[bytes]) -> None:
    with path.open("wb") as file:
        file.writelines(lines)
