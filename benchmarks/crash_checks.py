"""Checks what must hold of a store after any stop, reading its files alone, beside the program."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from benchmarks.crash_files import File

__all__ = ["Contents", "Shown", "embedding_repeated", "faults", "look", "ocr_repeated", "phase_of"]

OWNED = ("page", "chunk", "chunk_key", "vector", "lexicon", "incomplete", "remark")


@dataclass(frozen=True, slots=True)
class Shown:
    """How a document stands: its file, and whether it is hidden."""

    sha256: str
    removed: bool


@dataclass(frozen=True, slots=True)
class Contents:
    """What a catalogue holds. shown: by name; before: name -> the file that can be brought back; versions: id
    -> (file, state, what is still to be read of it); vectors: key of a chunk -> bytes; texts: id -> its
    pages; tables: id -> bytes of its pages' tables; drafts: (file, page); owners: (table, version id) of
    rows; names: file -> its names, for every version's file."""

    shown: Mapping[str, Shown]
    before: Mapping[str, str]
    versions: Mapping[int, tuple[str, str, str]]
    vectors: Mapping[bytes, int]
    texts: Mapping[int, tuple[str, ...]]
    tables: Mapping[int, int]
    drafts: frozenset[tuple[str, int]]
    waiting: tuple[str, ...]
    owners: frozenset[tuple[str, int]]
    names: Mapping[str, dict[str, bool]]


def look(home: Path) -> Contents:
    """The catalogue as it stands; empty where there is none yet. Changes nothing."""
    path = home / "chroma_db" / "catalog.sqlite3"
    if not path.exists():
        return Contents({}, {}, {}, {}, {}, {}, frozenset(), (), frozenset(), {})
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=20)) as connection:
        read = connection.execute
        if not read("select 1 from sqlite_master where name = 'version'").fetchone():
            return Contents({}, {}, {}, {}, {}, {}, frozenset(), (), frozenset(), {})
        lacks = dict(read("select version, lacks from incomplete"))
        versions = {
            row[0]: (row[1], row[2], lacks.get(row[0], ""))
            for row in read("select id, sha256, state from version")
        }
        vectors = read(
            "select k.key, max(length(v.data)) from vector v join chunk_key k on k.version = v.version "
            "and k.ordinal = v.ordinal group by k.key"
        )
        tables = read(
            "select version, sum(length(tables)) from page where tables is not null group by version"
        )
        texts: dict[int, tuple[str, ...]] = {}
        for version, text in read("select version, text from page order by version, number"):
            texts[version] = (*texts.get(version, ()), text)
        documents = read(
            "select name, active_version, removed_at is not null, previous_version from document"
        ).fetchall()
        names: dict[str, dict[str, bool]] = {sha256: {} for sha256, _, _ in versions.values()}
        for name, active, removed, _ in documents:
            if active in versions:
                names[versions[active][0]][name] = bool(removed)
        shown, previous = {}, {}
        for name, active, removed, before in documents:
            if active in versions:
                shown[name] = Shown(versions[active][0], bool(removed))
            if before in versions:
                previous[name] = versions[before][0]
        owners = set[tuple[str, int]]()
        for table in OWNED:
            owners.update((table, row[0]) for row in read(f"select distinct version from {table}"))
        return Contents(
            shown,
            previous,
            versions,
            dict(vectors.fetchall()),
            texts,
            dict(tables.fetchall()),
            frozenset(read("select sha256, number from draft").fetchall()),
            tuple(row[0] for row in read("select name from job")),
            frozenset(owners),
            names,
        )


def faults(home: Path, contents: Contents, files: Mapping[str, File]) -> list[str]:
    """What is wrong with a store in which nothing is under way: half documents, rows and copies without
    owner, traces of what is gone.
    """
    found = [f"{name} still waits" for name in contents.waiting]
    found += [
        f"version {version} is {state}"
        for version, (_, state, _) in contents.versions.items()
        if state != "ready"
    ]
    found += [
        f"version {version} lacks its {lacks}"
        for version, (_, _, lacks) in contents.versions.items()
        if lacks
    ]
    for version, (sha256, _, _) in contents.versions.items():
        if contents.tables.get(version, 0) != files[sha256].tables:
            found.append(f"version {version} has not the tables of its file")
        if contents.texts.get(version, ()) != files[sha256].texts:
            found.append(f"version {version} has not the text of its file")
    found += [
        f"{table} has rows of version {version}, which does not exist"
        for table, version in contents.owners
        if version not in contents.versions
    ]
    found += [f"a draft of {sha256[:8]}, page {number}, is left" for sha256, number in contents.drafts]
    return [*found, *_copies(home / "documents", contents), *_traces(home, contents, files)]


def _copies(folder: Path, contents: Contents) -> Iterable[str]:
    there = {path.name for path in folder.iterdir() if path.is_file()}
    wanted = {sha256 for sha256, _, _ in contents.versions.values()}
    expected = {f"{sha256}{suffix}" for sha256 in wanted for suffix in (".pdf", ".json")}
    yield from (f"{name} belongs to nothing" for name in sorted(there - expected))
    yield from (f"{name} is missing" for name in sorted(expected - there))
    for sha256 in wanted:
        path = folder / f"{sha256}.json"
        rows = json.loads(path.read_text("utf-8"))["names"] if path.exists() else []
        named = {row["name"]: row["removed_at"] is not None for row in rows}
        expected_names = contents.names[sha256]
        if expected_names and named != expected_names:
            yield f"beside {sha256[:8]} stands {named}, the catalogue has {expected_names}"
        elif not expected_names and not all(named.values()):
            yield f"beside {sha256[:8]}, which was replaced, stands {named}"


def _traces(home: Path, contents: Contents, files: Mapping[str, File]) -> Iterable[str]:
    """Files of the store that still hold words of what is not there."""
    there = {sha256 for sha256, _, _ in contents.versions.values()}
    gone = []
    for file in files.values():
        if file.sha256 not in there:
            ends = file.words[:1] + file.words[-1:]
            gone += [(file.path.name, word.encode()) for _, word in ends]
    for path in [path for path in home.rglob("*") if path.is_file()]:
        data = path.read_bytes()
        yield from (
            f"{path.relative_to(home)} still holds a word of {name}" for name, word in gone if word in data
        )


def embedding_repeated(before: Contents, after: Contents, log: Sequence[str]) -> int:
    """How many bytes of vectors were made by `doctor` between two looks though they stood at the first, or
    nothing needs them.
    """
    needed = sum(size for key, size in after.vectors.items() if key not in before.vectors)
    doctor = log[: log.index("= search")] if "= search" in log else log
    return max(0, sum(int(line.split()[1]) for line in doctor if line.startswith("embedded ")) - needed)


def ocr_repeated(log_before: Sequence[str], log_after: Sequence[str]) -> int:
    """How many pages were read by OCR after a stop though they were kept before it."""
    kept = {tuple(line.split()[1:]) for line in log_before if line.startswith("kept ")}
    return sum(tuple(line.split()[1:]) in kept for line in log_after if line.startswith("ocr "))


def phase_of(home: Path, contents: Contents) -> str:
    """What a process that wrote no log was doing, as the store that it left tells."""
    states = {state for _, state, _ in contents.versions.values()}
    if any((home / "documents").glob("*.partial")):
        return "copying"
    if "reading" in states:
        return "storing"
    if contents.waiting:
        return "reading"
    if states - {"ready"}:
        return "embedding"
    return "images" if any(lacks for _, _, lacks in contents.versions.values()) else "before or after"
