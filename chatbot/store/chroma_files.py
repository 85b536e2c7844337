"""Looks into Chroma's files while Chroma has none of them open: as chromadb 1.5.9 writes them.

It checks whether they are whole, since Chroma follows whatever is in a graph of vectors, and a wrong number
would end the process; and it removes what has been deleted, which Chroma leaves in them.
"""

from __future__ import annotations

import os
import sqlite3
import struct
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from chatbot.store.plain_files import is_plain, strange_in

__all__ = ["blank", "check_files", "faults_in", "scrub", "written_at"]

DATABASE = "chroma.sqlite3"
# Seconds that scrubbing waits for another program to release the database.
BUSY_SECONDS = 30
# Its log keeps each change until the vectors are written. The texts in it have been stored before.
SCRUBBING = (
    "pragma secure_delete = on",
    (
        "delete from embeddings_queue where not exists (select 1 from segments s where topic like '%' || "
        "s.collection)"
    ),
    """update embeddings_queue set metadata = null where exists (select 1 from segments s join max_seq_id m
        on m.segment_id = s.id
       where s.scope = 'METADATA' and topic like '%' || s.collection and embeddings_queue.seq_id <=
       m.seq_id)""",
    "insert into embedding_fulltext_search(embedding_fulltext_search) values ('optimize')",
    "vacuum",
)
# The header of a graph file: its version, a place, the capacity in elements, the elements there are, bytes an
# element, places of the label and of the vector in it, the highest level, the element to begin with, and how
# many neighbours an element has above and on the lowest level.
GRAPH_HEADER = struct.Struct("<iQQQQQQiIQQ")
VERSION, NOBODY = 1, 2**32 - 1
NUMBER_BYTES, LABEL_BYTES = 4, 8
HEADER, GRAPH, LENGTHS, UPPER = "header.bin", "data_level0.bin", "length.bin", "link_lists.bin"


@dataclass(frozen=True, slots=True)
class GraphHeader:
    """What GRAPH_HEADER says."""

    version: int
    place: int
    room: int
    used: int
    size: int
    label_at: int
    vector_at: int
    top: int
    first: int
    most_above: int
    most: int


def check_files(folder: Path) -> None:
    """Raises ValueError for a graph that leads to what is not there, for a link or a pipe, and for a view or
    a trigger, of which Chroma makes none; sqlite3.Error, OSError.
    """
    for path in strange_in(folder):
        raise ValueError(f"{path.name} is no plain file")
    for path in folder.glob(f"*/{HEADER}"):
        try:
            _check(_header(path), path)
        except (struct.error, ValueError) as error:
            raise ValueError(f"the graph of vectors in {path.parent.name} is damaged") from error
    path = folder / DATABASE
    if path.exists():
        # Not read-only: what a kill broke off is first taken back.
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True)) as database:
            foreign = "select name from sqlite_master where type in ('view', 'trigger')"
            for (name,) in database.execute(foreign):
                raise ValueError(f"another program has put {str(name)[:80]!r} into {path.name}")


def faults_in(folder: Path) -> list[str]:
    """Returns what SQLite's own check finds wrong. Raises what `check_files` raises."""
    check_files(folder)
    with closing(sqlite3.connect(folder / DATABASE, timeout=BUSY_SECONDS)) as database:
        found = [str(row[0]) for row in database.execute("pragma integrity_check(10)")]
    return [f"the vector index is damaged: {line}" for line in found if line != "ok"]


def scrub(folder: Path) -> None:
    """Removes the text of deleted rows: from the log of changes, the index of text and unused space.

    Raises what `check_files` raises, for example if the disk has no room.
    """
    check_files(folder)
    with closing(sqlite3.connect(folder / DATABASE, isolation_level=None, timeout=BUSY_SECONDS)) as database:
        for statement in SCRUBBING:
            database.execute(statement)
        blank(folder)


def written_at(folder: Path) -> dict[Path, int]:
    """Returns when each graph of vectors was written, in nanoseconds since the epoch."""
    return {path: path.stat().st_mtime_ns for path in folder.glob(f"*/{GRAPH}")}


def blank(folder: Path) -> None:
    """Fills the reserved room of graph files with zeros, in a folder that nobody writes to.

    Chroma leaves there what memory last held, which may be the text of a document.
    """
    for path in folder.glob(f"*/{HEADER}"):
        header = _header(path)
        for name, width in ((GRAPH, header.size), (LENGTHS, NUMBER_BYTES)):
            with path.with_name(name).open("r+b") as file:
                end = file.seek(0, os.SEEK_END)
                start = file.seek(header.used * width)
                file.write(bytes(max(0, end - start)))


def _header(path: Path) -> GraphHeader:
    return GraphHeader(*GRAPH_HEADER.unpack(path.read_bytes()[: GRAPH_HEADER.size]))


def _check(header: GraphHeader, path: Path) -> None:
    """Raises ValueError for files that do not fit together, or neighbours that are not there."""
    most, used = header.most, header.used
    _require(header.version == VERSION and header.place == 0 and used <= header.room and most <= 2**16)
    _require(header.vector_at == NUMBER_BYTES * (1 + most) and header.size == header.label_at + LABEL_BYTES)
    _require(header.label_at > header.vector_at and header.most_above <= most)
    _require(header.first < used or (header.first == NOBODY and not used))
    for name, width in ((GRAPH, header.size), (LENGTHS, NUMBER_BYTES)):
        file = path.with_name(name)
        _require(is_plain(file) and header.used * width <= file.stat().st_size <= header.room * width)
    if used:
        elements = np.memmap(path.with_name(GRAPH), np.uint8, "r", shape=(used, header.size))
        numbers = np.ascontiguousarray(elements[:, : header.vector_at]).view(np.uint32)
        _check_neighbours(numbers, most, used)
    _check_upper(path.with_name(UPPER).read_bytes(), header)


def _check_upper(data: bytes, header: GraphHeader) -> None:
    """The same for the levels above: for each element the bytes of its neighbours, level by level."""
    width, at, levels = NUMBER_BYTES * (1 + header.most_above), 0, list[int]()
    for _ in range(header.used):
        (size,) = struct.unpack_from("<I", data, at)
        levels.append(size // width)
        _require(size % width == 0 and levels[-1] <= header.top)
        neighbours = np.frombuffer(data, np.uint32, size // NUMBER_BYTES, at + NUMBER_BYTES)
        _check_neighbours(neighbours.reshape(-1, 1 + header.most_above), header.most_above, header.used)
        at += NUMBER_BYTES + size
    _require(at == len(data) and (not levels or levels[header.first] == header.top == max(levels)))


def _check_neighbours(rows: np.ndarray[tuple[int, ...], np.dtype[np.uint32]], most: int, used: int) -> None:
    """rows: of each element their number, in its lower two bytes, and then themselves."""
    counts = rows[:, 0] & 0xFFFF
    there = np.arange(most) < counts[:, None]
    _require(bool((counts <= most).all() and (rows[:, 1:][there] < used).all()))


def _require(holds: bool) -> None:
    if not holds:
        raise ValueError("it does not hold")
