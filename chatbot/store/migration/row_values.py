"""Brings the values of rows into one form for both engines, and sums rows up by hashes."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from chatbot.store.migration.table_shapes import TableShape

__all__ = ["Row", "RowSum", "TableSum", "normalised", "summary_of"]

Row = tuple[Any, ...]
HASH_BYTES = 16
# What a Postgres has in place of the one character that no text there can hold.
REPLACEMENT = "\ufffd"


@dataclass(frozen=True, slots=True)
class TableSum:
    """How much there is, and a hash of it all that does not depend on the order. digest: 32 hex digits."""

    count: int
    digest: str


def normalised(shape: TableShape, row: Sequence[Any]) -> Row:
    """Returns a row with each value as its column should have it, where an engine was less strict."""
    return tuple(_value(kind, value) for kind, value in zip(shape.kinds, row, strict=True))


class RowSum:
    """Sums up rows in whatever order: the hash of a set is the sum of its rows' hashes."""

    def __init__(self) -> None:
        self._count = self._total = 0

    def add(self, row: Sequence[Any]) -> None:
        """Counts a row in."""
        packed = b"".join(map(_packed, row))
        self._count += 1
        self._total += int.from_bytes(hashlib.blake2b(packed, digest_size=HASH_BYTES).digest())

    def summary(self) -> TableSum:
        """Returns the sum so far."""
        return TableSum(self._count, f"{self._total % (1 << 8 * HASH_BYTES):0{2 * HASH_BYTES}x}")


def summary_of(rows: Iterable[Sequence[Any]]) -> TableSum:
    """Sums up rows."""
    found = RowSum()
    for row in rows:
        found.add(row)
    return found.summary()


def _value(kind: str, value: Any) -> Any:
    match kind, value:
        case "text", str():
            return value.replace("\0", REPLACEMENT)
        case "text", bytes():
            return value.decode("utf-8", "replace").replace("\0", REPLACEMENT)
        case "blob", str():
            return value.encode()
        case "blob", memoryview() | bytearray():
            return bytes(value)
        case "integer", bool() | float():
            return int(value)
        case "real", int():
            return float(value)
    return value


def _packed(value: Any) -> bytes:
    """The bytes of a value, from which it can be told from every other one."""
    match value:
        case None:
            return b"-"
        case float():
            return b"f" + struct.pack("<d", value)
        case int():
            data = b"i" + str(value).encode()
        case str():
            data = b"t" + value.replace("\0", REPLACEMENT).encode("utf-8", "surrogatepass")
        case _:
            data = b"b" + value
    return struct.pack("<I", len(data)) + data
